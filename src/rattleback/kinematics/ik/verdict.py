"""The verdict: whether a configuration reaches its targets, by how much it misses them, and why.

What a method says of itself does not count: the forward kinematics of its configuration does. Where a target is missed,
``lm`` searches the whole range of the limits for it, then the same without limits:

| found within the limits | found without limits | reason |
|---|---|---|
| yes | | ``singular`` where J has lost rank at the configuration, or Jᵀe vanishes; ``stuck`` elsewhere |
| no | yes | ``limits``, and which coordinates are at theirs |
| no | no | ``out of reach by`` a length, or by an angle where the place alone could be reached |

Of targets in order of priority, the first level that is missed is named instead, and by how much.

The search is by chance: a minimum that only one try found is called ``stuck``, since another try may find a better one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.core.errors import listing
from rattleback.kinematics.ik.lm import LM
from rattleback.kinematics.ik.priority import level, levels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]

# What a radian counts where lengths go first: little enough to move a nearest point by less than 1e-5 of its distance.
FAINT = 1e-3
# Below this part of the largest singular value, the smallest one counts as lost.
RANK = 1e-4
# Below this part of its largest, |Jᵀe| counts as none: the error lies across all motions.
FLAT = 1e-6


class Verdict(NamedTuple):
    """Judged answers: configurations (n, coordinates), whether reached (n,), misses (n, 2) and reasons (n,)."""

    q: Floats
    reached: NDArray[np.bool_]
    residual: Floats
    reason: NDArray[np.str_]


class Search(NamedTuple):
    """What a search for missed targets found: configurations, misses, whether reached, and from how many tries."""

    q: Floats
    miss: Floats
    reached: NDArray[np.bool_]
    hits: NDArray[np.int64]


def judge(problem: Problem, answer: Answer) -> Verdict:
    """Judge the answers to all problems; where a searching method missed, its answer becomes the nearest one."""
    q = np.clip(answer.q, problem.lower, problem.upper)
    residual = problem.miss(q)
    reached = problem.is_reached(residual)
    if len(ranks := levels_of(problem)) > 1:
        return Verdict(q, reached, residual, _by_level(problem, q, ranks))
    reason = np.zeros(problem.count, dtype="<U1")
    if (missed := np.flatnonzero(~reached)).size:
        part = problem.part(missed)
        inside = _search(replace(part, start=q[missed]), answer, missed)
        if answer.searched:
            q[missed], residual[missed], reached[missed] = inside.q, inside.miss, inside.reached
        reason = _spread(_reasons(part, inside, q[missed], reached[missed]), missed, problem.count)
    return Verdict(q, reached, residual, reason)


def _spread(found: list[str], rows: NDArray[np.int64], count: int) -> NDArray[np.str_]:
    """Words for some of the problems among all; none for the others."""
    words = np.array(found)
    result = np.zeros(count, dtype=words.dtype)
    result[rows] = words
    return result


def _by_level(problem: Problem, q: Floats, ranks: list[list[int]]) -> NDArray[np.str_]:
    """Which level misses its targets first; nothing where none does."""
    reason = np.full(problem.count, "", dtype=object)
    for number, own in enumerate(ranks[::-1], 1):
        part = level(problem, own)
        miss, name = part.miss(q), f"priority {problem.targets[own[0]].priority}"
        left = ", and nothing nearer was found" if number < len(ranks) else ""
        for row in np.flatnonzero(~part.is_reached(miss)):
            reason[row] = f"{name}: {_away(miss[row], part)}{left}"
    return reason.astype(np.str_)


def _search(problem: Problem, answer: Answer, missed: NDArray[np.int64]) -> Search:
    """Search within the limits, lengths first; a method that has searched already is not asked again."""
    found = None
    if answer.searched and not _has_both(problem):
        miss = problem.miss(problem.start)
        return Search(problem.start, miss, problem.is_reached(miss), answer.hits[missed])
    if not answer.searched:
        found = LM().run(problem)
        miss = problem.miss(found.q)
        if problem.is_reached(miss).all() or not _has_both(problem):
            return Search(found.q, miss, problem.is_reached(miss), found.hits)
    nearest = LM().run(replace(problem, radian=FAINT * problem.radian))
    q, hits = nearest.q.copy(), nearest.hits.copy()
    if found is not None:
        better = problem.is_reached(problem.miss(found.q))
        q[better], hits[better] = found.q[better], found.hits[better]
    miss = problem.miss(q)
    return Search(q, miss, problem.is_reached(miss), hits)


def _has_both(problem: Problem) -> bool:
    """Whether the targets ask for lengths and for angles."""
    kinds = {type(target).__name__ for target in problem.targets}
    return "Pose" in kinds or bool(kinds & {"Position", "Distance"} and kinds & {"Orientation", "Pointing"})


def _reasons(problem: Problem, inside: Search, q: Floats, reached: NDArray[np.bool_]) -> list[str]:
    """Why configurations q miss their targets; nothing where they do not."""
    free = np.full(len(problem.lower), np.inf)
    loose = replace(problem, start=inside.q, lower=-free, upper=free)
    limited = np.isfinite(problem.lower).any() or np.isfinite(problem.upper).any()
    beyond = np.zeros(len(q), dtype=bool)
    if limited and not inside.reached.all():
        beyond = problem.is_reached(loose.miss(LM(restarts=40).run(loose).q))
    view, rank = problem.look(q), _usual_rank(problem)
    found = []
    for i in range(len(q)):
        if reached[i]:
            found.append("")
        elif inside.reached[i]:
            found.append(_halted(view.jacobian[i], view.error[i], rank, _away(view.miss[i], problem)))
        elif beyond[i]:
            found.append(f"limits: {_stopped(problem, inside.q[i])}, {_away(inside.miss[i], problem)}")
        elif inside.hits[i] > 1:
            found.append(_out_of_reach(problem, inside.miss[i]))
        else:
            found.append(f"stuck: {_away(inside.miss[i], problem)}, the best of many tries, found by one")
    return found


def _usual_rank(problem: Problem) -> int:
    """Rank of J in a configuration like any other."""
    q = np.clip(problem.tree.random(1, seed=1), problem.lower, problem.upper)
    values = np.linalg.svd(problem.part(slice(0, 1)).look(q).jacobian[0], compute_uv=False)
    return int((values > 1e-9 * values[0]).sum())


def _halted(jacobian: Floats, error: Floats, rank: int, away: str) -> str:
    """Why a method stopped although the target can be reached."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    pull = np.linalg.norm(error @ jacobian) <= FLAT * values[0] * np.linalg.norm(error)
    if pull or values[rank - 1] <= RANK * values[0]:
        return f"singular: no small motion leads on from here, {away}; another start may"
    return f"stuck: {away}, though it can be reached; more iterations or another start may help"


def _stopped(problem: Problem, q: Floats) -> str:
    near = 1e-9 * (1.0 + np.abs(q))
    at = (q <= problem.lower + near) | (q >= problem.upper - near)
    names = [name for name, there in zip(problem.tree.coordinates, at, strict=True) if there]
    return (
        f"{listing(names)} {'is at its limit' if len(names) == 1 else 'are at their limits'}" if names else "in the way"
    )


def _out_of_reach(problem: Problem, miss: Floats) -> str:
    if miss[0] > problem.tolerance[0]:
        return f"out of reach by {miss[0]:.3g} m"
    place = ", the place can be reached" if _has_both(problem) else ""
    return f"out of reach by {miss[1]:.3g} rad{place}"


def _away(miss: Floats, problem: Problem) -> str:
    parts = [f"{miss[0]:.3g} m"] if miss[0] > problem.tolerance[0] else []
    parts += [f"{miss[1]:.3g} rad"] if miss[1] > problem.tolerance[1] else []
    return f"{' and '.join(parts)} away"
