"""Projected Gauss–Seidel: one row or contact after the other, each with the newest impulses of all others.

    r_i ← P_i(r_i − ω û_i / D_i),   û_i = u_i + s_i,   u_i = q_i + Σ_j W_ij r_j

Under ``frictionless`` and ``pyramid`` i is a row, D_i = W_ii, and tangents stay within ±μ times the newest normal
impulse. Under ``cone`` and ``coulomb`` i is a contact, D_i the largest eigenvalue of its block, P_i the projection
onto its cone, s_i the shift of De Saxcé.

Algorithm:
    1. for every row or contact in order: u_i, r_i ← P_i(…)
    2. every few sweeps: residual; stop within the tolerance

Cost: one product with W a sweep, in order on one thread of the CPU: about 1 ns for each stored entry.

When to use it: for a quick rough answer, or to start from. It converges for symmetric positive definite W without
friction; in stacks and at high mass ratios it needs thousands of sweeps. With redundant rows it still converges.

Reference: document 004, projected Gauss–Seidel; Cottle, Pang and Stone, The Linear Complementarity Problem, §5.2;
Tasora and Anitescu, Comput. Methods Appl. Mech. Engrg. 200 (2011), §4, for the projection onto cones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rattleback.lcp.forms.sweeps import BLOCKS, Sweeps

if TYPE_CHECKING:
    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch


@dataclass(frozen=True)
class PGS:
    """Projected Gauss–Seidel.

    Attributes:
        iterations: Largest number of sweeps.
        look: Sweeps between two looks at the residual.
    """

    iterations: int = 20_000
    look: int = 10

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Work until the watch says stop."""
        run_sweeps(Sweeps(problem, law, BLOCKS, 1.0, law.project(problem, watch.start)), self.look, watch)


def run_sweeps(sweeps: Sweeps, look: int, watch: Watch) -> None:
    """Sweep until the watch says stop, a few sweeps at a time."""
    done = 0
    while not watch.see(sweeps.run(done), done=done):
        done = max(1, min(look, watch.budget - watch.iterations))
