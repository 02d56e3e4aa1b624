"""Shape table: how each class of shapes collides, as the kind, size and shell of its collider.

A collider is a core with a shell around it (see ``solid``). A class that is not in the table has no collider: nothing
is guessed from its attributes. A subclass collides as the class it extends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.collision.geometry import solid
from rattleback.core.errors import InputError
from rattleback.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from collections.abc import Callable

    Size = tuple[float, float, float]


def no_size(shape: Any) -> Size:
    """The size of a core that its kind or its vertices say all about [m]."""
    return (0.0, 0.0, 0.0)


def no_shell(shape: Any) -> float:
    """The shell of a shape that is all core [m]."""
    return 0.0


@dataclass(frozen=True)
class Entry:
    """How one class of shapes collides.

    Attributes:
        kind: Number of its kind; see ``solid``.
        size: Size of the core of a shape [m]; see ``solid``.
        shell: Thickness of the shell around that core [m].
        vertices: Where its vertices are kept: ``"hull"`` for those of a convex polyhedron, ``"surface"`` for triangles
            that are met one by one, ``""`` where it has none.
    """

    kind: int
    size: Callable[[Any], Size] = no_size
    shell: Callable[[Any], float] = no_shell
    vertices: str = ""


TABLE: dict[type[Any], Entry] = {
    Sphere: Entry(solid.SPHERE, shell=lambda s: s.radius),
    Capsule: Entry(solid.CAPSULE, lambda s: (0.0, 0.0, 0.5 * s.length - s.radius), lambda s: s.radius),
    Box: Entry(solid.BOX, lambda s: (0.5 * s.x, 0.5 * s.y, 0.5 * s.z), vertices="hull"),
    Cylinder: Entry(solid.CYLINDER, lambda s: (s.radius, s.radius, 0.5 * s.length)),
    Cone: Entry(solid.CONE, lambda s: (s.radius, s.radius, 0.5 * s.height)),
    Ellipsoid: Entry(solid.ELLIPSOID, lambda s: (s.x, s.y, s.z)),
    ConvexHull: Entry(solid.HULL, vertices="hull"),
    Plane: Entry(solid.PLANE),
    Mesh: Entry(solid.MESH, vertices="surface"),
    HeightField: Entry(solid.MESH, vertices="surface"),
}


def entry_of(shape: Any, body: str) -> Entry:
    """How a shape of a body collides; a class without an entry is refused.

    Args:
        shape: One convex part or surface, not a compound.
        body: Name of the body.
    """
    for known in type(shape).__mro__:
        if known in TABLE:
            return TABLE[known]
    names = ", ".join(sorted(f"rb.{known.__name__}" for known in TABLE))
    raise InputError(
        f"A collision shape of body {body!r} is of the class {type(shape).__name__}, which contacts do not know; use "
        f"one of {names}, an rb.Compound of these, or collision=None."
    )
