"""Going on with another scene: what both have goes on bit for bit, what is new starts, what fails changes nothing."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import scenes

STEP = 0.005


def arm_scene() -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.2, 0.1), mass=3.0, position=(0.5, 0, 0), name="arm")
    scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(1.25, 0, 0), name="hand")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), name="shoulder")
    scene.add_joint(rb.Revolute("arm", "hand", at=(1, 0, 0), axis=(0, 1, 0)), name="wrist")
    return scene


@pytest.mark.contacts
@pytest.mark.parametrize("name", ["pendulum", "slider_crank", "tree", "ragdoll_on_stairs", "breaking_bridge"])
@pytest.mark.parametrize("settings", [{}, {"sleep": True, "substeps": 2}, {"worlds": 2}], ids=["plain", "sleep", "two"])
def test_with_the_same_scene_it_goes_on_bit_for_bit(name: str, settings: dict[str, Any]) -> None:
    entry = scenes.MENU[name]
    sim, twin = (rb.Simulation(entry.build(), time_step=entry.time_step, warn=False, **settings) for _ in range(2))
    for each in (sim, twin):
        each.step(7)
    sim.rebuild(sim.scene.copy())
    assert sim.hash() == twin.hash()
    for each in (sim, twin):
        each.step(5)
    assert sim.hash() == twin.hash()
    sim.rebuild(entry.build())
    sim.step(5)
    twin.step(5)
    assert sim.hash() == twin.hash()


def test_a_mass_that_is_changed_acts_from_the_next_step_on() -> None:
    """A body of 1 kg is pushed by 2 N for a second, then, at 4 kg, for another."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, name="ball")
    sim = rb.Simulation(scene)
    sim["ball"].applied_force = (2, 0, 0)
    sim.run(1.0)
    edited = sim.scene.copy()
    edited.change_body("ball", mass=4.0)
    sim.rebuild(edited)
    assert sim.time == pytest.approx(1.0)
    sim.run(1.0)
    np.testing.assert_allclose(sim["ball"].velocity, (2.0 + 0.5, 0, 0), rtol=1e-12)
    np.testing.assert_allclose(sim["ball"].position, (1.0 + 2.0 + 0.25, 0, 0), rtol=1e-12)
    assert sim["ball"].mass == 4.0


