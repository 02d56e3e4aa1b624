"""The conic program of a contact problem, solved by the package Clarabel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from rattleback.lcp.forms.conic_program import ConicProgram
    from rattleback.lcp.watch import Watch

# Entries of W that differ across the diagonal by more than this part of the largest make no objective.
SYMMETRIC = 1e-9
# Clarabel's own tolerances; with smaller ones it gives up before it gets as far.
TOLERANCE = 1e-12


def solve_by_clarabel(program: ConicProgram, watch: Watch) -> None:
    """Solve a program, and give its impulses to the watch."""
    try:
        import clarabel
    except ImportError:
        raise InputError(
            "The package clarabel is not installed; install it with pip, or use QP(backend='own')."
        ) from None
    W = program.W
    if np.abs(W - W.T).max(initial=0.0) > SYMMETRIC * np.abs(W).max(initial=0.0):
        raise InputError(
            f"W of {program.problem.name} is not symmetric, so there is no objective for Clarabel; "
            f"QP(backend='own') solves the conditions themselves."
        )
    A, b, cones = _constraints(program, clarabel)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    solution = clarabel.DefaultSolver(sp.csc_matrix(np.triu(W)), program.q, A, b, cones, settings).solve()
    watch.see(program.impulse(np.array(solution.x)), done=solution.iterations)
    watch.reason = ""
    watch.stop(f"Clarabel ended with {solution.status}, residual {watch.best_error:.3g} m/s")


def _constraints(program: ConicProgram, clarabel: Any) -> tuple[Any, Any, list[Any]]:
    """The matrix, the vector and the cones of Clarabel: b − A x in the cones."""
    n = len(program.kept)
    parts, offsets, cones = [], [], []
    for group in program.groups:
        count, d = group.rows.shape
        where = (np.arange(count * d), group.rows.ravel())
        parts.append(sp.coo_array((-group.factor.ravel(), where), shape=(count * d, n)))
        offsets.append(group.offset.ravel())
        cones += [clarabel.NonnegativeConeT(count)] if d == 1 else [clarabel.SecondOrderConeT(d)] * count
    A = sp.csc_matrix(sp.vstack(parts)) if parts else sp.csc_matrix((0, n))
    return A, np.concatenate(offsets) if offsets else np.zeros(0), cones
