"""The simulation as its user meets it: running, observing, reporting, swapping, refusing."""

import math
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import scenes


def falling(**settings: object) -> rb.Simulation:
    scene = rb.Scene(name="fall")
    scene.add_body(rb.Box(1, 2, 3), angular_velocity=(1, 2, 3), name="box")
    return rb.Simulation(scene, **settings)


class Counter:
    """An observer that notes when it was called."""

    def __init__(self, every: int) -> None:
        self.every, self.times = every, []

    def observe(self, simulation: rb.Simulation) -> None:
        self.times.append(round(simulation.time, 9))


def test_run_ends_exactly_at_the_duration_even_if_the_step_does_not_fit() -> None:
    sim = falling(time_step=0.3)
    sim.run(1.0)
    assert sim.time == pytest.approx(1.0, abs=1e-15)
    assert sim.time_step == 0.3
    assert sim["box"].position[2] == pytest.approx(-0.5 * 9.81, rel=1e-13)


def test_a_run_shorter_than_a_step_is_one_short_step() -> None:
    sim = falling(time_step=0.1)
    sim.run(1e-12)
    assert (sim.time, sim.state.steps) == (1e-12, 1)


@pytest.mark.parametrize(("h", "steps"), [(0.1, 10), (0.01, 100), (1 / 30, 30), (0.001, 1000)])
def test_run_takes_no_step_too_many(h: float, steps: int) -> None:
    sim = falling(time_step=h)
    sim.run(1.0)
    assert sim.state.steps == steps


def test_run_with_a_progress_bar_gives_the_same_bits(capsys: pytest.CaptureFixture[str]) -> None:
    plain, shown = falling(), falling()
    plain.run(1.234)
    shown.run(1.234, progress=True)
    assert plain.hash() == shown.hash()
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "fall" in seen.err


def test_observers_are_called_at_their_steps_and_may_leave() -> None:
    sim, often, seldom = falling(time_step=0.1), Counter(2), Counter(5)
    sim.observe(often)
    sim.observe(seldom)
    sim.step(10)
    assert often.times == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert seldom.times == [0.5, 1.0]
    sim.unobserve(often)
    sim.step(10)
    assert len(often.times) == 5
    assert len(seldom.times) == 4


def test_observing_does_not_change_the_bits() -> None:
    plain, watched = falling(), falling()
    watched.observe(Counter(3))
    plain.step(100)
    watched.step(100)
    assert plain.hash() == watched.hash()


def test_the_report_of_explicit_methods_is_clean() -> None:
    sim = falling(integrator="rk4")
    sim.step(7)
    report = sim.report
    assert (report.converged, report.reason, report.step, report.integration_error) == (True, "", 7, 0.0)
    assert report.time == pytest.approx(0.07)
    assert report.as_dict()["position_tolerance"] == 1e-6


def test_the_profile_leaves_the_simulation_where_it_is() -> None:
    sim = falling()
    sim.step(5)
    before = sim.hash()
    assert sim.profile(20).steps == 20
    assert sim.hash() == before


def test_use_changes_the_running_simulation_or_nothing() -> None:
    sim = falling()
    sim.use(time_step=0.02, strict=True, position_tolerance=1e-3)
    assert (sim.time_step, sim.strict, sim.report.position_tolerance) == (0.02, True, 1e-3)
    with pytest.raises(rb.UnknownName):
        sim.use(integrator="rk5", time_step=0.5)
    with pytest.raises(rb.InputError, match="time_step is -1"):
        sim.use(strict=False, time_step=-1, integrator="rk4")
    assert (sim.time_step, sim.strict, type(sim.integrator).__name__) == (0.02, True, "LieMidpoint")


class Refusing:
    """A joint method that fits no scene."""

    def prepare(self, problem: Any) -> Any:
        raise rb.InputError(f"There are {len(problem.names)} joints; this method takes none.")


