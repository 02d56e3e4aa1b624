"""The period of a point mass on a rod, against the elliptic integral.

    T = 4 √(l/g) K(sin²(θ₀/2)) = 2π √(l/g) / M(1, cos(θ₀/2)),   M arithmetic–geometric mean

θ₀ = π/2 angle it is let go from, l = 1 m, g = 9.81 m/s². The ball passes below the pivot once a period from the same
side; the moment is read off a cubic through four samples.

Reference: multibody benchmark library, problem A01; the digits follow from the closed form.
"""

from __future__ import annotations

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.experiments.convergence import error_panel, order
from rattleback.experiments.result import Experiment, Finding, Findings, Options, Result, near
from rattleback.scenes import pendulum
from rattleback.simulation import Simulation

PERIOD = 2.36784194757624
# The error is 1e-5 s at a millisecond and of second order.
ALLOWED = 10.0


def run(options: Options) -> Result:
    """Measure the period at several step lengths; the shortest decides."""
    found, errors = Findings(), {}
    for step in (0.01, 0.005) if options.quick else (0.008, 0.004, 0.002, 0.001):
        options.tell(f"pendulum at {step:g} s")
        period = mean_period(step, found)
        errors[step] = abs(period - PERIOD)
    found.rows.append(near(f"period at h = {step:g} s", period, PERIOD, ALLOWED * step**2, "s"))
    found.rows.append(Finding("order of the error in h", order(errors)))
    return found.result(error_panel("Error of the period", "s", {"period": errors}))


def mean_period(step: float, found: Findings) -> float:
    """The mean time between passages below the pivot during 10 s [s]."""
    sim = Simulation(pendulum(), time_step=step, position_tolerance=1e-12, strict=True)
    samples = [(0.0, 1.0)]
    try:
        while sim.time < 10.0:
            sim.step()
            samples.append((sim.time, float(sim["ball"].position[0])))
    except RattlebackError as error:
        found.note(str(error))
        return float("nan")
    time, x = np.array(samples).T
    passed = [crossing(time[i - 1 : i + 3], x[i - 1 : i + 3]) for i in np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))]
    return float(np.mean(np.diff(passed)))


def crossing(time: np.ndarray, values: np.ndarray) -> float:
    """Where a cubic through four samples is zero, between the second and the third."""
    roots = np.roots(np.polyfit(time - time[1], values, 3))
    real = roots[np.abs(roots.imag) < 1e-9].real
    middle = 0.5 * (time[2] - time[1])
    return float(time[1] + real[np.argmin(np.abs(real - middle))])


EXPERIMENT = Experiment(
    "pendulum",
    "Does a point mass on a rod swing with the period of the elliptic integral?",
    "closed form; multibody benchmark library, A01",
    run,
)
