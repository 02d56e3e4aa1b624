"""Poses of SDF: every link, joint, frame and model of a file has one, relative to another; all are found in the world.

    X_WF = X_W,relative_to(F) · pose(F)

Without ``relative_to`` a link and a frame are relative to their model or to what they are attached to, a joint to its
child link. Names of nested models are scoped, ``"arm::hand"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.source.placing import from_quaternion, from_roll_pitch_yaw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.source.xml_text import Node

    Floats = NDArray[np.float64]

MODEL = "__model__"
WORLD_NAMES = ("world", "__root__")


def pose_of(node: Node) -> tuple[Floats, str]:
    """The element ``pose`` of an element: the frame (4, 4), and what it is relative to; empty if that is not said."""
    pose = node.child("pose")
    if pose is None:
        return np.eye(4), ""
    relative = pose.get("relative_to") or pose.get("frame")
    degrees, form = pose.flag("degrees"), pose.get("rotation_format", "euler_rpy")
    if not pose.text.strip():
        return np.eye(4), relative
    if form == "quat_xyzw":
        values = pose.values(7)
        if not np.linalg.norm(values[3:]):
            raise pose.error("the quaternion is zero.")
        return from_quaternion(values[:3], values[3:]), relative
    values = pose.values(6)
    return from_roll_pitch_yaw(values[:3], np.radians(values[3:]) if degrees else values[3:]), relative


class Frames:
    """The frames of a file by scoped name.

    Attributes:
        known: Pose, name of the frame it is relative to, and the element, by name.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[Floats, str, Node]] = {}
        self._found: dict[str, Floats] = {}

    def add(self, name: str, pose: Floats, relative: str, node: Node) -> None:
        """Add a frame; names are used once."""
        if name in self.known:
            raise node.error(f"another frame is called {name!r}, too.")
        self.known[name] = pose, relative, node

    def resolve(self, scope: str, name: str) -> str:
        """The scoped name that a name means inside a model; empty for the world."""
        if name in WORLD_NAMES:
            return ""
        return f"{scope}::{name}" if scope else name

    def in_world(self, name: str, node: Node) -> Floats:
        """A frame in the world (4, 4); an empty name is the world."""
        chain: list[str] = []
        while name and name not in self._found:
            if name in chain:
                raise node.error(
                    f"the poses of {', '.join(map(repr, chain[:6]))} are relative to each other in a circle."
                )
            if name not in self.known:
                raise node.error(f"there is no frame {name!r}.")
            chain.append(name)
            name = self.known[name][1]
        found = self._found.get(name, np.eye(4))
        for link in reversed(chain):
            found = found @ self.known[link][0]
            self._found[link] = found
        return found
