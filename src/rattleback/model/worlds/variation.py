"""Variation: the scene of every world, from one scene and what differs, or from a list of scenes.

    scene of world k = scene with entry ← value_k for every entry

A scene of a world is a copy that shares every body, joint and force which does not differ; making one takes some ten
microseconds, and some more for every entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, RattlebackError
from rattleback.model.coordinates import start_names
from rattleback.model.scene import Scene
from rattleback.model.worlds.draws import Distribution, checked_seed
from rattleback.model.worlds.parameters import change, split_name

if TYPE_CHECKING:
    from collections.abc import Mapping

ASKED = "a dict such as {'arm.mass': values}, or a function of a copy of the scene and the number of its world"


class Variation:
    """What differs from world to world in a simulation.

    Attributes:
        worlds: Number of worlds; None for a single one without a world axis.
        starts: Coordinates and rates with which joints start, by joint and what of it (worlds,).

    Args:
        scene: The scene, or the scene of every world.
        settings: Those of the simulation: ``worlds``, ``vary`` and ``seed``.
    """

    def __init__(self, scene: Any, settings: Mapping[str, Any]) -> None:
        worlds = settings.get("worlds")
        self._vary: Any = settings.get("vary")
        self.starts: dict[tuple[str, str], np.ndarray] = {}
        self._seed = checked_seed(settings.get("seed", 0), "seed")
        self.worlds = None if worlds is None else checks.count(worlds, "worlds")
        if isinstance(scene, (list, tuple)):
            self.worlds = _count_of(scene, self.worlds, self._vary)
        elif self._vary is not None:
            self._check_vary()
            self.worlds = self.worlds or self._infer()

    def scenes(self, scene: Any) -> Any:
        """What every world is to simulate: a scene, or one a world.

        Args:
            scene: The scene that the worlds differ from, or a list of theirs.
        """
        if isinstance(scene, (list, tuple)):
            _count_of(scene, self.worlds, None)
            return list(scene)
        if self._vary is None or not isinstance(scene, Scene) or self.worlds is None:
            return scene
        if callable(self._vary):
            return [self._called(scene, world) for world in range(self.worlds)]
        return self._changed(scene, self.worlds)

    def _check_vary(self) -> None:
        if not callable(self._vary) and not isinstance(self._vary, dict):
            raise InputError(f"vary is {self._vary!r}; it must be {ASKED}.")

    def _infer(self) -> int:
        """The number of worlds, from the values of an entry."""
        if callable(self._vary):
            raise InputError(
                "vary is a function, and worlds= does not say for how many worlds to call it; give worlds=."
            )
        counts = [len(values) for values in self._vary.values() if hasattr(values, "__len__")]
        if not counts:
            raise InputError("vary has no list of values, and worlds= does not say how many to draw; give worlds=.")
        return checks.count(counts[0], "The number of values of vary")

    def _called(self, scene: Scene, world: int) -> Scene:
        """The scene of a world as a function makes it."""
        own = scene.copy()
        try:
            found = self._vary(own, world)
        except RattlebackError as error:
            raise type(error)(f"vary for world {world}: {error}") from None
        if found is None:
            return own
        if not isinstance(found, Scene):
            raise InputError(f"vary returned {found!r} for world {world}; it must return None or a Scene.")
        return found

    def _changed(self, scene: Scene, worlds: int) -> list[Scene]:
        """The scenes of worlds that differ in some parameters."""
        owners: dict[str, dict[str, tuple[str, Any]]] = {}
        self.starts = {}
        for entry, given in self._vary.items():
            (owner, parameter), values = split_name(scene, entry, starts=True), self._values(entry, given, worlds)
            if owner in scene.joints and parameter in start_names(scene.joints[owner]):
                what = f"Each value of {entry!r} in vary"
                self.starts[owner, parameter] = np.array([checks.number(value, what) for value in values])
            else:
                owners.setdefault(owner, {})[parameter] = (entry, values)
        found = []
        for world in range(worlds):
            own = scene.copy()
            for owner, given in owners.items():
                _change(own, owner, {name: (entry, values[world]) for name, (entry, values) in given.items()}, world)
            found.append(own)
        return found

    def _values(self, entry: str, given: Any, worlds: int) -> list[Any]:
        """The values of an entry, one a world."""
        if isinstance(given, Distribution):
            return [given.value(entry, world, self._seed) for world in range(worlds)]
        if isinstance(given, (str, bytes, dict)) or not hasattr(given, "__len__"):
            raise InputError(
                f"vary gives {entry!r} the value {given!r}; it must be a list with a value for each of the {worlds} "
                "worlds, or a distribution such as rb.uniform(0.2, 0.8)."
            )
        if len(given) != worlds:
            raise InputError(f"vary gives {entry!r} {len(given)} values, and there are {worlds} worlds; give one each.")
        return given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else list(given)


def _count_of(scenes: Any, worlds: int | None, vary: Any) -> int:
    """The number of worlds of a list of scenes."""
    if not scenes:
        raise InputError("Simulation got an empty list of scenes; give one scene for every world.")
    if vary is not None:
        raise InputError("Simulation got a list of scenes and vary=; a list has what differs in its scenes already.")
    if worlds not in (None, len(scenes)):
        raise InputError(f"Simulation got {len(scenes)} scenes for worlds={worlds}; leave worlds out, or give as many.")
    return len(scenes)


def _change(scene: Scene, owner: str, given: Mapping[str, tuple[str, Any]], world: int) -> None:
    """Change an object of the scene of a world; what goes wrong names the entry and the world."""
    try:
        change(scene, owner, {name: value for name, (_, value) in given.items()})
    except RattlebackError as error:
        entries = " and ".join(repr(entry) for entry, _ in given.values())
        raise type(error)(f"vary {entries} of world {world}: {error}") from None
