"""Mass, centre of mass and inertia of the primitives against slices integrated by Gauss-Legendre quadrature.

A slice at height z is an ellipse with half axes a(z), b(z), or a rectangle of that half size; the powers of a and b
that enter are polynomials in z for every primitive, so eight nodes a piece integrate them to rounding.
"""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

size = st.floats(1e-3, 1e3)
density = st.floats(1e-3, 2e4)
nodes, weights = np.polynomial.legendre.leggauss(8)


def slices(pieces, rho, section="ellipse"):
    """Mass, height of the centre of mass and principal moments of a stack of slices (z0, z1, a(z), b(z))."""
    z = np.concatenate([(z0 + z1) / 2 + (z1 - z0) / 2 * nodes for z0, z1, _, _ in pieces])
    w = np.concatenate([(z1 - z0) / 2 * weights for z0, z1, _, _ in pieces])
    a, b = (
        np.concatenate([piece[k]((piece[0] + piece[1]) / 2 + (piece[1] - piece[0]) / 2 * nodes) for piece in pieces])
        for k in (2, 3)
    )
    area, spread = (math.pi * a * b, 1 / 4) if section == "ellipse" else (4 * a * b, 1 / 3)
    mass = rho * w @ area
    height = rho * w @ (area * z) / mass
    xx, yy = rho * w @ (area * a**2) * spread, rho * w @ (area * b**2) * spread
    zz = rho * w @ (area * (z - height) ** 2)
    return mass, height, (yy + zz, xx + zz, xx + yy)


def constant(value):
    return lambda z: np.full_like(z, value)


def arc(radius, middle, half):
    return lambda z: radius * np.sqrt(1 - ((z - middle) / half) ** 2)


def check(shape, rho, expected):
    mass, height, moments = expected
    got = shape.mass_properties(rho)
    assert_allclose(got.mass, mass, rtol=1e-12)
    assert_allclose(shape.volume(), mass / rho, rtol=1e-12)
    assert_allclose(got.center_of_mass[2], height, rtol=1e-12, atol=1e-12 * shape.bounding_radius())
    assert (got.center_of_mass[:2] == 0.0).all()
    assert_allclose(np.diag(got.inertia), moments, rtol=1e-12)
    assert (got.inertia == np.diag(np.diag(got.inertia))).all()


@given(size, density)
def test_sphere_has_the_mass_of_its_slices(r, rho):
    check(Sphere(r), rho, slices([(-r, r, arc(r, 0, r), arc(r, 0, r))], rho))


@given(size, size, size, density)
def test_box_has_the_mass_of_its_slices(x, y, z, rho):
    check(Box(x, y, z), rho, slices([(-z / 2, z / 2, constant(x / 2), constant(y / 2))], rho, "rectangle"))


@given(size, size, size, density)
def test_ellipsoid_has_the_mass_of_its_slices(x, y, z, rho):
    check(Ellipsoid(x, y, z), rho, slices([(-z, z, arc(x, 0, z), arc(y, 0, z))], rho))


@given(size, size, density)
def test_cylinder_has_the_mass_of_its_slices(r, length, rho):
    check(Cylinder(r, length), rho, slices([(-length / 2, length / 2, constant(r), constant(r))], rho))


@given(size, size, density)
def test_cone_has_the_mass_of_its_slices(r, h, rho):
    def taper(z):
        return r * (0.5 - z / h)

    check(Cone(r, h), rho, slices([(-h / 2, h / 2, taper, taper)], rho))


@given(size, size, density)
def test_capsule_has_the_mass_of_its_slices(r, straight, rho):
    capsule = Capsule(r, straight + 2 * r)
    s = (capsule.length - 2 * r) / 2
    top, bottom = arc(r, s, r), arc(r, -s, r)
    pieces = [(-s - r, -s, bottom, bottom), (-s, s, constant(r), constant(r)), (s, s + r, top, top)]
    check(capsule, rho, slices(pieces, rho))


