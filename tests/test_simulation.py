"""The simulation as its user meets it: running, observing, reporting, swapping, refusing."""

import math
import subprocess
import sys
import time

import pytest

import rattleback as rb


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
