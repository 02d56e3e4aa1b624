"""Projected Jacobi: all rows or contacts at once, each from the impulses of the last iteration.

    r ← P(r − ω D⁻¹ û(r)),   û = u + s,   u = W r + q

D diagonal of W (of a contact under ``cone`` and ``coulomb`` the largest eigenvalue of its block), s the shift of the
law, P its projection.

Algorithm:
    1. u = W r + q
    2. r ← P(r − ω D⁻¹ û)
    3. until the residual is within the tolerance

Cost: one product with W an iteration; matrix-free.

When to use it: to compare, and where every row must be treated at once. It converges only if the spectral radius of
1 − ω D⁻¹ W is below one; a matrix with unit diagonal and off-diagonals 0.9 is positive definite and has 1.8. The reason
then gives that number. ``apgd`` has the same cost and converges.

Reference: Cottle, Pang and Stone, The Linear Complementarity Problem, §5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rattleback.lcp.forms.sweeps import block_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch


@dataclass(frozen=True)
class Jacobi:
    """Projected Jacobi.

    Attributes:
        factor: Relaxation factor ω.
        iterations: Largest number of iterations.
    """

    factor: float = 1.0
    iterations: int = 10_000

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse", "operator")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Work until the watch says stop."""
        r = law.project(problem, watch.start)
        u = problem.velocity(r)
        step = self.factor * steps(problem, law)
        while not watch.see(r, u):
            r = law.project(problem, r - step * law.shift(problem, u))
            u = problem.velocity(r)
        if not watch.converged:
            radius = spectral_radius(problem, step, r)
            if radius > 1.0:
                watch.stop(
                    f"diverges: the spectral radius of 1 − ω D⁻¹ W is {radius:.3g}, and it must be below 1 "
                    f"({watch.reason})"
                )


def steps(problem: Problem, law: Law) -> NDArray[np.float64]:
    """D⁻¹ [kg], shape (rows,)."""
    if law.name in ("cone", "coulomb"):
        return block_steps(problem)
    plain, blocks = problem.diagonal
    diagonal = np.concatenate([plain, np.einsum("kii->ki", blocks).ravel()])
    return np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), problem.rho)


def spectral_radius(problem: Problem, step: NDArray[np.float64], r: NDArray[np.float64], rounds: int = 50) -> float:
    """Spectral radius of 1 − D⁻¹ W by power iteration, from a start that is the same every time."""
    x = np.random.default_rng(0).normal(size=len(r))
    radius = 0.0
    for _ in range(rounds):
        x = x / np.linalg.norm(x)
        x = x - step * problem.apply(x)
        radius = float(np.linalg.norm(x))
        if radius == 0.0:
            return 0.0
    return radius
