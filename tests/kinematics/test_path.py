"""Paths through way-points: where they go, how fast, and what trees do that follow them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import rattleback as rb
from rattleback.kinematics.models import planar_2r, puma560
from rattleback.kinematics.path import Path
from rattleback.kinematics.pose import difference, make_pose
from rattleback.kinematics.tracking import track, track_rates

TURNS = Rotation.from_rotvec([(0, 0, 0.2), (0.9, -0.3, 0.4), (-0.2, 1.5, 0.3), (0.1, 0.2, -2.0)])
PLACES = np.array([(0, 0, 0), (1.0, 0.2, 0), (1.0, 1.0, 0.5), (1.1, 1.0, 0.5)])
POSES = make_pose(PLACES, TURNS.as_matrix())
LIMITS = {"speed": 0.8, "acceleration": 3.0, "turn_speed": 1.5, "turn_acceleration": 6.0}
EVERY = [(scaling, blend) for scaling in ("cubic", "quintic") for blend in (0.0, 0.3)]


def peaks(path: Path) -> np.ndarray:
    """Greatest speed, acceleration, angular speed and angular acceleration, by differences of poses."""
    h = 1e-4
    now = np.arange(-2.0 * h, path.duration + 2.0 * h, h)
    poses = path(now)
    speed = difference(poses[1:], poses[:-1]) / h
    change = np.diff(speed, axis=0) / h
    sizes = [np.linalg.norm(part, axis=1).max() for part in (speed[:, :3], change[:, :3], speed[:, 3:], change[:, 3:])]
    return np.array(sizes)


@pytest.mark.parametrize("scaling", ["cubic", "quintic"])
def test_every_way_point_is_passed_at_rest(scaling):
    path = Path(POSES, scaling=scaling)
    ends = np.append(path.starts, path.duration)
    assert np.abs(difference(path(ends), POSES)).max() < 1e-14
    assert np.abs(path.velocity(ends)).max() < 1e-12


def test_between_way_points_places_lie_on_a_line_and_turns_are_those_of_slerp():
    path = Path(POSES)
    for k in range(3):
        t = path.starts[k] + path.durations[k] * np.linspace(0.0, 1.0, 9)
        poses = path(t)
        share = np.linspace(0.0, 1.0, 9)
        share = share**2 * (3.0 - 2.0 * share)
        np.testing.assert_allclose(poses[:, :3, 3], PLACES[k] + np.outer(share, PLACES[k + 1] - PLACES[k]), atol=1e-14)
        wanted = Slerp([0.0, 1.0], TURNS[k : k + 2])(share).as_matrix()
        np.testing.assert_allclose(poses[:, :3, :3], wanted, atol=1e-14)


@pytest.mark.parametrize(("scaling", "blend"), EVERY)
def test_the_limits_hold_and_one_of_them_is_met(scaling, blend):
    path = Path(POSES, **LIMITS, scaling=scaling, blend=blend)
    shares = peaks(path) / np.array(list(LIMITS.values()))
    assert shares.max() < 1.001
    assert shares.max() > 0.97


@pytest.mark.parametrize(("scaling", "blend"), EVERY)
def test_velocities_are_the_slope_of_the_poses(scaling, blend):
    path, h = Path(POSES, scaling=scaling, blend=blend), 1e-5
    t = np.linspace(h, path.duration - h, 101)
    np.testing.assert_allclose(path.velocity(t), difference(path(t + h), path(t - h)) / (2.0 * h), atol=1e-5)


@pytest.mark.parametrize("blend", [0.0, 0.3])
def test_speeds_of_cubic_paths_and_accelerations_of_quintic_ones_do_not_jump(blend):
    for scaling, order in (("cubic", 1), ("quintic", 2)):
        path = Path(POSES, scaling=scaling, blend=blend)
        jumps = []
        for h in (2e-3, 1e-3):
            t = np.arange(-5 * h, path.duration + 5 * h, h)
            rate = path.velocity(t)
            value = rate if order == 1 else np.diff(rate, axis=0) / h
            jumps.append(np.abs(np.diff(value, axis=0)).max())
        assert jumps[1] == pytest.approx(0.5 * jumps[0], rel=0.1)


def test_blending_saves_time_where_acceleration_allows_and_rounds_corners():
    generous = {"speed": 1.0, "acceleration": 1e3, "turn_speed": 1e3, "turn_acceleration": 1e6}
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    sharp, round_ = Path(square, **generous), Path(square, **generous, blend=0.3)
    assert round_.duration < sharp.duration
    poses = round_(round_.times(500))
    assert np.abs(difference(poses[[0, -1]], make_pose(np.array([square[0], square[-1]])))).max() < 1e-14
    corner = np.linalg.norm(poses[:, :3, 3] - (1, 0, 0), axis=1).min()
    assert 0.01 < corner < 0.2


def test_the_time_of_a_straight_path_is_that_of_the_limit_that_binds():
    fast = {"acceleration": 1e6, "turn_speed": 1e6, "turn_acceleration": 1e6}
    assert Path([(0, 0, 0), (2, 0, 0)], speed=0.5, **fast).duration == pytest.approx(1.5 * 2.0 / 0.5)
    assert Path([(0, 0, 0), (2, 0, 0)], speed=0.5, **fast, scaling="quintic").duration == pytest.approx(1.875 * 2 / 0.5)
    assert Path([(0, 0, 0), (2, 0, 0)], speed=1e6, acceleration=3.0).duration == pytest.approx(2.0)


def reachable_path(tree, scaling="quintic"):
    q = np.array([[0.2, 0.4, -0.5, 0.1, 0.5, 0.1], [0.6, 0.7, -0.9, 0.4, 0.7, -0.3], [0.9, 0.3, -0.3, 0.2, 0.4, 0.3]])
    return Path(tree.forward(q), scaling=scaling), q[0]


@pytest.mark.parametrize("method", ["lm", "dls"])
def test_a_tree_follows_a_path_smoothly(method):
    tree = puma560()
    path, first = reachable_path(tree)
    coarse, fine = (track(tree, path, method, count, first) for count in (31, 61))
    assert fine.reached.all()
    assert fine.error.max() < 2e-6
    assert tree.within_limits(fine.q).all()
    # Steps half as long change the joints half as much: there is no jump.
    steps = [np.abs(np.diff(motion.q, axis=0)).max() for motion in (coarse, fine)]
    assert steps[1] == pytest.approx(0.5 * steps[0], rel=0.1)


def test_the_rates_of_a_tracked_path_move_the_tip_as_the_path_says():
    tree = puma560()
    path, first = reachable_path(tree)
    off = []
    for count in (41, 81):
        motion = track(tree, path, "lm", count, first)
        moving = np.einsum("nij,nj->ni", tree.jacobian(motion.q), motion.rates)
        off.append(np.abs(moving - path.velocity(motion.times)).max())
    # The slopes of a spline are exact to the second order, at least, where third derivatives jump.
    assert off[0] < 0.02
    assert off[1] < 0.35 * off[0]


def test_rates_follow_places_and_turns_of_six_axes():
    tree = puma560()
    path, first = reachable_path(tree)
    motion = track_rates(tree, path, count=101, start=first)
    assert motion.error.max() < 1e-5
    assert motion.reached.all()


SIDE = 0.02
LINE = Path([(-0.3, SIDE, 0.0), (0.3, SIDE, 0.0)], speed=0.5, acceleration=1e3)


def two_bars(time: np.ndarray) -> np.ndarray:
    """Angles of two bars of 1 m whose tip goes along the line, in closed form."""
    share = np.clip(time / LINE.duration, 0.0, 1.0)
    x = -0.3 + 0.6 * share**2 * (3.0 - 2.0 * share)
    square = x * x + SIDE**2
    second = np.arccos(0.5 * square - 1.0)
    first = np.arctan2(SIDE, x) - np.arctan2(np.sin(second), 1.0 + np.cos(second))
    return np.stack([first, second], axis=1)


def closed_rates(time: np.ndarray) -> np.ndarray:
    return (two_bars(time + 1e-6) - two_bars(time - 1e-6)) / 2e-6


def test_the_pseudo_inverse_spikes_beside_the_singular_point_as_the_closed_form_does_and_damping_does_not():
    tree, start = planar_2r(1.0, 1.0), two_bars(np.zeros(1))[0]
    exact = track_rates(tree, LINE, 0.0, 401, start, orientation=False)
    spike = np.abs(closed_rates(exact.times)).max()
    assert spike > 20.0
    np.testing.assert_allclose(exact.q, two_bars(exact.times), atol=1e-4)
    assert exact.peak_rate == pytest.approx(spike, rel=1e-3)
    assert exact.error.max() < 1e-4
    damped = track_rates(tree, LINE, 0.1, 401, start, orientation=False, tolerance=0.2)
    assert damped.peak_rate < 0.25 * spike
    assert 1e-3 < damped.error[:, 0].max() < 0.2
    assert not damped.reached[damped.error[:, 0] > 0.2].any()


def test_more_damping_makes_joints_slower_and_the_bound_holds():
    tree, start = planar_2r(1.0, 1.0), two_bars(np.zeros(1))[0]
    peaks = []
    for damping in (0.05, 0.1, 0.3):
        motion = track_rates(tree, LINE, damping, 151, start, orientation=False)
        asked = 0.5 + 10.0 * motion.error[:, 0].max()
        assert np.linalg.norm(motion.rates, axis=1).max() <= asked / (2.0 * damping)
        peaks.append(motion.peak_rate)
    assert peaks == sorted(peaks, reverse=True)


def test_joints_stop_at_their_limits_where_rates_would_drive_them_on():
    tree = planar_2r(1.0, 0.6, limits=((-0.2, 0.2), (-2.0, 2.0)))
    start = np.array([0.0, 0.5])
    goal = tree.forward(start)[:3, 3] + (-0.5, 0.9, 0.0)
    path = Path([tree.forward(start)[:3, 3], goal])
    motion = track_rates(tree, path, 0.05, 101, start, orientation=False)
    assert tree.within_limits(motion.q).all()
    assert not motion.reached.all()


WRONG = [
    (lambda: Path([(0, 0, 0)]), "The waypoints of Path have shape (1, 3); give two or more, (n, 4, 4) or (n, 3)."),
    (lambda: Path([(0, 0, 0), (0, 0, 0)]), "The way-points 0 and 1 of Path are the same; leave one of them out."),
    (lambda: Path(POSES, speed=0.0), "The speed of Path is 0.0; it must be greater than zero."),
    (lambda: Path(POSES, blend=0.7), "The blend of Path is 0.7; it must be from 0 to 0.5."),
    (lambda: Path(POSES, scaling="linear"), "The scaling of Path is 'linear'; it may be 'cubic', 'quintic'."),
    (lambda: LINE.times(1), "The number of times is 1; it must be at least 2."),
    (
        lambda: track_rates(planar_2r(), LINE, gian=3.0),
        "track_rates has no option 'gian'. Did you mean 'gain'? It takes 'tool', 'orientation', 'gain', 'tolerance'.",
    ),
    (lambda: track_rates(planar_2r(), LINE, -1.0), "The damping of track_rates is -1.0; it must be zero or more."),
]


@pytest.mark.parametrize(("act", "said"), WRONG)
def test_what_cannot_be_is_refused(act, said):
    with pytest.raises(rb.InputError) as caught:
        act()
    assert str(caught.value) == said
