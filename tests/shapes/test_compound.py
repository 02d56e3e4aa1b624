import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError
from rattleback.shapes import Box, Compound, Cone, Mesh, Placed, Plane, Sphere

size = st.floats(1e-2, 1e2)
place = st.tuples(*[st.floats(-10, 10)] * 3)
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda v: tuple(Rotation.from_rotvec(v).as_quat()))


def assert_same(got, expected, rtol=1e-12):
    assert_allclose(got.mass, expected.mass, rtol=rtol)
    scale = np.linalg.norm(expected.inertia, 2)
    length = math.sqrt(scale / expected.mass)
    assert_allclose(got.center_of_mass, expected.center_of_mass, rtol=rtol, atol=rtol * length)
    assert_allclose(got.inertia, expected.inertia, rtol=0, atol=rtol * scale)


@given(size, size, size, st.floats(0.05, 0.95), st.floats(1e-2, 1e4))
def test_a_cut_box_is_still_that_box(x, y, z, cut, density):
    left, right = x * cut, x - x * cut
    halves = Compound([Placed(Box(left, y, z), (-right / 2, 0, 0)), Placed(Box(right, y, z), (left / 2, 0, 0))])
    assert_same(halves.mass_properties(density), Box(x, y, z).mass_properties(density))
    assert_allclose(halves.volume(), x * y * z, rtol=1e-12)
    assert_allclose(halves.bounds(), Box(x, y, z).bounds(), rtol=1e-12)


@given(size, size, size, place, turn)
def test_a_single_turned_part_is_the_turned_mesh_of_it(x, y, z, position, orientation):
    """A box as triangles, moved point by point with SciPy's rotation, has the same properties."""
    corners = np.array([[a, b, c] for a in (-x, x) for b in (-y, y) for c in (-z, z)]) / 2
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    faces += [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    moved = Rotation.from_quat(orientation).apply(corners) + np.array(position)
    compound = Compound([Placed(Box(x, y, z), position, orientation)])
    expected = Mesh(moved, faces)
    # Points far away from a small box keep fewer digits of its size.
    rtol = 1e-12 * (1 + max(map(abs, position)) / min(x, y, z))
    assert_same(compound.mass_properties(2.0), expected.mass_properties(2.0), rtol)
    assert_allclose(compound.bounds(), expected.bounds(), atol=1e-13 * (30 + x + y + z))


@given(size, size, place)
def test_two_balls_make_a_dumbbell(r, s, p):
    """Mass, centre and inertia by hand: own moments plus the reduced mass times the distance squared."""
    density = 3.0
    got = Compound([Placed(Sphere(r)), Placed(Sphere(s), p, density_ratio=2.0)]).mass_properties(density)
    m, n = density * 4 / 3 * math.pi * r**3, 2 * density * 4 / 3 * math.pi * s**3
    p = np.array(p)
    own = 0.4 * (m * r**2 + n * s**2) * np.eye(3)
    inertia = own + m * n / (m + n) * (p @ p * np.eye(3) - np.outer(p, p))
    assert_allclose(got.mass, m + n, rtol=1e-13)
    assert_allclose(got.center_of_mass, n / (m + n) * p, rtol=1e-12, atol=1e-15)
    assert_allclose(got.inertia, inertia, rtol=0, atol=1e-13 * np.linalg.norm(inertia, 2))


@given(place, turn, place, turn)
def test_a_nested_compound_is_the_flat_one(p, q, pp, qq):
    inner = Compound([Placed(Cone(0.3, 1.0), p, q), Placed(Box(1, 2, 3))])
    outer = Rotation.from_quat(qq)
    flat = Compound(
        [
            Placed(Cone(0.3, 1.0), outer.apply(p) + pp, (outer * Rotation.from_quat(q)).as_quat(), 1.5),
            Placed(Box(1, 2, 3), pp, qq, 1.5),
        ]
    )
    nested = Compound([Placed(inner, pp, qq, density_ratio=1.5)])
    assert_same(nested.mass_properties(7.0), flat.mass_properties(7.0))
    assert_allclose(nested.bounds(), flat.bounds(), atol=1e-13 * 40)
    for d in np.vstack([np.eye(3), -np.eye(3), np.ones(3)]):
        assert_allclose(nested.support(d) @ d, flat.support(d) @ d, atol=1e-12)


@settings(deadline=None)
@given(place, turn, place, turn, st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: max(map(abs, d)) > 1e-3))
def test_no_point_of_a_part_lies_outside_support_bounds_and_radius(p, q, pp, qq, d):
    compound = Compound([Placed(Cone(1.0, 3.0), p, q), Placed(Box(1, 2, 3), pp, qq)])
    rng = np.random.default_rng(0)
    t, angle, height = rng.random(500), 2 * math.pi * rng.random(500), rng.random(500)
    across = (1 - height) * np.sqrt(t)
    cone = np.column_stack([across * np.cos(angle), across * np.sin(angle), 3 * (height - 0.5)])
    box = (rng.random((500, 3)) - 0.5) * [1, 2, 3]
    points = np.vstack([Rotation.from_quat(q).apply(cone) + p, Rotation.from_quat(qq).apply(box) + pp])
    d = np.array(d)
    assert (points @ d <= compound.support(d) @ d + 1e-12).all()
    low, high = compound.bounds()
    assert (points >= low - 1e-12).all()
    assert (points <= high + 1e-12).all()
    assert (np.linalg.norm(points, axis=1) <= compound.bounding_radius()).all()
    assert (compound.support(d) >= low - 1e-12).all()
    assert (compound.support(d) <= high + 1e-12).all()


