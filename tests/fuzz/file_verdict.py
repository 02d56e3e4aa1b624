"""What became of a spoilt file: it is refused by an error of rattleback, or it loads, steps, and is saved again."""

import math
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import rattleback as rb

STEPS = 3
# How long a file may take [s], more than the largest step that the mutations leave.
PATIENCE = 60.0
MOVES = ("position", "orientation", "velocity", "angular_velocity")


def judge_file(number: int, suffix: str, content: bytes, folder: Path) -> dict[str, Any]:
    """Load a file, take some steps if it loads, and say what became of it."""
    begun = time.process_time()
    verdict: dict[str, Any] = {"seed": number, "kind": suffix, "found": []}
    path = folder / f"spoilt{suffix}"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", rb.NotConvergedWarning)
            verdict["end"] = end_of(path, folder, verdict["found"])
    except Exception as error:
        verdict["end"] = "exception"
        verdict["found"].append(["exception", "".join(traceback.format_exception(error)[-6:])])
    verdict["seconds"] = round(time.process_time() - begun, 3)
    if verdict["seconds"] > PATIENCE:
        verdict["found"].append(["slow", f"{verdict['seconds']} s"])
    return verdict


def end_of(path: Path, folder: Path, found: list[list[str]]) -> str:
    """Where the way of a file ends: refused, cannot be simulated, diverges, or steps."""
    try:
        scene = rb.Scene.load(path) if path.suffix == ".json" else None
        sim = None if scene is not None else rb.load(path)
    except rb.FileError:
        return "refused"
    if scene is not None:
        scene.save(folder / "again.json")
        rb.Scene.load(folder / "again.json")
        try:
            sim = rb.Simulation(scene)
        except rb.InputError:
            return "not simulated"
    assert sim is not None
    try:
        follow(sim, folder, found)
    except rb.DivergenceError:
        return "diverges"
    except rb.RattlebackError as error:
        return type(error).__name__
    return "steps"


def follow(sim: rb.Simulation, folder: Path, found: list[list[str]]) -> None:
    """Step, save, load, step: all stays finite, and the loaded one goes the same way."""
    sim.step()
    sim.save(folder / "again.npz")
    again = rb.load(folder / "again.npz")
    for one in (sim, again):
        one.step(STEPS)
    values = [np.asarray(getattr(sim.state, name)) for name in MOVES]
    numbers = [value for value in sim.report.as_dict().values() if isinstance(value, float)]
    if not all(np.isfinite(value).all() for value in values) or not all(map(math.isfinite, numbers)):
        found.append(["not finite", "after some steps"])
    if again.hash() != sim.hash():
        found.append(["another way", "the state saved after a step does not go on as the simulation does"])
