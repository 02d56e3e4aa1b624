"""Files that are opened on the page, and the scene as a file: what is in a file is read, never run.

A file stands alone in an empty folder while it is read, so far from any other that no name in it leads to one.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import FileError
from rattleback.io import state_file
from rattleback.io.robots.source.folders import Folders
from rattleback.io.robots.source.meshes import Beside
from rattleback.io.scene_file import MESHES, ROBOTS
from rattleback.model import Scene
from rattleback.shapes import Mesh
from rattleback.shapes.mesh_file import read_mesh
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

# State files are archives, and these begin so.
ARCHIVE = b"PK"
# Deeper than a reader looks upwards for the package of a robot.
LONELY = "a/file/that/stands/alone"
# What the page takes, for the dialog of the browser.
ENDINGS = ",".join((".npz", ".json", *ROBOTS, *MESHES))


def opened(name: str, content: bytes, device: str) -> Simulation:
    """The simulation of a state, scene or robot file; nothing in a file is ever run.

    Args:
        name: What the file is called, for messages.
        content: Its contents.
        device: Where to simulate.

    Raises:
        FileError: It cannot be read.
    """
    with _alone(name, content, ROBOTS) as path:
        if content.startswith(ARCHIVE) and path.suffix.lower() != ".usdz":
            return state_file.load(path, device=device)
        scene = Scene.from_file(path)
        robot: Any = scene.robot
        told: Any = {} if robot is None else robot.settings
        return Simulation(scene, device=device, **told)


def opened_mesh(name: str, content: bytes, scale: float = 1.0) -> Mesh:
    """The triangles of a mesh file; files that it names are not read.

    Args:
        name: What the file is called.
        content: Its contents.
        scale: Length of its unit [m].

    Raises:
        FileError: It cannot be read.
    """
    with _alone(name, content, MESHES) as path:
        vertices, triangles = read_mesh(path, Beside(path, Folders(str(path))))
        return Mesh(scale * vertices, triangles)


def scene_bytes(sim: Simulation, kind: str) -> bytes:
    """The scene of a simulation as a scene file, or as a Python script where that is asked for."""
    if "Python" in kind:
        return sim.scene.to_python(sim.time_step).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.rb.json"
        sim.scene.save(path)
        return path.read_bytes()


@contextmanager
def _alone(name: str, content: bytes, endings: tuple[str, ...]) -> Iterator[Path]:
    """A file in a folder of its own; faults call it by its name."""
    with tempfile.TemporaryDirectory() as folder:
        ending = Path(name).suffix.lower()
        path = Path(folder) / LONELY / f"file{ending if ending in endings else ''}"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        try:
            yield path
        except FileError as error:
            raise FileError(str(error).replace(str(path), name)) from None
