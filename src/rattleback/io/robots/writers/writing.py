"""A file that is being written: its description, its report, and the files beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.writers.mesh_files import as_obj, triangles_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Description, Geometry, Joint
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

# Frames this close are the same [m, and parts of one].
SAME = 1e-9


@dataclass
class Writing:
    """A file that is being written.

    Attributes:
        path: The file.
        report: Where is told what becomes of everything.
        description: What is written.
        files: Contents of the files beside it, by path relative to it.
    """

    path: str
    report: Report
    description: Description
    files: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """No mesh yet."""
        self._meshes: dict[Any, str] = {}

    @property
    def stem(self) -> str:
        """Name of the file without its ending."""
        return os.path.splitext(os.path.basename(self.path))[0]

    def hanging(self) -> dict[str, list[Joint]]:
        """The joints of the trees by the link they hang on, in order."""
        found: dict[str, list[Joint]] = {}
        for joint in self.description.joints.values():
            if not joint.closes:
                found.setdefault(joint.parent, []).append(joint)
        return found

    def mesh(self, shape: Any, label: str) -> str:
        """Relative path of the OBJ file of a shape, one file for equal shapes."""
        if shape not in self._meshes:
            name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in label)
            path = f"{self.stem}_meshes/{len(self._meshes) + 1}_{name}.obj"
            self._meshes[shape] = path
            self.files[path] = as_obj(triangles_of(shape))
        return self._meshes[shape]

    def has_frame(self, name: str, link: str, place: Floats) -> bool:
        """Whether a named frame of the description is this one."""
        site = self.description.sites.get(name)
        return site is not None and site.link == link and np.allclose(site.place, place, rtol=0.0, atol=SAME)

    def where(self, link: str, geometry: Geometry) -> str:
        """What a geometry is called in the report."""
        name = f" {geometry.name!r}" if geometry.name else ""
        owner = f"body {link!r}" if link != WORLD else "world"
        return f"{owner} {type(geometry.shape).__name__}{name}"
