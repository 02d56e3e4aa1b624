"""Height fields against their definition and against trimesh."""

import copy
import math
import pickle

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import HeightField

grid = st.tuples(st.integers(2, 6), st.integers(2, 6))
field = st.builds(
    HeightField,
    grid.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(-5, 5))),
    st.tuples(st.floats(1e-2, 1e2), st.floats(1e-2, 1e2)),
)
direction = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: max(map(abs, d)) > 1e-3)


def test_the_grid_is_centred_and_heights_are_z():
    ground = HeightField([[1, 2, 3], [4, 5, 6]], (2.0, 0.5))
    assert_allclose(
        ground.vertices,
        [[-1, -0.5, 1], [-1, 0, 2], [-1, 0.5, 3], [1, -0.5, 4], [1, 0, 5], [1, 0.5, 6]],
        rtol=0,
        atol=0,
    )
    assert ground.triangles.tolist() == [[0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2]]


@given(field)
def test_triangles_face_up_and_cover_the_rectangle_once(ground):
    mesh = trimesh.Trimesh(ground.vertices, ground.triangles, process=False)
    assert mesh.is_winding_consistent
    a, b, c = ground.vertices[ground.triangles][:, :, :2].transpose(1, 0, 2)
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    double = ux * vy - uy * vx
    dx, dy = ground.spacing
    assert_allclose(double, dx * dy, rtol=1e-12)
    nx, ny = ground.heights.shape
    assert len(double) == 2 * (nx - 1) * (ny - 1)


@given(field)
def test_cells_are_cut_along_the_rising_diagonal(ground):
    """No triangle has an edge from (i + 1, j) to (i, j + 1)."""
    _, ny = ground.heights.shape
    i, j = np.divmod(ground.triangles, ny)
    steps = (np.roll(i, -1, axis=1) - i) * (np.roll(j, -1, axis=1) - j)
    assert set(np.unique(steps)) == {0, 1}


@given(field, direction)
def test_support_bounds_and_radius_are_those_of_the_points(ground, d):
    x, y, z = ground.vertices.T
    assert_allclose(ground.support(d) @ d, (ground.vertices @ d).max(), rtol=1e-13, atol=1e-13)
    assert_allclose(ground.bounds(), [(x.min(), y.min(), z.min()), (x.max(), y.max(), z.max())], rtol=0)
    assert (ground.bounds()[0][:2] == -ground.bounds()[1][:2]).all()
    assert_allclose(ground.bounding_radius(), max(math.hypot(*point) for point in ground.vertices), rtol=1e-14)


def test_a_function_gives_the_heights_at_its_points():
    ground = HeightField.from_function(lambda x, y: np.sin(x) + y**2, (4.0, 1.0), (8, 3))
    assert ground.heights.shape == (9, 4)
    assert ground.spacing == (0.5, 1 / 3)
    for x, y, z in ground.vertices:
        assert z == pytest.approx(math.sin(x) + y * y, rel=1e-14, abs=1e-15)
    assert_allclose(ground.bounds()[1][:2], [2.0, 0.5], rtol=1e-15)


def test_one_number_stands_for_both_directions():
    assert HeightField(np.zeros((2, 3)), 0.5) == HeightField(np.zeros((2, 3)), (0.5, 0.5))
    square = HeightField.from_function(lambda x, y: 0 * x, 3, 2)
    assert square == HeightField(np.zeros((3, 3)), 1.5)


def test_height_fields_are_equal_by_content():
    ground, twin = HeightField([[0, 1], [2, 3]], 1), HeightField(np.array([[-0.0, 1], [2, 3]]), (1.0, 1.0))
    assert ground == twin
    assert hash(ground) == hash(twin)
    assert ground != HeightField([[0, 1], [2, 3]], 2)
    assert ground != HeightField([[0, 1], [2, 4]], 1)
    assert HeightField(np.zeros((2, 3)), 1) != HeightField(np.zeros((3, 2)), 1)
    assert ground != "ground"
    assert repr(ground) == "HeightField(2x2 heights, spacing=(1.0, 1.0))"


@pytest.mark.parametrize("again", [lambda h: h, copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
def test_arrays_of_a_height_field_and_of_its_copies_are_read_only(again):
    heights = np.arange(6.0).reshape(2, 3)
    ground = again(HeightField(heights, 1))
    for array in (ground.heights, ground.vertices, ground.triangles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    heights[0] = 5.0
    assert ground == HeightField(np.arange(6.0).reshape(2, 3), 1)


FLAT = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: HeightField([[1, 2, 3]], 1),
            "The array of heights of HeightField has shape (1, 3); it must be at least 2x2, one cell.",
        ),
        (lambda: HeightField([1, 2], 1), "The array of heights of HeightField has shape (2,); it must be nxn numbers."),
        (
            lambda: HeightField([[0, 0], [0, math.nan]], 1),
            "The array of heights of HeightField is [[0, 0], [0, nan]]; every entry must be finite.",
        ),
        (lambda: HeightField(FLAT, 0), "The spacing of HeightField is 0.0; it must be greater than zero."),
        (lambda: HeightField(FLAT, (1, -1)), "The spacing of HeightField is -1.0; it must be greater than zero."),
        (lambda: HeightField(FLAT, (1, 1, 1)), "The spacing of HeightField has shape (3,); it must be 2 numbers."),
        (lambda: HeightField(FLAT, "wide"), "The spacing of HeightField is 'wide'; it must be 2 numbers."),
        (
            lambda: HeightField.from_function(lambda x, y: x, (1, 0), 2),
            "The size of HeightField is 0.0; it must be greater than zero.",
        ),
        (
            lambda: HeightField.from_function(lambda x, y: x, 1, (2, 0)),
            "The number of cells of HeightField is 0; it must be at least 1.",
        ),
        (
            lambda: HeightField.from_function(lambda x, y: x, 1, 2.5),
            "The number of cells of HeightField is 2.5; it must be a whole number.",
        ),
        (
            lambda: HeightField.from_function(lambda x, y: 0.0, 1, 2),
            "What the function of HeightField returns has shape (); it must be 3x3 numbers.",
        ),
        (
            lambda: HeightField(FLAT, 1).mass_properties(1.0),
            "HeightField has no lower end and no mass; add it with add_static, or use a closed Mesh.",
        ),
        (
            lambda: HeightField(FLAT, 1).support((0, 0, 0)),
            "The direction of a support point of HeightField is the zero vector; a direction needs a length.",
        ),
    ],
)
def test_impossible_height_fields_are_refused(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_the_ground_below_has_no_end():
    assert HeightField(FLAT, 1).volume() == math.inf
