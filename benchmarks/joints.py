"""Joint methods: milliseconds a step on chains and trees with every joint within 1e-6 m, and what the energy does.

The answers are checked first: every step must meet its tolerance, and nothing may turn the whole about the vertical
but the twist at the top of the trees. Chains of more than 100 bars take a shorter step, as a taut chain of n bars
swings with √(12 n g / l) at its fastest and no step of this kind is stable beyond two over that.
"""

import time
from typing import Any

from machine import main, markdown

import rattleback as rb
from rattleback.scenes import chain, tree
from rattleback.scenes.trees import TREE_STEP, TWIST

TOLERANCE = 1e-6
HEAD = ["scene", "method", "time step", "ms a step, fastest of five runs", "corrections", "worst joint"]
HEAD += ["kinetic energy at the start", "change of energy in the first step", "after it"]
CHAINS = {10: 0.01, 50: 0.01, 100: 0.01, 200: 0.002, 400: 0.001, 800: 0.001}


def measured(scene: rb.Scene, method: str, step: float, steps: int, device: str) -> list[str]:
    """One row: the first step apart, as it takes the pushes and the twist, then ``steps`` steps, checked and timed."""
    sim = rb.Simulation(
        scene, time_step=step, joints=method, position_tolerance=TOLERANCE, max_iterations=2000, device=device
    )
    energies = [sim.energy()]
    sim.step()
    energies.append(sim.energy())
    turning, begun = sim.momentum().angular[2], sim.state.copy()
    seconds = []
    for _ in range(5):
        sim.state = begun
        started = time.perf_counter()
        sim.step(steps)
        report = sim.report
        seconds.append(time.perf_counter() - started)
    energies.append(sim.energy())
    off = abs(sim.momentum().angular[2] - turning)
    if not report.converged or report.position_error > TOLERANCE or off > 1e-6 * len(scene):
        raise SystemExit(f"{scene.name}, {method}: {report.reason or f'turned by {off:g} N m s'}; no time counts.")
    made = [f"{1e3 * min(seconds) / steps:.3g}", f"{report.iterations}", f"{report.position_error:.1e} m"]
    return [f"`{method}`", f"{step:.4g} s", *made, *energy_columns(scene, energies)]


def energy_columns(scene: rb.Scene, energies: list[Any]) -> list[str]:
    """Kinetic energy at the start and what the total does in the first step and after it."""
    start, first, last = energies
    early = "twist does work" if scene.forces else f"{first.total - start.total:+.2g} J"
    return [f"{start.kinetic:.3g} J", early, f"{last.total - first.total:+.2g} J"]


def check_twist(device: str) -> None:
    """The twist must have left its angular momentum in the tree."""
    sim = rb.Simulation(tree(), time_step=TREE_STEP, device=device)
    sim.step(10)
    if abs(sim.momentum().angular[2] - TWIST * TREE_STEP) > 1e-9:
        raise SystemExit("The tree does not turn as the twist at its top asks; a time would mean nothing.")


def measure(device: str) -> str:
    """The table."""
    check_twist(device)
    rows = []
    for count in (10, 20):
        rows.append([f"chain of {count}", *measured(chain(count), "iterative", 0.01, 200, device)])
    for count, step in CHAINS.items():
        rows.append([f"chain of {count}", *measured(chain(count), "direct", step, 200, device)])
    for depth in (5, 6, 7, 8):
        label = f"mobile of {2**depth - 1}"
        rows.append([label, *measured(tree(depth), "direct", TREE_STEP, 499, device)])
    return markdown(HEAD, rows)


if __name__ == "__main__":
    main("joints", measure)
