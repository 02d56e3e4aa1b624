"""The bridge that breaks: how it hangs, what a weight does to it, and every parameter it refuses."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import rattleback as rb
from rattleback.scenes import bridge

# The weight and planks strike each other and the ground faster than contacts are told to keep up with.
pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")]


def run(duration: float, **parameters: float) -> tuple[rb.Simulation, list[rb.BreakEvent]]:
    sim, events = rb.Simulation(rb.scenes.breaking_bridge(**parameters), time_step=0.002), rb.BreakEvents(every=50)
    sim.observe(events)
    sim.run(duration)
    events.observe(sim)
    return sim, events.take()


def test_a_bridge_on_its_own_carries_its_weight() -> None:
    """Planks at rest have the slopes tan θ = w k / H, k = −7 … 7, and span the gap: that gives H.

    The arc is not quite that curve, so the bridge moves a little, and forces are means over some swings.
    """
    length, w = bridge.PLANK[0] + bridge.GAP, bridge.PLANK_MASS * 9.81
    scene, k = rb.scenes.breaking_bridge(height=50.0), np.arange(-7, 8)
    span = scene.joints["hinge_16"].at[0] - scene.joints["hinge_1"].at[0]
    level = brentq(lambda force: length * np.cos(np.arctan(w * k / force)).sum() - span, 100.0, 1e4)
    sim, forces = rb.Simulation(scene, time_step=0.005), []
    for _ in range(500):
        sim.step()
        forces.append([sim[name].reaction_force for name in ("hinge_1", "hinge_16")])
        assert sim.report.converged
    first, last = np.mean(forces, axis=0)
    np.testing.assert_allclose(first, (-level, 0.0, 7.5 * w), rtol=0.01, atol=0.1)
    np.testing.assert_allclose(last, (-level, 0.0, -7.5 * w), rtol=0.01, atol=0.1)
    assert not sim.state.breaks.broken.numpy().any()


def test_a_weight_that_falls_on_it_parts_it_in_the_middle() -> None:
    sim, events = run(1.2)
    fall = math.sqrt(2.0 * 2.0 / 9.81)
    assert {event.joint for event in events} == {f"hinge_{k}" for k in (7, 8, 9, 10)}
    assert all(abs(event.time - fall) < 0.02 for event in events)
    assert all(event.force > sim[event.joint].breaking_force for event in events)
    assert sim["weight"].position[2] < 1.0
    assert sim["plank_1"].position[2] > 2.5


def test_a_weight_that_is_laid_down_gently_is_carried() -> None:
    sim, events = run(1.0, height=0.02)
    assert events == []
    assert sim["weight"].position[2] > 2.0


def test_planks_reach_from_rock_to_rock_and_hang_together() -> None:
    scene = rb.scenes.breaking_bridge(planks=6)
    sim = rb.Simulation(scene, time_step=0.002)
    sim.step(10)
    assert sim.report.converged
    strengths = [scene.joints[f"hinge_{k + 1}"].breaking_force for k in range(7)]
    np.testing.assert_allclose(strengths, strengths[::-1])
    assert min(strengths) == strengths[3] == 2.5e4


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"planks": 2}, "The planks of breaking_bridge is 2; it must be at least 3."),
        ({"strength": 0.0}, "The strength of breaking_bridge is 0.0; it must be greater than zero."),
        ({"mass": -1.0}, "The mass of breaking_bridge is -1.0; it must be greater than zero."),
        ({"height": 0.0}, "The height of breaking_bridge is 0.0; it must be greater than zero."),
    ],
)
def test_a_bridge_refuses_what_cannot_be_built(parameters: dict[str, float], said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        rb.scenes.breaking_bridge(**parameters)
