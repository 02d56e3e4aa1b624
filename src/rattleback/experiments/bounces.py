"""Balls that bounce: heights, time until they lie still, an elastic one that never does, and two that swap speeds.

    height after k bounces  h e²ᵏ,   it lies still after  √(2h/g) (1 + e)/(1 − e)

h height of the fall, e restitution. Between bounces the ball flies on the exact parabola, so heights are known at any
step from height and speed there. Steps end when the ball touches the ground. Where they do not, the ball rebounds up
to a step early or late, from a place that is off by a step of its speed: of first order in the length of a step.

Reference: closed form.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_least, at_most, near
from rattleback.model import Material, Scene
from rattleback.scenes import bounces
from rattleback.scenes.impacts import BOUNCING_RADIUS, GRAVITY, bounces_last
from rattleback.shapes import Sphere
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP, BOUNCES, ELASTIC = 0.001, 10, 100
RESTITUTIONS = (0.5, 0.8, 0.95)
# Relative errors that are allowed of heights and times, and of the height of the elastic ball.
ALLOWED, KEPT = 1e-3, 1e-4
# Least slope of the error over h where steps do not end at contact; it is 1 but for where in a step the ball touches.
ORDER = 0.9
# Bodies touch that are so close [m]; slower bounces than the fall through it are none. A ball that is to come to rest
# needs more, since no bounce is followed that is shorter than a step.
CLOSE, CLOSE_AT_REST = 1e-8, 1e-6
# Heights of the fall over which errors are averaged [m], so that none of them happens to touch at the end of a step.
FALLS = (0.9, 0.95, 1.0, 1.05)
# Names of how steps end, by the setting.
ENDS = {"interpolate": "steps end at contact", "off": "steps of equal length"}


def run(options: Options) -> Result:
    """Let balls of several restitutions bounce, at several step lengths."""
    found, paths = Findings(), {}
    for e in RESTITUTIONS[:1] if options.quick else RESTITUTIONS:
        options.tell(f"ball with e = {e:g}")
        paths[e] = bounce(e, BOUNCES)
        off = relative_error(e, paths[e])
        found.rows.append(at_most(f"e = {e:g}: relative error of {BOUNCES} heights", off, ALLOWED))
    e = RESTITUTIONS[0] if options.quick else RESTITUTIONS[1]
    options.tell(f"ball with e = {e:g} until it lies still")
    last = bounces_last(e)
    found.rows.append(near(f"e = {e:g}: lies still after", rests_after(e, 1.1 * last), last, ALLOWED * last, "s"))
    options.tell("elastic ball")
    number = 5 if options.quick else ELASTIC
    elastic = bounce(1.0, number, height=0.05)
    lost = float(np.abs(elastic[:, 1] / 0.05 - 1.0).max())
    found.rows.append(at_most(f"e = 1: relative change of the height in {number} bounces", lost, KEPT))
    swap(found)
    errors = convergence(options)
    slope = np.polyfit(np.log(list(errors["off"])), np.log(list(errors["off"].values())), 1)[0]
    found.rows.append(at_least("order of heights in h, steps of equal length", float(slope), ORDER))
    return found.result(heights(paths), convergence_panel(errors))


def simulate(
    e: float, step: float, contact_time: str = "interpolate", height: float = 1.0, close: float = CLOSE
) -> Simulation:
    """A ball that is about to fall."""
    return Simulation(
        bounces(e, height),
        time_step=step,
        contacts="impulse",
        contact_time=contact_time,
        contact_distance=close,
    )


def bounce(
    e: float, number: int, step: float = STEP, contact_time: str = "interpolate", height: float = 1.0
) -> np.ndarray:
    """When a ball bounces [s] and how high then [m], (number, 2).

    Args:
        e: Restitution.
        number: How many bounces.
        step: Length of a step [s].
        contact_time: As for :class:`rattleback.Simulation`.
        height: Height of the fall [m].
    """
    seen: list[tuple[float, float]] = []
    sim, falling = simulate(e, step, contact_time, height), True
    ball = sim["ball"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        while len(seen) < number:
            sim.step()
            speed = float(ball.velocity[2])
            if falling and speed > 0.0:
                seen.append((sim.time, float(ball.position[2]) - BOUNCING_RADIUS + 0.5 * speed**2 / GRAVITY))
            falling = speed <= 0.0
    return np.array(seen)


def relative_error(e: float, seen: np.ndarray) -> float:
    """Largest relative error of the heights of bounces from 1 m."""
    return float(np.abs(seen[:, 1] / e ** (2.0 * np.arange(1, len(seen) + 1)) - 1.0).max())


def rests_after(e: float, most: float) -> float:
    """When a ball has bounced for the last time [s]; infinite where it still does at the end."""
    sim, moved = simulate(e, STEP, close=CLOSE_AT_REST), math.inf
    ball = sim["ball"]
    while sim.time < most:
        sim.step()
        still = abs(float(ball.velocity[2])) < 1e-6
        moved = min(moved, sim.time) if still else math.inf
    return moved


def swap(found: Findings) -> None:
    """The rows of two equal elastic balls that meet head-on."""
    scene, before = Scene(gravity=(0.0, 0.0, 0.0)), (2.0, -0.5)
    for number, speed in enumerate(before):
        scene.add_body(
            Sphere(BOUNCING_RADIUS),
            mass=1.0,
            name=f"ball_{number + 1}",
            position=(4.0 * BOUNCING_RADIUS * number, 0.0, 0.0),
            velocity=(speed, 0.0, 0.0),
            material=Material(friction=0.0, restitution=1.0),
        )
    sim = Simulation(scene, time_step=STEP, contacts="impulse", contact_time="interpolate")
    sim.run(0.2)
    for number, speed in enumerate(reversed(before)):
        measured = float(sim[f"ball_{number + 1}"].velocity[0])
        found.rows.append(near(f"two equal balls: speed of ball {number + 1} after", measured, speed, 1e-9, "m/s"))


def convergence(options: Options) -> dict[str, dict[float, float]]:
    """Largest relative errors of the first three heights with e = 0.8, by how steps end and by their length."""
    errors: dict[str, dict[float, float]] = {}
    for how in ENDS:
        options.tell(f"bounces, {ENDS[how]}")
        steps = (0.008, 0.004) if options.quick else (0.008, 0.004, 0.002, 0.001, 0.0005, 0.00025)
        errors[how] = {step: mean_error(how, step, FALLS[:1] if options.quick else FALLS) for step in steps}
    return errors


def mean_error(how: str, step: float, falls: Sequence[float] = FALLS) -> float:
    """Largest relative error of three heights with e = 0.8, on the average of some heights of the fall [m]."""
    wanted = 0.8 ** (2.0 * np.arange(1, 4))
    off = [np.abs(bounce(0.8, 3, step, how, fall)[:, 1] / fall / wanted - 1.0).max() for fall in falls]
    return float(np.mean(off))


def heights(paths: dict[float, np.ndarray]) -> Panel:
    """Heights over the number of bounces."""
    curves = []
    for colour, (e, seen) in enumerate(paths.items()):
        bounced = np.arange(1, len(seen) + 1)
        curves.append(Curve(f"e = {e:g}", bounced.tolist(), seen[:, 1].tolist(), "dots", colour))
        curves.append(Curve(f"e²ᵏ, e = {e:g}", bounced.tolist(), (e ** (2.0 * bounced)).tolist(), "line", colour))
    return Panel("Heights", "bounces", "height [m]", tuple(curves), ("linear", "log"))


def convergence_panel(errors: dict[str, dict[float, float]]) -> Panel:
    """Relative error over the length of a step."""
    curves = [
        Curve(ENDS[how], sorted(off), [off[step] for step in sorted(off)], colour=number)
        for number, (how, off) in enumerate(errors.items())
    ]
    steps = sorted(errors["off"])
    slope = 2.0 * errors["off"][steps[-1]] / steps[-1]
    curves.append(Curve("slope 1", steps, [slope * step for step in steps], "bound"))
    return Panel("Relative error of three heights, e = 0.8", "step h [s]", "error", tuple(curves), ("log", "log"))


EXPERIMENT = Experiment(
    "bounces",
    "How high and for how long does a ball bounce?",
    "closed form",
    run,
)
