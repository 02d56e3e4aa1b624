"""The overlap solid of round bodies: lenses and caps against quadrature, the rest by inscribed polyhedra."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.overlap_volume.inscribed import inscribed
from rattleback.collision.overlap_volume.volume import overlap_solid

UP = (0.0, 0.0, 1.0)


def disc_integrals(r, s, d):
    """Volume, first and second moments along and across the axis of a lens, disc by disc; balls at 0 and d."""

    def square(z):
        return max(0.0, min(r * r - z * z, s * s - (z - d) ** 2))

    low, high = max(-r, d - s), min(r, d + s)
    kink = (d * d + r * r - s * s) / (2.0 * d)
    cuts = [low, *([kink] if low < kink < high else []), high]

    def integral(f):
        return sum(quad(f, u, v, epsabs=0, epsrel=1e-13)[0] for u, v in itertools.pairwise(cuts))

    volume = integral(lambda z: math.pi * square(z))
    center = integral(lambda z: z * math.pi * square(z)) / volume
    along = integral(lambda z: (z - center) ** 2 * math.pi * square(z))
    across = integral(lambda z: 0.25 * math.pi * square(z) ** 2)
    widest = max(square(z) for z in [*np.linspace(low, high, 20001), kink, 0.0, d] if low <= z <= high)
    return volume, center, along, across, math.pi * widest


@pytest.mark.parametrize(
    ("r", "s", "d"),
    [(1.0, 0.7, 1.2), (1.0, 1.0, 1.0), (1.0, 0.7, 0.4), (0.5, 1.0, 0.6), (2.0, 3.0, 4.99), (1.0, 0.3, 0.5)],
)
def test_two_balls_overlap_in_a_lens(r, s, d):
    turn = Rotation.random(random_state=7)
    axis = turn.apply(UP)
    here = np.array([0.2, -0.4, 0.9])
    found = overlap_solid(rb.Placed(rb.Sphere(r), tuple(here)), rb.Placed(rb.Sphere(s), tuple(here + d * axis)))
    volume, center, along, across, region = disc_integrals(r, s, d)
    assert found.volume == pytest.approx(volume, rel=1e-11)
    np.testing.assert_allclose(found.centroid, here + center * axis, atol=1e-11)
    wanted = along * np.outer(axis, axis) + across * (np.eye(3) - np.outer(axis, axis))
    np.testing.assert_allclose(found.second_moments, wanted, rtol=0, atol=1e-10 * across)
    assert found.region_area == pytest.approx(region, rel=1e-12)
    disc = region**2 / (4.0 * math.pi) * (np.eye(3) - np.outer(axis, axis))
    np.testing.assert_allclose(found.region_moments, disc, rtol=0, atol=1e-11 * region**2)
    np.testing.assert_allclose(found.normal, -axis, atol=1e-12)
    swapped = overlap_solid(rb.Placed(rb.Sphere(s), tuple(here + d * axis)), rb.Placed(rb.Sphere(r), tuple(here)))
    assert swapped.volume == pytest.approx(found.volume, rel=1e-14)
    assert (swapped.area_a, swapped.area_b) == pytest.approx((found.area_b, found.area_a), rel=1e-13)
    np.testing.assert_allclose(swapped.centroid, found.centroid, atol=1e-13)


def test_the_lens_of_equal_balls_has_the_textbook_volume_and_area():
    found = overlap_solid(rb.Sphere(2.0), rb.Placed(rb.Sphere(2.0), (0, 3.0, 0)))
    assert found.volume == pytest.approx(math.pi * (4 * 2.0 + 3.0) * (2 * 2.0 - 3.0) ** 2 / 12.0, rel=1e-14)
    assert found.area_a == pytest.approx(2 * math.pi * 2.0 * 0.5, rel=1e-14)


@pytest.mark.parametrize(("radius", "inside"), [(1.0, 0.0), (1.0, 0.4), (1.0, 0.9)])
def test_a_ball_in_a_ball_or_below_a_plane_overlaps_with_all_of_itself(radius, inside):
    for other in (rb.Sphere(2.0), rb.Plane(normal=(0, 1, 0), offset=3.0)):
        found = overlap_solid(other, rb.Placed(rb.Sphere(radius), (inside, 0, 0)))
        assert found.volume == pytest.approx(4.0 / 3.0 * math.pi * radius**3, rel=1e-14)
        np.testing.assert_allclose(found.centroid, (inside, 0, 0), atol=1e-15)
        np.testing.assert_allclose(found.second_moments, found.volume * radius**2 / 5 * np.eye(3), atol=1e-14)
        assert found.area_b == pytest.approx(4.0 * math.pi * radius**2)
        assert found.area_a == pytest.approx(0.0, abs=1e-15)
        assert found.region_area == pytest.approx(math.pi * radius**2)


@pytest.mark.parametrize("depth", [1e-6, 0.3, 1.0, 1.6])
def test_a_ball_sunk_into_a_plane_overlaps_in_a_cap(depth):
    axis = np.array([0.36, 0.48, 0.8])
    ball = rb.Placed(rb.Sphere(1.0), tuple((0.7 + 1.0 - depth) * axis))
    found = overlap_solid(ball, rb.Plane(tuple(axis), 0.7))
    assert found.volume == pytest.approx(math.pi * depth**2 * (3.0 - depth) / 3.0, rel=1e-8)
    middle = 3.0 * (2.0 - depth) ** 2 / (4.0 * (3.0 - depth))
    np.testing.assert_allclose(found.centroid, np.array(ball.position) - middle * axis, atol=1e-12)
    assert found.area_a == pytest.approx(2 * math.pi * depth, rel=1e-8)
    assert found.area_b == pytest.approx(math.pi * depth * (2.0 - depth), rel=1e-8)
    assert found.region_area == pytest.approx(math.pi * (depth * (2 - depth) if depth < 1 else 1.0), rel=1e-8)


def test_balls_that_touch_have_no_overlap():
    assert overlap_solid(rb.Sphere(1.0), rb.Placed(rb.Sphere(0.5), (1.5, 0, 0))).volume == 0.0
    assert overlap_solid(rb.Placed(rb.Sphere(1.0), (0, 0, 1.0)), rb.Plane()).volume == 0.0


ROUND = [
    (rb.Sphere(0.5), math.pi / 6.0),
    (rb.Cylinder(0.5, 1.0), math.pi / 4.0),
    (rb.Cone(0.5, 1.0), math.pi / 12.0),
    (rb.Ellipsoid(0.5, 0.4, 0.3), 4.0 / 3.0 * math.pi * 0.5 * 0.4 * 0.3),
    (rb.Capsule(0.25, 1.0), math.pi * 0.25**2 * 0.5 + 4.0 / 3.0 * math.pi * 0.25**3),
]


@pytest.mark.parametrize(("shape", "volume"), ROUND, ids=lambda entry: type(entry).__name__)
def test_polyhedra_inscribed_in_round_bodies_come_nearer_with_the_square_of_their_fineness(shape, volume):
    missing = [1.0 - overlap_solid(shape, rb.Box(9, 9, 9), normal=UP, fineness=m).volume / volume for m in (16, 32)]
    assert 0.0 < missing[1] < (2.0 * math.pi / 32) ** 2 * (1 / 6 + 1 / 4)
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.1)


def test_a_cylinder_sunk_into_a_plane_overlaps_in_a_disc():
    found = overlap_solid(rb.Placed(rb.Cylinder(0.5, 1.0), (0, 0, 0.4)), rb.Plane())
    assert found.volume == pytest.approx(0.1 * math.pi * 0.25, rel=3e-3)
    np.testing.assert_allclose(found.centroid, (0, 0, -0.05), atol=1e-12)
    np.testing.assert_allclose(found.normal, UP, atol=1e-12)


def test_spheres_seen_along_another_normal_are_polyhedra():
    a, b = rb.Sphere(1.0), rb.Placed(rb.Sphere(1.0), (1.0, 0, 0))
    found, exact = overlap_solid(a, b, normal=UP, fineness=64), overlap_solid(a, b)
    assert found.volume == pytest.approx(exact.volume, rel=8e-3)
    # Seen from the side, the lens of two unit balls at the distance 1 is that of two unit discs.
    assert found.region_area == pytest.approx(2 * math.pi / 3 - math.sqrt(3) / 2, rel=8e-3)


def test_the_inscribed_polyhedron_of_a_box_is_the_box():
    assert inscribed(rb.Box(1, 2, 3), 16) == rb.Box(1, 2, 3)
