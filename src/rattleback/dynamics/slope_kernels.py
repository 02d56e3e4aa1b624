"""Derivatives of inverse and forward dynamics over many configurations."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.dynamics.kernels import Span, heed
from rattleback.reduced.factor import factor_matrix, solve_rows
from rattleback.reduced.forest import Coordinates, Forest, slot_of
from rattleback.reduced.newton_euler import TreeForces, newton_euler
from rattleback.reduced.slopes import Matrices, Slopes, differentiate, write_slopes
from rattleback.reduced.walk import ForestMotion, walk_forest


@kernel
def inverse_slopes(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    forces: TreeForces,
    slopes: Slopes,
    matrices: Matrices,
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Derivatives of the forces on the rates."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        newton_euler(forest, slot, motion, state.v, forces)
        differentiate(forest, slot, motion, state.v, forces, slopes)
        write_slopes(forest, slot, motion, forces, slopes, matrices)
        heed(forces.tau, slot.v, n, row, fault)


@kernel
def forward_slopes(
    forest: Forest, matrices: Matrices, out: wp.array[real], span: Span, fault: wp.array[wp.int32]
) -> None:
    """Derivatives of the accelerations from those of the forces at these accelerations, in their place."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        first = row * n * n
        for e in range(n * n):
            out[first + e] = real(0.0)
        for c in range(n):
            out[first + c * n + c] = real(1.0)
        factor_matrix(forest, first, matrices.by_a)
        solve_rows(forest, first, matrices.by_a, real(-1.0), matrices.by_q)
        solve_rows(forest, first, matrices.by_a, real(-1.0), matrices.by_v)
        solve_rows(forest, first, matrices.by_a, real(1.0), out)
        for c in range(n):
            heed(out, first + c * n + c, 1, row, fault)