def test_a_method_that_does_not_fit_the_scene_is_refused_and_the_old_one_goes_on() -> None:
    sim, plain = (rb.Simulation(scenes.chain(3), joints="iterative") for _ in range(2))
    sim.step(3)
    plain.step(3)
    with pytest.raises(rb.InputError, match="There are 3 joints; this method takes none"):
        sim.use(joints=Refusing(), position_tolerance=1e-3, closing_speed=1.0, max_iterations=7)
    assert sim.methods.joints == plain.methods.joints
    assert (sim.methods.tolerances, sim.methods.closing_speed, sim.methods.max_iterations) == (
        plain.methods.tolerances,
        10.0,
        50,
    )
    sim.step(5)
    plain.step(5)
    assert sim.hash() == plain.hash()


def test_a_method_for_a_body_that_does_not_exist_is_refused_and_the_old_one_goes_on() -> None:
    sim = rb.Simulation(scenes.chain(3), joints="iterative")
    before = sim.methods.joints
    with pytest.raises(rb.UnknownName, match="joints_by_chain has a method for 'nobody'"):
        sim.use(joints=rb.joints_by_chain({"nobody": "direct"}))
    assert sim.methods.joints == before


def test_a_refused_method_changes_no_other_setting() -> None:
    sim = rb.Simulation(scenes.chain(3))
    with pytest.raises(rb.InputError, match="this method takes none"):
        sim.use(joints=Refusing(), time_step=0.05, strict=True)
    assert (sim.time_step, sim.strict) == (0.01, False)


def test_the_report_still_knows_the_integrator_after_a_refused_method() -> None:
    sim, plain = (rb.Simulation(scenes.chain(3), integrator="implicit_euler") for _ in range(2))
    with pytest.raises(rb.InputError, match="this method takes none"):
        sim.use(joints=Refusing())
    sim.step(5)
    plain.step(5)
    assert plain.report.integration_error > 0.0
    assert sim.report == plain.report


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"time_step": 0}, "time_step is 0; it must be greater than zero."),
        ({"time_step": "fast"}, "time_step is 'fast'; it must be a number."),
        ({"worlds": 0}, "worlds is 0; it must be at least 1."),
        ({"worlds": 2.5}, "worlds is 2.5; it must be a whole number."),
        ({"strict": 1}, "strict is 1; it must be True or False."),
        ({"position_tolerance": -1}, "position_tolerance is -1; it must be greater than zero."),
        ({"timestep": 0.1}, "Simulation has no option 'timestep'. Did you mean 'time_step'?"),
        ({"integrator": 3}, "3 cannot be the integrator: it lacks 'record_forces'"),
        ({"device": 3}, "device is 3; it must be a name"),
    ],
)
def test_an_impossible_setting_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        falling(**settings)
    assert words in str(caught.value)


def test_an_integrator_that_does_not_exist_lists_the_menu() -> None:
    with pytest.raises(rb.UnknownName, match="There is no integrator 'euler'.*The menu: 'lie_midpoint'"):
        falling(integrator="euler")


def test_a_scene_without_bodies_and_what_is_no_scene_are_refused() -> None:
    with pytest.raises(rb.InputError, match="Scene 'void' has no bodies; add one with"):
        rb.Simulation(rb.Scene(name="void"))
    with pytest.raises(rb.InputError, match="Simulation got 'fall'; it needs a Scene"):
        rb.Simulation("fall")


@pytest.mark.parametrize("steps", [0, -1, 1.5, "ten", None])
def test_a_number_of_steps_is_a_count(steps: object) -> None:
    with pytest.raises(rb.InputError, match="The number of steps is"):
        falling().step(steps)


@pytest.mark.parametrize("duration", [0, -1.0, math.nan, math.inf, "long"])
def test_a_duration_is_a_positive_number(duration: object) -> None:
    with pytest.raises(rb.InputError, match="The duration is"):
        falling().run(duration)


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rattleback' has no attribute 'Scenery'"):
        _ = rb.Scenery


