"""Stepping from the command line: it stops cleanly, never changes the run, and shows a bar on terminals only."""

import io
import signal
import threading

import pytest

import rattleback as rb
from rattleback.cli import stepping
from rattleback.core.errors import DivergenceError, InputError


class Presser:
    """An observer that presses Ctrl-C after a step of this number, as the keyboard would."""

    def __init__(self, step, every=1):
        self.step, self.every = step, every

    def observe(self, simulation):
        if simulation.state.steps == self.step:
            signal.raise_signal(signal.SIGINT)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def usual_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def sim():
    scene = rb.Scene(name="[drop]")
    scene.add_body(rb.Sphere(0.1), name="ball", velocity=(1, 2, 3), angular_velocity=(1, 2, 3))
    return rb.Simulation(scene, time_step=0.01)


def test_driving_gives_the_same_bits_as_running(sim):
    start = sim.state.copy()
    sim.run(1.234)
    wanted = sim.hash()
    sim.state = start
    ride = stepping.drive(sim, 1.234, bar=True)
    assert sim.hash() == wanted
    assert not ride.interrupted
    assert ride.error is None


def test_ctrl_c_ends_the_run_between_two_steps_and_leaves_recording_and_state_in_agreement(sim):
    sim.observe(Presser(37))
    recorder = rb.Recorder(sim, 1, ["position"])
    ride = stepping.drive(sim, 1e6, bar=False)
    assert ride.interrupted
    assert sim.state.steps >= 37
    assert len(recorder) == sim.state.steps + 1
    assert recorder.time[-1] == sim.time
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    sim.run(0.1)


def test_a_second_ctrl_c_breaks_through(sim):
    sim.observe(Presser(5))
    sim.observe(Presser(5))
    with pytest.raises(KeyboardInterrupt):
        stepping.drive(sim, 1e6, bar=False)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_callers_own_stays(sim):
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    sim.observe(Presser(5))
    assert not stepping.drive(sim, 0.1, bar=False).interrupted
    assert seen == [True]


def test_driving_works_in_a_thread(sim):
    rides = []
    thread = threading.Thread(target=lambda: rides.append(stepping.drive(sim, 0.1, bar=True)))
    thread.start()
    thread.join()
    assert not rides[0].interrupted
    assert sim.state.steps == 10


def test_a_body_that_is_no_longer_finite_ends_the_run_at_the_last_good_state():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball", velocity=(1e200, 0, 0))
    scene.add_force(rb.Drag(quadratic=1.0))
    sim = rb.Simulation(scene, integrator="explicit_euler")
    ride = stepping.drive(sim, 1.0, bar=False)
    assert isinstance(ride.error, DivergenceError)
    assert sim.state.steps == 0


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_duration_that_cannot_be_simulated_is_refused(duration, sim):
    with pytest.raises(InputError, match="The duration is"):
        stepping.drive(sim, duration, bar=False)
    assert sim.state.steps == 0


def test_the_bar_shows_the_scene_and_the_time_reached_on_a_terminal(sim, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    stepping.drive(sim, 0.5, bar=True)
    assert "[drop]" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    assert "t = 0.5 s" in terminal.getvalue()


@pytest.mark.parametrize(("stream", "bar"), [(Terminal, False), (io.StringIO, True), (lambda: None, True)])
def test_no_bar_shows_where_none_is_wanted_or_nobody_looks(stream, bar, sim, monkeypatch):
    found = stream()
    monkeypatch.setattr("sys.stderr", found)
    stepping.drive(sim, 0.5, bar=bar)
    assert not found or not found.getvalue()


def test_the_watch_looks_about_ten_times_a_second_whatever_a_step_costs(sim, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(stepping.time, "perf_counter", lambda: now[0])
    watch = stepping.Watch(threading.Event(), lambda _: None)
    for _ in range(12):
        watch.observe(sim)
        sim.step(watch.every)
        now[0] += 1e-4 * watch.every
    assert watch.every == pytest.approx(1000, rel=0.01)
