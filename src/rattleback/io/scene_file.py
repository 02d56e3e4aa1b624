"""Scene files: a scene as JSON text (``.rb.json``) that people can read and write, and programs can check.

    {"format": "rattleback-scene", "version": 1, "name": "drop",
     "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}, "position": [0, 0, 2]}]}

Reading back what was written gives the same scene bit for bit. A file written by hand may give what ``add_body`` takes:
a density instead of a mass, an origin instead of a position, or neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.core import checks, whole_file
from rattleback.io import json_text
from rattleback.io.faults import Faults
from rattleback.io.scene_data import from_data, to_data
from rattleback.io.scene_schema import ENTRIES, schema
from rattleback.model import Scene

if TYPE_CHECKING:
    from os import PathLike

KIND = "scene file"
# What others write, by its ending, to be told of in time.
ROBOTS = (".urdf", ".xml", ".mjcf", ".sdf", ".world", ".usd", ".usda", ".usdc", ".usdz")
MESHES = (".gltf", ".glb", ".obj", ".stl", ".ply", ".off")
OTHERS = (".xacro", ".pdb", ".cif")
INSTEAD = {
    **dict.fromkeys(ROBOTS, " A robot is read with rb.Scene.from_file(path)."),
    **dict.fromkeys(MESHES, " A mesh is read with rb.Mesh.load(path)."),
}

__all__ = ["load", "save", "schema"]


def save(scene: Scene, path: str | PathLike[str]) -> None:
    """Write a scene to a file.

    Args:
        scene: The scene; its forces must be on the menu, because a file cannot hold code.
        path: Where to; a file that is there is replaced, in one move.
    """
    checks.instance(scene, Scene, "What is saved", "rb.Scene()")
    text = json_text.layout(to_data(scene)) + "\n"
    whole_file.write(path, text.encode(), KIND)


def load(path: str | PathLike[str]) -> Scene:
    """Read a scene from a file.

    Args:
        path: The file.

    Raises:
        FileError: The file cannot be read, or has faults; each is named with its path inside the file.
    """
    faults = Faults(KIND, whole_file.location(path, KIND), ENTRIES)
    if (suffix := Path(path).suffix.lower()) in ROBOTS + MESHES + OTHERS:
        hint = INSTEAD.get(suffix, "")
        raise faults.error(f"is a {suffix} file; scenes are read from .rb.json files, as scene.save writes them.{hint}")
    content = whole_file.read(path, KIND)
    if content.startswith(b"PK"):
        raise faults.error("is not text; a state file is read with rb.load(path).")
    return from_data(json_text.parse(content, faults), faults)
