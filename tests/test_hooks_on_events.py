"""Functions that are called when bodies touch and joints break: which, when, and what they are told."""

import math
from typing import Any

import numpy as np
import pytest

import rattleback as rb

GRAVITY = 9.81


def falling(**settings: Any) -> rb.Simulation:
    """A ball that falls from 1 m towards the ground, and two pebbles out of its way, from 0.5 m."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 1.1), name="ball")
    for k in (1, 2):
        scene.add_body(rb.Sphere(0.1), position=(2 * k, 0, 0.6), name=f"pebble_{k}", group="pebbles")
    usual = {"contacts": "detect", "contact_distance": 0.01, "time_step": 0.01}
    return rb.Simulation(scene, **{**usual, **settings})


def steps_to_fall(height: float, step: float = 0.01) -> int:
    """Steps after which something that falls is within a centimetre of the ground."""
    return math.ceil(math.sqrt(2 * (height - 0.01) / GRAVITY) / step)


@pytest.mark.parametrize("names", [("ball", "ground"), ("ground", "ball"), ("ball",), ("ball", None), (None, "ball")])
def test_a_contact_is_told_of_when_it_begins_in_whichever_order_it_is_asked_for(names: Any) -> None:
    sim, seen = falling(), []
    assert sim.on_contact(*names)(seen.append) == seen.append
    sim.run(1.0)
    (event,) = seen
    assert event.kind == "begin"
    assert event.step == steps_to_fall(1.0)
    assert event.time == pytest.approx(0.01 * event.step)
    first, second = ("ground", "ball") if names[0] in ("ground", None) else ("ball", "ground")
    assert (event.a, event.b, event.world) == (first, second, 0)
    up = 1.0 if first == "ball" else -1.0
    np.testing.assert_allclose(event.normal, [[0, 0, up]], atol=1e-12)
    height = 1.0 - 0.5 * GRAVITY * event.time**2
    np.testing.assert_allclose(event.separation, [height], atol=1e-12)
    np.testing.assert_allclose(event.point, [[0, 0, 0.5 * height]], atol=1e-12)


def test_bodies_and_groups_stand_for_themselves_and_nothing_for_everything() -> None:
    sim = falling()
    seen: dict[str, list[str]] = {"object": [], "group": [], "all": [], "other": []}

    def noting(name: str) -> Any:
        return lambda event: seen[name].append(event.a if event.b == "ground" else event.b)

    sim.on_contact(sim.scene.bodies[1])(noting("object"))
    sim.on_contact("ground", "pebbles")(noting("group"))
    sim.on_contact(noting("all"))
    sim.on_contact("ball", "pebbles")(noting("other"))
    sim.run(1.0)
    assert seen == {
        "object": ["ball"],
        "group": ["pebble_1", "pebble_2"],
        "all": ["pebble_1", "pebble_2", "ball"],
        "other": [],
    }


def test_a_function_that_is_forgotten_while_it_is_told_of_contacts_is_told_of_no_more() -> None:
    sim, seen = falling(), []

    @sim.on_contact("pebbles", "ground")
    def once(event: rb.ContactEvent) -> None:
        seen.append(event.a)
        sim.forget(once)

    sim.run(0.6)
    assert seen == ["pebble_1"]


def test_contacts_persist_and_end() -> None:
    sim = falling(contact_distance=0.01)
    persisting, ended = [], []
    sim.on_contact("ball", "ground", when="persist")(persisting.append)

    @sim.on_contact("ball", "ground", when="end")
    def note(event: rb.ContactEvent) -> None:
        ended.append(event)

    first = steps_to_fall(1.0)
    sim.step(first + 3)
    assert [event.step for event in persisting] == [first + 1, first + 2, first + 3]
    sim["ball"].position, sim["ball"].velocity = (0, 0, 0.1), (0, 0, 1.0)
    sim.step(4)
    (event,) = ended
    # Thrown up at 1 m/s, it is 1 cm above the ground after 10.5 ms.
    assert (event.kind, event.a, event.b, event.step) == ("end", "ball", "ground", first + 3 + 2)
    assert (event.point.shape, event.normal.shape, event.separation.shape) == ((0, 3), (0, 3), (0,))


def test_contacts_end_where_they_are_looked_for_no_more() -> None:
    sim, ended = falling(), []
    sim.on_contact(when="end")(ended.append)
    sim.run(0.6)
    sim.use(contacts="none")
    sim.step()
    assert sorted(event.a for event in ended) == ["ground"] * 3


def test_a_contact_is_told_of_in_the_world_it_is_in() -> None:
    sim, seen = falling(worlds=3), []
    sim["ball"].position[1, 2] = 0.4
    sim.on_contact("ball", "ground")(seen.append)
    sim.run(0.6)
    assert [(event.world, event.step) for event in seen] == [
        (1, steps_to_fall(0.3)),
        (0, steps_to_fall(1.0)),
        (2, steps_to_fall(1.0)),
    ]


@pytest.mark.contacts
@pytest.mark.parametrize("substeps", [1, 3])
def test_a_function_that_throws_the_ball_back_makes_it_bounce(substeps: int) -> None:
    sim, seen = falling(contacts="impulse", contact_distance=None, substeps=substeps), []

    @sim.on_contact("ball", "ground")
    def throw(event: rb.ContactEvent) -> None:
        seen.append(event.time)
        sim["ball"].velocity = (0, 0, 3.0)

    sim.run(0.8)
    flight = sim.time - seen[-1]
    start = sim["ball"].position[2] - 3.0 * flight + 0.5 * GRAVITY * flight**2
    assert len(seen) == 1
    assert seen[0] == pytest.approx(math.sqrt(2 * 1.0 / GRAVITY), abs=0.011)
    assert start == pytest.approx(1.1 - 0.5 * GRAVITY * seen[0] ** 2, abs=1e-9)


@pytest.mark.contacts
def test_with_a_contact_time_contacts_are_told_of_when_they_touch_and_times_when_all_worlds_are_there() -> None:
    sim, touched, called = falling(contacts="impulse", contact_time="interpolate", worlds=2), [], []
    sim["ball"].position[1, 2] = 0.5
    sim.on_contact("ball", "ground")(touched.append)
    sim.at(0.35)(lambda sim: called.append(sim.state.clock.time.numpy().copy()))
    sim.run(0.6)
    assert [event.world for event in touched] == [1, 0]
    for event, height in zip(touched, (0.4, 1.0), strict=True):
        assert event.time == pytest.approx(math.sqrt(2 * height / GRAVITY), abs=0.011)
    (times,) = called
    assert 0.35 - 1e-12 <= times.min() < 0.36


@pytest.mark.parametrize(
    ("register", "kind", "message"),
    [
        (lambda sim: sim.on_contact("bell"), rb.UnknownName, "on_contact got 'bell', .* Did you mean 'ball'\\? There"),
        (lambda sim: sim.on_contact("ball", 3), rb.UnknownName, "on_contact got 3, which is not a body or group of"),
        (
            lambda sim: sim.on_contact("ball", when="often"),
            rb.InputError,
            "The when of on_contact is 'often'; it may",
        ),
        (lambda sim: sim.on_contact("ball")(3), rb.InputError, "3 cannot be called on contact: it must be a function"),
        (lambda sim: sim.on_break("hook"), rb.UnknownName, "on_break got the joint 'hook', which is not in the scene"),
        (lambda sim: sim.on_break(rb.Ball("world", "ball", at=(0, 0, 0)))(print), rb.UnknownName, "the joint a Ball,"),
        (lambda sim: sim.on_break()(3), rb.InputError, "3 cannot be called on a break: it must be a function of one"),
    ],
)
def test_what_cannot_be_registered_is_refused(register: Any, kind: type[Exception], message: str) -> None:
    sim = falling()
    with pytest.raises(kind, match=message):
        register(sim)
    assert len(sim.observers) == 0


def test_a_simulation_without_contacts_says_so() -> None:
    sim = falling(contacts="none")
    with pytest.raises(rb.InputError, match="This simulation finds no contacts to tell of; make it with contacts="):
        sim.on_contact("ball", "ground")


def hanging(*strengths: float | None) -> rb.Simulation:
    """Weights of 1 kg on joints beside each other."""
    scene = rb.Scene()
    for k, strength in enumerate(strengths):
        scene.add_body(rb.Sphere(0.1), mass=1.0, position=(k, 0, -1), name=f"weight_{k}")
        scene.add_joint(rb.Ball("world", f"weight_{k}", at=(k, 0, 0), breaking_force=strength), name=f"hook_{k}")
    return rb.Simulation(scene, time_step=0.01)


def test_breaks_are_told_of_by_joint_or_all_of_them() -> None:
    sim = hanging(9.0, 12.0, 9.5)
    some, every = [], []
    joint = sim.scene.joints["hook_1"]
    assert sim.on_break("hook_0", joint)(some.append) == some.append
    assert sim.on_break(every.append) == every.append

    @sim.on_break("hook_0")
    def pull(event: rb.BreakEvent) -> None:
        sim["weight_1"].applied_force = (0, 0, -5.0)

    sim.step(5)
    assert [(event.joint, event.step) for event in some] == [("hook_0", 1), ("hook_1", 2)]
    assert [(event.joint, event.step) for event in every] == [("hook_0", 1), ("hook_2", 1), ("hook_1", 2)]
    assert some[1].force == pytest.approx(14.81, rel=1e-6)


def test_a_function_may_break_other_joints() -> None:
    sim, seen = hanging(9.0, None), []

    @sim.on_break("hook_0")
    def cut(event: rb.BreakEvent) -> None:
        sim["hook_1"].broken = True

    sim.on_break("hook_1")(seen.append)
    sim.step(3)
    assert [event.joint for event in seen] == ["hook_1"]
    assert sim["weight_1"].velocity[2] == pytest.approx(-GRAVITY * 0.02)


def test_a_scene_that_is_rebuilt_between_steps_keeps_its_functions_and_its_contacts() -> None:
    sim, begun, ended = falling(), [], []
    sim.on_contact("ground")(begun.append)
    sim.on_contact("ground", when="end")(ended.append)

    @sim.at(0.4)
    def change(sim: rb.Simulation) -> None:
        scene = sim.scene.copy()
        scene.remove_body("pebble_1")
        scene.add_body(rb.Sphere(0.1), position=(-2, 0, 0.105), name="stone")
        sim.rebuild(scene)

    sim.run(0.6)
    assert [event.b for event in begun] == ["pebble_1", "pebble_2", "stone", "ball"]
    assert [event.step for event in begun[2:]] == [41, steps_to_fall(1.0)]
    assert [(event.b, event.step) for event in ended] == [("pebble_1", 41)]
