"""Levenberg–Marquardt with restarts: damped least squares whose damping vanishes with the error. The default.

    (JᵀJ + λ I) Δq = Jᵀe,   q ← clip(q + Δq),   λ = μ |e|²

e errors of the targets, J how they change with q (see ``tasks``), μ a factor that falls while the linear model is right
and grows while it is not. A coordinate at a limit that Jᵀe pushes against is held for the step.

1. From the start: steps until reached, or until |e|² hardly falls.  2. Not reached: again from the best of a few
configurations drawn within the limits, up to ``restarts`` times.  3. Still not reached: the best one found is followed
down to a minimum, which is the nearest there is, as far as the search could see.

Cost: n³/6 + rows·n²/2 products a step, some 10 steps a try, one launch for any number of problems.
Use it: whenever there is no reason not to. Not for showing what a single, plain method does.
References: Levenberg 1944; Marquardt 1963; Sugihara, "Solvability-unconcerned inverse kinematics by the
Levenberg–Marquardt method", IEEE Transactions on Robotics 27(5), 2011 (λ in proportion to |e|²); Fan, "A modified
Levenberg–Marquardt algorithm for singular system of nonlinear equations", 2003 (μ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.precision import epsilon, real
from rattleback.core.sealed import sealed
from rattleback.kinematics.forward import as_pose, lanes_on, on_device
from rattleback.kinematics.ik.lm_kernel import SLOW, Found, Search, Work, search_round
from rattleback.kinematics.ik.problem import MOST_LANES, borrowed, scratch
from rattleback.kinematics.ik.result import Answer

if TYPE_CHECKING:
    from rattleback.kinematics.ik.problem import Problem

# The tolerance of the search is a little below the promised one, so that the verdict, which rounds otherwise, agrees.
STRICTER = 0.999
# λ₀, over the square of the tree's size, keeps the matrix positive where the error is next to nothing; it is far below
# the squares of all singular values that matter, and no less than rounding makes of them.
BIAS = max(1e-13, 10.0 * epsilon**1.5)
# Last tries of the rounds on a GPU but the last one: those that the start does not solve are gathered.
ROUNDS = (0,)


@sealed
@dataclass(frozen=True)
class LM:
    """Levenberg–Marquardt with restarts.

    Args:
        iterations: Most steps of one try.
        restarts: Most tries after the one from the start.
        seed: Which configurations are drawn; the same seed gives the same answer, on every device but for rounding.
    """

    iterations: int = 40
    restarts: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.iterations, "The iterations of lm")
        checks.count(self.restarts, "The restarts of lm", least=0)
        checks.count(self.seed, "The seed of lm", least=0, most=2**30)

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        tree, count, search = problem.tree, problem.count, self._search(problem)
        lanes = min(lanes_on(tree.device, count), MOST_LANES)
        before, key = [tree.arrays, problem.tasks, problem.goals], ("lm", lanes, problem.rows[-1].stop, count == 1)
        with borrowed(tree, key, lambda: (problem.bench(lanes), _work(problem, lanes), _found(problem))) as room:
            found = room[2] if count == 1 else _found(problem)
            found.iterations.zero_()
            for search.first, search.last in self._rounds(problem):
                if not len(which := _missed(problem, found, search.first)):
                    break
                search.which, count = which, min(lanes, len(which))
                wp.launch(search_round, count, [*before, room[0], search, room[1], found, count], device=tree.device)
            q = np.array(found.q.numpy(), dtype=np.float64)
            return Answer(q, found.iterations.numpy().astype(np.int64), found.hits.numpy().astype(np.int64), True)

    def _rounds(self, problem: Problem) -> list[tuple[int, int]]:
        """First and last try of each round."""
        ends = [end for end in ROUNDS if end < self.restarts] if problem.tree.device.is_cuda else []
        return list(zip([0, *(end + 1 for end in ends)], [*ends, self.restarts], strict=True))

    def _search(self, problem: Problem) -> Search:
        search, tree = Search(), problem.tree
        search.base = as_pose(tree.base)
        for name, values in _limits(problem).items():
            setattr(search, name, values)
        search.start = on_device(tree, problem.start)
        search.position_tolerance, search.angle_tolerance = (STRICTER * entry for entry in problem.tolerance)
        search.bias = BIAS * problem.tree.size**2
        search.slow, search.iterations, search.restarts, search.seed = SLOW, self.iterations, self.restarts, self.seed
        return search


def _missed(problem: Problem, found: Found, first: int) -> Any:
    """The problems that are not solved yet, by number, on the device."""
    if first == 0:
        rows = np.arange(problem.count)
    else:
        misses = found.misses.numpy()[:, 1:]
        rows = np.flatnonzero(~(misses <= STRICTER * np.array(problem.tolerance)).all(axis=1))
    return on_device(problem.tree, rows, wp.int32)


def _limits(problem: Problem) -> dict[str, Any]:
    """Limits, and the ranges configurations are drawn from, on the device."""
    tree = problem.tree
    key = ("limits", problem.lower.tobytes(), problem.upper.tobytes())
    if key not in tree.kept:
        low, high = tree.range
        low, high = np.maximum(low, problem.lower), np.minimum(high, problem.upper)
        named = {"lower": problem.lower, "upper": problem.upper, "low": low, "high": high}
        tree.kept[key] = {name: on_device(tree, values.copy()) for name, values in named.items()}
    found: dict[str, Any] = tree.kept[key]
    return found


def _work(problem: Problem, lanes: int) -> Work:
    size, device = len(problem.tree.coordinates), problem.tree.device
    work = Work()
    for name in ("q", "step", "gradient"):
        setattr(work, name, scratch((lanes, size), real, device))
    work.matrix = scratch((lanes, size, size), real, device)
    work.count = wp.zeros(lanes, dtype=wp.int32, device=device)
    return work


def _found(problem: Problem) -> Any:
    found, device = Found(), problem.tree.device
    found.q = wp.empty((problem.count, len(problem.tree.coordinates)), dtype=real, device=device)
    found.misses = wp.empty((problem.count, 3), dtype=real, device=device)
    found.iterations = wp.zeros(problem.count, dtype=wp.int32, device=device)
    found.hits = wp.zeros(problem.count, dtype=wp.int32, device=device)
    return found
