"""Every step of high order on every joint: its order, its momentum, and the motion that the usual step tends to."""

import math
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from contracts.test_joint_contract import pair
from rattleback.joints import MENU
from rattleback.steps import MENU as STEPS

HIGH = [name for name, kind in STEPS.items() if kind().scheme() is not None]


def end(name: str, held: bool, step: Any, length: float, **settings: Any) -> tuple[np.ndarray, rb.Simulation]:
    """Positions and velocities after 0.2 s."""
    sim = rb.Simulation(pair(name, held), contacts="none", step=step, time_step=length, **settings)
    sim.step(round(0.2 / length))
    assert sim.report.converged, sim.report.reason
    return np.concatenate([np.ravel(sim.state.position), np.ravel(sim.state.velocity)]), sim


@pytest.mark.parametrize("held", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["held", "free"])
@pytest.mark.parametrize("name", [name for name in MENU if name != "velocity_joint"])
def test_every_joint_is_held_with_the_order_of_the_step(name: str, held: bool) -> None:
    truth, sim = end(name, held, rb.Extrapolated(order=10), 0.005)
    assert sim.report.position_error < 1e-12
    assert sim.report.orientation_error < 1e-12
    assert sim.report.velocity_error < 1e-11
    for step in (rb.Extrapolated(order=6), rb.Composed(order=4)):
        errors = [np.abs(end(name, held, step, length)[0] - truth).max() for length in (0.02, 0.01)]
        assert errors[1] < 5e-12 or math.log2(errors[0] / errors[1]) > step.order - 0.6


@pytest.mark.parametrize("name", ["ball", "revolute", "universal", "prismatic", "screw", "gear"])
def test_the_usual_step_tends_to_the_same_motion(name: str) -> None:
    truth, _ = end(name, True, rb.Extrapolated(order=8), 0.025)
    errors = [np.abs(end(name, True, "impulse", length)[0] - truth).max() for length in (0.002, 0.001)]
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] > 3.0


@pytest.mark.parametrize("step", HIGH)
@pytest.mark.parametrize("name", ["ball", "cylindrical", "distance", "rack"])
def test_momentum_is_kept_to_rounding(name: str, step: str) -> None:
    sim = rb.Simulation(pair(name, held=False, gravity=False), contacts="none", step=step, time_step=0.02)
    sim.step()
    before = sim.momentum()
    sim.step(20)
    after = sim.momentum()
    assert after.linear == pytest.approx(before.linear, abs=1e-12)
    # Extrapolation and projection keep angular momentum as well as they keep everything, composition exactly.
    assert after.angular == pytest.approx(before.angular, abs=1e-12 if step == "composed" else 1e-9)
