"""Aims: looking at a point and reaching for one, on top of any pose.

    look    d = R_chestᵀ (p − head),  azimuth and elevation of d within limits;  the turn that is left is shared
            φ_k = c_k φ along spine, neck and head, the head makes up what these leave
    reach   the arm in closed form; where |p − shoulder| > l, the spine bends about s × (p − b) by
            δ = (|p − shoulder| − l) / |s| at most, until it is in reach or has bent as far as it may

p point, s way from the lowest joint b of the spine to the shoulder, l length of the arm. Both answer how far off they
are.

Cost: closed form for looking; some ten turns of the spine for reaching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.characters.motion.blend import mix
from rattleback.characters.motion.limb import reached, shortest_turn, turned
from rattleback.characters.pose import Pose
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.acting.anatomy import Anatomy

    Floats = NDArray[np.float64]

# How far the head turns against the chest to a side, and up or down; how far the spine bends for an arm [rad].
SIDEWAYS, UPWARDS, BENT = 1.3, 0.8, 0.9
# What the spine does of a look, an arm's length that counts as in reach, turns of the spine at most.
SPINE, REACH, TURNS = 0.15, 0.98, 12


class Aimed(NamedTuple):
    """A pose that aims at a point, and how far off it is.

    Attributes:
        pose: The pose.
        off: Angle between the look and the point [rad], or way from the hand to the point [m].
    """

    pose: Pose
    off: float


def look_at(parts: Anatomy, pose: Pose, point: ArrayLike, weight: float = 1.0) -> Aimed:
    """A pose whose head looks at a point, as far as the neck goes.

    Args:
        parts: What the joints are, as ``anatomy`` finds it.
        pose: The pose.
        point: The point in the world (3,) [m].
        weight: How much of it, from 0 to 1.
    """
    if not parts.neck:
        raise InputError(f"{parts.skeleton.name!r} has no head to look with: nothing but arms hangs on its spine.")
    goal = checks.vector(point, "The point to look at")
    skeleton, found = parts.skeleton, pose
    head = skeleton.number(parts.neck[-1])
    chest = skeleton.number(parts.spine[-1] if parts.spine else parts.hips)
    chain = [skeleton.number(name) for name in (*parts.spine, *parts.neck)]
    shares = [SPINE / max(1, len(parts.spine))] * len(parts.spine)
    shares += [(1.0 - SPINE) / len(parts.neck)] * (len(parts.neck) - 1) + [1.0]
    start = skeleton.matrices(pose)
    whole = rotation.rotation_vector_from_quaternion(
        shortest_turn(_gaze(parts, start, head), _within(parts, start, chest, goal - start[head, :3, 3]))
    )
    for j, share in zip(chain, shares, strict=True):
        frames = skeleton.matrices(found)
        turn = rotation.quaternion_from_rotation_vector(share * whole)
        if j == head:
            turn = shortest_turn(_gaze(parts, frames, head), _within(parts, frames, chest, goal - frames[head, :3, 3]))
        found = turned(skeleton, found, frames, j, turn)
    found = found if weight == 1.0 else mix(pose, found, checks.number(weight, "The weight of a look"))
    frames = skeleton.matrices(found)
    way = goal - frames[head, :3, 3]
    cosine = _gaze(parts, frames, head) @ way / max(float(np.linalg.norm(way)), 1e-12)
    return Aimed(found, float(np.arccos(np.clip(cosine, -1.0, 1.0))))


def reach_for(parts: Anatomy, pose: Pose, hand: str, point: ArrayLike, weight: float = 1.0) -> Aimed:
    """A pose with a hand at a point; the spine bends where the arm is too short.

    Args:
        parts: What the joints are, as ``anatomy`` finds it.
        pose: The pose.
        hand: ``"left_hand"`` or ``"right_hand"``.
        point: The point in the world (3,) [m].
        weight: How much of it, from 0 to 1.
    """
    goal = checks.vector(point, "The point to reach for")
    skeleton, limb = parts.skeleton, parts.arm(hand)
    shoulder, _, wrist = limb.numbers(skeleton)
    rest = skeleton.matrices(skeleton.rest)[:, :3, 3]
    joints = limb.numbers(skeleton)
    long = REACH * float(np.linalg.norm(np.diff(rest[list(joints)], axis=0), axis=1).sum())
    found = _bent(parts, pose, shoulder, goal, long)
    found = reached(skeleton, found, limb, goal, bend=parts.bend(limb, leg=False))
    turns = np.array(found.rotation)
    turns[wrist] = pose.rotation[wrist]  # the hand goes along with the forearm
    found = Pose(turns, found.translation, found.scale)
    found = found if weight == 1.0 else mix(pose, found, checks.number(weight, "The weight of a reach"))
    return Aimed(found, float(np.linalg.norm(skeleton.matrices(found)[wrist, :3, 3] - goal)))


def _bent(parts: Anatomy, pose: Pose, shoulder: int, goal: Floats, long: float) -> Pose:
    """A pose whose spine brings a shoulder within an arm's length of a point, as far as it may bend."""
    skeleton, found, left = parts.skeleton, pose, BENT
    spine = [skeleton.number(name) for name in parts.spine]
    for _ in range(TURNS if spine else 0):
        frames = skeleton.matrices(found)
        way = goal - frames[shoulder, :3, 3]
        short = float(np.linalg.norm(way)) - long
        if short <= 1e-6 or left <= 1e-6:
            break
        base = frames[spine[0], :3, 3]
        lever = frames[shoulder, :3, 3] - base
        axis = np.cross(lever, goal - base)
        if np.linalg.norm(axis) < 1e-9:
            break
        angle = min(left, short / float(np.linalg.norm(lever)), 0.3)
        left -= angle
        turn = rotation.quaternion_from_axis_angle(axis / np.linalg.norm(axis), angle / len(spine))
        for j in spine:
            found = turned(skeleton, found, skeleton.matrices(found), j, turn)
    return found


def _gaze(parts: Anatomy, frames: Floats, joint: int) -> Floats:
    """Where a joint looks that looks along x at rest (3,)."""
    rest = parts.skeleton.matrices(parts.skeleton.rest)[joint, :3, :3]
    found = frames[joint, :3, :3] @ np.linalg.inv(rest)
    return np.asarray(found[:, 0] / np.linalg.norm(found[:, 0]))


def _within(parts: Anatomy, frames: Floats, chest: int, way: Floats) -> Floats:
    """The direction nearest to a way that the head turns to against the chest (3,)."""
    rest = parts.skeleton.matrices(parts.skeleton.rest)[chest, :3, :3]
    axes = frames[chest, :3, :3] @ np.linalg.inv(rest)
    axes = axes / np.linalg.norm(axes, axis=0)
    x, y, z = axes.T @ way
    around = float(np.clip(np.arctan2(y, x), -SIDEWAYS, SIDEWAYS))
    up = float(np.clip(np.arctan2(z, np.hypot(x, y)), -UPWARDS, UPWARDS))
    local = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    return np.asarray(axes @ local)
