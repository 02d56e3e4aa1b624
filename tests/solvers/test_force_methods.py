"""Multipliers, Baraff's method and penalties: their equations against dense ones in NumPy, and what is refused."""

import warnings
from typing import Any

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.stages import Program
from rattleback.maths.dense_factor import make_dense_factor
from rattleback.problem.by_forces.joint_forces import JointLaw
from rattleback.scenes import bricard, four_bar, loops, six_bar, tree
from rattleback.solvers.joints import FORCES, Baraff, Multipliers, Penalty

SOLVERS = {"multipliers": Multipliers(), "baraff": Baraff()}
CLOSED = {"four_bar": (four_bar, 6), "six_bar": (six_bar, 1), "bricard": (bricard, 1), "loops": (loops, 9)}
HARMLESS = ("ball", "revolute", "universal", "prismatic", "fixed", "point_on_plane", "screw", "cylindrical")
every_solver = pytest.mark.parametrize("method", SOLVERS)
every_method = pytest.mark.parametrize("method", FORCES)


def rival(dense: Any, scene: rb.Scene, method: Any, worlds: int | None = None) -> Any:
    """The dense matrices of a scene beside a method by forces, prepared for the same rows."""
    case = dense(scene, worlds=worlds)
    case.solver = method.prepare(case.problem, case.sim._step.preview.inertias)
    return case


@every_solver
@pytest.mark.parametrize("seed", range(6))
def test_the_multipliers_are_those_of_the_dense_equations(dense: Any, mechanism: Any, method: str, seed: int) -> None:
    scene = mechanism(seed, 10, roots=3, names=HARMLESS)
    case = rival(dense, scene, SOLVERS[method], worlds=2)
    wanted = np.random.default_rng(seed).normal(size=case.problem.row_count)
    np.testing.assert_allclose(case.impulses(wanted), np.linalg.solve(case.A, wanted), rtol=1e-6, atol=1e-8)
    assert not case.solver.redundant_rows().any()


@every_solver
@pytest.mark.parametrize("seed", range(4))
def test_closed_loops_take_their_part(dense: Any, mechanism: Any, method: str, seed: int) -> None:
    scene = mechanism(seed, 10, loops=3, roots=2, names=("ball", "point_on_plane", "point_on_line"))
    case = rival(dense, scene, SOLVERS[method])
    wanted = case.A @ np.random.default_rng(seed).normal(size=case.problem.row_count)
    found = case.impulses(wanted)
    np.testing.assert_allclose(case.A @ found, wanted, atol=1e-7 * np.abs(wanted).max())
    assert case.solver.redundant_rows().sum() == case.problem.row_count - case.rank


@every_solver
@pytest.mark.parametrize("name", CLOSED)
def test_redundant_rows_are_left_out_and_the_others_hold(dense: Any, method: str, name: str) -> None:
    """The accelerations are those of the pseudo-inverse, whatever multipliers redundant rows have."""
    build, redundant = CLOSED[name]
    case = rival(dense, build(), SOLVERS[method])
    wanted = case.J @ np.random.default_rng(0).normal(size=case.J.shape[1])
    found = case.impulses(wanted)
    assert case.solver.redundant_rows().sum() == redundant
    exact = case.inverse_mass @ case.J.T @ np.linalg.pinv(case.A, rcond=1e-10) @ wanted
    np.testing.assert_allclose(case.inverse_mass @ case.J.T @ found, exact, atol=1e-6 * np.abs(exact).max())


def eliminated(solver: Baraff, pairs: np.ndarray) -> tuple[int, int]:
    """Blocks of the matrix of bodies and tree joints, and of its factor, by elimination of a dense pattern."""
    order: list[tuple[str, int]] = []
    for joint, child, _ in solver.tree:
        order += [("body", child), ("joint", joint)]
    order += [("body", root) for root in solver.roots]
    place = {node: k for k, node in enumerate(order)}
    there = np.eye(len(order), dtype=bool)
    for joint, *_ in solver.tree:
        for body in set(pairs[joint].tolist()) - {-1}:
            i, j = place["joint", joint], place["body", body]
            there[i, j] = there[j, i] = True
    before = int(np.tril(there).sum())
    for k in range(len(order)):
        later = k + 1 + np.flatnonzero(there[k + 1 :, k])
        there[np.ix_(later, later)] = True
    return before, int(np.tril(there).sum())


