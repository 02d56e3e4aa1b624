"""One yardstick for every solver: how far impulses are from a solution, as a velocity.

    e_i = ‖r_i − P(r_i − ρ_i û_i)‖ / ρ_i,   ρ_i = d / tr W_ii,   residual = max e_i   [m/s]

r impulses, u = W r + q velocities, û = u + μ‖u_t‖n under ``coulomb`` and u else, P the projection of the law, W_ii the
block of contact i with its d rows. A row before the contacts is a block of one row. The residual is zero at a solution
only; at a contact that pushes it measures the velocity that is left, at one that does not the velocity into it.

The relative form of Siconos is ‖r − P(r − û)‖ / ‖q‖ over all rows, with ρ = 1: it depends on the unit of mass.

Cost: one product with W.

Reference: Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, §13.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.lcp.laws import Law, law_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.lcp.problem import Problem


def residual(problem: Problem, impulse: ArrayLike, law: str = "coulomb") -> float:
    """Largest error of a row or contact [m/s].

    Args:
        problem: The problem.
        impulse: Impulses [N s], shape (rows,).
        law: Name of the law.
    """
    r = read_impulse(problem, impulse)
    return float(errors(problem, law_of(law), r, problem.velocity(r)).max())


def relative_residual(problem: Problem, impulse: ArrayLike, law: str = "coulomb") -> float:
    """The residual of Siconos: the natural map with ρ = 1, relative to ‖q‖.

    Args:
        problem: The problem.
        impulse: Impulses [N s], shape (rows,).
        law: Name of the law.
    """
    r = read_impulse(problem, impulse)
    found = law_of(law)
    u = found.shift(problem, problem.velocity(r))
    scale = float(np.linalg.norm(problem.q))
    return float(np.linalg.norm(r - found.project(problem, r - u))) / (scale if scale > 0.0 else 1.0)


def read_impulse(problem: Problem, impulse: ArrayLike) -> NDArray[np.float64]:
    """Impulses of the right shape."""
    r = checks.array(impulse, (-1,), f"impulse of {problem.name}")
    if len(r) != problem.size:
        raise InputError(f"impulse of {problem.name} has {len(r)} entries; the problem has {problem.size} rows.")
    return r


def errors(problem: Problem, law: Law, r: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Errors of plain rows and contacts [m/s], shape (plain rows + contacts,)."""
    m, rho = problem.plain_rows, problem.rho
    rest = (r - law.project(problem, r - rho * law.shift(problem, u))) / rho
    of_contacts = (
        np.sqrt(np.einsum("ij,ij->i", *[rest[m:].reshape(problem.contacts, -1)] * 2)) if problem.contacts else ()
    )
    return np.concatenate([np.abs(rest[:m]), of_contacts])
