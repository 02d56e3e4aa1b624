"""How Newton's method converges on a chain of soft balls, by what its Jacobian has of the forces.

    exact           −k JᵀJ + λ ∂Jᵀ/∂q, all blocks                      quadratic
    Gauss–Newton    −k JᵀJ, all blocks                                linear, or not at all where links are stiff
    body by body    −k JᵀJ without what one body does to another      linear, the slower the stiffer

Fifty bars hang together by soft balls and swing. One implicit Euler step is done with 1, 2, 3 … iterations, and its
velocities are compared with those that have converged. Second derivatives are geometric stiffness: a link under tension
T swings about its anchor at l with ω² = T l/I. Without them the iteration diverges where h² T l > I.

Reference: the notes on derivatives of constraints of rigid bodies, which keep the blocks of one body alone and leave
out second derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_least, at_most
from rattleback.joints import Ball
from rattleback.model import Scene
from rattleback.shapes import Box
from rattleback.simulation import Simulation
from rattleback.solvers.joints import Implicit

COUNT, STIFFNESS, STEP = 50, 1e3, 0.01
NAMES = {"exact": "exact", "gauss_newton": "Gauss–Newton", "body_by_body": "body by body"}
CONVERGED = 40


def chain(width: float) -> Scene:
    """Bars of 0.1 m with a width, let go sideways."""
    scene = Scene(name="soft chain")
    last: Any = scene.world
    for i in range(COUNT):
        bar = scene.add_body(Box(0.1, width, width), mass=0.2, position=(0.1 * i + 0.05, 0, 0), name=f"bar {i}")
        scene.add_joint(Ball(last, bar, at=(0.1 * i, 0, 0), stiffness=STIFFNESS))
        last = bar
    return scene


def distances(scene: Scene, jacobian: str, counts: list[int]) -> np.ndarray:
    """Largest distance of a velocity of the step from the converged one after numbers of iterations."""
    start = Simulation(scene, time_step=STEP, joints="implicit", contacts="none")
    start.run(0.5)
    found = []
    for name, count in [("exact", CONVERGED), *((jacobian, n) for n in counts)]:
        method = Implicit(jacobian=name, max_iterations=count, tolerance=1e-300)
        sim = Simulation(scene, time_step=STEP, joints=method, contacts="none", warn=False)
        sim.state = start.state.copy()
        sim.step()
        found.append(np.concatenate([sim.state.velocity.ravel(), sim.state.angular_velocity.ravel()]))
    return np.array([float(np.abs(u - found[0]).max()) for u in found[1:]])


def run(options: Options) -> Result:
    """Count iterations with all three, for slender and for thick bars."""
    found, panels = Findings(), []
    many = list(range(1, 16, 2)) if options.quick else list(range(1, 62, 3))
    for width, told in ((0.04, "slender bars"), (0.4, "thick bars")):
        curves = []
        for number, (jacobian, name) in enumerate(NAMES.items()):
            options.tell(f"{told}, {name}")
            counts = [1, 2, 3, 4, 5, 6] if jacobian == "exact" else many
            off = distances(chain(width), jacobian, counts)
            _judge(found, f"{told}, {name}", jacobian, dict(zip(counts, off.tolist(), strict=True)))
            curves.append(Curve(name, counts, np.clip(off, 1e-16, 1e3).tolist(), "measured", number))
        panels.append(
            Panel(f"Chain of {COUNT}, {told}", "iteration", "error [m/s, rad/s]", tuple(curves), ("linear", "log"))
        )
    return found.result(*panels)


def _judge(found: Findings, name: str, jacobian: str, off: dict[int, float]) -> None:
    """What each is to do: square its error, or take the same part off it."""
    if jacobian == "exact":
        found.rows.append(at_most(f"{name}: second error beside the square of the first", off[2] / off[1] ** 2, 10.0))
        found.rows.append(at_most(f"{name}: error after four iterations", off[4], 1e-11, "m/s, rad/s"))
    elif jacobian == "body_by_body":
        factor = (off[13] / off[7]) ** (1.0 / 6.0)
        found.rows.append(at_least(f"{name}: factor of an iteration", factor, 0.3))
        found.rows.append(at_most(f"{name}: the same", factor, 0.99))


EXPERIMENT = Experiment(
    "soft_chain",
    "How fast does Newton's method converge on soft joints with the exact Jacobian, and without parts of it?",
    "notes on derivatives of constraints of rigid bodies, with the blocks they leave out",
    run,
)
