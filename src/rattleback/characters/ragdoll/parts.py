"""The parts of a ragdoll: which joints of a skeleton become bodies, with shapes and masses from a skin.

A vertex belongs to the joint that it follows most. A joint whose vertices fill less than a given part of the figure
goes along with the one before. A part is the capsule that fits its vertices: along their longest direction, as thick as
three quarters of them. Masses are as volumes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.limb import shortest_turn
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.shapes import Capsule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Skeleton
    from rattleback.characters.skin import Skin

    Floats = NDArray[np.float64]

# So many of the vertices lie within the radius of a part.
WITHIN = 0.75


@sealed
@dataclass(frozen=True)
class Part:
    """A body of a ragdoll.

    Attributes:
        joint: Number of its joint.
        shape: Its capsule, along the z axis of the body.
        center: Its centre in the frame of the joint (3,) [m].
        turn: Orientation of the body in that frame, quaternion x, y, z, w.
        mass: Its mass [kg].
    """

    joint: int
    shape: Capsule
    center: tuple[float, float, float]
    turn: tuple[float, float, float, float]
    mass: float


def find_parts(skin: Skin, mass: float, least: float) -> tuple[Part, ...]:
    """The parts of the figure in a skin, parents before children.

    Args:
        skin: The skin, of a skeleton in metres.
        mass: Mass of all parts [kg].
        least: Part of the volume of the figure below which a joint goes along with the one before.
    """
    skeleton = skin.skeleton
    frames = skeleton.matrices(skeleton.rest)
    points = skin.vertices(skeleton.rest)
    owner = skin.joints[np.arange(len(points)), skin.weights.argmax(axis=1)]
    owner = _merged(skeleton, points, owner, least)
    fitted = {}
    for j in np.unique(owner):
        local = (points[owner == j] - frames[j, :3, 3]) @ np.linalg.inv(frames[j, :3, :3]).T
        fitted[int(j)] = _capsule(local * np.cbrt(np.linalg.det(frames[j, :3, :3])))
    volumes = {j: shape.volume() for j, (shape, _, _) in fitted.items()}
    total = sum(volumes.values())
    return tuple(
        Part(j, shape, center, turn, mass * volumes[j] / total) for j, (shape, center, turn) in sorted(fitted.items())
    )


def _merged(skeleton: Skeleton, points: Floats, owner: NDArray[np.int32], least: float) -> NDArray[np.int32]:
    """Owners of vertices, with joints that have little of the figure gone along with the one before."""
    found = owner.copy()
    for j in range(len(skeleton) - 1, 0, -1):
        parent = skeleton.parents[j]
        if parent >= 0 and _volume(points[found == j]) < least * _volume(points):
            found[found == j] = parent
    roots = {int(j) for j in np.unique(found) if not any(_is_above(skeleton, k, int(j)) for k in np.unique(found))}
    if len(roots) > 1:
        names = [skeleton.names[j] for j in sorted(roots)]
        raise InputError(f"The skin of {skeleton.name!r} has no part that joins {names}; a ragdoll hangs together.")
    return found


def _is_above(skeleton: Skeleton, above: int, joint: int) -> bool:
    at = int(skeleton.parents[joint])
    while at >= 0 and at != above:
        at = int(skeleton.parents[at])
    return at == above and at >= 0


def _volume(points: Floats) -> float:
    """About how much room points take: that of the ellipsoid of their spread."""
    if len(points) < 4:
        return 0.0
    return float(np.sqrt(max(0.0, np.linalg.det(np.cov(points.T)))))


def _capsule(points: Floats) -> tuple[Capsule, tuple[float, float, float], tuple[float, float, float, float]]:
    """The capsule that fits points (n, 3), its centre and orientation."""
    middle = points.mean(axis=0)
    axis = np.linalg.svd(points - middle, full_matrices=False)[2][0]
    along = (points - middle) @ axis
    away = np.linalg.norm(points - middle - np.outer(along, axis), axis=1)
    radius = float(np.quantile(away, WITHIN))
    low, high = float(along.min()), float(along.max())
    length = max(high - low, 2.0 * radius)
    x, y, z = middle + 0.5 * (low + high) * axis
    qx, qy, qz, qw = shortest_turn(np.array([0.0, 0.0, 1.0]), axis)
    return Capsule(radius, length), (float(x), float(y), float(z)), (float(qx), float(qy), float(qz), float(qw))
