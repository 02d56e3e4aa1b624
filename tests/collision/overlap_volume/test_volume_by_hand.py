"""The overlap solid of boxes and hulls where it has a closed form."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.overlap_volume.volume import overlap_solid

UP = (0.0, 0.0, 1.0)
BARE = {"volume": 0.0, "area": 0.0, "region_area": 0.0}


def turned(seed: int) -> tuple[float, ...]:
    return tuple(Rotation.random(random_state=seed).as_quat())


def assert_same(found, wanted, size, tolerance=1e-9):
    powers = {"volume": 3, "area": 2, "centroid": 1, "second_moments": 5, "region_area": 2, "region_centroid": 1}
    for name, value in wanted.items():
        scale = size ** powers.get(name, 4)
        difference = np.abs(np.asarray(getattr(found, name)) - value).max() / scale
        assert difference <= tolerance, f"{name} is off by {difference:.2e}"


@given(
    st.tuples(*[st.floats(0.1, 2.0)] * 6),
    st.tuples(*[st.floats(-1.2, 1.2)] * 3),
    st.integers(-3, 3),
)
def test_boxes_along_the_axes_overlap_in_a_box(sizes, offset, power):
    scale = 10.0**power
    a, b, offset = scale * np.array(sizes[:3]), scale * np.array(sizes[3:]), scale * np.array(offset)
    low, high = np.maximum(-a / 2, offset - b / 2), np.minimum(a / 2, offset + b / 2)
    edge = high - low
    found = overlap_solid(rb.Box(*a), rb.Placed(rb.Box(*b), tuple(offset)), normal=UP)
    if edge.min() <= 0.0:
        assert found.volume == 0.0
        assert found.centroid is None
        return
    assume(edge.min() > 1e-3 * scale)
    volume, size = float(np.prod(edge)), edge.max()
    wanted = {
        "volume": volume,
        "area": 2.0 * (edge[0] * edge[1] + edge[1] * edge[2] + edge[2] * edge[0]),
        "centroid": 0.5 * (low + high),
        "second_moments": volume / 12.0 * np.diag(edge**2),
        "region_area": edge[0] * edge[1],
        "region_centroid": 0.5 * (low + high),
        "region_moments": edge[0] * edge[1] / 12.0 * np.diag([edge[0] ** 2, edge[1] ** 2, 0.0]),
    }
    assert_same(found, wanted, size, 1e-13)
    assert found.volume == pytest.approx(volume, rel=1e-12)


@pytest.mark.parametrize("offset", [(0, 0, 0), (0.25, 0, 0), (0.25, 0.5, 0), (0, 0, 0.999)])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_faces_in_one_plane_count_once(offset, seed):
    turn = (0.0, 0.0, 0.0, 1.0) if seed is None else turned(seed)
    place = Rotation.from_quat(turn).apply(offset) + np.array([0.1, -0.7, 0.3])
    a, b = rb.Placed(rb.Box(1, 1, 1), (0.1, -0.7, 0.3), turn), rb.Placed(rb.Box(1, 1, 1), tuple(place), turn)
    x, y, z = 1.0 - np.array(offset)
    found = overlap_solid(a, b, normal=Rotation.from_quat(turn).apply(UP))
    assert found.volume == pytest.approx(x * y * z, rel=1e-12)
    assert found.area == pytest.approx(2.0 * (x * y + y * z + z * x), rel=1e-12)
    assert found.region_area == pytest.approx(x * y, rel=1e-13)


def test_a_face_in_the_plane_of_another_belongs_to_a_where_both_are_of_one_size():
    found = overlap_solid(rb.Box(1, 1, 1), rb.Placed(rb.Box(1, 1, 1), (0.5, 0, 0)))
    assert found.area_a == pytest.approx(4 * 0.5 + 1.0, rel=1e-14)
    assert found.area_b == pytest.approx(1.0, rel=1e-14)


@given(st.floats(-17.0, -0.2), st.integers(0, 10_000), st.booleans())
def test_cubes_turned_a_hair_against_each_other_overlap_as_the_closed_form_says(power, seed, about_x):
    """Sides that are almost in one plane: at each angle the squares overlap in 2 / (1 + sin + cos)."""
    angle, turn = 10.0**power, Rotation.random(random_state=seed)
    hair = turn * Rotation.from_rotvec((angle, 0, 0) if about_x else (0, 0, angle))
    a, b = (rb.Placed(rb.Box(1, 1, 1), (0.3, 0.2, -0.4), tuple(r.as_quat())) for r in (turn, hair))
    wanted = 2.0 / (1.0 + math.sin(angle) + math.cos(angle))
    found = overlap_solid(a, b, normal=UP)
    assert found.volume == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(found.centroid, (0.3, 0.2, -0.4), atol=1e-13)


def test_the_normal_is_the_shortest_way_out():
    found = overlap_solid(rb.Placed(rb.Box(1, 1, 1), (0, 0, 0.9)), rb.Box(1, 1, 1))
    np.testing.assert_allclose(found.normal, UP, atol=1e-15)
    octahedron = rb.ConvexHull([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
    found = overlap_solid(rb.Placed(rb.Box(4, 4, 1), (0, 0, -1.4)), octahedron)
    np.testing.assert_allclose(found.normal, (0, 0, -1), atol=1e-9)
    # The tip of the octahedron, from its apex at z = −1 up to the top of the box at z = −0.9.
    assert found.volume == pytest.approx(2.0 * 0.1**3 / 3.0, rel=1e-12)
    assert found.region_area == pytest.approx(2.0 * 0.1**2, rel=1e-9)


def test_the_corner_of_a_cube_through_a_face_is_a_tetrahedron():
    turn = Rotation.align_vectors([(0, 0, -1.0)], [np.full(3, 3**-0.5)])[0]
    depth = 0.2
    a = rb.Placed(rb.Box(1, 1, 1), (0, 0, 0.5 * math.sqrt(3.0) - depth), tuple(turn.as_quat()))
    for ground in (rb.Plane(), rb.Placed(rb.Box(4, 4, 4), (0, 0, -2))):
        found = overlap_solid(a, ground)
        assert found.volume == pytest.approx(0.5 * math.sqrt(3.0) * depth**3, rel=1e-12)
        np.testing.assert_allclose(found.centroid, (0, 0, -depth / 4.0), atol=1e-13)
        assert found.region_area == pytest.approx(1.5 * math.sqrt(3.0) * depth**2, rel=1e-12)
        assert found.area_b == pytest.approx(found.region_area, rel=1e-12)
        assert found.area_a == pytest.approx(3 * 0.5 * 3.0 * depth**2, rel=1e-12)


@pytest.mark.parametrize("swap", [False, True])
def test_a_body_inside_another_overlaps_with_all_of_itself(swap):
    inner = rb.Placed(rb.ConvexHull(0.1 * np.random.default_rng(3).normal(size=(15, 3))), (0.2, 0.1, -0.1), turned(4))
    outer = rb.Placed(rb.Box(4, 5, 6), (0.0, 0.1, 0.2), turned(8))
    found = overlap_solid(*((outer, inner) if swap else (inner, outer)), normal=UP)
    own = inner.mass_properties(1.0)
    assert found.volume == pytest.approx(own.mass, rel=1e-12)
    np.testing.assert_allclose(found.centroid, own.center_of_mass, atol=1e-13)
    inertia = np.trace(found.second_moments) * np.eye(3) - found.second_moments
    np.testing.assert_allclose(inertia, own.inertia, rtol=0, atol=1e-12 * np.trace(own.inertia))
    assert (found.area_a if swap else found.area_b) == 0.0


@pytest.mark.parametrize("offset", [(1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0.3, 0.2), (1.1, 0, 0), (40, 0, 0)])
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("normal", [None, (1.0, 0.0, 0.0)])
def test_boxes_that_touch_or_are_apart_have_no_overlap(offset, seed, normal):
    turn = (0.0, 0.0, 0.0, 1.0) if seed is None else turned(seed)
    place = tuple(Rotation.from_quat(turn).apply(offset))
    found = overlap_solid(
        rb.Placed(rb.Box(1, 1, 1), orientation=turn), rb.Placed(rb.Box(1, 1, 1), place, turn), normal=normal
    )
    assert {name: getattr(found, name) for name in BARE} == BARE
    names = ("normal", "centroid", "second_moments", "region_centroid", "region_moments")
    assert all(getattr(found, name) is None for name in names)


@given(st.floats(0.0, math.pi), st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.floats(1e-7, 0.2))
def test_a_box_on_a_box_covers_the_overlap_of_two_rectangles(yaw, x, y, depth):
    turn = Rotation.from_rotvec((0, 0, yaw))
    a = rb.Placed(rb.Box(1.0, 0.6, 0.5), (x, y, 1.0 - depth), tuple(turn.as_quat()))
    points = clipped(
        [turn.apply((u, v, 0))[:2] + np.array([x, y]) for u, v in ((-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3))]
    )
    area = polygon_area(points)
    assume(area > 1e-3)
    found = overlap_solid(a, rb.Placed(rb.Box(2.0, 1.2, 1.5)), normal=UP)
    assert found.region_area == pytest.approx(area, rel=1e-12)
    assert found.volume == pytest.approx(area * depth, rel=1e-8)


def clipped(loop):
    """The part of a polygon inside the rectangle 2.0 by 1.2, side by side."""
    for axis, limit, sign in ((0, 1.0, 1), (0, 1.0, -1), (1, 0.6, 1), (1, 0.6, -1)):
        kept = []
        for p, q in zip(loop, loop[1:] + loop[:1], strict=True):
            u, v = limit - sign * p[axis], limit - sign * q[axis]
            kept += [p] if u >= 0 else []
            kept += [p + u / (u - v) * (q - p)] if (u >= 0) != (v >= 0) else []
        loop = kept
    return loop


def polygon_area(loop):
    return sum(0.5 * (p[0] * q[1] - p[1] * q[0]) for p, q in zip(loop, loop[1:] + loop[:1], strict=True))


def test_a_prism_of_two_hundred_sides_is_no_trouble():
    angle = 2.0 * np.pi * np.arange(200) / 200
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    prism = rb.ConvexHull(np.vstack([np.c_[ring, np.full(200, z)] for z in (-0.5, 0.5)]))
    found = overlap_solid(prism, rb.Placed(prism, (0, 0, 0.9)))
    assert found.volume == pytest.approx(0.1 * 100 * math.sin(2 * math.pi / 200), rel=1e-12)
    assert found.region_area == pytest.approx(100 * math.sin(2 * math.pi / 200), rel=1e-12)
