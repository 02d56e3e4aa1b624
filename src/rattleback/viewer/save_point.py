"""Save points: what simulations are at a moment, scene and state, to go back to.

A running simulation writes to its own scene: another material, the rates of a velocity joint. So a save point keeps a
copy, and going back builds a simulation anew only where its scene says something else by now.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.model.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation

# So many save points are kept.
MOST_SAVE_POINTS = 20
# What a scene says beside its bodies, joints, forces and gravity.
REST = ("name", "meetings", "predicates", "rules", "pairs")


@dataclass(frozen=True)
class SavePoint:
    """A moment to go back to: scene and state of every simulation."""

    moments: tuple[tuple[Scene, Snapshot], ...]

    def restore(self, sims: Sequence[Simulation]) -> bool:
        """Go back to it; says whether a scene has changed by that. The length of a step stays as the user chose it."""
        changed = False
        for sim, (scene, snapshot) in zip(sims, self.moments, strict=True):
            if not says_the_same(sim.scene, scene):
                sim.rebuild(scene)
                changed = True
            length = sim.time_step
            sim.state = snapshot.state()
            sim.time_step = length
        return changed


class SavePoints:
    """The moments that undoing goes back to, and those that were undone.

    Args:
        first: The start.
    """

    def __init__(self, first: SavePoint) -> None:
        self.first = first
        self._past: deque[SavePoint] = deque(maxlen=MOST_SAVE_POINTS)
        self._undone: list[SavePoint] = []

    @property
    def counts(self) -> tuple[int, int]:
        """How many there are to go back to, and how many were undone."""
        return len(self._past), len(self._undone)

    def keep(self, point: SavePoint) -> None:
        """Keep a moment; what was undone is forgotten."""
        self._past.append(point)
        self._undone.clear()

    def back(self, now: SavePoint) -> SavePoint:
        """The last moment, or the start where there is none; now can be gone back to."""
        if not self._past:
            return self.first
        self._undone.append(now)
        return self._past.pop()

    def forth(self, now: SavePoint) -> SavePoint:
        """The moment that was undone last.

        Raises:
            InputError: Nothing was undone, or something was done since.
        """
        if not self._undone:
            raise InputError("There is nothing to do again: nothing was undone, or something else was done since.")
        self._past.append(now)
        return self._undone.pop()


def save_point(sims: Sequence[Simulation]) -> SavePoint:
    """This moment of simulations."""
    return SavePoint(tuple((sim.scene.copy(), Snapshot(sim.state)) for sim in sims))


def says_the_same(one: Scene, other: Scene) -> bool:
    """Whether two scenes have the same bodies, joints and forces in the same order, and meet by the same rules.

    Bodies, joints and forces are frozen: each is the same only as long as it is the same object.
    """
    if one is other:
        return True
    things = (_things(one), _things(other))
    return (
        len(things[0]) == len(things[1])
        and all(mine[0] == its[0] and mine[1] is its[1] for mine, its in zip(*things, strict=True))
        and np.array_equal(one.gravity, other.gravity)
        and all(getattr(one, name) == getattr(other, name) for name in REST)
    )


def _things(scene: Scene) -> list[tuple[str, Any]]:
    """Bodies, joints and forces by kind and name."""
    found = [(f"body {body.name}", body) for body in scene.bodies]
    for kind, named in (("joint", scene.joints), ("force", scene.forces)):
        found += [(f"{kind} {name}", thing) for name, thing in named.items()]
    return found
