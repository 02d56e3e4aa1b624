"""The stops of a model: its joint limits as arrays, and the launches they add to the preview loop.

What a limit does is told in ``joint_limits``. A model without limits has no stops, and nothing is recorded for it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.constraints.coordinate import COORDINATES
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import epsilon, numpy_real
from rattleback.joints.stop import stops_of
from rattleback.maths import rotation
from rattleback.maths.complementarity import OneSidedRows
from rattleback.model.state import Motion
from rattleback.problem import joint_limits, one_sided_rows, swing_rows, through
from rattleback.problem.joint_columns import poses
from rattleback.problem.joint_limits import StopRows, Stops, StopStatus
from rattleback.problem.mechanisms import parts_of
from rattleback.problem.one_sided_rows import StopGroups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.joints.stop import StopSpec
    from rattleback.model.step_context import StepContext
    from rattleback.problem.joint_rows import JointRows

# A start this little beyond a limit is rounding [m or rad].
SLACK = 1e-6 if epsilon < 1e-10 else 1e-3


class JointStops:
    """The stops of a simulation.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them without the rows of their stops.
        shared: Tolerances of the loop, errors of the joints, their reactions, the status of the loop, links, levers,
            inertias and motions of the preview loop.

    Attributes:
        count: Number of stops.
        limited: Number of joints with stops, in all worlds.
        cones: Whether a ball joint has a cone.
        system: What the kernels of the stops work on.
    """

    def __init__(self, context: StepContext, problem: JointRows, solver: Any, shared: tuple[Any, ...]) -> None:
        _check_start(problem)
        limits, self.errors, self.reactions, self.loop, self.links, self.levers, self.inertias, flight = shared
        self.context, self.solver, self.joints = context, solver, problem.joint_count
        model = problem.model
        stops, self.groups, self.rows = _make_arrays(problem)
        self.limited, self.count = len(stops.first), len(stops.joint)
        self.cones = bool((stops.freedom.numpy() == COORDINATES["swing"]).any())
        self.status = arrays.allocate(StopStatus, {"worlds": model.worlds}, model.device)
        self.system: Any = StopRows()
        self.system.joints, self.system.fixed, self.system.rows = problem.joints, problem.fixed, problem.rows
        self.system.stops, self.system.status, self.system.loop = stops, self.status, self.loop
        self.system.limits, self.system.flight = limits, flight
        self.change = context.scratch(Motion)

    @cached_property
    def everywhere(self) -> Any:
        """1 for every world."""
        model = self.context.model
        return wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)

    def take_over(self, old: JointStops) -> None:
        """Go on with what the limits of another one of the same joints do."""
        arrays.copy_into(self.system.stops, old.system.stops)
        arrays.copy_into(self.status, old.status)

    def forget(self) -> None:
        """Before the first step of a call, and after every step: no limit is hit until it is hit again."""
        self._for_stops(joint_limits.free_stops, self.system)

    def measure_positions(self, may_look: bool = True) -> None:
        """After the joints are measured at the predicted motion: limits that do not hold there take effect."""
        if not self.count:
            return
        if self.cones and may_look:
            self._for_stops(swing_rows.turn_swings, self.system, self.inertias)
            self.forget_columns(self.status.anew)
            self.context.for_worlds(swing_rows.end_turns, self.status)
        given = (self.system, self.context.state.joints, self.errors, int(may_look))
        self.context.program.launch(joint_limits.measure_positions, self.limited, *given)
        if may_look:
            self.context.for_worlds(joint_limits.decide, self.status, self.loop)

    def begin_velocities(self) -> None:
        """Before the velocities are corrected: how fast the stops that were hit are to rebound."""
        self._for_stops(joint_limits.count_hits, self.system)
        self._for_stops(joint_limits.begin_velocities, self.system)

    def measure_velocities(self) -> None:
        """After the joints' velocities are measured."""
        if not self.count:
            return
        given = (self.system, self.context.state.motion, self.errors)
        self.context.program.launch(joint_limits.measure_velocities, self.limited, *given)
        self.context.for_worlds(joint_limits.decide, self.status, self.loop)

    def evaluate(self, motion: Motion, which: Any) -> None:
        """The rows of the stops at a motion."""
        self._for_stops(joint_limits.evaluate_stops, self.system, motion, self.inertias, which)

    def forget_columns(self, which: Any) -> None:
        """The factor of the joints is another, in the worlds where ``which`` is 1."""
        self._for_stops(one_sided_rows.forget_columns, self.system, self.rows, which)

    def forget_old_columns(self) -> None:
        """The same for another correction of a stiff loop."""
        if self.count:
            self._for_stops(one_sided_rows.forget_old_columns, self.system, self.rows)
            self.context.for_worlds(one_sided_rows.count_factors, self.status, self.loop)

    def add_totals(self) -> None:
        """After the impulses are applied: what the stops have done so far."""
        self._for_stops(joint_limits.add_totals, self.system)

    def set_aside(self, sign: int) -> None:
        """Before the rows of a stiff world turn, take the stops out of the reactions (−1); then put them back (1)."""
        given = (self.system, self.levers, self.reactions, sign)
        self.context.program.launch(joint_limits.set_aside, self.limited, *given)

    def solve(self, motion: Motion, mode: int, shifted: bool = False) -> None:
        """Impulses of the stops beside those of the joints for a motion, which are found anew with them.

        Args:
            motion: The velocities without either.
            mode: What is solved, see ``one_sided_rows``.
            shifted: Whether bodies of stiff worlds shift by it.
        """
        if not self.count:
            return
        program, groups, given = self.context.program, self.groups, (self.system, self.groups, self.rows)
        self._find_change(joints=1, stops=0)
        if shifted:
            with program.when(self.loop.any_stiff):
                self.context.for_bodies(one_sided_rows.add_shift, self.links, self.inertias, self.loop, self.change)
        self._for_groups(one_sided_rows.pose_stops, *given, motion, self.change, mode)
        with program.when(groups.any_missing):
            self._for_joints(one_sided_rows.keep_wanted, self.system, groups, 1)
            with program.loop(groups.any_missing):
                self._for_groups(one_sided_rows.choose_column, *given)
                self._find_change(joints=0, stops=1)
                self._for_joints(one_sided_rows.want_rest, self.system, self.change)
                self.solver.record_solution(program)
                self._find_change(joints=1, stops=1)
                self._for_groups(one_sided_rows.store_column, *given, self.change, mode)
            self._for_joints(one_sided_rows.keep_wanted, self.system, groups, -1)
        with program.when(groups.any_push):
            self._for_stops(one_sided_rows.put_impulses, self.system, self.rows)
            self._find_change(joints=0, stops=1)
            self._for_joints(one_sided_rows.want_beside, self.system, groups, self.change)
            self.solver.record_solution(program)

    def _find_change(self, joints: int, stops: int) -> None:
        given = (self.system, self.links, self.change, joints, stops)
        self.context.for_bodies(one_sided_rows.find_change, *given)
        through.record_change(self.solver, self.context.program, self.change, self.everywhere)

    def _for_stops(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.count, *inputs)

    def _for_groups(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, len(self.groups.first), *inputs)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.joints, *inputs)


