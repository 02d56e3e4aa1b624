"""Towers: fifty equal cubes, and ten of which each is ten times as heavy as the one below.

In the second the uppermost cube has 10⁹ kg and the lowest 1 kg. A tower stands if none of its cubes is ever farther
from its place than a tenth of a millimetre; it should stand for as long as one likes, as nothing pushes it.

Reference: a demand of this project; no published numbers.
"""

from __future__ import annotations

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.experiments.standing import build
from rattleback.scenes import tower
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

STEP, ALLOWED = 0.005, 1e-4
# Number of cubes, mass of each beside the one below, seconds.
TOWERS = {"50 equal cubes": (50, 1.0, 60.0), "10 cubes, each ten times heavier": (10, 10.0, 10.0)}


def run(options: Options) -> Result:
    """Build the towers and wait."""
    found, curves = Findings(), []
    for number, (who, (cubes, growth, seconds)) in enumerate(TOWERS.items()):
        options.tell(f"tower of {who}")
        seen = build(
            tower(cubes, growth),
            0.02 * seconds if options.quick else seconds,
            time_step=STEP,
            contacts=Impulse(solver=BlockGaussSeidel(sweeps=200)),
            penetration_tolerance=1e-6,
            contact_velocity_tolerance=1e-6,
        )
        found.rows.append(at_most(f"{who}: farthest from its place", seen.farthest, ALLOWED, "m"))
        found.rows.append(Finding(f"{who}: fastest", seen.fastest, unit="m/s"))
        found.rows.append(Finding(f"{who}: deepest overlap", seen.deepest, unit="m"))
        found.note(seen.reason and f"{who}: {seen.reason}")
        curves.append(seen.curve(who, number))
    curves.append(Curve("allowed", [0.0, max(max(curve.x) for curve in curves)], [ALLOWED, ALLOWED], "bound"))
    up = "farthest cube from its place [m]"
    return found.result(Panel("Towers at rest", "time [s]", up, tuple(curves), ("linear", "log")))


EXPERIMENT = Experiment(
    "towers",
    "Do tall towers stand, also with the heaviest cube on top?",
    "a demand of this project",
    run,
)
