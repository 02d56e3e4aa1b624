"""glTF files: skeletons, skins and animations.

Every node is a joint of the skeleton, but for cameras and for those that only carry a skinned mesh: what stands above
the joints of a skin turns and scales them too. A mesh without a skin follows its node as a whole. Nodes with a matrix
have its translation, rotation and scale. Extensions, cameras, lights and morph targets are left out.

Reference: glTF 2.0 specification, sections 3.5, 3.7.3, 3.11 and appendix C.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.formats.gltf_file import GltfFile
from rattleback.characters.formats.gltf_skin import read_skins
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.skinning import split_frames
from rattleback.characters.track import PARTS, Track

if TYPE_CHECKING:
    from collections.abc import Callable

INTERPOLATIONS = {"STEP": "step", "LINEAR": "linear", "CUBICSPLINE": "cubic"}


def read_gltf(path: Any) -> Figure:
    """The figure of a glTF file."""
    file = GltfFile(path)
    nodes = file.rows("nodes")
    parents = _parents(file, nodes)
    names = _unique([str(node.get("name") or f"node_{number}") for number, node in enumerate(nodes)])
    used = _used(file, nodes, parents)
    joints = [
        Joint(
            names[n],
            names[parents[n]] if parents[n] >= 0 else "",
            *_rest(file, nodes[n], names[n]),
            end=_is_end(nodes[n]),
        )
        for n in used
    ]
    if not joints:
        raise file.fault("it has no nodes; there is no figure in it")
    skeleton = Skeleton(joints, Path(file.name).stem)
    number = {n: skeleton.number(names[n]) for n in used}
    animations = file.rows("animations")
    titles = _unique([str(row.get("name") or f"animation_{k}") for k, row in enumerate(animations)])
    clips = {
        title: Clip(skeleton, _tracks(file, row, lambda n: names[n]), title)
        for title, row in zip(titles, animations, strict=True)
    }
    return Figure(skeleton, clips, read_skins(file, skeleton, number))


def _parents(file: GltfFile, nodes: list[dict[str, Any]]) -> list[int]:
    """The parent of each node; −1 for roots."""
    parents = [-1] * len(nodes)
    for n, node in enumerate(nodes):
        for child in node.get("children", []):
            file.pick("nodes", child)
            if parents[child] >= 0 or child == n:
                raise file.fault(f"node {child} hangs on several nodes")
            parents[child] = n
    for n in range(len(nodes)):
        at, steps = n, 0
        while parents[at] >= 0:
            at, steps = parents[at], steps + 1
            if steps > len(nodes):
                raise file.fault(f"node {n} hangs on itself")
    return parents


def _used(file: GltfFile, nodes: list[dict[str, Any]], parents: list[int]) -> list[int]:
    """Nodes that are joints of the skeleton, in the order of the file: all but those that only carry a skinned mesh."""
    wanted: set[int] = set()
    for skin in file.rows("skins"):
        for joint in skin.get("joints", []):
            file.pick("nodes", joint)
            wanted.add(joint)
    for animation in file.rows("animations"):
        for channel in file.rows("channels", animation):
            target = channel.get("target")
            if isinstance(target, dict) and target.get("node") is not None and target.get("path") in PARTS:
                file.pick("nodes", target["node"])
                wanted.add(target["node"])
    wanted |= {n for n, node in enumerate(nodes) if "skin" not in node and "camera" not in node}
    for n in list(wanted):
        while (n := parents[n]) >= 0:
            wanted.add(n)
    return sorted(wanted)


def _is_end(node: dict[str, Any]) -> bool:
    """Whether a node was written for a joint that only marks the end of a bone."""
    extras = node.get("extras")
    return isinstance(extras, dict) and extras.get("end") is True


def _rest(file: GltfFile, node: dict[str, Any], name: str) -> tuple[Any, Any, Any]:
    """Translation, rotation and scale of a node."""
    if "matrix" in node:
        matrix = file.numbers(node["matrix"], 16, f"the matrix of node {name!r}").reshape(4, 4).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        if (scale < 1e-12).any():
            raise file.fault(f"the matrix of node {name!r} is singular")
        if np.linalg.det(matrix[:3, :3]) < 0.0:
            scale[0] = -scale[0]
        plain = np.eye(4)
        plain[:3, :3] = matrix[:3, :3] / scale
        return matrix[:3, 3], split_frames(plain)[0], scale
    way = file.numbers(node.get("translation", (0, 0, 0)), 3, f"the translation of node {name!r}")
    turn = file.numbers(node.get("rotation", (0, 0, 0, 1)), 4, f"the rotation of node {name!r}")
    length = np.linalg.norm(turn)
    if length < 1e-6:
        raise file.fault(f"the rotation of node {name!r} is zero")
    return way, turn / length, file.numbers(node.get("scale", (1, 1, 1)), 3, f"the scale of node {name!r}")


def _tracks(file: GltfFile, animation: dict[str, Any], name_of: Callable[[int], str]) -> list[Track]:
    found, samplers = [], file.rows("samplers", animation)
    for channel in file.rows("channels", animation):
        target = channel.get("target")
        if not isinstance(target, dict) or target.get("node") is None or target.get("path") not in PARTS:
            continue
        number = channel.get("sampler")
        if not isinstance(number, int) or not 0 <= number < len(samplers):
            raise file.fault(f"an animation names sampler {number!r} of {len(samplers)}")
        found.append(_track(file, samplers[number], target["path"], name_of(target["node"])))
    return found


def _track(file: GltfFile, sampler: dict[str, Any], part: str, joint: str) -> Track:
    what = f"the {part} of node {joint!r}"
    interpolation = INTERPOLATIONS.get(str(sampler.get("interpolation", "LINEAR")))
    if interpolation is None:
        raise file.fault(f"{what} has an interpolation {sampler.get('interpolation')!r} that is not known")
    times = file.array(sampler.get("input"), what)[:, 0].astype(np.float64)
    values = file.array(sampler.get("output"), what).astype(np.float64)
    middle = (3,) if interpolation == "cubic" else ()
    shape = (len(times), *middle, 1, PARTS[part])
    if values.size != np.prod(shape):
        raise file.fault(f"{what} has {len(values)} values for {len(times)} times")
    if not len(times) or (np.diff(times) <= 0.0).any():
        raise file.fault(f"{what} has times that do not rise")
    if part == "rotation" and interpolation != "cubic" and (np.linalg.norm(values, axis=-1) < 1e-6).any():
        raise file.fault(f"{what} has a key that is zero")
    return Track(part, [joint], times, values.reshape(shape), interpolation)


def _unique(names: list[str]) -> list[str]:
    """Names with a number behind those that came before."""
    taken: set[str] = set()
    found = []
    for name in names:
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.add(unique)
        found.append(unique)
    return found
