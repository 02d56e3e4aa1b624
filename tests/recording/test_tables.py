"""The closing table: what it says of a run, and that it says it in plain data too."""

import json

import numpy as np
import pytest
from rich.console import Console

import rattleback as rb
from rattleback.core.report import Report
from rattleback.recording import render, run_summary
from rattleback.recording.tables import relative_drift


def falling(worlds=None, **settings) -> rb.Simulation:
    scene = rb.Scene(name="fall")
    scene.add_body(rb.Sphere(0.1), mass=2.0, name="ball", position=(0, 0, 5), velocity=(3, 0, 0))
    return rb.Simulation(scene, time_step=0.01, worlds=worlds, **settings)


def shown(summary) -> str:
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(render(summary))
    return capture.get()


def test_a_summary_says_what_was_run_how_fast_and_how_well():
    sim = falling()
    start = sim.energy()
    sim.run(0.5)
    summary = run_summary(sim, 0.25, start, [sim.report])
    assert {key: summary[key] for key in ("scene", "bodies", "worlds", "device", "integrator", "steps")} == {
        "scene": "fall", "bodies": 1, "worlds": 1, "device": "cpu", "integrator": "lie_midpoint", "steps": 50
    }  # fmt: skip
    assert summary["simulated_time"] == pytest.approx(0.5)
    assert summary["real_time_factor"] == pytest.approx(2.0)
    assert summary["energy_start"] == pytest.approx(0.5 * 2.0 * 9.0 + 2.0 * 9.81 * 5.0)
    assert summary["energy_end"] - summary["energy_start"] == summary["energy_drift"]
    assert abs(summary["energy_drift_relative"]) < 1e-14
    assert summary["converged"] is True
    assert json.loads(json.dumps(summary)) == summary


def test_the_drift_is_what_the_forces_took():
    sim = falling()
    start = sim.energy()
    sim["ball"].velocity = (1.0, 0.0, 0.0)
    summary = run_summary(sim, 1.0, start, [])
    assert summary["energy_drift"] == pytest.approx(-8.0)
    assert summary["energy_drift_relative"] == pytest.approx(-8.0 / (9.0 + 98.1))
    assert "energy_world" not in summary


def test_of_several_worlds_the_one_that_drifted_most_is_shown():
    sim = falling(worlds=3)
    start = sim.energy()
    sim["ball"].velocity = [(3, 0, 0), (0, 0, 0), (2, 0, 0)]
    summary = run_summary(sim, 1.0, start, [])
    assert summary["energy_world"] == 1
    assert summary["energy_drift"] == pytest.approx(-9.0)
    text = shown(summary)
    assert "fall, 1 body in each of 3 worlds" in text
    assert "energy, world 1" in text


def test_errors_of_joints_are_shown_where_there_are_joints():
    sim = falling()
    assert "position error" not in shown(run_summary(sim, 1.0, sim.energy(), []))


def test_errors_are_the_worst_of_all_reports_and_one_failure_is_enough():
    scene = falling().scene
    scene.add_joint(rb.Ball(scene.world, "ball", at=(0, 0, 5)))
    sim = rb.Simulation(scene)
    reports = [
        Report(integration_error=1e-5, position_error=2e-7, integration_tolerance=1e-4),
        Report(integration_error=3e-3, converged=False, reason="It did not.", integration_tolerance=1e-4),
        Report(integration_error=2e-6, position_error=1e-8, integration_tolerance=1e-4),
    ]
    summary = run_summary(sim, 1.0, sim.energy(), reports)
    assert (summary["integration_error"], summary["integration_tolerance"]) == (3e-3, 1e-4)
    assert (summary["position_error"], summary["position_tolerance"]) == (2e-7, 1e-6)
    assert (summary["converged"], summary["reason"]) == (False, "It did not.")
    text = shown(summary)
    assert "not converged: It did not." in text
    assert "3.0e-03 at worst, 1.0e-04 allowed" in text
    assert "2.0e-07 m at worst, 1.0e-06 m allowed" in text
    assert "1 body and 1 joint" in text


def test_a_run_that_began_later_counts_its_own_time_and_steps():
    sim = falling()
    sim.run(0.2)
    start, time, steps = sim.energy(), sim.time, sim.state.steps
    sim.run(0.3)
    summary = run_summary(sim, 0.1, start, [], start_time=time, start_step=steps)
    assert summary["simulated_time"] == pytest.approx(0.3)
    assert summary["steps"] == 30


def test_the_table_says_it_in_words():
    sim = falling()
    start = sim.energy()
    sim.run(0.5)
    text = shown(run_summary(sim, 0.002, start, [sim.report]))
    assert "fall, 1 body" in text
    assert "lie_midpoint on cpu, 50 steps of 0.01 s" in text
    assert "0.5 s simulated in 0.002 s, 250 × real time" in text
    assert "107.1 J at the start, 107.1 J at the end" in text
    assert "every tolerance met" in text


def test_brackets_in_a_name_are_not_taken_for_markup():
    scene = rb.Scene(name="a [bold] scene")
    scene.add_body(rb.Sphere(0.1))
    sim = rb.Simulation(scene)
    assert "a [bold] scene" in shown(run_summary(sim, 1.0, sim.energy(), []))


def test_an_integrator_without_a_tolerance_has_no_row_for_it():
    sim = falling(integrator="rk4")
    assert "integration error" not in shown(run_summary(sim, 1.0, sim.energy(), []))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"wall_seconds": 0.0}, "The wall_seconds of a summary is 0.0; it must be greater than zero."),
        ({"start_time": "now"}, "The start_time of a summary is 'now'; it must be a number."),
        ({"start_step": -1}, "The start_step of a summary is -1; it must be at least 0."),
    ],
)
def test_wrong_numbers_are_refused(options, said):
    sim = falling()
    given = {"wall_seconds": 1.0, "start_energy": sim.energy(), "reports": []} | options
    with pytest.raises(rb.InputError) as caught:
        run_summary(sim, **given)
    assert str(caught.value) == said


def test_the_relative_drift_is_of_the_first_energy_or_of_the_largest_kinetic_one():
    np.testing.assert_allclose(relative_drift([-2.0, -1.0, -3.0], [5.0, 5.0, 5.0]), [0.0, 0.5, -0.5])
    np.testing.assert_allclose(relative_drift([0.0, 1.0, 2.0], [1.0, 4.0, 2.0]), [0.0, 0.25, 0.5])
    np.testing.assert_allclose(relative_drift([0.0, 0.0], [0.0, 0.0]), [0.0, 0.0])
    two = relative_drift([[1.0, 0.0], [2.0, 1.0]], [[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_allclose(two, [[0.0, 0.0], [1.0, 0.5]])