def test_overlapping_parts_count_twice():
    twice = Compound([Placed(Box(1, 1, 1)), Placed(Box(1, 1, 1))])
    assert twice.volume() == 2.0
    assert twice.mass_properties(3.0).mass == 6.0


@given(place, turn, size)
def test_a_part_made_from_the_fields_of_another_is_equal_to_it(p, q, ratio):
    part = Placed(Sphere(1), p, q, ratio)
    again = Placed(part.shape, part.position, part.orientation, part.density_ratio)
    assert again == part
    assert Compound([again]) == Compound((part,))
    assert hash(Compound([again])) == hash(Compound((part,)))


PART = Placed(Sphere(1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Placed(3), "The shape of Placed is 3; it must be a shape, such as Sphere(0.1)."),
        (
            lambda: Placed(Sphere),
            "The shape of Placed is <class 'rattleback.shapes.sphere.Sphere'>; it must be a shape, such as "
            "Sphere(0.1).",
        ),
        (
            lambda: Placed(Plane()),
            "The shape of Placed is a Plane, which has no size; add it on its own with add_static.",
        ),
        (lambda: Placed(Sphere(1), (0, 1)), "The position of Placed has shape (2,); it must be 3 numbers."),
        (
            lambda: Placed(Sphere(1), orientation=(0, 0, 0, 2)),
            "The orientation of Placed is (0, 0, 0, 2), a quaternion (x, y, z, w) of length 2; it must have length 1.",
        ),
        (
            lambda: Placed(Sphere(1), density_ratio=0),
            "The density_ratio of Placed is 0; it must be greater than zero.",
        ),
        (lambda: Compound([]), "Compound has no parts; give at least one, such as Placed(Sphere(0.1))."),
        (lambda: Compound(3), "The parts of Compound is 3; it must be a list of Placed."),
        (lambda: Compound(PART), f"The parts of Compound is {PART!r}; it must be a list of Placed."),
        (
            lambda: Compound([PART, Sphere(1)]),
            "Part 1 of Compound is Sphere(radius=1.0); it must be a Placed, such as Placed(Sphere(0.1), position=(0, "
            "0, 1)).",
        ),
        (
            lambda: Compound([PART]).mass_properties(-1),
            "The density of Compound is -1; it must be greater than zero.",
        ),
        (
            lambda: Compound([PART]).support((0, 0, 0)),
            "The direction of a support point of Compound is the zero vector; a direction needs a length.",
        ),
    ],
)
def test_impossible_compounds_are_refused(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message
