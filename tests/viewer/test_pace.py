import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.viewer.pace import PATIENCE, Pace


@given(speed=st.floats(0.01, 10.0), begun=st.floats(0.0, 1e4))
def test_simulated_time_is_due_in_proportion_to_real_time(speed, begun):
    pace = Pace(speed)
    assert pace.due(begun, 3.0) == 0.0
    assert pace.due(begun + 0.05, 3.0) == pytest.approx(0.05 * speed, abs=1e-9 * speed)
    assert pace.due(begun + 0.05, 3.0 + 0.05 * speed) == pytest.approx(0.0, abs=1e-9 * speed)


def test_a_simulation_that_is_ahead_has_to_wait():
    pace = Pace(1.0)
    pace.due(0.0, 0.0)
    assert pace.due(0.01, 0.05) == pytest.approx(-0.04)


def test_a_long_delay_is_forgiven():
    pace = Pace(1.0)
    pace.due(0.0, 0.0)
    assert pace.due(10.0, 0.0) == pytest.approx(PATIENCE)
    assert pace.due(10.0, PATIENCE) == pytest.approx(0.0)


def test_without_a_limit_time_is_always_due():
    assert Pace(math.inf).due(0.0, 0.0) == math.inf


def test_the_speed_reached_is_that_of_late():
    pace = Pace(1.0)
    for k in range(200):
        pace.note(0.01 * k, 0.02 * k if k < 100 else 2.0 + 0.005 * (k - 100))
    assert pace.reached == pytest.approx(0.5, rel=1e-6)


def test_where_nothing_moves_the_speed_reached_is_none():
    pace = Pace(1.0)
    assert pace.reached == 0.0
    pace.note(1.0, 1.0)
    assert pace.reached == 0.0
