"""The colliders of a scene as a list: their bodies and numbers of triangles, in the order they are compiled in.

It says what indices of colliders and triangles can mean, where states are checked that come from outside, or carried
over to another scene.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.shapes import Compound, HeightField, Mesh, Plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene


@dataclass(frozen=True)
class ColliderList:
    """The colliders of one world.

    Attributes:
        body: Index of the body of each (colliders,).
        triangles: Triangles of each that is a surface; zero for convex ones (colliders,).
    """

    body: NDArray[np.int64]
    triangles: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.body)


def list_colliders(scene: Scene) -> ColliderList:
    """The colliders of a scene's bodies."""
    each = [triangle_counts(body) for body in scene.bodies]
    owner = np.repeat(np.arange(len(each)), [len(counts) for counts in each])
    return ColliderList(owner.astype(np.int64), np.array([n for counts in each for n in counts], dtype=np.int64))


def triangle_counts(body: Body) -> list[int]:
    """For every convex part and surface of a body its number of triangles; zero for convex parts."""
    return [n for entry in body.colliders for n in ([0] if isinstance(entry, Plane) else _counts(entry.shape))]


def _counts(shape: Any) -> list[int]:
    if isinstance(shape, Compound):
        return [n for part in shape.parts for n in _counts(part.shape)]
    if isinstance(shape, Mesh) and shape.decompose:
        return [0] * len(shape.parts)
    return [len(shape.triangles) if isinstance(shape, (Mesh, HeightField)) else 0]
