"""The description of a scene: what it is now, with what it still knows of the file it was made from.

1  bodies            links, those that stand still fixed to the world
2  joints            frames on both bodies; gears, racks and dampers told by the joints they act on
3  trees             ``hang``: which joints bodies hang by, in a format that knows certain kinds of them
4  start             coordinates of these joints, read from where the bodies lie
5  forces, filters, frames, named states
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.description import COORDINATES, WORLD, Description, Inertia, Joint, Link
from rattleback.io.robots.survey import borrowed
from rattleback.io.robots.survey.forces import add_forces
from rattleback.io.robots.survey.gears import add_couplings, give_back, skip_pinions
from rattleback.io.robots.survey.joints import add_dampers, add_joints
from rattleback.io.robots.survey.robot import add_data, add_frames, add_keyframes
from rattleback.io.robots.survey.shapes import geometries
from rattleback.io.robots.survey.surveyed import Surveyed
from rattleback.io.robots.survey.tree import between, coordinates, hang, level, opening
from rattleback.model.filter import category_bits, excluded_pairs, predicate_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from rattleback.io.robots.report import Report
    from rattleback.model import Body, Scene

# A joint further open than this at the start is told of [m or rad].
OPEN = 1e-6


def describe(scene: Scene, report: Report, able: Collection[str], massless: str) -> Description:
    """The description of a scene.

    Args:
        scene: The scene.
        report: Where is told what no description holds.
        able: Kinds of joints that bodies can hang by in the format that is written.
        massless: Which links without mass it has, see ``borrowed``.
    """
    surveyed = Surveyed(scene, Description(scene.name, gravity=_gravity(scene), combine=asdict(scene.rules)), report)
    description = surveyed.description
    skip_pinions(surveyed)
    for body in scene.bodies:
        if body.name not in surveyed.skipped:
            _add_body(surveyed, body)
    give_back(surveyed)
    add_joints(surveyed)
    add_dampers(surveyed)
    add_data(surveyed)
    add_couplings(surveyed)
    hang(description, {*able, "fixed"})
    _add_roots(surveyed)
    _add_starts(surveyed)
    add_forces(surveyed)
    _add_filters(surveyed)
    add_frames(surveyed)
    add_keyframes(surveyed)
    borrowed.give_back(surveyed, massless)
    return description


def _gravity(scene: Scene) -> tuple[float, float, float]:
    x, y, z = scene.gravity.tolist()
    return x, y, z


def _add_body(surveyed: Surveyed, body: Body) -> None:
    """Add a link, and for a static body the joint that fixes it."""
    frame, where, report = surveyed.frames[body.name], f"body {body.name!r}", surveyed.report
    link = Link(body.name, where, frame)
    link.geometries = geometries(surveyed, body)
    surveyed.description.links[body.name] = link
    spinning = bool(body.velocity.any() or body.angular_velocity.any())
    if body.static:
        name = f"{body.name} mount"
        fixed = Joint(name, "fixed", WORLD, body.name, frame, where=where)
        surveyed.description.joints[name] = fixed
        if spinning:
            report.drop(f"{where} velocity", "a link that is fixed to the world does not move")
    else:
        link.inertia = Inertia(body.mass, body.center_of_mass.copy(), body.inertia.copy())
        if spinning:
            arm = frame[:3, :3] @ body.center_of_mass
            at_frame = body.velocity - np.cross(body.angular_velocity, arm)
            link.velocity = np.concatenate([at_frame, body.angular_velocity])
    if body.margin:
        report.drop(f"{where} margin", "shells around shapes are not kept")
    if body.continuous:
        report.drop(f"{where} continuous", "it is a choice of the simulator")
    if body.group:
        report.drop(f"{where} group", "groups are names for programs; pairs that never collide are kept one by one")
    if any(body.material.surface_velocity):
        report.drop(f"{where} surface velocity", "surfaces of these formats do not move")


def _add_roots(surveyed: Surveyed) -> None:
    """Say of links that hang on nothing that they are free."""
    description = surveyed.description
    above = {joint.child for joint in description.joints.values() if not joint.closes}
    taken = description.joints
    for name, link in description.links.items():
        if name not in above:
            label = f"{name} free"
            while label in taken:
                label += "'"
            taken[label] = Joint(label, "free", WORLD, name, where=link.where)
    # Free links first, so that loops stay last.
    order = sorted(taken.values(), key=lambda joint: joint.closes)
    described = {joint.name: joint for joint in order}
    taken.clear()
    taken.update(described)


def _add_starts(surveyed: Surveyed) -> None:
    """Read the coordinates of joints of the trees from where the bodies lie, and tell of joints that are open."""
    frames = {**surveyed.frames, WORLD: np.eye(4)}
    for joint in surveyed.description.joints.values():
        way = between(joint, frames)
        if not joint.closes and joint.kind not in COORDINATES:
            level(joint, frames)
        elif not joint.closes:
            joint.start = coordinates(joint, way)
        gap = opening(joint, way)
        if gap > OPEN:
            told = "the links hang where it is closed" if not joint.closes else "so it is in the file"
            surveyed.report.approximate(f"joint {joint.name!r}", f"it is open by {gap:.3g} at the start; {told}")


def _add_filters(surveyed: Surveyed) -> None:
    """Pairs that never collide, but for those that a joint holds; and of these the ones that do collide."""
    scene, description, report = surveyed.scene, surveyed.description, surveyed.report
    row = {body.name: number for number, body in enumerate(scene.bodies)}
    joined = {
        tuple(sorted((row[joint.a], row[joint.b])))
        for name, joint in scene.joints.items()
        if name in surveyed.joints and scene.world.name not in (joint.a, joint.b)
    }
    category, met = category_bits(scene)
    for first, second in sorted(excluded_pairs(scene) ^ joined):
        a, b = scene.bodies[first], scene.bodies[second]
        lists = description.allowed if (first, second) in joined else description.exclusions
        able = a.colliders and b.colliders and not (a.static and b.static) and not {a.name, b.name} & surveyed.skipped
        # Categories that keep two bodies apart are told by themselves.
        if able and category[first] & met[second] and category[second] & met[first]:
            lists.append((a.name, b.name))
    for predicate in scene.predicates:
        report.keep(f"exclude_if {predicate_name(predicate)!r}", "as the pairs that it names")
    for one, other in scene.pairs:
        told = f"friction {one.friction:g} and {other.friction:g}"
        report.drop(f"pair of materials of {told}", "coefficients belong to single materials in these formats")
