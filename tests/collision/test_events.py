"""Contact events against the closed form of a fall: when a ball passes through a plane's surface and out again."""

import itertools
import math

import numpy as np
import pytest

import rattleback as rb


def thrown_ball(speed=3.0, **options):
    """A ball thrown up from below the top of a thin plate's edge of contact, seen for one flight."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 0.05), velocity=(0, 0, speed), name="ball", **options)
    return scene


def told(scene, steps, **settings):
    sim = rb.Simulation(scene, time_step=0.01, contacts="detect", contact_distance=1e-6, **settings)
    seen = []
    sim.observe(rb.ContactEvents(begin=seen.append, persist=seen.append, end=seen.append))
    sim.step(steps)
    return sim, seen


def test_a_flight_ends_and_begins_contact_when_the_parabola_says_so():
    g, v, h = 9.81, 3.0, 0.01
    _, seen = told(thrown_ball(v), 70)
    height = 0.05 + v * h * np.arange(1, 71) - 0.5 * g * (h * np.arange(1, 71)) ** 2
    touching = height - 0.1 <= 1e-6
    kinds = ["begin" if touching[0] else None]
    for was, now in itertools.pairwise(touching):
        kinds.append({(True, True): "persist", (True, False): "end", (False, True): "begin"}.get((was, now)))
    expected = [(kind, step + 1) for step, kind in enumerate(kinds) if kind]
    assert [(event.kind, event.step) for event in seen] == expected
    assert {"begin", "persist", "end"} == {event.kind for event in seen}


def test_an_event_carries_bodies_time_and_points():
    _, seen = told(thrown_ball(), 1)
    event = seen[0]
    z = 0.05 + 3.0 * 0.01 - 0.5 * 9.81 * 0.01**2
    assert (event.kind, event.a, event.b, event.world, event.step) == ("begin", "floor", "ball", 0, 1)
    assert math.isclose(event.time, 0.01)
    np.testing.assert_allclose(event.separation, [z - 0.1], atol=1e-12)
    np.testing.assert_allclose(event.normal, [[0, 0, -1]], atol=1e-12)
    np.testing.assert_allclose(event.point, [[0, 0, 0.5 * (z - 0.1)]], atol=1e-12)


def test_the_end_of_a_contact_has_no_points():
    _, seen = told(thrown_ball(), 70)
    ends = [event for event in seen if event.kind == "end"]
    assert len(ends) == 1
    assert ends[0].point.shape == (0, 3)


def test_worlds_are_told_apart():
    sim = rb.Simulation(thrown_ball(), time_step=0.01, worlds=3, contacts="detect")
    position = sim["ball"].position.copy()
    position[1, 2] = 5.0
    sim["ball"].position = position
    seen = []
    sim.observe(rb.ContactEvents(begin=seen.append))
    sim.step()
    assert [event.world for event in seen] == [0, 2]


def test_only_the_bodies_asked_for_are_told_of():
    scene = thrown_ball()
    other = scene.add_body(rb.Sphere(0.1), position=(1, 0, 0.05), name="other")
    sim = rb.Simulation(scene, contacts="detect")
    seen = []
    sim.observe(rb.ContactEvents(begin=seen.append, bodies=[other]))
    sim.step()
    assert [(event.a, event.b) for event in seen] == [("floor", "other")]


def test_a_simulation_without_contacts_says_how_to_get_them():
    sim = rb.Simulation(thrown_ball())
    sim.observe(rb.ContactEvents())
    with pytest.raises(rb.InputError, match=r'contacts="detect"'):
        sim.step()


def test_what_is_called_must_be_a_function():
    with pytest.raises(rb.InputError, match="The end of ContactEvents is 3; it must be a function of one event"):
        rb.ContactEvents(end=3)
    with pytest.raises(rb.InputError, match="every of ContactEvents"):
        rb.ContactEvents(every=0)
