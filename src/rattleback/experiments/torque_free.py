"""A body that spins about its middle axis and turns over: when, against Jacobi's elliptic functions.

    ω₂ = 0 first at t = 10.37730488 s, then every 20.7546097646536 s,   I = (1, 2, 3) kg m²,   ω₀ = (0.01, 1, 0) rad/s

The second number is half a period of ω₂, and the first half of the second: ω₂ starts at its largest.

Reference: closed form, Landau and Lifshitz, Mechanics, §37.
"""

from __future__ import annotations

import numpy as np

from rattleback.experiments.convergence import error_panel, order
from rattleback.experiments.pendulum import crossing
from rattleback.experiments.result import Experiment, Finding, Findings, Options, Result, near
from rattleback.maths.rotation import conjugate, rotate
from rattleback.scenes import torque_free
from rattleback.simulation import Simulation

FIRST = 10.37730488
BETWEEN = 20.7546097646536
# The error is 2e-5 s at 2.5 ms and of second order.
ALLOWED = 4.0


def run(options: Options) -> Result:
    """Find the moments at several step lengths; the shortest decides."""
    found, errors = Findings(), {}
    for step in (0.04, 0.02) if options.quick else (0.02, 0.01, 0.005, 0.0025):
        options.tell(f"torque-free body at {step:g} s")
        moments = turnovers(step)
        errors[step] = abs(moments[1] - moments[0] - BETWEEN)
    allowed = ALLOWED * step**2
    found.rows.append(near(f"first turnover, h = {step:g} s", moments[0], FIRST, allowed, "s"))
    found.rows.append(near(f"time to the next, h = {step:g} s", moments[1] - moments[0], BETWEEN, allowed, "s"))
    found.rows.append(Finding("order of the error in h", order(errors)))
    return found.result(error_panel("Error of the time between turnovers", "s", {"time": errors}))


def turnovers(step: float) -> list[float]:
    """When the angular velocity about the middle axis passes through zero, the first two times [s]."""
    sim = Simulation(torque_free(), time_step=step)
    samples = []
    while sim.time < 1.6 * BETWEEN:
        sim.step()
        body = sim["body"]
        samples.append((sim.time, float(rotate(conjugate(body.orientation), body.angular_velocity)[1])))
    time, rate = np.array(samples).T
    at = np.flatnonzero(np.sign(rate[:-1]) != np.sign(rate[1:]))
    return [crossing(time[i - 1 : i + 3], rate[i - 1 : i + 3]) for i in at[:2]]


EXPERIMENT = Experiment(
    "torque_free",
    "Does a body spinning about its middle axis turn over when it should?",
    "closed form, Landau and Lifshitz §37",
    run,
)
