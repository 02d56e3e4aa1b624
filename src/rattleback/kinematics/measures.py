"""Measures of a configuration: how its Jacobian changes, what it is in Euler angles, and how close to singular it is.

    J̇_i = (ȧ_i × (p − o_i) + a_i × (ṗ − ȯ_i), ȧ_i)  revolute,   (ȧ_i, 0)  prismatic,   ȧ_i = ω_i × a_i
    ω = B(φ) φ̇,   q̇ = ½ Eᵀ ω          J_a = (J_v, B⁻¹ J_ω)  or  (J_v, ½ Eᵀ J_ω)
    manipulability = ∏ σ_k             condition = σ_max / σ_min

a_i axis, o_i place and ω_i angular velocity of joint i, p the point; φ Euler angles, B the axes they turn about, side
by side; σ_k singular values of J, whose angular rows are multiplied by the size of the tree where both kinds are asked.

References: Yoshikawa, "Manipulability of robotic mechanisms", 1985; Siciliano et al., Robotics: Modelling, Planning and
Control, §3.6 (analytic Jacobian) and §3.9 (manipulability).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import euler, rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

PARTS = ("pose", "position", "orientation")
NOWHERE = (0.0, 0.0, 0.0)


class Singular(NamedTuple):
    """What a configuration cannot do.

    Attributes:
        values: Singular values of the Jacobian, largest first.
        lost: Unit motions of the tool, velocity above angular velocity, that no joint motion gives (k, rows).
        idle: Unit motions of the coordinates that do not move the tool (m, coordinates).
    """

    values: Floats
    lost: Floats
    idle: Floats


def jacobian_rate(tree: Tree, q: ArrayLike, rate: ArrayLike, tool: str = "tip", point: ArrayLike = NOWHERE) -> Floats:
    """Time derivative of the geometric Jacobian (..., 6, coordinates) where the coordinates change at a rate.

    Args:
        tree: The tree.
        q: Configurations (..., coordinates).
        rate: q̇ of the same shape [rad/s or m/s].
        tool: Name of the tool or link.
        point: The point of it that is meant, in its frame (3,) [m].
    """
    rows, shape = tree.configurations(q)
    rates, given = tree.configurations(rate, "A rate")
    if given != shape:
        raise InputError(f"The rate has shape {rates.shape}; it must have one for each configuration, {rows.shape}.")
    end = tree.forward(rows, tool)
    where = end[:, :3, 3] + end[:, :3, :3] @ checks.vector(point, "The point")
    frames, found = tree.frames(rows), np.zeros((len(rows), 6, rows.shape[1]))
    moving = _moving(tree, tool, frames, rates)
    for k, joint in enumerate(moving):
        spin, own = _motion(moving[: k + 1], joint.origin)
        _, tip = _motion(moving, where)
        turning = np.cross(spin, joint.axis)
        if joint.revolute:
            linear = np.cross(turning, where - joint.origin) + np.cross(joint.axis, tip - own)
            found[:, 3:, joint.column] += joint.ratio * turning
        else:
            linear = turning
        found[:, :3, joint.column] += joint.ratio * linear
    return found.reshape(*shape, 6, rows.shape[1])


def analytic_jacobian(
    tree: Tree, q: ArrayLike, angles: str = "ZYX", tool: str = "tip", point: ArrayLike = NOWHERE
) -> Floats:
    """How place and orientation of a tool, in numbers, change with the coordinates (..., 6 or 7, coordinates).

    Args:
        tree: The tree.
        q: Configurations (..., coordinates).
        angles: What the orientation is told in: a sequence of ``rb.rotation.SEQUENCES``, or ``"quaternion"`` (x, y, z,
            w, with the sign of ``rb.rotation.quaternion_from_matrix``).
        tool: Name of the tool or link.
        point: The point of it that is meant, in its frame (3,) [m].

    Raises:
        InputError: The angles are at their gimbal lock, where they change by jumps.
    """
    matrix, geometric = tree.forward(q, tool)[..., :3, :3], tree.jacobian(q, tool, point)
    turn = rotation.quaternion_from_matrix(matrix)
    if angles == "quaternion":
        lower = 0.5 * np.swapaxes(rotation.e_matrix(turn), -2, -1) @ geometric[..., 3:, :]
    else:
        axes = _euler_axes(rotation.euler_from_quaternion(turn, angles), angles)
        if (np.abs(np.linalg.det(axes)) < 1e-9).any():
            raise InputError(f"The angles {angles!r} are at their gimbal lock, where they have no rates; take others.")
        lower = np.asarray(np.linalg.solve(axes, geometric[..., 3:, :]), dtype=np.float64)
    return np.concatenate([geometric[..., :3, :], lower], axis=-2)


def manipulability(tree: Tree, q: ArrayLike, tool: str = "tip", part: str = "pose") -> Floats:
    """Product of the singular values of the Jacobian (...): the volume of what unit rates give; zero where singular.

    Args:
        tree: The tree.
        q: Configurations (..., coordinates).
        tool: Name of the tool or link.
        part: ``"pose"``, ``"position"`` or ``"orientation"``.
    """
    return np.asarray(np.linalg.svd(_part(tree, q, tool, part), compute_uv=False).prod(axis=-1))


def condition(tree: Tree, q: ArrayLike, tool: str = "tip", part: str = "pose") -> Floats:
    """Largest over smallest singular value of the Jacobian (...), infinite where singular; as ``manipulability``."""
    values = np.linalg.svd(_part(tree, q, tool, part), compute_uv=False)
    least = values[..., -1]
    lost = least <= 1e-15 * values[..., 0]
    return np.asarray(np.where(lost, np.inf, values[..., 0] / np.where(lost, 1.0, least)))


def singular_directions(
    tree: Tree, q: ArrayLike, tool: str = "tip", part: str = "pose", tolerance: float = 1e-6
) -> Singular:
    """Motions a tool cannot make in one configuration, and motions of the joints that do not move it.

    Args:
        tree: The tree.
        q: A configuration (coordinates,).
        tool: Name of the tool or link.
        part: ``"pose"``, ``"position"`` or ``"orientation"``.
        tolerance: Singular values below this part of the largest count as none.
    """
    rows, shape = tree.configurations(q)
    if shape:
        raise InputError(f"Singular directions are those of one configuration; the shape given is {np.shape(q)}.")
    matrix = _part(tree, rows[0], tool, part)
    u, values, v = np.linalg.svd(matrix)
    rank = int((values > tolerance * max(values[0], 1e-300)).sum())
    return Singular(values, u[:, rank:].T.copy(), v[rank:].copy())


class _Joint(NamedTuple):
    """A joint that moves a tool, in all configurations."""

    revolute: bool
    column: int
    ratio: float
    axis: Floats
    origin: Floats
    speed: Floats


def _moving(tree: Any, tool: str, frames: Floats, rates: Floats) -> list[_Joint]:
    """The joints between the base and a tool."""
    found = []
    for i in tree.path(tool):
        link = tree.links[i]
        if link.joint != "fixed":
            leader, ratio, _ = link.mimic if link.mimic is not None else (link.name, 1.0, 0.0)
            column = tree.coordinates.index(leader)
            axis = frames[:, i, :3, :3] @ np.array(link.axis)
            speed = ratio * rates[:, column, None]
            found.append(_Joint(link.joint == "revolute", column, ratio, axis, frames[:, i, :3, 3], speed))
    return found


def _motion(joints: list[_Joint], place: Floats) -> tuple[Floats, Floats]:
    """Angular velocity of what the joints carry, and velocity of it at a place."""
    spin, velocity = np.zeros_like(place), np.zeros_like(place)
    for joint in joints:
        if joint.revolute:
            spin = spin + joint.speed * joint.axis
            velocity = velocity + joint.speed * np.cross(joint.axis, place - joint.origin)
        else:
            velocity = velocity + joint.speed * joint.axis
    return spin, velocity


def _euler_axes(angles: Floats, sequence: str) -> Floats:
    """The axes the three angles turn about, in the world, side by side (..., 3, 3)."""
    euler.sequence_code(sequence)
    fixed, letters = sequence.islower(), ["xyz".index(letter) for letter in sequence.lower()]
    order, turn, found = (range(3)[::-1] if fixed else range(3)), np.eye(3), np.zeros((*angles.shape, 3))
    turn = np.broadcast_to(turn, (*angles.shape[:-1], 3, 3))
    for k in order:
        axis = np.eye(3)[letters[k]]
        found[..., :, k] = turn @ axis
        turn = turn @ rotation.matrix_from_quaternion(rotation.quaternion_from_axis_angle(axis, angles[..., k]))
    return found


def _part(tree: Tree, q: ArrayLike, tool: str, part: str) -> Floats:
    checks.one_of(part, PARTS, "The part of a Jacobian")
    matrix = tree.jacobian(q, tool)
    if part == "pose":
        matrix[..., 3:, :] *= tree.size
        return matrix
    return matrix[..., :3, :] if part == "position" else matrix[..., 3:, :]
