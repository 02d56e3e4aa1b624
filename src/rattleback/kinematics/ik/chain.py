"""A chain in one configuration, for methods that turn one joint at a time: axes, origins and tools in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, listing
from rattleback.kinematics.link import as_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem

    Floats = NDArray[np.float64]


class Chain:
    """Joints and tools of one configuration; turning a joint carries all that hangs on it along.

    Attributes:
        joints: Numbers of the links whose joints move, base first.
        axis: Their axes (joints, 3).
        origin: Where they are (joints, 3) [m].
        tools: Frames of the tools of the targets (targets, 4, 4).
        carries: Whether a joint carries a later one (joints, joints).
        moves: Whether a joint moves a tool (joints, targets).
    """

    def __init__(self, problem: Problem) -> None:
        tree = problem.tree
        self.joints = [i for i, link in enumerate(tree.links) if link.moves]
        paths = [set(tree.path(tree.links[i].name)) for i in self.joints]
        ends = [set(tree.path(target.tool)) for target in problem.targets]
        self.carries = np.array(
            [[i in path and i != j for j, path in zip(self.joints, paths, strict=True)] for i in self.joints]
        )
        self.moves = np.array([[i in path for path in ends] for i in self.joints])
        self._problem, self._own = problem, np.array([tree.links[i].axis for i in self.joints])

    def place(self, q: Floats) -> None:
        """Put it in a configuration."""
        frames = self._problem.tree.frames(q)
        self.axis = np.einsum("ijk,ik->ij", frames[self.joints, :3, :3], self._own)
        self.origin = frames[self.joints, :3, 3]
        self.tools = np.array([_tool(self._problem.tree, frames, target) for target in self._problem.targets])

    def turn(self, joint: int, angle: float) -> None:
        """Turn a joint."""
        matrix, at = turn_matrix(self.axis[joint], angle), self.origin[joint]
        after, moved = self.carries[joint], self.moves[joint]
        self.origin[after] = at + (self.origin[after] - at) @ matrix.T
        self.axis[after] = self.axis[after] @ matrix.T
        self.tools[moved, :3, 3] = at + (self.tools[moved, :3, 3] - at) @ matrix.T
        self.tools[moved, :3, :3] = matrix @ self.tools[moved, :3, :3]

    def slide(self, joint: int, way: float) -> None:
        """Move along a prismatic joint."""
        self.origin[self.carries[joint]] += way * self.axis[joint]
        self.tools[self.moves[joint], :3, 3] += way * self.axis[joint]


def turn_matrix(axis: Floats, angle: float) -> Floats:
    """Rotation matrix of a turn about a unit axis (3, 3)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


def within(value: float, low: float, high: float) -> list[float]:
    """The values an angle has within limits, full turns apart; infinitely many are cut to the nearest to zero."""
    turn = 2.0 * np.pi
    if not (np.isfinite(low) and np.isfinite(high)):
        wrapped = float((value + np.pi) % turn - np.pi)
        choices = [wrapped + k * turn for k in (-1, 0, 1)]
        return [entry for entry in choices if low <= entry <= high and abs(entry) <= np.pi + 1e-12][:1] or [
            entry for entry in choices if low <= entry <= high
        ][:1]
    first = int(np.ceil((low - value - 1e-12) / turn))
    last = int(np.floor((high - value + 1e-12) / turn))
    return [float(np.clip(value + k * turn, low, high)) for k in range(first, last + 1)]


def check_kinds(problem: Problem, method: str, targets: tuple[str, ...], joints: tuple[str, ...]) -> None:
    """Refuse what a method cannot do, in a sentence."""
    for target in problem.targets:
        if type(target).__name__ not in targets:
            raise InputError(
                f"Method {method!r} knows no {type(target).__name__}; it takes {listing(targets)}, method 'lm' all."
            )
    for link in problem.tree.links:
        if link.mimic is not None:
            raise InputError(f"Method {method!r} cannot move {link.name!r}, which follows another joint; take 'lm'.")
        if link.moves and link.joint not in joints:
            raise InputError(f"Method {method!r} cannot move {link.name!r}, a {link.joint} joint; take 'lm'.")


def _tool(tree: Any, frames: Floats, target: Any) -> Floats:
    link, frame = tree.tool(target.tool)
    found = frames[link] @ as_matrix(frame)
    found[:3, 3] += found[:3, :3] @ np.array(target.point)
    return np.asarray(found)
