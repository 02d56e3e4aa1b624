"""Two bones and a hinge between them: where a leg or an arm must bend so that its end is at a place.

    cos β = (a² + b² − d²) / (2 a b)

a, b lengths of the bones, d distance of the goal from the first joint, β angle between the bones. The bones stay in the
plane in which they are bent; a limb that is straight bends as a given axis says. A goal that is too far is reached for
by the straight limb, and the pose says how far it is off by its frames.

Cost: closed form, all poses of a stack at once.

Reference: lecture notes on forward and inverse kinematics, the planar arm of two links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# A limb is bent at least by this part of its length, so that its plane is known.
STRAIGHT = 1e-4
# About this much a limb with a bend of its own is bent at least before it is turned, so that its plane is clear [rad].
LEAST = 0.15
UNTURNED = (0.0, 0.0, 0.0, 1.0)


@sealed
@dataclass(frozen=True)
class Limb:
    """A leg or an arm: its upper joint, its hinge and its end, by name, each hanging on the one before.

    Args:
        upper: Hip or shoulder.
        hinge: Knee or elbow.
        end: Ankle or wrist.
    """

    upper: str
    hinge: str
    end: str

    def numbers(self, skeleton: Skeleton) -> tuple[int, int, int]:
        """Numbers of its joints in a skeleton, which must have it."""
        a, b, c = (skeleton.number(name) for name in (self.upper, self.hinge, self.end))
        for child, parent in ((b, a), (c, b)):
            if not _hangs(skeleton, child, parent):
                names = skeleton.names
                raise InputError(f"Joint {names[child]!r} of a limb does not hang on {names[parent]!r}.")
        return a, b, c


def reached(skeleton: Skeleton, pose: Pose, limb: Limb, goal: ArrayLike, bend: Any = None) -> Pose:
    """A pose with the end of a limb at a place, oriented in the world as it was.

    Args:
        skeleton: Its skeleton.
        pose: The pose, or a stack of them.
        limb: The limb.
        goal: Where its end must be, in the world (3,) or (..., 3).
        bend: Axis in the frame of the upper joint about which the limb bends (3,), so that knees and elbows never bend
            the other way; if left out, a limb bends as it is bent, and one that is straight about y.
    """
    a, b, c = limb.numbers(skeleton)
    frames = skeleton.matrices(pose)
    hip, knee, ankle = (frames[..., j, :3, 3] for j in (a, b, c))
    wanted = np.broadcast_to(np.asarray(goal, dtype=np.float64), hip.shape)
    thigh, shank = knee - hip, ankle - knee
    spare = rotation.rotate(_turn(frames[..., a, :, :]), np.asarray((0.0, 1.0, 0.0) if bend is None else bend))
    before = np.tile(UNTURNED, (*hip.shape[:-1], 1)) if bend is None else _bent(thigh, shank, spare)
    shank = rotation.rotate(before, shank)
    axis = np.cross(thigh, shank)
    axis = np.where(_length(axis) > STRAIGHT * _length(thigh) * _length(shank), axis, spare)
    axis = axis / _length(axis)
    # The knee first: a turn about the axis of the plane that gives the limb its new length.
    inner = _angle(thigh, shank, wanted - hip) - _angle(thigh, shank, thigh + shank)
    knee_turn = rotation.multiply(rotation.quaternion_from_axis_angle(axis, inner[..., 0]), before)
    # Then the hip: the shortest turn from where the end is now to where it must be.
    hip_turn = shortest_turn(thigh + rotation.rotate(knee_turn, ankle - knee), wanted - hip)
    found = turned(skeleton, pose, frames, a, hip_turn)
    found = turned(skeleton, found, skeleton.matrices(found), b, _carried(hip_turn, knee_turn))
    back = rotation.conjugate(rotation.multiply(hip_turn, knee_turn))
    return turned(skeleton, found, skeleton.matrices(found), c, back)


def _bent(thigh: Floats, shank: Floats, axis: Floats) -> Floats:
    """Turns of the shank that bend a limb which is almost straight, or bent the other way, about an axis (..., 4)."""
    now = np.arctan2((np.cross(thigh, shank) * axis).sum(axis=-1), (thigh * shank).sum(axis=-1))
    wanted = 0.5 * (now + LEAST + np.sqrt((now - LEAST) ** 2 + LEAST**2))
    return rotation.quaternion_from_axis_angle(axis, wanted - now)


def _angle(thigh: Floats, shank: Floats, way: Floats) -> Floats:
    """Angle by which the shank is bent against the thigh when the end is as far as a way (..., 1) [rad]."""
    a, b = _length(thigh), _length(shank)
    d = np.clip(_length(way), np.abs(a - b), a + b)
    return np.asarray(np.arccos(np.clip((d * d - a * a - b * b) / (2.0 * a * b), -1.0, 1.0)))


def turned(skeleton: Skeleton, pose: Pose, frames: Floats, joint: int, turn: Floats) -> Pose:
    """A pose with a joint, and all that hangs on it, turned by a turn in the world.

    Args:
        skeleton: Its skeleton.
        pose: The pose, or a stack of them.
        frames: Its frames in the world (..., joints, 4, 4).
        joint: Number of the joint.
        turn: The turn (..., 4), quaternion x, y, z, w.
    """
    parent = skeleton.parents[joint]
    above = np.eye(4) if parent < 0 else frames[..., parent, :, :]
    axes = _turn(above)
    inward = rotation.multiply(rotation.conjugate(axes), rotation.multiply(turn, axes))
    found = np.array(np.broadcast_to(pose.rotation, (*frames.shape[:-3], *pose.rotation.shape[-2:])))
    found[..., joint, :] = rotation.multiply(inward, found[..., joint, :])
    return Pose(found, pose.translation, pose.scale)


def _carried(outer: Floats, inner: Floats) -> Floats:
    """A turn in the world, carried along by another: outer · inner · outer⁻¹."""
    return rotation.multiply(rotation.multiply(outer, inner), rotation.conjugate(outer))


def _turn(frame: Floats) -> Floats:
    """Quaternions (..., 4) of frames (..., 4, 4), whatever their scale."""
    linear = frame[..., :3, :3]
    return rotation.quaternion_from_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True))


def shortest_turn(start: Floats, end: Floats) -> Floats:
    """The shortest turns from vectors (..., 3) to others: quaternions (..., 4)."""
    u, v = start / _length(start), end / _length(end)
    cosine = (u * v).sum(axis=-1, keepdims=True)
    found = np.concatenate([np.cross(u, v), 1.0 + cosine], axis=-1)
    around = np.concatenate([np.cross(u, np.roll(u, 1, axis=-1)), np.zeros_like(cosine)], axis=-1)
    found = np.where(cosine > -1.0 + 1e-12, found, around)
    return np.asarray(found / _length(found))


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1, keepdims=True))


def _hangs(skeleton: Skeleton, child: int, parent: int) -> bool:
    while child >= 0:
        child = int(skeleton.parents[child])
        if child == parent:
            return True
    return False
