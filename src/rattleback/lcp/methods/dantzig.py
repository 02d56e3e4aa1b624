"""Dantzig's pivoting after Baraff: one row after the other is driven to its condition, all earlier ones kept.

    r_d moves by α in the direction that takes u_d to zero;   Δr_F keeps u_F = 0;   sliding tangents keep r_t = ±μ r_n

r impulses, u = W r + q velocities, F the free rows. All changes are proportional to α, with the limits ±μ r_n among
them, so friction bounds follow the normal impulses exactly.

Algorithm:
    1. for every row d that breaks its condition: direction Δr, Δu for a unit change of r_d
    2. the largest α at which no free row has left its bounds and no row at a bound its side
    3. the row that stops it changes between free and bound; again, until d is met
    4. rows that were undone later are driven again, in a few passes

Cost: one dense solution O(F³) for each event, about two events a row: O(rows⁴) with a small constant.

When to use it: exact answers to small problems without friction, where it cannot fail for W positive definite; with
friction it usually works (Baraff) but may meet a direction without an event, which the reason says. ODE and DART use
this family with friction bounds that stay as they were when a contact is first met; here they do not.

Reference: Baraff, Fast contact force computation for nonpenetrating rigid bodies, SIGGRAPH 1994, §4 and §5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rattleback.lcp.forms.pivots import FREE, LOWER, UPPER, Rows
from rattleback.lcp.methods.murty import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch


@dataclass(frozen=True)
class Dantzig:
    """Dantzig's pivoting with friction bounds.

    Attributes:
        iterations: Largest number of pivots.
        passes: Passes over the rows.
    """

    iterations: int = 20_000
    passes: int = 10

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 600

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Drive every row to its condition."""
        drive = Drive(Rows(problem, law))
        reason = ""
        for _ in range(self.passes):
            for r in drive.answers():
                if watch.see(law.project(problem, r), done=0):
                    return
            if reason:
                break
            reason = self._drive_all(drive, watch)
        watch.stop(reason or f"stalled: rows break their condition after {self.passes} passes")

    def _drive_all(self, drive: Drive, watch: Watch) -> str:
        """One pass over the rows; why it ended early, or nothing."""
        for d in drive.order():
            while drive.breaks(d):
                if not drive.move(d):
                    return f"ray: row {d} can be driven without end, no other row stops it"
                watch.iterations += 1
                if drive.still > 4 * len(drive.r):
                    return f"cycled: {drive.still} moves of length zero, the last of row {d}"
                if watch.iterations >= watch.budget or watch.elapsed >= watch.seconds:
                    return f"budget: {watch.iterations} pivots used up"
        return ""


