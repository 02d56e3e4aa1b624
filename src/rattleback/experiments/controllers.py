"""Where a PD controller outside the engine explodes, and that one inside does not.

    outside, explicit Euler         h K < B                     while  B² < 4 K M
    outside, semi-implicit Euler    h² K + 2 h B < 4 M
    outside, a step late            h B < M,   h (K M + B²) < B M
    inside                          every K, B and h

A cart of mass M on a rail is pulled to its place by −K x − B v. Outside, a program reads the state between steps and
writes the force of the next one; a step late it writes what it has read a step before, as where measuring takes time.
Inside, ``ImplicitPD`` is solved with the joints. The longest stable step is found by bisection: whether the amplitude
grows over some hundred steps. The bounds follow from the difference equations of the four: of the third, the roots of
z³ − 2 z² + (1 + k + b) z − b with k = h² K/M and b = h B/M lie in the unit circle where k < b (1 − b).

Reference: the part on stability and control of the lecture notes on physics engines by Hasegawa.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most, near
from rattleback.forces import ImplicitPD
from rattleback.joints import Prismatic
from rattleback.model import Scene
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

MASS, STIFFNESS, START = 2.0, 200.0, 0.01
# Damping as a part of the critical one.
RATIOS = (0.05, 0.1, 0.2, 0.4, 0.7)
GROWN = 1e3


def explicit(k: float, b: float) -> float:
    """Longest stable step of explicit Euler, where it is damped less than critically."""
    return b / k


def semi_implicit(k: float, b: float) -> float:
    """Longest stable step of semi-implicit Euler."""
    return (math.sqrt(b * b + 4.0 * k * MASS) - b) / k


def late(k: float, b: float) -> float:
    """The same where the controller is a step late."""
    return b * MASS / (k * MASS + b * b)


# Name, integrator, steps the controller is late, and the bound.
OUTSIDE: dict[str, tuple[str, int, Callable[[float, float], float]]] = {
    "explicit Euler": ("explicit_euler", 0, explicit),
    "semi-implicit Euler": ("semi_implicit_euler", 0, semi_implicit),
    "a step late": ("semi_implicit_euler", 1, late),
}


def cart(force: object | None = None) -> Scene:
    """A cart on a rail along x, without gravity."""
    scene = Scene(gravity=(0, 0, 0), name="controllers")
    body = scene.add_body(mass=MASS, inertia=(1, 1, 1), name="cart")
    scene.add_joint(Prismatic(scene.world, body, at=(0, 0, 0), axis=(1, 0, 0)), name="rail")
    if force is not None:
        scene.add_force(force)
    return scene


def growth(name: str, gains: tuple[float, float], h: float, steps: int) -> float:
    """The size of the last steps beside that of the first ones, with a controller outside."""
    integrator, lateness, _ = OUTSIDE[name]
    sim = Simulation(cart(), time_step=h, integrator=integrator, contacts="none", warn=False)
    view = sim["cart"]
    view.position = (START, 0, 0)
    waiting, sizes = [0.0] * lateness, []
    for _ in range(steps):
        x, v = float(view.position[0]), float(view.velocity[0])
        sizes.append(math.hypot(x, h * v))
        if sizes[-1] > GROWN * START:
            return math.inf
        waiting.append(-gains[0] * x - gains[1] * v)
        view.applied_force = (waiting.pop(0), 0, 0)
        sim.step()
    tenth = steps // 10
    return max(sizes[-tenth:]) / max(sizes[tenth : 2 * tenth])


def longest(name: str, gains: tuple[float, float], steps: int) -> float:
    """The longest step [s] at which the amplitude does not grow, by bisection of half to twice the bound."""
    bound = OUTSIDE[name][2](*gains)
    low, high = 0.5 * bound, 2.0 * bound
    while high - low > 2e-3 * bound:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(name, gains, middle, steps) <= 1.0 else (low, middle)
    return 0.5 * (low + high)


def inside(k: float, h: float, steps: int) -> float:
    """The same as ``growth`` with a controller inside, damped a tenth of critically."""
    damping = 0.2 * math.sqrt(k * MASS)
    scene = cart(ImplicitPD("rail", stiffness=k, damping=damping))
    sim = Simulation(scene, time_step=h, contacts="none", warn=False)
    sim["cart"].position = (START, 0, 0)
    sizes = []
    for _ in range(steps):
        sizes.append(abs(float(sim["cart"].position[0])))
        sim.step()
    return max(sizes[-(steps // 10) :]) / START


def run(options: Options) -> Result:
    """Measure the longest steps, and what is left of an error at many gains."""
    found, curves = Findings(), []
    steps, ratios = (200, RATIOS[1:4:2]) if options.quick else (800, RATIOS)
    scale = math.sqrt(STIFFNESS / MASS)
    for number, (name, (_, _, bound)) in enumerate(OUTSIDE.items()):
        options.tell(name)
        measured = []
        for ratio in ratios:
            gains = (STIFFNESS, 2.0 * ratio * math.sqrt(STIFFNESS * MASS))
            measured.append(longest(name, gains, steps))
            told = f"{name}: longest step at {ratio:g} of critical damping"
            found.rows.append(near(told, measured[-1], bound(*gains), 0.02 * bound(*gains), "s"))
        fine = np.linspace(min(RATIOS), max(RATIOS), 60)
        theory = [scale * bound(STIFFNESS, 2.0 * r * math.sqrt(STIFFNESS * MASS)) for r in fine.tolist()]
        curves.append(Curve(f"{name}, theory", fine.tolist(), theory, "line", number))
        curves.append(Curve(name, list(ratios), [scale * h for h in measured], "dots", number))
    return found.result(
        Panel("Outside: longest stable step", "damping / critical damping", "h √(K/M)", tuple(curves)),
        _left(found, options),
    )


def _left(found: Findings, options: Options) -> Panel:
    """What is left of an error after a hundred steps, over the stiffness, outside and inside."""
    h, steps = 0.01, 100
    gains = np.logspace(0, 12, 7 if options.quick else 37)
    options.tell("inside")
    left = [max(inside(k, h, steps), 1e-18) for k in gains.tolist()]
    found.rows.append(at_most("inside: what is left of an error after a second, K from 1 to 10¹² N/m", max(left), 1.0))
    found.rows.append(Finding("inside: the same at 10¹² N/m", left[-1]))
    limit = 4.0 * MASS / h**2
    options.tell("outside")
    weak = [k for k in gains.tolist() if k < 4.0 * limit]
    outside = [min(growth("semi-implicit Euler", (k, 0.2 * math.sqrt(k * MASS)), h, steps), GROWN) for k in weak]
    curves = (
        Curve("inside", gains.tolist(), left, "line", 0),
        Curve("outside, semi-implicit Euler", weak, outside, "line", 1),
        Curve("h² K = 4 M", [limit, limit], [1e-18, GROWN], "line", 2),
    )
    return Panel("What is left of an error", "stiffness K [N/m]", "error / error at the start", curves, ("log", "log"))


EXPERIMENT = Experiment(
    "controllers",
    "Up to which step is a controller stable that is outside the engine, and one that is inside?",
    "Hasegawa, lecture notes on physics engines, stability and control",
    run,
)
