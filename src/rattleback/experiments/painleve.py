"""Painlevé's rod: pushed along with its tip on the ground, it slides below a critical friction and jams above.

    u̇_n = k N − g,   k = (1 + 3 c² − 3 μ s c)/m,     μ* = (1 + 3 c²)/(3 s c)
    μ < μ*:  N = m g / (1 + 3 c² − 3 μ s c),   u̇_t = −(μ (1 + 3 s²) − 3 s c) N/m
    μ > μ*:  k is negative: whatever pushes the tip up, friction drives it down by more

m mass, l = 1 m half of the length, θ angle to the ground, s = sin θ, c = cos θ, u velocity of the tip, N normal force;
the rod does not turn yet. With tan θ = 2 the critical friction is μ* = 4/3. Above it no force keeps the tip from going
down while it slides, however short the moment: the only way out is an impulse, at once, that ends the sliding.
With no restitution the tip then rests, and the angular momentum about it is what it was:  ω = 3/4 s v/l,  the middle
moves at ω l (s, c). Below μ* the tip brakes continuously, ever harder as μ nears μ*. An engine that works with impulses
has no trouble with either: the moment after, the rod turns about its tip.

Reference: Painlevé (1895); Génot, Brogliato (1999), on sliding rods.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    at_least,
    at_most,
    near,
)
from rattleback.maths.rotation import rotate
from rattleback.scenes import painleve
from rattleback.scenes.impacts import ROD, jamming_friction
from rattleback.scenes.slopes import GRAVITY
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

STEP, SPEED, ANGLE = 1e-4, 1.0, math.atan(2.0)
SLIDING, JAMMING = (0.5, 0.8, 1.0, 1.2, 1.3), (1.35, 1.4, 1.5, 2.0)
CRITICAL, ALLOWED = 4.0 / 3.0, 1e-3


def run(options: Options) -> Result:
    """Push rods of several frictions."""
    found = Findings()
    found.rows.append(near("critical friction at tan θ = 2", jamming_friction(ANGLE), CRITICAL, 1e-12))
    sliding, jamming = (SLIDING[:3:2], JAMMING[2:3]) if options.quick else (SLIDING, JAMMING)
    braking = {}
    for mu in sliding:
        options.tell(f"rod that slides, μ = {mu:g}")
        tip, _ = push(mu)
        braking[mu] = (SPEED - tip[0]) / STEP
        wanted = braking_of(mu)
        found.rows.append(near(f"μ = {mu:g}: braking of the tip", braking[mu], wanted, ALLOWED * wanted, "m/s²"))
        found.rows.append(at_least(f"μ = {mu:g}: speed of the tip after a step", tip[0], 0.5 * SPEED, "m/s"))
    for mu in jamming:
        options.tell(f"rod that jams, μ = {mu:g}")
        tip, middle = push(mu)
        found.rows.append(at_most(f"μ = {mu:g}: speed of the tip after a step", abs(tip[0]), 1e-5, "m/s"))
        turning = 0.75 * math.sin(ANGLE) * SPEED
        for name, value, way in zip("xz", middle, (math.sin(ANGLE), math.cos(ANGLE)), strict=True):
            # In the step after the impulse, or before, gravity changes velocities by up to g h.
            found.rows.append(near(f"μ = {mu:g}: velocity along {name}", value, turning * way, GRAVITY * STEP, "m/s"))
        braking[mu] = SPEED / STEP
    found.rows.append(Finding("most braking that a step of this length can show", SPEED / STEP, unit="m/s²"))
    return found.result(drawn(braking))


def push(friction: float) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the tip and of the middle after one step, along x and z [m/s]."""
    sim = Simulation(
        painleve(friction, ANGLE, SPEED),
        time_step=STEP,
        # Near the critical friction, each sweep leaves μ/μ* of the error.
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=5000)),
        penetration_tolerance=1e-7,
        contact_velocity_tolerance=1e-8,
        strict=True,
    )
    sim.step()
    rod = sim["rod"]
    velocity = rod.velocity + np.cross(rod.angular_velocity, rotate(rod.orientation, (0.0, 0.0, -0.5 * ROD)))
    return velocity[[0, 2]], rod.velocity[[0, 2]]


def braking_of(friction: float) -> float:
    """How the tip of a rod that slides brakes [m/s²]."""
    s, c = math.sin(ANGLE), math.cos(ANGLE)
    force = GRAVITY / (1.0 + 3.0 * c**2 - 3.0 * friction * s * c)
    return (friction * (1.0 + 3.0 * s**2) - 3.0 * s * c) * force


def drawn(braking: dict[float, float]) -> Panel:
    """Braking over friction."""
    fine = np.linspace(0.4, CRITICAL - 1e-3, 400)
    curves = (
        Curve("simulated, mean over a step", list(braking), list(braking.values()), "dots"),
        Curve("formula", fine.tolist(), [braking_of(float(mu)) for mu in fine], "line"),
        Curve("critical", [CRITICAL, CRITICAL], [1.0, SPEED / STEP], "bound"),
    )
    return Panel("A rod slides or jams", "friction μ", "braking of the tip [m/s²]", curves, ("linear", "log"))


EXPERIMENT = Experiment(
    "painleve",
    "At which friction does a rod that is pushed along the ground jam?",
    "closed form; Painlevé 1895",
    run,
)