def test_a_spring_that_is_made_stiffer_swings_faster_from_then_on() -> None:
    """Undamped swing about its rest length: the energy at the change is that of the new spring at the same place."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(1, 0, 0), name="ball")
    spring = rb.Spring("world", "ball", at=(0, 0, 0), at_b=(1, 0, 0), stiffness=4.0, length=0.5)
    scene.add_force(spring, name="spring")
    sim = rb.Simulation(scene, time_step=1e-3)
    sim.run(0.3)
    x, v = sim["ball"].position[0] - 0.5, sim["ball"].velocity[0]
    np.testing.assert_allclose((x, v), (0.5 * np.cos(0.6), -np.sin(0.6)), rtol=0, atol=1e-5)
    edited = sim.scene.copy()
    edited.change_force("spring", stiffness=25.0)
    sim.rebuild(edited)
    sim.run(0.4)
    expected = x * np.cos(2.0) + v / 5.0 * np.sin(2.0)
    np.testing.assert_allclose(sim["ball"].position[0] - 0.5, expected, rtol=0, atol=1e-5)


def test_joints_are_added_and_removed_on_the_way() -> None:
    """Let go, a pendulum flies on as a throw; held again by a rod where it is then, it stays at that distance."""
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(1, 0, 0), name="bob")
    scene.add_joint(rb.Ball("world", "bob", at=(0, 0, 0)), name="string")
    sim = rb.Simulation(scene, time_step=1e-3)
    sim.run(0.4)
    x, v = sim["bob"].position.copy(), sim["bob"].velocity.copy()
    free = sim.scene.copy()
    free.remove_joint("string")
    sim.rebuild(free)
    sim.run(0.3)
    np.testing.assert_allclose(sim["bob"].position, x + 0.3 * v + 0.5 * 0.09 * np.array([0, 0, -9.81]), atol=1e-9)
    length, turn = float(np.linalg.norm(sim["bob"].position)), (0.0, 0.0, 0.0, 1.0)
    held = sim.scene.copy()
    rod = rb.Distance("world", "bob", frame_a=((0, 0, 0), turn), frame_b=((0, 0, 0), turn), length=length)
    held.add_joint(rod, name="rod")
    sim.rebuild(held)
    sim.run(0.2)
    assert abs(np.linalg.norm(sim["bob"].position) - length) <= 1e-6
    assert sim.report.converged


def test_angles_breaks_targets_and_loads_go_on_by_name_whatever_the_order() -> None:
    scene = arm_scene()
    scene.add_force(rb.Servo("shoulder", gain=20.0, reset_time=0.5, window=0.3), name="motor")
    sim = rb.Simulation(scene, time_step=STEP)
    sim.servo("motor").target = 0.7
    sim["hand"].applied_torque = (0, 0.1, 0)
    sim["wrist"].broken = True
    sim.step(60)
    before = {name: sim[name].angle for name in ("shoulder", "wrist")}
    integral, effort = sim.servo("motor").integral, sim.servo("motor").effort
    other = rb.Scene()
    other.add_body(rb.Sphere(0.1), position=(0, 5, 0), velocity=(1, 0, 0), name="new")
    other.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(1.25, 0, 0), name="hand")
    other.add_body(rb.Box(1.0, 0.2, 0.1), mass=3.0, position=(0.5, 0, 0), name="arm")
    other.add_joint(rb.Ball("world", "new", at=(0, 5, 1)), name="hook")
    other.add_joint(scene.joints["wrist"], name="wrist")
    other.add_joint(scene.joints["shoulder"], name="shoulder")
    other.add_force(rb.Servo("wrist", gain=1.0, window=1.0, reset_time=1.0), name="another")
    other.add_force(scene.forces["motor"], name="motor")
    motion = {name: sim[name].position.copy() for name in ("arm", "hand")}
    sim.rebuild(other)
    assert {name: sim[name].angle for name in ("shoulder", "wrist")} == before
    assert sim["wrist"].broken
    assert not sim["hook"].broken
    assert (sim.servo("motor").integral, sim.servo("motor").effort) == (integral, effort)
    assert sim.servo("motor").target == pytest.approx(0.7)
    np.testing.assert_array_equal(sim["hand"].applied_torque, (0, 0.1, 0))
    for name, position in motion.items():
        np.testing.assert_array_equal(sim[name].position, position)
    np.testing.assert_array_equal(sim["new"].velocity, (1, 0, 0))
    sim.step(20)
    assert sim.report.converged


def test_the_memory_of_a_servo_goes_on_as_if_nothing_had_happened() -> None:
    """The same mechanism with a body beside it that has nothing to do with it: the same bits."""
    sims = []
    for rebuilt in (False, True):
        scene = arm_scene()
        scene.add_force(rb.Servo("shoulder", target=1.0, gain=20.0, reset_time=0.5, window=0.3), name="motor")
        sim = rb.Simulation(scene, time_step=STEP)
        sim.step(100)
        if rebuilt:
            edited = sim.scene.copy()
            edited.add_body(rb.Sphere(0.1), position=(0, 9, 0), name="aside")
            sim.rebuild(edited)
        sim.step(100)
        sims.append(sim)
    np.testing.assert_array_equal(sims[0]["arm"].position, sims[1]["arm"].position)
    np.testing.assert_array_equal(sims[0]["arm"].angular_velocity, sims[1]["arm"].angular_velocity)


def test_what_the_new_scene_says_otherwise_counts() -> None:
    scene = arm_scene()
    scene.add_force(rb.Servo("shoulder", gain=20.0), name="motor")
    scene.change_joint("wrist", breaking_force=100.0)
    sim = rb.Simulation(scene, time_step=STEP)
    sim.servo("motor").target = 0.7
    sim["wrist"].breaking_force = 70.0
    sim.step(10)
    sim.rebuild(sim.scene.copy())
    assert sim["wrist"].breaking_force == 70.0
    edited = sim.scene.copy()
    edited.change_force("motor", target=-0.3)
    edited.change_joint("wrist", breaking_force=40.0)
    edited.change_body("hand", velocity=(0, 0, 0.5))
    arm = sim["arm"].velocity.copy()
    sim.rebuild(edited)
    assert sim.servo("motor").target == pytest.approx(-0.3)
    assert sim["wrist"].breaking_force == 40.0
    np.testing.assert_array_equal(sim["hand"].velocity, (0, 0, 0.5))
    np.testing.assert_array_equal(sim["arm"].velocity, arm)


def test_a_body_whose_centre_of_mass_moves_in_it_keeps_the_motion_of_its_frame() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    spin, mass = (0, 0, 2.0), {"mass": 1.0, "inertia": (1, 1, 1)}
    scene.add_body(origin=(0, 0, 0), velocity=(1, 0, 0), angular_velocity=spin, name="top", **mass)
    sim = rb.Simulation(scene)
    sim.run(0.5)
    origin, velocity = sim["top"].origin.copy(), sim["top"].velocity.copy()
    edited = sim.scene.copy()
    edited.change_body("top", inertia=(1, 1, 1), center_of_mass=(0.5, 0, 0))
    sim.rebuild(edited)
    np.testing.assert_allclose(sim["top"].origin, origin, atol=1e-14)
    lever = Rotation.from_quat(sim["top"].orientation.copy()).apply((0.5, 0, 0))
    np.testing.assert_allclose(sim["top"].velocity, velocity + np.cross(spin, lever), atol=1e-12)


def test_a_body_that_becomes_static_stops_where_it_is() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), velocity=(1, 0, 0), name="ball")
    scene.add_body(rb.Sphere(0.1), position=(0, 5, 0), name="other")
    sim = rb.Simulation(scene)
    sim.run(0.5)
    held = rb.Scene(gravity=(0, 0, 0))
    held.add_static(rb.Sphere(0.1), name="ball")
    held.add_body(rb.Sphere(0.1), position=(0, 5, 0), name="other")
    sim.rebuild(held)
    sim.run(0.5)
    np.testing.assert_allclose(sim["ball"].position, (0.5, 0, 0), atol=1e-12)
    np.testing.assert_array_equal(sim["ball"].velocity, 0.0)


def test_a_scene_that_does_not_compile_leaves_everything_as_it_was() -> None:
    sim, twin = (rb.Simulation(arm_scene(), time_step=STEP) for _ in range(2))
    for each in (sim, twin):
        each.step(10)
    view = sim["arm"]
    edited = sim.scene.copy()
    edited.add_force(rb.Servo("shoulder", gain=1.0), name="motor")
    edited.replace_joint("shoulder", rb.Ball("world", "arm"))
    for bad in (edited, rb.Scene(), "scene"):
        with pytest.raises(rb.InputError):
            sim.rebuild(bad)
    view.velocity = twin["arm"].velocity = (0, 0, 0)
    sim.step(10)
    twin.step(10)
    assert sim.hash() == twin.hash()


def test_observers_and_settings_stay_and_what_was_written_before_is_not_lost() -> None:
    sim = rb.Simulation(arm_scene(), time_step=STEP, joints="iterative", strict=True, position_tolerance=1e-5)
    recorder = rb.Recorder(sim, quantities=["arm.position", "energy"])
    sim.step(4)
    sim["hand"].velocity = (0, 0, 0)
    edited = sim.scene.copy()
    edited.add_body(rb.Sphere(0.1), position=(0, 9, 0), name="aside")
    sim.rebuild(edited)
    np.testing.assert_array_equal(sim["hand"].velocity, 0.0)
    sim.step(4)
    assert len(recorder) == 9
    assert sim.strict
    assert sim.time_step == STEP
    assert sim.report.position_tolerance == 1e-5
    assert type(sim.methods.joints).__name__ == "Iterative"


def test_a_view_of_the_scene_before_can_be_read_but_not_written() -> None:
    sim = rb.Simulation(arm_scene())
    view, position = sim["arm"], sim["arm"].position
    sim.rebuild(sim.scene.copy())
    np.testing.assert_array_equal(view.position, (0.5, 0, 0))
    with pytest.raises(rb.InputError, match="of a scene that was rebuilt; look it up again"):
        view.position = (0, 0, 0)
    with pytest.raises(ValueError, match="read-only"):
        position[0] = 1.0


def test_an_observer_may_rebuild_in_the_middle_of_a_call() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, name="ball")

    class Doubling:
        every = 10

        def observe(self, sim: rb.Simulation) -> None:
            edited = sim.scene.copy()
            edited.change_body("ball", mass=2.0 * sim["ball"].mass)
            sim.rebuild(edited)

    sim = rb.Simulation(scene, time_step=0.1)
    sim["ball"].applied_force = (1, 0, 0)
    sim.observe(Doubling())
    sim.step(30)
    np.testing.assert_allclose(sim["ball"].velocity, (1 + 1 / 2 + 1 / 4, 0, 0), rtol=1e-12)
    assert sim.state.steps == 30


def test_break_events_tell_of_a_joint_once_also_when_its_place_changes() -> None:
    sim = rb.Simulation(arm_scene(), time_step=STEP)
    events = rb.BreakEvents()
    sim.observe(events)
    sim["wrist"].broken = True
    sim.step(3)
    edited = sim.scene.copy()
    edited.remove_joint("shoulder")
    sim.rebuild(edited)
    sim.step(3)
    assert [event.joint for event in events.take()] == ["wrist"]


def test_a_batch_goes_on_world_by_world() -> None:
    sim = rb.Simulation(arm_scene(), time_step=STEP, worlds=3)
    sim["hand"].velocity = np.array([[0, 0, k] for k in range(3)], dtype=float)
    sim.step(10)
    before = sim["hand"].position.copy()
    edited = rb.Scene()
    edited.add_body(rb.Sphere(0.1), position=(0, 9, 0), name="aside")
    for body in sim.scene.bodies:
        edited.add_body(body.shape, mass=body.mass, position=body.position, name=body.name)
    for name, joint in sim.scene.joints.items():
        edited.add_joint(joint, name=name)
    sim.rebuild(edited)
    assert sim.worlds == 3
    np.testing.assert_array_equal(sim["hand"].position, before)
    sim.step(10)
    assert sim.report.converged
