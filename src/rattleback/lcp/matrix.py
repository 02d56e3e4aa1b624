"""How the matrix of a contact problem is held, applied and asked for its diagonal: dense, sparse or an operator.

A dense array is applied with BLAS, a sparse one row by row, an operator as it comes. The methods of the room see these
forms only through ``Problem.apply``, ``Problem.dense``, ``Problem.sparse`` and ``Problem.diagonal``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.lcp.problem import Problem


def storage_of(W: Any) -> str:
    """``"dense"``, ``"sparse"`` or ``"operator"``."""
    if isinstance(W, np.ndarray):
        return "dense"
    return "sparse" if sp.issparse(W) else "operator"


def read_matrix(W: Any, rows: int, name: str) -> Any:
    """A finite matrix of the right shape, or an operator."""
    if sp.issparse(W):
        if W.shape != (rows, rows):
            raise InputError(f"W of {name} has shape {W.shape}, but q has {rows} entries; W must be {rows}x{rows}.")
        W = sp.bsr_array(W) if W.format == "bsr" else sp.csr_array(W)
        W = W.astype(np.float64)
        if not np.isfinite(W.data).all():
            raise InputError(f"W of {name} has an entry that is not finite.")
        return W
    if callable(W) or callable(getattr(W, "matvec", None)):
        return W
    W = checks.array(W, (-1, -1), f"W of {name}")
    if W.shape != (rows, rows):
        raise InputError(f"W of {name} has shape {W.shape}, but q has {rows} entries; W must be {rows}x{rows}.")
    W = np.array(W)
    W.setflags(write=False)
    return W


def apply_of(problem: Problem) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The function r ↦ W r + C r."""
    W, compliance = problem.W, problem.compliance
    rigid = not compliance.any()
    if problem.storage == "operator":
        product = _operator(problem)
    elif problem.storage == "sparse":
        product = W.__matmul__
    else:
        product = W.dot
    return product if rigid else lambda r: product(r) + compliance * r


def _operator(problem: Problem) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """An operator whose answers are checked."""
    function = getattr(problem.W, "matvec", problem.W)

    def product(r: NDArray[np.float64]) -> NDArray[np.float64]:
        answer = np.asarray(function(r), dtype=np.float64)
        if answer.shape != r.shape:
            raise InputError(
                f"The operator W of {problem.name} answers {len(r)} impulses with shape {answer.shape}; "
                f"it must return one velocity for each row."
            )
        return answer

    return product


def diagonal_of(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Diagonal of W + C [1/kg]: entries of the plain rows, and blocks of the contacts, shape (contacts, d, d)."""
    rows, n, d = problem.plain_rows, problem.contacts, problem.dimension
    if problem.storage == "operator":
        plain, blocks = _given_diagonal(problem)
    else:
        if problem.diagonal is not None:
            raise InputError(f"{problem.name} has a diagonal beside a matrix that has its own; leave diagonal= out.")
        first = rows + d * np.arange(n)
        i = (first[:, None, None] + np.arange(d)[None, :, None]) + np.zeros((1, 1, d), dtype=int)
        j = np.swapaxes(i, 1, 2)
        W = sp.csr_array(problem.W) if problem.storage == "sparse" else problem.W
        plain = np.array(W.diagonal()[:rows])
        picked = W[i.ravel(), j.ravel()]
        picked = picked.toarray() if sp.issparse(picked) else np.asarray(picked)
        blocks = picked.reshape(n, d, d).copy()
    plain += problem.compliance[:rows]
    blocks[:, range(d), range(d)] += problem.compliance[rows:].reshape(n, d)
    return plain, blocks


def _given_diagonal(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The diagonal that comes with an operator."""
    rows, n, d = problem.plain_rows, problem.contacts, problem.dimension
    what = f"diagonal of {problem.name}"
    if problem.diagonal is None:
        raise InputError(
            f"W of {problem.name} is an operator; it needs diagonal= as well: {rows} entries of plain rows, "
            f"blocks of shape ({n}, {d}, {d}) of contacts, or a pair of both."
        )
    if rows and n:
        if not isinstance(problem.diagonal, (tuple, list)) or len(problem.diagonal) != 2:
            raise InputError(f"{what} must be a pair: entries of {rows} plain rows, blocks of {n} contacts.")
        first, second = problem.diagonal
    else:
        first = problem.diagonal if rows else np.zeros(0)
        second = problem.diagonal if n else np.zeros((0, d, d))
    return checks.array(first, (rows,), what).copy(), checks.array(second, (n, d, d), what).copy()
