"""The recursions over many configurations: each lane takes every so many of them; on a CPU a thread is a lane."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.reduced.articulated import Articulated, answer, factor
from rattleback.reduced.composite import Composite, mass_matrix
from rattleback.reduced.forest import Coordinates, Forest, Slot, slot_of
from rattleback.reduced.newton_euler import TreeForces, newton_euler
from rattleback.reduced.walk import ForestMotion, walk_forest


@wp.struct
class Span:
    """How many configurations there are, how many lanes share them, the first lane, and the coordinates of one."""

    rows: wp.int32
    lanes: wp.int32
    first: wp.int32
    coordinates: wp.int32


@wp.func
def heed(values: wp.array[real], first: int, count: int, row: int, fault: wp.array[wp.int32]) -> None:
    """Remember the first configuration whose result is not finite."""
    for e in range(first, first + count):
        if not wp.isfinite(values[e]):
            wp.atomic_min(fault, row % fault.shape[0], row)


@kernel
def inverse(
    forest: Forest, state: Coordinates, motion: ForestMotion, forces: TreeForces, span: Span, fault: wp.array[wp.int32]
) -> None:
    """Forces on the rates that give accelerations."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        newton_euler(forest, slot, motion, state.v, forces)
        heed(forces.tau, slot.v, n, row, fault)


@kernel
def mass(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    composite: Composite,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Mass matrices."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        mass_matrix(forest, slot, motion, composite, out)
        # What is not finite in a body is so on the diagonal of all that carry it.
        for c in range(n):
            heed(out, slot.v * n + c * n + c, 1, row, fault)


@wp.func
def accelerate(
    forest: Forest, slot: Slot, state: Coordinates, motion: ForestMotion, articulated: Articulated, forces: TreeForces
) -> None:
    """Accelerations of the rates of a configuration that has been walked."""
    for c in range(forest.owner.shape[0]):
        articulated.drive[slot.column + c] = forces.tau[slot.v + c] - forest.damping[c] * state.v[slot.v + c]
    factor(forest, slot, motion, articulated)
    answer(forest, slot, motion, articulated, forces)


@kernel
def forward(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    articulated: Articulated,
    forces: TreeForces,
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Accelerations of the rates under forces on them."""
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        accelerate(forest, slot, state, motion, articulated, forces)
        heed(forces.a, slot.v, forest.owner.shape[0], row, fault)
