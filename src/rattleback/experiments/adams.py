"""One body on one joint against the commercial code ADAMS over 5 s: motion and reactions, every 0.01 s.

The files are those of Project Chrono's validation set (``data/testing/joints``), in a folder ``adams`` of the folder
that ``--data`` or the environment variable ``RATTLEBACK_DATA`` names; without them the experiment is skipped. ADAMS
gives what the joint does to the ground, which is minus what it does to the body. A reaction is the mean over a step, so
those of the steps before and after a moment are averaged.

The files of the ball and the universal joint were made with a looser tolerance: the same pendulum on a revolute joint
differs from them by 8e-4 m. These joints are judged by the file of the revolute joint, their own is shown.

Reference: Project Chrono, validation of joints; ten times tighter than its own tolerances.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError, RattlebackError
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.joints import Ball, Cylindrical, Distance, Prismatic, Revolute, Universal
from rattleback.model import Scene
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "RATTLEBACK_DATA"
GRAVITY, STEP, EVERY = 9.80665, 5e-4, 0.01
MOTION, REACTION = 1e-4, 2e-3
# The files have six digits, of which the last is rounded: 122.583 m is known to 5e-4 m.
ROUNDED = 5e-6
SIGNALS = {"Pos": "m", "Vel": "m/s", "Quat": "", "Rforce": "N", "Rtorque": "N m"}
NAMES = {"Pos": "position", "Vel": "velocity", "Quat": "quaternion", "Rforce": "force", "Rtorque": "torque"}


@dataclass(frozen=True)
class Case:
    """A family of the validation set.

    Attributes:
        position: Where the centre of mass starts [m]; the joint is at the origin.
        moments: Moments of inertia in the axes of the body's marker [kg m²].
        joint: Makes the joint of the world and the body.
        swap: Axes of the revolute case that are those of this one, where that one judges it; empty for its own file.
    """

    position: tuple[float, float, float]
    moments: tuple[float, float, float]
    joint: Callable[[Any, Any], Any]
    swap: tuple[int, ...] = ()


ROD = (0.04, 0.1, 0.1)
CASES = {
    "Revolute": Case((2, 0, 0), ROD, lambda a, b: Revolute(a, b, axis=(0, 1, 0))),
    "Distance": Case((0, 2, 0), ROD, lambda a, b: Distance(a, b, at_b=(0, 2, 0))),
    "Prismatic": Case((2, 0, 0), ROD, lambda a, b: Prismatic(a, b, axis=(0, 0, 1))),
    "Cylindrical": Case((2, 0, 0), ROD, lambda a, b: Cylindrical(a, b, axis=(0, 0, 1))),
    "Spherical": Case((2, 0, 0), ROD, lambda a, b: Ball(a, b), (0, 1, 2)),
    "Universal": Case(
        (0, 2, 0), (0.1, 0.1, 0.04), lambda a, b: Universal(a, b, (0, 0, 0), (1, 0, 0), axis_b=(0, 0, 1)), (1, 0, 2)
    ),
}
# These fall straight down for 122 m, where the files have three digits after the point; not drawn.
FALLING = ("Prismatic", "Cylindrical")
LEFT_OUT = "The cases of springs, actuators and the revolute-spherical joint are not part of this experiment."


def run(options: Options) -> Result:
    """Run every family and compare every signal."""
    given = options.data or os.environ.get(VARIABLE)
    folder = None if given is None else Path(given) / "adams"
    if folder is None or not folder.is_dir():
        where = f"the environment variable {VARIABLE} or --data" if folder is None else repr(str(folder))
        return Result(skipped=f"The files of the ADAMS cases were not found; {where} must name the folder they are in.")
    found, curves = Findings(), []
    for number, family in enumerate(list(CASES)[:2] if options.quick else CASES):
        options.tell(f"ADAMS, {family}")
        try:
            curves.append(compare(family, folder, options.quick, found, number))
        except RattlebackError as error:
            found.rows.append(at_most(f"{family}: {NAMES['Pos']}", np.inf, MOTION, SIGNALS["Pos"]))
            found.note(f"{family}: {error}")
    found.note(LEFT_OUT)
    curves = [curve for curve in curves if curve.name not in FALLING]
    bound = Curve("allowed", [0.0, 5.0], [MOTION, MOTION], "bound")
    return found.result(Panel("Distance from ADAMS", "time [s]", "position [m]", (*curves, bound), ("linear", "log")))


def compare(family: str, folder: Path, quick: bool, found: Findings, number: int) -> Curve:
    """Judge the signals of a family; the distance of the position over time."""
    case, rows = CASES[family], 101 if quick else 501
    start = np.roll(read(folder, family, "Quat")[0], -1)
    ours = simulate(case, start / np.linalg.norm(start), rows)
    for signal, unit in SIGNALS.items():
        theirs = read(folder, family, signal)[:rows]
        worst = float(distance(signal, ours[signal], theirs).max())
        allowed = REACTION if signal.startswith("R") else MOTION
        what = f"{family}: {NAMES[signal]}"
        if not case.swap or signal == "Rtorque":
            found.rows.append(at_most(what, worst, allowed, unit))
            continue
        found.rows.append(Finding(f"{what}, its own file", worst, unit=unit))
        if signal in ("Pos", "Vel", "Rforce"):
            exact = read(folder, "Revolute", signal)[:rows, case.swap]
            found.rows.append(
                at_most(f"{what}, the revolute file", float(distance(signal, ours[signal], exact).max()), allowed, unit)
            )
    apart = np.abs(ours["Pos"] - read(folder, family, "Pos")[:rows]).max(axis=1)
    return Curve(family, (EVERY * np.arange(1, rows)).tolist(), apart[1:].tolist(), "line", number)


def simulate(case: Case, start: np.ndarray, rows: int) -> dict[str, np.ndarray]:
    """Our signals every 0.01 s; quaternions scalar first, as in the files."""
    scene = Scene(gravity=(0, 0, -GRAVITY))
    body = scene.add_body(mass=1.0, inertia=case.moments, position=case.position, orientation=start, name="body")
    scene.add_joint(case.joint(scene.world, body), name="joint")
    sim = Simulation(scene, time_step=STEP, strict=True)
    found: dict[str, list[np.ndarray]] = {signal: [] for signal in SIGNALS}
    for row in range(rows):
        if row:
            sim.step(round(EVERY / STEP) - 1)
        view, joint = sim["body"], sim["joint"]
        found["Pos"].append(np.array(view.position))
        found["Vel"].append(np.array(view.velocity))
        found["Quat"].append(np.roll(view.orientation, 1))
        before = (joint.reaction_force, joint.reaction_torque)
        sim.step()
        after = (joint.reaction_force, joint.reaction_torque)
        # Before the first step there was none; its own mean stands for both.
        for signal, one, two in zip(("Rforce", "Rtorque"), before if row else after, after, strict=True):
            found[signal].append(-0.5 * (one + two))
    return {signal: np.array(values) for signal, values in found.items()}


def distance(signal: str, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Largest difference at each moment beyond the rounding of the files; of a quaternion or its negative."""
    if signal == "Quat":
        ours = ours * np.sign(np.sum(ours * theirs, axis=1, keepdims=True))
    off: np.ndarray = np.maximum(np.abs(ours - theirs) - ROUNDED * np.abs(theirs), 0.0).max(axis=1)
    return off


def read(folder: Path, family: str, signal: str) -> np.ndarray:
    """The columns of a file after the time, shape (501, 3) or (501, 4)."""
    path = folder / f"{family}_Case01_ADAMS_{signal}.txt"
    try:
        return np.loadtxt(path, skiprows=3)[:, 1 : 5 if signal == "Quat" else 4]
    except (OSError, ValueError) as error:
        raise FileError(f"The ADAMS file {path.name!r} cannot be read: {error}.") from None


EXPERIMENT = Experiment(
    "adams",
    "Does a body on one joint move as in ADAMS, and does the joint carry the same?",
    "Project Chrono, validation of joints against ADAMS",
    run,
)
