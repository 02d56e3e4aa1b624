"""The rules of thumb keep what they promise on the system they were made for, a lag with dead time."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.forces import chien_hrones_reswick, ziegler_nichols

DEAD, LAG, REACH = 0.2, 2.0, 1.5
PLANT = {"dead_time": DEAD, "time_constant": LAG, "process_gain": REACH}


def answer(tuning: dict[str, float], target: float = 1.0, load: float = 0.0, time: float = 12.0) -> np.ndarray:
    """The controlled lag with dead time, in small Euler steps; the set-point does not kick the differential part."""
    h = 0.002
    late, y, total, found = [0.0] * round(DEAD / h), 0.0, 0.0, []
    for _ in range(round(time / h)):
        effort_before = late.pop(0)
        slope = (REACH * (effort_before + load) - y) / LAG
        error = target - y
        late.append(tuning["gain"] * (error + total / tuning["reset_time"] - tuning["rate_time"] * slope))
        total += h * error
        y += h * slope
        found.append(y)
    return np.array(found)


@pytest.mark.parametrize("controller", ["PI", "PID"])
def test_chien_hrones_reswick_overshoots_as_far_as_was_asked(controller: str) -> None:
    calm, swift = (answer(chien_hrones_reswick(controller, **PLANT, overshoot=share)) for share in (0, 20))
    assert calm.max() < 1.06
    assert 1.08 < swift.max() < 1.3
    for path in (calm, swift):
        assert path[-1] == pytest.approx(1.0, abs=0.01)
    assert np.argmax(swift > 0.9) < np.argmax(calm > 0.9)


@pytest.mark.parametrize("overshoot", [0, 20])
@pytest.mark.parametrize("controller", ["PI", "PID"])
def test_settings_against_disturbances_beat_those_for_set_points(controller: str, overshoot: int) -> None:
    paths = [
        answer(chien_hrones_reswick(controller, **PLANT, overshoot=overshoot, goal=goal), target=0.0, load=1.0)
        for goal in ("disturbance", "setpoint")
    ]
    assert np.abs(paths[0]).sum() < np.abs(paths[1]).sum()
    assert abs(paths[0][-1]) < 0.01


@pytest.mark.parametrize("controller", ["PI", "PID"])
def test_ziegler_nichols_by_step_decays_to_about_a_quarter_a_swing(controller: str) -> None:
    path = answer(ziegler_nichols(controller, **PLANT), target=0.0, load=1.0)
    assert abs(path[-1]) < 0.02
    bend = np.flatnonzero(np.diff(np.sign(np.diff(path))) != 0)
    assert abs(path[bend[2]] / path[bend[0]]) < 0.5


def test_both_ways_of_ziegler_and_nichols_agree_about_a_lag_with_dead_time() -> None:
    """At the ultimate gain the phase of the loop is a half turn: ω L + atan(ω T) = π."""
    low, high = 0.5 * math.pi / DEAD, math.pi / DEAD
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle * DEAD + math.atan(middle * LAG) < math.pi else (low, middle)
    swing = {"ultimate_gain": math.hypot(1.0, low * LAG) / REACH, "ultimate_period": 2 * math.pi / low}
    for controller in ("P", "PI", "PID"):
        first, second = ziegler_nichols(controller, **swing), ziegler_nichols(controller, **PLANT)
        assert first["gain"] == pytest.approx(second["gain"], rel=0.25)
        if controller != "P":
            assert first["reset_time"] == pytest.approx(second["reset_time"], rel=0.25)
        assert first["rate_time"] == pytest.approx(second["rate_time"], rel=0.25)


def test_the_published_constants() -> None:
    assert ziegler_nichols("PID", ultimate_gain=10, ultimate_period=2) == {
        "gain": 6.0,
        "reset_time": 1.0,
        "rate_time": 0.25,
    }
    assert ziegler_nichols("P", ultimate_gain=10, ultimate_period=2)["reset_time"] == math.inf
    unit = {"dead_time": 1.0, "time_constant": 1.0, "process_gain": 1.0}
    assert ziegler_nichols("PI", **unit)["reset_time"] == pytest.approx(10 / 3)
    assert chien_hrones_reswick("PID", **unit, overshoot=20)["reset_time"] == pytest.approx(1.35)


def test_settings_fit_the_keywords_of_a_servo() -> None:
    servo = rb.Servo("hinge", target=1.0, **ziegler_nichols("PI", ultimate_gain=2, ultimate_period=1.2))
    assert (servo.gain, servo.reset_time, servo.rate_time) == (0.9, 1.0, 0.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ziegler_nichols("PDI", **PLANT), "The controller of ziegler_nichols is 'PDI'; it may be 'P', 'PI',"),
        (lambda: ziegler_nichols(), "ziegler_nichols got nothing; it needs ultimate_gain and ultimate_period, or"),
        (lambda: ziegler_nichols(ultimate_gain=1), "ziegler_nichols got ultimate_gain; it needs ultimate_gain and"),
        (lambda: ziegler_nichols(**PLANT, ultimate_gain=1), "got ultimate_gain and dead_time and time_constant and"),
        (lambda: ziegler_nichols(ultimate_gain=0, ultimate_period=1), "The ultimate_gain of ziegler_nichols is 0;"),
        (lambda: chien_hrones_reswick("D", **PLANT), "The controller of chien_hrones_reswick is 'D'; it may be"),
        (lambda: chien_hrones_reswick(**PLANT, goal="x"), "The goal of chien_hrones_reswick is 'x'; it may be 'setp"),
        (lambda: chien_hrones_reswick(**PLANT, overshoot=5), "The overshoot of chien_hrones_reswick is 5; it may be 0"),
        (
            lambda: chien_hrones_reswick(**{**PLANT, "dead_time": -1}),
            "The dead_time of chien_hrones_reswick is -1; it must be greater than zero.",
        ),
    ],
)
def test_settings_that_cannot_be_found_say_why(make: object, words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        make()
    assert words in str(caught.value)
