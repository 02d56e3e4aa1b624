"""The loop that the plain methods share: a step of theirs, times β, cut at the limits, until reached or still.

    q ← clip(q + β Δq(J, e))

β step factor of the lecture notes: 1 for the step as the method has it, less to go carefully; too much diverges. A
coordinate at a limit that its step pushes against is held, and the step asked for again without it.

All problems of a batch take their steps together, in NumPy; the loop is made for teaching and for single problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from rattleback.core import checks
from rattleback.kinematics.ik.result import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem

    Floats = NDArray[np.float64]

STILL = 1e-14


class Paced(Protocol):
    """A method with a step factor and a most of iterations."""

    @property
    def beta(self) -> float:
        """Factor of each step."""
        ...

    @property
    def iterations(self) -> int:
        """Most steps."""
        ...


class Stepper(Paced, Protocol):
    """A method that has a step."""

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """Steps Δq (n, coordinates) for Jacobians (n, rows, coordinates) and errors (n, rows)."""
        ...


def check_steps(method: Paced, name: str) -> None:
    """Check what all methods of steps have."""
    checks.positive(method.beta, f"The beta of {name}")
    checks.count(method.iterations, f"The iterations of {name}")


def one_by_one(problem: Problem, most: int, follow: Callable[[Problem, Floats], tuple[Floats, list[float]]]) -> Answer:
    """Answer problems one after the other.

    Args:
        problem: All of them.
        most: Most iterations of one.
        follow: Function of one problem and its start that gives a configuration and |e|² after each iteration.
    """
    q, taken = problem.start.copy(), np.zeros(problem.count, dtype=np.int64)
    history = np.full((problem.count, most + 1), np.nan)
    for row in range(problem.count):
        q[row], squares = follow(problem.part(slice(row, row + 1)), q[row])
        taken[row], history[row, : len(squares)] = len(squares) - 1, squares
    return Answer(q, taken, np.ones(len(q), dtype=np.int64), history=history[:, : taken.max(initial=0) + 1])


def descend(problem: Problem, method: Stepper) -> Answer:
    """Take the steps of a method from the start of each problem; the best configuration met is the answer."""
    q, best = problem.start.copy(), problem.start.copy()
    view = problem.look(q)
    least, busy = view.square.copy(), ~problem.is_reached(view.miss)
    history, taken = [view.square.copy()], np.zeros(len(q), dtype=np.int64)
    while busy.any() and len(history) <= method.iterations:
        step = method.beta * _held_step(problem, method, q, view.jacobian, view.error)
        trial = np.where(busy[:, None], np.clip(q + step, problem.lower, problem.upper), q)
        moved = np.abs(trial - q).max(axis=1, initial=0.0) > STILL * (1.0 + np.abs(q).max(axis=1, initial=0.0))
        q, taken = trial, taken + busy
        view = problem.look(q)
        history.append(np.where(busy, view.square, np.nan))
        better = busy & (view.square < least)
        best[better], least[better] = q[better], view.square[better]
        busy &= moved & ~problem.is_reached(view.miss)
    return Answer(best, taken, np.ones(len(q), dtype=np.int64), history=np.stack(history, axis=1))


def _held_step(problem: Problem, method: Stepper, q: Floats, jacobian: Floats, error: Floats) -> Floats:
    """Steps with those coordinates held that would leave their limits at once."""
    held = np.zeros(q.shape, dtype=bool)
    for _ in range(q.shape[1] + 1):
        step = np.where(held, 0.0, method.step(np.where(held[:, None], 0.0, jacobian), error))
        out = ((q >= problem.upper) & (step > 0.0)) | ((q <= problem.lower) & (step < 0.0))
        if not (out & ~held).any():
            break
        held |= out
    return step
