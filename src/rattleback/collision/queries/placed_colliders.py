"""An arrangement: the colliders of placements on a device, at their poses, with boxes around them.

The distinct kinds are compiled once, as static bodies of a scene at the origin; the rows of every entry are copies of
those of its kind, made by indexing. Kinds that were compiled before are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.compile import Geometry, compile_colliders
from rattleback.collision.geometry.world_poses import place
from rattleback.core import arrays
from rattleback.core.device import find, load_kernels
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.model.compile import compile_scene
from rattleback.model.filter import EVERYTHING
from rattleback.model.scene import Scene
from rattleback.model.state import Motion
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from rattleback.collision.queries.placement import PlacedEntries

KEPT = 64


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct kinds, compiled: their colliders as columns, and where those of each kind are."""

    geometry: Geometry
    columns: dict[str, NDArray[Any]]
    first: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Colliders where they are.

    Attributes:
        geometry: The colliders, entry by entry, and the tables behind them; their bodies are the entries.
        places: Where they are.
        motion: Poses of the entries.
        kind: Kind of every collider, see ``collision.geometry.solid``.
        owner: Entry of every collider.
        first: First collider of every entry.
        count: Number of colliders of every entry.
    """

    geometry: Geometry
    places: Places
    motion: Motion
    kind: NDArray[np.int32]
    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]

    @property
    def device(self) -> Any:
        """Where the arrays live."""
        return self.geometry.device


def arrange(entries: PlacedEntries, device: str) -> Arrangement:
    """The colliders of entries on a device."""
    found = find(device)
    patterns = _patterns(entries.kinds, found.alias)
    count = patterns.count[entries.which]
    first = np.cumsum(count) - count
    owner = np.repeat(np.arange(len(entries)), count)
    source = (patterns.first[entries.which] - first)[owner] + np.arange(len(owner))
    columns = {name: column[source] for name, column in patterns.columns.items()}
    columns |= {"body": owner, "world": np.zeros_like(owner), "movable": np.ones_like(owner)}
    columns |= {"category": np.ones_like(owner), "mask": np.full_like(owner, EVERYTHING)}
    colliders = upload(Colliders, columns, found)
    geometry = replace(patterns.geometry, colliders=colliders, each=len(owner), names=("",) * len(owner))
    motion = arrays.allocate(Motion, {"bodies": len(entries)}, found)
    motion.position.assign(_narrow(entries.positions))
    motion.orientation.assign(entries.orientations.astype(numpy_real))
    places = arrays.allocate(Places, {"colliders": len(owner)}, found)
    load_kernels([place.module], found)
    wp.launch(place, len(owner), inputs=[colliders, geometry.hulls, motion, 0.0, places], device=found)
    return Arrangement(geometry, places, motion, columns["kind"], owner, first, count)


def upload(kind: Any, columns: dict[str, NDArray[Any]], device: Any) -> Any:
    """A group of arrays from columns, each in the precision of this process."""
    result = kind()
    for name, declared in arrays.fields(kind).items():
        column = columns[name]
        narrow = np.ascontiguousarray(column, dtype=np.int32 if column.dtype.kind in "iu" else numpy_real)
        setattr(result, name, wp.array(narrow, dtype=declared.dtype, device=device))
    return result


def _narrow(positions: NDArray[np.float64]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        narrow = positions.astype(numpy_real)
    if not np.isfinite(narrow).all():
        raise InputError("A position of a placement is outside the range of numbers; move it nearer to the origin.")
    return narrow


@lru_cache(maxsize=KEPT)
def _patterns(kinds: tuple[Hashable, ...], device: str) -> Patterns:
    scene = Scene()
    for kind in kinds:
        if isinstance(kind, tuple):
            colliders, margin = kind
            one = colliders[0] if isinstance(colliders[0], Plane) else colliders[0].shape
            scene.add_static(one, collision=list(colliders), margin=margin)
        else:
            scene.add_static(kind)
    model, _ = compile_scene(scene, None, find(device))
    geometry = compile_colliders(model)
    columns = arrays.read(geometry.colliders)
    count = np.bincount(columns["body"], minlength=len(kinds))
    return Patterns(geometry, columns, np.cumsum(count) - count, count)
