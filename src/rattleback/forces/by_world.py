"""What forces are in every world: numbers of their fields, and structs that kernels read, one a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rattleback.model.model import Model


def by_world(model: Model, force: Any, fields: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Fields of a force as they are in every world, (worlds, ...) each.

    Args:
        model: The model.
        force: The force as the first world has it.
        fields: Their names.
    """
    versions = model.scenes.versions(force)
    return {
        name: np.broadcast_to(column, (model.worlds, *column.shape[1:]))
        for name in fields
        for column in [np.array([getattr(version, name) for version in versions], dtype=np.float64)]
    }


def structs(model: Model, kind: Any, found: list[Any]) -> Any:
    """A struct for every world, as an array of the device.

    Args:
        model: The model.
        kind: The class of the struct.
        found: That of every world, or one for all of them.
    """
    return wp.array(found if len(found) > 1 else found * model.worlds, dtype=kind, device=model.device)
