"""Where the time of a step with joints goes, kernel by kernel, on a CPU.

The steps of the comparison with other engines are walked through from Python: every launch, captured by
itself, is run and timed where it stands, loops and branches follow their flags. The same steps are timed replayed as a
whole, which is how they run otherwise. What the two differ by is the cost of calling launches from Python, the same for
all; it is taken off, so that the kernels add up to the replayed step.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from machine import main, markdown

import rattleback as rb
from rattleback.core.stages import Branch, HostCall, Launch
from rattleback.scenes import chain, tree
from rattleback.scenes.trees import TREE_STEP

# Scene, time step, steps.
SCENES = {
    "tree of 255": (lambda: tree(8), TREE_STEP, 499),
    "chain of 50": (lambda: chain(50), 0.01, 199),
    "chain of 10": (lambda: chain(10), 0.01, 199),
}
Found = dict[tuple[str, str], list[float]]
# Kernels with less than this part of the step are summed up.
SMALL = 0.02


class Walker:
    """Runs the nodes of a step one by one and notes the seconds of every launch by stage and kernel."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.replays: dict[int, Any] = {}
        self.found: Found = defaultdict(list)

    def walk(self, nodes: Iterable[Any], stage: str) -> None:
        """Run nodes of a stage."""
        for node in nodes:
            if isinstance(node, Launch):
                self.found[stage, node.kernel.key].append(self.seconds(node))
            elif isinstance(node, HostCall):
                node.function()
            elif isinstance(node, Branch):
                if node.flag.numpy()[0]:
                    self.walk(node.nodes, stage)
            else:
                while node.flag.numpy()[0]:
                    self.walk(node.nodes, stage)

    def seconds(self, node: Launch) -> float:
        """Run one launch [s]."""
        if id(node) not in self.replays:
            self.replays[id(node)] = self.program._capture([node])
        replay = self.replays[id(node)]
        begun = time.perf_counter()
        replay()
        return time.perf_counter() - begun


def profile(scene: rb.Scene, step: float, steps: int) -> tuple[dict[tuple[str, str], tuple[float, float]], float]:
    """Launches and microseconds a step of every kernel, and what a call from Python costs [µs]."""
    sim = rb.Simulation(scene, time_step=step)
    sim.step()
    begun, replayed = sim.state.copy(), []
    for _ in range(5):
        sim.state = begun
        started = time.perf_counter()
        sim.step(steps)
        replayed.append(time.perf_counter() - started)
    sim.state = begun
    walker = Walker(sim._step.program)
    walker.walk(sim._step.program._prologue, "")
    walker.found.clear()
    for _ in range(steps):
        for stage, nodes in sim._step.program.stages.items():
            walker.walk(nodes, stage)
    found = walker.found
    walked, launches = sum(map(sum, found.values())), sum(map(len, found.values()))
    spare = (walked - statistics.median(replayed)) / launches
    micro = {key: 1e6 * (sum(values) - spare * len(values)) / steps for key, values in found.items()}
    return {key: (len(values) / steps, micro[key]) for key, values in found.items()}, 1e6 * spare


def table(name: str, scene: rb.Scene, step: float, steps: int) -> str:
    """The kernels of a scene, the dearest first."""
    found, spare = profile(scene, step, steps)
    total = sum(value for _, value in found.values())
    launches = sum(count for count, _ in found.values())
    rows, rest = [], [0.0, 0.0]
    for (stage, kernel), (count, value) in sorted(found.items(), key=lambda item: -item[1][1]):
        if value < SMALL * total:
            rest = [rest[0] + count, rest[1] + value]
            continue
        rows.append([stage, f"`{kernel}`", f"{count:.1f}", f"{value:.1f}", f"{100 * value / total:.0f} %"])
    rows.append(["", "others", f"{rest[0]:.1f}", f"{rest[1]:.1f}", f"{100 * rest[1] / total:.0f} %"])
    rows.append(["", "all", f"{launches:.1f}", f"{total:.1f}", "100 %"])
    title = f"{name.capitalize()} at {step:.4g} s, {steps} steps; {spare:.2f} µs taken off every launch:"
    return f"{title}\n\n" + markdown(["stage", "kernel", "launches a step", "µs a step", "part"], rows)


def measure(device: str) -> str:
    """The tables of all scenes."""
    if device != "cpu":
        raise SystemExit("Launches are timed one by one on a CPU only; on a GPU they overlap.")
    return "\n\n".join(table(name, make(), *how) for name, (make, *how) in SCENES.items())


if __name__ == "__main__":
    main("launches", measure)
