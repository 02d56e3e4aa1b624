"""Gauss–Seidel over contacts, each solved exactly with the newest impulses of all others.

    r_c ← solution of:  u_c = W_cc r + q̂_c,  r ∈ K_c, û_c ∈ K_c*, r · û_c = 0,   q̂_c = q_c + Σ_{j≠c} W_cj r_j

r_c impulse of contact c, û its velocity with the shift of De Saxcé (without under ``cone``), K_c its cone. How one
contact is solved stands in ``lcp.forms.local_contact``; plain rows are taken as in ``pgs``.

Algorithm:
    1. for every contact in order: q̂_c from the newest impulses, r_c
    2. every few sweeps: residual; stop within the tolerance

Cost: about 1 ns for each stored entry and sweep, and 0.1 to 0.5 µs for each contact (1 to 5 µs under ``cone``).

When to use it: the workhorse of nonsmooth contact dynamics: robust, a few digits in little time, with W that is
symmetric or not. On redundant, badly scaled problems it stalls: at a residual of 1e-3 relative in the hardest of them.

Reference: Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Engrg. 155 (1998); Acary, Brémond, Huber, INRIA RR-9118.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rattleback.lcp.forms.sweeps import EXACT, Sweeps
from rattleback.lcp.methods.pgs import run_sweeps

if TYPE_CHECKING:
    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch


@dataclass(frozen=True)
class NSGS:
    """Gauss–Seidel with exact contacts.

    Attributes:
        iterations: Largest number of sweeps.
        look: Sweeps between two looks at the residual.
    """

    iterations: int = 20_000
    look: int = 10

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Work until the watch says stop."""
        run_sweeps(Sweeps(problem, law, EXACT, 1.0, law.project(problem, watch.start)), self.look, watch)
