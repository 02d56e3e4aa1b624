"""Inverse kinematics: how many poses are reached, how exactly, and how long a solve takes, beside other packages.

    python benchmarks/kinematics.py [--python PATH] [--write]

PATH is a Python that has roboticstoolbox-python and ikpy; without it ours is measured alone. All solve the same poses,
frames of configurations drawn within the limits, from the middle of the limits, by turns on one core. That they have
the same arm is checked first, and what they answer is judged by our forward kinematics: an answer counts where it is
within 1e-6 m and 1e-6 rad of its pose and within the limits. Times are CPU time.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from machine import markdown, options, publish
from peers import Engines

import rattleback as rb
from rattleback.kinematics.link import as_matrix

ARMS = ("puma560", "six_axis", "seven_axis")
POSES, SINGLES, CONFIGURATIONS, ROUNDS, TOLERANCE = 10_000, 2_000, 1_000_000, 5, 1e-6
OURS = "rattleback, `lm`"
TOOLBOX = "roboticstoolbox-python"
# Name, package, its solver, poses one by one, poses in one call, configurations put forward; none where it cannot.
PEERS = [
    (f"{TOOLBOX}, `ikine_LM`", TOOLBOX, "ikine_LM", 2_000, 2_000, 20_000),
    (f"{TOOLBOX}, `ik_LM` (C++)", TOOLBOX, "ik_LM", 2_000, 0, 0),
    ("ikpy", "ikpy", "", 1_000, 0, 2_000),
]
# What is aimed at: times faster one by one and in one call.
AIMS, AIMED_AT = (5.0, 50.0), (PEERS[0][0], PEERS[2][0])
HEAD = ["arm", "solver", "poses", "reached", "largest error of those", "µs a solve, one by one", "in one call"]


@dataclass
class Record:
    """What one solver did with one arm.

    Attributes:
        q: Answers.
        single: CPU times of solves one by one [s].
        batch: CPU time of a pose where many are solved in one call [s].
        forward: CPU time of a configuration put forward [s].
        missed: How many of ours were not reached one by one.
    """

    q: list[Any] = field(default_factory=list)
    single: list[float] = field(default_factory=list)
    batch: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    missed: int = 0

    @property
    def per_pose(self) -> float:
        """CPU time of a pose when there are many [s]: in one call, or one after the other where there is no such."""
        return float(np.median(self.batch) if self.batch else np.mean(self.single))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a piece of work gives, and its CPU time [s]."""
    begun = time.process_time()
    return work(), time.process_time() - begun


def save_arm(tree: Any, q: Any, poses: Any, path: Path) -> None:
    """An arm and its poses in a file for the others."""
    table, (_, tip) = tree.to_dh(), tree.tool("tip")
    places, limits = [as_matrix(link.place) for link in tree.links], {"lower": tree.lower, "upper": tree.upper}
    frames = {"base": table.base, "end": table.tool, "places": places, "tool": as_matrix(tip)}
    np.savez(path, rows=table.rows, start=tree.middle, q=q, poses=poses, **limits, **frames)


