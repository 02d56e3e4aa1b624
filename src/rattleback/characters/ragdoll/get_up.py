"""Getting up: the way back from a ragdoll that lies anywhere to a figure that stands, as a clip.

    q(t), x(t)    Hermite's polynomials through: what the bodies are in, with their velocities;  crouching;  standing

The clip begins in the pose and with the velocities of the bodies, to rounding, so that a figure that is drawn by it
goes on without a jump. It turns about where the hips lie: from its face it comes up the way its head points, from its
back the way its feet do. It is a motion, without forces; ``Ragdoll.hand_over`` at its end makes bodies of it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.acting.anatomy import anatomy
from rattleback.characters.acting.gaits import at_ease
from rattleback.characters.acting.played import posture
from rattleback.characters.clip import Clip
from rattleback.characters.motion.ground import moved, where
from rattleback.characters.track import Track
from rattleback.core import checks
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.acting.anatomy import Anatomy
    from rattleback.characters.pose import Pose
    from rattleback.characters.ragdoll.doll import Ragdoll
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]

# Part of the time after which it crouches.
CROUCHED = 0.6
# Keys at which its height is looked at, and room that joints keep above the ground [m].
KEYS, ROOM = 61, 0.03


def get_up(doll: Ragdoll, sim: Simulation, seconds: float = 2.0, ground: float = 0.0) -> Clip:
    """A clip from how the bodies of a ragdoll lie and move now to a figure that stands there.

    Args:
        doll: The ragdoll.
        sim: The simulation that it is in.
        seconds: How long it takes [s].
        ground: Height of the ground there [m].
    """
    whole = checks.positive(seconds, "The seconds of getting up")
    skeleton, parts = doll.skeleton, anatomy(doll.skeleton)
    start = doll.pose(sim)
    stand = at_ease(doll.figure, parts, {})
    crouch = posture(parts, stand, "crouch")
    place, heading = _heading(parts, start)
    up = (*place, checks.number(ground, "The height of the ground"))
    goals = [moved(skeleton, pose, up, heading) for pose in (crouch.pose(crouch.duration), stand)]
    turning, sliding = _rates(doll, sim, start)
    times = [0.0, CROUCHED * whole, whole]
    tracks = []
    for part, rates in (("rotation", turning), ("translation", sliding)):
        values = [np.array(getattr(pose, part)) for pose in (start, *goals)]
        if part == "rotation":
            for k in (1, 2):
                values[k] *= np.where((values[k] * values[k - 1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        still = np.zeros_like(rates)
        keys = [[still, values[0], rates], [still, values[1], still], [still, values[2], still]]
        tracks.append(Track(part, skeleton.names, times, np.array(keys), "cubic"))
    return _lifted(Clip(skeleton, tracks, "get up", 1.0 / 60.0), up[2])


def _lifted(clip: Clip, ground: float) -> Clip:
    """A clip with keys in between, higher where a joint would be in the ground."""
    skeleton, root = clip.skeleton, 0
    times = np.linspace(clip.start, clip.duration, KEYS)
    points = skeleton.matrices(clip.pose(times))[..., 2, 3]
    least = np.minimum(points[[0, -1]].min(), ground + ROOM)
    lack = np.maximum(0.0, least - points.min(axis=1))
    lack[[0, -1]] = 0.0
    translation = next(track for track in clip.tracks if track.part == "translation")
    values, rates = translation.at(times), translation.rates(times)
    up = np.gradient(lack, times)
    up[[0, -1]] = 0.0
    values[:, root, 2] += lack
    rates[:, root, 2] += up
    keys = np.stack([rates, values, rates], axis=1)
    others = [track for track in clip.tracks if track is not translation]
    return Clip(skeleton, [*others, Track("translation", skeleton.names, times, keys, "cubic")], clip.name, 1.0 / 60.0)


def _heading(parts: Anatomy, pose: Pose) -> tuple[Floats, float]:
    """Where the hips are on the ground (2,), and the heading in which the figure comes up [rad]."""
    skeleton = parts.skeleton
    frames, rest = skeleton.matrices(pose), skeleton.matrices(skeleton.rest)
    top = skeleton.number((parts.neck or parts.spine or (parts.hips,))[-1])
    hips = skeleton.number(parts.hips)
    trunk = frames[top, :3, 3] - frames[hips, :3, 3]
    front = (frames[hips, :3, :3] @ np.linalg.inv(rest[hips, :3, :3]))[:, 0]
    place, heading = where(skeleton, pose)
    if np.hypot(trunk[0], trunk[1]) < abs(trunk[2]):
        return place, float(heading)
    side = -1.0 if front[2] > 0.0 else 1.0
    return place, float(np.arctan2(side * trunk[1], side * trunk[0]))


def _rates(doll: Ragdoll, sim: Simulation, pose: Pose) -> tuple[Floats, Floats]:
    """Rates of the quaternions (joints, 4) and of the translations (joints, 3) of all joints, as the bodies move."""
    skeleton = doll.skeleton
    frames = skeleton.matrices(pose)
    number = {part.joint: k for k, part in enumerate(doll.parts)}
    spins, turning = np.zeros((2, len(skeleton), 3))
    for j, parent in enumerate(skeleton.parents):
        above = spins[parent] if parent >= 0 else np.zeros(3)
        spins[j] = sim[doll.names[number[j]]].angular_velocity if j in number else above
        axes = frames[j, :3, :3] / np.linalg.norm(frames[j, :3, :3], axis=0)
        turning[j] = axes.T @ (spins[j] - above)
    still: Any = np.concatenate([0.5 * turning, np.zeros((len(skeleton), 1))], axis=1)
    first, body = doll.parts[0].joint, sim[doll.names[0]]
    sliding = np.zeros((len(skeleton), 3))
    root = first
    while skeleton.parents[root] >= 0:
        root = int(skeleton.parents[root])
    sliding[root] = body.velocity + np.cross(body.angular_velocity, frames[first, :3, 3] - body.position)
    return np.asarray(rotation.multiply(pose.rotation, still)), sliding
