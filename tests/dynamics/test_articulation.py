"""Articulated bodies: the recursions agree with each other."""

import numpy as np
import pytest

import rattleback as rb


def machine() -> rb.Scene:
    """A tree with most kinds of joints, one of them walked from B to A, and a body that floats with another."""
    scene = rb.Scene()
    base = scene.add_body(rb.Box(0.4, 0.3, 0.2), mass=3.0, position=(0.1, 0.0, 1.0), name="base")
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.2), mass=1.0, position=(0.8, 0.0, 1.1), name="arm")
    hand = scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=0.5, position=(1.5, 0.1, 1.0), name="hand")
    rod = scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=0.7, position=(0.1, 0.9, 0.3), name="rod")
    drum = scene.add_body(rb.Cylinder(0.2, 0.3), mass=2.0, position=(-0.5, 0.4, 0.6), name="drum")
    lone = scene.add_body(rb.Box(0.3, 0.4, 0.5), mass=4.0, position=(3.0, 0.0, 0.0), name="lone")
    tail = scene.add_body(rb.Box(0.6, 0.1, 0.1), mass=0.4, position=(3.5, 0.2, 0.3), name="tail")
    scene.add_joint(rb.Cylindrical(scene.world, base, at=(0, 0, 1), axis=(0, 1, 1)), "mast")
    scene.add_joint(rb.Universal(arm, base, at=(0.3, 0, 1), axis=(0, 1, 0), axis_b=(0, 0, 1)), "shoulder")
    scene.add_joint(rb.Ball(arm, hand, at=(1.3, 0, 1)), "wrist")
    scene.add_joint(rb.Distance(base, rod, at=(0.1, 0.2, 0.8), at_b=(0.1, 0.8, 0.6)), "rope")
    scene.add_joint(rb.Screw(drum, base, at=(-0.3, 0.1, 0.8), axis=(1, 1, 0), pitch=0.3), "screw")
    scene.add_joint(rb.Planar(lone, tail, at=(3.2, 0, 0.1), axis=(1, 0, 1)), "plane")
    return scene


@pytest.fixture(scope="module")
def robot() -> rb.dynamics.Articulation:
    return rb.dynamics.Articulation(machine())


@pytest.fixture
def drawn(robot: rb.dynamics.Articulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.standard_normal(robot.nq), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


def test_articulated_bodies_agree_with_the_mass_matrix_and_newton_euler(robot, drawn) -> None:
    q, v, tau = drawn
    a = robot.forward(q, v, tau)
    bias = robot.inverse(q, v, np.zeros(robot.nv))
    np.testing.assert_allclose(a, np.linalg.solve(robot.mass_matrix(q), tau - bias), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(robot.inverse(q, v, a), tau, rtol=1e-12, atol=1e-12)


def test_the_mass_matrix_has_the_columns_of_inverse_dynamics(robot, drawn) -> None:
    q, v, _ = drawn
    bias = robot.inverse(q, v, np.zeros(robot.nv))
    columns = [robot.inverse(q, v, unit) - bias for unit in np.eye(robot.nv)]
    np.testing.assert_allclose(robot.mass_matrix(q), np.transpose(columns), atol=1e-12)
