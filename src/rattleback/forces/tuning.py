"""Settings for a servo's PID controller by rule of thumb, from what the uncontrolled system shows.

The rules want the system as a first-order lag with dead time, k e^{−L s}/(1 + T s), read off its answer to a step of
the effort: L dead time, T time constant, k how far the coordinate goes in the end per unit of effort. Or they want the
gain at which a mere proportional controller just keeps oscillating, and the period of that. With a = k L/T:

| Ziegler–Nichols | gain | reset time | rate time |
|---|---|---|---|
| oscillation, P / PI / PID | 0.5 K_u / 0.45 K_u / 0.6 K_u | – / T_u/1.2 / T_u/2 | – / – / T_u/8 |
| step, P / PI / PID | 1/a / 0.9/a / 1.2/a | – / L/0.3 / 2 L | – / – / L/2 |

| Chien–Hrones–Reswick | gain · a (P, PI, PID) | reset time (PI, PID) | rate time (PID) |
|---|---|---|---|
| set-point, 0 % | 0.3, 0.35, 0.6 | 1.2 T, T | 0.5 L |
| set-point, 20 % | 0.7, 0.6, 0.95 | T, 1.35 T | 0.47 L |
| disturbance, 0 % | 0.3, 0.6, 0.95 | 4 L, 2.4 L | 0.42 L |
| disturbance, 20 % | 0.7, 0.7, 1.2 | 2.3 L, 2 L | 0.42 L |

The settings fit the keywords of a servo: ``rb.Servo("hinge", **ziegler_nichols(...))``. They are where tuning starts,
not where it ends; a joint without friction has no T at all, and only the rule of the oscillation is of use.

Reference: Ziegler and Nichols, Optimum settings for automatic controllers, Trans. ASME 64 (1942), 759–768; Chien,
Hrones and Reswick, On the automatic control of generalized passive systems, Trans. ASME 74 (1952), 175–185. Both are
named in Bender, dissertation, §3.2.5. Some tables round 1.35 to 1.4.
"""

from __future__ import annotations

import math
from typing import TypedDict

from rattleback.core import checks
from rattleback.core.errors import InputError

CONTROLLERS = ("P", "PI", "PID")
# Of each controller: gain in K_u, reset time and rate time in T_u.
OSCILLATION = {"P": (0.5, math.inf, 0.0), "PI": (0.45, 1.0 / 1.2, 0.0), "PID": (0.6, 0.5, 0.125)}
# Gain in 1/a, reset time and rate time in L.
STEP = {"P": (1.0, math.inf, 0.0), "PI": (0.9, 1.0 / 0.3, 0.0), "PID": (1.2, 2.0, 0.5)}
# Gain in 1/a, reset time in the unit named, rate time in L.
CHIEN_HRONES_RESWICK = {
    ("setpoint", 0): {"P": (0.3, math.inf, "T", 0.0), "PI": (0.35, 1.2, "T", 0.0), "PID": (0.6, 1.0, "T", 0.5)},
    ("setpoint", 20): {"P": (0.7, math.inf, "T", 0.0), "PI": (0.6, 1.0, "T", 0.0), "PID": (0.95, 1.35, "T", 0.47)},
    ("disturbance", 0): {"P": (0.3, math.inf, "L", 0.0), "PI": (0.6, 4.0, "L", 0.0), "PID": (0.95, 2.4, "L", 0.42)},
    ("disturbance", 20): {"P": (0.7, math.inf, "L", 0.0), "PI": (0.7, 2.3, "L", 0.0), "PID": (1.2, 2.0, "L", 0.42)},
}


class Tuning(TypedDict):
    """Settings of a PID controller, under the names a servo takes them by."""

    gain: float
    reset_time: float
    rate_time: float


def ziegler_nichols(
    controller: str = "PID",
    *,
    ultimate_gain: float | None = None,
    ultimate_period: float | None = None,
    dead_time: float | None = None,
    time_constant: float | None = None,
    process_gain: float | None = None,
) -> Tuning:
    """Settings after Ziegler and Nichols, from a lasting oscillation or from the answer to a step.

    Args:
        controller: ``"P"``, ``"PI"`` or ``"PID"``.
        ultimate_gain: K_u, gain of a P controller that just keeps oscillating [N m or N per unit of the error].
        ultimate_period: T_u, period of that oscillation [s].
        dead_time: L [s], in place of the oscillation.
        time_constant: T [s].
        process_gain: k, change of the coordinate in the end per unit of effort.
    """
    kind = checks.one_of(controller, CONTROLLERS, "The controller of ziegler_nichols")
    swing = {"ultimate_gain": ultimate_gain, "ultimate_period": ultimate_period}
    step = {"dead_time": dead_time, "time_constant": time_constant, "process_gain": process_gain}
    given = [name for name, value in {**swing, **step}.items() if value is not None]
    if given not in (list(swing), list(step)):
        said = " and ".join(given) or "nothing"
        raise InputError(
            f"ziegler_nichols got {said}; it needs ultimate_gain and ultimate_period, or dead_time, time_constant and "
            "process_gain."
        )
    if given == list(swing):
        gain, period = (_number(name, value, "ziegler_nichols") for name, value in swing.items())
        k, reset, rate = OSCILLATION[kind]
        return {"gain": k * gain, "reset_time": reset * period, "rate_time": rate * period}
    dead, lag, reach = (_number(name, value, "ziegler_nichols") for name, value in step.items())
    k, reset, rate = STEP[kind]
    return {"gain": k * lag / (reach * dead), "reset_time": reset * dead, "rate_time": rate * dead}


def chien_hrones_reswick(
    controller: str = "PID",
    *,
    dead_time: float,
    time_constant: float,
    process_gain: float,
    goal: str = "setpoint",
    overshoot: int = 0,
) -> Tuning:
    """Settings after Chien, Hrones and Reswick, from the answer to a step.

    Args:
        controller: ``"P"``, ``"PI"`` or ``"PID"``.
        dead_time: L [s].
        time_constant: T [s].
        process_gain: k, change of the coordinate in the end per unit of effort.
        goal: ``"setpoint"`` to follow a target that changes, ``"disturbance"`` to hold one against loads.
        overshoot: 0 for the fastest answer that does not swing, 20 for the fastest that overshoots by 20 % [%].
    """
    what = "chien_hrones_reswick"
    kind = checks.one_of(controller, CONTROLLERS, f"The controller of {what}")
    wanted = checks.one_of(goal, ("setpoint", "disturbance"), f"The goal of {what}")
    if isinstance(overshoot, bool) or overshoot not in (0, 20):
        raise InputError(f"The overshoot of {what} is {overshoot!r}; it may be 0 or 20 percent.")
    given = {"dead_time": dead_time, "time_constant": time_constant, "process_gain": process_gain}
    dead, lag, reach = (_number(name, value, what) for name, value in given.items())
    k, reset, unit, rate = CHIEN_HRONES_RESWICK[wanted, int(overshoot)][kind]
    return {
        "gain": k * lag / (reach * dead),
        "reset_time": reset * (lag if unit == "T" else dead),
        "rate_time": rate * dead,
    }


def _number(name: str, value: float | None, what: str) -> float:
    return checks.positive(value, f"The {name} of {what}")
