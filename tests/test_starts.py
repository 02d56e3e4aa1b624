"""Joints that start elsewhere: their coordinates are what was asked for, and the others stay."""

import numpy as np
import pytest

import rattleback as rb

STARTS = {
    "hinge.angle": [0.3, 4.0],
    "elbow.angle": [-0.5, 0.2],
    "slide.position": [0.1, 0.2],
    "hinge.velocity": [1.0, 2.0],
    "elbow.velocity": [0.5, -0.5],
    "slide.velocity": [0.1, 0.3],
}


def arm() -> rb.Scene:
    """A hinge, an elbow whose body B is the one nearer to the world, and a slide."""
    scene = rb.Scene()
    for k, name in enumerate(("upper", "lower")):
        scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5 + k, 0, 1), name=name)
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=(2, 0, 1), name="tool")
    scene.add_joint(rb.Revolute("world", "upper", at=(0, 0, 1), axis=(0, 1, 0)), name="hinge")
    scene.add_joint(rb.Revolute("lower", "upper", at=(1, 0, 1), axis=(0, 1, 0)), name="elbow")
    scene.add_joint(rb.Prismatic("lower", "tool", at=(2, 0, 1), axis=(1, 0, 0)), name="slide")
    return scene


def test_joints_start_at_the_coordinates_and_rates_of_their_world() -> None:
    sim = rb.Simulation(arm(), vary=STARTS)
    np.testing.assert_allclose(sim["hinge"].angle, STARTS["hinge.angle"], atol=1e-12)
    np.testing.assert_allclose(sim["elbow"].angle, STARTS["elbow.angle"], atol=1e-12)
    np.testing.assert_allclose(sim["slide"].position, STARTS["slide.position"], atol=1e-12)
    for joint in ("hinge", "elbow", "slide"):
        np.testing.assert_allclose(sim[joint].velocity, STARTS[f"{joint}.velocity"], atol=1e-12)
    # Rates that fit the joints are left alone by the first step.
    sim.parameters["gravity"] = (0, 0, 0)
    before = sim.energy().total
    sim.step()
    np.testing.assert_allclose(sim.energy().total, before, rtol=1e-4)


def test_the_bodies_lie_where_reduced_coordinates_put_them() -> None:
    sim, alone = rb.Simulation(arm(), vary=STARTS), rb.Simulation(arm())
    robot = rb.dynamics.Articulation(alone.scene)
    for world in range(2):
        q, v = robot.neutral(), np.zeros(robot.nv)
        for entry, values in STARTS.items():
            joint, what = entry.split(".")
            place = robot.rates.index(joint)
            (v if what == "velocity" else q)[place] = values[world]
        robot.move_to(alone, q, v)
        for name in ("position", "velocity", "angular_velocity"):
            np.testing.assert_allclose(getattr(sim.state, name)[world], getattr(alone.state, name), atol=1e-12)


def test_a_reset_goes_back_to_where_joints_started() -> None:
    sim = rb.Simulation(arm(), vary=STARTS)
    sim.step(5)
    there = sim.state.position.copy()
    sim.reset()
    np.testing.assert_allclose(sim["hinge"].angle, STARTS["hinge.angle"], atol=1e-12)
    sim.step(5)
    assert np.array_equal(sim.state.position, there)


def test_a_joint_in_a_loop_cannot_start_elsewhere() -> None:
    scene = arm()
    scene.add_joint(rb.Ball("world", "tool", at=(2, 0, 1)))
    with pytest.raises(rb.InputError, match="Joint 'hinge' cannot start elsewhere: neither of its bodies hangs on it"):
        rb.Simulation(scene, vary={"hinge.angle": [0.1]})