def judge(tree: Any, q: Any, poses: Any) -> tuple[Any, float]:
    """Which answers hold, by our forward kinematics, and the largest error among those [m, rad]."""
    found, q = tree.forward(q), np.asarray(q)
    length = np.linalg.norm(found[:, :3, 3] - poses[:, :3, 3], axis=1)
    chord = np.linalg.norm(found[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    error = np.maximum(length, 2.0 * np.arcsin(np.minimum(chord, 1.0)))
    reached = (error <= TOLERANCE) & tree.within_limits(q, slack=1e-12)
    return reached, float(error[reached].max(initial=0.0))


def available(others: Engines | None) -> tuple[list[Any], list[str]]:
    """The peers that are there, and lines about them all."""
    if others is None:
        return [], ["The others were not measured: `--python` names a Python that has them."]
    found, lines = [], []
    for package in dict.fromkeys(peer[1] for peer in PEERS):
        said = others.ask("others", {"what": "version", "package": package})
        lines.append(f"{package} {said['version']}" if "version" in said else f"{package} not there: {said['missing']}")
        found += [peer for peer in PEERS if peer[1] == package and "version" in said]
    return found, ["Measured beside " + ", ".join(lines) + "."]


def check_arm(others: Engines, peers: list[Any], path: Path, frames: Any) -> None:
    """Stop where a peer has another arm than we."""
    for name, package, solver, *_ in peers:
        task = {"what": "forward", "package": package, "solver": solver, "file": str(path), "first": 0, "last": 100}
        apart = np.abs(np.array(others.ask("others", task)["found"]) - frames[:100]).max()
        if apart > 1e-12:
            raise SystemExit(f"{name} has another arm in {path.stem}: its frames are {apart:.1e} away from ours.")


def check_words(tree: Any, q: Any, poses: Any, said: Any) -> None:
    """Stop where answers say of themselves what is not so."""
    wrong = int((judge(tree, q, poses)[0] != said).sum())
    if wrong:
        raise SystemExit(f"{tree.name}: {wrong} answers say of themselves what is not so.")


def ours(tree: Any, poses: Any, part: slice, record: Record) -> None:
    """A round of ours: some poses one by one, then all in one call, then configurations forward."""
    alone = []
    for pose in poses[part]:
        found, seconds = timed(lambda pose=pose: rb.ik.solve(tree, pose))
        record.single.append(seconds)
        alone.append(found)
    found, seconds = timed(lambda: rb.ik.solve(tree, poses))
    record.batch.append(seconds / len(poses))
    record.q = [found.q]
    record.missed += sum(not entry.reached for entry in alone)
    check_words(tree, np.array([entry.q for entry in alone]), poses[part], np.array([entry.reached for entry in alone]))
    check_words(tree, found.q, poses, found.reached)
    many = tree.random(CONFIGURATIONS, seed=2)
    _, seconds = timed(lambda: tree.forward(many))
    record.forward.append(seconds / CONFIGURATIONS)


def theirs(others: Engines, peer: Any, path: Path, number: int, record: Record) -> None:
    """A round of a peer."""
    _, package, solver, singles, batch, forward = peer
    task = {"package": package, "solver": solver, "file": str(path)}
    first, last = (round(singles * part / ROUNDS) for part in (number, number + 1))
    said = others.ask("others", {**task, "what": "one by one", "first": first, "last": last})
    record.q.append(said["found"])
    record.single += said["seconds"]
    if batch:
        said = others.ask("others", {**task, "what": "in one call", "first": 0, "last": batch})
        record.batch.append(said["seconds"][0] / batch)
    if forward:
        said = others.ask("others", {**task, "what": "forward", "first": 0, "last": forward})
        record.forward.append(said["seconds"][0] / forward)


def compare(name: str, others: Engines | None, peers: list[Any], folder: str, device: str) -> dict[str, Record]:
    """All solvers on one arm, by turns, with the rows of the table."""
    tree, path = getattr(rb.kinematics.models, name)(on=device), Path(folder) / f"{name}.npz"
    q = tree.random(max(POSES, 20_000), seed=1)
    frames = tree.forward(q)
    poses = frames[:POSES]
    save_arm(tree, q, poses, path)
    records = {OURS: Record(), **{peer[0]: Record() for peer in peers}}
    for warm in (poses[0], poses):
        rb.ik.solve(tree, warm)
    if others:
        check_arm(others, peers, path, frames)
    for number in range(ROUNDS):
        part = slice(*(round(SINGLES * share / ROUNDS) for share in (number, number + 1)))
        ours(tree, poses, part, records[OURS])
        for peer in peers:
            theirs(others, peer, path, number, records[peer[0]])
    return records


def spread(seconds: list[float]) -> str:
    """Median with the first and the last tenth [µs]."""
    low, middle, high = np.percentile(seconds, [10, 50, 90]) * 1e6
    return f"{middle:.0f} ({low:.0f} … {high:.0f})"


def rows_of(name: str, records: dict[str, Record], device: str) -> list[list[str]]:
    """Rows of the table of one arm."""
    tree = getattr(rb.kinematics.models, name)(on=device)
    poses, rows = tree.forward(tree.random(max(POSES, 20_000), seed=1))[:POSES], []
    for solver, record in records.items():
        q = np.concatenate(record.q)
        reached, worst = judge(tree, q, poses[: len(q)])
        batch = f"{1e6 * np.median(record.batch):.3g}" if record.batch else "–"
        said = [f"{len(q):,}", f"{100.0 * reached.mean():.2f} %", f"{worst:.1e}"]
        rows.append([name, solver, *said, spread(record.single), batch])
    return rows


def ratios(found: dict[str, dict[str, Record]]) -> str:
    """How many times faster than the others, one by one and with many poses."""
    rows = []
    for name, records in found.items():
        for solver, record in records.items():
            if solver == OURS:
                continue
            own = records[OURS]
            faster = (np.median(record.single) / np.median(own.single), record.per_pose / own.per_pose)
            met = ["met" if ratio >= aim else "missed" for ratio, aim in zip(faster, AIMS, strict=True)]
            said = [f"{ratio:.3g}, {word}" for ratio, word in zip(faster, met, strict=True)]
            rows.append([name, solver, *(said if solver in AIMED_AT else [f"{ratio:.3g}" for ratio in faster])])
    head = ["arm", "times faster than", f"one by one (aimed at {AIMS[0]:g})", f"many poses (aimed at {AIMS[1]:g})"]
    return markdown(head, rows)


def forward_table(found: dict[str, dict[str, Record]]) -> str:
    """Frames of the tip a second."""
    rows = [
        [
            name,
            solver.split(",")[0],
            f"{1e6 * np.median(record.forward):.3g}",
            f"{1.0 / np.median(record.forward):,.0f}",
        ]
        for name, records in found.items()
        for solver, record in records.items()
        if record.forward
    ]
    return markdown(["arm", "package", "µs a configuration", "configurations a second"], rows)


def measure(others: Engines | None, folder: str, device: str) -> str:
    """The tables."""
    peers, lines = available(others)
    found = {name: compare(name, others, peers, folder, device) for name in ARMS}
    rows = [row for name in ARMS for row in rows_of(name, found[name], device)]
    missed = ", ".join(f"{records[OURS].missed} of {SINGLES:,} ({name})" for name, records in found.items())
    lines.append(f"One by one ours missed {missed}; what it reaches of {POSES:,} in one call is in the table.")
    parts = [*lines, "CPU time as a median, with the tenth and the ninetieth percentile:", markdown(HEAD, rows)]
    parts += ["Forward kinematics, in one call:", forward_table(found)]
    if peers:
        parts[-2:-2] = ["How many times faster:", ratios(found)]
    return "\n\n".join(parts)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = options("kinematics")
    parser.add_argument("--python", help="Python that has roboticstoolbox-python and ikpy")
    arguments: argparse.Namespace = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        others = Engines(1) if arguments.python else None
        if others:
            program = str(Path(__file__).with_name("kinematics_peers.py"))
            others.launch("others", [arguments.python, program], folder, {"PYTHONPATH": ""})
        try:
            publish("kinematics", arguments, measure(others, folder, arguments.device))
        finally:
            if others:
                others.stop()


if __name__ == "__main__":
    main()
