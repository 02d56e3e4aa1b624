"""A scene on its way to a description: what each part of the survey adds to, and where losses are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import from_quaternion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Description
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

    Floats = NDArray[np.float64]


@dataclass
class Surveyed:
    """A scene and what was found in it.

    Attributes:
        scene: The scene.
        description: What is made of it.
        report: Where losses are told.
        frames: Frames of all bodies in the world at the start (4, 4), by name; the world's under its own.
        joints: Name in the description of each joint of the scene that is in it.
        skipped: Bodies and joints of the scene that stand for a coupling of the description.
    """

    scene: Scene
    description: Description
    report: Report
    frames: dict[str, Floats] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Find the frames."""
        self.frames[self.scene.world.name] = np.eye(4)
        for body in self.scene.bodies:
            self.frames[body.name] = from_quaternion(body.origin, body.orientation)

    @property
    def robot(self) -> Any:
        """What the scene knows of the file it was made from; None where it was not."""
        return self.scene.robot

    def link(self, body: str) -> str:
        """Name of the link of a body."""
        return WORLD if body == self.scene.world.name else body
