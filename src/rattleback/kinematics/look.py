"""Looks: shapes attached to the links of a tree by name, so that one motion drives many looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.link import Frame, as_matrix
from rattleback.maths import rotation
from rattleback.shapes import Capsule, Placed, Sphere
from rattleback.shapes.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]


class Shown(NamedTuple):
    """A shape of a look: the link it is on, the shape, and its frames in the world (..., 4, 4)."""

    link: str
    shape: Any
    frame: Floats


@sealed
class Look:
    """Shapes by the names of links; names the tree does not have are not shown, so that looks can be shared.

    Args:
        shapes: For each link a shape, a ``rb.Placed`` in its frame, or a list of these.
    """

    def __init__(self, shapes: Mapping[str, Any]) -> None:
        self.shapes: dict[str, tuple[Placed, ...]] = {}
        for name, given in shapes.items():
            entries = given if isinstance(given, (list, tuple)) else (given,)
            self.shapes[name] = tuple(_placed(entry, name) for entry in entries)

    def of(self, tree: Tree, q: ArrayLike) -> list[Shown]:
        """Every shape with its frames for configurations (..., coordinates)."""
        frames, found = tree.frames(q), []
        for i, link in enumerate(tree.links):
            for part in self.shapes.get(link.name, ()):
                place = as_matrix(Frame(tuple(part.position), tuple(part.orientation)))
                found.append(Shown(link.name, part.shape, frames[..., i, :, :] @ place))
        return found


def sticks(tree: Tree, radius: float = 0.02) -> Look:
    """A plain look: a capsule from each link to each that hangs on it, and to the tip."""
    shapes: dict[str, list[Any]] = {link.name: [] for link in tree.links}
    ends = [(link.parent, link.place.position) for link in tree.links if link.parent]
    ends += [(link, frame.position) for link, frame in tree.tools.values()]
    for name, end in ends:
        length = float(np.linalg.norm(end))
        if length > 1e-9:
            shapes[name].append(_stick(np.array(end), length, radius))
    return Look({name: parts or [Placed(Sphere(radius))] for name, parts in shapes.items()})


def _stick(end: Floats, length: float, radius: float) -> Placed:
    """A capsule from the origin to a point; capsules lie along z."""
    direction = end / length
    axis = np.cross((0.0, 0.0, 1.0), direction)
    size, cosine = float(np.linalg.norm(axis)), float(direction[2])
    axis = axis if size > 1e-9 else np.array([1.0, 0.0, 0.0])
    turn = rotation.quaternion_from_axis_angle(axis, float(np.arctan2(size, cosine)))
    return Placed(
        Capsule(radius, length + 2.0 * radius), position=tuple((0.5 * end).tolist()), orientation=tuple(turn.tolist())
    )


def _placed(entry: Any, name: str) -> Placed:
    if isinstance(entry, Placed):
        return entry
    if isinstance(entry, type) or not isinstance(entry, Shape):
        raise InputError(f"The look of link {name!r} is {entry!r}; it must be a shape, such as rb.Sphere(0.1).")
    return Placed(entry)
