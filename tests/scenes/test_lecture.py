"""The three scenes of a first course: uniform motion, parabolas, contacts without friction as a quadratic programme."""

import numpy as np
import pytest
from scipy.optimize import nnls

import rattleback as rb
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.scenes import MENU

pytestmark = pytest.mark.contacts


def simulate(name, **settings):
    entry = MENU[name]
    given = {"time_step": entry.time_step, "integrator": entry.integrator}
    return rb.Simulation(entry.build(), **{**given, **settings})


def test_without_forces_bodies_move_and_turn_uniformly():
    sim = simulate("free_motion")
    x, v, w = (getattr(sim.state, name).copy() for name in ("position", "velocity", "angular_velocity"))
    sim.run(5.0)
    np.testing.assert_allclose(sim.state.position, x + 5.0 * v, atol=1e-10)
    np.testing.assert_allclose(sim.state.angular_velocity, w, atol=1e-12)
    for turn, rate in zip(sim.state.orientation, w, strict=True):
        known = quaternion_from_axis_angle(rate, 5.0 * np.linalg.norm(rate))
        assert abs(abs(turn @ known) - 1.0) < 1e-9


def test_in_free_fall_bodies_are_where_the_formula_of_their_steps_puts_them():
    sim = simulate("free_fall")
    x, v, h, steps = sim.state.position.copy(), sim.state.velocity.copy(), sim.time_step, 200
    sim.step(steps)
    t = h * steps
    np.testing.assert_allclose(sim.state.velocity, v + t * np.array([0, 0, -9.81]), atol=1e-10)
    # v is taken at the end of each step: the sum of k h is t (t + h) / 2.
    np.testing.assert_allclose(sim.state.position, x + t * v + 0.5 * t * (t + h) * np.array([0, 0, -9.81]), atol=1e-9)


@pytest.mark.slow
def test_bodies_in_a_box_stay_inside_and_lose_energy_but_no_spin_without_friction():
    sim = simulate("frictionless_box", contacts=rb.contacts.TimeStepping(law="frictionless"), warn=False)
    energies, spins = [sim.energy().total], sim.state.angular_velocity.copy()
    for _ in range(8):
        sim.run(0.5)
        energies.append(sim.energy().total)
        assert np.abs(sim.state.position[5:, :2]).max() < 2.25
        assert sim.state.position[5:, 2].min() > 0.25
    assert np.diff(energies).max() < 0.5
    # Contacts are solved to within their tolerance, of a millimetre a second.
    balls = [row for row, name in enumerate(sim.model.names) if name.startswith("ball")]
    np.testing.assert_allclose(sim.state.angular_velocity[balls], spins[balls], atol=1e-4)


def test_contacts_in_the_box_solve_the_quadratic_programme():
    contacts = rb.contacts.TimeStepping(law="frictionless")
    sim = simulate("frictionless_box", contacts=contacts, warn=False)
    sim.run(1.0)
    problem = sim.contact_problem()
    N, r = problem.dense[::3, ::3], problem.q[::3]
    result = rb.lcp.solve(problem, law="frictionless", tolerance=1e-9)
    gamma, u = result.impulse[::3], result.velocity[::3]
    # min ½ γ N γ + r γ over γ ≥ 0: its conditions, and a second way to its value.
    assert gamma.min() >= 0.0
    assert u.min() > -1e-8
    assert abs(gamma @ u) < 1e-8
    values, vectors = np.linalg.eigh(N)
    good = values > 1e-10 * values.max()
    root = np.sqrt(values[good])[:, None] * vectors[:, good].T
    other, _ = nnls(root, -(vectors[:, good].T @ r) / np.sqrt(values[good]))
    value = lambda x: 0.5 * x @ N @ x + r @ x  # noqa: E731
    assert value(gamma) <= value(other) + 1e-9
