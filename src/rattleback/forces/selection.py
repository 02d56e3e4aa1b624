"""Which bodies a force acts on: names, groups or the objects themselves, kept as names so that files can hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from rattleback.model.model import Model


def names(bodies: Any, what: str) -> tuple[str, ...] | None:
    """Names of the bodies and groups given; None stands for every body that moves."""
    if bodies is None:
        return None
    entries = bodies if isinstance(bodies, (list, tuple, set)) else (bodies,)
    found: tuple[Any, ...] = tuple(getattr(entry, "name", entry) for entry in entries)
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"{what} acts on {name!r}; give names, groups, or what scene.add_body returned.")
    if not found:
        raise InputError(f"{what} acts on no body; leave bodies out for all, or name some.")
    return found


def device_rows(model: Model, bodies: tuple[str, ...] | None, what: str) -> Any:
    """Rows of the chosen bodies in all worlds, world by world, as a device array."""
    rows = model.rows(model.select(bodies, what)).reshape(-1).astype(np.int32)
    return wp.array(rows, dtype=wp.int32, device=model.device)


def body_name(body: Any, what: str) -> str:
    """Name of a body, or of the world, given by itself or by name."""
    name = getattr(body, "name", body)
    if not isinstance(name, str) or not name:
        raise InputError(f"{what} is {name!r}; give a name, a body, or scene.world.")
    return name
