"""FABRIK, forward and backward reaching: move the points of the chain by straight lines, then turn the joints to match.

    backward, from p_k = g:        p_i = p_{i+1} + d_i (p_i − p_{i+1}) / |p_i − p_{i+1}|
    forward, from p_0 as it was:   p_{i+1} = p_i + d_i (p_{i+1} − p_i) / |p_{i+1} − p_i|

p_0 … p_k places of the joints and of the tool, d_i their distances, g the goal. Each joint, from the base on, is then
turned about its axis, within its limits, until what it carries lies as near to the wished points as it can be; where
joints are hinges and not balls, the chain ends beside the points, and the next sweep starts from where it is.

Cost: k square roots a sweep, and a turn for each joint. Use it: for long chains with many freedoms and targets that are
places. Not for orientations, nor for arms of few hinges, which cannot follow the points.
Reference: Aristidou and Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem", Graphical
Models 73(5), 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.chain import Chain, check_kinds
from rattleback.kinematics.ik.steps import STILL, check_steps, one_by_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class FABRIK:
    """Forward and backward reaching.

    Args:
        beta: Part of the turns that is taken.
        iterations: Most sweeps.
    """

    beta: float = 1.0
    iterations: int = 500

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "fabrik")

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems, one after the other."""
        check_kinds(problem, "fabrik", ("Position",), ("revolute",))
        if len(problem.targets) > 1:
            raise InputError(f"Method 'fabrik' got {len(problem.targets)} targets; it takes one, method 'lm' several.")
        return one_by_one(problem, self.iterations, self._follow)

    def _follow(self, problem: Problem, q: Floats) -> tuple[Floats, list[float]]:
        goal = np.asarray(problem.targets[0].goals()["point"]).reshape(3)
        chain, view, best, moved = Chain(problem), problem.look(q[None]), q, True
        squares = [float(view.square[0])]
        while moved and len(squares) <= self.iterations and not problem.is_reached(view.miss)[0]:
            after = self._sweep(problem, chain, q, goal)
            moved = bool(np.abs(after - q).max() > STILL)
            q, view = after, problem.look(after[None])
            best = q if view.square[0] < min(squares) else best
            squares.append(float(view.square[0]))
        return best, squares

    def _sweep(self, problem: Problem, chain: Chain, q: Floats, goal: Floats) -> Floats:
        """One reach back and forth, and the turns that follow it."""
        chain.place(q)
        q = q.copy()
        own = [int(joint) for joint in np.flatnonzero(chain.moves[:, 0])]
        wished = _reach(np.vstack([chain.origin[own], chain.tools[0, :3, 3]]), goal)
        for k, joint in enumerate(own):
            angle = self.beta * _fit(chain, joint, own[k + 1 :], wished[k + 1 :])
            value = float(np.clip(q[joint] + angle, problem.lower[joint], problem.upper[joint]))
            chain.turn(joint, value - q[joint])
            q[joint] = value
        return q


def _reach(points: Floats, goal: Floats) -> Floats:
    """Points moved until the last is at the goal, then until the first is where it was, lengths kept."""
    lengths, found = np.linalg.norm(np.diff(points, axis=0), axis=1), points.copy()
    found[-1] = goal
    for i in range(len(lengths))[::-1]:
        found[i] = found[i + 1] + lengths[i] * _unit(found[i] - found[i + 1], points[i] - points[i + 1])
    found[0] = points[0]
    for i, length in enumerate(lengths):
        found[i + 1] = found[i] + length * _unit(found[i + 1] - found[i], points[i + 1] - points[i])
    return found


def _fit(chain: Chain, joint: int, after: list[int], wished: Floats) -> float:
    """Turn that brings all points a joint carries, and the tool, nearest to where they are wished."""
    points = np.vstack([chain.origin[after], chain.tools[0, :3, 3]])
    axis, at = chain.axis[joint], chain.origin[joint]
    arms, ways = points - at, wished - at
    along = float((ways * (arms - (arms @ axis)[:, None] * axis)).sum())
    aside = float((ways * np.cross(axis, arms)).sum())
    return float(np.arctan2(aside, along)) if np.hypot(along, aside) > 1e-12 else 0.0


def _unit(way: Floats, other: Floats) -> Floats:
    for vector in (way, other):
        if (length := float(np.linalg.norm(vector))) > 1e-12:
            return vector / length
    return np.zeros(3)
