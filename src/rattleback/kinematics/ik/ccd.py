"""Cyclic coordinate descent: one joint after the other, from the tip to the base, is put where the error is smallest.

    E(δ) = const − B cos δ − C sin δ,   δ = atan2(C, B)
    B = Σ w² (2 t·r⊥ + ℓ² Σ_k d_k·c_k⊥),   C = Σ w² (2 t·(a × r) + ℓ² Σ_k d_k·(a × c_k))

δ turn of the joint about its axis a through o; of each target: t = g − o and r = p − o, goal and point from o, c_k and
d_k columns of its orientation and of that wished, w its weight, ⊥ the part perpendicular to a. Orientations count
ℓ² (3 − tr(R_gᵀR)), for small angles ℓ² φ². A prismatic joint goes by the mean of t·a.

Cost: a few products a joint, no matrix. Use it: for long chains and quick first guesses, with limits. Not for smooth
motion: joints near the tip do most of the work, and the last digits take many sweeps.
References: Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical
manipulators", 1991; lecture notes on forward and inverse kinematics, §4.2, CCD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.chain import Chain, check_kinds, within
from rattleback.kinematics.ik.steps import STILL, check_steps, one_by_one
from rattleback.maths.rotation import matrix_from_quaternion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class CCD:
    """Cyclic coordinate descent.

    Args:
        beta: Part of the best turn that is taken.
        iterations: Most sweeps from the tip to the base.
    """

    beta: float = 1.0
    iterations: int = 1000

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "ccd")

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems, one after the other."""
        check_kinds(problem, "ccd", ("Position", "Orientation", "Pose"), ("revolute", "prismatic"))
        return one_by_one(problem, self.iterations, self._follow)

    def _follow(self, problem: Problem, q: Floats) -> tuple[Floats, list[float]]:
        goals, chain, view, moved = _goals(problem), Chain(problem), problem.look(q[None]), True
        squares = [float(view.square[0])]
        while moved and len(squares) <= self.iterations and not problem.is_reached(view.miss)[0]:
            after = self._sweep(problem, chain, q, goals)
            moved = bool(np.abs(after - q).max() > STILL)
            q, view = after, problem.look(after[None])
            squares.append(float(view.square[0]))
        return q, squares

    def _sweep(self, problem: Problem, chain: Chain, q: Floats, goals: list[Any]) -> Floats:
        """All joints once, from the tip to the base."""
        chain.place(q)
        q = q.copy()
        for joint in range(len(q))[::-1]:
            low, high = problem.lower[joint], problem.upper[joint]
            if problem.tree.links[chain.joints[joint]].joint == "revolute":
                b, c = _turning(chain, joint, goals)
                value = q[joint] + self.beta * np.arctan2(c, b) if b or c else q[joint]
                value = _best(value, (low, high), lambda v, b=b, c=c, q=q[joint]: b * np.cos(v - q) + c * np.sin(v - q))
                chain.turn(joint, value - q[joint])
            else:
                value = float(np.clip(q[joint] + self.beta * _sliding(chain, joint, goals), low, high))
                chain.slide(joint, value - q[joint])
            q[joint] = value
        return q


def _goals(problem: Problem) -> list[Any]:
    """Of each target: weight of its place, weight of its orientation, place and orientation; the only problem's."""
    found = []
    for target in problem.targets:
        goals = {name: np.asarray(goal).reshape(-1) for name, goal in target.goals().items()}
        turn = matrix_from_quaternion(goals["turn"]) if "turn" in goals else np.eye(3)
        square = target.weight**2
        weights = square * ("point" in goals), square * problem.radian**2 * ("turn" in goals)
        found.append((*weights, goals.get("point", np.zeros(3)), turn))
    return found


def _turning(chain: Chain, joint: int, goals: list[Any]) -> tuple[float, float]:
    """B and C of a revolute joint."""
    axis, b, c = chain.axis[joint], 0.0, 0.0
    for tool, (linear, angular, place, turn) in enumerate(goals):
        if chain.moves[joint, tool]:
            now = chain.tools[tool]
            pairs = [(2.0 * linear, place - chain.origin[joint], now[:3, 3] - chain.origin[joint])]
            pairs += [(angular, turn[:, k], now[:3, k]) for k in range(3)]
            for weight, wish, arm in pairs:
                b += weight * float(wish @ (arm - (arm @ axis) * axis))
                c += weight * float(wish @ np.cross(axis, arm))
    return b, c


def _sliding(chain: Chain, joint: int, goals: list[Any]) -> float:
    """Best way of a prismatic joint."""
    own = [(goal[0], goal[2] - chain.tools[tool, :3, 3]) for tool, goal in enumerate(goals) if chain.moves[joint, tool]]
    total = sum(weight for weight, _ in own)
    return sum(weight * float(way @ chain.axis[joint]) for weight, way in own) / total if total else 0.0


def _best(value: float, limits: tuple[float, float], merit: Any) -> float:
    """An angle within limits: as it is, a full turn away, or the better of the two limits."""
    if limits[0] <= value <= limits[1]:
        return float(value)
    inside = within(value, *limits) if np.isfinite(limits).all() else []
    return float(max([*inside, *(limit for limit in limits if np.isfinite(limit))], key=merit))