@pytest.mark.parametrize("seed", range(8))
def test_baraff_makes_no_fill(dense: Any, mechanism: Any, seed: int) -> None:
    case = rival(dense, mechanism(seed, 15, loops=seed % 3, roots=3), Baraff())
    before, after = eliminated(case.solver, case.problem.pairs)
    assert before == after == case.solver.blocks


def test_the_blocks_of_baraff_grow_with_the_bodies(dense: Any) -> None:
    """A body and a joint each, and a block where a joint holds a body; the root hangs from the world."""
    for depth in (3, 4, 5, 6):
        bars = 2**depth - 1
        assert rival(dense, tree(depth), Baraff()).solver.blocks == 4 * bars - 1


@settings(max_examples=15, deadline=None)
@given(size=st.sampled_from([1, 2, 31, 32, 33, 64, 70, 97]), rank=st.floats(0.3, 1.0), seed=st.integers(0, 99))
def test_dense_systems_are_solved_whole_and_singular(size: int, rank: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    roots = [rng.normal(size=(size, max(1, round(rank * size)))) for _ in range(2)]
    matrices = np.stack([root @ root.T for root in roots])
    wanted = np.einsum("sij,sj->si", matrices, rng.normal(size=(2, size)))
    factor = make_dense_factor(size, 2, wp.get_device("cpu"))
    factor.systems.value.assign(np.tril(matrices).ravel())
    factor.systems.least.assign(1e-9 * np.diagonal(matrices, axis1=1, axis2=2).ravel())
    factor.systems.x.assign(wanted.ravel())
    program, everywhere = (
        Program(wp.get_device("cpu"), wp.zeros(1, dtype=wp.int32, device="cpu")),
        wp.full(2, 1, dtype=wp.int32, device="cpu"),
    )
    with program.stage("all"):
        factor.record_factor(program, everywhere)
        factor.record_solution(program, everywhere)
    program.compile()
    program.run(1)
    found = factor.systems.x.numpy().reshape(2, size)
    error = np.einsum("sij,sj->si", matrices, found) - wanted
    assert np.abs(error).max() <= 1e-6 * np.abs(wanted).max()
    dropped = factor.systems.dropped.numpy().reshape(2, size).sum(axis=1)
    assert (dropped == size - min(size, roots[0].shape[1])).all()


def cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def chain() -> rb.Scene:
    """Three bars on ball joints, in motion, whose joints are a little apart and move against each other."""
    rng, scene = np.random.default_rng(4), rb.Scene()
    for k in range(3):
        scene.add_body(
            mass=1.0 + k,
            inertia=(0.02, 0.05 + 0.01 * k, 0.06),
            position=(0.5 + k, 0, 0),
            orientation=Rotation.from_rotvec(rng.normal(scale=0.5, size=3)).as_quat(),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            name=f"bar_{k}",
        )
        scene.add_joint(rb.Ball(f"bar_{k - 1}" if k else "world", f"bar_{k}", at=(k, 0, 0)))
    return scene


def accelerations_of_penalty(scene: rb.Scene, method: Penalty) -> np.ndarray:
    """(M + α JᵀJ) V̇ = F − α Jᵀ (J̇ V + 2Ωμ Ċ + Ω² C), with J, J̇ V and the gyroscopic torque written by hand.

    C is the way from the anchor of A to that of B as A sees it, zero at the start, so that C̈ has −2 ω_A × Ċ.
    """
    bodies = scene.bodies
    mass, force, velocity = np.zeros((18, 18)), np.zeros(18), np.zeros(18)
    J, bias = np.zeros((9, 18)), np.zeros(9)
    for k, body in enumerate(bodies):
        turn = Rotation.from_quat(body.orientation.copy()).as_matrix()
        inertia, w = turn @ body.inertia @ turn.T, body.angular_velocity
        mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
        force[6 * k : 6 * k + 6] = [*(body.mass * scene.gravity), *-np.cross(w, inertia @ w)]
        velocity[6 * k : 6 * k + 6] = [*body.velocity, *w]
    for k in range(3):
        at = np.array([k, 0.0, 0.0])
        for number, sign in ((k, 1.0), (k - 1, -1.0)):
            if number >= 0:
                body, lever = bodies[number], at - bodies[number].position
                w = body.angular_velocity
                J[3 * k : 3 * k + 3, 6 * number : 6 * number + 6] = sign * np.hstack([np.eye(3), -cross(lever)])
                bias[3 * k : 3 * k + 3] += sign * np.cross(w, np.cross(w, lever))
    for k in (1, 2):
        bias[3 * k : 3 * k + 3] -= 2.0 * np.cross(bodies[k - 1].angular_velocity, J[3 * k : 3 * k + 3] @ velocity)
    law = bias + 2.0 * method.omega * method.mu * (J @ velocity)
    return np.linalg.solve(mass + method.alpha * J.T @ J, force - method.alpha * J.T @ law)


@pytest.mark.parametrize("alpha", [1.0, 1e3, 1e7])
def test_a_penalty_accelerates_as_its_equation_says(alpha: float) -> None:
    method = Penalty(alpha=alpha, omega=7.0, mu=0.6)
    scene, h = chain(), 1e-7
    sim = rb.Simulation(scene, joints=method, integrator="explicit_euler", time_step=h, warn=False)
    sim.state.contacts.pending.fill_(0)  # the velocities do not fit the joints, and are to stay
    sim.step()
    begun = np.concatenate([[*body.velocity, *body.angular_velocity] for body in scene.bodies])
    ended = np.concatenate([sim.state.velocity, sim.state.angular_velocity], axis=1).ravel()
    exact = accelerations_of_penalty(scene, method)
    np.testing.assert_allclose((ended - begun) / h, exact, atol=1e-6 * np.abs(exact).max())


def test_what_a_penalty_leaves_is_as_small_as_it_is_large() -> None:
    """A weight of m g at rest opens the joint by m g/(α Ω²)."""
    scene, left = rb.Scene(), []
    scene.add_body(mass=2.0, inertia=(1, 1, 1), position=(0, 0, -1), name="weight")
    scene.add_joint(rb.Ball("world", "weight"), name="hook")
    alphas = np.geomspace(1e2, 1e6, 5)
    for alpha in alphas:
        sim = rb.Simulation(scene, joints=Penalty(alpha=alpha, omega=20.0), integrator="rk4", warn=False)
        sim.run(2.0)
        left.append(sim.report.position_error)
    np.testing.assert_allclose(left, 2.0 * 9.81 / (alphas * 400.0), rtol=1e-6)
    assert np.polyfit(np.log(alphas), np.log(left), 1)[0] == pytest.approx(-1.0, abs=1e-6)


def arm(**options: Any) -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0), **options), name="elbow")
    return scene


