"""The scene of the demo: within its tolerances from the start until the wall has fallen."""

import pytest

from rattleback.cli.demo import HIT, shown_simulation

pytestmark = [pytest.mark.slow, pytest.mark.contacts]


def test_every_step_through_the_hit_is_within_tolerance():
    sim = shown_simulation("cpu")
    while sim.time < HIT[1]:
        sim.step(10)
        assert sim.report.converged, (sim.time, sim.report.reason)
    assert abs(sim["brick_10_5"].position[1]) > 0.1
