"""Skeletons as kinematic trees: a ball joint is a series of three turns without length.

    R = R_rest · R_z(α) R_y(β) R_x(γ)

The turns are those from the pose at rest, about the axes of the joint; the angle in the middle is that of y, whose
quarter turn is the gimbal lock. A tree has no scale: the one at rest is in the lengths of its links, and must be the
same along all axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.kinematics.link import HERE, Link
from rattleback.kinematics.tree import Tree
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Joint, Skeleton

    Floats = NDArray[np.float64]

AXES = np.eye(3)
# Scales along the three axes may differ by this part.
ALIKE = 1e-3


def tree_of(skeleton: Skeleton, on: str = "cpu") -> Tree:
    """The tree of a skeleton."""
    sizes = _sizes(skeleton)
    links: list[Link] = []
    for joint, parent in zip(skeleton.joints, skeleton.parents, strict=True):
        size = sizes[parent] if parent >= 0 else 1.0
        place = (tuple(size * np.asarray(joint.translation)), joint.rotation)
        links += _links(joint, place, parent < 0)
    return Tree(links, name=skeleton.name, on=on)


def coordinates_of(skeleton: Skeleton, pose: Pose) -> Floats:
    """The configuration of the tree at a pose (..., coordinates)."""
    rest, columns = skeleton.rest, []
    for j, (joint, parent) in enumerate(zip(skeleton.joints, skeleton.parents, strict=True)):
        if parent < 0:
            way = pose.translation[..., j, :] - rest.translation[j]
            columns += [rotation.rotate(rotation.conjugate(rest.rotation[j]), way)]
        if not joint.end:
            turn = rotation.multiply(rotation.conjugate(rest.rotation[j]), pose.rotation[..., j, :])
            columns += [rotation.euler_from_quaternion(turn, "ZYX")]
    return np.concatenate(columns, axis=-1)


def pose_of(skeleton: Skeleton, q: Any) -> Pose:
    """The pose at a configuration of the tree."""
    wanted = sum(
        3 * (parent < 0) + 3 * (not j.end) for j, parent in zip(skeleton.joints, skeleton.parents, strict=True)
    )
    given = checks.finite(q, "A configuration of a skeleton")
    if given.shape[-1:] != (wanted,):
        raise InputError(
            f"A configuration of {skeleton.name!r} has shape {given.shape}; its last axis must be {wanted}, one for "
            "each coordinate of its tree."
        )
    rest, column = skeleton.rest, 0
    turns, ways = (
        np.broadcast_to(part, (*given.shape[:-1], *part.shape)).copy() for part in (rest.rotation, rest.translation)
    )
    for j, (joint, parent) in enumerate(zip(skeleton.joints, skeleton.parents, strict=True)):
        if parent < 0:
            ways[..., j, :] += rotation.rotate(rest.rotation[j], given[..., column : column + 3])
            column += 3
        if not joint.end:
            turn = rotation.quaternion_from_euler(given[..., column : column + 3], "ZYX")
            turns[..., j, :] = rotation.multiply(rest.rotation[j], turn)
            column += 3
    return Pose(turns, ways, rest.scale)


def _links(joint: Joint, place: Any, root: bool) -> list[Link]:
    """The links of a joint; the last has its name."""
    freedoms: list[tuple[str, str, Any, Any]] = []
    if root:
        freedoms += [("prismatic", f"slide_{axis}", AXES[k], None) for k, axis in enumerate("xyz")]
    if not joint.end:
        limits = joint.limits or (None, None, None)
        freedoms += [("revolute", f"turn_{'xyz'[k]}", AXES[k], limits[2 - k]) for k in (2, 1, 0)]
    if not freedoms:
        return [Link(joint.name, joint.parent, "fixed", place)]
    links, parent = [], joint.parent
    for kind, freedom, axis, limit in freedoms:
        name = f"{joint.name}.{freedom}"
        links.append(Link(name, parent, kind, place, tuple(axis), limits=limit))
        parent, place = name, HERE
    return [*links, Link(joint.name, parent, "fixed")]


def _sizes(skeleton: Skeleton) -> list[float]:
    """The scale of each joint in the world, at rest."""
    found: list[float] = []
    for joint, parent in zip(skeleton.joints, skeleton.parents, strict=True):
        scale = np.asarray(joint.scale)
        if np.ptp(scale) > ALIKE * np.abs(scale).max():
            raise InputError(
                f"Joint {joint.name!r} of {skeleton.name!r} has the scale {scale.tolist()} at rest; a tree needs the "
                "same along all axes."
            )
        found.append(float(scale.mean()) * (found[parent] if parent >= 0 else 1.0))
    return found
