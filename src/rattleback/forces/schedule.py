"""Targets that change with time: values at given times, and what lies between them.

    step     v(t) = v_i                                                 t_i ≤ t < t_{i+1}
    linear   v(t) = v_i + s (v_{i+1} − v_i)                             s = (t − t_i)/(t_{i+1} − t_i)
    cubic    v(t) = v_i + s² (3 − 2 s) (v_{i+1} − v_i) + h (s (1 − s)² m_i − s² (1 − s) m_{i+1}),   h = t_{i+1} − t_i

Before the first time the first value holds, after the last the last. The cubic is monotone (PCHIP): its slope m_i is
zero where the values turn back, else the harmonic mean of the slopes beside it, weighted by the lengths of the
stretches; it never leaves the range of the values at both ends of a stretch, as a natural spline would. The slope at
the first and the last time is zero, so that the target starts and ends at rest and its rate never jumps.

Cost: a binary search. Reference: Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5 (1984), 300–304.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, real
from rattleback.core.sealed import sealed

KINDS = ("step", "linear", "cubic")
STEP, LINEAR, CUBIC = (wp.constant(wp.int32(k)) for k in range(3))


@wp.struct
class Course:
    """The schedule of every world on a device: its kind, its first time among those of all, and their number."""

    kind: wp.array[wp.int32]
    first: wp.array[wp.int32]
    count: wp.array[wp.int32]
    times: wp.array[wp.float64]
    values: wp.array[real]
    slopes: wp.array[real]


@wp.func
def value_at(course: Course, world: int, t: wp.float64) -> real:
    """The value of the schedule of a world at a time."""
    low = int(course.first[world])
    high = low + int(course.count[world]) - 1
    if t <= course.times[low]:
        return course.values[low]
    if t >= course.times[high]:
        return course.values[high]
    while high - low > 1:
        middle = (low + high) // 2
        if course.times[middle] <= t:
            low = middle
        else:
            high = middle
    v = course.values[low]
    if course.kind[world] == STEP:
        return v
    h = course.times[low + 1] - course.times[low]
    s = real((t - course.times[low]) / h)
    rise = course.values[low + 1] - v
    if course.kind[world] == LINEAR:
        return v + s * rise
    one = real(1.0)
    bend = s * (one - s) * (one - s) * course.slopes[low] - s * s * (one - s) * course.slopes[low + 1]
    return v + s * s * (real(3.0) - real(2.0) * s) * rise + real(h) * bend


@sealed
@dataclass(frozen=True)
class Schedule:
    """Values at given times; calling it with a time, or an array of times, gives what a servo aims at then.

    Args:
        times: Times, each after the one before (n,) [s].
        values: Values at these times (n,), in the unit of what they control.
        kind: ``"step"``, ``"linear"`` or ``"cubic"`` (monotone, at rest at both ends).
    """

    times: Any
    values: Any
    kind: str = "linear"

    def __post_init__(self) -> None:
        """Check that there is a value for every time, and that time goes on."""
        times, values = (checks.array(getattr(self, name), (-1,), f"The {name} of Schedule") for name in _ARRAYS)
        if not len(times) or len(times) != len(values):
            raise InputError(
                f"The Schedule has {len(times)} times and {len(values)} values; it needs one value for every time."
            )
        if (back := np.flatnonzero(np.diff(times) <= 0.0)).size:
            first = int(back[0])
            raise InputError(
                f"The times of Schedule go from {times[first]:g} s to {times[first + 1]:g} s; each must be after the "
                "one before."
            )
        checks.one_of(self.kind, KINDS, "The kind of Schedule")
        for name, array in zip(_ARRAYS, (times, values), strict=True):
            object.__setattr__(self, name, tuple(array.tolist()))

    def __call__(self, time: Any) -> Any:
        """The value at a time, or at each of an array of times [s]."""
        times, values = np.array(self.times), np.array(self.values)
        t = np.clip(np.asarray(time, dtype=np.float64), times[0], times[-1])
        low = np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(len(times) - 2, 0))
        high = np.minimum(low + 1, len(times) - 1)
        h = np.where(high > low, times[high] - times[low], 1.0)
        s, rise, m = (t - times[low]) / h, values[high] - values[low], slopes(self)
        if self.kind == "step":
            result = values[np.searchsorted(times, t, side="right") - 1]
        elif self.kind == "linear":
            result = values[low] + s * rise
        else:
            bend = s * (1.0 - s) ** 2 * m[low] - s * s * (1.0 - s) * m[high]
            result = values[low] + s * s * (3.0 - 2.0 * s) * rise + h * bend
        return float(result) if np.ndim(result) == 0 else result


_ARRAYS = ("times", "values")


def slopes(schedule: Schedule) -> np.ndarray:
    """The slopes m_i of the monotone cubic (n,)."""
    h, found = np.diff(schedule.times), np.zeros(len(schedule.times))
    beside = np.diff(schedule.values) / h
    before, after = beside[:-1], beside[1:]
    same = np.sign(before) * np.sign(after) > 0.0
    first, second = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    with np.errstate(over="ignore"):
        mean = (first + second) / (first / np.where(same, before, 1.0) + second / np.where(same, after, 1.0))
    found[1:-1] = np.where(same, mean, 0.0)
    return found


def scheduled(value: Any, what: str) -> float | Schedule:
    """A schedule, or a number that holds at all times."""
    return value if isinstance(value, Schedule) else checks.number(value, what)


def on_device(targets: list[Any], worlds: int, device: Any) -> Any:
    """Schedules or numbers as arrays of a device.

    Args:
        targets: That of every world, or one for all.
        worlds: Number of worlds.
        device: Warp device.
    """
    given = [target if isinstance(target, Schedule) else Schedule((0.0,), (target,), "step") for target in targets]
    counts = np.array([len(schedule.times) for schedule in given])
    course: Any = Course()
    columns = {"kind": [KINDS.index(s.kind) for s in given], "first": np.cumsum(counts) - counts, "count": counts}
    for name, entries in columns.items():
        own = np.broadcast_to(np.array(entries, dtype=np.int32), worlds)
        setattr(course, name, wp.array(np.ascontiguousarray(own), dtype=wp.int32, device=device))
    course.times = wp.array(np.concatenate([s.times for s in given]), dtype=wp.float64, device=device)
    for name, column in (("values", [s.values for s in given]), ("slopes", [slopes(s) for s in given])):
        setattr(course, name, wp.array(np.concatenate(column).astype(numpy_real), dtype=real, device=device))
    return course
