"""A joint of a running simulation: coordinates, rates and reactions against closed forms."""

import math

import numpy as np
import pytest

import rattleback as rb


def hinge(speed: float = 0.0, gravity: float = 9.81, **settings: object) -> rb.Simulation:
    """A rod of 2 kg and 1 m on a hinge along y, hanging down."""
    scene = rb.Scene(gravity=(0, 0, -gravity))
    rod = scene.add_body(
        rb.Box(0.02, 0.02, 1.0), mass=2.0, position=(0, 0, -0.5), velocity=(-0.5 * speed, 0, 0),
        angular_velocity=(0, speed, 0), name="rod",
    )  # fmt: skip
    scene.add_joint(rb.Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return rb.Simulation(scene, time_step=1e-3, position_tolerance=1e-11, **settings)


def test_the_angle_is_counted_on_over_full_turns() -> None:
    """The method is of second order: the phase is off by about (hω)²/12 of itself."""
    sim = hinge(speed=9.0, gravity=0.0)
    sim.run(2.0)
    assert sim["hinge"].angle == pytest.approx(18.0, rel=2 * (1e-3 * 9.0) ** 2 / 12)
    assert sim["hinge"].velocity == pytest.approx(9.0, abs=1e-9)


def test_the_angle_belongs_to_the_state() -> None:
    sim = hinge(speed=9.0, gravity=0.0)
    sim.run(1.0)
    kept = sim.state.copy()
    sim.run(1.0)
    sim.state = kept
    assert sim["hinge"].angle == pytest.approx(9.0, rel=2 * (1e-3 * 9.0) ** 2 / 12)


def test_a_hanging_rod_pulls_with_its_weight() -> None:
    sim = hinge()
    sim.step(10)
    np.testing.assert_allclose(sim["hinge"].reaction_force, [0, 0, 2.0 * 9.81], atol=1e-9)
    np.testing.assert_allclose(sim["hinge"].reaction_torque, 0, atol=1e-9)


def test_a_turning_rod_is_held_by_the_centripetal_force() -> None:
    sim = hinge(speed=6.0, gravity=0.0)
    sim.run(0.5)
    pull = sim["hinge"].reaction_force
    assert np.linalg.norm(pull) == pytest.approx(2.0 * 36.0 * 0.5, rel=1e-5)
    assert pull @ sim["rod"].position < 0


def test_a_beam_fixed_to_the_wall_carries_its_moment() -> None:
    scene = rb.Scene()
    beam = scene.add_body(rb.Box(2.0, 0.1, 0.1), mass=3.0, position=(1, 0, 0), name="beam")
    scene.add_joint(rb.Fixed(scene.world, beam, at=(0, 0, 0)), name="wall")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.step(5)
    np.testing.assert_allclose(sim["wall"].reaction_force, [0, 0, 3.0 * 9.81], atol=1e-8)
    np.testing.assert_allclose(sim["wall"].reaction_torque, [0, -3.0 * 9.81, 0], atol=1e-8)


def test_a_slider_falls_freely_along_its_axis() -> None:
    scene = rb.Scene()
    block = scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, name="block")
    slope = (math.cos(0.5), 0, -math.sin(0.5))
    joint = scene.add_joint(rb.Prismatic(scene.world, block, axis=slope), name="rail")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(1.0)
    rate = 9.81 * math.sin(0.5)
    assert sim[joint].position == pytest.approx(0.5 * rate, abs=1e-6)
    assert sim["rail"].velocity == pytest.approx(rate, abs=1e-6)
    assert sim["rail"].reaction_force @ np.array(slope) == pytest.approx(0.0, abs=1e-9)
    assert repr(sim["rail"]) == "<Prismatic 'rail' between 'world' and 'block'>"


def test_every_world_has_its_own_coordinates() -> None:
    sim = hinge(gravity=0.0, worlds=3)
    speed = np.array([0.0, 1.0, -2.0])
    sim["rod"].angular_velocity = np.stack([0 * speed, speed, 0 * speed], axis=-1)
    sim["rod"].velocity = np.stack([-0.5 * speed, 0 * speed, 0 * speed], axis=-1)
    sim.run(1.0)
    np.testing.assert_allclose(sim["hinge"].angle, speed, atol=1e-6)
    np.testing.assert_allclose(sim["hinge"].velocity, speed, atol=1e-9)
    assert sim["hinge"].reaction_force.shape == (3, 3)


def test_a_joint_without_the_coordinate_says_so() -> None:
    sim = hinge()
    with pytest.raises(rb.InputError, match="Joint 'hinge' is a Revolute, which has no position of its own"):
        _ = sim["hinge"].position
    scene = rb.Scene()
    scene.add_joint(rb.Ball(scene.world, scene.add_body(rb.Sphere(0.1), position=(1, 0, 0))), name="ball")
    view = rb.Simulation(scene)["ball"]
    for what in ("angle", "velocity"):
        with pytest.raises(rb.InputError, match=f"Joint 'ball' is a Ball, which has no {what} of its own"):
            getattr(view, what)


def test_a_step_that_cannot_hold_its_joint_names_it() -> None:
    scene = rb.Scene()
    rod = scene.add_body(rb.Box(0.02, 0.02, 1.0), mass=2.0, position=(0, 0, -0.5), angular_velocity=(0, 30, 0))
    scene.add_joint(rb.Ball(scene.world, rod, at=(0, 0, 0)), name="hook")
    sim = rb.Simulation(scene, time_step=0.05, max_iterations=1)
    with pytest.warns(rb.NotConvergedWarning, match="Joint 'hook'"):
        sim.step()
    assert not sim.report.converged
    assert sim.report.worst_joint == "hook"
    assert "Joint 'hook' is off by" in sim.report.reason
    sim.use(strict=True)
    with pytest.raises(rb.NotConverged, match="Joint 'hook'"):
        sim.step()
