"""What scripts see of joints that break: events, flags, limits; and every message about them."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb


def hooks(*strengths: float | None) -> rb.Scene:
    """Weights of 1 kg on hooks beside each other."""
    scene = rb.Scene()
    for k, strength in enumerate(strengths):
        scene.add_body(rb.Sphere(0.1), mass=1.0, position=(k, 0, -1), name=f"weight_{k}")
        scene.add_joint(rb.Ball("world", f"weight_{k}", at=(k, 0, 0), breaking_force=strength), name=f"hook_{k}")
    return scene


def test_an_event_says_which_joint_broke_when_and_by_what() -> None:
    sim, seen = rb.Simulation(hooks(9.0, 12.0, None), time_step=0.01), []
    sim.observe(rb.BreakEvents(seen.append))
    sim.step(5)
    sim["weight_1"].applied_force = (0, 0, -5.0)
    sim.step(5)
    first, second = seen
    assert (first.joint, first.a, first.b, first.world, first.step) == ("hook_0", "world", "weight_0", 0, 1)
    assert (second.joint, second.step) == ("hook_1", 6)
    assert math.isclose(first.time, 0.01)
    assert math.isclose(second.time, 0.06)
    assert first.force == pytest.approx(9.81, rel=1e-6)
    assert second.force == pytest.approx(14.81, rel=1e-6)
    assert first.torque == pytest.approx(0.0, abs=1e-9)


def test_events_wait_to_be_taken_and_lose_nothing_by_looking_seldom() -> None:
    sim, events = rb.Simulation(hooks(9.0, 9.5), time_step=0.01), rb.BreakEvents(every=20)
    sim.observe(events)
    sim.step(10)
    assert events.take() == []
    sim.step(10)
    found = events.take()
    assert [event.joint for event in found] == ["hook_0", "hook_1"]
    assert [event.time for event in found] == [0.01, 0.01]
    assert [event.step for event in found] == [20, 20]
    assert events.take() == []
    sim.step(20)
    assert events.take() == []


def test_events_of_one_look_come_in_the_order_of_their_times() -> None:
    sim, events = rb.Simulation(hooks(30.0, 20.0), time_step=0.01, worlds=2), rb.BreakEvents(every=4)
    sim.observe(events)
    pull = np.zeros((2, 3))
    pull[1, 2] = -15.0
    sim["weight_1"].applied_force = pull
    sim.step()
    sim["weight_0"].applied_force = (0, 0, -25.0)
    sim.step(3)
    assert [(event.joint, event.world) for event in events.take()] == [("hook_1", 1), ("hook_0", 0), ("hook_0", 1)]


def test_only_the_joints_asked_for_are_told_of() -> None:
    scene = hooks(9.0, 9.0)
    events = [rb.BreakEvents(joints=["hook_1"]), rb.BreakEvents(joints=[scene.joints["hook_0"]])]
    sim = rb.Simulation(scene)
    for each in events:
        sim.observe(each)
    sim.step()
    assert [[event.joint for event in each.take()] for each in events] == [["hook_1"], ["hook_0"]]


def test_a_joint_that_is_mended_and_breaks_again_is_told_of_again() -> None:
    sim, events = rb.Simulation(hooks(9.0), time_step=0.01), rb.BreakEvents()
    sim.observe(events)
    sim.step(2)
    sim["hook_0"].broken = False
    sim["hook_0"].breaking_force = 20.0
    sim.step(2)
    assert len(events.take()) == 1
    sim["weight_0"].applied_force = (0, 0, -50.0)
    sim.step(2)
    (event,) = events.take()
    assert event.step == 5
    assert event.force > 20.0


def test_a_joint_that_a_script_breaks_is_told_of_without_a_force() -> None:
    sim, events = rb.Simulation(hooks(None), time_step=0.01), rb.BreakEvents()
    sim.observe(events)
    sim.step(3)
    sim["hook_0"].broken = True
    sim.step()
    (event,) = events.take()
    assert (event.joint, event.force, event.torque, event.step) == ("hook_0", 0.0, 0.0, 4)
    assert math.isclose(event.time, 0.03)


def test_a_scene_without_joints_tells_nothing() -> None:
    scene, events = rb.Scene(), rb.BreakEvents()
    scene.add_body(rb.Sphere(0.1))
    sim = rb.Simulation(scene)
    sim.observe(events)
    sim.step()
    assert events.take() == []


def test_contact_events_and_break_events_work_side_by_side_in_a_script() -> None:
    """A weight tears off its hook, falls 0.9 m and lands; the script then mends nothing and the weight stays down."""
    scene, story = hooks(9.0), []
    scene.add_static(rb.Plane(), position=(0, 0, -2), name="floor")
    sim = rb.Simulation(scene, time_step=0.01, contacts="detect")
    sim.observe(rb.BreakEvents(lambda event: story.append((event.joint, event.time))))
    sim.observe(rb.ContactEvents(begin=lambda event: story.append((event.a, event.time))))
    sim.run(0.6)
    (broke, first), (landed, then) = story[:2]
    assert (broke, landed) == ("hook_0", "weight_0")
    assert then - first == pytest.approx(math.sqrt(2.0 * 0.9 / 9.81), abs=0.011)


def test_a_script_may_break_other_joints_when_it_is_told_of_one() -> None:
    """The second hook goes with the first; its weight falls from the next step on."""
    sim = rb.Simulation(hooks(9.0, None), time_step=0.01)
    sim.observe(rb.BreakEvents(lambda event: setattr(sim["hook_1"], "broken", True), joints=["hook_0"]))
    sim.step(6)
    assert sim["weight_1"].velocity[2] == pytest.approx(-0.05 * 9.81, rel=1e-6)


def test_contact_events_are_told_where_contacts_are_resolved_too() -> None:
    """A ball falls 0.3 m, a script breaks the hook of another when it lands."""
    scene, landed = hooks(None), []
    scene.add_static(rb.Plane(), position=(0, 0, -2), name="floor")
    scene.add_body(rb.Sphere(0.1), position=(3, 0, -1.6), name="ball")
    sim = rb.Simulation(scene, time_step=0.002, contacts="impulse")

    def land(event: rb.ContactEvent) -> None:
        landed.append((event.time, {event.a, event.b}))
        sim["hook_0"].broken = True

    sim.observe(rb.ContactEvents(begin=land, bodies=["ball"]))
    sim.run(0.5)
    (when, who), *_ = landed
    assert who == {"ball", "floor"}
    assert when == pytest.approx(math.sqrt(2.0 * 0.3 / 9.81), abs=0.005)
    assert sim["weight_0"].velocity[2] == pytest.approx(-9.81 * (sim.time - when), rel=1e-6)


def test_flags_and_limits_read_and_write_for_every_world_or_for_all() -> None:
    sim = rb.Simulation(hooks(50.0, None), worlds=3)
    hook = sim["hook_0"]
    np.testing.assert_array_equal(hook.broken, [False, False, False])
    hook.broken = [False, True, False]
    np.testing.assert_array_equal(hook.broken, [False, True, False])
    np.testing.assert_array_equal(sim["hook_1"].broken, False)
    hook.broken = False
    np.testing.assert_array_equal(hook.broken, False)
    np.testing.assert_allclose(hook.breaking_force, 50.0)
    np.testing.assert_array_equal(hook.breaking_torque, np.inf)
    hook.breaking_torque = np.array([1.0, np.inf, 3.0])
    np.testing.assert_array_equal(hook.breaking_torque, [1.0, np.inf, 3.0])
    sim["hook_1"].breaking_force = 7.0
    sim.step()
    np.testing.assert_array_equal(sim["hook_1"].broken, True)
    np.testing.assert_array_equal(hook.broken, False)


def test_a_single_world_reads_plain_values() -> None:
    sim = rb.Simulation(hooks(50.0))
    assert sim["hook_0"].broken is False
    assert sim["hook_0"].breaking_force == 50.0
    assert sim["hook_0"].breaking_torque == math.inf
    sim["hook_0"].breaking_force = None
    assert sim["hook_0"].breaking_force == math.inf


def test_writing_what_is_already_so_changes_no_bit() -> None:
    sim = rb.Simulation(hooks(9.0, 50.0))
    sim.step(3)
    before = sim.hash()
    sim["hook_0"].broken, sim["hook_1"].broken = True, False
    assert sim.hash() == before


def test_mending_leaves_no_trace_of_the_break() -> None:
    sim, other = (rb.Simulation(hooks(50.0)) for _ in range(2))
    sim["hook_0"].broken = True
    assert sim.hash() != other.hash()
    sim["hook_0"].broken = False
    assert sim.hash() == other.hash()


def test_a_reaction_is_that_of_the_last_step_however_long_that_was() -> None:
    """The last step of a run may be shorter than the others."""
    sim = rb.Simulation(hooks(None), time_step=0.01)
    np.testing.assert_array_equal(sim["hook_0"].reaction_force, 0.0)
    sim.run(0.0135)
    np.testing.assert_allclose(sim["hook_0"].reaction_force, (0, 0, 9.81), atol=1e-5)


def test_files_keep_limits_and_breaks(tmp_path: Path) -> None:
    sim = rb.Simulation(hooks(9.0, 12.0, None), time_step=0.01, worlds=2)
    sim["hook_1"].breaking_force = [14.0, 12.0]
    sim.step(3)
    sim.save(tmp_path / "broken.rb")
    other = rb.load(tmp_path / "broken.rb")
    assert other.hash() == sim.hash()
    for each in (sim, other):
        each["weight_1"].applied_force = (0, 0, -3.0)
        each.step(5)
        np.testing.assert_array_equal(each["hook_0"].broken, True)
        np.testing.assert_array_equal(each["hook_1"].broken, [False, True])
    assert other.hash() == sim.hash()


def test_a_state_file_from_before_joints_could_break_has_none_that_is(tmp_path: Path) -> None:
    from rattleback.core import whole_file
    from rattleback.io.faults import Faults
    from rattleback.io.state_archive import pack, unpack
    from rattleback.io.state_file import ARRAYS

    path = tmp_path / "old.rb"
    sim = rb.Simulation(hooks(None, 50.0))
    sim.step(3)
    sim.save(path)
    header, arrays = unpack(whole_file.read(path, "state file"), ARRAYS, Faults("state file", "old.rb", {}))
    arrays = {name: array for name, array in arrays.items() if not name.startswith("breaks.")}
    path.write_bytes(pack(header, arrays))
    assert rb.load(path).hash() == sim.hash()


def test_scene_files_keep_the_strength_of_joints(tmp_path: Path) -> None:
    scene = hooks(9.0, None)
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, name="beam")
    scene.add_joint(rb.Fixed("world", "beam", breaking_torque=4.5), name="weld")
    scene.save(tmp_path / "scene.json")
    loaded = rb.Scene.load(tmp_path / "scene.json")
    assert loaded.joints == scene.joints
    text = (tmp_path / "scene.json").read_text()
    assert text.count("breaking_force") == 1
    assert text.count("breaking_torque") == 1


@pytest.mark.parametrize("option", ["breaking_force", "breaking_torque"])
@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "is 0.0; it must be greater than zero."), (-3, "is -3; it must be greater"), (math.inf, "must be finite."),
     ("strong", "is 'strong'; it must be a number.")],
)  # fmt: skip
def test_a_joint_refuses_strengths_that_are_none(option: str, value: object, said: str) -> None:
    with pytest.raises(rb.InputError, match=f"The {option} of Revolute .*{said}"):
        rb.Revolute("world", "arm", **{option: value})
    sim = rb.Simulation(hooks(50.0))
    if value != math.inf:
        with pytest.raises(rb.InputError, match=f"The {option} written to joint 'hook_0' {said}"):
            setattr(sim["hook_0"], option, value)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda sim: setattr(sim["hook_0"], "broken", 2), "The broken written to joint 'hook_0' is 2; it must be True"),
        (
            lambda sim: setattr(sim["hook_0"], "broken", [True, False]),
            r"The broken written to joint 'hook_0' has shape \(2,\); it must be True or False, or 3 of them.",
        ),
        (
            lambda sim: setattr(sim["hook_0"], "breaking_force", [1.0]),
            r"joint 'hook_0' has shape \(1,\); it must be a number or None, or 3 of them.",
        ),
        (
            lambda sim: setattr(sim["hook_0"], "breaking_force", [1.0, -1.0, None]),
            "The breaking_force written to joint 'hook_0' is -1.0; it must be greater than zero.",
        ),
    ],
)
def test_a_running_joint_refuses_what_fits_no_world(write: object, said: str) -> None:
    sim = rb.Simulation(hooks(50.0), worlds=3)
    before = sim.hash()
    with pytest.raises(rb.InputError, match=said):
        write(sim)
    assert sim.hash() == before


def test_a_single_world_refuses_a_list() -> None:
    sim = rb.Simulation(hooks(50.0))
    with pytest.raises(rb.InputError, match=r"it must be True or False\.$"):
        sim["hook_0"].broken = [True]
    with pytest.raises(rb.InputError, match=r"it must be a number or None\.$"):
        sim["hook_0"].breaking_force = [5.0]


def test_strength_cannot_be_written_where_no_joint_of_the_scene_has_any() -> None:
    sim = rb.Simulation(hooks(None))
    with pytest.raises(rb.InputError, match="no joint of this scene breaks; give one a breaking_force= in the scene"):
        sim["hook_0"].breaking_force = 5.0


def test_events_refuse_what_they_cannot_do() -> None:
    with pytest.raises(rb.InputError, match="The broken of BreakEvents is 3; it must be a function of one event."):
        rb.BreakEvents(3)
    with pytest.raises(rb.InputError, match="The every of BreakEvents is 0"):
        rb.BreakEvents(every=0)
    sim = rb.Simulation(hooks(9.0))
    sim.observe(rb.BreakEvents(joints=["hok_0"]))
    with pytest.raises(rb.UnknownName, match="'hok_0', which is not in the scene. Did you mean 'hook_0'?"):
        sim.step()
    other = rb.Simulation(hooks(9.0))
    other.observe(rb.BreakEvents(joints=[rb.Ball("world", "weight_0")]))
    with pytest.raises(rb.UnknownName, match="the joint a Ball, which is not in the scene"):
        other.step()
