"""Depths and points that rounding or symmetry makes hard: needles, plates, small angles, nearly equal ways out."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL = range(1, 7)
LEANING = Rotation.from_rotvec([0.3, -0.5, 0.7])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def best_way_out(rig, pair, rng, tops=8, rounds=60):
    """The largest of ``least_along`` over many directions, the best of them polished by shrinking random steps."""
    n = unit(rng.normal(size=(4000, 3)))
    n = n[np.argsort(-rig.least_along(pair, n))[:tops]]
    high, step = rig.least_along(pair, n), np.full(tops, 0.1)
    for _ in range(rounds):
        tried = unit(n[:, None] + step[:, None, None] * rng.normal(size=(tops, 12, 3)))
        now = rig.least_along(pair, tried.reshape(-1, 3)).reshape(tops, 12)
        k = now.argmax(axis=1)
        better = now.max(axis=1) > high
        n[better], high = tried[better, k[better]], np.maximum(high, now.max(axis=1))
        step *= np.where(better, 1.1, 0.65)
    return high.max()


@pytest.mark.parametrize("away", [0.0, 1e-10, 1e-7])
def test_a_capsule_on_the_axis_of_a_flat_cone_leaves_it_through_the_slope(rig, away):
    # Straight up through the apex the way out is longer than everywhere around it.
    radius, half, length, shell = 0.69, 0.0045, 0.0104, 0.0137
    capsule = rig.Solid(CAPSULE, (0, 0, length), shell, position=(away, -away, 0.0))
    pair = capsule, rig.Solid(CONE, (radius, radius, half))
    answers = rig.measure([pair])
    rig.check([pair], answers)
    across = (half + length) * radius / np.hypot(radius, 2 * half)
    assert answers[0][0] == pytest.approx(-across - shell, abs=1e-9 + 2 * away)


@pytest.mark.parametrize("tilt", [1e-15, 1e-13, 7e-12, 1e-10, 1e-6, 0.01])
@pytest.mark.parametrize("length", [1.0, 0.1, 1e-3])
def test_segments_that_cross_at_a_small_angle_are_as_deep_as_their_shells(rig, tilt, length):
    turned = LEANING * Rotation.from_rotvec([tilt, 0.0, 0.0])
    pair = rig.Solid(CAPSULE, (0, 0, 1.0), 0.2, turn=turned), rig.Solid(CAPSULE, (0, 0, length), 0.1, turn=LEANING)
    answers = rig.measure([pair])
    rig.check([pair], answers, 1e-12)
    assert answers[0][0] == pytest.approx(-0.3, abs=1e-13)


def in_the_middle(rig, rng, large, count, **sizes):
    """Pairs of a large solid and small ones, turned anyhow, at its middle."""
    kinds = rng.choice([BOX, CYLINDER, CONE, ELLIPSOID, HULL], count)
    pairs = [rig.random_pair(rng, (kind, kind), (0.0, 0.0), **sizes) for kind in kinds]
    return [(large, small.at(1e-9 * rng.normal(size=3))) for _, small in pairs]


def test_points_lie_on_both_solids_where_a_needle_meets_something_tiny(rig):
    rng = np.random.default_rng(11)
    needle = rig.Solid(CAPSULE, (0, 0, 0.7), 0.2, turn=LEANING)
    pairs = in_the_middle(rig, rng, needle, 600, lowest=1e-4, highest=1e-2)
    # The direction along an edge has half of the digits, and the ends of the needle lie far out.
    rig.check(pairs, rig.measure(pairs), 1e-7)


def test_the_shortest_of_many_nearly_equal_ways_out_of_a_cone_is_found(rig):
    # Around its axis a cone is everywhere as deep; what is tiny in its middle decides.
    rng = np.random.default_rng(12)
    cone = rig.Solid(CONE, (0.65, 0.65, 0.29), turn=LEANING)
    pairs = in_the_middle(rig, rng, cone, 60, lowest=1e-3, highest=1e-2)
    answers = rig.measure(pairs)
    rig.check(pairs, answers)
    assert max(best_way_out(rig, pair, rng) - answers[0][k] for k, pair in enumerate(pairs)) <= 1e-6
