"""Where a figure is on the ground: the place and the heading of its hips, and poses moved over the ground.

Figures are in metres with z up and look along x at rest, as ``figure.in_world`` makes them. The hips are the first
joint from the root outwards on which several hang; what stands above them stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]


def hips_of(skeleton: Skeleton) -> int:
    """Number of the joint that carries a figure over the ground."""
    j = 0
    while len(children := skeleton.children(skeleton.joints[j].name)) == 1:
        j = skeleton.number(children[0])
    return j


def where(skeleton: Skeleton, pose: Pose) -> tuple[Floats, Floats]:
    """Place of the hips on the ground (..., 2) [m], and the heading, the turn about z from x (...) [rad]."""
    hips = hips_of(skeleton)
    frame, rest = (skeleton.matrices(p)[..., hips, :, :] for p in (pose, skeleton.rest))
    forward = (frame[..., :3, :3] @ np.linalg.inv(rest[:3, :3]))[..., :, 0]
    return frame[..., :2, 3], np.arctan2(forward[..., 1], forward[..., 0])


def moved(skeleton: Skeleton, pose: Pose, place: ArrayLike, heading: ArrayLike = 0.0) -> Pose:
    """A pose turned about z through the origin, and then shifted over the ground.

    Args:
        skeleton: Its skeleton.
        pose: The pose, or a stack of them.
        place: Where the origin goes (..., 2) or (..., 3) [m].
        heading: By how much it is turned (...) [rad].
    """
    hips = hips_of(skeleton)
    shift = np.asarray(place, dtype=np.float64)
    if shift.shape[-1] == 2:
        shift = np.concatenate([shift, np.zeros((*shift.shape[:-1], 1))], axis=-1)
    turn = rotation.quaternion_from_axis_angle((0.0, 0.0, 1.0), heading)
    parent = skeleton.parents[hips]
    above = np.eye(4) if parent < 0 else skeleton.matrices(skeleton.rest)[parent]
    down = np.linalg.inv(above)
    size = float(np.cbrt(np.linalg.det(above[:3, :3])))
    axes = rotation.quaternion_from_matrix(above[:3, :3] / size)
    inward = rotation.multiply(rotation.conjugate(axes), rotation.multiply(turn, axes))
    point = pose.translation[..., hips, :] @ above[:3, :3].T + above[:3, 3]
    place_now = rotation.rotate(turn, point) + shift
    shape = np.broadcast_shapes(pose.shape, place_now.shape[:-1])
    turns, ways = (
        np.array(np.broadcast_to(part, (*shape, *part.shape[-2:]))) for part in (pose.rotation, pose.translation)
    )
    turns[..., hips, :] = rotation.multiply(inward, pose.rotation[..., hips, :])
    ways[..., hips, :] = place_now @ down[:3, :3].T + down[:3, 3]
    return Pose(turns, ways, np.broadcast_to(pose.scale, (*shape, *pose.scale.shape[-2:])))


def grounded(skeleton: Skeleton, pose: Pose) -> Pose:
    """A pose above the origin, heading along x; its height stays."""
    place, heading = where(skeleton, pose)
    cosine, sine = np.cos(heading), np.sin(heading)
    x, y = np.moveaxis(place, -1, 0)
    back = np.stack([-(cosine * x + sine * y), sine * x - cosine * y], axis=-1)
    return moved(skeleton, pose, back, -heading)
