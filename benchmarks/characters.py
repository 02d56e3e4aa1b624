"""A crowd: 100 figures of 30 joints and 5,000 vertices, every one elsewhere in a blend of two clips, on one core.

    python benchmarks/characters.py [--write]

A frame is the poses of both clips, their blend, the frames of all joints, and all vertices. Before anything is timed,
a few figures are checked against plain matrices and dual quaternions, vertex by vertex.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from machine import markdown, options, publish

from rattleback.characters import Clip, Joint, Pose, Skeleton, Skin, blend
from rattleback.maths import rotation

FIGURES, JOINTS, VERTICES, INFLUENCES, FRAMES = 100, 30, 5_000, 4, 40
AIM = 30.0
HEAD = ["skinning", "poses [ms]", "joints [ms]", "vertices [ms]", "frame [ms]", "frames/s", f"aimed at {AIM:g}/s"]


def make_figure(random: Any) -> tuple[Skeleton, Skin, list[Clip]]:
    """A spider of six limbs of five joints, with a skin and two clips of a second that move all of it."""
    joints = []
    for limb in range(6):
        for k in range(JOINTS // 6):
            parent = f"{limb}.{k - 1}" if k else "" if limb == 0 else "0.0"
            joints.append(Joint(f"{limb}.{k}", parent, random.normal(0.0, 0.2, 3)))
    skeleton = Skeleton(joints, "spider")
    places = skeleton.matrices(skeleton.rest)[:, :3, 3]
    points = places[random.integers(0, JOINTS, VERTICES)] + random.normal(0.0, 0.1, (VERTICES, 3))
    away = np.linalg.norm(points[:, None] - places, axis=2)
    near = np.argsort(away, axis=1)[:, :INFLUENCES]
    weights = 1.0 / (0.05 + np.take_along_axis(away, near, axis=1))
    skin = Skin(skeleton, points, random.integers(0, VERTICES, (2 * VERTICES, 3)), joints=near, weights=weights)
    clips = []
    for name in ("one", "other"):
        turns = rotation.quaternion_from_rotation_vector(0.5 * random.normal(size=(61, JOINTS, 3)))
        rest = skeleton.rest
        clips.append(Clip.from_poses(skeleton, Pose(turns, rest.translation, rest.scale), 1.0 / 60.0, name))
    return skeleton, skin, clips


def check(skin: Skin, pose: Pose, found: Any, method: str) -> float:
    """The largest error of the vertices of one pose beside plain arithmetic, in sizes of the figure."""
    frames = skin.skeleton.matrices(pose) @ skin.bind
    whole = np.concatenate([skin.points, np.ones((len(skin.points), 1))], axis=1)
    if method == "linear":
        each = np.einsum("vkij,vj->vki", frames[skin.joints], whole)[..., :3]
        wanted = (skin.weights[..., None] * each).sum(axis=1)
    else:
        wanted = dual_quaternions(skin, frames)
    return float(np.abs(found - wanted).max() / np.ptp(skin.points, axis=0).max())


def dual_quaternions(skin: Skin, frames: Any) -> Any:
    """Vertices by dual quaternions, as Kavan and others write it, with products of quaternions alone."""
    real = rotation.quaternion_from_matrix(frames[:, :3, :3])
    dual = 0.5 * rotation.multiply(np.concatenate([frames[:, :3, 3], np.zeros((len(frames), 1))], axis=1), real)
    q, d = real[skin.joints], dual[skin.joints]
    pivot = np.take_along_axis(q, skin.weights.argmax(axis=1)[:, None, None], axis=1)
    w = (skin.weights * np.where((q * pivot).sum(axis=2) < 0.0, -1.0, 1.0))[..., None]
    b, e = (w * q).sum(axis=1), (w * d).sum(axis=1)
    length = np.linalg.norm(b, axis=1, keepdims=True)
    b, e = b / length, e / length
    return rotation.rotate(b, skin.points) + 2.0 * rotation.multiply(e, rotation.conjugate(b))[:, :3]


def measure(device: str) -> str:
    """The table."""
    random = np.random.default_rng(7)
    skeleton, skin, clips = make_figure(random)
    phases, shares, rows = random.uniform(0.0, 1.0, FIGURES), random.uniform(0.0, 1.0, FIGURES), []
    out = np.empty((FIGURES, VERTICES, 3))

    def posed(frame: int) -> Pose:
        return blend([clip.pose(phases + frame / 30.0, loop=True) for clip in clips], [shares, 1.0 - shares])

    poses = posed(0)
    for method in ("linear", "dual_quaternion"):
        found = skin.vertices(poses, method, device, out)
        worst = max(check(skin, poses[k], found[k], method) for k in (0, 17, 99))
        if worst > 1e-12:
            raise SystemExit(f"{method} is off by {worst:.1e} sizes of the figure; nothing is timed.")
        spent = [
            timed(posed),
            timed(lambda _: skeleton.matrices(poses)),
            timed(lambda _, method=method: skin.vertices(poses, method, device, out)),
            timed(lambda frame, method=method: skin.vertices(posed(frame), method, device, out)),
        ]
        # Vertices contain the frames of the joints.
        spent[2] -= spent[1]
        rate = 1.0 / spent[3]
        each = [f"{1e3 * seconds:.1f}" for seconds in spent]
        rows.append([f"`{method}`", *each, f"{rate:.0f}", "met" if rate >= AIM else "missed"])
    head = f"{FIGURES} figures of {JOINTS} joints and {VERTICES:,} vertices, each of {INFLUENCES} weights"
    return f"{head}. CPU time of a frame, as a median of {FRAMES}:\n\n{markdown(HEAD, rows)}"


def timed(stage: Callable[[int], Any]) -> float:
    """Median CPU time of a stage over frames [s]."""
    seconds = []
    for frame in range(FRAMES):
        begun = time.process_time()
        stage(frame)
        seconds.append(time.process_time() - begun)
    return float(np.median(seconds[5:]))


def main() -> None:
    """Run the benchmark from the command line."""
    arguments = options("characters").parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    publish("characters", arguments, measure(arguments.device))


if __name__ == "__main__":
    main()
