"""Writing glTF files: skeleton, clips and skins of a figure, as they are.

Numbers of animations and meshes are single precision, as the format has them; the pose at rest is text and keeps all
digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import InputError
from rattleback.core.gltf_document import VERTICES, Document

if TYPE_CHECKING:
    from rattleback.characters.clip import Clip
    from rattleback.characters.figure import Figure
    from rattleback.characters.skin import Skin

INTERPOLATIONS = {"step": "STEP", "linear": "LINEAR", "cubic": "CUBICSPLINE"}


def write_gltf(path: Any, figure: Figure) -> None:
    """Write a figure as a ``.glb`` or ``.gltf`` file."""
    name = whole_file.location(path, "glTF file")
    document = Document("rattleback")
    skeleton = figure.skeleton
    for joint in skeleton.joints:
        entry: dict[str, Any] = {"name": joint.name, "translation": list(joint.translation)}
        entry |= {"rotation": list(joint.rotation), "scale": list(joint.scale)}
        if children := [skeleton.number(child) for child in skeleton.children(joint.name)]:
            entry["children"] = children
        if joint.end:
            entry["extras"] = {"end": True}
        document.add("nodes", entry)
    top = [j for j, parent in enumerate(skeleton.parents) if parent < 0]
    top += [_add_skin(document, skin, title) for title, skin in figure.skins.items()]
    for title, clip in figure.clips.items():
        _add_clip(document, clip, title)
    document.add("scenes", {"nodes": top})
    document.json["scene"] = 0
    ending = name.lower().rpartition(".")[2]
    if ending not in ("glb", "gltf"):
        raise InputError(f"The path {name!r} of a glTF file ends in {ending!r}; it must end in .glb or .gltf.")
    whole_file.write(name, document.binary() if ending == "glb" else document.embedded(), "glTF file")


def _add_skin(document: Document, skin: Skin, title: str) -> int:
    """The node of a skin."""
    bind = np.swapaxes(skin.bind, 1, 2).reshape(-1, 16)
    joints = list(range(len(skin.skeleton)))
    number = document.add("skins", {"joints": joints, "inverseBindMatrices": document.numbers(bind)})
    material = {"pbrMetallicRoughness": {"baseColorFactor": [*skin.color, 1.0], "metallicFactor": 0.0}}
    attributes = {"POSITION": document.numbers(skin.points, VERTICES, bounds=True)}
    width = -(-skin.joints.shape[1] // 4) * 4
    places, shares = (np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in (skin.joints, skin.weights))
    for k in range(width // 4):
        attributes[f"JOINTS_{k}"] = document.places(places[:, 4 * k : 4 * k + 4])
        attributes[f"WEIGHTS_{k}"] = document.numbers(shares[:, 4 * k : 4 * k + 4], VERTICES)
    primitive = {"attributes": attributes, "indices": document.indices(skin.faces.astype(np.int64))}
    primitive["material"] = document.add("materials", material)
    mesh = document.add("meshes", {"name": title, "primitives": [primitive]})
    return document.add("nodes", {"name": f"{title}_mesh", "mesh": mesh, "skin": number})


def _add_clip(document: Document, clip: Clip, title: str) -> None:
    samplers, channels = [], []
    for track in clip.tracks:
        times = document.numbers(track.times, bounds=True)
        for k, joint in enumerate(track.joints):
            values = np.take(track.values, k, axis=-2).reshape(-1, track.values.shape[-1])
            samplers.append(
                {
                    "input": times,
                    "output": document.numbers(values),
                    "interpolation": INTERPOLATIONS[track.interpolation],
                }
            )
            target = {"node": clip.skeleton.number(joint), "path": track.part}
            channels.append({"sampler": len(samplers) - 1, "target": target})
    if channels:
        document.add("animations", {"name": title, "samplers": samplers, "channels": channels})