def _make_arrays(problem: JointRows) -> tuple[Any, Any, Any]:
    """The limits of the joints of all worlds, mechanism by mechanism; their groups, and the problems of those."""
    parts = [[j for j in part if problem.stops[j]] for part in parts_of(problem)]
    parts = [part for part in parts if part]
    sizes = np.array([sum(len(problem.stops[j]) for j in part) for part in parts], dtype=np.int64)
    return _make_stops(problem, [j for part in parts for j in part]), *_make_groups(problem, sizes)


def _make_stops(problem: JointRows, limited: list[int]) -> Any:
    """The limits of some joints of every world, in this order."""
    model, joints, worlds = problem.model, problem.joints, problem.model.worlds
    specs = model.scenes.listed(lambda scene: [spec for j in limited for spec in stops_of(_nth_joint(scene, j))])
    counts = np.array([len(problem.stops[j]) for j in limited], dtype=np.int64)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    joint = (np.arange(worlds)[:, None] * len(problem.names) + np.repeat(limited, counts).astype(np.int64)).ravel()
    row = joints.first.numpy()[joint] + problem.fixed.count.numpy()[joint] + np.tile(place, worlds)
    stops = arrays.allocate(Stops, {"stops": len(joint), "limited": len(counts) * worlds}, model.device)
    indices = {"joint": joint, "row": row, **_stretches(counts, worlds)}
    columns = {name: column.astype(np.int32) for name, column in indices.items()}
    columns |= {name: model.scenes.tiled(column) for name, column in _columns(specs).items()}
    arrays.write(stops, {**arrays.read(stops), **columns}, "the stops")
    return stops


