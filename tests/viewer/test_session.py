import math
import threading
import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, UnknownName
from rattleback.scenes import pendulum
from rattleback.viewer.session import Session

PATIENCE = 20.0


@pytest.fixture
def session():
    running = Session([rb.Simulation(pendulum(), time_step=0.01)])
    running.start()
    yield running
    running.stop()


def until(holds):
    """Wait for something to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never did"
        time.sleep(0.005)


def test_it_waits_until_it_is_told_to_play(session):
    assert session.frame.steps == 0
    session.play().result(PATIENCE)
    until(lambda: session.frame.steps > 3)
    session.pause().result(PATIENCE)
    steps = session.frame.steps
    assert not session.frame.playing
    time.sleep(0.1)
    assert session.frame.steps == steps


def test_a_single_step_is_one_step(session):
    session.step().result(PATIENCE)
    until(lambda: not session.frame.playing)
    assert session.frame.steps == 1
    session.step(5).result(PATIENCE)
    until(lambda: not session.frame.playing)
    assert session.frame.steps == 6


def test_it_takes_the_steps_of_a_plain_simulation(session):
    session.step(50)
    until(lambda: session.frame.steps == 50)
    plain = rb.Simulation(pendulum(), time_step=0.01)
    plain.step(50)
    assert np.array_equal(session.frame.picture.position, plain.state.position)
    assert session.sims[0].hash() == plain.hash()


def test_readers_see_whole_steps_of_all_simulations():
    sims = [rb.Simulation(pendulum(), time_step=0.01) for _ in range(2)]
    session, seen = Session(sims, ["one", "two"], speed=math.inf), []
    session.start()
    session.play()
    for _ in range(300):
        frame = session.frame
        seen.append(np.array_equal(frame.pictures[0].position, frame.pictures[1].position))
    session.stop()
    assert all(seen)
    assert [picture.label for picture in session.frame.pictures] == ["one", "two"]


def test_commands_come_between_steps_in_their_order(session):
    order = []
    session.play()
    for k in range(20):
        session.do(lambda sim, k=k: order.append((k, threading.current_thread().name)))
    session.do(lambda sim: None).result(PATIENCE)
    assert [k for k, _ in order] == list(range(20))
    assert {name for _, name in order} == {"rattleback simulation"}


def test_what_a_command_returns_comes_back_for_every_simulation(session):
    assert session.do(lambda sim: sim.scene.name).result(PATIENCE) == ["pendulum"]


def test_a_command_that_fails_is_told_and_nothing_is_lost(session):
    future = session.do(lambda sim: sim.use(joints="nonsense"))
    with pytest.raises(UnknownName, match="There is no joint method 'nonsense'"):
        future.result(PATIENCE)
    assert session.notices[-1].fault
    assert "nonsense" in session.notices[-1].text
    session.step().result(PATIENCE)
    until(lambda: session.frame.steps == 1)


def test_a_fault_that_is_not_ours_names_its_kind(session):
    with pytest.raises(ZeroDivisionError):
        session.do(lambda sim: 1 / 0).result(PATIENCE)
    assert session.notices[-1].text.startswith("ZeroDivisionError: ")


def test_a_simulation_that_diverges_stops_with_a_notice(session):
    def blow_up(sim):
        sim.state.velocity = np.full_like(sim.state.velocity, 1e200)

    session.do(blow_up).result(PATIENCE)
    session.play()
    until(lambda: any(notice.fault for notice in session.notices))
    until(lambda: not session.frame.playing)
    assert "faster than light" in session.notices[-1].text


def test_a_function_of_the_user_that_fails_stops_the_run_and_not_the_session(session):
    @session.sims[0].after_step
    def fail(sim):
        raise LookupError("nothing there")

    session.play()
    until(lambda: any(notice.fault for notice in session.notices))
    until(lambda: not session.frame.playing)
    assert "nothing there" in session.notices[-1].text
    session.do(lambda sim: sim.forget(fail)).result(PATIENCE)
    steps = session.frame.steps
    session.step().result(PATIENCE)
    until(lambda: session.frame.steps == steps + 1)


def test_reset_goes_back_to_the_start(session):
    start = session.frame.picture.position
    session.step(20).result(PATIENCE)
    until(lambda: session.frame.steps == 20)
    session.reset().result(PATIENCE)
    assert session.frame.time == 0.0
    assert np.array_equal(session.frame.picture.position, start)


def test_undo_goes_back_to_the_last_save_point_and_then_to_the_start(session):
    session.step(10).result(PATIENCE)
    until(lambda: session.frame.steps == 10)
    session.save_point().result(PATIENCE)
    session.step(10).result(PATIENCE)
    until(lambda: session.frame.steps == 20)
    session.undo().result(PATIENCE)
    assert session.frame.steps == 10
    session.undo().result(PATIENCE)
    assert session.frame.steps == 0


def test_time_passes_no_faster_than_it_should(session):
    session.set_speed(0.5).result(PATIENCE)
    begun = time.perf_counter()
    session.play().result(PATIENCE)
    until(lambda: session.frame.time > 0.3)
    assert session.frame.time <= 0.5 * (time.perf_counter() - begun) + 0.01
    assert 0.0 < session.frame.real_time < 0.6


def test_as_fast_as_it_can_is_faster_than_real_time(session):
    session.set_speed(math.inf).result(PATIENCE)
    session.play().result(PATIENCE)
    until(lambda: session.frame.time > 5.0)
    assert session.frame.real_time > 1.5


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan])
def test_a_speed_is_a_positive_number(session, speed):
    with pytest.raises(InputError, match="The speed"):
        session.set_speed(speed)


def test_hands_act_before_each_step(session):
    class Counter:
        steps: list

        def __init__(self):
            self.steps = []

        def most_steps(self, sim):
            return 2

        def before_step(self, sim, steps):
            self.steps.append((sim.state.steps, steps))

        def observe(self, sim):
            self.steps.append(sim.state.steps)

    hand = Counter()
    session.do(lambda sim: session.hands.append(hand)).result(PATIENCE)
    session.step(5).result(PATIENCE)
    until(lambda: session.frame.steps == 5)
    looked = [entry for entry in hand.steps if isinstance(entry, tuple)]
    assert [step for step, _ in looked] == [sum(count for _, count in looked[:k]) for k in range(len(looked))]
    assert all(1 <= count <= 2 for _, count in looked)
    assert hand.steps[1::2] == [step + count for step, count in looked]


def test_another_simulation_takes_its_place(session):
    version = session.frame.version
    session.open(lambda: rb.Simulation(rb.scenes.tumbling())).result(PATIENCE)
    assert session.frame.picture.scene.name == "tumbling"
    assert session.frame.version == version + 1
    assert not session.frame.playing


def test_a_simulation_that_cannot_be_made_leaves_the_old_one(session):
    def fail():
        raise InputError("There is no such scene.")

    with pytest.raises(InputError):
        session.open(fail).result(PATIENCE)
    assert session.frame.picture.scene.name == "pendulum"


def test_frames_hold_what_is_wanted(session):
    assert session.frame.picture.energy is None
    session.wanted |= {"energy", "report"}
    session.probes["speed"] = lambda sim: float(np.linalg.norm(sim.state.velocity))
    session.step().result(PATIENCE)
    until(lambda: session.frame.steps == 1)
    picture = session.frame.picture
    assert picture.energy.total == pytest.approx(session.sims[0].energy().total)
    assert picture.report.converged
    assert picture.probes["speed"] == pytest.approx(float(np.linalg.norm(picture.velocity)))


def test_a_probe_that_fails_answers_nothing_and_stops_nothing(session):
    session.probes["bad"] = lambda sim: 1 / 0
    session.probes["good"] = lambda sim: sim.state.steps
    session.step().result(PATIENCE)
    until(lambda: session.frame.steps == 1)
    assert session.frame.picture.probes == {"good": 1}


def test_it_can_be_stopped_and_started_again(session):
    session.stop()
    session.start()
    session.step().result(PATIENCE)
    until(lambda: session.frame.steps == 1)


def test_a_session_needs_a_simulation():
    with pytest.raises(InputError, match="has no simulation"):
        Session([])
