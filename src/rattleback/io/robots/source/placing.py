"""Frames as 4 × 4 matrices: from positions and angles, from axes, put together, split up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.kinematics.pose import make_pose
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Point = tuple[float, float, float]
    Turn = tuple[float, float, float, float]

Z = (0.0, 0.0, 1.0)


def from_roll_pitch_yaw(position: ArrayLike, angles: ArrayLike) -> Floats:
    """The frame at a position [m], turned about the fixed x, y and z axes, in this order [rad]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    turn = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return make_pose(position, np.array(turn))


def from_quaternion(position: ArrayLike, quaternion: ArrayLike) -> Floats:
    """The frame at a position [m] with an orientation (x, y, z, w) of any length but zero."""
    q = np.asarray(quaternion, dtype=np.float64)
    return make_pose(position, rotation.matrix_from_quaternion(q / np.linalg.norm(q)))


def along_axis(axis: ArrayLike, position: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """A frame at a position [m] whose z axis is a direction of any length but zero; the shortest turn from z."""
    z = np.asarray(axis, dtype=np.float64)
    z = z / np.linalg.norm(z)
    across = np.cross(Z, z)
    sine, cosine = np.linalg.norm(across), z[2]
    if sine == 0.0:
        turn = np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
    else:
        cross = rotation.cross_matrix(across)
        turn = np.eye(3) + cross + cross @ cross * ((1.0 - cosine) / sine**2)
    return make_pose(position, turn)


def with_axes(x: ArrayLike, z: ArrayLike, position: ArrayLike) -> Floats:
    """A frame whose z axis is a direction and whose x axis is the part of another that is perpendicular to it."""
    up = np.asarray(z, dtype=np.float64) / np.linalg.norm(z)
    aside = np.asarray(x, dtype=np.float64) - (np.asarray(x) @ up) * up
    aside = aside / np.linalg.norm(aside)
    return make_pose(position, np.stack([aside, np.cross(up, aside), up], axis=-1))


def about_z(angle: float) -> Floats:
    """A turn about z [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return make_pose((0.0, 0.0, 0.0), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


def about_x(angle: float) -> Floats:
    """A turn about x [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return make_pose((0.0, 0.0, 0.0), np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]))


def shift(x: float, y: float, z: float) -> Floats:
    """A way along the axes [m]."""
    return make_pose((x, y, z))


def inverse(frame: Floats) -> Floats:
    """The frame seen the other way round."""
    turn = frame[:3, :3].T
    return make_pose(-turn @ frame[:3, 3], turn)


def parts(frame: Floats) -> tuple[Point, Turn]:
    """A frame as a point and a quaternion (x, y, z, w)."""
    x, y, z = frame[:3, 3].tolist()
    a, b, c, d = rotation.quaternion_from_matrix(rotation.orthonormalise(frame[:3, :3])).tolist()
    return (x, y, z), (a, b, c, d)
