"""Watches a method while it runs: counts, measures the residual, keeps the best impulses and says when to stop.

A method calls ``see`` with its impulses after every iteration, or every few, and stops when the answer is True. The
watch then holds the best impulses seen and the reason in words. A method that knows more (a secondary ray, a cycle)
gives its own reason with ``stop``.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.lcp.residuals import errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem

# The reason of a method that met the tolerance.
CONVERGED = "converged"
# A residual that has grown by this factor over the first one is a divergence.
DIVERGED = 1e8
# An iterate counts as better where it takes off at least this part of the best residual.
PROGRESS = 1e-3


@dataclass
class Watch:
    """What a method has reached so far.

    Attributes:
        problem: The problem.
        law: The law.
        tolerance: Residual to reach [m/s].
        budget: Largest number of iterations.
        seconds: Largest time [s].
        start: Impulses to start from [N s], shape (rows,).
        patience: Looks without progress after which the method stalls.
        best: Best impulses seen [N s].
        best_error: Their residual [m/s].
        iterations: Iterations done.
        reason: Why the method ended; empty while it runs.
        history: Iterations, seconds and residual of every look.
        used: Names of the methods that ``run`` ran.
    """

    problem: Problem
    law: Law
    tolerance: float
    budget: int
    seconds: float
    start: NDArray[np.float64]
    patience: int = 1000
    iterations: int = 0
    reason: str = ""
    history: list[tuple[int, float, float]] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    best: NDArray[np.float64] = field(init=False)
    best_error: float = field(init=False, default=math.inf)

    def __post_init__(self) -> None:
        self.best = self.start.copy()
        self._begun, self._first, self._mark, self._idle = time.process_time(), 0.0, math.inf, 0
        self._first_error = math.inf

    @property
    def elapsed(self) -> float:
        """CPU time since the beginning [s]."""
        return time.process_time() - self._begun

    @property
    def converged(self) -> bool:
        """Whether the best impulses meet the tolerance."""
        return self.best_error <= self.tolerance

    def see(self, r: NDArray[np.float64], u: NDArray[np.float64] | None = None, done: int = 1) -> bool:
        """Look at impulses; True when the method is to stop.

        Args:
            r: Impulses [N s], shape (rows,).
            u: Their velocities [m/s], if the method knows them.
            done: Iterations since the last look.
        """
        self.iterations += done
        with np.errstate(all="ignore"):
            u = self.problem.velocity(r) if u is None else u
            e = float(errors(self.problem, self.law, r, u).max())
        self.history.append((self.iterations, self.elapsed, e))
        if len(self.history) == 1:
            self._first_error = e
        if e < self.best_error:
            self.best, self.best_error = r.copy(), e
        if e < (1.0 - PROGRESS) * self._mark:
            self._mark, self._idle = e, 0
        else:
            self._idle += 1
        return self._judge(e)

    def _judge(self, e: float) -> bool:
        """Whether there is a reason to stop."""
        if self.converged:
            self.reason = CONVERGED
        elif not math.isfinite(e) or e > DIVERGED * max(self._first_error, self.tolerance):
            self.reason = f"diverges: the residual has grown to {e:.3g} m/s in {self.iterations} iterations"
        elif self._idle >= self.patience:
            self.reason = f"stalled: no progress in the last {self._idle} looks, residual {self.best_error:.3g} m/s"
        elif self.iterations >= self.budget:
            self.reason = f"budget: {self.iterations} iterations used up, residual {self.best_error:.3g} m/s"
        elif self.elapsed >= self.seconds:
            self.reason = f"budget: {self.seconds:g} s used up, residual {self.best_error:.3g} m/s"
        return bool(self.reason)

    def stop(self, reason: str) -> None:
        """End with a reason of the method's own, unless the best impulses meet the tolerance."""
        self.reason = CONVERGED if self.converged else reason

    def run(self, method: Any, tolerance: float | None = None, fresh: bool = False) -> str:
        """Run a method from the best impulses and take over what it reaches; its reason.

        Args:
            method: The method.
            tolerance: Residual for it to reach [m/s]; that of this watch where left out.
            fresh: Whether it starts from zero.
        """
        left = max(1, min(method.iterations, self.budget - self.iterations))
        wanted = self.tolerance if tolerance is None else tolerance
        seconds = max(self.seconds - self.elapsed, 0.0)
        start = np.zeros_like(self.best) if fresh else self.best
        inner = Watch(self.problem, self.law, wanted, left, seconds, start)
        before, passed = self.elapsed, self.iterations
        method.solve(self.problem, self.law, inner)
        self.used.append(type(method).__name__.lower())
        self.history += [(passed + count, before + seconds, e) for count, seconds, e in inner.history]
        self.iterations += inner.iterations
        if inner.best_error < self.best_error:
            self.best, self.best_error = inner.best, inner.best_error
        return inner.reason

    def go_on(self, patience: int | None = None) -> None:
        """Take back a stall, for a method that tries another rule."""
        self.reason, self._idle = "", 0
        self.patience = self.patience if patience is None else patience
