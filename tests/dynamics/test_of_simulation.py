"""The linear system of a simulation against differences of its own steps, and what it refuses."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError


def two_links(**settings: object) -> rb.Simulation:
    scene = rb.Scene()
    first = scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 0), name="first")
    second = scene.add_body(rb.Box(0.4, 0.1, 0.1), mass=0.5, position=(0.7, 0, 0), name="second")
    scene.add_joint(rb.Revolute(scene.world, first, at=(0, 0, 0), axis=(0, 1, 0)), name="shoulder")
    scene.add_joint(rb.Cylindrical(first, second, at=(0.5, 0, 0), axis=(0, 0, 1)), name="elbow")
    return rb.Simulation(scene, time_step=1e-5, joints="reduced", contacts="none", velocity_tolerance=1e-12, **settings)


def test_it_is_what_small_changes_make_of_a_step() -> None:
    sim = two_links()
    robot = rb.dynamics.Articulation(sim.scene)
    q0, v0 = np.array([0.4, 0.1, 0.3]), np.array([0.5, -0.2, 0.7])
    tau = np.array([0.3, -0.4, 0.2])
    robot.move_to(sim, q0, v0)
    sim.joints.torque = tau
    A, B = sim.linearize()
    kept, h, by = sim.state.copy(), sim.time_step, 1e-4

    def after(change: np.ndarray, more: np.ndarray) -> np.ndarray:
        """The mean rate of change over a short step, at its middle to second order."""
        sim.state = kept
        robot.move_to(sim, robot.integrate(q0, change[:3]), v0 + change[3:])
        sim.joints.torque = tau + more
        sim.step()
        q, v = robot.coordinates_of(sim)
        return np.concatenate([robot.difference(robot.integrate(q0, change[:3]), q), v - v0 - change[3:]]) / h

    names = [robot.rates.index(name) for name in ("shoulder", "elbow.slide_z", "elbow.turn_z")]
    assert names == [0, 1, 2]
    assert sim.joints.names == ("shoulder", "elbow.position", "elbow.angle")
    for k, unit in enumerate(np.eye(6)):
        slope = (after(by * unit, 0) - after(-by * unit, 0)) / (2 * by)
        np.testing.assert_allclose(slope, A[:, k], atol=2e-3 * np.abs(A).max())
    for k, unit in enumerate(np.eye(3)):
        slope = (after(np.zeros(6), by * unit) - after(np.zeros(6), -by * unit)) / (2 * by)
        np.testing.assert_allclose(slope, B[:, k], atol=2e-3 * np.abs(B).max())


def test_worlds_come_first() -> None:
    sim = two_links(worlds=2)
    A, B = sim.linearize()
    assert A.shape == (2, 6, 6)
    assert B.shape == (2, 6, 3)
    np.testing.assert_array_equal(A[0], two_links().linearize()[0])


def test_loops_and_other_forces_are_refused() -> None:
    sim = two_links()
    scene = sim.scene.copy()
    scene.add_force(rb.Spring(scene.world, "second", at=(0, 0, 1), at_b=(0.7, 0, 0), stiffness=10.0), name="band")
    with pytest.raises(InputError, match="with the forces 'band' cannot be linearised"):
        rb.Simulation(scene, contacts="none").linearize()
    scene = sim.scene.copy()
    scene.add_joint(rb.PointOnPlane(scene.world, "second", at=(0.7, 0, 0), axis=(0, 0, 1)), name="table")
    with pytest.raises(InputError, match="with the joints 'table'"):
        rb.Simulation(scene, contacts="none").linearize()
