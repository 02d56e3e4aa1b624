import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core.errors import UnknownName
from rattleback.core.report import Profile, Report
from rattleback.recording.quantities import NAMES
from rattleback.scenes import chain, pendulum
from rattleback.viewer.panels.curves import PLOTS, excess
from rattleback.viewer.panels.history import FEWEST, History
from rattleback.viewer.panels.plots import Plots, stage_bars
from rattleback.viewer.sampler import SHARE, Sampler

CURVES = {curves.title: curves for curves in PLOTS}


@given(st.integers(1, 5000))
def test_a_history_holds_the_whole_run_in_few_samples(count):
    history = History(1)
    for k in range(count):
        history.add(0.1 * k, [k])
    times, values = history.data
    assert len(times) < 4 * FEWEST
    assert times[0] == 0.0
    assert np.all(np.diff(times) > 0.0)
    assert np.array_equal(values, np.round(times / 0.1))
    assert times[-1] == pytest.approx(0.1 * (count - 1))


def test_samples_that_are_apart_lie_unevenly_so_that_no_slow_wave_appears():
    """Of a swing a little faster than the samples, even distances would show a slow sine: each value like the last."""
    sampler = Sampler(PLOTS[:1], ())
    sampler._cost = 1e-3
    done, swing = 0, []
    for _ in range(3000):
        for piece, sampled in sampler.pieces(10, busy=8e-3, idle=0.0):
            done += piece
            if sampled:
                swing.append(math.sin(2.0 * math.pi * done / 41.3))
                sampler._purse -= 1e-3
    assert done == 30_000
    # A share at a cost of 1 ms, of 24 s.
    assert len(swing) == pytest.approx(SHARE * 24.0 / 1e-3, rel=0.02)
    assert abs(np.corrcoef(swing[:-1], swing[1:])[0, 1]) < 0.5


def test_where_samples_are_cheap_every_step_is_seen(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.001), Plots)
    plot = window.parts[0].plots[0]
    window.session.play()
    until(lambda: window.session.frame.time > 1.0)
    window.session.pause().result()
    until(lambda: plot._history.data[0][-1] == pytest.approx(window.session.frame.time))
    seen = sum(span.samples for span in plot._history._spans)
    # Thirty frames a second would be one in thirty.
    assert seen > 0.3 * window.session.frame.steps