def _make_groups(problem: JointRows, sizes: NDArray[np.int64]) -> tuple[Any, Any]:
    """The groups of so many stops in every world, and room for their problems."""
    device, worlds = problem.model.device, problem.model.worlds
    entries = np.tile(sizes * sizes, worlds)
    total = int(sizes.sum()) * worlds
    counts = {"groups": len(entries), "stops": total, "rows": max(problem.row_count, 1), "flags": 1}
    groups = arrays.allocate(StopGroups, counts, device)
    indices = {**_stretches(sizes, worlds), "entry": np.cumsum(entries) - entries}
    columns = {name: column.astype(np.int32) for name, column in indices.items()}
    arrays.write(groups, {**arrays.read(groups), **columns}, "the groups of stops")
    return groups, arrays.allocate(OneSidedRows, {"rows": total, "entries": int(entries.sum())}, device)


def _stretches(counts: NDArray[np.int64], worlds: int) -> dict[str, NDArray[np.int64]]:
    """Stretches of so many rows one after the other, in all worlds."""
    every = np.tile(counts, worlds)
    return {"first": np.cumsum(every) - every, "count": every}


def _columns(specs: list[StopSpec]) -> dict[str, NDArray[Any]]:
    return {
        "freedom": np.array([COORDINATES[spec.freedom] for spec in specs], dtype=np.int32),
        "lower": np.array([spec.lower for spec in specs], dtype=np.float64),
        "upper": np.array([spec.upper for spec in specs], dtype=np.float64),
        "restitution": np.array([spec.restitution for spec in specs], dtype=numpy_real),
    }


def _nth_joint(scene: Any, j: int) -> Any:
    return list(scene.joints.values())[j]


def _check_start(problem: JointRows) -> None:
    """Refuse limits that do not hold at the start."""
    if not any(problem.stops):
        return
    placed = {name: getattr(problem.joints, name).numpy() for name in ("anchor_a", "anchor_b", "turn_a", "turn_b")}
    scenes, count = problem.model.scenes, len(problem.names)
    found = scenes.joints()
    rows = np.unique(found.index, return_index=True)[1]
    starts = _starts_of(placed, rows, found.items)
    for k, (joint, *_) in enumerate(found.items):
        for spec in stops_of(joint):
            q, unit = float(starts[spec.freedom][k]), "m" if spec.freedom.startswith("slide") else "rad"
            if not spec.lower - SLACK <= q <= spec.upper + SLACK:
                where = f" in world {rows[k] // count}" if scenes.varied else ""
                raise InputError(
                    f"Joint {problem.names[rows[k] % count]!r} starts{where} at {q:.6g} {unit}, outside its limits "
                    f"from {spec.lower:.6g} to {spec.upper:.6g} {unit}; move its bodies or its limits."
                )


def _starts_of(placed: dict[str, NDArray[Any]], rows: NDArray[Any], items: list[Any]) -> dict[str, NDArray[np.float64]]:
    """The coordinates of joints as their bodies lie at the start, by freedom."""
    turns, points = [], []
    for s, side in enumerate("ab"):
        anchor, turn = (placed[f"{name}_{side}"][rows].astype(np.float64) for name in ("anchor", "turn"))
        place = poses([item[1 + s] for item in items])
        points.append(place["position"] + rotation.rotate(place["orientation"], anchor))
        turns.append(rotation.multiply(place["orientation"], turn))
    back = rotation.conjugate(turns[0])
    across, z = rotation.multiply(back, turns[1]), np.array([0.0, 0.0, 1.0])
    half = 2.0 * np.arctan2(across[:, 2], across[:, 3])
    seen = [rotation.rotate(turn, z) for turn in (across, rotation.conjugate(across))]
    azimuths = [np.arctan2(way[:, 1], way[:, 0]) for way in seen]
    about_z = half - 2.0 * np.pi * np.round(half / (2.0 * np.pi))
    return {
        "slide_z": rotation.rotate(back, points[1] - points[0])[:, 2],
        "turn_z": about_z,
        "twist": about_z,
        "turn_a": azimuths[0],
        "turn_b": 0.0 - azimuths[1],
        "swing": np.arctan2(np.hypot(seen[0][:, 0], seen[0][:, 1]), seen[0][:, 2]),
    }
