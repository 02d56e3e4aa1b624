"""A body held at a point: what hands and arrows need to know of it.

    x = p + R r

x grabbed point in the world, p centre of mass, R rotation of the body, r the point in its axes from the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.maths.rotation import conjugate, rotate
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.layout import SIGNS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene
    from rattleback.viewer.frame import Frame, Picture

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grab:
    """A point of a body that is held.

    Attributes:
        body: Name of the body.
        local: The point in the axes of the body, from its centre of mass (3,) [m].
        picture: Number of the picture in which it was grabbed.
        offset: Where that picture stands on the page (3,) [m].
        mass: Mass of the body [kg].
        size: Its longest side [m].
    """

    body: str
    local: Floats
    picture: int
    offset: Floats
    mass: float
    size: float

    def on_page(self, frame: Frame) -> Floats | None:
        """Where the point is on the page (3,) [m]; None where the body is gone."""
        if self.picture >= len(frame.pictures) or self.body not in frame.pictures[self.picture].scene:
            return None
        picture = frame.pictures[self.picture]
        row = picture.scene.index(self.body)
        return point_of(picture.position[row], picture.orientation[row], self.local) + self.offset


def grab(picture: Picture, name: str, point: ArrayLike, number: int = 0, offset: ArrayLike = (0.0, 0.0, 0.0)) -> Grab:
    """Hold a body at a point.

    Args:
        picture: What the user sees.
        name: Name of the body.
        point: Where it is grabbed on the page (3,) [m].
        number: Number of the picture.
        offset: Where the picture stands on the page (3,) [m].
    """
    body, row = picture.scene[name], picture.scene.index(name)
    there = np.asarray(offset, dtype=np.float64)
    arm = np.asarray(point, dtype=np.float64) - there - picture.position[row]
    local = rotate(conjugate(picture.orientation[row]), arm)
    return Grab(name, local, number, there, body.mass, size_of(body))


def point_of(position: Floats, orientation: Floats, local: Floats) -> Floats:
    """Where a point of a body is in the world (..., 3) [m]."""
    return np.asarray(position + rotate(orientation, local))


def corners_of(body: Body) -> Floats:
    """Corners of boxes around the solids of a body, in its axes from its centre of mass (corners, 3) [m]."""
    found = [np.zeros((0, 3))]
    for shape, place, turn in solids(body):
        low, high = shape.bounds()
        if np.all(np.isfinite(high - low)):
            found.append(place + rotate(turn, low + SIGNS * (high - low)) - body.center_of_mass)
    return np.concatenate(found)


def size_of(body: Body) -> float:
    """The longest side of what a body looks like [m]; 1 for what cannot be seen."""
    corners = corners_of(body)
    return float(np.ptp(corners, axis=0).max()) if len(corners) else 1.0


def reach_of(body: Body) -> float:
    """How far a body goes from its centre of mass [m]."""
    if len(corners := corners_of(body)):
        return float(np.linalg.norm(corners, axis=1).max())
    return 0.5 * size_of(body)


def mechanism(scene: Scene, name: str) -> list[Any]:
    """The bodies that can move and hang on a body by joints, itself the first."""
    beside: dict[str, list[str]] = {}
    for joint in scene.joints.values():
        beside.setdefault(joint.a, []).append(joint.b)
        beside.setdefault(joint.b, []).append(joint.a)
    found, waiting = {name: scene[name]}, [name]
    while waiting:
        for other in beside.get(waiting.pop(), ()):
            if other not in found and other in scene and not scene[other].static:
                found[other] = scene[other]
                waiting.append(other)
    return list(found.values())


def total_mass(scene: Scene, name: str) -> float:
    """Mass of a body and of all that hangs on it by joints [kg]."""
    return float(sum(body.mass for body in mechanism(scene, name)))
