"""Where the links are: forward kinematics of a description, with the coordinates of its own joints.

    T_child = T_parent F_parent M(q) F_child⁻¹

F_parent, F_child frames of the joint on both links, M the motion of its kind, see ``description``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.io.robots.description import COORDINATES, WORLD
from rattleback.io.robots.source.placing import about_x, about_z, from_quaternion, inverse, shift

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Coupling, Description, Joint

    Floats = NDArray[np.float64]

LITTLE = 1e-12
# How far inside its limits a joint starts that follows by a curve, so that closing loops does not lead it out.
INSIDE = 1e-7


def motion(joint: Joint, value: Any) -> Floats:
    """The motion of a joint (4, 4) at a coordinate; one that is None is zero."""
    count = COORDINATES.get(joint.kind, 0)
    if joint.kind in ("ball", "free"):
        rest = [0.0] * (count - 1) + [1.0]
        q = checks.array(rest if value is None else value, (count,), f"The coordinate of joint {joint.name!r}")
        return from_quaternion(q[:-4], q[-4:]) if count > 4 else from_quaternion((0.0, 0.0, 0.0), q)
    given = np.atleast_1d(np.zeros(count) if value is None else value)
    q = checks.array(given, (count,), f"The coordinate of joint {joint.name!r}")
    if joint.kind == "revolute":
        return about_z(q[0])
    if joint.kind == "prismatic":
        return shift(0.0, 0.0, q[0])
    if joint.kind == "screw":
        return shift(0.0, 0.0, q[0] * joint.pitch / (2.0 * np.pi)) @ about_z(q[0])
    if joint.kind == "cylindrical":
        return shift(0.0, 0.0, q[0]) @ about_z(q[1])
    if joint.kind == "universal":
        return about_z(q[0]) @ about_x(q[1])
    if joint.kind == "planar":
        return shift(q[0], q[1], 0.0) @ about_z(q[2])
    return np.eye(4)


def tree_joints(description: Description) -> list[Joint]:
    """The joints of the trees, every joint after the one its parent hangs on.

    Raises:
        InputError: A link hangs on two joints, or on itself.
    """
    waiting = [joint for joint in description.joints.values() if not joint.closes]
    above: dict[str, Joint] = {}
    for joint in waiting:
        if joint.child in above:
            raise InputError(
                f"Link {joint.child!r} hangs on two joints, {above[joint.child].name!r} and {joint.name!r}."
            )
        above[joint.child] = joint
    children: dict[str, list[Joint]] = {}
    for joint in waiting:
        children.setdefault(joint.parent, []).append(joint)
    tops = list(dict.fromkeys([WORLD, *(name for name in description.links if name not in above)]))
    found, stack = [], [joint for name in tops[::-1] for joint in children.get(name, [])[::-1]]
    while stack:
        joint = stack.pop()
        found.append(joint)
        stack.extend(children.get(joint.child, [])[::-1])
    if len(found) < len(waiting):
        lost = sorted(joint.child for joint in waiting if all(joint is not known for known in found))
        raise InputError(f"The links {listing(lost)} hang on each other in a circle.")
    return found


def start_of(joint: Joint) -> Any:
    """Coordinate at the start: as said, else zero, or the value within the limits that is nearest to it."""
    if joint.start is not None or not joint.limits or COORDINATES.get(joint.kind, 0) in (0, 4, 7):
        return joint.start
    values = np.zeros(COORDINATES[joint.kind])
    for place, bounds in enumerate(joint.limits):
        if bounds is not None:
            lower, upper = (far if one is None else one for one, far in zip(bounds, (-np.inf, np.inf), strict=True))
            values[place] = min(max(0.0, lower), upper)
    return float(values[0]) if len(values) == 1 else values


def starts(description: Description) -> dict[str, Any]:
    """Coordinates of all joints of the trees at the start, those that follow others last."""
    found = {joint.name: start_of(joint) for joint in tree_joints(description)}
    for coupling in description.couplings:
        if coupling.leader not in found or coupling.follower not in found:
            continue
        if not coupling.linear:
            joints = description.joints
            ends = joints[coupling.leader].limit, joints[coupling.follower].limit
            found[coupling.leader] = _nearest(coupling, float(found[coupling.leader] or 0.0), *ends)
        else:
            lower, upper = _leading(coupling, description.joints[coupling.follower].limit)
            value = float(found[coupling.leader] or 0.0)
            if not lower <= value <= upper and lower <= upper:
                found[coupling.leader] = min(max(value, lower), upper)
    found = followed(description, found)
    for coupling in description.couplings:
        if coupling.follower in found:
            lower, upper = description.joints[coupling.follower].limit
            found[coupling.follower] = min(max(found[coupling.follower], lower), upper)
    return found


def _nearest(coupling: Coupling, value: float, own: tuple[float, float], limits: tuple[float, float]) -> float:
    """The value of a leader nearest to one, within its limits, at which its follower keeps its own; or that one."""
    known = [value]
    for limit in (limit for limit in limits if np.isfinite(limit)):
        roots = np.polynomial.Polynomial((coupling.coefficients[0] - limit, *coupling.coefficients[1:])).roots()
        real = roots[np.abs(roots.imag) <= INSIDE * (1.0 + np.abs(roots))].real + coupling.origin
        known += [float(root) + side * INSIDE for root in real for side in (-1.0, 1.0)]
    fitting = [x for x in known if own[0] <= x <= own[1] and limits[0] <= coupling.value(x) <= limits[1]]
    return min(fitting, key=lambda x: abs(x - value), default=value)


def _leading(coupling: Coupling, limits: tuple[float, float]) -> tuple[float, float]:
    """Range of a leader in which its follower keeps its limits."""
    start, slope = coupling.value(0.0), coupling.value(1.0) - coupling.value(0.0)
    if slope == 0.0:
        return -np.inf, np.inf
    ends = sorted((limit - start) / slope for limit in limits)
    # A little inside, so that rounding does not lead the follower out again.
    inside = LITTLE * (1.0 + max(abs(end) for end in ends if np.isfinite(end))) if np.isfinite(ends).any() else 0.0
    return ends[0] + inside, ends[1] - inside


def followed(description: Description, coordinates: Mapping[str, Any]) -> dict[str, Any]:
    """Coordinates with those that follow others as these say."""
    found = dict(coordinates)
    for _ in description.couplings:
        for coupling in description.couplings:
            if coupling.follower in found:
                found[coupling.follower] = coupling.value(float(found.get(coupling.leader) or 0.0))
    return found


def places(description: Description, coordinates: Mapping[str, Any]) -> dict[str, Floats]:
    """Frames of all links in the world (4, 4), by name; a joint that is left out is at zero."""
    check_joints(description, coordinates)
    found = {WORLD: np.eye(4)}
    joints = tree_joints(description)
    hanging = {joint.child for joint in joints}
    found |= {name: link.place for name, link in description.links.items() if name not in hanging}
    for joint in joints:
        moved = joint.frame_parent @ motion(joint, coordinates.get(joint.name)) @ inverse(joint.frame_child)
        found[joint.child] = found[joint.parent] @ moved
    return found


def check_joints(description: Description, names: Iterable[str]) -> None:
    """Refuse names of joints that are not there."""
    known = [name for name, joint in description.joints.items() if not joint.closes]
    for name in names:
        if name not in known:
            raise UnknownName(f"There is no joint {name!r}.{did_you_mean(name, known)} There are {listing(known)}.")
