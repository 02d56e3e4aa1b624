"""A ball thrown without spin slides on level ground until friction makes it roll.

    t = 2 v / (7 μ g),   then at 5/7 v;   x = v t − ½ μ g t²  up to there

v speed at the start, μ friction. The steps are t/(n + ½): rolling begins in the middle of one at every step length, so
that the errors of the place of the ball show the order of the method.

Reference: closed form.
"""

from __future__ import annotations

import numpy as np

from rattleback.experiments.convergence import error_panel, order
from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_least, near
from rattleback.scenes import sliding_ball
from rattleback.scenes.slopes import GRAVITY, RADIUS, rolls_after
from rattleback.simulation import Simulation

SPEED, FRICTION = 7.0, 0.2
# Relative error that is allowed at a millisecond, and the least order.
ALLOWED, ORDER = 1e-3, 1.0


def run(options: Options) -> Result:
    """Throw the ball at several step lengths; the shortest decides."""
    found, errors = Findings(), {}
    moment, speed = rolls_after(SPEED, FRICTION)
    for steps in (127, 255) if options.quick else (127, 255, 511, 1023):
        step = moment / (steps + 0.5)
        options.tell(f"sliding ball at {step:.3g} s")
        path = throw(step, 2.0 * moment)
        errors[step] = float(np.abs(path[:, 1] - place(path[:, 0])).max())
    found.rows.append(near(f"rolls after, h = {step:.3g} s", rolling_from(path), moment, ALLOWED * moment, "s"))
    found.rows.append(near(f"speed then, h = {step:.3g} s", float(path[-1, 2]), speed, ALLOWED * speed, "m/s"))
    at_end = float(place(path[-1, 0]))
    found.rows.append(near(f"place at the end, h = {step:.3g} s", float(path[-1, 1]), at_end, ALLOWED * at_end, "m"))
    found.rows.append(at_least("order of the error of the place in h", order(errors), ORDER))
    return found.result(speeds(path), error_panel("Error of the place", "m", {"largest": errors}))


def throw(step: float, end: float) -> np.ndarray:
    """Time [s], place [m], speed and speed of the surface by its spin [m/s] after every step (steps, 4)."""
    sim = Simulation(
        sliding_ball(SPEED, FRICTION),
        time_step=step,
        contacts="impulse",
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
        strict=True,
    )
    ball, path = sim["ball"], []
    while sim.time < end - 0.5 * step:
        sim.step()
        path.append((sim.time, ball.position[0], ball.velocity[0], RADIUS * ball.angular_velocity[1]))
    return np.array(path)


def place(time: np.ndarray | float) -> np.ndarray:
    """Where the ball is by the closed form [m]."""
    moment, speed = rolls_after(SPEED, FRICTION)
    slid = np.minimum(time, moment)
    return np.asarray(SPEED * slid - 0.5 * FRICTION * GRAVITY * slid**2 + speed * (time - slid))


def rolling_from(path: np.ndarray) -> float:
    """When the slip of the ball, a line over time while it slides, is zero [s]."""
    slip = path[:, 2] - path[:, 3]
    sliding = slip > 1e-3 * SPEED
    slope, start = np.polyfit(path[sliding, 0], slip[sliding], 1)
    return float(-start / slope)


def speeds(path: np.ndarray) -> Panel:
    """Speeds of ball and surface over time."""
    time, speed = path[:, 0].tolist(), rolls_after(SPEED, FRICTION)[1]
    curves = (
        Curve("ball", time, path[:, 2].tolist(), "line"),
        Curve("surface by its spin", time, path[:, 3].tolist(), "line", 1),
        Curve("5/7 v", [0.0, time[-1]], [speed, speed], "bound"),
    )
    return Panel("From sliding to rolling", "time [s]", "speed [m/s]", curves)


EXPERIMENT = Experiment(
    "sliding_ball",
    "When does a sliding ball begin to roll, and how fast is it then?",
    "closed form",
    run,
)
