"""Other scenes for the worlds of a running model: what they say of masses and surfaces, in the arrays that are there.

Everything else is found anew from the scenes when the next step is recorded, as the version of the scenes tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.model.bodies import body_arrays
from rattleback.model.surfaces import surface_arrays
from rattleback.model.worlds.parameters import MATERIAL, change
from rattleback.model.worlds.scenes import WorldScenes
from rattleback.model.worlds.structure import check_structure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rattleback.model.model import Model
    from rattleback.model.scene import Scene

# What only the arrays of surfaces hold, so that a recorded step stays as it is.
SURFACE = ("material", *MATERIAL)


class WorldValues(np.ndarray):
    """Values of worlds, one a world: writing to an entry changes that world."""

    _write: Callable[[Any], None] | None = None

    def __array_finalize__(self, source: Any) -> None:
        """Parts and results are plain values."""
        self._write = None

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write values of some worlds."""
        super().__setitem__(key, value)
        if self._write is not None:
            self._write(np.array(self))


def world_values(values: Any, write: Callable[[Any], None]) -> WorldValues:
    """Values of worlds that can be written."""
    found = np.array(values).view(WorldValues)
    found._write = write
    return found


def entries_of(model: Model, value: Any, inner: tuple[int, ...], what: str) -> list[Any]:
    """A value for every world where there is one for each, else the value alone.

    Args:
        model: The model.
        value: What is written.
        inner: Shape of the value of one world.
        what: Its name, for messages.
    """
    shape = np.shape(value)
    if shape == inner or not hasattr(value, "__len__"):
        return [value]
    if model.batched and shape[:1] == (model.worlds,):
        return list(value)
    one = f"of shape {inner}" if inner else "one"
    wanted = f"{one} for all worlds, or {model.worlds} of them, one a world" if model.batched else one
    raise InputError(f"The {what} has shape {shape}; it must be {wanted}.")


def changed(model: Model, given: Mapping[tuple[str, str], list[Any]]) -> list[Scene]:
    """The scenes of the worlds of a model with other values: one for all worlds as far as they are alike.

    Args:
        model: The model.
        given: Values by object and parameter, as ``entries_of`` gives them.
    """
    scenes = model.scenes
    apart = scenes.varied or any(len(values) > 1 for values in given.values())
    found = [scenes.of(world).copy() for world in range(scenes.count if apart else 1)]
    owners: dict[str, dict[str, list[Any]]] = {}
    for (owner, parameter), values in given.items():
        owners.setdefault(owner, {})[parameter] = values
    for world, scene in enumerate(found):
        for owner, named in owners.items():
            change(scene, owner, {name: values[min(world, len(values) - 1)] for name, values in named.items()})
    return found


def adopt(model: Model, scenes: list[Scene], anew: bool = True) -> None:
    """Let scenes hold for the worlds of a model from now on, in the arrays that recorded launches hold.

    Args:
        model: The model.
        scenes: One for all worlds, or one each, of the structure that the model has.
        anew: Whether steps are recorded anew, as more differs than surfaces.
    """
    check_structure([model.scene, *scenes])
    found, what = WorldScenes(scenes, model.worlds), f"scene {model.scene.name!r}"
    surfaces = surface_arrays(found, model.kinds)
    if anew:
        arrays.write(model.bodies, body_arrays(found), what)
        vars(model).pop("mass", None)
    arrays.write(model.surfaces, surfaces, what)
    model.scenes.replace(scenes, anew)
