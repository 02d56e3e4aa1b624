"""Targets in order of priority: each level uses only the freedom that the levels before leave.

    Δq_k = Δq_{k−1} + (J_k N_{k−1})⁺ (e_k − J_k Δq_{k−1}),   N_k = N_{k−1} − (J_k N_{k−1})⁺ J_k N_{k−1},   N_0 = I

k level; e_k, J_k errors and Jacobian of its targets; N_k projector on the motions that change none of the levels up to
k, to first order; ⁺ the damped pseudo-inverse. A coordinate at a limit that its step pushes against is held.

The first level is solved by the method; the rest follow by these steps, each taken as long as the first level stays
reached and the others come nearer; with ``lm`` from several solutions of the first level, of which the best counts.
Where the first level is not reached, nothing of the rest may disturb it.

References: Nakamura, Hanafusa and Yoshikawa, "Task-priority based redundancy control of robot manipulators", 1987;
Siciliano and Slotine, "A general framework for managing multiple tasks in highly redundant robotic systems", 1991.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem, View
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]

STEPS = 200
STARTS = 7
SETTLED = 1e-12


def levels_of(problem: Problem) -> list[list[int]]:
    """The targets of each level, by number, first level first."""
    levels = sorted({target.priority for target in problem.targets})
    return [[i for i, target in enumerate(problem.targets) if target.priority == level] for level in levels]


def level(problem: Problem, own: list[int]) -> Problem:
    """The same problem with some of its targets."""
    return replace(problem, targets=tuple(problem.targets[i] for i in own))


def refine(problem: Problem, method: Any) -> Answer:
    """Answers of a method to the first level, with the other levels brought as near as that allows."""
    ranks = levels_of(problem)
    if len(ranks) == 1:
        return method.run(problem)
    first = level(problem, ranks[0])
    answer: Answer = method.run(first)
    held = first.is_reached(first.look(answer.q).miss)
    q, steps = answer.q.copy(), answer.iterations.copy()
    for row in np.flatnonzero(held):
        one = problem.part(slice(row, row + 1))
        starts = _other_starts(one, q[row], ranks, method) if answer.searched else [q[row]]
        ends = [_follow(one, start, ranks) for start in starts]
        merits = [_merit(one, end, ranks) for end, _ in ends]
        q[row] = ends[merits.index(min(merits))][0]
        steps[row] += sum(taken for _, taken in ends)
    return answer._replace(q=q, iterations=steps, history=None)


def _other_starts(problem: Problem, q: Floats, ranks: list[list[int]], method: Any) -> list[Floats]:
    """Other solutions of the first level, for a method that searches: later levels know only the way downhill."""
    drawn = np.clip(problem.tree.random(STARTS, seed=0), problem.lower, problem.upper)
    first = level(problem, ranks[0])
    found = [method.run(replace(first, start=start[None])).q[0] for start in drawn]
    return [q, *(other for other in found if first.is_reached(first.look(other[None]).miss)[0])]


def _merit(problem: Problem, q: Floats, ranks: list[list[int]]) -> tuple[float, ...]:
    """Squared errors of the later levels, the first of them first; rounded, so that the next one counts in a tie."""
    errors = problem.look(q[None]).error[0]
    rows = [np.concatenate([np.arange(problem.rows[i].start, problem.rows[i].stop) for i in rank]) for rank in ranks]
    return tuple(round(float(errors[own] @ errors[own]), 12) for own in rows[1:])


def _follow(problem: Problem, q: Floats, ranks: list[list[int]]) -> tuple[Floats, int]:
    """Steps of one problem from a configuration that has reached its first level."""
    rows = [np.concatenate([np.arange(problem.rows[i].start, problem.rows[i].stop) for i in rank]) for rank in ranks]
    first = level(problem, ranks[0])
    view, length, taken = problem.look(q[None]), 1.0, 0
    while taken < STEPS and length > 1e-6:
        step = _step(problem, view, rows, q)
        trial = np.clip(q + length * step, problem.lower, problem.upper)
        trial = _corrected(first, trial)
        after, taken = problem.look(trial[None]), taken + 1
        if first.is_reached(first.look(trial[None]).miss)[0] and _nearer(view, after, rows):
            settled = np.abs(trial - q).max() < SETTLED
            q, view, length = trial, after, min(1.0, 2.0 * length)
            if settled:
                break
        else:
            length *= 0.5
    return q, taken


def _step(problem: Problem, view: View, rows: list[Any], q: Floats) -> Floats:
    """One step through all levels, with coordinates held that would leave their limits."""
    free = np.ones(len(q))
    for _ in range(len(q) + 1):
        step, null = np.zeros(len(q)), np.diag(free)
        for own in rows:
            jacobian, error = view.jacobian[0, own], view.error[0, own]
            inverse = damped_inverse(jacobian @ null)
            step = step + null @ inverse @ (error - jacobian @ step)
            null = null - np.linalg.pinv(jacobian @ null, rcond=1e-6) @ (jacobian @ null)
        out = ((q >= problem.upper) & (step > 0.0)) | ((q <= problem.lower) & (step < 0.0))
        if not (out & (free > 0.0)).any():
            break
        free[out] = 0.0
    return np.asarray(step)


def _corrected(first: Problem, q: Floats) -> Floats:
    """A configuration brought back to the first level by Newton's steps."""
    for _ in range(5):
        view = first.look(q[None])
        if first.is_reached(view.miss)[0]:
            break
        q = np.clip(q + np.linalg.pinv(view.jacobian[0], rcond=1e-6) @ view.error[0], first.lower, first.upper)
    return q


def _nearer(before: View, after: View, rows: list[Any]) -> bool:
    """Whether the first of the later levels that changed came nearer."""
    for own in rows[1:]:
        old, new = (float(view.error[0, own] @ view.error[0, own]) for view in (before, after))
        if abs(old - new) > 1e-14 + 1e-9 * old:
            return new < old
    return False


def damped_inverse(jacobian: Floats, damping: float = 1e-3) -> Floats:
    """Jᵀ (J Jᵀ + λ²I)⁻¹, of a matrix or a stack of them."""
    turned = np.swapaxes(jacobian, -2, -1)
    square = jacobian @ turned + damping**2 * np.eye(jacobian.shape[-2])
    return np.asarray(np.swapaxes(np.linalg.solve(square, jacobian), -2, -1))
