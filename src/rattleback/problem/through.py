"""Trees behind the bodies: what the velocities become that impulses on single bodies make.

    v ← S (Sᵀ M S + A)⁻¹ (Sᵀ M v + A v′)

S the motion subspaces of trees, M masses and inertias of the bodies, A armature, v′ the rates before the impulses. A
solver in reduced coordinates has an attribute ``through``, see ``reduced.midpoint.through_trees``; with every other
solver bodies answer for themselves and nothing is recorded here.
"""

from typing import Any

from rattleback.core.stages import Program
from rattleback.model.state import Motion


def is_through_trees(solver: Any) -> bool:
    """Whether impulses go through trees."""
    return getattr(solver, "through", None) is not None


def rows_of(solver: Any, problem: Any) -> int:
    """Number of rows that joints have at once; behind trees those of stops have nothing to do until one is hit."""
    return int(solver.count if is_through_trees(solver) else problem.row_count)


def is_driven(solver: Any) -> bool:
    """Whether a freedom of trees has armature, friction or a servo."""
    return is_through_trees(solver) and bool(solver.through.drives)


def record_factor(solver: Any, program: Program, motion: Motion, which: Any, at_end: bool = False) -> None:
    """Record the factor of the trees at the poses of a motion, which may be those at the end of a step."""
    if is_through_trees(solver):
        solver.through.record_factor(program, motion, which, at_end)


def record_begin(solver: Any, program: Program) -> None:
    """Record that a step begins."""
    if is_through_trees(solver):
        solver.through.record_begin(program)


def record_note(solver: Any, program: Program, motion: Motion, which: Any, displaces: bool = False) -> None:
    """Record what drives do before impulses on bodies, whose velocities, or displacements in their place, fit."""
    if is_through_trees(solver):
        solver.through.record_note(program, motion, which, displaces)


def record_grasp(solver: Any, program: Program, motion: Motion, which: Any) -> None:
    """Record how the freedoms of trees answer to impulses at the start of a step, by the last prediction."""
    if is_through_trees(solver):
        solver.through.record_grasp(program, motion, which)


def record_written(preview: Any, which: Any) -> None:
    """Record what trees make of velocities that were written; those stay that fit but for some tolerances."""
    if is_through_trees(preview.solver):
        context, tolerance = preview.context, float(preview.limits.velocity)
        preview.solver.through.record_written(context.program, context.state.motion, which, tolerance)


def record_change(solver: Any, program: Program, change: Motion, which: Any) -> None:
    """Record what trees make of a change of velocities by impulses."""
    if is_through_trees(solver):
        solver.through.record_change(program, change, which)


def record_displacements(solver: Any, program: Program, displacements: Motion, which: Any) -> None:
    """Record what trees make of displacements."""
    if is_through_trees(solver):
        solver.through.record_displacements(program, displacements, which)


def record_drives(preview: Any, motion: Motion, which: Any, displaces: bool = False) -> None:
    """Record what drives, friction and servos of trees do before impulses on the bodies of a motion.

    Args:
        preview: The preview loop of the joints.
        motion: Velocities that fit, or displacements in their place.
        which: 1 for every world in which that is done.
        displaces: Whether they are displacements.
    """
    solver, program = preview.solver, preview.context.program
    record_note(solver, program, motion, which, displaces)
    if motion is preview.context.start:
        record_grasp(solver, program, motion, which)
    record_fresh(preview)


def record_fresh(preview: Any) -> None:
    """Record the factor of the rows of joints anew, in worlds where what holds or drives the trees has changed."""
    solver, program = preview.solver, preview.context.program

    def prepare(which: Any) -> None:
        solver.record_preparation(program, which)
        preview.stops.forget_columns(which)

    if preview.problem.row_count and is_driven(solver):
        solver.through.record_fresh(program, preview.context.start, prepare)


def record_directions(solver: Any, program: Program, which: Any) -> None:
    """Record that steps along conjugate directions begin, see ``joint_steps``."""
    if is_through_trees(solver):
        solver.through.record_directions(program, which)


def record_restored(solver: Any, program: Program) -> None:
    """Record that drives, friction and servos have done what they had where such steps began."""
    if is_through_trees(solver):
        solver.through.record_restored(program)


def record_try(solver: Any, program: Program, parts: tuple[Any, Any, Any]) -> None:
    """Record a step along them."""
    if is_through_trees(solver):
        solver.through.record_try(program, parts)


def record_settle(solver: Any, program: Program, verdict: tuple[Any, Any]) -> None:
    """Record whether it is kept."""
    if is_through_trees(solver):
        solver.through.record_settle(program, verdict)


def record_carried(solver: Any, program: Program, motion: Motion, which: Any, reactions: Any) -> None:
    """Record what trees make of velocities after impulses, and the impulses with which their joints do it."""
    if is_through_trees(solver):
        solver.through.record_carried(program, motion, which, reactions)


def record_end(solver: Any, program: Program, status: Any, reactions: Any) -> None:
    """Record what joints of trees have carried over a step, beside that."""
    if is_through_trees(solver):
        solver.through.record_end(program, status, reactions)


def record_restore(solver: Any, program: Program, motion: Motion, which: Any) -> None:
    """Record that poses that were displaced a little fit the trees again."""
    if is_through_trees(solver):
        solver.through.record_restore(program, motion, which)
