"""A run under watch: what it notes of a good run, and how it ends when a run goes wrong."""

import math

import pytest

import rattleback as rb
from rattleback.experiments.trial import watch
from rattleback.scenes import chain, pendulum


def test_a_good_run_holds_and_gains_nothing():
    seen = []
    trial = watch(pendulum(), 100, 10, lambda sim: seen.append(sim.time), time_step=0.01)
    assert trial.reason == ""
    assert trial.simulation.state.steps == 101
    assert seen == trial.times
    assert trial.times == pytest.approx([0.01 + 0.1 * k for k in range(11)])
    assert len(trial.energies) == len(trial.corrections) == 11
    assert len(trial.milliseconds) == 10
    assert trial.mean_milliseconds > 0.0
    assert 0.0 < trial.position_error <= 1e-6
    # A pendulum let go from the horizontal has m g l = 9.81 J of kinetic energy at most.
    assert trial.kinetic == pytest.approx(9.81, rel=0.02)
    assert trial.energy_error < 0.05
    assert trial.held("it").passed
    assert trial.stable("it").passed


def test_steps_are_taken_one_by_one_where_there_are_fewer_than_pieces():
    trial = watch(pendulum(), 3, 50, time_step=0.01)
    assert trial.simulation.state.steps == 4
    assert len(trial.milliseconds) == 3


def test_a_step_that_does_not_converge_ends_the_run_as_a_failed_one():
    trial = watch(chain(10), 100, 10, time_step=0.02, position_tolerance=1e-14, max_iterations=1)
    assert "corrections" in trial.reason
    assert trial.simulation.state.steps < 101
    assert trial.times[-1] == trial.simulation.time
    assert trial.held("it").passed is False


def test_joints_that_were_within_tolerance_by_position_alone_do_not_pass():
    trial = watch(chain(2), 10, 1, time_step=0.01)
    trial.reason = "The velocities were off."
    assert trial.held("it").measured == math.inf
    assert trial.held("it").passed is False


def test_a_run_that_diverges_ends_as_a_failed_one(monkeypatch):
    def diverge(self, steps=1):
        raise rb.DivergenceError("It is no longer finite.", body="ball", world=0, time=0.0, step=1)

    monkeypatch.setattr(rb.Simulation, "step", diverge)
    trial = watch(pendulum(), 10, 1, time_step=0.01)
    assert trial.reason == "It is no longer finite."
    assert math.isnan(trial.mean_milliseconds)
    assert trial.gained == math.inf
    assert trial.held("it").passed is False
    assert trial.stable("it").passed is False


def test_energy_from_a_source_counts_as_gained():
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="rocket")
    scene.add_force(rb.Wrench(["rocket"], force=(0, 0, 100.0)))
    trial = watch(scene, 100, 10, time_step=0.01)
    assert trial.gained > 0.9
    assert trial.stable("it").passed is False
