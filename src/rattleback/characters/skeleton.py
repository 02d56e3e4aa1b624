"""Skeletons: joints that hang on each other, each with a pose at rest.

    W_j = W_parent(j) · T_j R_j S_j

W_j frame of joint j in the axes and the unit of the file, T_j R_j S_j its translation, rotation and scale against its
parent. Structure is kept apart from looks: one skeleton carries any number of skins, and any number of clips move it.

``skeleton.tree()`` is the same skeleton as a ``kinematics.Tree``: a ball joint is a series of three turns without
length. Inverse kinematics, limits and workspaces work on that.

Cost: a product of 4 × 4 matrices for each joint and pose; stacks of poses go joint by joint, all poses at once.

Reference: lecture notes on forward and inverse kinematics, §4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

UNTURNED, AT_PARENT, PLAIN = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


@sealed
@dataclass(frozen=True)
class Joint:
    """A joint of a skeleton, and its pose at rest.

    Args:
        name: Its name.
        parent: Name of the joint it hangs on; empty for a root.
        translation: Its place in the frame of its parent (3,).
        rotation: Its orientation there, quaternion x, y, z, w.
        scale: Its scale along its own axes (3,).
        limits: Least and greatest turn from rest about x, y and z [rad], in the order z, y, x in which they are made:
            three pairs, None where free; None without limits.
        end: Whether it only marks where the last bone ends, and never turns.
    """

    name: str
    parent: str = ""
    translation: Any = AT_PARENT
    rotation: Any = UNTURNED
    scale: Any = PLAIN
    limits: Any = None
    end: bool = False

    def __post_init__(self) -> None:
        """Check it and keep plain values."""
        name = checks.text(self.name, "The name of a joint of a skeleton")
        keep: dict[str, Any] = {
            "translation": tuple(checks.vector(self.translation, f"The translation of joint {name!r}").tolist()),
            "rotation": tuple(checks.unit_quaternion(self.rotation, f"The rotation of joint {name!r}").tolist()),
            "scale": tuple(checks.vector(self.scale, f"The scale of joint {name!r}").tolist()),
            "end": checks.flag(self.end, f"The end of joint {name!r}"),
            "limits": None if self.limits is None else _limits(self.limits, name),
        }
        for field, value in keep.items():
            object.__setattr__(self, field, value)


@sealed
class Skeleton:
    """Joints that hang on each other.

    Attributes:
        name: What it is called.
        joints: Its joints, parents before children.
        parents: Number of the parent of each joint (joints,); −1 for a root.
        rest: The pose at rest.

    Args:
        joints: The joints, in any order.
        name: What it is called.
    """

    def __init__(self, joints: Iterable[Joint], name: str = "skeleton") -> None:
        self.name = checks.text(name, "The name of a skeleton")
        self.joints = _in_order(list(joints))
        self._number = {joint.name: j for j, joint in enumerate(self.joints)}
        self.parents = np.array([self._number.get(joint.parent, -1) for joint in self.joints])
        self.rest = Pose(
            *(np.array([getattr(j, part) for j in self.joints]) for part in ("rotation", "translation", "scale"))
        )
        self._at_rest = self._matrices(self.rest)

    def __len__(self) -> int:
        return len(self.joints)

    def __repr__(self) -> str:
        return f"<{self.name!r}: {len(self.joints)} joints>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints, parents before children."""
        return tuple(self._number)

    def number(self, name: str) -> int:
        """Number of a joint."""
        if name not in self._number:
            hint = did_you_mean(name, list(self._number))
            raise UnknownName(f"{self.name!r} has no joint {name!r}.{hint} It has {listing(list(self._number), 40)}.")
        return self._number[name]

    def children(self, name: str) -> tuple[str, ...]:
        """Names of the joints that hang on one."""
        number = self.number(name)
        return tuple(joint.name for joint, parent in zip(self.joints, self.parents, strict=True) if parent == number)

    def posed(self, turns: Mapping[str, Any], pose: Pose | None = None) -> Pose:
        """A pose with some joints turned, about their own axes.

        Args:
            turns: Quaternions x, y, z, w (..., 4) by the names of joints.
            pose: The pose to begin with; that at rest if left out.
        """
        found = self.rest if pose is None else pose
        for name, turn in turns.items():
            found = found.turned(self.number(name), turn)
        return found

    def matrices(self, pose: Pose) -> Floats:
        """Frames of all joints in the world (..., joints, 4, 4)."""
        if pose is self.rest:
            return self._at_rest.copy()
        return self._matrices(pose)

    def _matrices(self, pose: Pose) -> Floats:
        if pose.count != len(self.joints):
            raise InputError(f"The pose has {pose.count} joints; {self.name!r} has {len(self.joints)}.")
        found = pose.matrices()
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                found[..., j, :, :] = found[..., parent, :, :] @ found[..., j, :, :]
        return found

    def forward(self, pose: Pose) -> dict[str, Floats]:
        """Frames of all joints in the world by their names (..., 4, 4)."""
        found = self.matrices(pose)
        return {name: found[..., j, :, :] for name, j in self._number.items()}

    def tree(self, on: str = "cpu") -> Tree:
        """The skeleton as a kinematic tree, in which a joint is three turns from its rest and a root three ways, too.

        Coordinates are named ``"LeftLeg.turn_z"``, ``".turn_y"``, ``".turn_x"``, and those of a root ``"Hips.slide_x"``
        and on before them; links have the names of the joints. See :func:`coordinates` and :func:`pose_at`.

        Args:
            on: Device for batches.
        """
        from rattleback.characters.as_tree import tree_of

        return tree_of(self, on)

    def coordinates(self, pose: Pose) -> Floats:
        """The configuration of ``tree()`` in which it has a pose (..., coordinates)."""
        from rattleback.characters.as_tree import coordinates_of

        return coordinates_of(self, pose)

    def pose_at(self, q: Any) -> Pose:
        """The pose of a configuration of ``tree()`` (..., coordinates)."""
        from rattleback.characters.as_tree import pose_of

        return pose_of(self, q)


