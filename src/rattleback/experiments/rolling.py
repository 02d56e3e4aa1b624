"""A ball let go on an inclined plane: it rolls where friction suffices, and slides where it does not.

    a = 5/7 g sin α             where μ ≥ 2/7 tan α
    a = g (sin α − μ cos α)     otherwise

α angle of the plane, μ friction of the pair, a acceleration down the plane.

Reference: closed form.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_most, near
from rattleback.scenes import rolling
from rattleback.scenes.slopes import RADIUS, rolling_acceleration
from rattleback.simulation import Simulation

STEP, END, ALLOWED = 0.001, 1.0, 1e-3
ANGLES = (10.0, 20.0, 40.0)
# Friction beside the least with which the ball rolls.
PARTS = (0.0, 0.25, 0.5, 0.75, 0.95, 1.05, 1.5, 3.0)


def run(options: Options) -> Result:
    """Let balls go on planes of several angles and frictions."""
    found, curves = Findings(), []
    angles, parts = (ANGLES[1:2], (0.5, 1.5)) if options.quick else (ANGLES, PARTS)
    for number, degrees in enumerate(angles):
        options.tell(f"ball on a plane of {degrees:g}°")
        angle = math.radians(degrees)
        least = 2.0 / 7.0 * math.tan(angle)
        measured = []
        for part in parts:
            a, slip = let_go(angle, part * least)
            closed = rolling_acceleration(angle, part * least)
            who = f"{degrees:g}°, μ = {part:g} of the least to roll"
            found.rows.append(near(f"{who}: acceleration", a, closed, ALLOWED * closed, "m/s²"))
            if part > 1.0:
                found.rows.append(at_most(f"{who}: slip", slip, 1e-6, "m/s"))
            measured.append(a)
        fine = np.linspace(0.0, max(parts), 200)
        formula = [rolling_acceleration(angle, part * least) for part in fine]
        curves += [Curve(f"{degrees:g}°", parts, measured, "dots", number)]
        curves += [Curve(f"{degrees:g}°, formula", fine.tolist(), formula, "line", number)]
    across, up = "friction / least friction to roll", "acceleration [m/s²]"
    return found.result(Panel("Down the plane", across, up, tuple(curves)))


def let_go(angle: float, friction: float) -> tuple[float, float]:
    """Acceleration of a ball from its way [m/s²], and its slip at the end [m/s]."""
    sim = Simulation(
        rolling(angle, friction),
        time_step=STEP,
        contacts="impulse",
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
        strict=True,
    )
    ball = sim["ball"]
    start = ball.position.copy()
    sim.run(END)
    way = float(np.linalg.norm(ball.position - start))
    slip = abs(float(np.linalg.norm(ball.velocity) - RADIUS * np.linalg.norm(ball.angular_velocity)))
    return 2.0 * way / END**2, slip


EXPERIMENT = Experiment(
    "rolling",
    "How fast does a ball accelerate down an inclined plane, rolling or sliding?",
    "closed form",
    run,
)