def test_a_scene_of_static_bodies_only_can_be_stepped() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_force(rb.Drag(linear=1.0))
    sim = rb.Simulation(scene)
    sim.step(3)
    assert sim.energy().total == 0.0


def test_a_mass_too_small_to_divide_by_is_refused_by_name() -> None:
    scene = rb.Scene()
    scene.add_body(mass=1e-310, inertia=(1, 1, 1), name="mote")
    with pytest.raises(rb.InputError, match="The inverse_mass of body 'mote' is outside the range of numbers"):
        rb.Simulation(scene)


def test_a_duration_of_too_many_steps_is_refused() -> None:
    with pytest.raises(rb.InputError, match="more steps of 0.01 s than can be counted"):
        falling().run(1e300)


def test_import_and_first_step_take_less_than_two_seconds_of_processor_time() -> None:
    """With a warm kernel cache; counted in processor seconds, since machines are shared."""
    code = (
        "import time, resource, rattleback as rb; s = rb.Scene(); s.add_body(rb.Sphere(1)); rb.Simulation(s).step();"
        "u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    )
    falling().step()
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in "12"
    ]
    assert min(seconds) < 2.0


def test_the_keyboard_can_interrupt_a_long_run() -> None:
    code = """
import rattleback as rb
scene = rb.Scene()
scene.add_body(rb.Sphere(1))
sim = rb.Simulation(scene)
sim.step()
print("ready", flush=True)
try:
    sim.step(2_000_000_000)
except KeyboardInterrupt:
    print("interrupted", sim.state.steps > 1)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(2)
    assert process.communicate(timeout=20)[0] == "interrupted True\n"


def driven(worlds: int | None = None) -> rb.Simulation:
    """An arm on an upright hinge with a servo that is still at zero."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 0, 1)), name="hinge")
    scene.add_force(rb.Servo("hinge", target=0.0, gain=40.0, rate_time=0.2), name="motor")
    return rb.Simulation(scene, worlds=worlds)


def test_a_servo_is_found_by_name_and_follows_a_target_set_between_steps() -> None:
    sim = driven()
    assert sim.servo("motor").target == 0.0
    sim.servo("motor").target = 0.7
    sim.run(3.0)
    assert sim["hinge"].angle == pytest.approx(0.7, abs=1e-3)
    assert sim.servo("motor").target == 0.7
    sim.servo("motor").target = None
    sim.run(3.0)
    assert sim["hinge"].angle == pytest.approx(0.0, abs=1e-3)


def test_every_world_may_have_its_own_target() -> None:
    sim = driven(worlds=3)
    sim.servo("motor").target = [0.1, -0.2, 0.3]
    sim.run(3.0)
    np.testing.assert_allclose(sim["hinge"].angle, [0.1, -0.2, 0.3], atol=1e-3)


def test_a_servo_that_does_not_exist_lists_those_that_do() -> None:
    with pytest.raises(rb.UnknownName, match="There is no servo 'moter'. Did you mean 'motor'\\? There are 'motor'"):
        driven().servo("moter")


def skew(v: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), v)