@every_method
def test_what_a_method_cannot_hold_is_refused_by_name(method: str) -> None:
    with pytest.raises(rb.InputError, match=f"Joint 'elbow' has limits.*joints='{method}'.*'direct' or 'iterative'"):
        rb.Simulation(arm(limits=(-1, 1)), joints=method)
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="cart")
    scene.add_joint(rb.VelocityJoint("world", "cart", linear=(1, 0, 0), linear_damping=10.0), name="pull")
    with pytest.raises(rb.InputError, match="Joint 'pull' yields by its damping.*leave the damping out"):
        rb.Simulation(scene, joints=method)


def test_a_joint_that_breaks_does_not_go_with_impulses_as_stabiliser() -> None:
    with pytest.raises(rb.InputError, match=r"Joint 'elbow' can break.*stabilisation='projection'"):
        rb.Simulation(arm(breaking_force=10.0), joints=Baraff(stabilisation="impulses"))


@pytest.mark.contacts
@every_method
def test_settings_that_do_not_go_with_forces_are_refused(method: str) -> None:
    scene = arm()
    scene.add_static(rb.Plane(), position=(0, 0, -2), name="floor")
    with pytest.raises(rb.InputError, match=f"joints='{method}'.*cannot be combined with contacts.*contacts='detect'"):
        rb.Simulation(scene, joints=method)
    with pytest.raises(rb.InputError, match="contact_time='bisect' shortens them"):
        rb.Simulation(scene, joints=method, contacts="detect", contact_time="bisect")
    with pytest.raises(rb.InputError, match="does not let bodies sleep"):
        rb.Simulation(arm(), joints=method, sleep=True)
    sim = rb.Simulation(scene)
    with pytest.raises(rb.InputError, match="cannot be combined with contacts"):
        sim.use(joints=method)
    sim.step()
    with pytest.raises(rb.InputError, match="its prepare takes no members="):
        rb.joints_by_chain({"arm": method})


