"""Robots of exact joints on the ground: standing, gripping, falling; worlds, copies, sleep."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
RUBBER = rb.Material(friction=1.0)


def quadruped(**settings: Any) -> rb.Simulation:
    """A body on four legs of two hinges with servos, and spheres for feet."""
    scene, z = rb.Scene(), 0.55
    scene.add_static(rb.Plane(), material=RUBBER)
    base = scene.add_body(rb.Box(0.6, 0.3, 0.12), mass=8.0, position=(0, 0, z), name="base", material=RUBBER)
    for x, y, name in ((-0.25, -0.17, "a"), (-0.25, 0.17, "b"), (0.25, -0.17, "c"), (0.25, 0.17, "d")):
        parts = [
            (rb.Box(0.06, 0.06, 0.22), 0.6, 0.11),
            (rb.Box(0.05, 0.05, 0.22), 0.4, 0.33),
            (rb.Sphere(0.03), 0.1, 0.46),
        ]
        thigh, shank, foot = (
            scene.add_body(shape, mass=mass, position=(x, y, z - down), material=RUBBER, name=f"{part}_{name}")
            for (shape, mass, down), part in zip(parts, ("thigh", "shank", "foot"), strict=True)
        )
        hip = scene.add_joint(rb.Revolute(base, thigh, at=(x, y, z), axis=(0, 1, 0), damping=3.0), name=f"hip_{name}")
        at = (x, y, z - 0.22)
        knee = scene.add_joint(rb.Revolute(thigh, shank, at=at, axis=(0, 1, 0), damping=3.0), name=f"knee_{name}")
        scene.add_joint(rb.Fixed(shank, foot, at=(x, y, z - 0.45)))
        for joint in (hip, knee):
            scene.add_force(rb.Servo(joint, gain=60.0))
    return rb.Simulation(scene, time_step=0.001, joints="reduced", **settings)


def gripper(method: str) -> rb.Simulation:
    """Two fingers on slides below a palm that a force lifts, and a kilogram between them."""
    scene = rb.Scene()
    palm = scene.add_body(rb.Box(0.3, 0.1, 0.05), mass=1.0, position=(0, 0, 0.5), name="palm", material=RUBBER)
    scene.add_joint(rb.Prismatic(scene.world, palm, at=(0, 0, 0.5), axis=(0, 0, 1)), name="lift")
    for side, name in ((-1, "left"), (1, "right")):
        at = (side * 0.07, 0, 0.38)
        finger = scene.add_body(rb.Box(0.02, 0.08, 0.2), mass=0.2, position=at, name=name, material=RUBBER)
        scene.add_joint(rb.Prismatic(palm, finger, at=(side * 0.07, 0, 0.45), axis=(-side, 0, 0)), name=f"grip_{name}")
    scene.add_body(rb.Box(0.12, 0.06, 0.1), mass=1.0, position=(0, 0, 0.34), name="load", material=RUBBER)
    return rb.Simulation(scene, time_step=0.002, joints=method, warn=False)


def hold(sim: rb.Simulation, steps: int) -> None:
    """Fingers press with 20 N; the palm is lifted by 5 cm and held."""
    lift, *fingers = (sim.joints.names.index(name) for name in ("lift", "grip_left", "grip_right"))
    for _ in range(steps):
        q, v, goal = sim.joints.position[lift], sim.joints.velocity[lift], min(0.05, 0.1 * sim.time)
        sim.joints.torque[lift] = 2.4 * 9.81 + 800.0 * (goal - q) - 60.0 * v
        sim.joints.torque[fingers] = 20.0
        sim.step()


def arm(method: str, h: float, **settings: Any) -> rb.Simulation:
    """Three rods on hinges that fall on the ground, where the last slides."""
    scene, parent = rb.Scene(), "world"
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.3))
    level = (0, 0.5**0.5, 0, 0.5**0.5)
    for k in range(3):
        x = 0.25 + 0.5 * k
        rod = scene.add_body(
            rb.Capsule(0.04, 0.4),
            mass=1.0,
            position=(x, 0, 0.4),
            orientation=level,
            name=f"rod_{k}",
        )
        scene.add_joint(rb.Revolute(parent, rod, at=(0.5 * k, 0, 0.4), axis=(0, 1, 0)), name=f"hinge_{k}")
        parent = rod.name
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=0.5, position=(2.0, 0, 0.1), name="crate")
    return rb.Simulation(scene, time_step=h, joints=method, **settings)


def test_a_quadruped_stands_on_four_feet() -> None:
    sim = quadruped()
    sim.step(1000)
    before = np.array(sim["base"].position)
    sim.step(1000)
    assert sim.report.converged, sim.report.reason
    assert sim.report.position_error == 0.0
    assert np.abs(sim["base"].position - before).max() <= 1e-6
    feet = {sim.model.names[i] for pair in zip(sim.contacts.body_a, sim.contacts.body_b, strict=True) for i in pair}
    assert {f"foot_{name}" for name in "abcd"} <= feet


@pytest.mark.slow
def test_a_quadruped_stands_for_a_minute() -> None:
    sim = quadruped()
    sim.step(1000)
    before = np.array(sim["base"].position)
    sim.step(60_000)
    assert sim.report.converged, sim.report.reason
    assert np.abs(sim["base"].position - before).max() <= 1e-7


@pytest.mark.parametrize("steps", [1500, pytest.param(30_000, marks=pytest.mark.slow)])
def test_a_gripper_holds_a_kilogram_without_creep(steps: int) -> None:
    sim = gripper("reduced")
    hold(sim, 600)
    before = sim["load"].position - sim["palm"].position
    assert sim["load"].position[2] > 0.385
    hold(sim, steps)
    assert np.abs(sim["load"].position - sim["palm"].position - before).max() <= 1e-6


def test_contacts_on_links_agree_with_the_method_of_rows_as_steps_get_short() -> None:
    off = []
    for h in (2e-3, 5e-4):
        ends = []
        for method in ("reduced", "direct"):
            # Impacts are solved so far that their errors do not show beside those of the step.
            sim = arm(method, h, contact_velocity_tolerance=1e-6)
            sim.step(round(0.8 / h))
            ends.append(np.array(sim.state.position[:3]))
        off.append(np.abs(ends[0] - ends[1]).max())
    assert off[1] <= 0.5 * off[0] + 1e-5
    assert off[1] <= 5e-3


def test_links_that_lie_on_the_ground_come_to_rest() -> None:
    sim = arm("reduced", 0.005)
    sim.step(600)
    assert np.abs(sim.state.velocity).max() <= 1e-3
    assert sim.report.penetration <= sim.report.penetration_tolerance


def test_worlds_and_copies_have_the_bits_of_single_runs() -> None:
    alone, batch = arm("reduced", 0.005), arm("reduced", 0.005, worlds=2)
    faster = np.array(batch.state.angular_velocity)
    faster[1, 0] = (0, 1.0, 0)
    batch.state.angular_velocity = faster
    alone.step(150)
    kept = alone.state.copy()
    batch.step(150)
    np.testing.assert_array_equal(batch.state.position[0], alone.state.position)
    assert np.abs(batch.state.position[1] - batch.state.position[0]).max() > 1e-3
    alone.step(50)
    end = alone.hash()
    alone.state = kept
    for _ in range(50):
        alone.step()
    assert alone.hash() == end


def test_a_robot_that_lies_still_falls_asleep_and_wakes() -> None:
    sim = arm("reduced", 0.005, sleep=True)
    sim.step(1000)
    assert all(sim[f"rod_{k}"].asleep for k in range(3))
    at = np.array(sim.state.position)
    sim.step(100)
    np.testing.assert_array_equal(sim.state.position, at)
    sim["rod_0"].angular_velocity = (0, -3.0, 0)
    sim.step(20)
    assert not sim["rod_0"].asleep
    assert np.abs(sim.state.position - at).max() > 1e-4


def test_the_matrix_of_a_contact_problem_goes_through_the_trees() -> None:
    """That of the method of rows, which eliminates the rows of the joints."""
    sims = [arm(method, 0.005) for method in ("reduced", "direct")]
    sims[0].step(200)
    sims[1].state = sims[0].state.copy()
    matrices = []
    for sim in sims:
        sim._step.program.run(0)  # finds the contacts of the state, and evaluates joints there
        impulses = sim._step.impulses
        matrices.append(impulses.problem.matrix(impulses.response))
    assert len(matrices[0]) > 6
    np.testing.assert_allclose(*matrices, atol=1e-8 * np.abs(matrices[1]).max())
