"""Contacts of whole scenes in rattleback beside other engines, in one run: time of a step, and what is wrong for it.

    python benchmarks/contacts.py --peers FOLDER [--python PATH] [--scenes wall,pile] [--limit SECONDS] [--write]

FOLDER holds ``common.py`` (scenes and measures) and a module for every engine; an engine that the Python at PATH, or
this one, cannot import is left out. All engines run the same scenes step by step on one core, by turns, each in a
process of its own. A step's time is CPU time, and a median of the means of twelve in a row; overlaps, ways and energies
come from poses and velocities by the same code for all. An answer that is no answer, as a wall that falls by itself,
has no time but a sentence.

The table and a figure, time of a step and overlap of every engine, are also put into the folder ``out``.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contact_figure
from machine import markdown, publish
from peers import OWN_MODULE, Engines, Kind, engine_options, start

WHERE = Path("out")
CRADLES = tuple(f"cradle{lifted}" for lifted in (1, 2, 3, 4))
# Heaps from other starts: how one ends hangs on the last bit of its start, and so does what it costs then.
HEAPS = tuple(f"heap{number}" for number in (1, 2, 3, 4, 5))
SCENES = ("wall", "pile", *HEAPS, "funnel", "incline", *CRADLES)
# Name, module, nothing, settings; a setting of rattleback is a preset; "sleep" is balanced with bodies that sleep,
# "20 sweeps" and "3 sweeps" are balanced with no more of them, and "stepping" is balanced with time stepping.
EVERY_THIRD = "rattleback, stepping, 2 sweeps, every 3rd"
SINGLE = f"{EVERY_THIRD}, single"
STEPPING = {"RATTLEBACK_CONTACTS": "time_stepping"}
SELDOM = STEPPING | {"RATTLEBACK_SWEEPS": "2", "RATTLEBACK_EVERY": "3"}
ENGINES: list[Kind] = [
    ("rattleback, accurate", OWN_MODULE, "", {"RATTLEBACK_PRESET": "accurate"}),
    ("rattleback, balanced", OWN_MODULE, "", {"RATTLEBACK_PRESET": "balanced"}),
    ("rattleback, 20 sweeps", OWN_MODULE, "", {"RATTLEBACK_SWEEPS": "20"}),
    ("rattleback, 3 sweeps", OWN_MODULE, "", {"RATTLEBACK_SWEEPS": "3"}),
    ("rattleback, stepping", OWN_MODULE, "", STEPPING),
    ("rattleback, stepping, 3 sweeps", OWN_MODULE, "", STEPPING | {"RATTLEBACK_SWEEPS": "3"}),
    (EVERY_THIRD, OWN_MODULE, "", SELDOM),
    (SINGLE, OWN_MODULE, "", SELDOM | {"RATTLEBACK_PRECISION": "single"}),
    ("rattleback, fast", OWN_MODULE, "", {"RATTLEBACK_PRESET": "fast"}),
    ("rattleback, sleep", OWN_MODULE, "", {"RATTLEBACK_SLEEP": "1"}),
    ("Rapier", "rapier_peer", "", {}),
    ("Rapier, 120 Hz", "rapier_peer", "", {"RAPIER_HZ": "120"}),
    ("Rapier, sleep", "rapier_peer", "", {"RAPIER_SLEEP": "1"}),
    ("MuJoCo", "mujoco_peer", "", {}),
    ("MuJoCo, CG", "mujoco_peer", "", {"MJ_SOLVER": "cg"}),
    ("MuJoCo, CG, no rebound", "mujoco_peer", "", {"MJ_SOLVER": "cg", "MJ_CONTACT": "damped"}),
    ("PyBullet", "bullet_peer", "", {}),
]
PACKAGES = {"rapier_peer": "rapier3d", "mujoco_peer": "mujoco", "bullet_peer": "pybullet"}
# Engines that run only these scenes. Newton's method takes MuJoCo seconds for a step of the funnel, and the spring that
# stands for restitution in it gains energy there.
ONLY = {
    "Rapier, sleep": ("wall", "pile"),
    "rattleback, sleep": ("wall", "pile", "funnel"),
    "rattleback, balanced": SCENES,
    "rattleback, 20 sweeps": ("pile", *HEAPS),
    "rattleback, 3 sweeps": ("wall", "pile", "funnel"),
    "rattleback, stepping": ("wall", "pile", "incline"),
    "rattleback, stepping, 3 sweeps": ("wall", "funnel"),
    EVERY_THIRD: ("funnel",),
    SINGLE: ("funnel",),
    "Rapier, 120 Hz": SCENES,
    "MuJoCo": ("wall", "pile", "incline", *CRADLES),
    "MuJoCo, CG": ("wall", "pile"),
    "MuJoCo, CG, no rebound": ("funnel",),
}
# What all others run.
USUAL = tuple(scene for scene in SCENES if scene not in HEAPS)
# What is smaller than this, in the unit it is shown in, is zero.
NOTHING = 1e-6
# Columns of a scene: head, key, factor, format.
Column = tuple[str, str, float, str]
OVERLAPS: list[Column] = [
    ("overlap at the end, mm", "end", 1e3, ".2g"),
    ("largest, mm", "most", 1e3, ".2g"),
    ("lost", "lost", 1, ".0f"),
]
COLUMNS: dict[str, list[Column]] = {
    "wall": [
        ("ms a step before the hit", "before the hit", 1, ".3g"),
        ("from it on", "from the hit on", 1, ".3g"),
        ("creep before the hit, mm", "creep", 1e3, ".2g"),
        ("fastest brick then, mm/s", "speed", 1e3, ".2g"),
        ("overlap then, mm", "standing", 1e3, ".2g"),
        *OVERLAPS,
    ],
    "pile": [
        ("ms a step while cubes fall", "falling", 1, ".3g"),
        ("after 4 to 6 s", "rocking", 1, ".3g"),
        ("after 10 to 12 s", "leaning", 1, ".3g"),
        ("after 20 to 22 s", "at rest", 1, ".3g"),
        ("mean speed in the end, mm/s", "speed", 1e3, ".2g"),
        *OVERLAPS,
    ],
    "funnel": [
        ("ms a step up to 1 s", "up to 1 s", 1, ".3g"),
        ("1 to 3 s", "1 to 3 s", 1, ".3g"),
        ("3 to 8 s", "3 to 8 s", 1, ".3g"),
        ("mean", "mean", 1, ".3g"),
        ("energy gained, %", "gained", 100, ".1g"),
        ("through", "through", 1, ".0f"),
        *OVERLAPS,
    ],
    "incline": [
        ("µs a step while cubes slide", "sliding", 1e3, ".3g"),
        ("while they brake", "braking", 1e3, ".3g"),
        ("deviation from the closed form, mm", "deviation", 1e3, ".2g"),
        ("cubes that tilt", "tilted", 1, ".0f"),
        *OVERLAPS,
    ],
}
WORDS = {
    "wall": "A wall of 252 bricks for 5 s, hit at 1.57 s; h = 0.005 s:",
    "pile": "A heap of 1,000 cubes for 22 s, h = 0.005 s:",
    "funnel": "A funnel of 1,000 cubes for 8 s, h = 0.001 s; what was stopped has the mean up to there:",
    "incline": "Ten cubes on an inclined plane for 11 s, braking from 5 s on, h = 0.001 s:",
}
HEAP_WORDS = (
    "Five more such heaps, whose cubes start up to 1 cm elsewhere: median time of a step of each, and the deepest "
    "overlap at the end:"
)
CRADLE_WORDS = (
    "Newton's cradle for 2 s, h = 0.001 s, with 1 to 4 of five balls lifted: balls at rest after the impact, which "
    "should be 4, 3, 2 and 1, and what becomes of the energy at it:"
)
Found = dict[str, dict[str, dict[str, Any]]]


def present(python: str) -> tuple[list[Kind], list[str]]:
    """The engines there are, and a sentence for each package that cannot be imported."""
    missing = {
        module: package
        for module, package in PACKAGES.items()
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode
    }
    kinds = [kind for kind in ENGINES if kind[1] not in missing]
    return kinds, [f"{package} cannot be imported here and is left out." for package in missing.values()]


def pace() -> float:
    """CPU time of a piece of work that is always the same [s]."""
    begun, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number
    return time.process_time() - begun


def turns(engines: Engines, arguments: argparse.Namespace, tell: Callable[[str], None]) -> tuple[Found, list[float]]:
    """What every engine did in every scene, and how fast the machine was before each run."""
    found: Found = {}
    paces = []
    for scene in arguments.scenes.split(","):
        task = {"what": "contacts", "scene": scene.rstrip("12345"), "limit": arguments.limit, "steps": arguments.steps}
        if scene in CRADLES:
            task["count"] = int(scene[-1])
        if scene in HEAPS:
            task |= {"scene": "pile", "stir": int(scene[-1])}
        for name in engines.children:
            if scene in ONLY.get(name, USUAL):
                paces.append(pace())
                one = [engines.ask(name, task) for _ in range(engines.repeats)]
                found.setdefault(scene, {})[name] = one[0] | {"all": one}
                tell(f"{scene}, {name}: {one[0]['fault'] or format(one[0]['ms'], '.3g') + ' ms a step'}")
    return found, paces


def cell(one: dict[str, Any], column: Column) -> str:
    """A number of a run; of a time the median of the repeats."""
    _, key, factor, form = column
    values = [again[key] for again in one["all"] if again.get(key) is not None]
    if not values:
        return "–"
    value = factor * statistics.median(values)
    return f"{value:,.0f}" if value >= 100.0 else f"{value if value > NOTHING else 0:{form}}"


def row(name: str, one: dict[str, Any], columns: list[Column]) -> list[str]:
    """The row of an engine; without times where its answer is none."""
    cells = [cell(one, column) for column in columns]
    if one["fault"]:
        cells[:2] = [f"no time: {one['fault']}", "–"]
    elif not one["whole"]:
        cells[1] += f" (stopped at {one['seconds']:.3g} s)"
    return [name, *cells]


def cradle_table(found: Found) -> str:
    """The table of all cradles: a row for each engine."""
    names = dict.fromkeys(name for scene in found for name in found[scene] if scene in CRADLES)
    rows = []
    for name in names:
        runs = [found[scene][name] for scene in CRADLES if name in found.get(scene, {})]
        times = [1e3 * again["ms"] for one in runs for again in one["all"] if "ms" in again]
        fault = next((one["fault"] for one in runs if one["fault"]), "")
        took = f"no time: {fault}" if fault else f"{statistics.median(times):.3g}"
        resting = ", ".join(str(one.get("resting", "–")) for one in runs)
        changed = ", ".join(f"{100 * one['changed']:+.2g} %" if "changed" in one else "–" for one in runs)
        rows.append([name, took, resting, changed])
    return markdown(["engine", "µs a step", "balls at rest", "energy at the impact"], rows)


def heap_table(found: Found) -> str:
    """The table of all heaps from other starts: a row for each engine."""
    heaps = [found[scene] for scene in HEAPS if scene in found]
    rows = []
    for name in heaps[0]:
        times = [
            ", ".join(
                f"{again[key]:.3g}" for heap in heaps for again in heap[name]["all"] if again.get(key) is not None
            )
            for key in ("leaning", "at rest")
        ]
        deepest = max(1e3 * heap[name]["end"] for heap in heaps)
        rows.append([name, *(one or "–" for one in times), f"{deepest:.2g}"])
    return markdown(["engine", "ms a step after 10 to 12 s", "after 20 to 22 s", "overlap, mm"], rows)


def tables(found: Found) -> list[str]:
    """A table for each scene that was run."""
    parts = []
    for scene, columns in COLUMNS.items():
        if scene in found:
            rows = [row(name, one, columns) for name, one in found[scene].items()]
            parts += [WORDS[scene], markdown(["engine", *(column[0] for column in columns)], rows)]
        if scene == "pile" and set(HEAPS) & set(found):
            parts += [HEAP_WORDS, heap_table(found)]
    return [*parts, CRADLE_WORDS, cradle_table(found)] if set(CRADLES) & set(found) else parts


def report(arguments: argparse.Namespace, folder: str) -> tuple[str, Found]:
    """The tables, with what has to be known to read them, and what they were made of."""
    kinds, missing = present(arguments.python)
    load, engines = os.getloadavg()[0], start(arguments, folder, kinds)
    try:
        found, paces = turns(engines, arguments, lambda line: print(line, file=sys.stderr, flush=True))
    finally:
        engines.stop()
    middle = statistics.median(paces)
    noise = (
        "Medians of the mean CPU time of twelve steps in a row, one run of every engine after the other; load of the "
        f"machine when this began: {load:.1f}. The same piece of work, done before each run, took "
        f"{min(paces) / middle:.2f} to {max(paces) / middle:.2f} of its median: differences of times within that mean "
        "nothing."
    )
    short = [f"No run has more than {arguments.steps:,} steps."] if arguments.steps else []
    return "\n\n".join([noise, *short, *missing, *tables(found)]), found


def main() -> None:
    """Run the comparison from the command line."""
    parser = engine_options("contacts")
    parser.add_argument("--scenes", default=",".join(SCENES), help="which of them, separated by commas")
    parser.add_argument("--limit", type=float, default=120.0, help="CPU time after which a run is stopped [s]")
    parser.add_argument("--steps", type=int, default=0, help="most steps of a run; 0 for all")
    parser.add_argument("--repeats", type=int, default=1, help="how often each engine runs each scene")
    arguments = parser.parse_args()
    if not arguments.peers:
        print("The comparison of contacts was skipped: --peers names the folder of the scenes and the other engines.")
        return
    unknown = sorted(set(arguments.scenes.split(",")) - set(SCENES))
    if unknown:
        parser.error(f"There is no scene {', '.join(unknown)}; the scenes are {', '.join(SCENES)}.")
    arguments.python = arguments.python or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        text, found = report(arguments, folder)
    publish("contacts", arguments, text)
    WHERE.mkdir(exist_ok=True)
    (WHERE / "contacts.md").write_text(text + "\n", encoding="utf-8")
    contact_figure.draw(found, WHERE / "contacts.png")
    faults = [f"{name}, {scene}" for scene in found for name in found[scene] if found[scene][name]["fault"]]
    ours = [line for line in faults if line.startswith("rattleback")]
    if ours:
        raise SystemExit(f"No answer from {'; '.join(ours)}.")


if __name__ == "__main__":
    main()
