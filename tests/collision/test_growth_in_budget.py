"""Buffers that are too small, also in a step with a budget: the step is done again, and no bit is lost."""

import numpy as np

import rattleback as rb
from rattleback.collision import finder


def hanging_crowd():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    rng = np.random.default_rng(0)
    for k in range(12):
        place = (0.9 * (k % 4), 0.9 * (k // 4), 0.45)
        scene.add_body(rb.Box(1, 1, 1), position=place, velocity=rng.normal(size=3), name=f"cube {k}")
    arm = scene.add_body(rb.Box(1, 0.1, 0.1), position=(0.5, 0, 4), angular_velocity=(0, 3, 1), name="arm")
    scene.add_joint(rb.Ball(scene.world, arm, at=(0, 0, 4)))
    return scene


def taken(steps=4):
    sim = rb.Simulation(hanging_crowd(), contacts="detect", time_step=5e-3)
    for _ in range(steps):
        sim.step(budget_ms=500.0)
    return sim


def test_a_step_with_a_budget_that_needs_more_room_is_done_again(monkeypatch):
    ample = taken()
    monkeypatch.setattr(finder, "room_before", lambda colliders: 16 - colliders)
    tight = taken()
    assert tight._step.contacts.version > ample._step.contacts.version
    assert tight.hash() == ample.hash()
    np.testing.assert_array_equal(tight.contacts.point, ample.contacts.point)
    assert (tight.time, tight.state.steps) == (ample.time, 4)


def test_a_buffer_that_is_nearly_full_grows_with_one_that_is_too_small():
    """Else the step would be recorded anew soon after."""
    sim = rb.Simulation(hanging_crowd(), contacts="detect", time_step=5e-3)
    sim.step()
    inside = sim._step.contacts.finder
    pairs = int(inside.pairs.needed.numpy()[0])
    assert pairs > 16
    inside.room.update(contacts=1, pairs=pairs + 1)
    inside._allocate()
    sim.step()
    assert inside.room["contacts"] >= len(sim.contacts) > 16
    assert inside.room["pairs"] > 1.5 * pairs