def nearest(scene: rb.Scene, velocities: np.ndarray) -> np.ndarray:
    """The velocities (bodies, 6) nearest to given ones in kinetic energy that agree with ball joints.

    u − W Jᵀ (J W Jᵀ)⁺ J u, W inverse masses and inertias, J the rate of every joint's gap.
    """
    index = {body.name: k for k, body in enumerate(scene.bodies)}
    jacobian = np.zeros((3 * len(scene.joints), 6 * len(index)))
    weights = np.zeros((6 * len(index), 6 * len(index)))
    for k, body in enumerate(scene.bodies):
        turn = Rotation.from_quat(body.orientation).as_matrix()
        weights[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / body.mass
        weights[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = turn @ np.linalg.inv(body.inertia) @ turn.T
    for r, joint in enumerate(scene.joints.values()):
        for name, sign in ((joint.a, -1.0), (joint.b, 1.0)):
            if name in index:
                k, lever = index[name], np.array(joint.at) - scene.bodies[index[name]].position
                jacobian[3 * r : 3 * r + 3, 6 * k : 6 * k + 3] = sign * np.eye(3)
                jacobian[3 * r : 3 * r + 3, 6 * k + 3 : 6 * k + 6] = -sign * skew(lever)
    u, response = velocities.ravel(), weights @ jacobian.T
    return (u - response @ np.linalg.pinv(jacobian @ response, rcond=1e-10) @ (jacobian @ u)).reshape(-1, 6)


def ring() -> rb.Scene:
    """Six bars on six ball joints, a hexagon that floats."""
    scene, corners = (
        rb.Scene(gravity=(0, 0, 0)),
        [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.pi / 3 * np.arange(6)],
    )
    for k in range(6):
        start, end = corners[k], corners[(k + 1) % 6]
        turn = Rotation.from_rotvec([0, 0, np.arctan2(*(end - start)[1::-1])]).as_quat()
        scene.add_body(
            rb.Box(1, 0.1, 0.2), mass=1.0 + k, position=0.5 * (start + end), orientation=turn, name=f"bar_{k}"
        )
    for k in range(6):
        scene.add_joint(rb.Ball(f"bar_{k - 1 if k else 5}", f"bar_{k}", at=corners[k]))
    return scene


@pytest.mark.parametrize("scene", [scenes.chain(8), scenes.tree(4), ring()], ids=["chain", "tree", "ring"])
def test_velocities_that_contradict_the_joints_start_as_the_nearest_that_agree(scene: rb.Scene) -> None:
    """A first step from any velocities is the first step from their projection, done here with dense matrices."""
    given = np.random.default_rng(5).normal(size=(len(scene.bodies), 6))
    ends = []
    for velocities in (given, nearest(scene, given)):
        sim = rb.Simulation(scene, time_step=0.001, position_tolerance=1e-11, velocity_tolerance=1e-11)
        sim.state.velocity, sim.state.angular_velocity = velocities[:, :3], velocities[:, 3:]
        sim.step()
        assert sim.report.converged
        ends.append(np.hstack([sim.state.position, sim.state.velocity, sim.state.angular_velocity]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9)


def test_velocities_written_between_steps_are_made_to_agree_too() -> None:
    scene = scenes.chain(5)
    given = np.random.default_rng(6).normal(size=(5, 6))
    ends = []
    for velocities in (given, nearest(scene, given)):
        sim = rb.Simulation(scene, time_step=0.001)
        start = sim.state.position.copy(), sim.state.orientation.copy()
        sim.step()
        sim.state.position, sim.state.orientation = start
        sim.state.velocity, sim.state.angular_velocity = velocities[:, :3], velocities[:, 3:]
        sim.step()
        ends.append(np.hstack([sim.state.position, sim.state.velocity]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("hanging", "h"), [(False, 1.0 / 30.0), (True, 0.01)], ids=["mobile", "hanging tree"])
def test_loose_tolerances_give_no_more_energy_than_they_can_hide(hanging: bool, h: float) -> None:
    """63 bars against the same with a tight tolerance: the difference is at most what lifts all by the tolerance."""
    scene = scenes.tree(6, hanging=hanging)
    tight, *others = (
        rb.Simulation(scene, time_step=h, position_tolerance=size, strict=True) for size in (1e-7, 1e-3, 1e-4)
    )
    weight = 9.81 * sum(body.mass for body in scene.bodies)
    for _ in range(500):
        tight.step()
        energy = tight.energy().total
        for loose, tolerance in zip(others, (1e-3, 1e-4), strict=True):
            loose.step()
            assert loose.energy().total <= energy + weight * tolerance
