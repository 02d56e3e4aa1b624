"""What is put beside the bodies of a take: the points of joints, arrows for velocities and forces, a camera.

    turn: z onto v/|v|        length = scale · |v|,   scale = 0.35 · reach / max |v|

v a velocity or force, reach the size of the scene. All arrows of one quantity have one scale, which is written beside
them, so that they can be compared.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.maths.rotation import conjugate, multiply, quaternion_from_matrix, rotate
from rattleback.recording.camera import Camera
from rattleback.recording.extent import extent
from rattleback.recording.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model import Scene
    from rattleback.recording.motion.take import Take

    Floats = NDArray[np.float64]

# What is drawn as arrows, and their colours.
ARROWS = {"velocity": "#2a9d8f", "applied_force": "#c8452d", "reaction_force": "#d9a441"}
LONGEST = 0.35
# Beside the longest arrow, one shorter than this is not drawn.
SHORTEST = 1e-6
ASPECT = 16.0 / 9.0


class Pose(NamedTuple):
    """Where something is, and how it is turned.

    Attributes:
        position: Shape (3,), or (frames, 3) [m].
        orientation: A quaternion x, y, z, w; shape (4,), or (frames, 4).
    """

    position: Floats
    orientation: Floats


class JointPoint(NamedTuple):
    """A point of a joint on one of its bodies.

    Attributes:
        name: Name of the joint and side, ``"elbow.point_a"``.
        body: Row of the body it moves with; −1 for the world.
        pose: Where it is, in the frame of the body.
    """

    name: str
    body: int
    pose: Pose


class Arrow(NamedTuple):
    """A vector that moves.

    Attributes:
        name: Owner and quantity.
        quantity: The quantity.
        pose: Its foot and its direction as the z axis, over the frames.
        length: Its length over the frames (frames,) [m].
        scale: Metres of arrow for one unit of the quantity.
    """

    name: str
    quantity: str
    pose: Pose
    length: Floats
    scale: float


def joint_points(scene: Scene) -> list[JointPoint]:
    """The points of all joints, one on each of their bodies."""
    rows, found = {body.name: row for row, body in enumerate(scene.bodies)}, []
    for name, joint in scene.joints.items():
        for side, body in enumerate((joint.a, joint.b)):
            row, point, turn = rows.get(body, -1), joint.points()[side], joint.frames()[side]
            if row >= 0 and not joint.in_bodies:
                back = conjugate(scene.bodies[row].orientation)
                point, turn = rotate(back, point - scene.bodies[row].origin), multiply(back, turn)
            found.append(JointPoint(f"{name}.point_{'ab'[side]}", row, Pose(point, turn)))
    return found


def arrows_of(take: Take, reach: float) -> list[Arrow]:
    """The arrows of velocities and forces that were recorded, of bodies and joints that have some.

    Args:
        take: The take.
        reach: Size of the scene [m].
    """
    feet = _feet(take)
    shown = [track for track in take.tracks if track.name in ARROWS and track.owner in feet]
    largest: dict[str, float] = {}
    for track in shown:
        longest = float(np.linalg.norm(track.values, axis=1).max())
        largest[track.name] = max(largest.get(track.name, 0.0), longest)
    found = []
    for track in shown:
        amount = np.linalg.norm(track.values, axis=1)
        if amount.max() > SHORTEST * largest[track.name]:
            scale = LONGEST * reach / largest[track.name]
            pose = Pose(feet[track.owner], _along(track.values))
            found.append(Arrow(track.label, track.name, pose, scale * amount, scale))
    return found


def camera_of(take: Take) -> tuple[Camera, Pose]:
    """A camera that sees the whole take, and its pose; it looks along its own −z."""
    camera = Camera().framing(extent(_snapshots(take), True), ASPECT)
    return camera, Pose(camera.eye, quaternion_from_matrix(camera.axes().T))


def reach_of(take: Take) -> float:
    """Half the diagonal of the box around all that moves [m]."""
    return 0.5 * float(np.linalg.norm(np.ptp(extent(_snapshots(take)), axis=0))) or 1.0


def lens(camera: Camera) -> float:
    """Angle the camera sees from the lower to the upper edge [rad], no more than other programs take."""
    return min(camera.field_of_view, math.radians(150.0))


def _snapshots(take: Take) -> list[Snapshot]:
    still = np.zeros(len(take.scene.bodies))
    some = range(0, take.frames, 1 + take.frames // 150)
    return [Snapshot(take.scene, take.origin[k], take.orientation[k], still) for k in some]


def _feet(take: Take) -> dict[str, Floats]:
    """Where the arrows of bodies and joints begin: at the centre of mass, at the point on B; (frames, 3) [m]."""
    feet = {body.name: take.position[:, row] for row, body in enumerate(take.scene.bodies)}
    for point in joint_points(take.scene):
        joint, _, side = point.name.rpartition(".")
        if side == "point_b":
            feet[joint] = _in_world(take, point)
    return feet


def _in_world(take: Take, point: JointPoint) -> Floats:
    if point.body < 0:
        return np.tile(point.pose.position, (take.frames, 1))
    arm = np.broadcast_to(point.pose.position, (take.frames, 3))
    found: Floats = take.origin[:, point.body] + rotate(take.orientation[:, point.body], arm)
    return found


def _along(vectors: Floats) -> Floats:
    """Turns that bring z onto vectors (frames, 3), each near the one before; where there is none, as before."""
    length = np.linalg.norm(vectors, axis=1)
    last = np.maximum.accumulate(np.where(length > 0.0, np.arange(len(length)), -1))
    known = vectors[np.where(last < 0, int(np.argmax(length > 0.0)), last)]
    x, y, z = (known / np.linalg.norm(known, axis=1, keepdims=True)).T
    turn: Any = np.stack([-y, x, np.zeros_like(x), 1.0 + z], axis=1)
    turn[z < -1.0 + 1e-12] = (1.0, 0.0, 0.0, 0.0)
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    sign = np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0)
    turn[1:] *= np.cumprod(sign)[:, None]
    return np.asarray(turn, dtype=np.float64)
