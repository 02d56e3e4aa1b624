"""Joint methods: time of a step on chains, ropes, trees and mass ladders with every joint within 1e-6 m.

The answers are checked first: every step must meet its tolerance, and nothing may turn the whole about the vertical
but the twist at the top of the trees. Where loaded joints are stiff beside the step the method does not keep angular
momentum; how much it loses or gains is shown. Then: how the cost grows with the length of a chain, and how many steps a
second a chain of ten takes.
"""

import statistics
import time
from typing import Any

from machine import main, markdown

import rattleback as rb
from rattleback.scenes import chain, mass_ladder, rope, tree
from rattleback.scenes.trees import TREE_STEP, TWIST

TOLERANCE = 1e-6
HEAD = ["scene", "method", "time step", "µs a step", "corrections", "worst joint"]
HEAD += ["kinetic energy at the start", "change of energy in the first step", "after it", "turned about the vertical"]
STEP, FINE_STEP = 0.01, 0.0005
LENGTHS = (50, 100, 200, 400, 800)
REPEATS = 9
# What is aimed at: cost of 800 links over that of 50, against linear; steps a second of a chain of ten.
MOST_OVER_LINEAR, LEAST_RATE = 1.1, 50_000


def simulate(scene: rb.Scene, method: str, step: float, device: str) -> rb.Simulation:
    """A simulation with the tolerance of these tables."""
    return rb.Simulation(
        scene, time_step=step, joints=method, position_tolerance=TOLERANCE, max_iterations=2000, device=device
    )


def times(sim: rb.Simulation, steps: int, repeats: int = 5) -> list[float]:
    """Time of a step [µs] in calls of many steps from the same state, once a repeat: CPU time, or by the clock."""
    sim.capture()
    begun, found = sim.state.copy(), []
    clock = time.process_time if sim.device.is_cpu else time.perf_counter
    for _ in range(repeats):
        sim.state = begun
        started = clock()
        sim.step(steps)
        found.append(1e6 * (clock() - started) / steps)
    return found


def spread(found: list[float]) -> str:
    """Median, with the fastest and the slowest."""
    return f"{statistics.median(found):.3g} ({min(found):.3g} … {max(found):.3g})"


def measured(scene: rb.Scene, method: str, step: float, steps: int, device: str) -> list[str]:
    """One row: the first step apart, as it takes the pushes and the twist, then ``steps`` steps, checked and timed."""
    sim = simulate(scene, method, step, device)
    energies = [sim.energy()]
    sim.step()
    energies.append(sim.energy())
    turning = sim.momentum().angular[2]
    found = times(sim, steps)
    report = sim.report
    energies.append(sim.energy())
    off = sim.momentum().angular[2] - turning
    keeps = abs(off) <= 1e-6 * len(scene) or is_stiff(sim)
    if not report.converged or report.position_error > TOLERANCE or not keeps:
        raise SystemExit(f"{scene.name}, {method}: {report.reason or f'turned by {off:g} N m s'}; no time counts.")
    made = [spread(found), f"{report.iterations}", f"{report.position_error:.1e} m"]
    return [f"`{method}`", f"{step:.4g} s", *made, *energy_columns(scene, energies), f"{off:+.1g} N m s"]


def is_stiff(sim: rb.Simulation) -> bool:
    """Whether the last step found bodies whose joints are stiff beside it."""
    return sim._step.preview is not None and bool(sim._step.preview.status.stiff.numpy().any())


def energy_columns(scene: rb.Scene, energies: list[Any]) -> list[str]:
    """Kinetic energy at the start and what the total does in the first step and after it."""
    start, first, last = energies
    early = "twist does work" if scene.forces else f"{first.total - start.total:+.2g} J"
    return [f"{start.kinetic:.3g} J", early, f"{last.total - first.total:+.2g} J"]


