"""What acted on a joint that is broken: servos and torsion springs stop, islands fall apart."""

import math

import numpy as np
import pytest

import rattleback as rb


def wheel(inertia: float = 0.02) -> rb.Scene:
    """A wheel that turns freely about z on a hinge to the world."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(inertia, inertia, inertia), name="wheel")
    scene.add_joint(rb.Revolute("world", "wheel", at=(0, 0, 0), axis=(0, 0, 1)), name="hinge")
    return scene


def test_a_servo_does_nothing_on_a_broken_joint_and_goes_on_when_it_is_mended() -> None:
    scene = wheel()
    scene.add_force(rb.Servo("hinge", control="angle", target=1.0, gain=0.5, rate_time=0.2), name="servo")
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.1)
    sim["hinge"].broken = True
    sim.step()
    spin = float(sim["wheel"].angular_velocity[2])
    assert abs(spin) > 0.1
    sim.run(0.2)
    assert float(sim["wheel"].angular_velocity[2]) == pytest.approx(spin, rel=1e-12)
    assert sim.servo("servo").effort == 0.0
    sim["hinge"].broken = False
    sim.run(0.01)
    assert float(sim["wheel"].angular_velocity[2]) != pytest.approx(spin, rel=1e-3)


def test_a_torsion_spring_stops_with_its_joint_and_keeps_no_energy() -> None:
    """Before the break the wheel swings with cos ωt, after it turns on as fast as it was."""
    inertia, stiffness, start = 0.02, 0.8, 0.5
    scene = wheel(inertia)
    scene.add_force(rb.TorsionSpring("hinge", stiffness=stiffness, angle=start), name="spring")
    sim = rb.Simulation(scene, time_step=0.0005)
    sim.run(0.1)
    omega = math.sqrt(stiffness / inertia)
    speed = start * omega * math.sin(omega * sim.time)
    assert float(sim["wheel"].angular_velocity[2]) == pytest.approx(speed, rel=1e-4)
    sim["hinge"].broken = True
    sim.run(0.3)
    assert float(sim["wheel"].angular_velocity[2]) == pytest.approx(speed, rel=1e-4)
    assert sim.energy().potential == 0.0
    assert sim.energy().total == pytest.approx(0.5 * inertia * speed**2, rel=2e-4)


def test_only_the_world_whose_joint_is_broken_loses_its_spring() -> None:
    scene = wheel()
    scene.add_force(rb.TorsionSpring("hinge", stiffness=0.8, angle=0.5), name="spring")
    sim = rb.Simulation(scene, time_step=0.001, worlds=2)
    sim["hinge"].broken = [True, False]
    sim.run(0.1)
    spins = np.asarray(sim["wheel"].angular_velocity)[:, 2]
    assert spins[0] == 0.0
    assert spins[1] > 1.0


@pytest.mark.contacts
def test_bodies_of_a_broken_joint_fall_asleep_each_on_its_own() -> None:
    """One of two jointed boxes rests, the other is kept busy: the first may sleep only if the joint is broken."""
    asleep = []
    for broken in (False, True):
        scene = rb.Scene()
        scene.add_static(rb.Plane())
        for name, x in (("left", -0.6), ("right", 0.6)):
            scene.add_body(rb.Box(0.4, 0.4, 0.4), mass=1.0, position=(x, 0, 0.2), name=name)
        scene.add_joint(rb.Ball("left", "right", at=(0, 0, 0.2)), name="hook")
        sim = rb.Simulation(scene, time_step=0.01, sleep=True)
        sim["hook"].broken = broken
        for _ in range(150):
            sim.step()
            sim["right"].apply_impulse((0, 0, 0.3))
        asleep.append(bool(sim["left"].asleep))
    assert asleep == [False, True]


@pytest.mark.contacts
def test_bodies_of_a_broken_joint_pass_through_each_other_unless_they_are_allowed_to_meet() -> None:
    heights = []
    for allowed in (False, True):
        scene = rb.Scene()
        scene.add_static(rb.Box(0.4, 0.4, 0.4), position=(0, 0, 0), name="post")
        scene.add_body(rb.Box(0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.41), name="box")
        scene.add_joint(rb.Fixed("post", "box", at=(0, 0, 0.205)), name="glue")
        if allowed:
            scene.allow("post", "box")
        sim = rb.Simulation(scene, time_step=0.005)
        sim.run(0.2)
        sim["glue"].broken = True
        sim.run(0.3)
        heights.append(float(sim["box"].position[2]))
    assert heights[0] == pytest.approx(0.41 - 0.5 * 9.81 * 0.3**2, abs=1e-6)
    assert heights[1] == pytest.approx(0.4, abs=1e-4)
