"""The preview loop around every joint method: predict the end of the step, measure the joints there, correct, repeat.

    e(t + h) of every joint at the predicted motion;   wanted change of the rows' velocities  −e/h
    impulses at the start of the step that make it;    predict again, until |e| is within the tolerance

After the step the velocities are corrected the same way, with −ė of every row as the wanted change.

Reference: Bender, dissertation, §3.2.1 and §3.3 (eq. 3.13 and 3.14).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.model.bench import Bench, copy_motion
from rattleback.model.state import Motion
from rattleback.problem.corrections import (
    Effort,
    Ends,
    JointErrors,
    Limits,
    Links,
    Reactions,
    account_positions,
    account_velocities,
    add_reactions,
    apply_impulses,
    begin,
    count_turns,
    decide,
    keep_motion,
    keep_reactions,
    lower,
    measure_positions,
    measure_velocities,
    rest,
    undo_motion,
    undo_reactions,
    undone,
)
from rattleback.problem.joint_rows import JointRows, evaluate_rows


@dataclass(frozen=True)
class Preview:
    """The preview loop of a simulation.

    Attributes:
        bench: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them.
        limits: Tolerances and the most corrections a step may take.
        errors: Errors of the joints.
        reactions: What they did in the last step.
        effort: How the loops went.
        links: Which joints hold each body.
        ends: The ends of the joints, body by body.
        flag: Raised while any world is busy.
        undo: Raised when a world has to go back to what was kept.
    """

    bench: Bench
    problem: JointRows
    solver: Any
    limits: Any
    errors: JointErrors
    reactions: Reactions
    effort: Effort
    links: Links
    ends: Ends
    flag: Any
    undo: Any

    def forget(self) -> None:
        """A call begins: the worst errors start anew."""
        errors: Any = self.errors
        effort: Any = self.effort
        worst = (errors.worst_position, errors.worst_orientation, errors.worst_velocity)
        for array in (*worst, effort.most_positions, effort.failed):
            array.zero_()

    def summary(self, tolerances: Mapping[str, float]) -> dict[str, Any]:
        """What the report says of the joints: the worst errors, where, and why they are too large if they are."""
        found = {
            name: getattr(self.errors, f"worst_{name}").numpy() for name in ("position", "orientation", "velocity")
        }
        ratios = np.max([found[name] / tolerances[f"{name}_tolerance"] for name in found], axis=0)
        worst = int(np.argmax(ratios))
        world, joint = divmod(worst, len(self.problem.names))
        said: dict[str, Any] = {f"{name}_error": float(values.max()) for name, values in found.items()}
        said["worst_joint"] = self.problem.names[joint]
        said["iterations"] = int(self.effort.most_positions.numpy().max())
        said["redundant_rows"] = int(self.solver.redundant_rows().max())
        if not ratios[worst] <= 1.0:
            where = f" of world {world}" if self.bench.model.batched else ""
            said["reason"] = (
                f"Joint {said['worst_joint']!r}{where} is off by {found['position'][worst]:.3g} m, "
                f"{found['orientation'][worst]:.3g} rad and {found['velocity'][worst]:.3g} m/s after "
                f"{self.limits.most} corrections, {ratios[worst]:.3g} times its tolerance; more max_iterations or a "
                "shorter time_step help."
            )
        return said

    def record_rows(self) -> None:
        """The rows at the state's motion and the solver's preparation for them."""
        bodies, problem = self.bench.model.bodies, self.problem
        self._for_joints(evaluate_rows, bodies, problem.joints, problem.letters, self.bench.state.motion, problem.rows)
        self.solver.record_preparation(self.bench.program)

    def record_start(self) -> None:
        """The corrections start from the state."""
        self.bench.for_bodies(copy_motion, self.bench.state.motion, self.bench.start)
        self._for_joints(rest, self.reactions)

    def record_positions(self, predict: Callable[[], None]) -> None:
        """Correct the velocities at the start until the joints hold at the end; the first prediction is there."""
        bench, joints, effort = self.bench, self.problem.joints, self.effort
        motions = [(motion, bench.scratch(Motion)) for motion in (bench.start, bench.predicted)]
        kept = arrays.clone(self.reactions)

        def measure_and_keep() -> None:
            self._measure_positions()
            bench.for_worlds(decide, effort, self.limits, 1, self.flag, self.undo)
            for motion, copy in motions:
                bench.for_bodies(keep_motion, effort, motion, copy)
            self._for_joints(keep_reactions, joints, effort, self.reactions, kept)

        self._loop(measure_and_keep, bench.start, predict)
        with bench.program.loop(self.undo):
            for motion, copy in motions:
                bench.for_bodies(undo_motion, effort, copy, motion)
            self._for_joints(undo_reactions, joints, effort, kept, self.reactions)
            self._measure_positions()
            bench.program.launch(undone, 1, self.undo)
        self._for_joints(account_positions, self.problem.joints, self.errors, self.effort)

    def record_velocities(self) -> None:
        """Correct the velocities of the state until they agree with the joints."""

        def measure() -> None:
            self._measure_velocities()
            self.bench.for_worlds(decide, self.effort, self.limits, 0, self.flag, self.undo)

        self._loop(measure, self.bench.state.motion, lambda: None)
        self._for_joints(account_velocities, self.errors)
        self._for_joints(count_turns, self.problem.joints, self.bench.state.motion, self.bench.state.joints)

    def _loop(self, measure: Callable[[], None], motion: Motion, predict: Callable[[], None]) -> None:
        bench, problem = self.bench, self.problem
        bench.for_worlds(begin, self.effort, self.flag)
        measure()
        with bench.program.loop(self.flag):
            self.solver.record_solution(bench.program)
            self._for_joints(add_reactions, problem.joints, problem.rows, self.effort, self.reactions)
            bench.for_bodies(apply_impulses, problem.joints, self.links, self.ends, problem.rows, self.effort, motion)
            predict()
            bench.for_worlds(lower, self.effort, self.flag)
            measure()

    def _measure_positions(self) -> None:
        problem, clock = self.problem, self.bench.state.clock
        self._for_joints(
            measure_positions,
            problem.joints,
            problem.letters,
            self.bench.predicted,
            clock,
            self.limits,
            problem.rows,
            self.errors,
            self.effort,
        )

    def _measure_velocities(self) -> None:
        problem, motion = self.problem, self.bench.state.motion
        self._for_joints(
            measure_velocities, problem.joints, motion, self.limits, problem.rows, self.errors, self.effort
        )

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.bench.program.launch(kernel, self.problem.joint_count, *inputs)


def make_preview(bench: Bench, problem: JointRows, solver: Any, limits: Limits) -> Preview:
    """The preview loop of a model's joints with a method.

    Args:
        bench: Where the step is recorded.
        problem: The joints as rows.
        solver: A joint method with ``prepare(problem)``.
        limits: Tolerances and the most corrections a step may take.
    """
    model, counts = bench.model, {"joints": problem.joint_count, "worlds": bench.model.worlds}
    errors, effort = arrays.allocate(JointErrors, counts, model.device), arrays.allocate(Effort, counts, model.device)
    reactions = arrays.allocate(Reactions, counts, model.device)
    links, ends = _ends_by_body(problem)
    flag, undo = (wp.zeros(1, dtype=wp.int32, device=model.device) for _ in range(2))
    prepared = solver.prepare(problem)
    limits.share = prepared.share
    return Preview(bench, problem, prepared, limits, errors, reactions, effort, links, ends, flag, undo)


def _ends_by_body(problem: JointRows) -> tuple[Links, Ends]:
    """For every body the joints that hold it, in the order of the joints."""
    model = problem.model
    pairs = np.stack([problem.joints.body_a.numpy(), problem.joints.body_b.numpy()], axis=1)
    joint, is_b = np.nonzero(pairs >= 0)
    body = pairs[joint, is_b]
    order = np.lexsort((joint, body))
    count = np.bincount(body, minlength=model.count)
    links = arrays.allocate(Links, {"bodies": model.count}, model.device)
    ends = arrays.allocate(Ends, {"ends": len(order)}, model.device)
    stretches = {"first": np.cumsum(count) - count, "count": count}
    arrays.write(links, {name: column.astype(np.int32) for name, column in stretches.items()}, "the links")
    sorted_ends = {"joint": joint[order], "is_b": is_b[order]}
    arrays.write(ends, {name: column.astype(np.int32) for name, column in sorted_ends.items()}, "the ends")
    return links, ends
