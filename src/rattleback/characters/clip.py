"""Clips: motions of a skeleton over time, from a file or from keys.

A clip is a bundle of tracks; joints without a track rest. ``clip.pose(t)`` is the pose at a time, or a stack of poses
at several, so that a motion can be looked at, drawn, blended and handed to a simulation alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.characters.track import PARTS, Track
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]


@sealed
class Clip:
    """A motion of a skeleton.

    Attributes:
        skeleton: The skeleton it moves.
        tracks: What moves.
        name: What it is called.
        start: Time of the first key [s].
        duration: Time of the last key [s].
        frame_time: Time between frames [s] where it was made of frames, as in BVH files; None where it was not.

    Args:
        skeleton: The skeleton it moves.
        tracks: What moves; each part of each joint at most once.
        name: What it is called.
        frame_time: Time between frames [s], if it is made of frames.
    """

    def __init__(
        self, skeleton: Skeleton, tracks: Iterable[Track], name: str = "clip", frame_time: float | None = None
    ) -> None:
        self.skeleton, self.tracks = skeleton, tuple(tracks)
        self.name = checks.text(name, "The name of a clip")
        self.frame_time = None if frame_time is None else checks.positive(frame_time, "The frame_time of a clip")
        self._columns = [np.array([skeleton.number(joint) for joint in track.joints]) for track in self.tracks]
        self._check()
        self.start = min((float(track.times[0]) for track in self.tracks), default=0.0)
        self.duration = max((float(track.times[-1]) for track in self.tracks), default=0.0)

    @classmethod
    def from_keys(cls, skeleton: Skeleton, keys: Mapping[float, Mapping[str, Any]], name: str = "clip") -> Clip:
        """A clip from a few poses, as an animator sets them.

        Args:
            skeleton: The skeleton it moves.
            keys: For each time [s] the turns from rest of some joints, quaternions x, y, z, w by name. A joint that is
                named at one time is at rest at those that do not name it.
            name: What it is called.
        """
        if not keys:
            raise InputError(f"Clip {name!r} has no keys; give at least one time with the turns of some joints.")
        times = sorted(keys)
        moved = list(dict.fromkeys(joint for time in times for joint in keys[time]))
        poses = [skeleton.posed(keys[time]) for time in times]
        columns = [skeleton.number(joint) for joint in moved]
        values = np.array([pose.rotation[columns] for pose in poses])
        return cls(skeleton, [Track("rotation", moved, times, values)], name)

    @classmethod
    def from_poses(cls, skeleton: Skeleton, poses: Pose, frame_time: float, name: str = "clip") -> Clip:
        """A clip from a stack of poses at equal distances in time.

        Args:
            skeleton: The skeleton it moves.
            poses: The poses (frames, joints, ...).
            frame_time: Time between them [s].
            name: What it is called.
        """
        step = checks.positive(frame_time, "The frame_time of a clip")
        times, rest = step * np.arange(len(poses)), skeleton.rest
        tracks = []
        for part in PARTS:
            values, still = getattr(poses, part), getattr(rest, part)
            moved = [
                j for j in range(len(skeleton)) if not np.array_equal(values[:, j], np.tile(still[j], (len(times), 1)))
            ]
            if moved:
                tracks.append(Track(part, [skeleton.names[j] for j in moved], times, values[:, moved]))
        return cls(skeleton, tracks, name, step)

    def __repr__(self) -> str:
        return f"<clip {self.name!r} of {self.skeleton.name!r}: {self.duration:.3g} s>"

    @property
    def frames(self) -> Floats:
        """Times of its frames [s] (frames,), where it is made of frames; else of all its keys."""
        if not self.tracks:
            return np.zeros(1)
        return np.unique(np.concatenate([track.times for track in self.tracks]))

    def pose(self, time: ArrayLike, loop: bool = False) -> Pose:
        """The pose at a time, or the poses at several.

        Args:
            time: Time [s], or times (...); before the first key and after the last the nearest holds.
            loop: Whether it begins again where it ends.
        """
        times = checks.finite(time, f"The time of clip {self.name!r}")
        flat = times.reshape(-1)
        if loop and self.duration > self.start:
            flat = self.start + np.mod(flat - self.start, self.duration - self.start)
        parts = {}
        for part in PARTS:
            rest = getattr(self.skeleton.rest, part)
            parts[part] = np.broadcast_to(rest, (len(flat), *rest.shape))
            if any(track.part == part for track in self.tracks):
                parts[part] = np.array(parts[part])
        for track, columns in zip(self.tracks, self._columns, strict=True):
            parts[track.part][:, columns] = track.at(flat)
        return Pose(*(np.asarray(parts[part]).reshape(*times.shape, *parts[part].shape[1:]) for part in PARTS))

    def velocities(self, time: float) -> tuple[Floats, Floats]:
        """Velocities of the joints (joints, 3) and angular velocities (joints, 3) in the world, at a time [1/s].

        They follow from the clip in closed form; at a key they are those of the stretch behind it, at its end those of
        the stretch before. Scales are taken to stay as they are.

        Args:
            time: Time [s].
        """
        skeleton, at = self.skeleton, np.array([checks.number(time, f"The time of clip {self.name!r}")])
        turning, sliding = np.zeros((2, len(skeleton), 3))
        for track, columns in zip(self.tracks, self._columns, strict=True):
            if track.part != "scale":
                (turning if track.part == "rotation" else sliding)[columns] = track.rates(at)[0]
        frames = skeleton.matrices(self.pose(at[0]))
        v, w = np.zeros((2, len(skeleton), 3))
        for j, parent in enumerate(skeleton.parents):
            axes = frames[j, :3, :3] / np.linalg.norm(frames[j, :3, :3], axis=0)
            v[j], w[j] = sliding[j], axes @ turning[j]
            if parent >= 0:
                arm = frames[j, :3, 3] - frames[parent, :3, 3]
                v[j] = v[parent] + np.cross(w[parent], arm) + frames[parent, :3, :3] @ sliding[j]
                w[j] += w[parent]
        return v, w

    def _check(self) -> None:
        moved: set[tuple[str, str]] = set()
        for track in self.tracks:
            for joint in track.joints:
                if (track.part, joint) in moved:
                    raise InputError(
                        f"Clip {self.name!r} moves the {track.part} of joint {joint!r} twice; keep one track."
                    )
                moved.add((track.part, joint))