@pytest.mark.parametrize("period", [2.05, 3.3, 7.9, 16.1])
def test_a_fast_oscillation_is_a_band_and_never_a_slow_wave(period):
    """A period of so many samples, over a run so long that spans hold many of them; below, one number decays."""
    history, count = History(2), 20_000
    for k in range(count):
        history.add(0.01 * k, [math.sin(2.0 * math.pi * k / period), 1.0 / (1.0 + k)])
    _, swing, decay = history.data
    spans = swing[: len(swing) // 2 * 2].reshape(-1, 2)[:-2]
    assert np.all(spans.max(axis=1) > 0.95)
    assert np.all(spans.min(axis=1) < -0.95)
    # Where each value comes first and where last, what falls is drawn falling.
    assert np.all(np.diff(decay) < 0.0)


def test_a_single_peak_is_never_lost_and_gaps_stay_out_of_it():
    history = History(1)
    for k in range(5000):
        history.add(0.01 * k, [7.0 if k == 1234 else math.nan if k % 3 else 1.0])
    times, values = history.data
    assert np.nanmax(values) == 7.0
    assert times[np.nanargmax(values)] == pytest.approx(12.34, abs=50.0 / FEWEST)
    assert np.nanmin(values) == 1.0


def test_a_jump_back_forgets_what_came_later():
    history = History(1)
    for time in (0.0, 0.1, 0.2, 0.3, 0.1):
        history.add(time, [time])
    assert history.data[0].tolist() == [0.0, 0.1]


def test_an_empty_history_is_one_sample_without_a_number():
    times, values = History(1).data
    assert times.tolist() == [0.0]
    assert np.isnan(values).tolist() == [True]


def test_excess_is_the_largest_error_as_a_multiple_of_its_tolerance():
    report = Report(position_error=2e-6, position_tolerance=1e-6, penetration=3e-3, penetration_tolerance=1e-3)
    assert excess(report) == pytest.approx(3.0)
    assert excess(Report(penetration=1.0)) == 0.0
    assert math.isnan(excess(None))


def test_the_energy_plotted_is_that_of_the_simulation(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    window.session.step(20).result(10)
    until(lambda: window.session.frame.steps == 20)
    window.refresh()
    frame = window.session.frame
    kinetic, potential, total = CURVES["Energy [J]"].read(frame)
    assert total == pytest.approx(kinetic + potential)
    assert total == pytest.approx(window.session.sims[0].energy().total)
    assert CURVES["Energy [J]"].names(frame) == ["kinetic", "potential", "total"]


def test_a_plot_says_what_it_shows_where_it_is_enlarged_and_has_room_for_its_numbers(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    window.session.step(5)
    until(lambda: window.parts[0].plots[0]._handle is not None)
    shown = window.parts[0].plots[0]._handle
    assert shown.title == "Energy [J]"
    across, up = shown.axes
    assert across["label"] == "t [s]"
    # Nine signs of 7 pixels, as in -12,345.6; 50 pixels are too few.
    assert up["size"] >= 9 * 7
    assert up["label"] == "J"


def test_several_simulations_have_a_curve_each_with_their_names(until):
    from rattleback.viewer.session import Session

    session = Session([rb.Simulation(chain(), time_step=0.01, joints=name) for name in ("direct", "iterative")], "di")
    session.wanted |= {"report", "energy", "contacts"}
    session.start()
    session.step(3).result(10)
    until(lambda: session.frame.steps == 3)
    session.stop()
    for curves in PLOTS:
        assert len(curves.names(session.frame)) == len(curves.read(session.frame))
    assert CURVES["Error [µm]"].names(session.frame) == ["d", "i"]
    errors = [sim.report.position_error for sim in session.sims]
    assert CURVES["Error [µm]"].read(session.frame) == pytest.approx([max(1e6 * error, 1e-3) for error in errors])


def test_only_what_is_ticked_is_asked_for_and_sampled(open_page, person, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,) = window.parts
    contacts = next(plot for plot in part.plots if plot.curves.title == "Contacts")
    assert "contacts" not in window.session.wanted
    person.turn(contacts.box, True)
    window.session.step(2).result(10)
    until(lambda: "contacts" in window.session.wanted)


def test_any_quantity_can_be_plotted_by_its_name(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,) = window.parts
    name = f"{window.session.frame.picture.scene.bodies[0].name}.velocity"
    part.add(name).result(10)
    window.session.step(10).result(10)
    until(lambda: window.session.frame.steps == 10)
    plot = part.plots[-1]
    assert plot.curves.title == f"{name} [m/s]"
    assert plot.curves.read(window.session.frame) == pytest.approx(window.session.frame.picture.velocity[0])


def test_a_quantity_that_is_not_there_is_refused_with_the_menu(open_page):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    with pytest.raises(UnknownName, match="There is no quantity 'energie'"):
        window.parts[0].add("energie").result(10)
    assert "energie" in window.session.notices[-1].text


def test_quantities_of_what_is_selected_are_offered_first(open_page):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,), scene = window.parts, window.session.frame.picture.scene
    body, joint = scene.bodies[0].name, next(iter(scene.joints))
    assert part.more.options[1] in NAMES
    window.select(body)
    assert part.more.options[1].startswith(f"{body}.")
    assert part.more.options[-1] == NAMES[-1]
    window.select(joint)
    assert part.more.options[1].startswith(f"{joint}.")


def test_the_panel_of_the_plots_is_there_where_it_is_wanted_and_something_is_plotted(open_page, person, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,) = window.parts
    until(lambda: part.panel.visible)
    person.turn(part.under, False)
    until(lambda: not part.panel.visible)
    person.turn(part.under, True)
    for plot in part.plots:
        plot.box.value = False
    window.session.step().result()
    until(lambda: not part.panel.visible)


def test_plots_of_quantities_end_with_the_scene(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,) = window.parts
    part.add("momentum").result(10)
    assert len(part.plots) == len(PLOTS) + 1
    window.session.open(lambda: rb.Simulation(chain(), time_step=0.01)).result(10)
    until(lambda: len(part.plots) == len(PLOTS))


def test_a_changed_scene_goes_on_with_its_plots(open_page, until):
    window = open_page(rb.Simulation(pendulum(), time_step=0.01), Plots)
    (part,) = window.parts
    part.add("momentum").result(10)
    window.session.step(10).result(10)
    until(lambda: window.session.frame.steps == 10)
    window.refresh()
    seen = len(part.plots[0]._history)
    window.session.rebuild(lambda scene: scene.copy()).result(10)
    until(lambda: window._version == window.session.frame.version)
    assert len(part.plots) == len(PLOTS) + 1
    assert len(part.plots[0]._history) >= seen > 0


def test_the_stages_of_a_step_are_measured_without_moving(open_page):
    window = open_page(rb.Simulation(chain(), time_step=0.01), Plots)
    part, before = window.parts[0], window.session.sims[0].hash()
    part.measure_stages().result(20)
    assert window.session.sims[0].hash() == before
    assert "forces" in part.stages.content


def test_the_bars_of_stages_are_as_long_as_their_part_and_names_are_escaped():
    html = stage_bars(Profile(10, {"<b>": 1e-3, "rest": 3e-3}))
    assert "width:25.0%" in html
    assert "width:75.0%" in html
    assert "<td><b></td>" not in html
    assert "4.00 ms" in html
