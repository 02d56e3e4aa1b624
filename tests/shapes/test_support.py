"""Support points, bounds and bounding radius of every solid shape, against membership tests written out here."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Sphere

size = st.floats(1e-2, 1e2)
component = st.floats(-1.0, 1.0)
direction = st.tuples(component, component, component).filter(lambda d: max(map(abs, d)) > 1e-3)
axis = st.sampled_from([tuple(sign * row) for row in np.eye(3) for sign in (1.0, -1.0)])
solid = st.one_of(
    st.builds(Sphere, size),
    st.builds(Box, size, size, size),
    st.builds(Ellipsoid, size, size, size),
    st.builds(Cylinder, size, size),
    st.builds(Cone, size, size),
    st.builds(lambda r, s: Capsule(r, s + 2 * r), size, size),
)


def depth(shape, points):
    """A function that is at most one inside the shape and above one outside, for points (n, 3)."""
    x, y, z = points.T
    across = np.hypot(x, y)
    match shape:
        case Sphere(radius=r):
            return np.sqrt(x**2 + y**2 + z**2) / r
        case Box(x=a, y=b, z=c):
            return np.max([abs(x) / a, abs(y) / b, abs(z) / c], axis=0) * 2
        case Ellipsoid(x=a, y=b, z=c):
            return np.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2)
        case Cylinder(radius=r, length=length):
            return np.maximum(across / r, abs(z) * 2 / length)
        case Cone(radius=r, height=h):
            return np.maximum(across / r + z / h + 0.5, -2 * z / h)
        case Capsule(radius=r, length=length):
            return np.hypot(across, np.maximum(abs(z) - (length / 2 - r), 0)) / r
    raise AssertionError(shape)


def inside(shape, count=4000):
    """Points of the shape: a regular sample of its bounding box, kept where they lie inside."""
    low, high = shape.bounds()
    points = low + (high - low) * np.random.default_rng(0).random((count, 3))
    kept = points[depth(shape, points) <= 1]
    assert len(kept) > count / 10
    return kept


@given(solid, st.one_of(direction, axis))
def test_no_point_of_a_shape_lies_beyond_its_support_point(shape, d):
    point = shape.support(d)
    reach = point @ np.array(d)
    assert (inside(shape) @ np.array(d) <= reach + 1e-12 * shape.bounding_radius()).all()


@given(solid, st.one_of(direction, axis))
def test_support_points_lie_on_the_surface(shape, d):
    assert_allclose(depth(shape, shape.support(d)[None]), 1.0, rtol=1e-12)


@given(solid, direction)
def test_support_follows_the_support_function_of_the_shape(shape, d):
    """The largest value of d · p, written down from the definition of each solid."""
    d = np.array(d) / np.linalg.norm(d)
    across, up = math.hypot(d[0], d[1]), d[2]
    match shape:
        case Sphere(radius=r):
            expected = r
        case Box(x=a, y=b, z=c):
            expected = abs(d) @ np.array([a, b, c]) / 2
        case Ellipsoid(x=a, y=b, z=c):
            expected = math.sqrt((a * d[0]) ** 2 + (b * d[1]) ** 2 + (c * d[2]) ** 2)
        case Cylinder(radius=r, length=length):
            expected = r * across + abs(up) * length / 2
        case Capsule(radius=r, length=length):
            expected = r + abs(up) * (length / 2 - r)
        case Cone(radius=r, height=h):
            expected = max(up * h / 2, r * across - up * h / 2)
    assert_allclose(shape.support(d) @ d, expected, rtol=1e-12, atol=1e-13 * shape.bounding_radius())


@given(solid, direction, st.floats(1e-6, 1e6))
def test_the_length_of_the_direction_does_not_matter(shape, d, scale):
    slack = 1e-12 * shape.bounding_radius()
    assert_allclose(shape.support(scale * np.array(d)) @ np.array(d), shape.support(d) @ np.array(d), atol=slack)


@given(solid, st.one_of(direction, axis))
def test_bounds_hold_the_support_points(shape, d):
    low, high = shape.bounds()
    slack = 1e-14 * shape.bounding_radius()
    assert (shape.support(d) >= low - slack).all()
    assert (shape.support(d) <= high + slack).all()


@given(solid)
def test_bounds_are_reached_along_every_axis(shape):
    low, high = shape.bounds()
    assert_allclose([shape.support(row) @ row for row in np.eye(3)], high, rtol=1e-14)
    assert_allclose([shape.support(-row) @ row for row in np.eye(3)], low, rtol=1e-14)


@given(solid)
def test_the_bounding_sphere_holds_the_shape_and_touches_it(shape):
    radius = shape.bounding_radius()
    assert (np.linalg.norm(inside(shape), axis=1) <= radius).all()
    corner = [shape.support(d) for d in (*np.eye(3), (1, 1, 1), (1e-9, 0, 1), (1e-9, 0, -1), (0, 1, -1))]
    assert_allclose(np.linalg.norm(corner, axis=1).max(), radius, rtol=1e-14)


def test_along_its_axis_a_round_end_is_met_in_the_middle():
    assert_allclose(Cylinder(1.0, 2.0).support((0, 0, 3)), [0, 0, 1])
    assert_allclose(Cone(1.0, 2.0).support((0, 0, -3)), [0, 0, -1])
    assert_allclose(Cone(1.0, 2.0).support((0, 0, 3)), [0, 0, 1])


MESH = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


@pytest.mark.parametrize(
    "shape",
    [Sphere(1), Box(1, 1, 1), Cylinder(1, 1), Cone(1, 1), Ellipsoid(1, 1, 1), Capsule(1, 3), MESH],
    ids=lambda shape: type(shape).__name__,
)
def test_the_zero_direction_is_refused(shape):
    with pytest.raises(InputError) as caught:
        shape.support((0, 0, 0))
    assert str(caught.value) == (
        f"The direction of a support point of {type(shape).__name__} is the zero vector; a direction needs a length."
    )
