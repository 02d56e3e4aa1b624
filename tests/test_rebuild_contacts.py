"""Contacts and sleep where a simulation goes on with another scene: what stays rests on, what is touched wakes."""

import numpy as np
import pytest

import rattleback as rb

STEP = 0.005


def pile(count: int = 4) -> rb.Scene:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for k in range(count):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + 0.2 * k), name=f"box {k}")
    return scene


@pytest.mark.contacts
def test_a_pile_that_sleeps_sleeps_on_and_goes_on_bit_for_bit() -> None:
    sim, twin = (rb.Simulation(pile(), time_step=STEP, sleep=True) for _ in range(2))
    for each in (sim, twin):
        each.step(400)
    assert sim["box 3"].asleep
    sim.rebuild(pile())
    assert sim["box 3"].asleep
    for each in (sim, twin):
        each["box 3"].velocity = (0, 0, 1)
        each.step(40)
    assert sim.hash() == twin.hash()


@pytest.mark.contacts
@pytest.mark.parametrize("sleep", [False, True])
def test_a_pile_stays_as_it_lies_while_bodies_come_and_go_beside_it(sleep: bool) -> None:
    """The forces between boxes that stay are remembered, so that the first step needs no more than any other."""
    sim = rb.Simulation(pile(), time_step=STEP, sleep=sleep)
    sim.step(400)
    before = {name: sim[name].position.copy() for name in ("box 0", "box 1", "box 2", "box 3")}
    edited = sim.scene.copy()
    edited.add_body(rb.Sphere(0.1), mass=1.0, position=(3, 0, 0.1), name="ball")
    sim.rebuild(edited)
    assert sim["box 3"].asleep == sleep
    assert not sim["ball"].asleep
    sim.step(50)
    assert sim.report.converged
    for name, position in before.items():
        np.testing.assert_allclose(sim[name].position, position, rtol=0, atol=1e-6)
    edited = sim.scene.copy()
    edited.remove_body("ball")
    sim.rebuild(edited)
    sim.step(50)
    assert sim.report.converged
    for name, position in before.items():
        np.testing.assert_allclose(sim[name].position, position, rtol=0, atol=1e-6)


@pytest.mark.contacts
@pytest.mark.parametrize("sleep", [False, True])
def test_a_box_that_is_taken_out_from_below_lets_the_others_fall_onto_the_next(sleep: bool) -> None:
    sim = rb.Simulation(pile(), time_step=STEP, sleep=sleep)
    sim.step(400)
    edited = sim.scene.copy()
    edited.remove_body("box 1")
    sim.rebuild(edited)
    sim.step(1)
    assert not sim["box 3"].asleep
    sim.step(300)
    np.testing.assert_allclose([sim[f"box {k}"].position[2] for k in (0, 2, 3)], (0.1, 0.3, 0.5), atol=1e-3)


@pytest.mark.contacts
def test_a_box_that_becomes_larger_lifts_what_lies_on_it_as_overlapping_bodies_are_parted() -> None:
    sim = rb.Simulation(pile(2), time_step=STEP, warn=False)
    sim.step(100)
    edited = sim.scene.copy()
    edited.change_body("box 0", shape=rb.Box(0.2, 0.2, 0.22))
    sim.rebuild(edited)
    sim.step(400)
    np.testing.assert_allclose([sim[f"box {k}"].position[2] for k in (0, 1)], (0.11, 0.32), atol=2e-3)


@pytest.mark.contacts
def test_islands_beside_what_is_changed_sleep_on_and_those_that_are_touched_wake() -> None:
    scene = pile(2)
    for k in range(2):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(2, 0, 0.1 + 0.2 * k), name=f"far {k}")
    sim = rb.Simulation(scene, time_step=STEP, sleep=True)
    sim.step(400)
    assert all(sim[name].asleep for name in ("box 1", "far 0", "far 1"))
    edited = rb.Scene()
    edited.add_body(rb.Sphere(0.1), mass=1.0, position=(-2, 0, 0.1), name="ball")
    for source in scene.bodies:
        if source.static:
            edited.add_static(source.shape, name=source.name)
        else:
            mass = 2.0 if source.name == "box 0" else 1.0
            edited.add_body(source.shape, mass=mass, position=source.position, name=source.name)
    sim.rebuild(edited)
    assert [sim[name].asleep for name in ("box 0", "box 1", "far 0", "far 1")] == [False, False, True, True]
    sim.step(100)
    assert sim["far 1"].asleep
    np.testing.assert_allclose(sim["box 1"].position, (0, 0, 0.3), atol=1e-4)


@pytest.mark.contacts
def test_bodies_that_change_places_in_the_list_lie_as_they_lay_but_wake() -> None:
    sim = rb.Simulation(pile(), time_step=STEP, sleep=True)
    sim.step(400)
    edited = rb.Scene()
    for source in reversed(sim.scene.bodies[1:]):
        edited.add_body(source.shape, mass=1.0, position=source.position, name=source.name)
    edited.add_static(rb.Plane(), name="floor")
    sim.rebuild(edited)
    assert not any(sim[f"box {k}"].asleep for k in range(4))
    sim.step(100)
    np.testing.assert_allclose([sim[f"box {k}"].position[2] for k in range(4)], (0.1, 0.3, 0.5, 0.7), atol=1e-4)
