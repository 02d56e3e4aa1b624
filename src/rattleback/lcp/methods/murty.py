"""Principal pivoting after Murty: every row is free or at a bound, and rows that are wrong change sides.

    free: u_i = 0, wrong if r_i is outside its bounds;   at a bound: wrong if u_i points back inside

r impulses, u = W r + q velocities; bounds of a tangent are ±μ times the normal impulse of the same solution
(``lcp.forms.pivots``).

Algorithm:
    1. impulses of the present choice of sides
    2. all rows that are wrong change sides (block pivoting, Júdice and Pires)
    3. if their number has not fallen in ten rounds: only the wrong row of least index changes (Murty), until it falls
    4. until no row is wrong; a choice that comes back under the rule of least index is a cycle

Cost: one dense solution O(rows³) a round; few rounds as a rule, 2ⁿ in the worst case. ``most_rows`` is the limit.

When to use it: exact answers to small problems; for a P-matrix (all principal minors positive, as W without redundancy
and friction) the rule of least index cannot cycle. With friction or redundant rows it may; then the reason says so.

Reference: Murty, Linear Complementarity, Linear and Nonlinear Programming, §4.1; Júdice and Pires, Computers and
Operations Research 21 (1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rattleback.lcp.forms.pivots import FREE, LOWER, UPPER, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# Impulses and velocities within this part of the largest terms they are made of are at their bound.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Murty:
    """Principal pivoting with the rule of least index.

    Attributes:
        iterations: Largest number of rounds.
        rounds: Rounds of block pivoting without fewer wrong rows before the rule of least index.
    """

    iterations: int = 20_000
    rounds: int = 10

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 900

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Pivot until no row is wrong."""
        rows = Rows(problem, law)
        state = np.where(np.isfinite(rows.lower), LOWER, np.where(np.isfinite(rows.upper), UPPER, FREE))
        fewest, left, seen = problem.size + 1, self.rounds, set[bytes]()
        while True:
            r = rows.impulses(state)
            wanted = wanted_states(rows, state, r)
            wrong = np.flatnonzero(wanted != state)
            if watch.see(law.project(problem, r)) or not len(wrong):
                break
            if len(wrong) < fewest:
                fewest, left, seen = len(wrong), self.rounds, set()
            left -= 1
            if left < 0:
                if state.tobytes() in seen:
                    watch.stop(f"cycled: the same sides came back after {watch.iterations} pivots")
                    return
                seen.add(state.tobytes())
                wrong = wrong[:1]
            state = state.copy()
            state[wrong] = wanted[wrong]
        watch.stop(watch.reason or f"singular: the free rows cannot all be met, residual {watch.best_error:.3g} m/s")


def wanted_states(rows: Rows, state: NDArray[np.int64], r: NDArray[np.float64]) -> NDArray[np.int64]:
    """The sides that rows should be on, seen from where they are."""
    u = rows.W @ r + rows.q
    slack_u = ROUNDING * (np.abs(rows.W) @ np.abs(r) + np.abs(rows.q))
    slack_r = ROUNDING * np.abs(r).max(initial=0.0)
    lower, upper = rows.limits(r)
    inside = np.where(r < lower - slack_r, LOWER, np.where(r > upper + slack_r, UPPER, FREE))
    back = np.where(state == LOWER, u < -slack_u, u > slack_u)
    wanted = np.where(state == FREE, inside, np.where(back, FREE, state))
    # A tangent under a normal that does not push has no impulse; its side follows its velocity.
    idle = rows.is_tangent & (r[rows.normal] <= slack_r)
    side = np.where(u > 0.0, LOWER, UPPER)
    idle &= np.abs(u) > slack_u
    wanted[idle] = side[idle]
    # A row whose bounds are one number has nowhere to go.
    return np.where(rows.lower == np.where(rows.is_tangent, np.nan, rows.upper), state, wanted)
