"""Our joints beside those of other engines, in one run: time of a step, and what the joints and the energy lose for it.

It needs the peers' scripts and a Python that has their engines:

    python benchmarks/peers.py --peers FOLDER --python PATH [--write]

FOLDER holds ``common.py`` (scenes and measures), ``mujoco_peer.py`` and ``rapier_peer.py``. All engines run on one
core, by turns, ours included; a time is the median of the repeats, with the fastest and the slowest beside it. Without
the two options nothing is measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import work_precision
from machine import markdown, options, publish

SCENES = [("tree", 31), ("tree", 63), ("tree", 127), ("tree", 255), ("chain", 10), ("chain", 50)]
STEPS = {"tree": (1.0 / 30.0, 500), "chain": (0.01, 200)}
OURS, MUJOCO, RAPIER = "rattleback", "MuJoCo", "Rapier, 20 iterations"
OWN_MODULE = "rattleback_peer"
# Name, module, integrator of MuJoCo, settings the module reads from its environment.
Kind = tuple[str, str, str, dict[str, str]]
ENGINES: list[Kind] = [
    (OURS, OWN_MODULE, "", {}),
    (MUJOCO, "mujoco_peer", "euler", {}),
    ("MuJoCo, implicitfast", "mujoco_peer", "implicitfast", {}),
    ("MuJoCo, RK4", "mujoco_peer", "rk4", {}),
    (RAPIER, "rapier_peer", "", {"RAPIER_ITERS": "20"}),
    ("Rapier, 4 iterations", "rapier_peer", "", {"RAPIER_ITERS": "4"}),
]
HEAD = ["scene", "engine", "µs a step, step by step", "µs a step, one call", "worst joint", "energy at the end"]
HEAD += ["largest change of energy"]


@dataclass
class Engines:
    """The engines that take turns.

    Attributes:
        repeats: How often each time is taken.
        children: Their processes, by name of the engine.
        errors: Files with what they complained about.
    """

    repeats: int
    children: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, Path] = field(default_factory=dict)

    def launch(self, engine: str, command: list[str], folder: str, settings: dict[str, str]) -> None:
        """Start an engine in a process of its own; a file in the folder takes what it complains about."""
        path = self.errors[engine] = Path(folder) / f"{len(self.children)}.txt"
        with path.open("w") as errors:
            self.children[engine] = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **settings},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ask(self, engine: str, task: dict[str, Any]) -> dict[str, Any]:
        """Have an engine do a task."""
        child = self.children[engine]
        child.stdin.write(json.dumps(task) + "\n")
        child.stdin.flush()
        answer = child.stdout.readline()
        if not answer:
            said = self.errors[engine].read_text(encoding="utf-8").splitlines() or [""]
            raise SystemExit(f"{engine} gave no answer to {task}. {said[-1]}")
        return dict(json.loads(answer))

    def times(self, engines: list[str], task: dict[str, Any]) -> dict[str, list[float]]:
        """CPU time of a step of each engine [ms], by turns, in every repeat."""
        found: dict[str, list[float]] = {engine: [] for engine in engines}
        for _ in range(self.repeats):
            for engine in engines:
                found[engine].append(self.ask(engine, task)["cpu_ms"])
        return found

    def stop(self) -> None:
        """Let the engines end."""
        for child in self.children.values():
            child.stdin.close()
            child.wait()


def start(arguments: argparse.Namespace, folder: str, kinds: Sequence[Kind] = ENGINES) -> Engines:
    """Start engines, each in a process of its own, all of them on one core and with one thread."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if arguments.core is None else arguments.core})
    engines = Engines(arguments.repeats)
    program, peers = str(Path(__file__).with_name("peer_engine.py")), str(Path(arguments.peers).resolve())
    for name, module, integrator, settings in kinds:
        python = sys.executable if module == OWN_MODULE else arguments.python
        command = [python, program, peers, module, *([integrator] if integrator else [])]
        engines.launch(name, command, folder, settings)
    return engines


def compare(engines: Engines, scene: str, count: int) -> dict[str, dict[str, Any]]:
    """Errors and times of every engine on one scene, by engine."""
    step, steps = STEPS[scene]
    task = {"scene": scene, "count": count, "time_step": step, "steps": steps}
    names = list(engines.children)
    found = {name: engines.ask(name, {**task, "what": "errors"}) for name in names}
    for name, times in engines.times(names, {**task, "what": "step by step"}).items():
        found[name]["step by step"] = times
    able = [name for name in names if not name.startswith("Rapier")]
    for name, times in engines.times(able, {**task, "what": "at once"}).items():
        found[name]["at once"] = times
    return found


