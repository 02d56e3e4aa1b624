"""Moving links without mass: two joints become one where they are one, else the link borrows mass unnoticed.

    m at p taken from a neighbour, s 1 too        p the anchor they have in common, s a small moment

A point mass at a point of both bodies moves alike on either, and the moment of a ball is the same at any turn: total
mass, centre of mass, weight and inertia of the whole stay exactly as they were, at every configuration. Only the
spinning of the link against its neighbour now costs s/2 ω². Where joints slide there is no such point, and the mass
moves with the link.

| joints about a link without mass | one joint |
|---|---|
| two hinges that meet at a right angle | ``universal`` |
| a hinge and a slide along one axis | ``cylindrical`` |
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.io.robots.description import WORLD, Inertia
from rattleback.io.robots.source.placing import inverse, with_axes
from rattleback.maths.inertia import check_inertia

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.builder.parts import Bodies, Part
    from rattleback.io.robots.description import Description, Joint
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

# Parts of the neighbour's mass and least moment that are borrowed; halved until what is left is a body.
SHARE_OF_MASS, SHARE_OF_MOMENT, HALVINGS = 0.01, 0.05, 30
# A point mass is a body whose moments are below this part of its mass times the way to its farthest joint squared, or
# of the longest such way of all bodies. With less the step is of first order only, and does not converge in the end.
THIN, THINNER = 1e-4, 1e-7
# What a link without any neighbour of mass gets [kg, kg m²].
OWN = (1e-3, 1e-6)
# Of the size of the neighbour: radius of the ball as which a link without a shape is shown.
DOT = 0.05
# Axes and points this close are the same [m or rad].
CLOSE = 1e-9
TURNING = ("revolute", "universal", "ball")


def fill_massless(bodies: Bodies, description: Description, report: Report) -> None:
    """Give every moving part a mass, or make it part of a joint."""
    for name in [part.name for part in bodies.parts.values() if part.inertia is None and part.name != WORLD][::-1]:
        above = next((one for one in bodies.joints.values() if one.child == name and not one.closes), None)
        if above is None or above.kind == "free":
            raise InputError(f"Link {name!r} moves freely and has no mass; give it an inertia, or use base='fixed'.")
        if not _joined_to_one(bodies, description, above, report):
            _borrow(bodies, description, above, report)


def thicken(bodies: Bodies, description: Description, report: Report) -> None:
    """Raise moments of inertia that are all nothing beside mass times a way to a joint squared, as of point masses."""
    heavy = [part for part in bodies.parts.values() if part.inertia is not None]
    reach = {part.name: max((_reach(part, one) for one in bodies.joints.values()), default=0.0) for part in heavy}
    for part in heavy:
        own = part.inertia
        assert own is not None
        least = max(THIN * reach[part.name] ** 2, THINNER * max(reach.values()) ** 2) * own.mass
        lacking = least - float(np.linalg.eigvalsh(own.tensor)[2])
        if lacking > 0.0:
            own.tensor = own.tensor + lacking * np.eye(3)
            where = description.links[part.name].where or f"link {part.name!r}"
            report.approximate(f"{where} inertia", f"it is a point mass; its moments are raised by {lacking:.3g} kg m²")


def _reach(part: Part, joint: Joint) -> float:
    """Way from the centre of mass of a part to a joint that holds it [m]; zero for other joints."""
    assert part.inertia is not None
    ends = {joint.parent: joint.frame_parent, joint.child: joint.frame_child}
    return float(np.linalg.norm(ends[part.name][:3, 3] - part.inertia.center)) if part.name in ends else 0.0


def _joined_to_one(bodies: Bodies, description: Description, above: Joint, report: Report) -> bool:
    """Replace the two joints about a part by one of two freedoms, if they are one."""
    name = above.child
    touching = [joint for joint in bodies.joints.values() if name in (joint.parent, joint.child)]
    if len(touching) != 2 or any(joint.closes for joint in touching) or _needed(bodies, description, name, touching):
        return False
    below = touching[0] if touching[1] is above else touching[1]
    made = _one_joint(above, below)
    if made is None:
        return False
    del bodies.joints[below.name], bodies.parts[name]
    bodies.joints[above.name] = made
    for link in [link for link, part in bodies.home.items() if part == name]:
        del bodies.home[link]
    where = description.links[name].where or f"link {name!r}"
    report.keep(where, f"it has no mass; joints {above.name!r} and {below.name!r} are one {made.kind} joint")
    return True


def _needed(bodies: Bodies, description: Description, name: str, joints: list[Joint]) -> bool:
    """Whether anything else refers to the part, or to one of the joints alone."""
    links = set(bodies.parts[name].members)
    told = {joint.name for joint in joints}
    named = {one for coupling in description.couplings for one in (coupling.follower, coupling.leader)}
    driven = {one for actuator in description.actuators for one in actuator.joints}
    drawn = any(description.links[link].geometries for link in links)
    sited = any(site.link in links for site in description.sites.values())
    seen = any(view.link in links for view in description.cameras.values())
    loaded = any(
        joint.damping or joint.stiffness or joint.friction_loss or joint.armature or joint.effort_limit
        for joint in joints
    )
    return bool(drawn or sited or seen or loaded or told & (named | driven))


def _one_joint(above: Joint, below: Joint) -> Joint | None:
    """The joint of two freedoms that two joints are; None if they are none."""
    # Frames of both in that of the part, whose own coordinates are all zero here.
    first, second = above.frame_child, below.frame_parent
    a, b, way = first[:3, 2], second[:3, 2], second[:3, 3] - first[:3, 3]
    limits = (*(above.limits or (None,)), *(below.limits or (None,)))
    if any(joint.start is not None and np.any(joint.start) for joint in (above, below)) or any(limits):
        return None
    if above.kind == below.kind == "revolute" and abs(a @ b) < CLOSE and np.linalg.norm(way) < CLOSE:
        middle = with_axes(b, a, first[:3, 3])
        kind = "universal"
    elif {above.kind, below.kind} == {"revolute", "prismatic"} and np.allclose(a, b, rtol=0, atol=CLOSE):
        if np.linalg.norm(np.cross(a, way)) > CLOSE:
            return None
        middle, kind = first, "cylindrical"
    else:
        return None
    parent = above.frame_parent @ inverse(first) @ middle
    child = below.frame_child @ inverse(second) @ middle
    return replace(above, kind=kind, start=None, child=below.child, limits=(), frame_parent=parent, frame_child=child)


def _borrow(bodies: Bodies, description: Description, above: Joint, report: Report) -> None:
    """Give a part mass and a moment, taken from a neighbour where there is one."""
    part = bodies.parts[above.child]
    for joint, side in _neighbours(bodies, above):
        other = bodies.parts[joint.child if side == "parent" else joint.parent]
        here = joint.frame_parent if side == "parent" else joint.frame_child
        there = joint.frame_child if side == "parent" else joint.frame_parent
        if other.inertia is None:
            continue
        left, mass, moment = _share(other.inertia, there[:3, 3])
        if left is None:
            continue
        _keep_apart(bodies, description, above.child)
        part.dot = DOT * float(np.sqrt(np.trace(other.inertia.tensor) / other.inertia.mass))
        other.inertia, part.inertia = left, Inertia(mass, here[:3, 3].copy(), moment * np.eye(3))
        _tell(description, part, report, (joint, other.name))
        return
    part.inertia = Inertia(OWN[0], above.frame_child[:3, 3].copy(), OWN[1] * np.eye(3))
    _tell(description, part, report, None)


def _keep_apart(bodies: Bodies, description: Description, name: str) -> None:
    """What hangs on both sides of a part without mass does not collide, as if one joint held it."""
    touching = [joint for joint in bodies.joints.values() if not joint.closes and name in (joint.parent, joint.child)]
    others = [joint.parent if joint.child == name else joint.child for joint in touching]
    for k, first in enumerate(others):
        description.exclusions.extend((first, other) for other in others[k + 1 :] if WORLD not in (first, other))


def _neighbours(bodies: Bodies, above: Joint) -> list[tuple[Joint, str]]:
    """Joints of a part with the side it is on: those to what hangs on it first, hinges before slides."""
    below = [one for one in bodies.joints.values() if one.parent == above.child and not one.closes]
    found = [*((joint, "parent") for joint in below), (above, "child")]
    return sorted(found, key=lambda entry: entry[0].kind not in TURNING)


def _share(given: Inertia, point: Floats) -> tuple[Inertia | None, float, float]:
    """What a body can spare at a point."""
    square = float(np.sum((given.center - point) ** 2))
    least = float(np.linalg.eigvalsh(given.tensor)[0])
    mass = min(SHARE_OF_MASS * given.mass, SHARE_OF_MOMENT * least / square if square > 0.0 else np.inf)
    return lent(given, point, mass, SHARE_OF_MOMENT * least)


def lent(given: Inertia, point: Floats, mass: float, moment: float) -> tuple[Inertia | None, float, float]:
    """Take a point mass and a moment from a body, or as much of both as it can spare.

    Args:
        given: The body.
        point: Where the mass is taken from, in the body's frame (3,) [m].
        mass: Mass that is wanted [kg].
        moment: Moment about every axis that is wanted [kg m²].

    Returns:
        What is left of the body, or None if it can spare nothing, and the mass and moment taken.
    """
    arm = given.center - point
    about = given.tensor + given.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    for _ in range(HALVINGS):
        rest = given.mass - mass
        new = arm * given.mass / rest
        tensor = about - moment * np.eye(3) - rest * (new @ new * np.eye(3) - np.outer(new, new))
        try:
            return Inertia(rest, point + new, check_inertia(0.5 * (tensor + tensor.T), "what is left")), mass, moment
        except InputError:
            mass, moment = 0.5 * mass, 0.5 * moment
    return None, 0.0, 0.0


def _tell(description: Description, part: Part, report: Report, source: Any) -> None:
    own = part.inertia
    assert own is not None
    said = f"it moves and has no mass; it gets {own.mass:.3g} kg and {own.tensor[0, 0]:.3g} kg m²"
    if source is not None:
        joint, name = source
        exact = (
            "so that the whole keeps mass, weight and inertia" if joint.kind in TURNING else "which it carries along"
        )
        said += f" of {name!r}, {exact}"
    report.approximate(description.links[part.name].where or f"link {part.name!r}", said)
