"""Cones: how far the ball joints of a ragdoll swing and twist, so that no limb goes through the body.

    swing  ∠(a, b) ≤ α        twist  τ₁ ≤ θ ≤ τ₂

a axis of the cone, fixed to the part before, b that of the bone, α and τ as the limits of the joint say: the cone opens
around the middle of the two turns across the bone, as wide as the wider of them; the turn about the bone is the
twist. A joint without limits has those of its kind in people, where the skeleton has two legs. All are as much wider
as the clips of the figure need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.acting.anatomy import Anatomy, anatomy
from rattleback.characters.motion.limb import shortest_turn
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# Room beyond what clips need, and the widest cone and twist there are [rad].
ROOM, WIDEST = 0.05, 3.0
# Of a joint by what it is: how far the cone is bent forwards, or as the joint bends, how wide it is, and the twist
# [rad].
THIGH, SHANK, FOOT = (0.6, 1.2, 0.7), (1.1, 1.2, 0.2), (0.0, 0.7, 0.4)
UPPER_ARM, FOREARM, HAND = (0.5, 1.7, 1.5), (1.2, 1.3, 1.4), (0.0, 1.2, 0.5)
TRUNK, NECK, OTHER = (0.1, 0.5, 0.5), (0.0, 0.6, 0.8), (0.0, 0.5, 0.5)


@dataclass(frozen=True)
class Cone:
    """The limits of one ball joint.

    Attributes:
        axis: Axis of the cone in the world, at rest (3,).
        bone: Axis of the bone in the world, at rest (3,).
        swing: Largest angle between the two [rad]; None where free.
        twist: Least and largest turn about the bone [rad]; None where free.
    """

    axis: Floats
    bone: Floats
    swing: float | None
    twist: tuple[float, float] | None

    def options(self) -> dict[str, Any]:
        """What a ball joint takes."""
        return {"axis": self.axis, "axis_b": self.bone, "swing": self.swing, "twist": self.twist}

    def angles(self, before: Floats, turn: Floats) -> tuple[Floats, Floats]:
        """Swing and twist (...) [rad], the part before and this one turned so from rest (..., 4)."""
        here = rotation.multiply(rotation.conjugate(before), turn)
        bone = rotation.rotate(here, self.bone)
        across = np.linalg.norm(np.cross(self.axis, bone), axis=-1)
        first = _frame(self.axis)
        second = rotation.multiply(shortest_turn(self.axis, self.bone), first)
        q = rotation.multiply(rotation.conjugate(first), rotation.multiply(here, second))
        half = np.arctan2(q[..., 2], q[..., 3])
        return np.arctan2(across, bone @ self.axis), 2.0 * (half - np.pi * np.round(half / np.pi))

    def wider(self, swing: float, twist: Floats) -> Cone:
        """A cone that takes a swing and twists from the least to the largest [rad], too."""
        held = None if self.swing is None else min(max(self.swing, swing + ROOM), WIDEST)
        pair = self.twist
        if pair is not None:
            low, high = min(pair[0], float(twist[0]) - ROOM), max(pair[1], float(twist[1]) + ROOM)
            pair = (max(low, -WIDEST), min(high, WIDEST))
        return Cone(self.axis, self.bone, held, pair)


def cone_of_limits(skeleton: Skeleton, joint: int, bone: Floats) -> Cone:
    """The cone of a joint with limits.

    Args:
        skeleton: The skeleton.
        joint: Number of the joint.
        bone: About where the bone lies in the world, at rest (3,).
    """
    axes = skeleton.matrices(skeleton.rest)[joint, :3, :3]
    axes = axes / np.linalg.norm(axes, axis=0)
    along = axes.T @ bone
    t = int(np.argmax(np.abs(along)))
    pairs = [skeleton.joints[joint].limits[2 - k] for k in range(3)]
    own = np.sign(along[t]) * axes[:, t]
    across = [pairs[k] for k in range(3) if k != t]
    turn = np.array([0.0, 0.0, 0.0, 1.0])
    for k in (2, 1, 0):
        if k != t and pairs[k] is not None:
            turn = rotation.multiply(turn, rotation.quaternion_from_axis_angle(np.eye(3)[k], 0.5 * sum(pairs[k])))
    middle = axes @ rotation.rotate(turn, axes.T @ own)
    widest = None if None in across else max(0.5 * (pair[1] - pair[0]) for pair in across)
    twist = None
    if pairs[t] is not None:
        ends = sorted(float(np.sign(along[t]) * end) for end in pairs[t])
        twist = (max(ends[0] - ROOM, -WIDEST), min(ends[1] + ROOM, WIDEST))
    if widest is not None and widest >= WIDEST:
        widest = None
    return _holding(Cone(middle, own, widest, twist))


def cones_of_people(skeleton: Skeleton, bones: dict[int, Floats]) -> dict[int, Cone]:
    """Cones of joints without limits, by what they are; none where the skeleton is not that of a person.

    Args:
        skeleton: The skeleton.
        bones: About where the bone of each joint lies in the world, at rest (3,).
    """
    try:
        parts = anatomy(skeleton)
    except InputError:
        return {}
    kinds = _kinds(parts)
    found = {}
    for j, bone in bones.items():
        (ahead, swing, twist), axis = kinds.get(skeleton.names[j], (OTHER, None))
        axis = np.cross(bone, (1.0, 0.0, 0.0)) if axis is None else axis
        size = float(np.linalg.norm(axis))
        turn = rotation.quaternion_from_axis_angle(axis / size, ahead) if size > 1e-6 else np.array([0.0, 0, 0, 1.0])
        found[j] = _holding(Cone(rotation.rotate(turn, bone), bone, swing, (-twist, twist)))
    return found


def _kinds(parts: Anatomy) -> dict[str, tuple[tuple[float, float, float], Floats | None]]:
    """What joints are by their names, with the axis about which elbows and knees bend in the world, at rest."""
    found: dict[str, tuple[tuple[float, float, float], Floats | None]] = {}
    for name in parts.spine:
        found[name] = (TRUNK, None)
    for name in parts.neck:
        found[name] = (NECK, None)
    frames = parts.skeleton.matrices(parts.skeleton.rest)
    limbs = [(leg.limb, True, (THIGH, SHANK, FOOT)) for leg in parts.legs]
    limbs += [(arm, False, (UPPER_ARM, FOREARM, HAND)) for arm in parts.arms.values()]
    for limb, leg, kinds in limbs:
        axis = frames[limb.numbers(parts.skeleton)[0], :3, :3] @ parts.bend(limb, leg)
        for name, kind in zip((limb.upper, limb.hinge, limb.end), kinds, strict=True):
            found[name] = (kind, axis if name == limb.hinge else None)
    return found


def _holding(cone: Cone) -> Cone:
    """A cone that is wide enough for the figure at rest."""
    unturned = np.array([0.0, 0.0, 0.0, 1.0])
    swing, twist = cone.angles(unturned, unturned)
    return cone.wider(float(swing), np.array([twist, twist]))


def _frame(axis: Floats) -> Floats:
    return shortest_turn(np.array([0.0, 0.0, 1.0]), axis)
