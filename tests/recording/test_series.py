"""Growing arrays: what goes in comes out, room doubles, and what was handed out stays as it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rattleback.recording.series import Series


@given(st.lists(st.floats(allow_nan=False), max_size=200))
def test_a_series_holds_what_was_appended_in_order(numbers):
    series = Series((), np.float64)
    for number in numbers:
        series.append(np.asarray(number))
    assert series.values.tolist() == numbers


def test_room_is_made_by_doubling():
    series, rooms = Series((2,), np.float64), set()
    for index in range(5000):
        series.append(np.array([index, -index]))
        rooms.add(series.values.base.ctypes.data)
    assert len(rooms) <= 10
    np.testing.assert_array_equal(series.values[:, 0], np.arange(5000))


def test_what_was_handed_out_does_not_change():
    series = Series((), np.float64)
    series.append(np.asarray(1.0))
    early = series.values
    for _ in range(100):
        series.append(np.asarray(2.0))
    series.clear()
    series.append(np.asarray(3.0))
    assert early.tolist() == [1.0]
    assert series.values.tolist() == [3.0]