def _limits(value: Any, name: str) -> tuple[tuple[float, float] | None, ...]:
    try:
        pairs = [None if pair is None else (float(pair[0]), float(pair[1])) for pair in value]
    except (TypeError, ValueError, IndexError):
        pairs = []
    if len(pairs) != 3 or any(pair is not None and not pair[0] <= pair[1] for pair in pairs):
        raise InputError(
            f"The limits of joint {name!r} are {value!r}; they must be three pairs (least, greatest) of angles for the "
            "turns about z, y and x, None where free."
        )
    return tuple(pairs)


def _in_order(joints: list[Joint]) -> tuple[Joint, ...]:
    """Joints with parents before children, otherwise as given."""
    if not joints:
        raise InputError("A skeleton has no joints; give at least one.")
    names = {joint.name for joint in joints}
    if len(names) < len(joints):
        seen = [joint.name for joint in joints]
        twice = next(name for name in seen if seen.count(name) > 1)
        raise InputError(f"Two joints of a skeleton are called {twice!r}; give each a name of its own.")
    for joint in joints:
        if joint.parent and joint.parent not in names:
            hint = did_you_mean(joint.parent, sorted(names))
            raise InputError(
                f"Joint {joint.name!r} hangs on {joint.parent!r}, which is no joint of the skeleton.{hint}"
            )
    placed: dict[str, Joint] = {}
    while len(placed) < len(joints):
        before = len(placed)
        for joint in joints:
            if not joint.parent or joint.parent in placed:
                placed.setdefault(joint.name, joint)
        if len(placed) == before:
            stuck = [joint.name for joint in joints if joint.name not in placed]
            raise InputError(f"The joints {listing(stuck, 12)} hang on each other in a circle.")
    return tuple(placed.values())
