"""The stops of a model: its joint limits as arrays, and the launches they add to the preview loop.

What a limit does is told in ``joint_limits``. A model without limits has no stops, and nothing is recorded for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.constraints.coordinate import COORDINATES
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import epsilon, numpy_real
from rattleback.maths import rotation
from rattleback.model.state import Motion
from rattleback.problem import joint_limits, limit_choice, through
from rattleback.problem.joint_limits import Calls, Desk, Stops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.joints.stop import StopSpec
    from rattleback.model.step_context import StepContext
    from rattleback.problem.corrections import JointStatus, Links, Reactions
    from rattleback.problem.joint_errors import JointErrors
    from rattleback.problem.joint_rows import Inertias, JointRows, Levers

# A start this little beyond a limit is rounding [m or rad].
SLACK = 1e-6 if epsilon < 1e-10 else 1e-3


@dataclass(frozen=True)
class JointStops:
    """The stops of a simulation.

    Attributes:
        context: Where the step is recorded.
        solver: The joint method.
        desk: What the kernels of the stops work on.
        limited: Number of joints with stops, in all worlds.
        count: Number of stops.
        change: Room for a change of all velocities.
        limits: Tolerances and the most corrections a step may take.
        errors: Errors of the joints.
        reactions: What they did in the last step.
        status: How the loops go.
        links: Which joints hold each body.
        levers: Where the joints act.
        inertias: How the bodies answer to turning.
        flight: The motions of a step.
    """

    context: StepContext
    solver: Any
    desk: Any
    limited: int
    count: int
    change: Motion
    limits: Any
    errors: JointErrors
    reactions: Reactions
    status: JointStatus
    links: Links
    levers: Levers
    inertias: Inertias
    flight: Any

    @cached_property
    def everywhere(self) -> Any:
        """1 for every world."""
        model = self.context.model
        return wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)

    def take_over(self, old: JointStops) -> None:
        """Go on with what the limits of another one of the same joints do."""
        arrays.copy_into(self.desk.stops, old.desk.stops)
        arrays.copy_into(self.desk.calls, old.desk.calls)

    def forget(self) -> None:
        """Before the first step of a call: nothing is left of a step that was broken off."""
        self.context.program.launch(joint_limits.forget_stops, self.count, self.desk)
        if self.count:
            self.context.for_worlds(limit_choice.forget_calls, self.desk.calls)

    def measure_positions(self, may_look: bool = True) -> None:
        """After the joints are measured at the predicted motion: limits that do not hold there take effect."""
        if not self.count:
            return
        launch, state = self.context.program.launch, self.context.state
        given = (self.desk, self.flight, state.joints, self.limits, self.errors, self.status, int(may_look))
        launch(joint_limits.measure_positions, self.limited, *given)
        if may_look:
            self._call(self.context.start)

    def begin_velocities(self) -> None:
        """Before the velocities are corrected: how fast the stops that act are to rebound."""
        self.context.program.launch(joint_limits.count_acting, self.count, self.desk)
        self.context.program.launch(joint_limits.share_moment, self.count, self.desk)

    def measure_velocities(self) -> None:
        """After the joints' velocities are measured."""
        if not self.count:
            return
        motion = self.context.state.motion
        given = (self.desk, motion, self.limits, self.errors, self.status)
        self.context.program.launch(joint_limits.measure_velocities, self.limited, *given)
        self._call(motion)

    def evaluate(self, motion: Motion, which: Any) -> None:
        """The rows of the stops at a motion."""
        self.context.program.launch(joint_limits.evaluate_stops, self.count, self.desk, motion, self.inertias, which)

    def add_totals(self) -> None:
        """After the impulses are applied: what the stops have done so far."""
        self.context.program.launch(joint_limits.add_totals, self.count, self.desk, self.status)

    def set_aside(self, sign: int) -> None:
        """Before the rows of a stiff world turn, take the stops out of the reactions (−1); then put them back (1)."""
        given = (self.desk, self.levers, self.status, self.reactions, sign)
        self.context.program.launch(joint_limits.set_aside, self.limited, *given)

    def end_step(self) -> tuple[Any, Any]:
        """All limits are free again; the worlds whose rows and matrix must be made anew, and whether there are any."""
        if not self.count:
            return self.status.stiff, self.status.any_stiff
        calls = self.desk.calls
        self.context.program.launch(joint_limits.let_all_go, self.count, self.desk)
        self.context.for_worlds(joint_limits.end_step, calls, self.status)
        return calls.again, calls.any_again

    def made_anew(self) -> None:
        """The rows and the matrix are those of the next step."""
        if self.count:
            self.context.for_worlds(joint_limits.made_anew, self.desk.calls)

    def choose(self, motion: Motion, may_take: bool = True) -> None:
        """After the impulses for a motion are found: find them again until they fit the stops that act.

        Args:
            motion: The velocities to correct.
            may_take: Whether more stops may take effect, if it is the motion at the start of the step.
        """
        if not self.count:
            return
        context, calls, takes = self.context, self.desk.calls, int(may_take and motion is self.context.start)
        context.for_worlds(limit_choice.begin_choice, calls)
        self._choose(takes)
        with context.program.loop(calls.any_renew):
            self._make_anew(motion)
            self.solver.record_solution(context.program)
            self._choose(takes)

    def _choose(self, may_take: int) -> None:
        context = self.context
        context.for_bodies(limit_choice.find_change, self.desk, self.links, self.inertias, self.status, self.change)
        self._fit(self.change)
        given = (self.desk, self.flight, self.limits)
        context.program.launch(limit_choice.wish, self.count, *given, self.status, self.change, may_take)
        context.for_worlds(limit_choice.weigh_wishes, self.desk.calls)
        context.program.launch(limit_choice.choose, self.count, *given, self.inertias, self.status)

    def _fit(self, motion: Motion) -> None:
        """What trees make of a change of velocities, where the solver has any."""
        through.record_fit(self.solver, self.context.program, motion, self.everywhere)

    def _call(self, motion: Motion) -> None:
        """Stops that pull are let go; worlds whose stops want something go on, with rows and a matrix that fit."""
        context, calls = self.context, self.desk.calls
        context.program.launch(limit_choice.find_pulling, self.count, self.desk, self.limits, self.status)
        context.for_worlds(joint_limits.call, calls, self.status)
        with context.program.when(calls.any_renew):
            self._make_anew(motion)

    def _make_anew(self, motion: Motion) -> None:
        """Stops that are let go lose what they have done to a motion; then rows and matrix of those that act."""
        context, launch, calls = self.context, self.context.program.launch, self.desk.calls
        with context.program.when(calls.any_release):
            launch(limit_choice.let_go, self.limited, self.desk, self.levers, self.reactions)
            loss = (self.desk, self.links, self.inertias, self.status, motion, self.change)
            context.for_bodies(limit_choice.take_back, *loss)
            self._fit(motion)
            self._fit(self.change)
            launch(limit_choice.want_back, len(self.desk.joints.count), self.desk, self.change)
            launch(limit_choice.drift, self.count, self.desk, self.flight, self.status, self.change)
            context.for_worlds(limit_choice.released, calls)
        self.evaluate(context.state.motion, calls.renew)
        if motion is context.start:
            with context.program.when(self.status.any_stiff):
                self.evaluate(context.predicted, self.status.turned)
        self.solver.record_preparation(context.program, calls.renew)
        context.for_worlds(joint_limits.renewed, calls)


