"""The contact problem of the next step as mathematics: its solution is what the run does, by every method."""

import numpy as np
import pytest
from scipy.optimize import nnls

import rattleback as rb
from rattleback.solvers.contacts import SOLVERS
from rattleback.solvers.contacts.schemes.settings import laws_of

pytestmark = pytest.mark.contacts
H = 0.01
FRICTIONLESS = [name for name, kind in SOLVERS.items() if "frictionless" in laws_of(kind())]


def settings(solver="block_gauss_seidel", law="coulomb", sweeps=20000, **more):
    contacts = rb.contacts.TimeStepping(solver=SOLVERS[solver](sweeps=sweeps), law=law, load_propagation=False)
    fine = {"contact_velocity_tolerance": 1e-10, "contact_distance": 0.02}
    return {"contacts": contacts, "integrator": "semi_implicit_euler", "time_step": H, "warn": False, **fine, **more}


def sliding_boxes():
    """Two flat boxes on each other: the upper one slides on the lower one, which slides on the ground."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground", material=rb.Material(friction=0.1))
    for k, speed in enumerate((0.5, 1.5)):
        place = {"position": (0, 0, 0.05 + 0.1 * k), "velocity": (speed, 0, 0)}
        scene.add_body(rb.Box(1, 1, 0.1), mass=1.0 + k, name=f"box_{k}", material=rb.Material(friction=0.2), **place)
    return scene


def lifted_spheres(pulls=(5.0, -4.0, 40.0, 35.0)):
    """Spheres in a column, pulled up and down: the upper two rise together."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k, pull in enumerate(pulls):
        scene.add_body(rb.Sphere(0.1), mass=1.0 + k, position=(0, 0, 0.1 + 0.2 * k), name=f"sphere_{k}")
        scene.add_force(rb.Wrench(f"sphere_{k}", force=(0, 0, pull)))
    return scene


def by_nnls(W, q):
    """Velocities of min ½ r·W r + q·r over r ≥ 0, by SciPy's non-negative least squares; q is in the range of W."""
    values, vectors = np.linalg.eigh(W)
    good = values > 1e-12 * values.max()
    root = np.sqrt(values[good])[:, None] * vectors[:, good].T
    found, _ = nnls(root, -(vectors[:, good].T @ q) / np.sqrt(values[good]))
    return W @ found + q


@pytest.mark.parametrize("solver", FRICTIONLESS)
def test_frictionless_contacts_have_the_velocities_of_nonnegative_least_squares(solver):
    sim = rb.Simulation(lifted_spheres(), **settings(solver, "frictionless"))
    problem = sim.contact_problem()
    known = by_nnls(problem.dense[::3, ::3], problem.q[::3])
    assert 0 < np.sum(known > 1e-3) < len(known)
    sim.step()
    heights = np.cumsum(known)
    order = [int(line.split("sphere_")[-1][0]) for line in problem.remark.splitlines()]
    assert order == sorted(order)
    np.testing.assert_allclose(sim.state.velocity[1:, 2], heights, atol=1e-8)


@pytest.mark.parametrize("law", ["coulomb", "cone", "pyramid", "frictionless"])
def test_the_solution_of_the_problem_is_the_step_that_the_run_takes(law):
    sim = rb.Simulation(sliding_boxes(), **settings(law=law))
    problem = sim.contact_problem()
    result = rb.lcp.solve(problem, law=law, tolerance=1e-11)
    assert result.converged
    sim.step()
    v = np.vstack([np.zeros(3), sim.state.velocity[1:]])
    for c, line in enumerate(problem.remark.splitlines()):
        upper = 2 if "box_0" in line and "box_1" in line else 1
        u_n, *u_t = result.velocity[3 * c : 3 * c + 3]
        np.testing.assert_allclose(u_n, (v[upper] - v[upper - 1])[2], atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(u_t), np.linalg.norm((v[upper] - v[upper - 1])[:2]), atol=1e-9)


def test_a_problem_from_a_run_is_saved_loaded_and_solved_alike(tmp_path):
    sim = rb.Simulation(sliding_boxes(), **settings())
    sim.run(0.05)
    problem = sim.contact_problem()
    problem.save(tmp_path / "boxes.npz")
    loaded = rb.lcp.load(tmp_path / "boxes.npz")
    assert np.array_equal(loaded.dense, problem.dense)
    assert np.array_equal(loaded.q, problem.q)
    for method in ("nsgs", "newton", "apgd", "auto"):
        result = rb.lcp.solve(loaded, method, tolerance=1e-8)
        np.testing.assert_allclose(
            result.velocity, rb.lcp.solve(problem, method, tolerance=1e-8).velocity, rtol=0, atol=1e-12
        )
        assert rb.lcp.residual(problem, result.impulse) <= 1e-8


def test_looking_at_the_problem_leaves_the_simulation_as_it_is():
    sims = [rb.Simulation(sliding_boxes(), **settings()) for _ in range(2)]
    for _ in range(3):
        sims[0].contact_problem()
        for sim in sims:
            sim.step()
    assert sims[0].hash() == sims[1].hash()


