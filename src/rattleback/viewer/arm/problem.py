"""What the page asks of an arm: ready models, how they are looked at, and the problem a page opens with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.kinematics import ik, models

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

MODELS: dict[str, Callable[[], Tree]] = {
    "puma560": models.puma560,
    "six_axis": models.six_axis,
    "seven_axis": models.seven_axis,
    "planar_2r": models.planar_2r,
    "planar_3r": models.planar_3r,
    "scara": models.scara,
    "snake": models.snake,
    "hand": models.hand,
}
# How far from the middle of its range each coordinate stands at first, and where the first target is; parts of it.
STANDS, AIMS = 0.04, 0.13
# Coordinates that a frame needs to be placed and turned at will, in a plane and in space.
IN_PLANE, IN_SPACE = 3, 6


@dataclass(frozen=True, eq=False)
class Question:
    """A problem for a method.

    Attributes:
        tree: The arm.
        goal: Where the tool shall be (4, 4).
        turn: Whether its orientation counts, too.
        method: Name of the method.
        start: Where to start (coordinates,).
        tool: Name of the tool.
        most_steps: Most steps of methods that take plain ones.
    """

    tree: Tree
    goal: Floats
    turn: bool
    method: str
    start: Floats
    tool: str = "tip"
    most_steps: int = 200

    @property
    def targets(self) -> Any:
        """What ``rb.ik.solve`` is asked for."""
        if self.turn:
            return ik.Pose(self.goal.copy(), tool=self.tool)
        return ik.Position(self.goal[:3, 3].copy(), tool=self.tool)


def find_model(name: str) -> Tree:
    """A ready model by its name."""
    if name not in MODELS:
        raise UnknownName(
            f"There is no model {name!r}.{did_you_mean(name, list(MODELS))} The models are {listing(list(MODELS), 20)}."
        )
    return MODELS[name]()


def check_method(name: str) -> str:
    """The name of a method, if there is one of it."""
    if name not in ik.MENU:
        raise UnknownName(
            f"There is no method {name!r}.{did_you_mean(name, list(ik.MENU))} The methods are "
            f"{listing(list(ik.MENU), 20)}."
        )
    return name


def is_flat(tree: Tree) -> bool:
    """Whether the arm only moves in a plane of constant z."""
    frames = tree.forward(tree.random(8, seed=0))
    level = np.ptp(frames[:, 2, 3]) <= 1e-9 * max(1.0, tree.size)
    return bool(level and np.ptp(frames[:, :3, 2], axis=0).max() <= 1e-9)


def turns_freely(tree: Tree, tool: str = "tip") -> bool:
    """Whether a tool has freedoms enough to be turned at will wherever it is."""
    moving = {tree.links[i].name for i in tree.path(tool)} & set(tree.coordinates)
    return len(moving) >= (IN_PLANE if is_flat(tree) else IN_SPACE)


def opening(tree: Tree, method: str = "lm", place: Any = None) -> Question:
    """The problem a page opens with: from near the middle of the limits to a place that can be reached.

    Args:
        tree: The arm.
        method: Name of the method.
        place: Where the tip shall be instead (3,) [m]; then its orientation does not count.
    """
    low, high = tree.range
    sides = np.where(np.arange(len(low)) % 4 < 2, 1.0, -1.0)
    start, end = (np.clip(tree.middle + part * sides * (high - low), low, high) for part in (STANDS, AIMS))
    goal = tree.forward(end)
    if place is not None:
        goal = tree.forward(start)
        goal[:3, 3] = checks.vector(place, "The place of the target")
    return Question(tree, goal, place is None and turns_freely(tree), check_method(method), start)
