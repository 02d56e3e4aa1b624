"""Armature with methods by impulses: closed forms, the motion in reduced coordinates, energy, limits and contacts."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb

METHODS = pytest.mark.parametrize("joints", ["direct", "iterative"])
KINDS = pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])


def wheel(kind: Any, joints: str, free: bool = False, **options: Any) -> rb.Simulation:
    """A wheel of 2 kg m², or a bead of 2 kg, with 3 of armature; on the world or on a like body."""
    scene = rb.Scene(gravity=(0, 0, 0))
    first = scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="first") if free else scene.world
    scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="second")
    scene.add_joint(kind(first, "second", at=(0, 0, 0), axis=(0, 0, 1), armature=3.0, **options), name="joint")
    return rb.Simulation(scene, time_step=0.01, joints=joints, strict=True)


@METHODS
@KINDS
def test_a_load_accelerates_the_body_and_its_drive(kind: Any, joints: str) -> None:
    """α = τ / (J + A)."""
    sim = wheel(kind, joints)
    sim["second"].applied_torque = sim["second"].applied_force = (0, 0, 1.0)
    sim.step(100)
    assert sim["joint"].velocity == pytest.approx(1.0 / 5.0, rel=1e-12)
    assert sim.energy().kinetic == pytest.approx(0.5 * 5.0 * 0.2**2, rel=1e-12)


@METHODS
@KINDS
def test_a_drive_between_two_bodies_keeps_their_momentum(kind: Any, joints: str) -> None:
    """The relative motion has the reduced inertia of both and the armature: 1 + 3."""
    sim = wheel(kind, joints, free=True)
    sim.joints.torque = [1.0]
    sim.step(100)
    assert sim["joint"].velocity == pytest.approx(1.0 / 4.0, rel=1e-10)
    now = sim.momentum()
    np.testing.assert_allclose(np.concatenate([now.linear, now.angular]), 0.0, atol=1e-12)


@METHODS
def test_a_spring_inside_has_the_inertia_of_the_drive(joints: str) -> None:
    """ω² = 20 / (2 + 3), with short steps: a period ends where it began."""
    scene = wheel(rb.Revolute, joints).scene
    scene.add_force(rb.ImplicitSpring("joint", stiffness=20.0))
    sim = rb.Simulation(scene, time_step=1e-3, joints=joints, strict=True)
    sim["second"].angular_velocity = (0, 0, 1.0)
    sim.run(np.pi)
    assert abs(sim["joint"].angle) < 5e-3
    assert sim["joint"].velocity == pytest.approx(1.0, abs=0.01)


def arm(joints: str, h: float) -> tuple[np.ndarray, float]:
    """Angles of two links with armature that swing and turn for a second, and the energy they have gained."""
    scene = rb.Scene(gravity=(0, 0, -9.81))
    scene.add_body(mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0), name="upper")
    scene.add_body(mass=0.5, inertia=(0.005, 0.02, 0.02), position=(1.3, 0, 0), name="fore")
    for k, (a, b, inertia) in enumerate((("world", "upper", 0.3), ("upper", "fore", 0.1))):
        scene.add_joint(rb.Revolute(a, b, at=(k, 0, 0), axis=(0, 1, 0), armature=inertia), name=f"joint {k}")
    sim = rb.Simulation(scene, time_step=h, joints=joints, position_tolerance=1e-9, velocity_tolerance=1e-9)
    sim["upper"].velocity, sim["upper"].angular_velocity = (0, 0, -0.5), (0, 1, 0)
    sim["fore"].velocity, sim["fore"].angular_velocity = (0, 0, -0.7), (0, -1, 0)
    sim.step()
    start = sim.energy().total
    sim.run(1.0 - h)
    return np.array([sim[f"joint {k}"].angle for k in range(2)]), abs(sim.energy().total - start)


@METHODS
def test_an_arm_moves_as_in_reduced_coordinates_and_keeps_its_energy(joints: str) -> None:
    """Both are of second order: a quarter of the distance at half of the step."""
    exact = arm("reduced", 2e-4)[0]
    far, near = (arm(joints, h) for h in (0.01, 0.005))
    assert np.abs(far[0] - exact).max() < 1e-3
    assert np.abs(near[0] - exact).max() < 0.3 * np.abs(far[0] - exact).max()
    assert near[1] < 0.3 * far[1] < 1e-2


@METHODS
def test_a_drive_hits_its_limit_with_all_of_its_energy(joints: str) -> None:
    """An elastic limit sends wheel and drive back; one without restitution stops both."""
    for restitution in (1.0, 0.0):
        sim = wheel(rb.Revolute, joints, limits=(-1.0, 0.05), restitution=restitution)
        sim["second"].angular_velocity = (0, 0, 1.0)
        sim.step(10)
        assert sim["joint"].velocity == pytest.approx(-restitution, abs=1e-5)


@METHODS
@pytest.mark.contacts
@pytest.mark.parametrize("armature", [0.0, 0.5, 5.0])
def test_a_ball_hits_an_arm_and_its_drive(joints: str, armature: float) -> None:
    """Without restitution and friction: ω = m r v / (J + A + m r²), J about the hinge."""
    smooth = rb.Material(restitution=0.0, friction=0.0)
    scene = rb.Scene(gravity=(0, 0, 0))
    bar = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="bar", material=smooth)
    scene.add_joint(rb.Revolute(scene.world, bar, axis=(0, 0, 1), armature=armature))
    start = {"position": (0.9, -0.16, 0), "velocity": (0, 1, 0)}
    scene.add_body(rb.Sphere(0.1), mass=0.5, name="ball", material=smooth, **start)
    sim = rb.Simulation(scene, time_step=0.0025, joints=joints, strict=True)
    sim.step(10)
    expected = 0.45 / ((1.0 + 0.01) / 12.0 + 0.25 + armature + 0.5 * 0.81)
    assert sim["bar"].angular_velocity[2] == pytest.approx(expected, rel=2e-3)
