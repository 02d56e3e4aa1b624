"""Joints of URDF: single ones, and chains of them with links without mass in between.

A joint stands at the origin of the frame of its child and turns about, or slides along, an axis of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.description import FAR
from rattleback.io.robots.source.placing import from_quaternion, inverse
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Joint
    from rattleback.io.robots.writers.urdf.robot import Robot

    Floats = NDArray[np.float64]

X, Y, Z = np.eye(3)
# Beyond this the pitch angle is a right angle, and roll and yaw are one.
GIMBAL = 1e-12


class Move(NamedTuple):
    """One joint of a chain: the end of its name, its kind, its axis, and which limits it has."""

    end: str
    kind: str
    axis: Floats
    place: int | None = None


CHAINS: dict[str, tuple[Move, ...]] = {
    "fixed": (Move("", "fixed", Z),),
    "revolute": (Move("", "revolute", Z, 0),),
    "prismatic": (Move("", "prismatic", Z, 0),),
    "planar": (Move("", "planar", Z),),
    "free": (Move("", "floating", Z),),
    "screw": (Move(".slide_z", "prismatic", Z), Move(".turn_z", "revolute", Z, 0)),
    "cylindrical": (Move(".slide_z", "prismatic", Z, 0), Move(".turn_z", "revolute", Z, 1)),
    "universal": (Move(".turn_a", "revolute", Z, 0), Move(".turn_b", "revolute", X, 1)),
    "ball": (Move(".turn_x", "revolute", X), Move(".turn_y", "revolute", Y), Move(".turn_z", "revolute", Z)),
}
TOLD = {
    "screw": "as a slide that mimics a hinge, with a link of no mass between",
    "cylindrical": "as a slide and a hinge, with a link of no mass between",
    "universal": "as two hinges, with a link of no mass between",
}
SINGULAR = "as three hinges about x, y and z with links of no mass between; they are singular at a quarter turn about y"


def add_joint(robot: Robot, joint: Joint) -> None:
    """Add a joint of the trees."""
    moves = CHAINS[joint.kind]
    place = inverse(robot.origins[joint.parent]) @ _rest(joint) @ robot.origins[joint.child]
    turn = (inverse(robot.origins[joint.child]) @ joint.frame_child)[:3, :3]
    above, names = robot.link(joint.parent), [robot.joints.add(f"{joint.name}{move.end}") for move in moves]
    for number, (name, move) in enumerate(zip(names, moves, strict=True)):
        below = robot.link(joint.child)
        if number < len(moves) - 1:
            below = robot.links.add(f"{joint.child}.{number + 1}")
            element(robot.root, "link", name=below)
        whole = len(moves) == 1 or (joint.kind == "screw" and number == 1)
        if whole:
            robot.single[joint.name] = name
        kind = "continuous" if move.kind == "revolute" and not _both(_limit(joint, move)) else move.kind
        made = element(robot.root, "joint", name=name, type=kind)
        element(made, "parent", link=above)
        element(made, "child", link=below)
        element(made, "origin", **posed(place if number == 0 else np.eye(4)))
        if joint.kind not in ("fixed", "free"):
            element(made, "axis", xyz=turn @ move.axis)
        _add_law(made, joint, move, whole)
        if joint.kind == "screw" and number == 0:
            lead = joint.pitch / (2.0 * np.pi)
            element(made, "mimic", joint=names[1], multiplier=lead, offset=0.0)
        above = below
    _tell(robot, joint)


def _rest(joint: Joint) -> Floats:
    """Frame of the child in the parent's where the frames of a joint coincide; of a free link, where it starts."""
    if joint.kind == "free" and joint.start is not None:
        return from_quaternion(joint.start[:3], joint.start[3:])
    return np.asarray(joint.frame_parent @ inverse(joint.frame_child))


def _limit(joint: Joint, move: Move) -> tuple[float | None, float | None] | None:
    return joint.limits[move.place] if move.place is not None and move.place < len(joint.limits) else None


def _both(pair: tuple[float | None, float | None] | None) -> bool:
    return pair is not None and None not in pair


def _add_law(made: Element, joint: Joint, move: Move, whole: bool) -> None:
    """Add limits, damping and friction."""
    pair = _limit(joint, move)
    limits: dict[str, Any] = {}
    if pair is not None and (_both(pair) or move.kind == "prismatic"):
        limits = {"lower": -FAR if pair[0] is None else pair[0], "upper": FAR if pair[1] is None else pair[1]}
    elif move.kind == "prismatic":
        limits = {"lower": -FAR, "upper": FAR}
    if limits or (whole and (_told(joint.effort_limit) or _told(joint.velocity_limit))):
        drive = {"effort": joint.effort_limit, "velocity": joint.velocity_limit} if whole else {}
        told = {name: value if _told(value) else FAR for name, value in drive.items()}
        element(made, "limit", **{**limits, **{"effort": FAR, "velocity": FAR}, **told})
    if whole and (joint.damping or joint.friction_loss):
        element(made, "dynamics", damping=joint.damping, friction=joint.friction_loss)


def _told(value: float | None) -> bool:
    return value is not None and 0.0 < value < FAR


def _tell(robot: Robot, joint: Joint) -> None:
    where, report = f"joint {joint.name!r}", robot.report
    if joint.kind == "ball":
        report.approximate(where, SINGULAR)
    elif joint.where == where:
        report.keep(where, TOLD.get(joint.kind, ""))
    for move in CHAINS[joint.kind]:
        pair = _limit(joint, move)
        if pair is not None and move.kind == "revolute" and not _both(pair):
            report.drop(f"{where} limits", "a hinge of URDF has both limits or none")
        elif pair is not None:
            report.keep(f"{where} limits")
    whole = len(CHAINS[joint.kind]) == 1 or joint.kind == "screw"
    for name, kept in (("damping", True), ("friction_loss", True), ("armature", False), ("stiffness", False)):
        if getattr(joint, name) and joint.kind not in ("fixed", "free"):
            tell = report.keep if kept and whole else report.drop
            tell(f"{where} {name}", "" if kept and whole else "joints of URDF have none")
    for name in ("effort_limit", "velocity_limit"):
        if _told(getattr(joint, name)):
            report.keep(f"{where} {name}")
    if joint.breaking_force is not None or joint.breaking_torque is not None:
        report.drop(f"{where} strength", "joints of URDF do not break")


def posed(frame: Floats) -> dict[str, Any]:
    """A frame as the attributes of an origin."""
    return {"xyz": frame[:3, 3], "rpy": roll_pitch_yaw(frame[:3, :3])}


def roll_pitch_yaw(turn: Floats) -> tuple[float, float, float]:
    """Angles about the fixed x, y and z axes, in this order, that give a rotation [rad]."""
    cosine = float(np.hypot(turn[0, 0], turn[1, 0]))
    pitch = float(np.arctan2(-turn[2, 0], cosine))
    if cosine < GIMBAL:
        return float(np.arctan2(-turn[1, 2], turn[1, 1])), pitch, 0.0
    return float(np.arctan2(turn[2, 1], turn[2, 2])), pitch, float(np.arctan2(turn[1, 0], turn[0, 0]))
