"""Gears and racks as couplings between the joints that bear their wheels.

    R_a ω_a + R_b ω_b = 0      gear       ω turns about the axes of its wheels, R radii with signs, from the carrier
    v_b = R ω_a                rack       v way of the rack along its direction
    s q̇_f = c s' q̇_l                      s, s' signs of both joints against the wheels

With a bend the law is a polynomial of the leader about where it is now. A pinion between two slides, or two hinges on
one axis, as files that couple such give, is taken away again, and its mass goes back to the body that carries it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from rattleback.io.robots.description import WORLD, Coupling, Inertia
from rattleback.io.robots.source.placing import inverse
from rattleback.io.robots.survey.joints import file_names, frame_on
from rattleback.io.robots.survey.tree import between, coordinates
from rattleback.joints import Gear, Rack, Revolute
from rattleback.joints.bend import bend_of
from rattleback.maths import inertia as inertia_maths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Joint
    from rattleback.io.robots.survey.surveyed import Surveyed

    Floats = NDArray[np.float64]

CLOSE = 1e-9
# How far the centre of a wheel may lie from the axis that bears it [m].
OFF = 1e-6


class Borne(NamedTuple):
    """A wheel or a rack on the joint that bears it.

    Attributes:
        joint: The joint.
        carrier: Link on its other side.
        sign: Rate of the wheel, or of the rack, for a unit rate of the joint.
    """

    joint: Joint
    carrier: str
    sign: float


def skip_pinions(surveyed: Surveyed) -> None:
    """Set aside the pinions between slides of the file, with their joints."""
    scene = surveyed.scene
    for pinion in surveyed.robot.pinions if surveyed.robot else ():
        touching = {name for name, joint in scene.joints.items() if pinion.body in (joint.a, joint.b)}
        if pinion.body in scene and len(touching) == 3:
            surveyed.skipped |= {pinion.body, *touching}


def give_back(surveyed: Surveyed) -> None:
    """Give the mass of pinions that were set aside to what carries them."""
    scene = surveyed.scene
    for pinion in surveyed.robot.pinions if surveyed.robot else ():
        if pinion.body not in surveyed.skipped:
            continue
        joints = [joint for joint in scene.joints.values() if pinion.body in (joint.a, joint.b)]
        carrier = next(joint.a for joint in joints if isinstance(joint, Revolute))
        surveyed.report.keep(f"body {pinion.body!r}", "it only stands for a coupling, which is written")
        link = surveyed.description.links.get(surveyed.link(carrier))
        if link is None or link.inertia is None:
            continue
        body, own = scene[pinion.body], link.inertia
        seen = inverse(surveyed.frames[carrier]) @ surveyed.frames[pinion.body]
        turn, center = seen[:3, :3], (seen @ np.append(body.center_of_mass, 1.0))[:3]
        both = [(own.mass, own.center, own.tensor), (body.mass, center, turn @ body.inertia @ turn.T)]
        link.inertia = Inertia(*inertia_maths.combine([(m, c, 0.5 * (j + j.T)) for m, c, j in both]))


def add_couplings(surveyed: Surveyed) -> None:
    """Add a coupling for every gear and rack whose wheels have a common carrier, and those of the file."""
    _add_of_file(surveyed)
    for name, joint in surveyed.scene.joints.items():
        if name in surveyed.skipped or not isinstance(joint, (Gear, Rack)):
            continue
        made = _coupling(surveyed, joint)
        if made is None:
            why = "no two joints of one body bear its wheels, so that it couples more than two coordinates"
            surveyed.report.drop(f"joint {name!r}", why)
            continue
        made.where = f"joint {name!r}"
        known = {frozenset((one.follower, one.leader)) for one in surveyed.description.couplings}
        if frozenset((made.follower, made.leader)) not in known:
            surveyed.description.couplings.append(made)
            note = f"as the coupling of {made.follower!r} to {made.leader!r}, which starts where both are now"
            surveyed.report.keep(made.where, note)
        else:
            surveyed.report.keep(made.where, "it stands for a coupling of the file, which is written")


def _add_of_file(surveyed: Surveyed) -> None:
    """Couplings of the file whose gear still stands, whose pinion was set aside, or that the scene keeps as data."""
    names = set(file_names(surveyed).values())
    for told in surveyed.robot.couplings if surveyed.robot else ():
        if {told.follower, told.leader} <= names:
            where = f"coupling of {told.follower!r}"
            made = Coupling(told.follower, told.leader, told.coefficients, told.origin, where)
            surveyed.description.couplings.append(made)


def _coupling(surveyed: Surveyed, joint: Any) -> Coupling | None:
    """The coupling that a gear or rack is: B follows A."""
    first = _bearers(surveyed, joint, 0, ("revolute",))
    second = _bearers(surveyed, joint, 1, ("prismatic",) if isinstance(joint, Rack) else ("revolute",))
    pair = next(((a, b) for a in first for b in second if a.carrier == b.carrier and a.joint is not b.joint), None)
    if pair is None:
        return None
    row, (wheel, other) = joint.rows()[0], pair
    frames = {WORLD: np.eye(4), **surveyed.frames}
    now = [float(coordinates(one.joint, between(one.joint, frames))) for one in (wheel, other)]
    if row.radius_b and isinstance(joint, Rack):
        # f(d · u) + R ψ = const, ψ falls as the wheel turns.
        start = _place(surveyed, joint)
        law = _law(joint, start, other.sign) / (row.radius_a * wheel.sign)
        return _about(law, (other.joint.name, now[1]), (wheel.joint.name, now[0]))
    ratio = -row.radius_a if isinstance(joint, Rack) else row.radius_a / row.radius_b
    law = ratio / other.sign * _law(joint, _azimuth(surveyed, joint), -wheel.sign)
    return _about(law, (wheel.joint.name, now[0]), (other.joint.name, now[1]))


def _law(joint: Any, start: float, sign: float) -> Polynomial:
    """F of what leads as a polynomial of the way of its joint from now, without its value there."""
    f = Polynomial((0.0, 1.0, *bend_of(joint)))
    found = f(Polynomial((start, sign)))
    return found - found(0.0)


def _about(law: Polynomial, leader: tuple[str, float], follower: tuple[str, float]) -> Coupling:
    """The coupling of a law between joints that are at given coordinates."""
    slopes = law.coef.tolist()
    while len(slopes) > 2 and slopes[-1] == 0.0:
        slopes.pop()
    if len(slopes) == 2:
        return Coupling(follower[0], leader[0], (follower[1] - slopes[1] * leader[1], slopes[1]))
    return Coupling(follower[0], leader[0], (follower[1] + slopes[0], *slopes[1:]), leader[1])


def _ends(surveyed: Surveyed, joint: Any) -> tuple[Floats, Floats]:
    """Frames of a joint on both bodies, in the world."""
    names = (WORLD if joint.a == surveyed.scene.world.name else joint.a, joint.b)
    frames = {WORLD: np.eye(4), surveyed.scene.world.name: np.eye(4), **surveyed.frames}
    first, second = (frames[name] @ frame_on(surveyed, joint, side) for side, name in enumerate(names))
    return first, second


def _azimuth(surveyed: Surveyed, joint: Any) -> float:
    """Angle of the line of centres, or of the rack's normal, seen from A."""
    first, second = _ends(surveyed, joint)
    seen = second[:3, 0] if isinstance(joint, Rack) else second[:3, 3] - first[:3, 3]
    x, y, _ = first[:3, :3].T @ seen
    return float(np.arctan2(y, x))


def _place(surveyed: Surveyed, joint: Any) -> float:
    """How far a rack is along itself."""
    first, second = _ends(surveyed, joint)
    return float((second[:3, 3] - first[:3, 3]) @ second[:3, 2]) - joint.rows()[0].offset


def _bearers(surveyed: Surveyed, joint: Any, side: int, kinds: tuple[str, ...]) -> list[Borne]:
    """Joints that bear the wheel or the rack of a side, about or along the same axis."""
    link = surveyed.link((joint.a, joint.b)[side])
    own = frame_on(surveyed, joint, side)
    found = []
    for one in surveyed.description.joints.values():
        if one.kind not in kinds or link not in (one.parent, one.child):
            continue
        child = one.child == link
        frame = one.frame_child if child else one.frame_parent
        cosine = float(frame[:3, 2] @ own[:3, 2])
        aside = np.cross(own[:3, 3] - frame[:3, 3], frame[:3, 2])
        if abs(abs(cosine) - 1.0) < CLOSE and (one.kind == "prismatic" or np.linalg.norm(aside) < OFF):
            found.append(Borne(one, one.parent if child else one.child, np.sign(cosine) * (1.0 if child else -1.0)))
    return found