def check_twist(device: str) -> None:
    """The twist must have left its angular momentum in the tree."""
    sim = rb.Simulation(tree(8), time_step=TREE_STEP, device=device)
    sim.step(10)
    if abs(sim.momentum().angular[2] - TWIST * TREE_STEP) > 1e-9:
        raise SystemExit("The tree does not turn as the twist at its top asks; a time would mean nothing.")


def scenes_table(device: str) -> str:
    """Every scene at its step."""
    rows = []
    for count in (10, 20):
        rows.append([f"chain of {count}", *measured(chain(count), "iterative", STEP, 200, device)])
    for count in (10, *LENGTHS):
        rows.append([f"chain of {count}", *measured(chain(count), "direct", STEP, 200, device)])
    for count in (100, 200, 800):
        rows.append([f"rope of {count}", *measured(rope(count), "direct", STEP, 200, device)])
    for power in (1, 3, 6):
        scene = mass_ladder(10.0**power)
        rows.append([f"20 links, load of 10^{power}", *measured(scene, "direct", STEP, 200, device)])
    for hanging, word in ((False, "mobile"), (True, "hanging tree")):
        for depth in (5, 6, 7, 8):
            found = measured(tree(depth, hanging), "direct", TREE_STEP, 499, device)
            rows.append([f"{word} of {2**depth - 1}", *found])
    return markdown(HEAD, rows)


def length_table(device: str) -> str:
    """Time of a step over the length of a chain, at a step that is short for all of them and at one that is not.

    Chains of different lengths take turns in every repeat, so that what disturbs the machine disturbs all of them.
    """
    columns, iterations = [], []
    for step in (FINE_STEP, STEP):
        sims = {count: simulate(chain(count), "direct", step, device) for count in LENGTHS}
        for sim in sims.values():
            sim.step(20)
        rounds = [{count: times(sim, 200, 1)[0] for count, sim in sims.items()} for _ in range(REPEATS)]
        columns.append({count: [found[count] for found in rounds] for count in LENGTHS})
        iterations.append({count: sim.report.iterations for count, sim in sims.items()})
    rows = []
    for count in LENGTHS:
        pairs = zip(columns, iterations, strict=True)
        cells = [(spread(of[count]), f"{over_linear(of, count):.2f}", f"{needed[count]}") for of, needed in pairs]
        rows.append([f"{count}", *cells[0], *cells[1]])
    words = [(f"µs a step at {step:g} s", "over linear", "corrections") for step in (FINE_STEP, STEP)]
    worst = max(over_linear(columns[0], count) for count in LENGTHS[1:])
    said = f"At {FINE_STEP:g} s at most {worst:.2f} times linear; aimed at {MOST_OVER_LINEAR}: "
    return markdown(["links", *words[0], *words[1]], rows) + f"\n\n{said}{verdict(worst <= MOST_OVER_LINEAR)}."


def over_linear(column: dict[int, list[float]], count: int) -> float:
    """Time of a step a link, over that of the shortest chain."""
    return statistics.median(column[count]) / statistics.median(column[LENGTHS[0]]) * LENGTHS[0] / count


def verdict(reached: bool) -> str:
    """In a word."""
    return "met" if reached else "missed"


def rate(device: str) -> str:
    """Steps a second of a chain of ten in calls of a thousand steps."""
    sim = simulate(chain(10), "direct", STEP, device)
    sim.step(1000)
    found = [1e6 / value for value in times(sim, 1000, REPEATS)]
    said = f"{statistics.median(found):,.0f} steps a second ({min(found):,.0f} … {max(found):,.0f})"
    aim = f"aimed at {LEAST_RATE:,}: {verdict(statistics.median(found) >= LEAST_RATE)}"
    return f"A chain of ten, in calls of `sim.step(1000)` at {STEP:g} s: {said}; {aim}."


def measure(device: str) -> str:
    """The tables."""
    check_twist(device)
    return "\n\n".join([scenes_table(device), length_table(device), rate(device)])


if __name__ == "__main__":
    main("joints", measure)
