"""The controls of the run, turned without a browser."""

import math
import re

import pytest

import rattleback as rb
from rattleback.core.report import Report
from rattleback.scenes import MENU
from rattleback.viewer.panels.control import RESET, SPEEDS, STEP, STEPS, Control, name_of_speed
from rattleback.viewer.panels.number_form import Number
from rattleback.viewer.panels.readings import duration, readings
from rattleback.viewer.panels.verdict import AMBER, BAD, GOOD, chip, details
from rattleback.viewer.session import Session


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(MENU["pendulum"].build(), time_step=0.01), Control)


@pytest.fixture
def control(window):
    return window.parts[0]


def test_the_play_button_runs_and_pauses_and_says_what_it_will_do(control, person, until):
    person.press(control.play)
    until(lambda: control.session.frame.time > 0.0)
    until(lambda: control.play.label == "Pause")
    person.press(control.play)
    until(lambda: control.play.label == "Play")
    there = control.session.frame.steps
    control.session.do(lambda sim: None).result()
    assert control.session.frame.steps == there


def test_steps_are_taken_one_by_one_or_ten_and_reset_goes_to_the_start(control, person, until):
    person.press(control.buttons, STEP)
    until(lambda: control.session.frame.steps == 1)
    person.press(control.buttons, STEPS)
    until(lambda: control.session.frame.steps == 11)
    assert not control.session.frame.playing
    until(lambda: "0.110 s" in control.readings.content)
    person.press(control.buttons, RESET)
    until(lambda: control.session.frame.steps == 0)
    until(lambda: "0.000 s" in control.readings.content)


@pytest.mark.parametrize("name", ["1/100 ×", "as fast as possible"])
def test_the_speed_is_the_one_chosen(control, person, until, name):
    person.turn(control.speed.handle, name)
    until(lambda: control.session.frame.speed == SPEEDS[name])
    assert control.speed.handle.value == name


def test_a_speed_that_is_on_no_list_is_offered_as_long_as_it_holds(control, person, until):
    control.session.set_speed(0.7).result()
    until(lambda: control.speed.handle.value == "0.7 ×")
    person.turn(control.speed.handle, "real time")
    until(lambda: control.session.frame.speed == 1.0)
    until(lambda: "0.7 ×" not in control.speed.handle.options)


def test_every_speed_has_a_name():
    assert [name_of_speed(speed) for speed in SPEEDS.values()] == list(SPEEDS)
    assert math.inf in SPEEDS.values()


def test_the_time_step_is_taken_when_the_form_is_submitted_and_not_before(control, until):
    field = control.form.fields["time_step"]
    assert field.value == "10"
    field.value = "2.5"
    control.session.step().result()
    assert (control.session.frame.time_step, field.value) == (0.01, "2.5")
    control.form.frame.submit()
    until(lambda: control.session.frame.time_step == 0.0025)
    assert field.value == "2.5"


def test_the_time_step_stays_when_the_run_goes_back_to_its_start(control, person, until):
    control.session.do(lambda sim: sim.use(time_step=0.002)).result()
    control.session.step(3).result()
    until(lambda: control.session.frame.steps == 3)
    person.press(control.buttons, RESET)
    until(lambda: control.session.frame.steps == 0)
    assert control.session.frame.time_step == 0.002
    until(lambda: control.form.fields["time_step"].value == "2")


@pytest.mark.parametrize(("text", "sentence"), [("0", "must be greater than zero"), ("fast", "must be a number")])
def test_a_time_step_that_is_refused_goes_back_and_the_sentence_is_told(control, until, text, sentence):
    field = control.form.fields["time_step"]
    field.value = text
    control.form.frame.submit()
    until(lambda: field.value == "10")
    assert sentence in control.session.notices[-1].text
    assert control.session.frame.time_step == 0.01


def test_a_number_is_written_short_and_read_back():
    number = Number("budget", "Budget", "", lambda frame: None, none="no limit")
    assert [number.write(value) for value in (1e-6, 50, None, 1e20)] == ["1e-6", "50", "no limit", "1e+20"]
    assert [number.parse(text) for text in ("1e-6", " 50 ", "no limit", "")] == [1e-6, 50.0, None, None]