def test_textbook_numbers():
    """Values worked out by hand."""
    assert_allclose(Sphere(0.5).mass_properties(6 / math.pi).inertia, 0.1 * np.eye(3), rtol=1e-14)
    box = Box(1.0, 2.0, 3.0).mass_properties(2.0)
    assert box.mass == 12.0
    assert_allclose(np.diag(box.inertia), [13.0, 10.0, 5.0], rtol=1e-14)
    cylinder = Cylinder(2.0, 6.0).mass_properties(1 / math.pi)
    assert_allclose(np.diag(cylinder.inertia), [96.0, 96.0, 48.0], rtol=1e-14)
    cone = Cone(2.0, 4.0).mass_properties(15 / math.pi)
    assert_allclose(cone.center_of_mass, [0.0, 0.0, -1.0], rtol=1e-14)
    assert_allclose(np.diag(cone.inertia), [96.0, 96.0, 96.0], rtol=1e-14)


@given(size, density)
def test_a_capsule_without_straight_part_is_a_sphere(r, rho):
    capsule, sphere = Capsule(r, 2 * r).mass_properties(rho), Sphere(r).mass_properties(rho)
    assert_allclose(capsule.mass, sphere.mass, rtol=1e-14)
    assert_allclose(capsule.inertia, sphere.inertia, rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere(-1.0), "The radius of Sphere is -1.0; it must be greater than zero."),
        (lambda: Sphere(math.nan), "The radius of Sphere is nan; it must be finite."),
        (lambda: Sphere("big"), "The radius of Sphere is 'big'; it must be a number."),
        (lambda: Box(0.0, 1.0, 1.0), "The x of Box is 0.0; it must be greater than zero."),
        (lambda: Box(1.0, -2, 1.0), "The y of Box is -2; it must be greater than zero."),
        (lambda: Box(1.0, 1.0, math.inf), "The z of Box is inf; it must be finite."),
        (lambda: Cylinder(-1.0, 1.0), "The radius of Cylinder is -1.0; it must be greater than zero."),
        (lambda: Cylinder(1.0, 0.0), "The length of Cylinder is 0.0; it must be greater than zero."),
        (lambda: Cone(0.0, 1.0), "The radius of Cone is 0.0; it must be greater than zero."),
        (lambda: Cone(1.0, -1.0), "The height of Cone is -1.0; it must be greater than zero."),
        (lambda: Ellipsoid(-1.0, 1.0, 1.0), "The x of Ellipsoid is -1.0; it must be greater than zero."),
        (lambda: Ellipsoid(1.0, 1.0, True), "The z of Ellipsoid is True; it must be a number."),
        (lambda: Capsule(0.0, 1.0), "The radius of Capsule is 0.0; it must be greater than zero."),
        (
            lambda: Capsule(1.0, 1.5),
            "The length of Capsule is 1.5 and its radius 1.0; length is the full extent from tip to tip, so it must be "
            "at least twice the radius.",
        ),
    ],
)
def test_impossible_sizes_are_refused_by_name(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


SHAPES = [Sphere(1), Box(1, 1, 1), Cylinder(1, 1), Cone(1, 1), Ellipsoid(1, 1, 1), Capsule(1, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_density_must_be_positive(shape):
    with pytest.raises(InputError) as caught:
        shape.mass_properties(-3.0)
    name = type(shape).__name__
    assert str(caught.value) == f"The density of {name} is -3.0; it must be greater than zero."


@pytest.mark.parametrize("tiny", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_sizes_whose_mass_leaves_the_number_range_are_refused(shape, tiny):
    scale = 1e-120 if tiny else 1e120
    extreme = type(shape)(*(scale * value for value in vars(shape).values()))
    with pytest.raises(InputError) as caught:
        extreme.mass_properties(1.0)
    said = "0.0; it must be greater than zero." if tiny else "inf; it must be finite."
    assert str(caught.value) == f"The mass of {type(shape).__name__} is {said}"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_shapes_are_frozen_values_of_floats(shape):
    twin = type(shape)(**vars(shape))
    assert twin == shape
    assert hash(twin) == hash(shape)
    assert all(type(value) is float for value in vars(shape).values())
    with pytest.raises(AttributeError):
        setattr(shape, next(iter(vars(shape))), 2.0)


@given(size, size)
def test_different_sizes_are_different_shapes(a, b):
    assert (Sphere(a) == Sphere(b)) == (a == b)
    assert Cylinder(a, b) != Cone(a, b)


@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_sizes_whose_squares_are_no_numbers_are_refused(size: float) -> None:
    said = f"The x of Box is {size} m; it must be between 1e-140 and 1e+140 m."
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        Box(size, 1.0, 1.0)
