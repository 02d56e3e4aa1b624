"""The contact problem as an object: its matrix, and solutions of every solver beside those of a quadratic program."""

import numpy as np
import pytest
import warp as wp
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.stages import Program
from rattleback.solvers.contacts import SOLVERS
from rattleback.solvers.contacts.problem.delassus import active_rows
from rattleback.solvers.contacts.problem.goal import Goal

pytestmark = pytest.mark.contacts


def heap(friction=0.0):
    """Boxes of several masses that lie across each other, tilted by little."""
    scene, rng = rb.Scene(), np.random.default_rng(3)
    material = rb.Material(friction=friction)
    scene.add_static(rb.Plane(), name="ground", material=material)
    for k in range(5):
        turn = Rotation.from_rotvec((0, 0, 0.3 * k)).as_quat()
        scene.add_body(
            rb.Box(1.0, 0.8, 0.4),
            mass=rng.uniform(0.5, 4.0),
            position=(0.1 * (k % 2), 0.05 * k, 0.2 + 0.4 * k),
            orientation=turn,
            name=f"box_{k}",
            material=material,
        )
    return rb.Simulation(scene, time_step=0.005, warn=False)


def jacobian(sim):
    """J of the contacts that are found, rows n, t, s by point; and M⁻¹, from what users see."""
    bodies, contacts = sim.scene.bodies, sim.contacts
    problem = sim._step.impulses.problem
    total, manifolds = int(problem.graph.total.numpy()[0]), problem.system.manifolds
    tangents = dict(zip(manifolds.contact.numpy()[:total].tolist(), manifolds.tangent.numpy()[:total], strict=True))
    rows, axis = [], None
    for c, (point, normal) in enumerate(zip(contacts.point, contacts.normal, strict=True)):
        axis = tangents.get(c, axis)
        for direction in (normal, axis, np.cross(normal, axis)):
            row = np.zeros(6 * len(bodies))
            for body, sign in ((contacts.body_a[c], 1.0), (contacts.body_b[c], -1.0)):
                arm = point - sim.state.position[body]
                row[6 * body : 6 * body + 6] = sign * np.concatenate([direction, np.cross(arm, direction)])
            rows.append(row)
    inverse = np.zeros((6 * len(bodies),) * 2)
    for i, body in enumerate(bodies):
        if not body.static:
            turn = Rotation.from_quat(sim.state.orientation[i]).as_matrix()
            inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / body.mass
            inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turn @ np.linalg.inv(body.inertia) @ turn.T
    return np.array(rows), inverse


def order_of(problem):
    """Row of the contact of every active point, in the order of the matrix."""
    manifolds, found = problem.system.manifolds, []
    for k in problem.active.listed.numpy()[: problem.active.count.numpy()[0]]:
        found += [manifolds.contact.numpy()[k] + i for i in range(manifolds.count.numpy()[k])]
    return np.array(found)


def test_the_matrix_is_the_one_of_points_normals_and_masses():
    sim = heap()
    sim.step()
    problem = sim._step.impulses.problem
    J, inverse = jacobian(sim)
    rows = (3 * order_of(problem)[:, None] + np.arange(3)).ravel()
    assert len(rows) >= 3 * 5 * 3
    np.testing.assert_allclose(problem.matrix(), (J @ inverse @ J.T)[np.ix_(rows, rows)], atol=1e-12)


