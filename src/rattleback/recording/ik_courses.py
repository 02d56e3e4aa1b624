"""How methods of inverse kinematics come near a target: one problem, all methods, the error after each step.

    |e|² = Σ (length [m])² + (ℓ · angle [rad])²

ℓ half the length of the arm, what a radian counts against a metre (``tree.size``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.kinematics import ik
from rattleback.kinematics.ik.problem import Problem
from rattleback.kinematics.ik.target import as_targets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.ik import Solution
    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Course:
    """What one method did.

    Attributes:
        method: Its name.
        steps: Numbers of the steps after which the error is known, the start first (k,).
        error: |e| after each of them (k,) [m]; of a method that keeps no history, at the start and at the end.
        solution: What it found; None where it cannot be asked.
        fault: Why it cannot.
        seconds: Time it took [s].
    """

    method: str
    steps: NDArray[np.int64]
    error: Floats
    solution: Solution | None
    fault: str
    seconds: float

    @property
    def verdict(self) -> str:
        """Whether it came there, and why not."""
        if self.solution is None:
            return self.fault
        return "reached" if self.solution.reached else str(self.solution.reason)


def limited(method: str, most_steps: int) -> Any:
    """A method that takes so many steps at most; ``lm`` and closed forms are quick and have bounds of their own."""
    if method not in ik.MENU:
        return method
    kind = ik.MENU[method]
    usual: dict[str, Any] = {field.name: field.default for field in fields(kind)}
    return kind(iterations=min(usual["iterations"], most_steps)) if "beta" in usual else kind()


def run_course(
    tree: Tree, targets: Any, method: str, start: ArrayLike | None = None, most_steps: int = MOST_STEPS
) -> Course:
    """Ask one method; one that does not know the target or the tree says so in its course.

    Args:
        tree: The tree.
        targets: What is asked of it, as for ``rb.ik.solve``; one problem.
        method: Name of the method.
        start: Where to start (coordinates,); the middle of the limits if left out.
        most_steps: Most steps of the methods that take plain ones.
    """
    chosen = limited(method, checks.count(most_steps, "The most steps"))
    first = tree.middle if start is None else np.asarray(start, dtype=np.float64)
    begun = time.perf_counter()
    try:
        found = ik.solve(tree, targets, chosen, first)
    except InputError as fault:
        return Course(method, np.zeros(0, dtype=np.int64), np.zeros(0), None, str(fault), time.perf_counter() - begun)
    seconds = time.perf_counter() - begun
    if found.history is not None:
        error = found.history[np.isfinite(found.history)]
        return Course(method, np.arange(len(error)), error, found, "", seconds)
    ends = np.array([error_of(tree, targets, q) for q in (first, found.q)])
    return Course(method, np.array([0, int(found.iterations)]), ends, found, "", seconds)


def run_courses(
    tree: Tree,
    targets: Any,
    start: ArrayLike | None = None,
    most_steps: int = MOST_STEPS,
    methods: Iterable[str] = tuple(ik.MENU),
) -> list[Course]:
    """Ask several methods, all of them if left out; see :func:`run_course`."""
    return [run_course(tree, targets, method, start, most_steps) for method in methods]


def error_of(tree: Tree, targets: Any, q: ArrayLike) -> float:
    """|e| of a configuration (coordinates,) [m]."""
    rows, _ = tree.configurations(np.clip(q, tree.lower, tree.upper))
    problem = Problem(tree, as_targets(targets), rows, (0.0, 0.0), tree.lower, tree.upper, tree.size)
    return float(np.sqrt(problem.look(rows).square[0]))
