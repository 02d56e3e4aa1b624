"""What URDF says beside links and joints, mimic joints and loops; and what it has no word for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.formats.loops import KINDS
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from rattleback.io.robots.writers.urdf.robot import Robot

EARTH = (0.0, 0.0, -9.81)
CODES = {"fixed": "6d", "ball": "3d"}


def add_couplings(robot: Robot) -> None:
    """Add mimic elements to joints that follow others."""
    for coupling in robot.description.couplings:
        where = coupling.where or f"coupling of {coupling.follower!r}"
        ends = [robot.single.get(name, "") for name in (coupling.follower, coupling.leader)]
        if not all(ends):
            robot.report.drop(where, "one of its joints has no single coordinate in the tree")
        elif not coupling.linear:
            robot.report.drop(where, "a mimic joint of URDF follows in proportion")
        else:
            slope = coupling.value(1.0) - coupling.value(0.0)
            follower = next(one for one in robot.root.iter("joint") if one.get("name") == ends[0])
            if follower.find("mimic") is not None:
                robot.report.drop(where, "a joint of URDF mimics one other")
                continue
            element(follower, "mimic", joint=ends[1], multiplier=slope, offset=coupling.value(0.0))
            robot.report.keep(where, "as a mimic joint")


def write_loops(robot: Robot) -> None:
    """Write a YAML file beside the file with the frames that close loops, each a link of its own."""
    pairs, kinds, names = [], [], []
    for joint in robot.description.joints.values():
        if not joint.closes:
            continue
        where = f"joint {joint.name!r}"
        if joint.kind not in KINDS.values():
            robot.report.drop(where, f"no file of loops knows a {joint.kind} joint")
            continue
        sides = ((joint.parent, joint.frame_parent), (joint.child, joint.frame_child))
        pairs.append([robot.add_frame(f"{joint.name} {end}", *side) for end, side in zip("ab", sides, strict=True)])
        kinds.append(CODES.get(joint.kind, joint.kind))
        names.append(robot.joints.add(joint.name))
        robot.report.keep(where, f"as a loop in {robot.writing.stem}.yaml, between two links without mass")
        for name in ("limits", "damping", "stiffness", "friction_loss", "armature"):
            if np.any([bool(getattr(joint, name))]):
                robot.report.drop(f"{where} {name}", "a joint that closes a loop of URDF has none")
    if pairs:
        text = f"closed_loop: {json.dumps(pairs)}\ntype: {json.dumps(kinds)}\nname: {json.dumps(names)}\n"
        robot.writing.files[f"{robot.writing.stem}.yaml"] = text.encode()


def tell_rest(robot: Robot) -> None:
    """Tell of what URDF cannot say."""
    description, report = robot.description, robot.report
    if tuple(description.gravity) != EARTH:
        report.drop("gravity", "URDF has none; simulators choose it")
    for line in description.lines:
        report.drop(f"force {line.name!r}", "URDF has no springs")
    for actuator in description.actuators:
        report.drop(actuator.where or f"actuator {actuator.name!r}", "URDF has no drives, only limits of their efforts")
    _tell_links(robot)
    if any(np.any(joint.start) for joint in description.joints.values() if not joint.closes and joint.kind != "free"):
        report.drop("start", "URDF has no state; links are written where all coordinates are zero")
    sensors = [sensor.name for sensor in description.sensors]
    for what, names in (("named state", description.keyframes), ("camera", description.cameras), ("sensor", sensors)):
        for name in names:
            report.drop(f"{what} {name!r}", f"URDF has no {what}s")


def _tell_links(robot: Robot) -> None:
    description, report = robot.description, robot.report
    for link in description.links.values():
        if link.gravity_compensation:
            report.drop(f"{link.where} gravity compensation", "URDF has none")
        if link.velocity is not None:
            report.drop(f"{link.where} velocity", "URDF has no state")
        if any(one.category or one.collides_with is not None for one in link.geometries):
            report.drop(f"{link.where} category", "URDF has no filter of collisions; SRDF files have")
    for kind, pairs in (("exclusion", description.exclusions), ("allowed", description.allowed)):
        for a, b in pairs:
            report.drop(f"{kind} {a!r} {b!r}", "URDF has no filter of collisions; SRDF files have")
