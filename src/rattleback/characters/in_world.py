"""Figures in the world of a simulation: metres, z up.

    W' = G U W U⁻¹        x' = G U x

U scales by metres a unit of the file, G turns its upward axis to z and its forward axis to x. Joints keep their names;
translations are scaled and roots are turned, so that skins and clips go along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.skin import Skin
from rattleback.characters.track import Track
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# What turns the upward axis of a file to z; files with y up look along z, which becomes x.
UPWARD = {"y": np.array([0.5, 0.5, 0.5, 0.5]), "z": np.array([0.0, 0.0, 0.0, 1.0])}


def in_world(figure: Figure, unit: float | None, height: float | None, up: str) -> Figure:
    """The figure in metres with z up; exactly one of ``unit`` and ``height`` is given."""
    turn = UPWARD[checks.one_of(up, UPWARD, "The upward axis of a figure")]
    if (unit is None) == (height is None):
        raise InputError("A figure is put into the world by unit= [m] or by height= [m]; give one of the two.")
    size = checks.positive(unit, "The unit of a figure") if height is None else _unit(figure, height, turn)
    skeleton = Skeleton([_joint(joint, size, turn) for joint in figure.skeleton.joints], figure.skeleton.name)
    roots = {joint.name for joint in skeleton.joints if not joint.parent}
    clips = {
        name: Clip(skeleton, [_track(track, size, turn, roots) for track in clip.tracks], clip.name, clip.frame_time)
        for name, clip in figure.clips.items()
    }
    return Figure(skeleton, clips, {name: _skin(skin, skeleton, size) for name, skin in figure.skins.items()})


def _unit(figure: Figure, height: float, turn: Floats) -> float:
    """Metres a unit, for a figure of that height at rest."""
    skeleton = figure.skeleton
    points = skeleton.matrices(skeleton.rest)[:, :3, 3]
    for skin in figure.skins.values():
        points = np.concatenate([points, skin.vertices(skeleton.rest)])
    tall = float(np.ptp(rotation.rotate(turn, points)[:, 2]))
    if tall <= 1e-6 * float(np.ptp(points, axis=0).max()):
        raise InputError(f"{skeleton.name!r} has no height at rest; put it into the world by unit= [m].")
    return checks.positive(height, "The height of a figure") / tall


def _joint(joint: Joint, size: float, turn: Floats) -> Joint:
    way, orientation = size * np.asarray(joint.translation), np.asarray(joint.rotation)
    if not joint.parent:
        way, orientation = rotation.rotate(turn, way), rotation.multiply(turn, orientation)
    return Joint(joint.name, joint.parent, way, orientation, joint.scale, joint.limits, joint.end)


def _track(track: Track, size: float, turn: Floats, roots: set[str]) -> Track:
    """A track in the world."""
    values = np.array(track.values)
    if track.part == "translation":
        values *= size
    columns = [k for k, joint in enumerate(track.joints) if joint in roots]
    if columns and track.part == "translation":
        values[..., columns, :] = rotation.rotate(turn, values[..., columns, :])
    if columns and track.part == "rotation":
        values[..., columns, :] = rotation.multiply(turn, values[..., columns, :])
    return Track(track.part, track.joints, track.times, values, track.interpolation)


def _skin(skin: Skin, skeleton: Skeleton, size: float) -> Skin:
    bind = np.array(skin.bind)
    bind[:, :3, 3] *= size
    options: dict[str, Any] = {"joints": skin.joints, "weights": skin.weights, "bind": bind}
    return Skin(skeleton, size * skin.points, skin.faces, **options, color=skin.color, name=skin.name)