@pytest.mark.parametrize("text", ["nan", "inf", "1,5", "x"])
def test_what_is_no_number_is_named(text):
    with pytest.raises(rb.InputError, match=r"Budget is .* must be a number, such as 1e-6, or 'no limit'"):
        Number("budget", "Budget", "", lambda frame: None, none="no limit").parse(text)


def test_half_a_sweep_is_refused():
    with pytest.raises(rb.InputError, match="Sweeps is '1.5'; it must be a whole number"):
        Number("sweeps", "Sweeps", "", lambda frame: None, whole=True).parse("1.5")


def test_readings_name_the_worst_joint_and_let_no_name_become_code(window):
    reason = "Joint '<img src=x onerror=alert(1)>' is off by 1 m."
    report = Report(step=3, converged=False, reason=reason, worst_joint="<img src=x onerror=alert(1)>")
    text = readings(window.session.frame, [report])
    assert "outside tolerance" in text
    assert "&lt;img src=x" in text
    assert "<img" not in text
    assert "within tolerance" in readings(window.session.frame, [Report(step=3)])


def report_of(ratio):
    """A report of an error so many times its tolerance."""
    return Report(step=1, converged=ratio <= 1.0, position_error=1e-6 * ratio, position_tolerance=1e-6)


def test_the_verdict_on_several_methods_is_that_on_each_and_the_chip_shows_the_worst():
    sims = [rb.Simulation(MENU["chain"].build(), joints=name) for name in ("direct", "penalty")]
    session = Session(sims, ["direct", "penalty <b>"])
    text = readings(session.frame, [report_of(0.5), report_of(40.0)])
    assert re.search(r"direct: <[^>]*>within tolerance", text)
    assert re.search(r"penalty &lt;b&gt;: <[^>]*>outside tolerance", text)
    said = chip(session.frame, [report_of(0.5), report_of(40.0)])
    assert "penalty &lt;b&gt;: 40 × tolerance" in said
    assert BAD in said
    rows = details(session.frame, [report_of(0.5), report_of(40.0)])
    assert "<h2>penalty &lt;b&gt;</h2>" in rows
    assert re.search("position</td><td>4e-05 m</td><td>1e-06 m</td><td[^>]*>40 ×", rows)


@pytest.mark.parametrize(
    ("ratio", "words", "colour"),
    [(0.02, "0.1 ×", GOOD), (0.3, "0.3 ×", GOOD), (2.4, "2.4 × tolerance", AMBER), (123.0, "123 × tolerance", BAD)],
)
def test_the_chip_says_how_far_outside_in_a_colour(window, ratio, words, colour):
    said = chip(window.session.frame, [report_of(ratio)])
    assert words in said
    assert colour in said


@pytest.mark.parametrize(("contacts", "words"), [("none", "not looked for"), ("detect", "nothing is done about them")])
def test_without_contacts_nobody_claims_that_they_are_within_tolerance(contacts, words):
    alone, several = (
        Session([rb.Simulation(MENU[name].build(), contacts=contacts)]).frame for name in ("pendulum", "tower")
    )
    assert words in readings(several, [report_of(0.5)])
    assert words in details(several, [report_of(0.5)])
    said = chip(several, [report_of(0.5)])
    assert "contacts off" in said
    assert GOOD not in said
    # A body that is alone has nothing to touch.
    assert GOOD in chip(alone, [report_of(0.5)])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "–"), (12.34, "12.3 s"), (1.0, "1.00 s"), (0.0123, "12.3 ms"), (2.5e-4, "250 µs"), (9.996e-4, "1.00 ms")],
)
def test_durations_have_a_unit_that_suits_them(seconds, text):
    assert duration(seconds) == text


def test_pause_ends_the_steps_that_were_asked_for(control, person, until):
    control.session.step(1_000_000).result()
    until(lambda: control.session.frame.steps > 0)
    person.press(control.play)
    until(lambda: not control.session.frame.playing)
    there = control.session.frame.steps
    control.session.do(lambda sim: None).result()
    assert control.session.frame.steps == there < 1_000_000
