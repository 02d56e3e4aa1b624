"""The delta robot: places, angles and rates against answers found in other ways."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import rattleback as rb
from rattleback.kinematics.delta import Delta

ROBOT = Delta()


def places(count: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.uniform((-0.15, -0.15, -0.6), (0.15, 0.15, -0.35), (count, 3))


def ends_of_rods(angles: np.ndarray) -> np.ndarray:
    """Elbows where they are, not moved inwards (3, 3)."""
    around = np.deg2rad([0, 120, 240])
    out = ROBOT.base_radius + ROBOT.arm * np.cos(angles)
    return np.stack([out * np.cos(around), out * np.sin(around), -ROBOT.arm * np.sin(angles)], axis=1)


def holds_of_platform(place: np.ndarray) -> np.ndarray:
    around = np.deg2rad([0, 120, 240])
    return place + ROBOT.platform_radius * np.stack([np.cos(around), np.sin(around), 0 * around], axis=1)


@pytest.mark.parametrize("inwards", [False, True])
def test_the_rods_are_as_long_as_they_are(inwards):
    for place in places(20, seed=1):
        rods = holds_of_platform(place) - ends_of_rods(ROBOT.inverse(place, inwards))
        np.testing.assert_allclose(np.linalg.norm(rods, axis=1), ROBOT.rod, atol=1e-14)


def test_elbows_are_turned_outwards_unless_asked_for():
    for place in places(20, seed=2):
        out, inside = (ends_of_rods(ROBOT.inverse(place, inwards)) for inwards in (False, True))
        assert (np.linalg.norm(out[:, :2], axis=1) > np.linalg.norm(inside[:, :2], axis=1)).all()


def test_forward_undoes_inverse():
    wanted = places(1000, seed=3).reshape(10, 100, 3)
    angles = ROBOT.inverse(wanted)
    assert angles.shape == (10, 100, 3)
    np.testing.assert_allclose(ROBOT.forward(angles), wanted, atol=1e-12)


def test_both_places_are_those_where_three_spheres_meet():
    angles = np.array([0.3, 0.5, 0.1])
    elbows = ends_of_rods(angles) - holds_of_platform(np.zeros(3))

    def error(p: np.ndarray) -> np.ndarray:
        return ((p - elbows) ** 2).sum(axis=1) - ROBOT.rod**2

    for upper, guess in ((False, (0, 0, -0.5)), (True, (0, 0, 0.5))):
        np.testing.assert_allclose(ROBOT.forward(angles, upper), fsolve(error, guess, xtol=1e-12), atol=1e-9)


def test_the_jacobian_is_the_slope_of_the_angles():
    for place in places(10, seed=4):
        steps = 1e-6 * np.eye(3)
        slope = (ROBOT.inverse(place + steps) - ROBOT.inverse(place - steps)).T / 2e-6
        np.testing.assert_allclose(ROBOT.jacobian(place), slope, atol=1e-7)


def test_out_of_reach_is_not_a_number():
    assert np.isnan(ROBOT.inverse((0, 0, -2.0))).all()
    assert not ROBOT.reaches((0, 0, -2.0))
    apart = Delta(base_radius=1.0, rod=0.5)
    assert np.isnan(apart.forward((0.0, 0.0, 0.0))).all()


def test_stretched_arms_are_singular_of_the_first_kind():
    # Straight down the middle all arms are stretched where the elbow lies on the way from the axis to the platform.
    offset = ROBOT.base_radius - ROBOT.platform_radius
    depth = np.sqrt((ROBOT.arm + ROBOT.rod) ** 2 - offset**2)
    first, second = ROBOT.singular((0.0, 0.0, -depth + 1e-12))
    assert first < 1e-5
    assert second > 0.1
    near, far = (ROBOT.singular((0.0, 0.0, -z))[0] for z in (depth - 0.01, depth - 0.1))
    assert near < far


def test_rods_in_one_plane_are_singular_of_the_second_kind():
    # Arms at an angle where the rods are horizontal: F + L cos θ − E = l, so that p lies as high as the elbows.
    robot = Delta(base_radius=0.3, platform_radius=0.05, arm=0.3, rod=0.5)
    angle = np.arccos((0.5 - 0.25) / 0.3)
    place = robot.forward(np.full(3, angle * (1.0 + 1e-9)))
    np.testing.assert_allclose(place, (0, 0, -0.3 * np.sin(angle)), atol=1e-4)
    first, second = robot.singular(place)
    assert second < 1e-3
    assert first > 0.1


def test_places_in_the_workspace_are_reached_within_the_limits():
    robot = Delta(limits=(-0.5, 1.3))
    points = robot.workspace(cells=40).points
    angles = robot.inverse(points)
    assert len(points) > 1000
    assert angles.min() >= -0.5
    assert angles.max() <= 1.3
    np.testing.assert_allclose(robot.forward(angles), points, atol=1e-9)


def test_the_volume_of_the_workspace_is_that_of_the_image_of_all_angles():
    # All angles within these limits have their elbows outwards, so that places and angles belong together one to one.
    robot = Delta(limits=(-0.5, 1.3))
    share = (np.arange(24) + 0.5) / 24.0
    angles = np.stack(np.meshgrid(*[-0.5 + 1.8 * share] * 3, indexing="ij")).reshape(3, -1).T
    np.testing.assert_allclose(ROBOT.inverse(ROBOT.forward(angles)), angles, atol=1e-9)
    steps = 1e-6 * np.eye(3)
    slopes = (robot.forward(angles[:, None] + steps) - robot.forward(angles[:, None] - steps)) / 2e-6
    volume = 1.8**3 * np.abs(np.linalg.det(slopes)).mean()
    assert robot.workspace(cells=100).volume == pytest.approx(volume, rel=0.01)


def test_a_workspace_without_limits_is_what_three_tori_have_in_common():
    # An arm and its rod reach what is no farther than l from the circle of the elbow; counted in another grid.
    found = ROBOT.workspace(cells=50)
    share = (np.arange(40) + 0.5) / 40.0
    sides = [low + (high - low) * share for low, high in ((-0.9, 0.9), (-0.9, 0.9), (-0.75, 0.0))]
    points = np.stack(np.meshgrid(*sides, indexing="ij")).reshape(3, -1).T
    turn = np.linspace(-np.pi, np.pi, 721)
    inside = np.ones(len(points), dtype=bool)
    for around in np.deg2rad([0, 120, 240]):
        u = np.array([np.cos(around), np.sin(around), 0.0])
        elbow = np.outer(0.15 + 0.25 * np.cos(turn), u) - np.outer(0.25 * np.sin(turn), (0, 0, 1.0))
        far = np.linalg.norm(points[:, None] - elbow[None, ::8], axis=2)
        inside &= (far.min(axis=1) <= 0.5) & (far.max(axis=1) >= 0.5)
    assert found.volume == pytest.approx(inside.mean() * 1.8 * 1.8 * 0.75, rel=0.03)


WRONG = [
    (lambda: Delta(arm=0.0), "The arm of Delta is 0.0; it must be greater than zero."),
    (lambda: Delta(limits=(1, 0)), "The limits of Delta are 1 and 0; the first must be below the second."),
    (lambda: ROBOT.inverse((1.0, 2.0)), "A place of Delta have shape (2,); the last axis must be 3."),
    (lambda: ROBOT.forward((1.0, 2.0)), "Angles of Delta have shape (2,); the last axis must be 3."),
]


@pytest.mark.parametrize(("act", "said"), WRONG)
def test_what_cannot_be_is_refused(act, said):
    with pytest.raises(rb.InputError) as caught:
        act()
    assert str(caught.value) == said
