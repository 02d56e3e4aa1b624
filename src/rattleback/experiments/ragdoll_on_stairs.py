"""A ragdoll of 13 parts tumbles down twelve stairs: joints with limits, contacts and friction at the same time.

After every step the points that a joint holds together are compared where the bodies have them, besides what the report
says of the joints: x_a + R_a r_a = x_b + R_b r_b with the arms r of the start, and for hinges R_a n_a = R_b n_b with
axes n. Contacts lose energy and nothing else has any to give; a joint that is held by impulses at both ends of steps
lets the energy of a swing rise and fall by a little, of second order in their length.

Reference: a demand of this project.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import (
    Curve,
    Experiment,
    Findings,
    Options,
    Panel,
    Picture,
    Result,
    at_least,
    at_most,
)
from rattleback.experiments.snapshot import snapshot
from rattleback.joints import Revolute
from rattleback.maths.rotation import conjugate, rotate
from rattleback.scenes import ragdoll_on_stairs
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import Impulse

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP, SECONDS, TOLERANCE = 0.005, 6.0, 1e-6
METHOD = Impulse()
# Allowed: deepest overlap [m]; rise of the energy after any moment beside the energy of the start.
DEEP, RISE = 1e-3, 1e-4
# When pictures are taken [s], and how the ragdoll looks beside the stairs.
MOMENTS, RED = (0.0, 0.5, 1.0, 1.6, 6.0), (0.85, 0.40, 0.25)


@dataclass
class Fall:
    """What was seen of the ragdoll.

    Attributes:
        simulation: The simulation, where the run ended.
        rows: After every step: time [s], largest gap [m] and misalignment [rad] of a joint as the bodies lie, largest
            error of a joint by the report over its tolerance, deepest overlap [m], energy [J].
        pictures: What it looked like.
    """

    simulation: Simulation
    rows: np.ndarray
    pictures: list[Picture] = field(default_factory=list)

    @property
    def rise(self) -> float:
        """Most energy that came back after any moment, beside the energy of the start."""
        energy = self.rows[:, 5]
        return float((energy - np.minimum.accumulate(energy)).max() / energy[0])


class Seams:
    """Where the joints of a simulation hold bodies together.

    Args:
        simulation: The simulation, where every joint is closed.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self.ends = simulation, []
        for joint in simulation.scene.joints.values():
            axis = joint.axis if isinstance(joint, Revolute) else None
            self.ends.append([self._end(body, joint.at, axis) for body in (joint.a, joint.b)])

    def _end(self, body: str, at: Sequence[float], axis: Sequence[float] | None) -> tuple[str, np.ndarray, np.ndarray]:
        view = self.simulation[body]
        back = conjugate(view.orientation)
        return body, rotate(back, np.asarray(at) - view.position), rotate(back, np.zeros(3) if axis is None else axis)

    def measure(self) -> tuple[float, float]:
        """Largest gap [m] and largest misalignment of hinges [rad] of all joints."""
        gaps, turns = [], []
        for end_a, end_b in self.ends:
            (point_a, axis_a), (point_b, axis_b) = self._place(*end_a), self._place(*end_b)
            gaps.append(float(np.linalg.norm(point_a - point_b)))
            turns.append(float(np.linalg.norm(np.cross(axis_a, axis_b))))
        return max(gaps), max(turns)

    def _place(self, body: str, arm: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        view = self.simulation[body]
        return view.position + rotate(view.orientation, arm), rotate(view.orientation, axis)


def run(options: Options) -> Result:
    """Let the ragdoll fall, and look at every step."""
    found = Findings()
    options.tell("ragdoll on stairs")
    seen = fall(0.4 if options.quick else SECONDS, () if options.quick else MOMENTS)
    rows = seen.rows
    found.rows.append(at_most("largest gap of a joint", float(rows[:, 1].max()), TOLERANCE, "m"))
    found.rows.append(at_most("largest misalignment of a hinge", float(rows[:, 2].max()), TOLERANCE, "rad"))
    found.rows.append(at_most("worst joint of the report, over its tolerance", float(rows[:, 3].max()), 1.0))
    found.rows.append(at_most("deepest overlap", float(rows[:, 4].max()), DEEP, "m"))
    found.rows.append(at_most("most energy over that of the start", float((rows[:, 5] / rows[0, 5]).max()), 1.0 + 1e-9))
    found.rows.append(at_most("largest rise of the energy over that of the start", seen.rise, RISE))
    if not options.quick:
        before, pelvis = seen.simulation.scene["pelvis"].position[2], seen.simulation["pelvis"]
        found.rows.append(at_least("way of the pelvis down", float(before - pelvis.position[2]), 1.0, "m"))
        found.rows.append(
            at_most("speed of the pelvis at the end", float(np.linalg.norm(pelvis.velocity)), 0.01, "m/s")
        )
    return found.result(*panels(rows), pictures=seen.pictures)


def fall(seconds: float, moments: Sequence[float] = (), method: Impulse = METHOD) -> Fall:
    """Let the ragdoll fall.

    Args:
        seconds: How long [s].
        moments: When pictures are taken [s].
        method: How contacts are resolved.
    """
    sim = Simulation(ragdoll_on_stairs(), time_step=STEP, contacts=method)
    seams, due, rows, pictures = Seams(sim), list(moments), [], []
    colours = {name: RED for name in (body.name for body in sim.scene.bodies) if not name.startswith(("step", "land"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        while sim.time < seconds - 0.5 * STEP:
            if due and sim.time >= due[0] - 0.5 * STEP:
                pictures.append(snapshot(sim, colours))
                due.pop(0)
            sim.step()
            rows.append((sim.time, *seams.measure(), _reported(sim), sim.report.penetration, sim.energy().total))
    if due:
        pictures.append(snapshot(sim, colours))
    return Fall(sim, np.array(rows), pictures)


def _reported(sim: Simulation) -> float:
    """Largest error of a joint that the report of a step has, over its tolerance."""
    report = sim.report
    return max(report.position_error, report.orientation_error, report.velocity_error) / TOLERANCE


def panels(rows: np.ndarray) -> tuple[Panel, Panel, Panel]:
    """Joints, overlaps and energy over time."""
    time, ends = rows[:, 0].tolist(), [float(rows[0, 0]), float(rows[-1, 0])]
    joints = (
        Curve("gap of the bodies [m]", time, rows[:, 1].tolist(), "line"),
        Curve("misalignment [rad]", time, rows[:, 2].tolist(), "line", 1),
        Curve("by the report", time, (TOLERANCE * rows[:, 3]).tolist(), "line", 2),
        Curve("tolerance", ends, [TOLERANCE, TOLERANCE], "bound"),
    )
    overlaps = (Curve("deepest", time, rows[:, 4].tolist(), "line"), Curve("allowed", ends, [DEEP, DEEP], "bound"))
    return (
        Panel("Worst joint", "time [s]", "error", joints, ("linear", "log")),
        Panel("Overlap", "time [s]", "depth [m]", overlaps, ("linear", "log")),
        Panel("Energy", "time [s]", "energy [J]", (Curve("total", time, rows[:, 5].tolist(), "line"),)),
    )


EXPERIMENT = Experiment(
    "ragdoll_on_stairs",
    "Does a ragdoll that tumbles down stairs hold together, and gain no energy?",
    "a demand of this project",
    run,
)
