"""Inverse kinematics: verdicts that never lie, limits that always hold, targets of all kinds, one or a batch."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Link, Tree, models

ik = rb.ik


def misses(tree, q, goal):
    """Distance and angle between the tip and a pose, by SciPy."""
    now = tree.forward(q)
    turn = Rotation.from_matrix(goal[..., :3, :3] @ np.swapaxes(now[..., :3, :3], -2, -1)).magnitude()
    return np.linalg.norm(now[..., :3, 3] - goal[..., :3, 3], axis=-1), turn


@pytest.mark.parametrize("name", ["puma560", "six_axis", "seven_axis"])
def test_random_reachable_poses_are_reached_from_the_middle_within_limits(name):
    tree = getattr(models, name)()
    goals = tree.forward(tree.random(500, seed=20))
    found = ik.solve(tree, goals)
    place, turn = misses(tree, found.q, goals)
    assert found.reached.all()
    assert place.max() <= 1e-6
    assert turn.max() <= 1e-6
    assert tree.within_limits(found.q).all()
    assert (found.reason == "").all()
    np.testing.assert_allclose(found.residual, np.stack([place, turn], axis=-1), atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "six_axis", "seven_axis"])
def test_ten_thousand_random_poses_are_reached_but_for_one_in_a_thousand(name):
    tree = getattr(models, name)()
    goals = tree.forward(tree.random(10_000, seed=21))
    found = ik.solve(tree, goals)
    place, turn = misses(tree, found.q, goals)
    good = (place <= 1e-6) & (turn <= 1e-6)
    np.testing.assert_array_equal(good, found.reached)
    assert good.mean() >= 0.999
    assert tree.within_limits(found.q).all()


def test_the_same_question_has_the_same_answer_to_the_bit():
    tree = models.six_axis()
    goals = tree.forward(tree.random(50, seed=5))
    first, second = ik.solve(tree, goals), ik.solve(tree, goals)
    np.testing.assert_array_equal(first.q, second.q)
    assert not np.array_equal(first.q, ik.solve(tree, goals, start=tree.random(50, seed=1)).q)


def test_rounds_of_tries_as_on_a_gpu_change_no_bit_of_the_answer(monkeypatch):
    tree = models.six_axis()
    goals = tree.forward(tree.random(200, seed=7))
    goals[::20, :3, 3] *= 2.0
    whole = ik.solve(tree, goals)
    monkeypatch.setattr(ik.LM, "_rounds", lambda self, problem: [(0, 0), (1, 2), (3, self.restarts)])
    parts = ik.solve(tree, goals)
    assert 0.8 < whole.reached.mean() < 1.0
    for name in ("q", "reached", "residual", "reason", "iterations"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("method", list(rb.ik.MENU))
@given(seed=st.integers(0, 10_000))
def test_no_method_claims_what_forward_kinematics_denies_nor_leaves_the_limits(method, seed):
    """Half of the goals are out of reach; whatever comes back is within limits and judged as it is."""
    rng = np.random.default_rng(seed)
    tree = models.planar_2r(1.0, 0.6, limits=[(-2.0, 2.0), (-1.5, 2.5)])
    goal = np.append(rng.uniform(-1.7, 1.7, 2), 0.0)
    options = {} if method in ("lm", "analytic") else {"iterations": 30}
    found = ik.solve(tree, ik.Position(goal), method, start=tree.random(1, seed=seed)[0], **options)
    miss = np.linalg.norm(tree.forward(found.q)[:3, 3] - goal)
    assert found.reached == (miss <= 1e-6)
    assert found.residual[0] == pytest.approx(miss, abs=1e-12)
    assert tree.within_limits(found.q)
    assert (found.reason == "") == found.reached
    if not found.reached:
        assert re.match(r"(out of reach by|limits|singular|stuck)\b", found.reason)


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        ((3.0, 0.0, 0.0), (1.4, 0.0, 0.0)),
        ((0.0, -2.0, 0.0), (0.0, -1.4, 0.0)),
        ((1.2, 0.9, 0.0), (1.12, 0.84, 0.0)),
        ((0.3, 0.0, 0.0), (0.6, 0.0, 0.0)),
        ((0.09, 0.12, 0.0), (0.36, 0.48, 0.0)),
        ((0.6, 0.8, 0.5), (0.6, 0.8, 0.0)),
    ],
)
def test_out_of_reach_gives_the_nearest_point_and_how_far_it_is(place, nearest):
    """The planar arm reaches the ring between L₁ − L₂ = 0.6 and L₁ + L₂ = 1.4."""
    tree = models.planar_2r(1.0, 0.4)
    found = ik.solve(tree, ik.Position(place))
    gap = np.linalg.norm(np.subtract(place, nearest))
    assert not found.reached
    np.testing.assert_allclose(tree.forward(found.q)[:3, 3], nearest, atol=1e-4)
    assert found.residual[0] == pytest.approx(gap, abs=1e-8)
    assert found.reason == f"out of reach by {gap:.3g} m"


def test_a_pose_out_of_reach_gives_the_nearest_place_whatever_the_orientation():
    """PUMA 560: the wrist is at most √(a₂² + … ) away from the shoulder's axis; the shoulder's offset is across."""
    tree = models.puma560()
    goal = tree.forward(tree.middle)
    goal[:3, 3] = (3.0, 0.0, 0.0)
    found = ik.solve(tree, goal)
    # The wrist moves on a sphere about the shoulder whose radius is that of the stretched arm: two bars in the plane,
    # 0.15005 m beside the shoulder. Every point of that sphere that the limits allow lies on the line to the goal.
    reach = np.hypot(0.4318 + np.hypot(0.0203, 0.4318), 0.15005)
    assert found.residual[0] == pytest.approx(3.0 - reach, abs=1e-4)
    assert found.reason == f"out of reach by {3.0 - reach:.3g} m"


def test_the_nearest_point_within_limits_is_that_of_an_exhaustive_search():
    tree = models.planar_2r(1.0, 1.0, limits=[(-0.5, 0.5), (0.3, 1.2)])
    for goal in ((-1.0, 1.0, 0.0), (2.0, 0.0, 0.0), (0.2, 1.4, 0.0), (1.0, -1.5, 0.0)):
        found = ik.solve(tree, ik.Position(goal))
        grid = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 60), np.linspace(0.3, 1.2, 60)), axis=-1).reshape(-1, 2)
        away = np.linalg.norm(tree.forward(grid)[:, :3, 3] - goal, axis=1)
        best = minimize(
            lambda q, goal=goal: np.linalg.norm(tree.forward(q)[:3, 3] - goal),
            grid[np.argmin(away)],
            bounds=[(-0.5, 0.5), (0.3, 1.2)],
            tol=1e-12,
        )
        assert found.residual[0] == pytest.approx(best.fun, abs=1e-4)
        assert not found.reached


def test_a_pose_that_cannot_be_reached_is_as_near_as_its_place_alone_can_be():
    tree = models.six_axis()
    goals = tree.forward(tree.random(40, seed=5))
    goals[:, :3, 3] *= 1.5
    found, alone = ik.solve(tree, goals), ik.solve(tree, ik.Position(goals[:, :3, 3]))
    assert 5 < (~alone.reached).sum() < 40
    np.testing.assert_allclose(found.residual[:, 0], alone.residual[:, 0], atol=1e-4)


def test_limits_in_the_way_are_named():
    tree = models.planar_2r(1.0, 1.0, limits=[(-0.5, 0.5), (0.0, 1.0)])
    found = ik.solve(tree, ik.Position((-1.0, 1.0, 0.0)))
    assert found.reason.startswith("limits: 'joint1', 'joint2' are at their limits, ")
    assert found.reason.endswith(f"{found.residual[0]:.3g} m away")


def test_an_orientation_that_cannot_be_had_at_a_place_that_can_is_told_apart():
    tree = models.planar_2r(1.0, 1.0)
    goal = np.eye(4)
    goal[:3, 3] = (1.0, 1.0, 0.0)
    goal[:3, :3] = Rotation.from_rotvec([0.5, 0.0, 0.0]).as_matrix()
    found = ik.solve(tree, goal)
    assert found.residual[0] < 1e-4
    assert re.fullmatch(r"out of reach by [\d.]+ rad, the place can be reached", found.reason) or (
        found.residual[0] > 1e-6 and found.reason.startswith("out of reach by")
    )


def test_a_start_from_which_no_small_motion_leads_on_is_called_singular():
    tree = models.planar_2r(1.0, 1.0)
    found = ik.solve(tree, ik.Position((1.0, 0.0, 0.0)), "dls", start=[0.0, 0.0])
    assert not found.reached
    assert found.reason.startswith("singular: no small motion leads on from here, 1 m away")
    assert ik.solve(tree, ik.Position((1.0, 0.0, 0.0))).reached


def test_too_few_iterations_are_called_stuck_although_it_can_be_reached():
    tree = models.puma560()
    found = ik.solve(
        tree, tree.forward(tree.random(1, seed=2)[0]), "transpose", iterations=3, start=tree.random(1, seed=3)[0]
    )
    assert found.reason.startswith("stuck: ")
    assert "it can be reached" in found.reason
    assert found.iterations == 3


def test_a_prismatic_joint_is_not_wrapped_by_full_turns():
    tree = Tree([Link("rail", joint="prismatic", axis=(1, 0, 0), limits=(0.0, 50.0)), Link("arm", "rail")])
    found = ik.solve(tree, ik.Position((41.5, 0.0, 0.0)))
    assert found.reached
    assert found.q[0] == pytest.approx(41.5)


TARGETS = [
    lambda tree, q: ik.Position(tree.forward(q)[:3, 3]),
    lambda tree, q: ik.Position(tree.forward(q, "joint4")[:3, 3], tool="joint4"),
    lambda tree, q: ik.Position((tree.forward(q) @ [0.1, 0.2, 0.3, 1.0])[:3], point=(0.1, 0.2, 0.3)),
    lambda tree, q: ik.Orientation(tree.forward(q)[:3, :3]),
    lambda tree, q: ik.Orientation(Rotation.from_matrix(tree.forward(q)[:3, :3]).as_quat()),
    lambda tree, q: ik.Pose(tree.forward(q)),
    lambda tree, q: ik.Pointing((2.0, 1.0, 0.5)),
    lambda tree, q: ik.Pointing(along=(1.0, -1.0, 0.2), axis=(1, 0, 0)),
    lambda tree, q: ik.Distance((0.2, 0.1, 0.3), 0.55),
    lambda tree, q: [ik.Position(tree.forward(q)[:3, 3]), ik.Pointing((tree.forward(q) @ [0, 0, 0.7, 1])[:3])],
    lambda tree, q: [
        ik.Position(tree.forward(q)[:3, 3]),
        ik.Distance((0, 0, 2), np.linalg.norm(tree.forward(q, "joint4")[:3, 3] - [0, 0, 2]), tool="joint4"),
    ],
]


@pytest.mark.parametrize("number", range(len(TARGETS)))
def test_targets_of_every_kind_are_reached_as_they_mean(number):
    tree = models.seven_axis()
    q = tree.random(1, seed=12)[0]
    target = TARGETS[number](tree, q)
    found = ik.solve(tree, target)
    assert found.reached, found.reason
    now = tree.forward(found.q)
    for one in target if isinstance(target, list) else [target]:
        frame = tree.forward(found.q, one.tool)
        place = (frame @ [*one.point, 1.0])[:3]
        if isinstance(one, ik.Position):
            np.testing.assert_allclose(place, one.place, atol=1e-6)
        elif isinstance(one, ik.Pointing):
            wish = one.along if one.along is not None else one.at - place
            np.testing.assert_allclose(now[:3, :3] @ one.axis, wish / np.linalg.norm(wish), atol=2e-6)
        elif isinstance(one, ik.Distance):
            assert np.linalg.norm(place - one.centre) == pytest.approx(float(one.distance), abs=1e-6)
        elif isinstance(one, ik.Orientation):
            np.testing.assert_allclose(now[:3, :3], rb.rotation.matrix_from_quaternion(one.turn), atol=2e-6)


@pytest.mark.parametrize("number", range(len(TARGETS)))
def test_the_jacobian_of_every_target_is_the_derivative_of_its_error(number):
    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.target import as_targets

    tree = models.seven_axis()
    targets = as_targets(TARGETS[number](tree, tree.random(1, seed=12)[0]))
    problem = Problem(tree, targets, tree.middle[None], (1e-6, 1e-6), tree.lower, tree.upper, 0.7)
    q = tree.random(1, seed=13)[0]
    view, step = problem.look(q[None]), 1e-5
    assert view.square[0] == pytest.approx(float(view.error[0] @ view.error[0]))
    for c in range(7):
        way = np.zeros(7)
        way[c] = step
        square = [problem.look((q + side * way)[None]).square[0] for side in (1.0, -1.0)]
        # The gradient of ½|e|² is −Jᵀe, for every kind.
        assert (square[0] - square[1]) / (4.0 * step) == pytest.approx(
            -view.jacobian[0, :, c] @ view.error[0], abs=1e-8
        )


def test_several_fingers_touch_several_points_at_once():
    tree = models.hand()
    q = tree.random(1, seed=9)[0]
    names = ["thumb", "index", "middle", "ring", "little"]
    targets = [ik.Position(tree.forward(q, name)[:3, 3], tool=name) for name in names]
    found = ik.solve(tree, targets)
    assert found.reached
    for target in targets:
        np.testing.assert_allclose(tree.forward(found.q, target.tool)[:3, 3], target.place, atol=1e-6)


def test_weights_decide_between_targets_that_cannot_both_be_reached():
    tree = models.planar_3r()
    wishes = [ik.Position((1.0, 1.0, 0.0), weight=3.0), ik.Position((1.0, -1.0, 0.0), weight=1.0)]
    place = tree.forward(ik.solve(tree, wishes).q)[:3, 3]
    # min 9 |p − a|² + |p − b|² lies at (9 a + b)/10.
    np.testing.assert_allclose(place, [1.0, 0.8, 0.0], atol=1e-4)


def test_a_lower_priority_uses_only_the_freedom_that_is_left():
    tree = models.seven_axis()
    q = tree.random(1, seed=9)[0]
    elbow = tree.forward(q, "joint4")[:3, 3]
    targets = [ik.Pose(tree.forward(q)), ik.Position(elbow, tool="joint4", priority=1)]
    both = ik.solve(tree, targets)
    assert both.residual[0] < 1e-5
    far = [targets[0], ik.Position(elbow + np.array([0.0, 0.0, 0.3]), tool="joint4", priority=1)]
    found = ik.solve(tree, far)
    place, turn = misses(tree, found.q, tree.forward(q))
    assert place <= 1e-6
    assert turn <= 1e-6
    assert not found.reached
    assert re.fullmatch(r"priority 1: [\d.]+ m away, and nothing nearer was found", found.reason)
    # The elbow of this arm moves on a circle; the nearest point of it, found by turning through all solutions.
    elbows = [ik.solve(tree, targets[0], start=start).q for start in tree.random(60, seed=2)]
    sampled = min(np.linalg.norm(tree.forward(entry, "joint4")[:3, 3] - far[1].place) for entry in elbows)
    assert np.linalg.norm(tree.forward(found.q, "joint4")[:3, 3] - far[1].place) <= sampled + 1e-3


def test_batches_come_by_goals_or_by_starts():
    tree = models.six_axis()
    goals = tree.forward(tree.random(4, seed=1))
    by_goals, by_starts = ik.solve(tree, goals), ik.solve(tree, goals[0], start=tree.random(3, seed=2))
    assert by_goals.q.shape == (4, 6)
    assert by_starts.q.shape == (3, 6)
    assert by_starts.reached.all()
    one = ik.solve(tree, goals[2])
    assert one.q.shape == (6,)
    assert isinstance(one.reached, bool)
    assert isinstance(one.reason, str)
    assert bool(by_goals)


@pytest.mark.parametrize("scale", [1e-4, 1e3])
def test_the_size_of_an_arm_makes_no_difference(scale):
    table = models.six_axis().to_dh()
    rows, base, tool = table.rows.copy(), table.base.copy(), table.tool.copy()
    rows[:, [0, 2]] *= scale
    base[:3, 3] *= scale
    tool[:3, 3] *= scale
    tree = Tree.from_dh(rows, limits=table.limits, base=base, tool=tool)
    found = ik.solve(tree, tree.forward(tree.random(200, seed=1)), position_tolerance=1e-6 * scale)
    assert found.reached.all()


def test_a_snake_of_twenty_segments_takes_any_pose():
    tree = models.snake()
    found = ik.solve(tree, tree.forward(tree.random(100, seed=3)))
    assert found.reached.all()


@pytest.mark.cuda
def test_a_gpu_reaches_what_the_cpu_reaches():
    here, there = models.puma560(), models.puma560(on="cuda")
    goals = here.forward(here.random(5000, seed=4))
    found = ik.solve(there, goals)
    place, turn = misses(here, found.q, goals)
    assert found.reached.mean() >= 0.999
    assert place[found.reached].max() <= 1e-6
    assert turn[found.reached].max() <= 1e-6
    np.testing.assert_allclose(there.forward(found.q), here.forward(found.q), atol=1e-13)


REFUSED = [
    (lambda t: ik.solve(3, np.eye(4)), "The tree of solve is 3; it must be a Tree"),
    (
        lambda t: ik.solve(Tree([Link("a", joint="fixed")]), np.eye(4)),
        "'tree' has no coordinate to move; all its joints",
    ),
    (lambda t: ik.solve(t, np.eye(3)), "The target has shape (3, 3); it must be a 4 × 4 matrix"),
    (lambda t: ik.solve(t, [ik.Position((1, 0, 0)), 3]), "A target is 3; it must be a Target"),
    (lambda t: ik.solve(t, np.eye(4), "lmm"), "There is no method 'lmm' of inverse kinematics. Did you mean 'lm'?"),
    (lambda t: ik.solve(t, np.eye(4), "dls", restarts=3), "Method 'dls' has no option 'restarts'."),
    (lambda t: ik.solve(t, np.eye(4), ik.LM(), seed=3), "come beside a method that is an object; set them there."),
    (lambda t: ik.solve(t, np.eye(4), 3), "3 cannot be the method of inverse kinematics: it lacks 'run'"),
    (lambda t: ik.solve(t, np.eye(4), start=[0.0]), "its last axis must be 6"),
    (lambda t: ik.solve(t, np.eye(4), start=np.zeros((1, 2, 6))), "it must be one configuration, or a row of them."),
    (lambda t: ik.solve(t, np.stack([np.eye(4)] * 3), start=np.zeros((2, 6))), "There are 2 starts for 3 problems"),
    (lambda t: ik.solve(t, np.zeros((0, 4, 4))), "The batch is empty; give at least one target."),
    (lambda t: ik.solve(t, np.eye(4), position_tolerance=0.0), "The position_tolerance is 0.0; it must be greater"),
    (lambda t: ik.solve(t, [ik.Position(np.zeros((2, 3))), ik.Position(np.zeros((3, 3)))]), "for 2 and 3 problems"),
    (lambda t: ik.solve(t, ik.Position((1, 0, 0), tool="hand")), "'puma560' has no link 'hand'."),
    (lambda t: ik.Position((1, 0)), "The goal of Position has shape (2,); it must be (3,), or (n, 3) for n problems."),
    (lambda t: ik.Position((1, 0, 0), weight=0), "The weight of Position is 0; it must be greater than zero."),
    (lambda t: ik.Position((1, 0, 0), priority=-1), "The priority of Position is -1; it must be at least 0."),
    (lambda t: ik.Pose(np.eye(3)), "The matrix of Pose has shape (3, 3); it must be (4, 4), or (n, 4, 4)."),
    (lambda t: ik.Pose(np.ones((4, 4))), "has a last row that is not (0, 0, 0, 1)"),
    (lambda t: ik.Pose(np.diag([1.0, 1.0, 2.0, 1.0])), "is not a rotation matrix"),
    (lambda t: ik.Orientation((1, 1, 1, 1)), "of length 2; it must have length 1"),
    (lambda t: ik.Pointing(), "Pointing needs a point to look at, at=, or a direction, along=; give one of them."),
    (lambda t: ik.Pointing(along=(0, 0, 0)), "The along of Pointing is the zero vector; a direction needs a length."),
    (lambda t: ik.Distance((0, 0, 0), -1.0), "The distance of Distance is -1.0; it must be zero or more"),
    (lambda t: ik.LM(restarts=-1), "The restarts of lm is -1; it must be at least 0."),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(ask, message):
    with pytest.raises(rb.RattlebackError) as caught:
        ask(models.puma560())
    assert message in str(caught.value)
