"""First-order and matrix-free solvers in large scenes: their residual against an independent one, colours, batches."""

import dataclasses
import functools

import numpy as np
import pytest

import rattleback as rb
from rattleback.solvers.contacts import SOLVERS
from rattleback.solvers.contacts.problem.assembled import assemble

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]
LARGE = [name for name in SOLVERS if name != "assembled"]
FIRST_ORDER = ["apgd", "bb"]


def pile(bricks=5, layers=4, speed=0.0):
    """A wall of bricks without load propagation's help: its rows are shifted by half a brick."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for row in range(layers):
        for k in range(bricks):
            place = (k + 0.5 * (row % 2), 0, 0.25 + 0.5 * row)
            scene.add_body(rb.Box(0.99, 0.5, 0.5), mass=1.0 + row, position=place, velocity=(speed * row, 0, 0))
    return scene


def settings(solver, law="coulomb", sweeps=5000, tolerance=1e-8):
    method = SOLVERS[solver](sweeps=sweeps)
    contacts = rb.contacts.TimeStepping(solver=method, law=law, load_propagation=False)
    return {"contacts": contacts, "time_step": 0.005, "contact_velocity_tolerance": tolerance, "warn": False}


class Seen:
    """A solver whose problem at the start of a step and the impulses found for it are noted."""

    def __init__(self, inner):
        self.inner, self.sweeps, self.laws = inner, inner.sweeps, inner.laws

    def bind(self, problem):
        self.problem, self.bound = problem, self.inner.bind(problem)
        return self

    def record(self, motion, goal, which, response=None):
        before = lambda: setattr(self, "posed", assemble(self.problem, motion, response, 0))  # noqa: E731
        after = lambda: setattr(self, "impulse", self.problem.system.points.impulse.numpy().copy())  # noqa: E731
        if goal.posed == "start":
            self.problem.program.call(before)
        self.bound.record(motion, goal, which, response)
        if goal.posed == "start":
            self.problem.program.call(after)


def solved_and_reported(sim):
    """The residual of the impulses that a step finds, measured by ``rb.lcp``, and the one it reports [m/s]."""
    contacts = sim.methods.contacts
    seen = Seen(contacts.solver)
    sim.use(contacts=dataclasses.replace(contacts, solver=seen), warn=False)
    sim.step()
    report, impulse = sim.report, seen.impulse[seen.posed.points].ravel()
    reported = max(report.normal_velocity_error, report.tangential_velocity_error)
    return rb.lcp.residual(seen.posed.problem("start"), impulse, contacts.law), reported


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("solver", FIRST_ORDER)
@pytest.mark.parametrize("sweeps", [3, 20, 5000])
def test_first_order_solvers_report_the_residual_that_their_impulses_have(solver, law, sweeps):
    sim = rb.Simulation(pile(speed=0.2), **settings(solver, law, sweeps))
    found, reported = solved_and_reported(sim)
    assert reported <= found * (1 + 1e-6) + 1e-12
    assert found <= np.sqrt(2.0) * reported * (1 + 1e-6) + 1e-12
    assert (reported <= 1e-8) == (sweeps == 5000)


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("solver", FIRST_ORDER)
def test_more_iterations_never_leave_a_larger_residual(solver, law):
    reported = [solved_and_reported(rb.Simulation(pile(), **settings(solver, law, n)))[1] for n in (2, 5, 20, 80)]
    assert all(np.diff(reported) <= 1e-12)


@pytest.mark.parametrize("law", ["coulomb", "cone", "frictionless"])
@pytest.mark.parametrize("solver", ["pgs", "sor", "jacobi", *FIRST_ORDER])
def test_by_colour_the_solution_is_that_in_order(solver, law, give_colours, device):
    in_order = rb.Simulation(pile(), **settings(solver, law, 20000))
    in_order.step()
    give_colours()
    coloured = rb.Simulation(pile(), device=device, **settings(solver, law, 20000))
    coloured.step()
    # Where friction is limited W is singular: impulses differ, velocities do not.
    np.testing.assert_allclose(coloured.state.velocity, in_order.state.velocity, atol=1e-4)


@pytest.mark.parametrize("solver", FIRST_ORDER)
@pytest.mark.parametrize("colours", [False, True])
def test_a_world_of_a_batch_has_the_bits_of_a_single_run(solver, colours, give_colours):
    if colours:
        give_colours()
    given = settings(solver, sweeps=60, tolerance=1e-6)
    both = rb.Simulation(pile(9, 9), worlds=3, **given)
    both["box_3"].velocity = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0.1)]
    both.step(3)
    alone = rb.Simulation(pile(9, 9), **given)
    alone["box_3"].velocity = (0, 0.2, 0.1)
    alone.step(3)
    assert np.array_equal(both.state.velocity[2], alone.state.velocity)
    assert np.array_equal(both.state.position[2], alone.state.position)


@pytest.mark.parametrize("solver", ["sor", *FIRST_ORDER])
def test_a_ball_rolls_and_spins_against_its_resistance_as_the_closed_form_says(solver):
    scene, arms, time = rb.Scene(), {"rolling_friction": 0.004, "spinning_friction": 0.002}, 0.2
    material = rb.Material(friction=0.5, **arms)
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.5))
    start = {"position": (0, 0, 0.1), "velocity": (1, 0, 0), "angular_velocity": (0, 10, 5)}
    scene.add_body(rb.Sphere(0.1), mass=2.0, name="ball", material=material, **start)
    sim = rb.Simulation(scene, **settings(solver, tolerance=1e-9))
    sim.run(time)
    m, r, g = 2.0, 0.1, 9.81
    rolling = 10.0 - arms["rolling_friction"] * m * g * time / (1.4 * m * r**2)
    spinning = 5.0 - arms["spinning_friction"] * m * g * time / (0.4 * m * r**2)
    np.testing.assert_allclose(sim["ball"].angular_velocity[1:], (rolling, spinning), rtol=2e-2)


@functools.cache
def settled(name, time):
    """The state of a large scene after some time."""
    sim = rb.Simulation(getattr(rb.scenes, name)(), time_step=0.005, warn=False)
    if time:
        sim.run(time)
    return sim.state.copy()


@pytest.mark.slow
@pytest.mark.parametrize("solver", LARGE)
@pytest.mark.parametrize(("name", "time"), [("wall", 0.0), ("cubes_1000", 1.5), ("funnel", 1.0)])
def test_large_scenes_run_with_every_large_scene_solver_and_report_their_residual(solver, name, time):
    sim = rb.Simulation(getattr(rb.scenes, name)(), **settings(solver, sweeps=300, tolerance=1e-3))
    sim.state = settled(name, time)
    sim.step(20)
    found, reported = solved_and_reported(sim)
    assert len(sim.contacts) > 500
    assert np.isfinite(sim.state.velocity).all()
    assert 0.0 < reported < 0.3
    # Sweeps measure their last change, so theirs may be smaller than what they leave.
    assert found < 10.0 * reported + 1e-3
