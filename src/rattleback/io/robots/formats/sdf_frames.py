"""Poses of SDF: every link, joint, frame and model of a file has one, relative to another; all are found in the world.

    X_WF = X_W,relative_to(F) · pose(F)

Without ``relative_to`` a link and a frame are relative to their model or to what they are attached to, a joint to its
child link. Names of nested models are scoped, ``"arm::hand"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.io.robots.source.placing import from_quaternion, from_roll_pitch_yaw, inverse

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


class Scope(NamedTuple):
    """The inside of a model.

    Attributes:
        prefix: What stands before names in it; empty for the world and for the only model of a file.
        model: Name of its own frame; empty for the world.
    """

    prefix: str = ""
    model: str = ""

    def resolve(self, name: str) -> str:
        """The scoped name that a name means here; empty for the world."""
        if name in WORLD_NAMES:
            return ""
        if name == MODEL:
            return self.model
        return (f"{self.prefix}::{name}" if self.prefix else name).removesuffix(f"::{MODEL}")


class Known(NamedTuple):
    """A frame of a file.

    Attributes:
        pose: Its pose (4, 4).
        relative: Name of the frame that it is relative to; empty for the world.
        node: Its element.
        attached: Name of the link or frame that it moves with; empty for the world.
    """

    pose: Floats
    relative: str
    node: Node
    attached: str


class Frames:
    """The frames of a file by scoped name.

    Attributes:
        known: The frames.
    """

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self._found: dict[str, Floats] = {}

    def add(self, name: str, frame: Known) -> None:
        """Add a frame; names are used once."""
        if name in self.known:
            raise frame.node.error(f"another frame is called {name!r}, too.")
        self.known[name] = frame

    def place_by(self, model: str, placement: str) -> None:
        """Have the pose of a model be that of a frame inside, X_M = X · (X_M,placement)⁻¹."""
        own = self.known[model]
        inside, name, seen = np.eye(4), placement, set[str]()
        while name != model:
            if name in seen or name not in self.known:
                raise own.node.error(f"it is placed by {placement!r}, which is no frame in it.")
            seen.add(name)
            inside, name = self.known[name].pose @ inside, self.known[name].relative
        self.known[model] = own._replace(pose=own.pose @ inverse(inside))

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
            name = self.known[name].relative
        found = self._found.get(name, np.eye(4))
        for link in reversed(chain):
            found = found @ self.known[link].pose
            self._found[link] = found
        return found
