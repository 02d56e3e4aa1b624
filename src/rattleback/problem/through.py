"""Trees behind the bodies: what the velocities become that impulses on single bodies make.

    v ← S (Sᵀ M S)⁻¹ Sᵀ M v

S the motion subspaces of trees, M masses and inertias of the bodies. A solver in reduced coordinates has an attribute
``through``, see ``reduced.midpoint.rows``; with every other solver bodies answer for themselves and nothing is
recorded here.
"""

from typing import Any

from rattleback.core.stages import Program
from rattleback.model.state import Motion


def is_through_trees(solver: Any) -> bool:
    """Whether impulses go through trees."""
    return getattr(solver, "through", None) is not None


def record_factor(solver: Any, program: Program, motion: Motion, which: Any) -> None:
    """Record the factor of the trees at the poses of a motion, in the worlds where ``which`` is 1."""
    if is_through_trees(solver):
        solver.through.record_factor(program, motion, which)


def record_fit(solver: Any, program: Program, motion: Motion, which: Any, tolerance: Any = None) -> None:
    """Record what trees make of velocities; with a tolerance, those stay that fit but for some such."""
    if is_through_trees(solver):
        solver.through.record_fit(program, motion, which, None if tolerance is None else float(tolerance))


def record_carried(solver: Any, program: Program, motion: Motion, which: Any, reactions: Any) -> None:
    """Record what trees make of velocities, and the impulses with which their joints do it."""
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
