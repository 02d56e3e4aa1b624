"""Rates of velocity joints written on the way: they hold from the next step on, in files, methods and batches too."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb

METHODS = ["direct", "iterative"]
STEP = 0.01


def led(**options: Any) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.4, 0.3, 0.2), mass=2.0, name="box")
    scene.add_joint(
        rb.VelocityJoint("world", "box", **{"linear": (0, 0, 0), "angular": (0, 0, 0), **options}), name="grip"
    )
    return scene


@pytest.mark.parametrize("method", METHODS)
def test_a_body_goes_where_the_sum_of_the_written_rates_takes_it(method: str) -> None:
    sim = rb.Simulation(led(), time_step=STEP, joints=method, strict=True)
    way = np.zeros(3)
    for k in range(20):
        rate = np.array([np.sin(k), 0.1 * k, -0.3])
        sim["grip"].linear = rate
        sim.step(5)
        way += 5 * STEP * rate
        np.testing.assert_allclose(sim["box"].velocity, rate, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["box"].position, way, rtol=0, atol=1e-6)
    assert sim["grip"].linear == tuple(rate.tolist())


def test_a_written_spin_turns_the_body_by_rate_times_time() -> None:
    sim = rb.Simulation(led(), time_step=STEP, strict=True)
    sim["grip"].angular = (0, 0, 0.5)
    sim.step(100)
    np.testing.assert_allclose(sim["box"].orientation, (0, 0, np.sin(0.25), np.cos(0.25)), rtol=0, atol=1e-5)
    sim["grip"].angular = (0, 0, 0)
    sim.step()
    np.testing.assert_allclose(sim["box"].angular_velocity, 0.0, atol=1e-6)


def test_writing_is_what_a_scene_with_that_rate_is_bit_for_bit() -> None:
    sim, twin = rb.Simulation(led()), rb.Simulation(led(linear=(0.5, 0, 0)))
    sim["grip"].linear = (0.5, 0, 0)
    for each in (sim, twin):
        each["box"].velocity = (0.5, 0, 0)
        each.step(20)
    assert sim.hash() == twin.hash()


def test_a_written_rate_survives_other_methods_files_and_a_rebuild(tmp_path: Path) -> None:
    sim = rb.Simulation(led(), time_step=STEP)
    sim["grip"].linear = (0.5, 0, 0)
    sim.use(joints="iterative")
    sim.step()
    np.testing.assert_allclose(sim["box"].velocity, (0.5, 0, 0), atol=1e-6)
    sim.save(tmp_path / "led.rb")
    again = rb.load(tmp_path / "led.rb")
    assert again["grip"].linear == (0.5, 0.0, 0.0)
    sim.rebuild(sim.scene.copy())
    for each in (sim, again):
        each.step(100)
        np.testing.assert_allclose(each["box"].position, (0.505, 0, 0), rtol=0, atol=1e-5)
    sim.scene.save(tmp_path / "led.rb.json")
    assert rb.Scene.load(tmp_path / "led.rb.json").joints["grip"].linear == (0.5, 0.0, 0.0)


def test_a_written_rate_holds_in_all_worlds() -> None:
    sim = rb.Simulation(led(), time_step=STEP, worlds=3)
    sim["grip"].linear = (0.5, 0, 0)
    sim.step(10)
    np.testing.assert_allclose(sim["box"].velocity, [(0.5, 0, 0)] * 3, atol=1e-6)


@pytest.mark.contacts
def test_a_written_rate_wakes_a_body_and_keeps_it_awake_until_it_is_zero_again() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0))
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), name="box", material=rb.Material(friction=0))
    scene.add_joint(rb.VelocityJoint("world", "box", linear=(0, 0, None)), name="grip")
    sim = rb.Simulation(scene, time_step=STEP, sleep=True)
    sim.step(200)
    assert sim["box"].asleep
    sim["grip"].linear = (0.2, 0, None)
    sim.step(200)
    assert not sim["box"].asleep
    # Each of the steps may be off by its tolerance, and what drifts apart is not brought back.
    np.testing.assert_allclose(sim["box"].position[0], 0.4, rtol=0, atol=200 * 1e-6)
    sim["grip"].linear = (0, 0, None)
    sim.step(200)
    assert sim["box"].asleep


def test_the_joint_is_found_by_what_add_joint_returned_however_often_its_rates_are_written() -> None:
    scene = led()
    sim = rb.Simulation(scene)
    for k in range(5):
        sim[scene.joints["grip"]].linear = (0.1 * k, 0, 0)
    assert sim[scene.joints["grip"]].linear == (0.4, 0, 0)
    assert scene.joints["grip"].linear == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("linear", (1, 2), "Joint 'grip': The linear velocity of VelocityJoint has 2 entries"),
        ("linear", "fast", "Joint 'grip': The linear velocity of VelocityJoint is 'fast'; it must be three numbers"),
        ("linear", (1, np.nan, 0), "it must be finite"),
        ("linear", (1, None, 0), "The linear written to joint 'grip' has None for y, which is kept at a rate"),
        ("angular", (1, 0, 0), "The angular written to joint 'grip' has a number for x, which is free"),
    ],
)
def test_a_rate_that_does_not_fit_is_refused_and_nothing_changes(name: str, value: Any, message: str) -> None:
    sim = rb.Simulation(led(angular=(None, 0, 0)))
    with pytest.raises(rb.InputError) as caught:
        setattr(sim["grip"], name, value)
    assert message in str(caught.value)
    assert sim["grip"].linear == (0, 0, 0)
    assert sim["grip"].angular == (None, 0, 0)
    sim.step()
    np.testing.assert_array_equal(sim["box"].velocity, 0.0)


def test_only_velocity_joints_have_rates() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    scene.add_joint(rb.Revolute("world", "ball"), name="hinge")
    sim = rb.Simulation(scene)
    with pytest.raises(rb.InputError, match="Joint 'hinge' is a Revolute, which has no rates; only a VelocityJoint"):
        sim["hinge"].angular = (0, 0, 1)
    with pytest.raises(rb.InputError, match="has no rates"):
        _ = sim["hinge"].linear


def test_rates_of_a_scene_before_a_rebuild_cannot_be_written() -> None:
    sim = rb.Simulation(led())
    grip = sim["grip"]
    sim.rebuild(sim.scene.copy())
    with pytest.raises(rb.InputError, match="is of a scene that was rebuilt; look it up again"):
        grip.linear = (1, 0, 0)
    with pytest.raises(rb.InputError, match="is of a scene that was rebuilt; look it up again"):
        grip.broken = True