class Drive:
    """Impulses on their way, and the side of every row.

    Args:
        rows: The rows with their bounds.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        finite = np.isfinite(rows.lower), np.isfinite(rows.upper)
        self.r = np.where(finite[0], rows.lower, np.where(finite[1], rows.upper, 0.0))
        self.state = np.where(finite[0], LOWER, np.where(finite[1], UPPER, FREE))
        self.u = rows.W @ self.r + rows.q
        # Rows that are not driven yet are held where they are and may move as they like.
        self.met = np.zeros(rows.size, dtype=bool)
        self.still = 0

    def order(self) -> NDArray[np.int64]:
        """Rows with bounds of any sign first, then the others as they come."""
        return np.argsort(np.isfinite(self.rows.lower) | np.isfinite(self.rows.upper), kind="stable")

    def slack(self) -> NDArray[np.float64]:
        """Velocities that are rounding [m/s]."""
        return ROUNDING * (np.abs(self.rows.W) @ np.abs(self.r) + np.abs(self.rows.q)) + 1e-300

    def idle(self) -> NDArray[np.bool_]:
        """Tangents whose normal does not push."""
        return self.rows.is_tangent & (self.r[self.rows.normal] <= 0.0)

    def breaks(self, d: int) -> bool:
        """Whether a row breaks its condition; the row counts as met when it does not."""
        u, slack = self.u[d], self.slack()[d]
        lower, upper = self.rows.limits(self.r)
        if lower[d] == upper[d] or abs(u) <= slack:
            broken = False
        else:
            at_lower, at_upper = self.r[d] <= lower[d], self.r[d] >= upper[d]
            broken = not ((u > 0.0 and at_lower) or (u < 0.0 and at_upper))
        if not broken and not self.met[d]:
            self.met[d] = True
            if self.rows.is_tangent[d] and lower[d] == upper[d]:
                self.state[d] = LOWER if u > 0.0 else UPPER
            elif abs(u) <= slack and lower[d] < self.r[d] < upper[d]:
                self.state[d] = FREE
            else:
                self.state[d] = LOWER if self.r[d] <= lower[d] else UPPER
        return broken

    def move(self, d: int) -> bool:
        """Move one row until the first event; False where there is none."""
        self.met[d] = False
        self.state[d] = FREE
        self._release_tangents(d)
        sign = 1.0 if self.u[d] < 0.0 else -1.0
        step = self._direction(d, sign)
        velocity = self.rows.W @ step
        alpha, row, state = self._first_event(d, step, velocity)
        if not np.isfinite(alpha):
            return False
        self.still = 0 if alpha * np.abs(step).max() > ROUNDING * np.abs(self.r).max() else self.still + 1
        self.r = self.r + alpha * step
        self.u = self.rows.W @ self.r + self.rows.q
        if row >= 0:
            self._change(row, state)
        return True

    def _release_tangents(self, d: int) -> None:
        """Tangents of a normal that begins to push take the side that their velocity asks for."""
        if self.r[d] <= 0.0:
            tangents = np.flatnonzero(self.rows.normal == d)
            self.state[tangents] = np.where(self.u[tangents] > 0.0, LOWER, UPPER)

    def _direction(self, d: int, sign: float) -> NDArray[np.float64]:
        """Changes of all impulses for a unit change of one."""
        free = np.flatnonzero(self.met & (self.state == FREE))
        own = self.rows.columns(self.state, np.array([d]))[:, 0] * sign
        if not len(free):
            return own
        S = self.rows.columns(self.state, free)
        return own + S @ self.rows.solve(self.rows.W[free] @ S, -(self.rows.W[free] @ own), free)

    def _first_event(self, d: int, step: NDArray[np.float64], velocity: NDArray[np.float64]) -> tuple[float, int, int]:
        """Length of the step, the row that ends it (−1 for the driven row's own zero), and its state then."""
        r, u, state = self.r, self.u, self.state
        lower, upper = self.rows.limits(r)
        bound_step = np.where(self.rows.is_tangent, self.rows.mu * step[self.rows.normal], 0.0)
        moving = self.met & (state == FREE)
        moving[d] = True
        tied = self.met & (state != FREE) & ~self.idle() & (lower < upper)
        small = ROUNDING * np.abs(velocity).max(initial=0.0)
        candidates = [
            (LOWER, moving & (step + bound_step < 0.0), (r - lower) / -(step + bound_step)),
            (UPPER, moving & (step - bound_step > 0.0), (upper - r) / (step - bound_step)),
            (FREE, tied & (state == LOWER) & (velocity < -small), np.maximum(u, 0.0) / -velocity),
            (FREE, tied & (state == UPPER) & (velocity > small), np.maximum(-u, 0.0) / velocity),
        ]
        best = (np.inf, -1, FREE)
        if u[d] * velocity[d] < 0.0:
            best = (-u[d] / velocity[d], -1, FREE)
        for goal, where, length in candidates:
            rows = np.flatnonzero(where)
            if len(rows):
                k = rows[np.argmin(length[rows])]
                if max(length[k], 0.0) < best[0]:
                    best = (max(float(length[k]), 0.0), int(k), goal)
        return best

    def _change(self, row: int, state: int) -> None:
        """A row reaches a bound or leaves it."""
        self.state[row] = state
        if state == LOWER and not self.rows.is_tangent[row]:
            self.r[row] = self.rows.lower[row]
            self.r[self.rows.normal == row] = 0.0
        elif state == UPPER and not self.rows.is_tangent[row]:
            self.r[row] = self.rows.upper[row]
        elif state != FREE:
            self.r[row] = state * self.rows.mu[row] * self.r[self.rows.normal[row]]
        self.u = self.rows.W @ self.r + self.rows.q

    def answers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The impulses as they were moved, and solved anew from the sides of the rows."""
        return self.r, self.rows.impulses(self.state)