def make_stops(context: StepContext, problem: JointRows, solver: Any, shared: tuple[Any, ...]) -> JointStops:
    """The stops of a model's joints.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them.
        shared: From ``limits`` to ``flight`` of the preview loop.
    """
    _check_start(problem)
    stops, desk = _make_arrays(problem), Desk()
    sizes = {"worlds": problem.model.worlds, "flags": 1}
    desk.joints, desk.fixed, desk.rows, desk.stops = problem.joints, problem.fixed, problem.rows, stops
    desk.calls = arrays.allocate(Calls, sizes, problem.model.device)
    return JointStops(context, solver, desk, len(stops.first), len(stops.joint), context.scratch(Motion), *shared)


def _make_arrays(problem: JointRows) -> Any:
    """The limits of the joints of all worlds."""
    model, joints = problem.model, problem.joints
    owners = [j for j, own in enumerate(problem.stops) for _ in own]
    specs = [spec for own in problem.stops for spec in own]
    place = np.array([k for own in problem.stops for k in range(len(own))], dtype=np.int64)
    counts = np.array([len(own) for own in problem.stops if own], dtype=np.int64)
    joint = (np.arange(model.worlds)[:, None] * len(problem.names) + np.array(owners, dtype=np.int64)).ravel()
    held = problem.fixed.count.numpy()[joint]
    first = np.arange(model.worlds)[:, None] * len(specs) + np.cumsum(counts) - counts
    columns = {
        "joint": joint.astype(np.int32),
        "row": (joints.first.numpy()[joint] + held + np.tile(place, model.worlds)).astype(np.int32),
        "first": first.ravel().astype(np.int32),
        "count": np.tile(counts, model.worlds).astype(np.int32),
        **{name: np.tile(column, model.worlds) for name, column in _columns(specs).items()},
    }
    sizes = {"stops": len(specs) * model.worlds, "limited": len(counts) * model.worlds}
    stops = arrays.allocate(Stops, sizes, model.device)
    arrays.write(stops, {**arrays.read(stops), **columns}, "the stops")
    return stops


