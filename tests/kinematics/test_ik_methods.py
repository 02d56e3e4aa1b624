"""The methods of inverse kinematics by name: each one's known behaviour, and all solutions of closed forms."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Link, Mimic, Tree, models

ik = rb.ik
PLAIN = ["dls", "sdls", "pinv", "newton", "transpose", "gradient", "ccd", "fabrik", "qp"]


def near(tree, seed, spread=0.3):
    """A start, and a place that is reached from it by small changes of the joints."""
    start = 0.5 * (tree.random(1, seed=seed)[0] + tree.middle)
    rng = np.random.default_rng(seed)
    there = np.clip(start + rng.uniform(-spread, spread, len(start)), tree.lower, tree.upper)
    return start, there


@pytest.mark.parametrize("method", PLAIN)
def test_every_method_reaches_a_place_near_its_start(method):
    for tree in (models.planar_3r(), models.snake(6)):
        start, there = near(tree, 1)
        place = tree.forward(there)[:3, 3]
        found = ik.solve(tree, ik.Position(place), method, start=start)
        assert found.reached, found.reason
        np.testing.assert_allclose(tree.forward(found.q)[:3, 3], place, atol=1e-6)
        assert found.method == method
        assert found.history[0] > found.history[found.iterations] or method == "qp"


@pytest.mark.parametrize("method", ["dls", "sdls", "pinv", "newton", "transpose", "gradient", "ccd", "qp"])
def test_methods_for_poses_reach_a_pose_near_their_start(method):
    tree = models.puma560()
    start, there = near(tree, 3, spread=0.2)
    found = ik.solve(tree, tree.forward(there), method, start=start)
    assert found.reached, found.reason


@pytest.mark.parametrize("method", PLAIN)
def test_a_joint_at_its_limit_stays_within_and_the_others_do_the_work(method):
    tree = models.planar_3r(limits=[(-0.1, 0.1), (-2.5, 2.5), (-2.5, 2.5)])
    place = tree.forward([0.1, 1.2, 0.7])[:3, 3] - [0.02, 0.0, 0.0]
    found = ik.solve(tree, ik.Position(place), method, start=[0.0, 0.9, 0.9], iterations=5000)
    assert found.reached, found.reason
    assert tree.within_limits(found.q)


@pytest.mark.parametrize("seed", [6, 7])
def test_newton_squares_its_error_in_every_step(seed):
    tree = models.puma560()
    start, there = near(tree, seed, spread=0.1)
    history = ik.solve(tree, tree.forward(there), "newton", start=start).history
    sigma = np.linalg.svd(tree.jacobian(there), compute_uv=False)[-1]
    # The remainder of the linear model is |f''| Δq²/2 with Δq ≤ |e|/σ_min, and |f''| about the length of the arm.
    assert 3 <= len(history) <= 5
    assert (history[1:] <= (history[:-1] / sigma) ** 2).all()


def test_newton_only_quarters_its_error_towards_a_singularity():
    """Where J at the solution is singular, or all but, a step halves the way that is left."""
    tree = models.planar_2r(1.0, 1.0)
    history = ik.solve(tree, ik.Position((2.0, 0.0, 0.0)), "newton", start=[-0.2, 0.5], position_tolerance=1e-8).history
    falls = history[1:] / history[:-1]
    np.testing.assert_allclose(falls[3:-1], 0.25, atol=0.01)


def test_transpose_converges_slowly_but_never_breaks_at_a_singularity():
    """Nearly stretched, with a goal inwards along the arm: the transpose hardly moves, the pseudo-inverse leaps."""
    tree, start = models.planar_2r(1.0, 1.0), np.array([0.0, 1e-4])
    goal = ik.Position((1.5, 0.0, 0.0))
    careful = ik.solve(tree, goal, "transpose", start=start, iterations=1)
    leap = ik.solve(tree, goal, "pinv", start=start, iterations=1)
    assert np.isfinite(careful.q).all()
    assert (np.diff(ik.solve(tree, goal, "transpose", start=start, iterations=200).history) <= 1e-12).all()
    assert np.abs(careful.q - start).max() < 1.0
    assert leap.history[1] != pytest.approx(leap.history[0], abs=1e-3)
    slow, quick = (
        ik.solve(tree, ik.Position((1.2, 0.8, 0.0)), name, start=[0.3, 0.5]) for name in ("transpose", "newton")
    )
    assert slow.reached
    assert quick.reached
    assert slow.iterations > 5 * quick.iterations


def test_the_pseudo_inverse_spikes_where_damped_least_squares_does_not():
    tree, start = models.planar_2r(1.0, 1.0), np.array([0.0, 1e-3])
    error = np.array([[-0.1, 0.0, 0.0]])
    jacobian = tree.jacobian(start)[None, :3]
    spike = np.abs(ik.PseudoInverse().step(jacobian, error)).max()
    damped = np.abs(ik.DampedLeastSquares(damping=0.05).step(jacobian, error)).max()
    selective = np.abs(ik.SelectivelyDamped().step(jacobian, error)).max()
    # σ_min of the nearly stretched arm is L₁ L₂ sin q₂ / √5 ≈ 4.5e-4, so that the step is 0.1/σ_min ≈ 200 rad.
    assert spike > 100.0
    assert damped <= 0.1 / (2.0 * 0.05) + 1e-9
    assert selective <= np.pi / 4.0


def test_damped_least_squares_minimises_error_and_step_together():
    rng = np.random.default_rng(2)
    jacobian, error, damping = rng.normal(size=(1, 3, 5)), rng.normal(size=(1, 3)), 0.3
    stacked = np.vstack([jacobian[0], damping * np.eye(5)])
    wanted = np.linalg.lstsq(stacked, np.append(error[0], np.zeros(5)), rcond=None)[0]
    np.testing.assert_allclose(ik.DampedLeastSquares(damping=damping).step(jacobian, error)[0], wanted, atol=1e-12)


def test_the_first_step_of_ccd_is_done_by_the_joint_at_the_tip():
    """The lecture: changes are uneven, since the last segment turns first, as far as it helps."""
    tree, start = models.snake(20), np.full(20, 0.05)
    goal = tree.forward(start)[:3, 3] + [-0.02, 0.06, 0.05]
    ccd = np.abs(ik.solve(tree, ik.Position(goal), "ccd", start=start, iterations=1).q - start)
    even = np.abs(ik.solve(tree, ik.Position(goal), "pinv", start=start, iterations=1).q - start)
    assert ccd.max() / np.median(ccd) > 3.0 * even.max() / np.median(even)
    assert ccd[10:].max() > 3.0 * ccd[:10].max()
    assert ik.solve(tree, ik.Position(goal), "ccd", start=start).reached


def test_ccd_lowers_the_error_in_every_sweep():
    tree = models.planar_3r()
    history = ik.solve(tree, ik.Position((0.4, 1.1, 0.0)), "ccd", start=[0.1, 0.2, 0.3]).history
    assert (np.diff(history) < 0.0).all()


@pytest.mark.parametrize("method", ["pinv", "newton", "dls"])
def test_too_large_a_beta_diverges_and_a_small_one_takes_longer(method):
    tree = models.planar_2r(1.0, 0.7)
    goal, start = ik.Position((1.1, 0.6, 0.0)), [0.3, 0.8]
    plain = ik.solve(tree, goal, method, start=start)
    careful = ik.solve(tree, goal, method, start=start, beta=0.3)
    wild = ik.solve(tree, goal, method, start=start, beta=2.5)
    assert plain.reached
    assert careful.reached
    assert careful.iterations > 2 * plain.iterations
    assert not wild.reached
    assert wild.history[-1] > 1e-2
    assert wild.reason.startswith("stuck: ")


def test_gradient_descent_goes_down_in_every_step_whatever_beta():
    tree = models.planar_2r(1.0, 0.7)
    for beta in (0.01, 1.0, 100.0):
        history = ik.solve(tree, ik.Position((-0.9, 0.4, 0.0)), "gradient", start=[0.3, 0.8], beta=beta).history
        assert (np.diff(history) <= 0.0).all()


def test_the_quadratic_program_keeps_its_velocity_bound():
    tree = models.puma560()
    start, there = near(tree, 8, spread=0.8)
    goal, q = tree.forward(there), start
    for _ in range(5):
        after = ik.solve(tree, goal, "qp", start=q, iterations=1, largest=0.05).q
        assert np.abs(after - q).max() <= 0.05 + 1e-12
        q = after
    assert ik.solve(tree, goal, "qp", start=start, largest=0.05).reached


def test_fabrik_keeps_lengths_and_reaches_with_long_chains():
    tree = models.snake(12)
    goal = np.array([0.6, 0.5, 0.3])
    found = ik.solve(tree, ik.Position(goal), "fabrik", start=np.full(12, 0.05))
    assert found.reached
    np.testing.assert_allclose(tree.forward(found.q)[:3, 3], goal, atol=1e-6)


def free(name):
    """An arm without limits."""
    tree = getattr(models, name)()
    table = tree.to_dh()
    return Tree.from_dh(table.rows, base=table.base, tool=table.tool, name=name)


@pytest.mark.parametrize("name", ["puma560", "six_axis"])
def test_a_spherical_wrist_has_eight_solutions_and_all_are_found(name):
    tree, checked = free(name), 0
    for q in tree.random(40, seed=4):
        goal = tree.forward(q)
        found = ik.solve(tree, goal, "analytic", start=q)
        assert found.reached
        np.testing.assert_allclose(np.angle(np.exp(1j * (found.q - q))), 0.0, atol=1e-5)
        np.testing.assert_allclose(
            tree.forward(found.every), np.broadcast_to(goal, (len(found.every), 4, 4)), atol=1e-9
        )
        turns = np.exp(1j * found.every)
        gaps = [np.abs(turns[i] - turns[j]).max() for i in range(len(turns)) for j in range(i)]
        assert min(gaps) > 1e-6
        assert len(found.every) in (4, 8)
        checked += len(found.every) == 8
        # No other is found by a search from many starts.
        if checked == 1:
            many = ik.solve(tree, goal, start=tree.random(200, seed=1))
            apart = np.abs(np.exp(1j * many.q)[many.reached, None] - turns[None]).max(axis=2).min(axis=1)
            assert apart.max() < 1e-3
    assert checked > 10


@pytest.mark.parametrize("name", ["puma560", "six_axis"])
def test_the_closed_form_reaches_whatever_is_reached_within_limits(name):
    tree = getattr(models, name)()
    q = tree.random(60, seed=6)
    found = ik.solve(tree, tree.forward(q), "analytic")
    assert found.reached.all()
    assert tree.within_limits(found.q).all()


def test_the_closed_form_at_the_wrist_singularity_keeps_the_free_angle_of_the_start():
    tree = free("puma560")
    q = np.array([0.3, 0.4, -0.5, 0.6, 0.0, 0.7])
    found = ik.solve(tree, tree.forward(q), "analytic", start=[0.3, 0.4, -0.5, 0.2, 0.0, 0.0])
    assert found.reached
    assert found.q[3] == pytest.approx(0.2)
    assert found.q[5] == pytest.approx(1.1)


def test_the_planar_arm_has_its_elbow_up_and_down():
    tree = models.planar_2r(1.0, 0.8)
    found = ik.solve(tree, ik.Position((0.9, 0.7, 0.0)), "analytic")
    # The law of cosines gives the angle of the elbow.
    cosine = (0.9**2 + 0.7**2 - 1.0 - 0.64) / (2 * 0.8)
    np.testing.assert_allclose(sorted(found.every[:, 1]), [-np.arccos(cosine), np.arccos(cosine)], atol=1e-12)
    assert found.reached


def test_three_bars_take_place_and_direction_in_two_ways():
    tree = models.planar_3r()
    q = np.array([0.4, 0.9, -0.6])
    found = ik.solve(tree, tree.forward(q), "analytic", start=q)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    assert len(found.every) == 2


def test_closed_forms_say_why_a_target_is_missed():
    tree = models.planar_2r(1.0, 0.8, limits=[(-0.5, 0.5), (-0.5, 0.5)])
    assert ik.solve(tree, ik.Position((2.0, 0.0, 0.0)), "analytic").reason == "out of reach by 0.2 m"
    found = ik.solve(tree, ik.Position((0.0, 1.0, 0.0)), "analytic")
    assert found.reason.startswith("limits: ")
    assert tree.within_limits(found.q)
    assert found.every.shape == (0, 2)


def follower():
    return Tree([Link("a"), Link("b", "a", place=((1, 0, 0), (0, 0, 0, 1)), mimic=Mimic("a"))])


REFUSED = [
    (lambda: ik.solve(models.puma560(), np.eye(4), "fabrik"), "Method 'fabrik' knows no Pose; it takes 'Position'"),
    (lambda: ik.solve(models.puma560(), ik.Pointing((1, 0, 0)), "ccd"), "Method 'ccd' knows no Pointing"),
    (lambda: ik.solve(models.scara(), ik.Position((1, 0, 0)), "fabrik"), "cannot move 'joint3', a prismatic joint"),
    (lambda: ik.solve(follower(), ik.Position((1, 0, 0)), "ccd"), "cannot move 'b', which follows another joint"),
    (lambda: ik.solve(models.snake(), [ik.Position((1, 0, 0))] * 2, "fabrik"), "'fabrik' got 2 targets; it takes one"),
    (lambda: ik.solve(models.seven_axis(), np.eye(4), "analytic"), "has no closed form for 'seven_axis' with this"),
    (lambda: ik.QuadraticProgram(beta=1.5), "The beta of qp is 1.5; above 1 a step would leave its bounds."),
    (lambda: ik.PseudoInverse(beta=0.0), "The beta of pinv is 0.0; it must be greater than zero."),
    (lambda: ik.CCD(iterations=0), "The iterations of ccd is 0; it must be at least 1."),
    (lambda: ik.DampedLeastSquares(damping=-1.0), "The damping of dls is -1.0; it must be greater than zero."),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_a_method_cannot_do_is_refused_in_a_sentence(ask, message):
    with pytest.raises(rb.InputError) as caught:
        ask()
    assert message in str(caught.value)


def test_ccd_slides_prismatic_joints_and_meets_orientations():
    tree = models.scara()
    start, there = np.array([0.2, 0.5, 0.05, 0.1]), np.array([0.5, 0.9, 0.12, -0.4])
    goal = tree.forward(there)
    found = ik.solve(tree, goal, "ccd", start=start, iterations=3000)
    assert found.reached, found.reason
    turn = Rotation.from_matrix(tree.forward(found.q)[:3, :3].T @ goal[:3, :3]).magnitude()
    assert turn <= 1e-6
