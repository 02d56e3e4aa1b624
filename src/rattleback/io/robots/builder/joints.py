"""Joints of a scene from those of a description: each placed by its frames on both bodies.

The coordinate of a hinge, a slide, a cylindrical joint or a screw is that of the file: zero where the frames coincide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback import joints as kinds
from rattleback.io.robots.builder.bodies import free_name
from rattleback.io.robots.builder.motion import motion
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import from_quaternion, inverse
from rattleback.io.robots.source.placing import parts as split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.builder.parts import Bodies
    from rattleback.io.robots.description import Description, Joint
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

    Floats = NDArray[np.float64]

# The z axis of B's frame is the x axis of A's, and the other way round.
CROSSED = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
# Kinds of the description that are joints of the same freedoms, without further options.
PLAIN = {
    "fixed": kinds.Fixed,
    "ball": kinds.Ball,
    "planar": kinds.Planar,
    "point_on_line": kinds.PointOnLine,
    "point_on_plane": kinds.PointOnPlane,
    "fixed_orientation": kinds.FixedOrientation,
    "common_direction": kinds.CommonDirection,
    "double_rotation": kinds.DoubleRotation,
}
# Kinds whose drives have armature and friction.
DRIVEN = ("revolute", "prismatic")
# Limits closer together than this hold the joint [rad or m].
HELD = 1e-9


class Attached:
    """The bodies of a scene that joints are put between.

    Attributes:
        names: Names of the bodies by part.
        still: Names of the static bodies by link.
        drives: Whether joints get the armature and the friction loss of the file.
    """

    def __init__(
        self, description: Description, bodies: Bodies, names: dict[str, str], still: dict[str, str], drives: bool
    ) -> None:
        self.description, self.bodies, self.names, self.still = description, bodies, names, still
        self.drives = drives

    def side(self, part: str, link: str, frame: Floats) -> tuple[str, Any]:
        """Body of a side of a joint and frame on it: the static body of a link of the world where there is one."""
        if part == WORLD and link in self.still:
            frame = inverse(self.bodies.parts[WORLD].members[link]) @ frame
            return self.still[link], split(frame)
        return self.names[part], split(frame)


def add_joints(scene: Scene, attached: Attached, report: Report) -> dict[str, str]:
    """Add all joints; their names in the scene, by their names in the file."""
    found = {}
    for joint in attached.bodies.joints.values():
        if joint.kind == "free":
            continue
        if joint.parent == joint.child:
            report.drop(joint.where or f"joint {joint.name!r}", "it joins links that are fixed to each other")
            continue
        original = attached.description.joints[joint.name]
        a, frame_a = attached.side(joint.parent, original.parent, joint.frame_parent)
        b, frame_b = attached.side(joint.child, original.child, joint.frame_child)
        if all(end == scene.world.name or scene[end].static for end in (a, b)):
            report.drop(joint.where or f"joint {joint.name!r}", "neither of its links can move")
            continue
        frames: dict[str, Any] = {"frame_a": frame_a, "frame_b": frame_b}
        if joint.kind in ("universal", "double_rotation"):
            frames["frame_b"] = split(joint.frame_child @ CROSSED)
        drive = _drive(joint, attached.drives, report)
        made = _make(joint, (a, b), {**frames, **drive}, report)
        found[joint.name] = free_name(scene, joint.name, "joint")
        scene.add_joint(made, name=found[joint.name])
    return found


def _drive(joint: Joint, wanted: bool, report: Report) -> dict[str, float]:
    """Armature and friction of a joint; what a joint cannot have is told."""
    lower, upper = joint.limit
    held = upper - lower < HELD
    found = {}
    for field, name in (("armature", "armature"), ("friction_loss", "friction")):
        value, where = getattr(joint, field), f"{joint.where or f'joint {joint.name!r}'} {field}"
        if not value:
            continue
        if joint.kind not in DRIVEN:
            report.drop(where, f"a {joint.kind} joint has none here; scene.robot.joints keeps it")
        elif held:
            report.drop(where, "its limits hold the joint where it is")
        elif value < 0.0:
            report.drop(where, f"it is {value:g}, and drives of joints have none below zero")
        elif not wanted:
            report.drop(where, "drives=False leaves it out; scene.robot.joints keeps it")
        else:
            report.keep(where)
            found[name] = value
    return found


def _make(joint: Joint, ends: tuple[str, str], frames: dict[str, Any], report: Report) -> Any:
    """A joint of the scene."""
    where = joint.where or f"joint {joint.name!r}"
    strength = {"breaking_force": joint.breaking_force, "breaking_torque": joint.breaking_torque}
    options: dict[str, Any] = {**frames, **{name: value for name, value in strength.items() if value is not None}}
    limits = [_bounds(pair) for pair in joint.limits]
    if joint.kind in PLAIN:
        if any(limits):
            report.drop(f"{where} limits", f"a {joint.kind} joint has no limits here; scene.robot.joints keeps them")
        return PLAIN[joint.kind](*ends, **options)
    if joint.kind == "distance":
        return kinds.Distance(*ends, length=joint.length, **options)
    if joint.kind == "universal":
        return kinds.Universal(*ends, **options | _two("limits", "limits_b", limits))
    if joint.kind == "cylindrical":
        return kinds.Cylindrical(*ends, **options | _two("limits", "turn_limits", limits))
    if limits and limits[0] is not None and limits[0][1] - limits[0][0] < HELD:
        return _held(joint, ends, options, report)
    options["limits"] = limits[0] if limits else None
    if joint.kind == "screw":
        return kinds.Screw(*ends, pitch=joint.pitch, **options)
    kind = kinds.Revolute if joint.kind == "revolute" else kinds.Prismatic
    return kind(*ends, **options)


def _two(first: str, second: str, limits: list[Any]) -> dict[str, Any]:
    """Limits of a joint of two freedoms."""
    return {name: pair for name, pair in zip((first, second), limits, strict=False) if pair is not None}


def _bounds(pair: tuple[float | None, float | None] | None) -> tuple[float, float] | None:
    """Limits with infinity where there is none; None for none at all."""
    if pair is None or pair == (None, None):
        return None
    lower, upper = pair
    return -np.inf if lower is None else lower, np.inf if upper is None else upper


def _held(joint: Joint, ends: tuple[str, str], options: dict[str, Any], report: Report) -> Any:
    """A joint both of whose limits are the same does not move."""
    value = joint.limit[0]
    report.keep(joint.where or f"joint {joint.name!r}", f"both limits are {value:g}; it is a Fixed joint there")
    point, turn = options["frame_a"]
    return kinds.Fixed(*ends, **{**options, "frame_a": split(from_quaternion(point, turn) @ motion(joint, value))})
