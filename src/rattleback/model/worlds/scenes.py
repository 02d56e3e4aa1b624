"""The scenes of the worlds of a model: one for all of them, or one each, all of one structure.

Rows of a model lie world by world. What one world's scene says of its bodies, joints or forces becomes columns of all
worlds here, and only here: things that worlds share are described once, whatever the number of worlds.

    column of all worlds = column of the distinct things [index of the thing of each row]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene


@dataclass(frozen=True)
class Distinct:
    """The things that rows of all worlds are made of.

    Attributes:
        items: Each thing once.
        index: Which of them each row is, world by world.
    """

    items: list[Any]
    index: NDArray[np.int64]

    def spread(self, column: Any) -> NDArray[Any]:
        """A column with a row for every thing, as one with a row for every row of all worlds."""
        return np.asarray(column)[self.index]


class WorldScenes:
    """The scenes of all worlds.

    Attributes:
        count: Number of worlds.
        scenes: The scene of every world, or a single one that all of them have.
        version: Counts how often they were replaced by others that steps have to be recorded anew for.

    Args:
        scenes: See above.
        count: See above.
    """

    def __init__(self, scenes: Sequence[Scene], count: int) -> None:
        self.scenes, self.count, self.version = list(scenes), count, 0

    @property
    def first(self) -> Scene:
        """The scene of the first world, from which names and structure are taken."""
        return self.scenes[0]

    @property
    def varied(self) -> bool:
        """Whether every world has a scene of its own."""
        return len(self.scenes) > 1

    def of(self, world: int) -> Scene:
        """The scene of a world."""
        return self.scenes[world if self.varied else 0]

    def replace(self, scenes: Sequence[Scene], anew: bool) -> None:
        """Other scenes of the same structure hold from now on, one for all worlds or one each; ``anew``: recompiled."""
        self.scenes, self.version = list(scenes), self.version + int(anew)

    def distinct(self, things: Callable[[Scene], Iterable[Any]]) -> Distinct:
        """What worlds have of some things: a thing is an object, or a tuple of objects, told apart by identity.

        Args:
            things: Gives those of a scene, as many for each.
        """
        places: dict[Any, int] = {}
        items: list[Any] = []
        index: list[int] = []
        for scene in self.scenes:
            for thing in things(scene):
                key = tuple(map(id, thing)) if isinstance(thing, tuple) else id(thing)
                place = places.setdefault(key, len(items))
                if place == len(items):
                    items.append(thing)
                index.append(place)
        return Distinct(items, self.tiled(np.array(index, dtype=np.int64)))

    def bodies(self) -> Distinct:
        """The bodies of all worlds."""
        return self.distinct(lambda scene: scene.bodies)

    def joints(self) -> Distinct:
        """The joints of all worlds, each with the bodies A and B that it holds; None for the world."""

        def held(scene: Scene) -> list[tuple[Any, Body | None, Body | None]]:
            by_name = {body.name: body for body in scene.bodies}
            return [(joint, by_name.get(joint.a), by_name.get(joint.b)) for joint in scene.joints.values()]

        return self.distinct(held)

    def listed(self, of: Callable[[Scene], Iterable[Any]]) -> list[Any]:
        """What scenes have of some things, one after the other; for ``tiled`` when it has become columns."""
        return [thing for scene in self.scenes for thing in of(scene)]

    def tiled(self, column: Any) -> NDArray[Any]:
        """A column of what ``listed`` gives, for all worlds."""
        found = np.asarray(column)
        return found if self.varied else np.tile(found, (self.count,) + (1,) * (found.ndim - 1))

    def each(self, of: Callable[[Scene], Any]) -> NDArray[Any]:
        """One entry a world (worlds, ...)."""
        return self.tiled(np.asarray([of(scene) for scene in self.scenes]))

    def versions(self, force: Any) -> list[Any]:
        """A force of the first world as every world has it; itself alone where all have the same."""
        if not self.varied:
            return [force]
        name = next((name for name, own in self.first.forces.items() if own is force), None)
        return [force] if name is None else [scene.forces[name] for scene in self.scenes]
