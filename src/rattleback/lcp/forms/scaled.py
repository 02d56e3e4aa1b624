"""A problem in units in which every contact answers alike: the trace of each diagonal block is its number of rows.

    r = S x,   ũ = S u = S W S x + S q,   S_i = √ρ_i, the same for all rows of a contact

S is a multiple of one in each contact, so cones, pyramids and the shift μ ‖u_t‖ keep their form, and P(S x) = S P(x).
Methods with one step for all contacts work on x; mass ratios are taken out as far as a diagonal can.

Cost: one product with W for each product, two multiplications by S.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem


class Scaled:
    """The scaled form of a problem under a law.

    Args:
        problem: The problem.
        law: The law.
    """

    def __init__(self, problem: Problem, law: Law) -> None:
        self.problem, self.law = problem, law
        self.scale = np.sqrt(problem.rho)
        self.q = self.scale * problem.q
        self.lower = problem.lower / self.scale[: problem.plain_rows]
        self.upper = problem.upper / self.scale[: problem.plain_rows]

    @cached_property
    def apply(self) -> Any:
        """The function x ↦ S W S x; a sparse matrix is scaled once."""
        if self.problem.storage == "sparse":
            S = sp.dia_array((self.scale[None, :], [0]), shape=(len(self.scale), len(self.scale)))
            return sp.csr_array(S @ self.problem.sparse @ S).__matmul__
        return lambda x: self.scale * self.problem.apply(self.scale * x)

    def velocity(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """S u."""
        return self.apply(x) + self.q

    def shift(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """S û of S u."""
        return self.law.shift(self.problem, u)

    def project(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The admissible x next to z."""
        m = self.problem.plain_rows
        out = np.empty_like(z)
        np.clip(z[:m], self.lower, self.upper, out=out[:m])
        if self.problem.contacts:
            out[m:] = self.law.onto(z[m:].reshape(self.problem.contacts, -1), self.problem.mu).ravel()
        return out

    def enter(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """X of impulses."""
        return r / self.scale

    def leave(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Impulses of x [N s]."""
        return self.scale * x

    def dense(self) -> NDArray[np.float64]:
        """S W S as an array."""
        return self.scale[:, None] * self.problem.dense * self.scale

    def largest_eigenvalue(self, rounds: int = 20) -> float:
        """Size of S W S by power iteration, from a start that is the same every time."""
        x = np.random.default_rng(0).normal(size=len(self.q))
        size = 1.0
        for _ in range(rounds):
            x = self.apply(x / np.linalg.norm(x))
            size = float(np.linalg.norm(x))
            if size == 0.0:
                return 1.0
        return size