class Mine:
    """A method from elsewhere: what the dense one solves, with a law of its own."""

    level, stabilisation = "acceleration", "mine"
    law = JointLaw(damping=30.0, stiffness=200.0)

    def prepare(self, problem: Any, inertias: Any) -> Any:
        return Multipliers().prepare(problem, inertias)


def test_a_method_from_elsewhere_fills_the_slot() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="point")
    scene.add_joint(rb.Ball("world", "point"), name="joint")
    sim = rb.Simulation(scene, joints=Mine(), integrator="rk4", time_step=1e-3, warn=False)
    sim["point"].position = (0.1, 0, 0)
    sim.run(0.2)
    # The roots of s² + 30 s + 200 are −10 and −20.
    assert sim["point"].position[0] == pytest.approx(0.1 * (2.0 * np.exp(-2.0) - np.exp(-4.0)), abs=1e-7)
    assert sim.report.reason.endswith("more than its tolerance; a shorter time_step helps.")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Multipliers(level="position"), "The level of Multipliers is 'position'.*'acceleration'"),
        (lambda: Baraff(stabilisation="magic"), "The stabilisation of Baraff is 'magic'.*'projection'"),
        (lambda: Multipliers(alpha=-1.0), "The alpha of Multipliers"),
        (lambda: Baraff(beta=float("nan")), "The beta of Baraff"),
        (lambda: Penalty(alpha=0.0), "The alpha of Penalty"),
        (lambda: Penalty(mu=-1.0), "The mu of Penalty"),
    ],
)
def test_wrong_parameters_are_named(make: Any, said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        make()


@every_method
def test_the_report_says_what_is_left_and_what_helps(method: str) -> None:
    sim = rb.Simulation(arm(), joints=method, time_step=0.05, warn=False)
    sim.run(1.0)
    assert not sim.report.converged
    assert "Joint 'elbow' is off by" in sim.report.reason
    assert "more than its tolerance" in sim.report.reason
    assert ("alpha" in sim.report.reason) == (method in FORCES)
    with pytest.warns(rb.NotConvergedWarning, match="Joint 'elbow' is off by"):
        rb.Simulation(arm(), joints=method, time_step=0.05).run(1.0)


@pytest.mark.contacts
@every_method
def test_contacts_may_be_found(method: str) -> None:
    scene = arm()
    scene.add_static(rb.Box(0.2, 0.2, 0.2), position=(1.0, 0.0, -0.2), name="wall")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim = rb.Simulation(scene, joints=method, contacts="detect", integrator="rk4")
        sim.run(0.12)
    assert len(sim.contacts.separation) > 0