def solved(sim, solver, velocities, tolerance=1e-9, response=None):
    """Velocities after a solver has stopped all points of a simulation, which approach at others, and its impulses."""
    problem, motion = sim._step.impulses.problem, sim._step.context.predicted
    points, manifolds = problem.system.points, problem.system.manifolds
    place = points.place.numpy()
    place[:, 2] = 0.0
    points.place.assign(place)
    for array in (points.impulse, manifolds.resisting_moment, manifolds.bias, manifolds.angular_bias):
        array.zero_()
    motion.velocity.assign(velocities[:, :3])
    motion.angular_velocity.assign(velocities[:, 3:])
    bound = SOLVERS[solver](sweeps=20000).bind(problem)
    program = Program(sim.device, wp.zeros(1, dtype=wp.int32, device="cpu"))
    problem.program, kept = program, problem.program
    context, sim._step.context.__dict__["program"] = sim._step.context.program, program
    with program.stage("all"):
        bound.record(motion, Goal(sim.model.world_numbers(tolerance), 20000), problem.everywhere, response)
    program.compile()
    program.run(1)
    problem.program, sim._step.context.__dict__["program"] = kept, context
    return np.hstack([motion.velocity.numpy(), motion.angular_velocity.numpy()]), points.impulse.numpy()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_without_friction_every_solver_finds_the_velocities_of_the_quadratic_program(solver, seed):
    """min ½ pᵀAp + uᵀp, p ≥ 0, by non-negative least squares: A = LᵀL, |L p + L⁻ᵀ u|; v = v₀ + M⁻¹ Jᵀ p is unique."""
    sim = heap()
    sim.step()
    J, inverse = jacobian(sim)
    J = J[::3]
    before = np.random.default_rng(seed).normal(size=(len(sim.scene.bodies), 6))
    before[0] = 0.0
    root = np.linalg.cholesky(inverse[6:, 6:])
    push, _ = nnls(root.T @ J[:, 6:].T, -np.linalg.solve(root, before[1:].ravel()))
    wanted = before.ravel() + inverse @ (J.T @ push)
    after, _ = solved(sim, solver, before)
    np.testing.assert_allclose(after[1:].ravel(), wanted[6:], atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_with_friction_every_point_separates_sticks_or_slides_at_its_limit(solver):
    sim = heap(friction=0.2)
    sim.step()
    problem = sim._step.impulses.problem
    J, _ = jacobian(sim)
    before = np.random.default_rng(7).normal(size=(len(sim.scene.bodies), 6))
    before[0] = 0.0
    after, impulse = solved(sim, solver, before)
    _, points = active_rows(problem)
    u = (J @ after.ravel()).reshape(-1, 3)[order_of(problem)]
    p, mu = impulse[points], 0.4
    assert p[:, 0].min() >= 0.0
    assert u[:, 0].min() > -1e-6
    assert (p[:, 0] * u[:, 0]).max() < 1e-6
    rubs, slip = np.linalg.norm(p[:, 1:], axis=1), np.linalg.norm(u[:, 1:], axis=1)
    assert (rubs - mu * p[:, 0]).max() < 1e-12
    sliding = (slip > 1e-6) & (p[:, 0] > 0.0)
    assert sliding.any()
    np.testing.assert_allclose(rubs[sliding], mu * p[sliding, 0], rtol=1e-6)
    np.testing.assert_allclose(
        -(p[sliding, 1:] * u[sliding, 1:]).sum(axis=1), rubs[sliding] * slip[sliding], rtol=1e-5, atol=1e-12
    )


def walker(**limits):
    """A body on two feet that stand, with ankles, at the start of a step."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(0.5, 0.2, 0.4), mass=8.0, position=(0, 0, 0.7), name="trunk")
    for side, x in (("left", -0.2), ("right", 0.2)):
        scene.add_body(rb.Box(0.1, 0.1, 0.36), mass=2.0, position=(x, 0, 0.3), name=f"{side}_leg")
        scene.add_body(rb.Box(0.25, 0.2, 0.1), mass=1.0, position=(x, 0, 0.05), name=f"{side}_foot")
        scene.add_joint(rb.Revolute("trunk", f"{side}_leg", at=(x, 0, 0.5), axis=(0, 1, 0)), name=f"{side}_hip")
        scene.add_joint(
            rb.Revolute(f"{side}_leg", f"{side}_foot", at=(x, 0, 0.11), axis=(0, 1, 0), **limits), name=f"{side}_ankle"
        )
    return rb.Simulation(scene, time_step=0.001, warn=False)


def answers(sim, motion):
    """A program in which the impulses of all points act on a motion, and joints answer to that."""
    steps = sim._step.impulses
    problem, response = steps.problem, steps.response
    program = Program(sim.device, wp.zeros(1, dtype=wp.int32, device="cpu"))
    kept, problem.program = problem.program, program
    context, steps.context.__dict__["program"] = steps.context.program, program
    with program.stage("all"):
        response.note(motion, problem.everywhere)
        problem.record_push(motion)
        response.answer(motion, problem.everywhere)
    program.compile()
    problem.program, steps.context.__dict__["program"] = kept, context
    return program


def test_joints_inside_the_matrix_answer_as_they_do_to_sweeps():
    """Velocities of points after a unit impulse at one of them, and the answer of the joints to it."""
    sim = walker()
    sim.step()
    steps, motion = sim._step.impulses, sim._step.context.predicted
    problem, response = steps.problem, steps.response
    A, (_, points) = problem.matrix(response), active_rows(problem)
    J, rows = jacobian(sim)[0], (3 * order_of(problem)[:, None] + np.arange(3)).ravel()
    program = answers(sim, motion)
    for point, axis in ((0, 0), (3, 1), (6, 2)):
        impulse = np.zeros_like(problem.system.points.impulse.numpy())
        impulse[points[point], axis] = 1.0
        problem.system.points.impulse.assign(impulse)
        problem.system.manifolds.resisting_moment.zero_()
        motion.velocity.zero_()
        motion.angular_velocity.zero_()
        program.run(1)
        after = np.hstack([motion.velocity.numpy(), motion.angular_velocity.numpy()]).ravel()
        np.testing.assert_allclose((J @ after)[rows], A[:, 3 * point + axis], atol=1e-7)
    assert np.abs(A - problem.matrix()).max() > 0.1


def test_stops_are_rows_of_the_matrix_that_answer_to_points_and_points_to_them():
    """Velocities of points after a unit couple about an ankle, and the answer of the joints to it."""
    sim = walker(limits=(-0.5, 0.5))
    sim.step()
    steps = sim._step.impulses
    A = steps.problem.matrix(steps.response)
    J, inverse = jacobian(sim)
    rows = (3 * order_of(steps.problem)[:, None] + np.arange(3)).ravel()
    assert A.shape == (len(rows) + 2, len(rows) + 2)
    np.testing.assert_allclose(A, A.T, atol=1e-9)
    names = list(sim.model.names)
    for s, side in enumerate(("left", "right")):
        couple = np.zeros(6 * len(names))
        for part, sign in (("leg", -1.0), ("foot", 1.0)):
            couple[6 * names.index(f"{side}_{part}") + 4] = sign
        after = held(sim, inverse, inverse @ couple)
        np.testing.assert_allclose((J @ after)[rows], A[: len(rows), len(rows) + s], atol=1e-9)
        assert couple @ after == pytest.approx(A[len(rows) + s, len(rows) + s], rel=1e-9)


def held(sim, inverse, change):
    """What hinges about y at known places leave of a change of velocities: the nearest in the metric of the masses."""
    names, rows = list(sim.model.names), []
    for joint in sim.scene.joints.values():
        for axis in np.eye(3):
            row = np.zeros(6 * len(names))
            for body, sign in ((joint.a, -1.0), (joint.b, 1.0)):
                i = names.index(body)
                arm = sim.state.position[i] - np.array(joint.at)
                row[6 * i : 6 * i + 6] = sign * np.concatenate([axis, np.cross(-arm, axis)])
            rows.append(row)
        for axis in np.eye(3)[[0, 2]]:
            row = np.zeros(6 * len(names))
            for body, sign in ((joint.a, -1.0), (joint.b, 1.0)):
                i = names.index(body)
                row[6 * i + 3 : 6 * i + 6] = sign * axis
            rows.append(row)
    G = np.array(rows)
    return change - inverse @ G.T @ np.linalg.solve(G @ inverse @ G.T, G @ change)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(2))
def test_contacts_and_stops_together_find_the_velocities_of_the_quadratic_program(solver, seed):
    """Feet that are pushed into the ground with their ankles at a limit: non-negative least squares on the matrix."""
    sim = walker(limits=(-0.5, 0.5))
    sim.step()
    steps, h = sim._step.impulses, sim.time_step
    stops, problem = sim._step.preview.stops.system.stops, steps.problem
    A, rows = problem.matrix(steps.response), order_of(problem)
    J, _ = jacobian(sim)
    names = list(sim.model.names)
    turns = np.zeros((2, 6 * len(names)))
    for s, side in enumerate(("left", "right")):
        for part, sign in (("leg", -1.0), ("foot", 1.0)):
            turns[s, 6 * names.index(f"{side}_{part}") + 4] = sign
    before = np.random.default_rng(seed).normal(size=(len(names), 6))
    before[0] = 0.0
    before[names.index("left_foot"), [2, 4]] += 3.0, 6.0
    u = np.concatenate([(J @ before.ravel()).reshape(-1, 3)[rows, 0], -turns @ before.ravel()])
    picked = np.concatenate([3 * np.arange(len(rows)), 3 * len(rows) + np.arange(2)])
    signs = np.concatenate([np.ones(len(rows)), -np.ones(2)])
    W = signs[:, None] * A[np.ix_(picked, picked)] * signs
    root = np.linalg.cholesky(W + 1e-12 * np.eye(len(W)))
    push, _ = nnls(root.T, -np.linalg.solve(root, u))
    assert push[-2] > 0.0
    assert (push[:-2] > 0.0).any()
    for name, value in (("now", 0.5), ("before", 0.5), ("rate", 0.0), ("low", -1.0 / h), ("high", 0.0)):
        getattr(stops, name).fill_(value)
    problem.system.manifolds.friction.zero_()
    after, _ = solved(sim, solver, before, response=steps.response)
    found = np.concatenate([(J @ after.ravel()).reshape(-1, 3)[rows, 0], -turns @ after.ravel()])
    np.testing.assert_allclose(found, u + W @ push, atol=1e-5)
