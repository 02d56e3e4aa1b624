"""The orders of steps made of symmetric ones, measured on joints and closed loops, and published digits met by them.

    order = log(error₁/error₂) / log(n₂/n₁)

n numbers of steps in the same time, errors those of positions and velocities against order ten at finer steps. The
dissertation observed order three whatever was asked for, as it is not symmetric. Numbers of steps are such that the
error is above rounding and its next term small; order ten has little room between the two in double precision, so it is
held less closely, and where there is none it is left out.

Reference: Bender, dissertation, §3.4; digits of Brüls and Cardona 2010 (heavy top), of the multibody benchmark library
(four-bars at 10 s) and of Hairer and Wanner (squeezing mechanism at 0.03 s).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.experiments.convergence import run_to
from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, near
from rattleback.maths import rotation
from rattleback.model import Scene
from rattleback.scenes import andrews, bricard, double_pendulum, four_bar, heavy_top
from rattleback.simulation import Simulation
from rattleback.steps import Composed, Extrapolated

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOWED, ALLOWED_OF_TEN = 0.1, 0.3
TOP, TIP = (0.605550561, 0.598957682, -0.523983027), (0.3284581115, 0.9445185382)
# Angles at the start and at 0.03 s; by t = ∫ dβ/β̇, from the energy, the first of them is 1.1e-9 rad less.
ANGLES = {"O": (-0.0617138900142765, 15.81077119629904), "B": (0.45527981916307, 0.04082224013073101)}
ANGLES |= {"A5": (0.48736497954384255, 0.5244099658805304), "A7": (1.230547444549821, 1.048080741042263)}


def free_body() -> Scene:
    """A body with three different moments that nothing acts on."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), name="free_body")
    scene.add_body(mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.5, 2.0, 0.3), name="body")
    return scene


# Time [s] and two numbers of steps for each order, of extrapolation and of composition.
Table = dict[int, tuple[float, int, int]]
TRIALS: dict[str, tuple[Callable[[], Scene], Table, Table]] = {
    "heavy top": (
        heavy_top,
        {2: (0.2, 200, 400), 4: (0.2, 150, 300), 6: (0.2, 80, 150), 8: (0.2, 50, 80), 10: (0.2, 30, 50)},
        {4: (0.2, 100, 200), 6: (0.2, 60, 100), 8: (0.2, 25, 35)},
    ),
    "double pendulum": (
        double_pendulum,
        {2: (0.4, 20, 40), 4: (0.4, 20, 40), 6: (0.4, 20, 40), 8: (0.8, 25, 40), 10: (1.0, 25, 30)},
        {4: (0.4, 20, 40), 6: (0.4, 15, 30), 8: (0.4, 5, 8)},
    ),
    "four-bar, closed": (
        lambda: four_bar(1),
        {2: (0.5, 20, 40), 4: (0.5, 20, 40), 6: (0.5, 16, 30), 8: (0.5, 8, 12), 10: (1.0, 20, 24)},
        {4: (0.5, 20, 40), 6: (0.5, 12, 20), 8: (0.5, 4, 6)},
    ),
    "Bricard, redundant": (
        bricard,
        {2: (1.0, 20, 40), 4: (1.0, 20, 40), 6: (1.0, 16, 30), 8: (1.0, 8, 12), 10: (4.0, 24, 32)},
        {4: (1.0, 20, 40), 6: (1.0, 10, 16)},
    ),
    "free body": (
        free_body,
        {2: (2.0, 20, 40), 4: (2.0, 20, 40), 6: (2.0, 16, 30), 8: (6.0, 30, 50), 10: (2.0, 4, 6)},
        {4: (2.0, 20, 40), 6: (2.0, 10, 20)},
    ),
}


def end_of(make: Callable[[], Scene], duration: float, steps: int, step: Any) -> np.ndarray:
    """Positions and velocities of all bodies after some steps."""
    sim = Simulation(make(), time_step=duration / steps, step=step, contacts="none", strict=True)
    sim.step(steps)
    parts = (sim.state.position, sim.state.velocity, sim.state.angular_velocity)
    return np.concatenate([np.ravel(part) for part in parts])


def errors_of(make: Callable[[], Scene], step: Any, trial: tuple[float, int, int]) -> tuple[float, float]:
    """The largest error by the smaller and by the larger number of steps."""
    duration, *counts = trial
    truth = end_of(make, duration, 2 * counts[1], Composed(order=10))
    few, many = (float(np.abs(end_of(make, duration, n, step) - truth).max()) for n in counts)
    return few, many


def run(options: Options) -> Result:
    """Measure the orders, then the digits."""
    found, curves = Findings(), []
    for number, (name, (make, extrapolated, composed)) in enumerate(TRIALS.items()):
        orders = (6,) if options.quick else tuple(extrapolated)
        for kind, table in ((Extrapolated, extrapolated), (Composed, composed)):
            for order in [order for order in orders if order in table]:
                options.tell(f"{name}, {kind.__name__}(order={order})")
                few, many = errors_of(make, kind(order=order), table[order])
                duration, *counts = table[order]
                slope = math.log(few / many) / math.log(counts[1] / counts[0])
                allowed = ALLOWED_OF_TEN if order == 10 else ALLOWED
                found.rows.append(near(f"{name}, {kind.__name__.lower()}, order {order}", slope, order, allowed))
                if kind is Extrapolated:
                    lengths = [duration / n for n in counts]
                    curves.append(Curve(name if order == orders[0] else "", lengths, [few, many], colour=number))
    _add_digits(found, options)
    return found.result(
        Panel("Error over the step", "step H [s]", "error [m, m/s, rad/s]", tuple(curves), ("log", "log"))
    )


def _add_digits(found: Findings, options: Options) -> None:
    """Add the rows of published digits."""
    options.tell("heavy top, to its published digits")
    if (sim := run_to(heavy_top(), 0.2, found, time_step=0.004, step=Extrapolated(order=10))) is not None:
        for axis, measured, published in zip("xyz", sim["top"].position, TOP, strict=True):
            found.rows.append(near(f"heavy top, {axis} at 0.2 s", float(measured), published, 6e-10, "m"))
    options.tell("Andrews' squeezing mechanism, to a tolerance")
    tight = Extrapolated(order=10, tolerance=1e-10)
    if (sim := run_to(andrews(), 0.03, found, time_step=0.03, step=tight)) is not None:
        for joint, (start, published) in ANGLES.items():
            measured, allowed = start + float(sim[joint].angle), 1e-10 * (1.0 + published)
            found.rows.append(near(f"squeezing mechanism, angle at {joint}", measured, published, allowed, "rad"))
    if options.quick:
        return
    options.tell("two four-bars through their singular pose")
    if (sim := run_to(four_bar(2), 10.0, found, time_step=0.01, step=Extrapolated(order=8))) is not None:
        crank = sim["crank_0"]
        tip = crank.position + rotation.rotate(crank.orientation, (0.5, 0.0, 0.0))
        for axis, measured, published in zip("xz", tip[[0, 2]], TIP, strict=True):
            found.rows.append(near(f"four-bars, {axis} of B₀ at 10 s", float(measured), published, 1e-10, "m"))


EXPERIMENT = Experiment(
    "orders",
    "Do steps made of symmetric ones have the order of their name, with joints and closed loops too?",
    "dissertation §3.4; Brüls and Cardona 2010; multibody benchmark library, A02; Hairer and Wanner, VII.7",
    run,
)
