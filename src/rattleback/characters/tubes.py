"""Skins for skeletons that have none: every bone a tube, closed by round ends, that goes over gently at its joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.skin import Skin
from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

AROUND, ALONG, ROUND = 16, 8, 4
# Within this many radii of a joint its vertices follow the joint before, too.
GOES_OVER = 1.0


def tube_skin(
    skeleton: Skeleton, radii: Mapping[str, float] | float, *, name: str = "tubes", color: Any = None
) -> Skin:
    """A skin of tubes around the bones, from each joint to those that hang on it.

    Args:
        skeleton: The skeleton.
        radii: Radius of the bones that begin at a joint, by name, or one for all.
        name: What the skin is called.
        color: Red, green, blue from 0 to 1.
    """
    points, faces, joints, weights = [], [], [], []
    frames = skeleton.matrices(skeleton.rest)[:, :3, 3]
    count = 0
    for child, parent in enumerate(skeleton.parents):
        way = frames[child] - frames[parent]
        if parent < 0 or np.linalg.norm(way) < 1e-9:
            continue
        radius = checks.positive(
            radii.get(skeleton.names[parent], 0.0) if not isinstance(radii, (int, float)) else radii,
            f"The radius of the bones at joint {skeleton.names[parent]!r}",
        )
        rings, along = _tube(way, radius)
        above = int(skeleton.parents[parent])
        share = np.clip(0.5 - 0.5 * along / (GOES_OVER * radius), 0.0, 1.0) if above >= 0 else np.zeros(len(along))
        points.append(frames[parent] + rings)
        faces.append(_net(len(rings) // AROUND) + count)
        joints.append(np.tile([parent, max(above, 0)], (len(rings), 1)))
        weights.append(np.stack([1.0 - share, share], axis=1))
        count += len(rings)
    if not points:
        raise InputError(f"{skeleton.name!r} has no bones of any length; it cannot have tubes.")
    options: dict[str, Any] = {} if color is None else {"color": color}
    given = {"joints": np.concatenate(joints), "weights": np.concatenate(weights), "name": name, **options}
    return Skin(skeleton, np.concatenate(points), np.concatenate(faces), **given)


def _tube(way: Floats, radius: float) -> tuple[Floats, Floats]:
    """Rings of a tube with round ends along a way from the origin (rings · AROUND, 3), and how far along they are."""
    length = float(np.linalg.norm(way))
    turn = np.linspace(0.0, 0.5 * np.pi, ROUND, endpoint=False)
    heights = np.concatenate(
        [-radius * np.cos(turn), np.linspace(0.0, length, ALONG), length + radius * np.sin(turn[1:])]
    )
    heights = np.append(heights, length + radius)
    sizes = np.sqrt(np.maximum(0.0, radius**2 - np.clip(np.maximum(-heights, heights - length), 0.0, None) ** 2))
    axis = way / length
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    ring = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(axis, side))
    rings = heights[:, None, None] * axis + sizes[:, None, None] * ring
    return rings.reshape(-1, 3), np.repeat(heights, AROUND)


def _net(rings: int) -> NDArray[np.int64]:
    """Triangles between rings of points."""
    row, column = np.meshgrid(np.arange(rings - 1), np.arange(AROUND), indexing="ij")
    a, b = row * AROUND + column, row * AROUND + (column + 1) % AROUND
    return np.concatenate([np.stack([a, b, b + AROUND], -1), np.stack([a, b + AROUND, a + AROUND], -1)]).reshape(-1, 3)