def test_joints_are_inside_the_problem():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), name="foot")
    scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=10.0, position=(0, 0, 0.52), name="leg")
    scene.add_joint(rb.Fixed("foot", "leg", at=(0, 0, 0.11)))
    sim = rb.Simulation(scene, time_step=H)
    W = sim.contact_problem().dense
    # One rigid body of 11 kg: pushing all points down alike moves it by the sum over its mass.
    push = np.tile([1.0, 0.0, 0.0], len(W) // 3)
    np.testing.assert_allclose((W @ push)[::3], len(W) / 3 / 11.0, rtol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "nsgs", "apgd", "bb"])
def test_bodies_on_a_hinge_move_with_every_solver_as_with_blocks(solver):
    def simulate(solver):
        scene = rb.Scene()
        scene.add_static(rb.Plane(), name="ground")
        scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), velocity=(1, 0, 0), name="foot")
        start = {"position": (0, 0, 0.52), "velocity": (1, 0, 0), "angular_velocity": (0, 0.5, 0)}
        scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=10.0, name="leg", **start)
        scene.add_joint(rb.Revolute("foot", "leg", at=(0, 0, 0.11), axis=(0, 1, 0)))
        contacts = rb.contacts.Impulse(solver=solver, sweeps_between=5000, exchanges=20)
        fine = {"contact_velocity_tolerance": 1e-9, "velocity_tolerance": 1e-9, "position_tolerance": 1e-9}
        return rb.Simulation(scene, time_step=0.005, contacts=contacts, warn=False, **fine)

    kind = SOLVERS.get(solver)
    sims = [simulate(rb.contacts.BlockGaussSeidel(sweeps=5000)), simulate(kind(sweeps=5000) if kind else solver)]
    for sim in sims:
        sim.step(20)
    assert sims[0]["leg"].angular_velocity[1] > 0.6
    np.testing.assert_allclose(sims[1].state.velocity, sims[0].state.velocity, atol=1e-5)
    np.testing.assert_allclose(sims[1].state.position, sims[0].state.position, atol=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("method", ["auto", "nsgs", "apgd", "newton"])
def test_a_smooth_contact_that_parts_is_not_pulled(method, law):
    problem = rb.lcp.Problem(W=np.eye(3), q=[1.0, 0.0, 0.0], mu=[0.0])
    assert rb.lcp.residual(problem, [-1.0, 0.0, 0.0], law) == pytest.approx(1.0)
    assert np.array_equal(rb.lcp.solve(problem, method, law).impulse, np.zeros(3))


def test_every_world_has_its_problem():
    sim = rb.Simulation(sliding_boxes(), worlds=2, **settings())
    sim["box_1"].velocity = [(1.5, 0, 0), (-0.5, 0, 0)]
    alone = rb.Simulation(sliding_boxes(), **settings())
    alone["box_1"].velocity = (-0.5, 0, 0)
    both, single = sim.contact_problem(world=1), alone.contact_problem()
    assert np.array_equal(both.q, single.q)
    assert np.array_equal(both.dense, single.dense)
    with pytest.raises(rb.InputError, match="world is 2; it must be at most 1"):
        sim.contact_problem(world=2)


def test_a_simulation_without_contacts_says_so():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 3.0))
    sim = rb.Simulation(scene)
    with pytest.raises(rb.InputError, match="Nothing touches in the next step, so there is no contact problem"):
        sim.contact_problem()
    sim.use(contacts="detect")
    with pytest.raises(rb.InputError, match="choose a scheme that does first"):
        sim.contact_problem()


def test_an_assembled_solver_refuses_what_it_has_no_rows_for_and_what_is_too_large(monkeypatch):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), material=rb.Material(rolling_friction=0.01))
    sim = rb.Simulation(scene, contacts=rb.contacts.Impulse(solver="lemke", law="frictionless"))
    sim.step()
    sim.use(contacts=rb.contacts.Impulse(solver="nsgs"))
    with pytest.raises(rb.InputError, match="have no rows in an assembled contact problem; choose another solver"):
        sim.step()
    from rattleback.solvers.contacts.solvers import assembled

    monkeypatch.setattr(assembled, "MOST_POINTS", 3)
    sim = rb.Simulation(sliding_boxes(), contacts=rb.contacts.Impulse(solver="nsgs"))
    with pytest.raises(rb.InputError, match="has 8 contact points, more than 3. Choose 'apgd'"):
        sim.step()


@pytest.mark.parametrize("name", sorted(set(rb.lcp.MENU) - set(SOLVERS)))
def test_every_method_of_complementarity_runs_a_step_by_its_name(name):
    scheme = rb.contacts.TimeStepping(solver=name, law="frictionless")
    assert scheme.solver == rb.contacts.Assembled(name)
    sim = rb.Simulation(lifted_spheres(), **settings() | {"contacts": scheme})
    reference = rb.Simulation(lifted_spheres(), **settings(law="frictionless"))
    sim.step()
    reference.step()
    np.testing.assert_allclose(sim.state.velocity, reference.state.velocity, atol=1e-6)
