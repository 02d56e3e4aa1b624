"""Blending poses: weighted means, layers for some joints, and transitions over time.

    q = Σ ± w_k q_k / |Σ ± w_k q_k|,   x = Σ w_k x_k

w_k weights that sum to one, q_k rotations, x_k translations or scales; signs are such that no q_k points away from the
first. With one weight of one the pose is that one, to the bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose, slerp
from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]


def blend(poses: Sequence[Pose], weights: ArrayLike) -> Pose:
    """The weighted mean of poses of one skeleton.

    Args:
        poses: Poses, or stacks of them that are alike.
        weights: One for each (n,), or for each and each of the stack (n, ...); they are normalised.
    """
    shares = checks.finite(weights, "The weights of a blend")
    if not poses or len(shares) != len(poses) or (shares < 0.0).any() or (shares.sum(axis=0) <= 0.0).any():
        raise InputError(
            f"A blend of {len(poses)} poses has the weights {shares.tolist()}; it needs one for each, none below zero, "
            "not all zero."
        )
    shares = shares / shares.sum(axis=0)
    turns = np.zeros(np.broadcast_shapes(*(pose.rotation.shape for pose in poses), (*shares.shape[1:], 1, 1)))
    ways, scales = np.zeros((2, *turns.shape[:-1], 3))
    first = poses[0].rotation
    for share, pose in zip(shares, poses, strict=True):
        w = share[..., None, None]
        if (share == 1.0).all():
            return pose
        turns += w * np.where((pose.rotation * first).sum(axis=-1, keepdims=True) < 0.0, -pose.rotation, pose.rotation)
        ways, scales = ways + w * pose.translation, scales + w * pose.scale
    length = np.linalg.norm(turns, axis=-1, keepdims=True)
    return Pose(np.where(length > 1e-9, turns / np.where(length > 1e-9, length, 1.0), first), ways, scales)


def mix(first: Pose, second: Pose, part: Any) -> Pose:
    """The pose on the way from one to another, rotations on the shorter arc.

    Args:
        first: The pose at part 0.
        second: The pose at part 1.
        part: How far to go, from 0 to 1: one number, one for each pose of a stack (...), or each joint (..., joints).
    """
    t = checks.finite(part, "The part of a mix")
    if (t < 0.0).any() or (t > 1.0).any():
        raise InputError(f"The part of a mix is {t.tolist()}; it goes from 0 to 1.")
    each = np.broadcast_to(t if t.shape[-1:] == (first.count,) else t[..., None], first.rotation.shape[:-1])
    way = each[..., None]
    turns = slerp(first.rotation, np.broadcast_to(second.rotation, first.rotation.shape), each)
    return Pose(
        turns,
        first.translation + way * (second.translation - first.translation),
        first.scale + way * (second.scale - first.scale),
    )


def layer(skeleton: Skeleton, base: Pose, top: Pose, joints: Iterable[str], weight: float = 1.0) -> Pose:
    """A pose with the rotations of another on some joints and all that hangs on them, such as a waving arm.

    Args:
        skeleton: The skeleton of both.
        base: What the other joints do.
        top: What these do.
        joints: Names of the joints.
        weight: How much of it, from 0 to 1.
    """
    share = branch(skeleton, joints) * checks.number(weight, "The weight of a layer")
    turned = mix(base, top, np.broadcast_to(share, base.rotation.shape[:-1]))
    return Pose(turned.rotation, base.translation, base.scale)


def branch(skeleton: Skeleton, joints: Iterable[str]) -> Floats:
    """1 for the joints that are named and all that hangs on them, else 0 (joints,)."""
    found = np.zeros(len(skeleton))
    for name in joints:
        found[skeleton.number(name)] = 1.0
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            found[j] = max(found[j], found[parent])
    return found


def eased(part: ArrayLike) -> Any:
    """A part of a transition that begins and ends gently: 3 t² − 2 t³, between 0 and 1."""
    t = np.clip(np.asarray(part, dtype=np.float64), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
