"""A scene from a description.

1  fix or free the roots        ``base``
2  join what is fixed           ``parts``
3  give a mass to what moves    ``massless``
4  add bodies, joints, gears, drives, filters
5  close the loops              ``scene.assemble``
6  part what overlaps           ``overlaps``
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import NotConverged
from rattleback.io.robots.builder.bodies import add_bodies
from rattleback.io.robots.builder.couple import add_couplings
from rattleback.io.robots.builder.drives import add_drives
from rattleback.io.robots.builder.joints import Attached, add_joints
from rattleback.io.robots.builder.looks import colours
from rattleback.io.robots.builder.massless import fill_massless, thicken
from rattleback.io.robots.builder.motion import places, starts, tree_joints
from rattleback.io.robots.builder.overlaps import part_overlapping
from rattleback.io.robots.builder.parts import find_bodies
from rattleback.io.robots.builder.robot import Robot
from rattleback.io.robots.builder.sensors import measures
from rattleback.io.robots.description import WORLD, Joint
from rattleback.model import Scene

if TYPE_CHECKING:
    from rattleback.io.robots.builder.parts import Bodies
    from rattleback.io.robots.description import Description, Inertia
    from rattleback.io.robots.report import Report

# Starts that are tried where loops do not close from that of the file, and how far they are away at most [rad or m].
TRIES, REACH = 20, 2.0


def build_scene(description: Description, report: Report, base: str | None = None, drives: bool = True) -> Scene:
    """The scene of a description; what is lost on the way is told to the report.

    Args:
        description: What is built.
        report: Where losses are told.
        base: ``"fixed"`` or ``"floating"`` for the roots; None for what the file says.
        drives: Whether joints get the armature and the friction loss of the file.
    """
    set_base(description, base)
    _hold(description, report)
    bodies = find_bodies(description, report)
    told = {part.name: None if part.inertia is None else replace(part.inertia) for part in bodies.parts.values()}
    fill_massless(bodies, description, report)
    thicken(bodies, description, report)
    start = starts(description)
    where = places(description, start)
    scene = Scene(description.gravity, description.name or "robot")
    scene.combine(**description.combine)
    names, still = add_bodies(scene, description, bodies, where, report)
    attached = Attached(description, bodies, names, still, drives)
    robot = Robot(description, bodies, names, drives)
    robot.masses.update(_masses(bodies, names, told))
    robot.joint_names.update(add_joints(scene, attached, report))
    robot.start.update(start)
    robot.pinions.extend(add_couplings(scene, attached, where, start, report))
    add_drives(scene, attached, robot, report)
    robot.measures.update(measures(robot, report))
    robot.colours.update(colours(attached))
    _tell_starts(description, start, report)
    vars(scene).update(robot=robot, import_report=report)
    _add_filters(scene, attached, report)
    return _closed(scene, attached, report)


def _masses(
    bodies: Bodies, names: dict[str, str], told: dict[str, Inertia | None]
) -> dict[str, tuple[Inertia | None, Inertia]]:
    """Mass properties of bodies as in the file, and as they got them."""
    own = {name: part.inertia for name, part in bodies.parts.items() if name != WORLD}
    return {names[name]: (told[name], replace(inertia)) for name, inertia in own.items() if inertia is not None}


def set_base(description: Description, base: str | None) -> None:
    """Fix the roots to the world, or let them go."""
    if base is None:
        return
    above = {joint.child: joint for joint in description.joints.values() if not joint.closes}
    for name, link in description.links.items():
        joint = above.get(name)
        root = joint is None or (joint.parent == WORLD and joint.kind in ("fixed", "free"))
        if name == WORLD or not root:
            continue
        if base == "fixed" and (joint is None or joint.kind == "free"):
            label = joint.name if joint else f"{name} base"
            description.joints[label] = Joint(label, "fixed", WORLD, name, frame_parent=link.place)
        elif base == "floating" and joint is not None and joint.kind == "fixed" and _heavy(description, name):
            link.place = joint.frame_parent @ np.linalg.inv(joint.frame_child)
            del description.joints[joint.name]


def _hold(description: Description, report: Report) -> None:
    """A coupling without a leader holds its joint still, whatever the limits of that."""
    for coupling in [one for one in description.couplings if not one.leader]:
        description.couplings.remove(coupling)
        joint, value = description.joints[coupling.follower], coupling.value(0.0)
        if joint.kind not in ("revolute", "prismatic"):
            report.drop(coupling.where, f"it holds a {joint.kind} joint")
            continue
        lower, upper = joint.limit
        if not lower <= value <= upper:
            report.approximate(
                coupling.where, f"it holds its joint at {value:g}, outside its limits, which are left out"
            )
        joint.limits, joint.start = ((value, value),), value


def _heavy(description: Description, root: str) -> bool:
    """Whether a link, or what is fixed to it, has mass."""
    fixed = {root}
    for joint in tree_joints(description):
        if joint.kind == "fixed" and joint.parent in fixed:
            fixed.add(joint.child)
    return any(description.links[name].inertia is not None for name in fixed)


def _add_filters(scene: Scene, attached: Attached, report: Report) -> None:
    """Keep pairs from colliding, or let them."""
    for pairs, say in ((attached.description.exclusions, scene.exclude), (attached.description.allowed, scene.allow)):
        for pair in pairs:
            sides = {_body_of(scene, attached, link) for link in pair}
            if len(sides) == 2 and "" not in sides:
                say(*sorted(sides))


def _body_of(scene: Scene, attached: Attached, link: str) -> str:
    """The body of a link; empty where there is none."""
    part = attached.bodies.home.get(link, WORLD)
    name = attached.still.get(link, "") if part == WORLD else attached.names[part]
    return name if name in scene else ""


def _tell_starts(description: Description, start: dict[str, Any], report: Report) -> None:
    for name, value in start.items():
        joint = description.joints[name]
        if joint.start is None and value is not None and np.any(np.asarray(value, dtype=np.float64)):
            report.keep(joint.where or f"joint {name!r}", f"zero is outside its limits; it starts at {value:g}")


def _closed_from_elsewhere(scene: Scene) -> bool:
    """Try to close the loops from other configurations, the nearest first; the first that works is kept."""
    robot: Any = scene.robot
    rng, before = np.random.default_rng(0), list(scene.bodies)
    single = [
        name for name, joint in robot.joints.items() if not joint.closes and joint.kind in ("revolute", "prismatic")
    ]
    for attempt in range(TRIES):
        state = {}
        for name in single:
            lower, upper = robot.joints[name].limit
            moved = float(robot.start[name] or 0.0) + rng.uniform(-1.0, 1.0) * REACH * (attempt + 1) / TRIES
            state[name] = min(max(moved, lower), upper)
        robot.pose(scene, state)
        try:
            scene.assemble()
        except NotConverged:
            continue
        return True
    scene.renew(dict(enumerate(before)), {}, {})
    return False


def _closed(scene: Scene, attached: Attached, report: Report) -> Scene:
    """The scene with its loops closed, and what overlaps then parted."""
    _close(scene, report)
    part_overlapping(scene, attached, report)
    return scene


def _close(scene: Scene, report: Report) -> None:
    """Close the loops, if there are any."""
    if not scene.joints:
        return
    try:
        found = scene.assemble()
    except NotConverged as error:
        if not _closed_from_elsewhere(scene):
            report.approximate("loops", f"they stay open at the start; {error}")
        else:
            report.keep("loops", "they cannot be closed from where the file puts the links; another start was found")
        return
    if found.iterations:
        report.keep("loops", f"bodies were moved until all joints were closed, to {found.position_error:.2g} m")
