"""Schedules: steps, lines and monotone cubics, the same on the device and in Python, against NumPy and SciPy."""

import numpy as np
import pytest
import warp as wp
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

import rattleback as rb
from rattleback.core.precision import PRECISION, numpy_real, real
from rattleback.forces.schedule import Course, on_device, value_at

TIMES, VALUES = (0.5, 1.0, 1.5, 2.5, 4.0, 4.5), (1.0, 3.0, 2.0, 2.0, 2.5, 7.0)
MOMENTS = np.linspace(-1.0, 6.0, 701)
TOLERANCE = 1e-12 if PRECISION == "double" else 1e-5


@wp.kernel(enable_backward=False)
def evaluate(course: Course, times: wp.array[wp.float64], found: wp.array[real]) -> None:
    i = wp.tid()
    found[i] = value_at(course, 0, times[i])


def on(device: str, schedule: rb.Schedule | float, moments: np.ndarray) -> np.ndarray:
    times = wp.array(moments, dtype=wp.float64, device=device)
    found = wp.zeros(len(moments), dtype=real, device=device)
    wp.launch(evaluate, dim=len(moments), inputs=[on_device([schedule], 1, device), times, found], device=device)
    return found.numpy()


def steps(moments: np.ndarray) -> list[float]:
    return [next((v for t, v in reversed(list(zip(TIMES, VALUES, strict=True))) if t <= m), VALUES[0]) for m in moments]


def cubic(moments: np.ndarray) -> np.ndarray:
    """SciPy's monotone cubic with the slopes at both ends set to zero."""
    slopes = PchipInterpolator(TIMES, VALUES).derivative()(TIMES)
    slopes[[0, -1]] = 0.0
    return CubicHermiteSpline(TIMES, VALUES, slopes)(np.clip(moments, TIMES[0], TIMES[-1]))


EXPECTED = {"step": steps(MOMENTS), "linear": np.interp(MOMENTS, TIMES, VALUES), "cubic": cubic(MOMENTS)}


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_schedule_is_what_numpy_and_scipy_say(kind: str, device: str) -> None:
    schedule = rb.Schedule(TIMES, VALUES, kind=kind)
    np.testing.assert_allclose(on(device, schedule, MOMENTS), EXPECTED[kind], atol=TOLERANCE)
    np.testing.assert_allclose(schedule(MOMENTS), EXPECTED[kind], atol=1e-12)


@pytest.mark.parametrize("kind", EXPECTED)
def test_the_values_are_met_at_their_times(kind: str, device: str) -> None:
    schedule = rb.Schedule(TIMES, VALUES, kind=kind)
    np.testing.assert_array_equal(on(device, schedule, np.array(TIMES)), np.array(VALUES, dtype=numpy_real))
    assert [schedule(t) for t in TIMES] == list(VALUES)


@given(
    st.lists(st.floats(0.01, 10), min_size=1, max_size=8),
    st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8),
)
def test_a_cubic_never_leaves_the_range_of_its_neighbours(gaps: list[float], values: list[float]) -> None:
    times = np.cumsum(gaps)
    values = values[: len(times)]
    schedule = rb.Schedule(times, values, kind="cubic")
    for k in range(len(times) - 1):
        between = schedule(np.linspace(times[k], times[k + 1], 33))
        low, high = sorted(values[k : k + 2])
        slack = 1e-12 * (abs(low) + abs(high))
        assert between.min() >= low - slack
        assert between.max() <= high + slack


def test_a_number_and_a_schedule_of_one_value_are_constant(device: str) -> None:
    for schedule in (2.5, rb.Schedule([3.0], [2.5]), rb.Schedule([3.0], [2.5], kind="cubic")):
        np.testing.assert_array_equal(on(device, schedule, MOMENTS), 2.5)
    assert rb.Schedule([3.0], [2.5])(7.0) == 2.5


def test_schedules_are_values() -> None:
    assert rb.Schedule([0, 1], np.array([2, 3])) == rb.Schedule((0.0, 1.0), [2, 3], "linear")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1], [1]), "The Schedule has 2 times and 1 values; it needs one value for every time."),
        (([], []), "The Schedule has 0 times and 0 values; it needs one value for every time."),
        (([0, 2, 2], [1, 2, 3]), "The times of Schedule go from 2 s to 2 s; each must be after the one before."),
        (([0, 1], [1, float("inf")]), "The values of Schedule is [1, inf]; every entry must be finite."),
        (("soon", [1]), "The times of Schedule is 'soon'; it must be n numbers."),
        (([0, 1], [1, 2], "spline"), "The kind of Schedule is 'spline'; it may be 'step', 'linear', 'cubic'."),
    ],
)
def test_a_schedule_that_cannot_be_says_why(arguments: tuple, words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        rb.Schedule(*arguments)
    assert words in str(caught.value)