def _columns(specs: list[StopSpec]) -> dict[str, NDArray[Any]]:
    return {
        "freedom": np.array([COORDINATES[spec.freedom] for spec in specs], dtype=np.int32),
        "lower": np.array([spec.lower for spec in specs], dtype=np.float64),
        "upper": np.array([spec.upper for spec in specs], dtype=np.float64),
        "restitution": np.array([spec.restitution for spec in specs], dtype=numpy_real),
    }


def _check_start(problem: JointRows) -> None:
    """Refuse limits that do not hold at the start."""
    for j, own in enumerate(problem.stops):
        for spec in own:
            q, unit = _start_of(problem, j, spec.freedom), "m" if spec.freedom.startswith("slide") else "rad"
            if not spec.lower - SLACK <= q <= spec.upper + SLACK:
                raise InputError(
                    f"Joint {problem.names[j]!r} starts at {q:.6g} {unit}, outside its limits from {spec.lower:.6g} to "
                    f"{spec.upper:.6g} {unit}; move its bodies or its limits."
                )


def _start_of(problem: JointRows, j: int, freedom: str) -> float:
    """A coordinate of a joint as its bodies lie at the start."""
    scene, turns, points = problem.model.scene, [], []
    for s, side in enumerate("ab"):
        anchor = np.array(getattr(problem.joints, f"anchor_{side}").numpy()[j], dtype=np.float64)
        turn = np.array(getattr(problem.joints, f"turn_{side}").numpy()[j], dtype=np.float64)
        body = int(problem.joints.body_a.numpy()[j] if s == 0 else problem.joints.body_b.numpy()[j])
        if body >= 0:
            found = scene.bodies[body]
            anchor = found.position + rotation.rotate(found.orientation, anchor)
            turn = rotation.multiply(found.orientation, turn)
        turns.append(turn)
        points.append(anchor)
    across = rotation.multiply(rotation.conjugate(turns[0]), turns[1])
    if freedom == "slide_z":
        return float(rotation.rotate(rotation.conjugate(turns[0]), points[1] - points[0])[2])
    if freedom == "turn_z":
        half = 2.0 * np.arctan2(across[2], across[3])
        return float(half - 2.0 * np.pi * np.round(half / (2.0 * np.pi)))
    seen = rotation.rotate(across if freedom == "turn_a" else rotation.conjugate(across), np.array([0.0, 0.0, 1.0]))
    azimuth = float(np.arctan2(seen[1], seen[0]))
    return azimuth if freedom == "turn_a" else 0.0 - azimuth
