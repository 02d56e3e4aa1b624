"""What is written to a servo on the way: another controller from the next step on, as if it had been made so."""

import math
from pathlib import Path
from typing import Any

import pytest

import rattleback as rb

INERTIA = 0.5 * 3.0 * 0.2**2


def hinged(**servo: Any) -> rb.Scene:
    """A disk on a hinge."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, name="disk")
    scene.add_joint(rb.Revolute("world", "disk"), "hinge")
    scene.add_force(rb.Servo("hinge", **servo), "motor")
    return scene


def arm(**servo: Any) -> rb.Scene:
    """An arm on a hinge across gravity."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), "hinge")
    scene.add_force(rb.Servo("hinge", **servo), "motor")
    return scene


def test_a_gain_that_is_written_makes_the_servo_swing_faster(device: str) -> None:
    """A proportional controller on a disk is a spring: a quarter of its period is π/2 √(J/K)."""
    sim = rb.Simulation(hinged(target=1.0, gain=0.5), time_step=5e-4, device=device)
    sim.servo("motor").gain = 24.0
    assert sim.servo("motor").gain == 24.0
    sim.run(0.5 * math.pi * math.sqrt(INERTIA / 24.0))
    assert sim["hinge"].angle == pytest.approx(1.0, abs=1e-2)
    assert sim["hinge"].velocity == pytest.approx(math.sqrt(24.0 / INERTIA), rel=1e-2)


def test_a_controller_that_is_written_is_the_one_of_a_servo_made_so(tmp_path: Path) -> None:
    """Also in the midst of a run, in every world, and in a file."""
    law = {"gain": 3.0, "rate_time": 0.2, "reset_time": 0.7, "limit": 1.5}
    made = rb.Simulation(arm(target=0.4, **law), worlds=2, time_step=0.005)
    written = rb.Simulation(arm(target=0.4, gain=1.0, reset_time=9.0), worlds=2, time_step=0.005)
    for name, value in law.items():
        setattr(written.servo("motor"), name, value)
        assert getattr(written.servo("motor"), name) == value
    made.step(30)
    written.step(30)
    assert written.hash() == made.hash()
    for sim in (made, written):
        sim.servo("motor").limit = 0.5
        sim.step(10)
    assert abs(written.servo("motor").effort).max() <= 0.5
    assert written.hash() == made.hash()
    written.save(tmp_path / "tuned.rb.state")
    again = rb.load(tmp_path / "tuned.rb.state")
    again.step(10)
    written.step(10)
    assert again.servo("motor").gain == 3.0
    assert again.hash() == written.hash()


@pytest.mark.parametrize("value", [0.0, -1.0, "high", None, math.nan])
def test_a_gain_that_cannot_be_is_refused_and_nothing_changes(value: object) -> None:
    sim = rb.Simulation(hinged(gain=2.0))
    with pytest.raises(rb.InputError, match="Servo 'motor': The gain of Servo"):
        sim.servo("motor").gain = value
    assert sim.servo("motor").gain == 2.0


def test_what_is_said_in_the_scene_only_says_so() -> None:
    sim = rb.Simulation(hinged(gain=2.0, window=0.5))
    with pytest.raises(rb.InputError, match="switches its integral over a window on or off; that is said in the scene"):
        sim.servo("motor").reset_time = 0.5
    with pytest.raises(
        rb.InputError, match="Servo 'motor' has no 'window'.*scene.change_force\\('motor', window=...\\)"
    ):
        sim.servo("motor").window = 0.5
    with pytest.raises(rb.InputError, match="Servo 'motor' has no 'gian'; nothing was changed. Did you mean 'gain'?"):
        sim.servo("motor").gian = 5.0
    with pytest.raises(
        rb.InputError, match="The effort of servo 'motor' cannot be written. It is that of the controll"
    ):
        sim.servo("motor").effort = 5.0
    with pytest.raises(rb.UnknownName, match=r"'motor' is a servo; it is found as sim.servo\('motor'\)"):
        _ = sim["motor"]
