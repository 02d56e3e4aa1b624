"""What can be swept: a function or a scene, from objects, from text, and from what a store says."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, listing
from rattleback.sweeps.address import imported, is_address
from rattleback.sweeps.function_target import make_function_target

if TYPE_CHECKING:
    from collections.abc import Mapping


def make_target(given: Any, options: Mapping[str, Any]) -> Any:
    """The target for a function, its address, a scene or its file.

    Args:
        given: What is swept.
        options: What a scene needs besides; a function takes none.
    """
    if isinstance(given, PathLike) or (isinstance(given, str) and not is_address(given)):
        from rattleback.model import Scene

        given = Scene.from_file(given)
    if type(given).__name__ == "Scene" and type(given).__module__.startswith("rattleback."):
        from rattleback.sweeps.scene_target import make_scene_target

        return make_scene_target(given, options)
    if options:
        raise InputError(
            f"A sweep of a function takes no {listing(list(options))}; these are for scenes, and a function gets what "
            "the space holds."
        )
    return make_function_target(given)


def target_of(told: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What a store says is swept, with the options of a scene; the module of a function is imported.

    Raises:
        InputError: It cannot be imported, or is neither function nor scene.
    """
    if told.get("kind") == "scene":
        from rattleback.sweeps.scene_target import scene_of

        return scene_of(told)
    if told.get("kind") != "function":
        raise InputError(f"The store sweeps a {told.get('kind')!r}; it may be 'function' or 'scene'.")
    return imported(str(told.get("function"))), {}
