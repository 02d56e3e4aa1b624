"""Retargeting: the motion of one skeleton on another with other proportions and another pose at rest.

    D_j = W_j W⁰_j⁻¹,   W'_j = D_j A_j W'⁰_j        x' = (l'/l) x + c for the hips

W_j orientation of a joint in the world, W⁰_j that at rest, primes those of the other one, D_j the turn from rest in
the axes of the world, A_j the shortest turn that lays the other's bone along the first one's at rest, l length of the
legs, c a height that puts the lowest joint where it belongs. Joints that are matched turn alike in the world;
others rest against their parents. A joint that no bone or several leave is laid as the one before. Bones keep their own
lengths, so hands and feet are elsewhere; feet that stand can be planted.

From a skeleton to another and back a motion is the same to rounding, where all joints are matched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.motion.footing import planted
from rattleback.characters.motion.ground import hips_of, moved
from rattleback.characters.motion.limb import shortest_turn
from rattleback.characters.pose import Pose
from rattleback.core import checks
from rattleback.core.errors import InputError, listing
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from rattleback.characters.motion.footing import Leg
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# The lowest joint is as high as in this part of the frames, at most.
LOW = 0.05


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    names: Mapping[str, str] | None = None,
    size: float | None = None,
    legs: Sequence[Leg] = (),
) -> Clip:
    """A clip on another skeleton; both are in metres with z up, see ``Figure.in_world``.

    Args:
        clip: The motion.
        skeleton: The other skeleton.
        names: Names there by names here; those that are the same but for prefixes, case and punctuation if left out.
        size: How much farther the other one moves; by default as much as its legs are longer.
        legs: Legs of the other skeleton; their feet are planted where they stand.
    """
    source = clip.skeleton
    pairs = match_names(source, skeleton) if names is None else dict(names)
    if not pairs:
        raise InputError(
            f"No joint of {source.name!r} has a name as one of {skeleton.name!r}; give names= from "
            f"{listing(list(source.names), 20)} to {listing(list(skeleton.names), 20)}."
        )
    matched = {skeleton.number(there): source.number(here) for here, there in pairs.items()}
    step = clip.frame_time or 1.0 / 60.0
    times = clip.start + step * np.arange(round((clip.duration - clip.start) / step) + 1)
    poses = clip.pose(times)
    laid = _laid(source, skeleton, matched)
    turns: Any = rotation.multiply(_orientations(source, poses), rotation.conjugate(_orientations(source, source.rest)))
    turned = _turned(skeleton, {j: rotation.multiply(turns[:, i], laid[j]) for j, i in matched.items()}, len(times))
    wide = _size(source, skeleton, matched) if size is None else checks.positive(size, "The size of a retargeted clip")
    found = _carried(skeleton, turned, source.matrices(poses)[:, hips_of(source), :3, 3] * wide)
    rise = wide * _lowest(source, poses, matched.values()) - _lowest(skeleton, found, matched)
    found = moved(skeleton, found, (0.0, 0.0, rise))
    if legs:
        found = planted(skeleton, found, legs, step)
    return Clip.from_poses(skeleton, found, step, clip.name)


def match_names(source: Skeleton, target: Skeleton) -> dict[str, str]:
    """Names of one skeleton by those of another that are the same but for prefixes, case and punctuation."""
    plain = {_plain(name): name for name in target.names}
    return {name: plain[_plain(name)] for name in source.names if _plain(name) in plain}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower())


def _orientations(skeleton: Skeleton, pose: Pose) -> Floats:
    """Orientations of all joints in the world (..., joints, 4), whatever their scales."""
    found = np.array(pose.rotation)
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            found[..., j, :] = rotation.multiply(found[..., parent, :], found[..., j, :])
    return found


def _laid(source: Skeleton, target: Skeleton, matched: Mapping[int, int]) -> dict[int, Floats]:
    """For each matched joint of the other skeleton the turn that lays its bone along that of the first, at rest."""
    here, there = (skeleton.matrices(skeleton.rest)[:, :3, 3] for skeleton in (source, target))
    above = {j: _matched_above(target, j, matched) for j in matched}
    found: dict[int, Floats] = {}
    for j in sorted(matched):
        ends = [k for k, parent in above.items() if parent == j]
        found[j] = found[above[j]] if above[j] >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        if len(ends) == 1:
            bone, other = here[matched[ends[0]]] - here[matched[j]], there[ends[0]] - there[j]
            if min(np.linalg.norm(bone), np.linalg.norm(other)) > 1e-9:
                found[j] = shortest_turn(other, bone)
        elif ends:
            found[j] = np.array([0.0, 0.0, 0.0, 1.0])
    return found


def _matched_above(skeleton: Skeleton, joint: int, matched: Mapping[int, int]) -> int:
    """The nearest matched joint that a joint hangs on; −1 if there is none."""
    at = int(skeleton.parents[joint])
    while at >= 0 and at not in matched:
        at = int(skeleton.parents[at])
    return at


def _turned(skeleton: Skeleton, turns: Mapping[int, Any], frames: int) -> Pose:
    """Poses whose matched joints are turned so from rest, in the axes of the world; others rest."""
    rest, still = skeleton.rest, _orientations(skeleton, skeleton.rest)
    world = np.zeros((frames, len(skeleton), 4))
    local = np.zeros_like(world)
    for j, parent in enumerate(skeleton.parents):
        above = world[:, parent] if parent >= 0 else np.tile([0.0, 0.0, 0.0, 1.0], (frames, 1))
        if j in turns:
            world[:, j] = rotation.multiply(turns[j], still[j])
            local[:, j] = rotation.multiply(rotation.conjugate(above), world[:, j])
        else:
            local[:, j] = rest.rotation[j]
            world[:, j] = rotation.multiply(above, local[:, j])
    ways, scales = (np.tile(part, (frames, 1, 1)) for part in (rest.translation, rest.scale))
    return Pose(local, ways, scales)


def _carried(skeleton: Skeleton, poses: Pose, places: Floats) -> Pose:
    """Poses with the hips at places in the world (frames, 3) [m]."""
    hips = hips_of(skeleton)
    parent = skeleton.parents[hips]
    above = skeleton.matrices(poses)[:, parent] if parent >= 0 else np.tile(np.eye(4), (len(poses), 1, 1))
    ways = np.array(poses.translation)
    ways[:, hips] = np.linalg.solve(above[:, :3, :3], (places - above[:, :3, 3])[..., None])[..., 0]
    return Pose(poses.rotation, ways, poses.scale)


def _size(source: Skeleton, target: Skeleton, matched: Mapping[int, int]) -> float:
    """How much longer the bones from the hips to the joints below them are, at rest."""
    here, there = (skeleton.matrices(skeleton.rest)[:, 2, 3] for skeleton in (source, target))
    low = {j: i for j, i in matched.items() if there[j] < there[hips_of(target)] and here[i] < here[hips_of(source)]}
    lengths = [sum(_length(target, j) for j in low), sum(_length(source, i) for i in low.values())]
    if min(lengths) <= 0.0:
        raise InputError(
            f"No joint below the hips of {source.name!r} has a name in {target.name!r}, so there are no legs to "
            "compare; give size= instead."
        )
    return lengths[0] / lengths[1]


def _length(skeleton: Skeleton, joint: int) -> float:
    """Length of all bones from the hips to a joint, at rest."""
    points, hips, total = skeleton.matrices(skeleton.rest)[:, :3, 3], hips_of(skeleton), 0.0
    while joint not in (hips, -1):
        parent = int(skeleton.parents[joint])
        total += float(np.linalg.norm(points[joint] - points[parent])) if parent >= 0 else 0.0
        joint = parent
    return total


def _lowest(skeleton: Skeleton, poses: Pose, joints: Collection[int]) -> float:
    """How high the lowest joint is while it is low [m]."""
    return float(np.quantile(skeleton.matrices(poses)[:, list(joints), 2, 3].min(axis=1), LOW))