def spread(times: list[float] | None) -> str:
    """Median of some times, with the fastest and the slowest [µs]."""
    if not times:
        return "–"
    return f"{1e3 * statistics.median(times):.3g} ({1e3 * min(times):.3g} … {1e3 * max(times):.3g})"


def row(label: str, engine: str, found: dict[str, Any]) -> list[str]:
    """One row of the table."""
    times = [spread(found["step by step"]), spread(found.get("at once"))]
    if not found["stable"]:
        return [label, engine, *times, "diverges", "", ""]
    said = [f"{found['apart']:.1e} m", f"{found['drift']:+.2g} J", f"{found['largest']:.2g} J"]
    return [label, engine, *times, *said]


def targets(all_found: dict[tuple[str, int], dict[str, dict[str, Any]]], curves: dict[str, Any]) -> str:
    """What was aimed at, what was reached, and whether that is enough; many steps in one call decide."""
    found = {
        ("tree of 255: time / MuJoCo's", 0.7): ratios(all_found["tree", 255], MUJOCO),
        ("tree of 255: time / that of Rapier with 20 iterations", 0.2): ratios(all_found["tree", 255], RAPIER),
        ("chain of 50: time / MuJoCo's", 0.6): ratios(all_found["chain", 50], MUJOCO),
    }
    own, other = (abs(all_found["chain", 50][name]["drift"]) for name in (OURS, MUJOCO))
    found["chain of 50: energy error / MuJoCo's at the same step", 0.5] = [own / other]
    for point in curves[MUJOCO]:
        error = work_precision.at_cost(curves[OURS], point["cost"], "drift") if point["stable"] else None
        if error is not None:
            what = f"chain of 50: energy error / MuJoCo's at the cost of its steps of {point['time_step']:g} s"
            found[what, 0.1] = [error / abs(point["drift"])]
    rows = []
    for (what, most), (best, *single) in found.items():
        cells = [f"{best:.2g}", *(f"{value:.2g}" for value in single), *([] if single else ["–"])]
        rows.append([what, f"{most:g}", *cells, "met" if best <= most else "missed"])
    return markdown(["ratio", "at most", "many steps in one call", "step by step", "in one call"], rows)


def ratios(found: dict[str, dict[str, Any]], to: str) -> list[float]:
    """Our time over that of another engine: many steps in one call, where the other has that too, and step by step."""
    own, other = ({"at once": None, **found[name]} for name in (OURS, to))
    pairs = [(own["at once"], other["at once"] or other["step by step"]), (own["step by step"], other["step by step"])]
    return [statistics.median(ours) / statistics.median(theirs) for ours, theirs in pairs]


def measure(engines: Engines, write: bool) -> str:
    """The tables, and with ``write`` the figure."""
    all_found, rows = {}, []
    for scene, count in SCENES:
        found = all_found[scene, count] = compare(engines, scene, count)
        rows += [row(f"{scene} of {count}", name, found[name]) for name in found]
    curves = work_precision.measure(engines, OURS, list(engines.children)[1:4])
    if write:
        work_precision.draw(curves)
    points, equal = work_precision.tables(curves, OURS)
    parts = [
        f"CPU time of a step: the median of {engines.repeats} runs, with the fastest and the slowest.",
        markdown(HEAD, rows),
        "What was aimed at:",
        targets(all_found, curves),
        "Work and precision, the chain of 50 for 2 s, all steps in one call:",
        points,
        "At equal cost:",
        equal,
    ]
    return "\n\n".join(parts)


def engine_options(name: str) -> argparse.ArgumentParser:
    """The options of a benchmark that starts engines."""
    parser = options(name)
    parser.add_argument("--peers", help="folder with common.py and a module for every engine, mujoco_peer.py and so on")
    parser.add_argument("--python", help="Python that has their engines")
    parser.add_argument("--core", type=int, help="core all of them run on; the last one unless told")
    return parser


def main() -> None:
    """Run the comparison from the command line."""
    parser = engine_options("peers")
    parser.add_argument("--repeats", type=int, default=7, help="how often each time is taken")
    arguments = parser.parse_args()
    if not (arguments.peers and arguments.python):
        print("The comparison with other engines was skipped: --peers names their folder and --python their Python.")
        return
    with tempfile.TemporaryDirectory() as folder:
        engines = start(arguments, folder)
        try:
            publish("peers", arguments, measure(engines, arguments.write))
        finally:
            engines.stop()


if __name__ == "__main__":
    main()
