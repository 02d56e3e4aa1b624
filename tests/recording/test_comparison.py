import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.recording.comparison import compare, comparison_data, comparison_plot, comparison_table
from rattleback.scenes import chain


def falling(**settings):
    scene = rb.Scene(name="falling")
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=(0, 0, 10), velocity=(0, 0, 1), name="ball")
    return rb.Simulation(scene, time_step=0.01, **settings)


def text_of(lanes, width=200):
    said = io.StringIO()
    Console(width=width, file=said).print(comparison_table(lanes))
    return said.getvalue()


def test_lanes_hold_the_errors_of_plain_runs():
    (lane,) = compare({"direct": rb.Simulation(chain(), time_step=0.01)}, 0.2, looks=20)
    plain, errors = rb.Simulation(chain(), time_step=0.01), [0.0]
    for _ in range(20):
        plain.step()
        errors.append(plain.report.position_error)
    assert np.array_equal(lane.error, errors)
    assert lane.time == pytest.approx(np.arange(21) * 0.01)
    assert lane.steps == 20
    assert lane.converged


def test_the_drift_of_explicit_euler_is_that_of_its_closed_form():
    (lane,) = compare({"euler": falling(integrator="explicit_euler")}, 1.0, looks=4)
    # v is exact; z is off by +g h t / 2, so the energy by m g² h t / 2.
    energy = 2.0 * (0.5 + 9.81 * 10.0)
    assert lane.drift[-1] == pytest.approx(2.0 * 9.81**2 * 0.01 * 1.0 / 2.0 / energy, rel=1e-6)


def test_the_drift_is_measured_against_what_moves_where_the_energy_begins_near_zero():
    sim = falling(integrator="rk4")
    sim["ball"].position = (0, 0, 1e-17)
    sim["ball"].velocity = (0, 0, 0)
    (lane,) = compare({"rk4": sim}, 0.5, looks=5)
    assert np.abs(lane.drift).max() < 1e-12


def test_steps_longer_than_a_look_are_taken_whole():
    sim = falling()
    (lane,) = compare({"one": sim}, 0.05, looks=100)
    assert lane.steps == 5


def test_a_simulation_that_gives_up_ends_its_lane_and_no_other():
    broken = rb.Simulation(chain(), time_step=0.01, max_iterations=1, position_tolerance=1e-12, strict=True)
    lanes = compare({"broken": broken, "whole": falling()}, 0.1, looks=10)
    assert "tolerance" in lanes[0].fault
    assert not lanes[0].converged
    assert lanes[0].steps < 10
    assert lanes[1].steps == 10
    assert lanes[0].fault[:40] in text_of(lanes)


def test_a_method_outside_its_tolerance_is_said_to_be():
    hard = rb.Simulation(chain(), time_step=0.01, joints="iterative", max_iterations=1, position_tolerance=1e-12)
    lanes = compare({"hard": hard}, 0.1, looks=5)
    assert not lanes[0].converged
    assert "missed" in text_of(lanes)


def test_the_table_and_the_data_say_the_same():
    lanes = compare({"one": falling(), "two": falling(integrator="rk4")}, 0.1, looks=5)
    rows = json.loads(json.dumps(comparison_data(lanes)))
    assert [row["method"] for row in rows] == ["one", "two"]
    said = text_of(lanes)
    assert "worst [m]" in said
    for row in rows:
        assert f"{row['milliseconds_per_step']:.3g}" in said
        assert f"{row['energy_drift']:.1e}" in said


def test_the_plot_has_a_curve_for_each_lane_and_is_saved(tmp_path):
    lanes = compare({"one": falling(), "two": falling(integrator="rk4")}, 0.1, looks=5)
    figure = comparison_plot(lanes, tmp_path / "errors.png")
    above, below = figure.axes
    assert len(above.lines) == len(below.lines) == 2
    assert below.lines[1].get_ydata() == pytest.approx(lanes[1].drift)
    assert (tmp_path / "errors.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_cannot_be_compared():
    with pytest.raises(InputError, match="nothing to compare"):
        compare({}, 1.0)


def test_met_and_missed_can_be_told_apart_on_a_narrow_terminal():
    met, missed = (falling() for _ in range(2))
    lanes = compare({"a method of a rather long name, joints direct": met, "b": missed}, 0.05, looks=5)
    rows = text_of([lanes[0], replace(lanes[1], converged=False)], width=80).splitlines()
    assert max(map(len, rows)) <= 80
    assert [word for word in ("met", "missed", "verdict", "corrections") if word not in " ".join(rows).split()] == []
