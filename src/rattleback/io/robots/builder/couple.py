"""Joints that follow others, as gears: exact between joints that share a body.

    q_f = Σ c_k (q_l − x₀)^k

| follower and leader | becomes |
|---|---|
| two hinges on different axes | ``Gear``, with a bend where the law is not linear |
| a hinge and a slide | ``Rack``, led by either |
| two slides, two hinges on one axis | a small pinion on the common body that both mesh with |

A gear couples angles seen from the body that carries both wheels; where its centres lie on their axes does not matter,
nor whether the axes are parallel. The pinion copies the leader. Everything is placed so that the law holds, see
``curves``.

Couplings of joints without a common body, of joints of several freedoms and of a degree above four are kept as data.
The kinematic tree follows all that are linear; here they would join more than two bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.builder.bodies import free_name
from rattleback.io.robots.builder.curves import Law, is_possible, law_of, straight
from rattleback.io.robots.builder.massless import lent
from rattleback.io.robots.description import WORLD, Inertia
from rattleback.io.robots.source.placing import inverse, with_axes
from rattleback.io.robots.source.placing import parts as split
from rattleback.joints import Gear, Rack, Revolute
from rattleback.kinematics.pose import make_pose
from rattleback.maths.rotation import matrix_from_quaternion, quaternion_from_axis_angle
from rattleback.shapes import Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.builder.joints import Attached
    from rattleback.io.robots.description import Coupling, Joint
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

    Floats = NDArray[np.float64]

CLOSE = 1e-9
# Of the lighter of two bodies: mass of the pinion between them. It is large, so that it turns little; its moment is
# that of its mass at its radius [m].
PINION_MASS, PINION_RADIUS = 1e-3, 1.0
# Distance of slides below which a pinion is drawn as for this one [m].
SEEN = 0.02
# Distance of a pinion from the axis of two hinges [m].
ASIDE = 0.05


class Pinion(NamedTuple):
    """A pinion between two slides, or two hinges on one axis.

    Attributes:
        body: Name of its body.
        carrier: Part that carries it.
        place: Its frame in that of the carrier at the start (4, 4); it turns about z.
        leader: Joint that turns it.
        turn: Turn of the pinion for a unit of the coordinate of the leader.
    """

    body: str
    carrier: str
    place: Floats
    leader: str
    turn: float


class Wheel(NamedTuple):
    """One of two coupled joints, seen from the body both share.

    Attributes:
        body: Name of the body that moves against the shared one.
        point: A point of its axis in the world at the start (3,) [m].
        axis: Its axis in the world at the start (3,); its motion along or about it is that of the coordinate.
        turning: Whether it is a hinge.
        way: How far its coordinate is, at the start, from where the law is told about [rad or m].
    """

    body: str
    point: Floats
    axis: Floats
    turning: bool
    way: float = 0.0


def add_couplings(
    scene: Scene, attached: Attached, places: dict[str, Floats], start: dict[str, Any], report: Report
) -> list[Pinion]:
    """Add a gear for every coupling that bodies can have; the pinions it takes."""
    pinions: list[Pinion] = []
    for coupling in attached.description.couplings:
        reason = _reason(attached, coupling)
        if not reason:
            law = law_of(coupling, (float(start[coupling.leader] or 0.0), float(start[coupling.follower] or 0.0)))
            reason = _add_coupling(scene, attached, places, (coupling, law, report, pinions))
        if reason:
            kept = "scene.robot.couplings and the kinematic tree keep it"
            report.drop(_place(coupling), f"{reason}, so that the bodies of the scene do not follow; {kept}")
    return pinions


def _place(coupling: Coupling) -> str:
    return coupling.where or f"joint {coupling.follower!r} coupling"


def _reason(attached: Attached, coupling: Coupling) -> str:
    """Why a coupling cannot be made; empty if it may be."""
    joints = attached.bodies.joints
    if not any(coupling.coefficients[1:]):
        return "it holds its joint still"
    if not {coupling.follower, coupling.leader} <= joints.keys():
        return "one of its joints is not there"
    if not is_possible(coupling):
        return "its degree is above four"
    if any(joints[name].kind not in ("revolute", "prismatic") for name in (coupling.follower, coupling.leader)):
        return "one of its joints has several freedoms"
    return ""


def _add_coupling(scene: Scene, attached: Attached, places: dict[str, Floats], told: Any) -> str:
    """Add the gear, rack or pinion of a coupling; why not, where it cannot be done."""
    coupling, law, report, pinions = told
    joints = attached.bodies.joints
    first, second = joints[coupling.follower], joints[coupling.leader]
    shared = [part for part in (first.parent, first.child) if part in (second.parent, second.child)]
    if not shared or first is second:
        return "its joints share no body"
    carrier = shared[0]
    follower, leader = (
        _wheel(attached, places, joint, carrier)._replace(way=way)
        for joint, way in ((first, law.follower), (second, law.leader))
    )
    name = free_name(scene, f"{coupling.follower} coupling", "joint")
    if follower.turning and leader.turning and _apart(follower, leader):
        scene.add_joint(_gear(scene, leader, follower, law), name=name)
    elif follower.turning != leader.turning:
        scene.add_joint(_mixed(scene, (follower, leader), law), name=name)
    else:
        made, frame, turn = _add_pinion(scene, (attached.names[carrier], name), (follower, leader), law)
        pinions.append(Pinion(made, carrier, inverse(places[carrier]) @ frame, coupling.leader, turn))
        what = "hinges" if leader.turning else "slides"
        moves = carrier in attached.names and carrier != WORLD
        origin = "which its carrier lends" if moves else "a body more, as its carrier does not move"
        note = f"both {what} mesh with a pinion of {PINION_MASS:g} of the lighter one's mass, {origin}"
        report.approximate(_place(coupling), note)
    return ""


def _wheel(attached: Attached, places: dict[str, Floats], joint: Joint, carrier: str) -> Wheel:
    """A joint as seen from the carrier: a joint whose child is the carrier moves its parent the other way."""
    moving = joint.child if joint.parent == carrier else joint.parent
    frame = places[joint.parent] @ joint.frame_parent
    axis = frame[:3, 2] if moving == joint.child else -frame[:3, 2]
    point = (places[joint.child] @ joint.frame_child)[:3, 3]
    return Wheel(attached.names[moving], point, axis, joint.kind == "revolute")


def _apart(a: Wheel, b: Wheel) -> bool:
    """Whether two axes are different lines."""
    way = b.point - a.point
    return bool(np.linalg.norm(np.cross(a.axis, b.axis)) > CLOSE or np.linalg.norm(np.cross(way, a.axis)) > CLOSE)


def _gear(scene: Scene, leader: Wheel, follower: Wheel, law: Law) -> Gear:
    """A gear that A leads: R_a f(φ_a) + R_b φ_b = 0, φ = −q, so B turns about the opposite axis where both go alike."""
    p, q = _centres(leader, follower)
    flip = -1.0 if law.slope > 0.0 else 1.0
    ends = [
        (leader.body, about(leader.axis, leader.way, with_axes(q - p, leader.axis, p))),
        (follower.body, about(follower.axis, follower.way, with_axes(p - q, flip * follower.axis, q))),
    ]
    frame_a, frame_b = (split(_in_body(scene, name, frame)) for name, frame in ends)
    # Wheels that touch each other where the axes are nearest.
    size = float(np.linalg.norm(q - p)) / (1.0 + abs(law.slope))
    options: dict[str, Any] = {"radii": (size * abs(law.slope), size), "bend": law.bend(-1.0)}
    return Gear(leader.body, follower.body, frame_a=frame_a, frame_b=frame_b, **options)


def about(axis: Floats, angle: float, frame: Floats) -> Floats:
    """A frame turned about an axis through its origin; the same one where it does not turn."""
    if angle == 0.0:
        return frame
    found = frame.copy()
    found[:3, :3] = matrix_from_quaternion(quaternion_from_axis_angle(axis, angle)) @ frame[:3, :3]
    return found


def _centres(a: Wheel, b: Wheel) -> tuple[Floats, Floats]:
    """Points on two axes whose line is parallel to neither."""
    across, way = np.cross(a.axis, b.axis), b.point - a.point
    square = across @ across
    if square <= CLOSE**2:
        return a.point, b.point - (way @ a.axis) * a.axis
    p = a.point + np.cross(way, b.axis) @ across / square * a.axis
    q = b.point + np.cross(way, a.axis) @ across / square * b.axis
    if np.linalg.norm(q - p) > CLOSE:
        return p, q
    return p + a.axis, q + b.axis


def _mixed(scene: Scene, wheels: tuple[Wheel, Wheel], law: Law) -> Rack:
    """A rack between a hinge and a slide, whichever follows."""
    follower, leader = wheels
    if leader.turning:
        return _rack(scene, leader, follower, (law.slope, law.bend(-1.0), "pinion"))
    return _rack(scene, follower, leader, (1.0 / law.slope, law.bend(np.sign(law.slope)), "rack"))


def _rack(scene: Scene, pinion: Wheel, rack: Wheel, law: tuple[float, Any, str]) -> Rack:
    """A rack that moves by the radius for every radian of the pinion: d · u + R ψ = 0 where ψ turns back."""
    radius, bend, leads = law
    along = rack.axis if radius > 0.0 else -rack.axis
    normal = np.cross(along, pinion.axis)
    if np.linalg.norm(normal) < CLOSE:
        normal = np.eye(3)[int(np.argmin(np.abs(along)))]
    frame_a = with_axes(normal, pinion.axis, pinion.point)
    frame_b = with_axes(frame_a[:3, 0] if abs(frame_a[:3, 0] @ along) < CLOSE else normal, along, pinion.point)
    frame_b[:3, 3] += rack.way * rack.axis
    ends = [(pinion.body, about(pinion.axis, pinion.way, frame_a)), (rack.body, frame_b)]
    first, second = (split(_in_body(scene, name, frame)) for name, frame in ends)
    options = {"radius": abs(radius), "bend": bend, "leads": leads}
    return Rack(pinion.body, rack.body, frame_a=first, frame_b=second, **options)


def _add_pinion(
    scene: Scene, names: tuple[str, str], wheels: tuple[Wheel, Wheel], law: Law
) -> tuple[str, Floats, float]:
    """Add a small pinion on the carrier that both mesh with; its name, its frame, and its turn for the leader's."""
    carrier, name = names
    follower, leader = wheels
    beside = _beside(follower.axis, leader.axis)
    turning, point = leader.axis if leader.turning else beside, leader.point
    if leader.turning:
        point = point + ASIDE * beside
    frame = with_axes(leader.axis if not leader.turning else beside, turning, point)
    made = _pinion_body(scene, (carrier, name), wheels, frame)
    bearing = Revolute(carrier, made, at=point, axis=turning)
    scene.add_joint(bearing, name=free_name(scene, f"{name} bearing", "joint"))
    pinion = Wheel(made, point, turning, True, leader.way if leader.turning else leader.way / PINION_RADIUS)
    copies, leads = _meshes(scene, (follower, leader), pinion, law)
    scene.add_joint(leads, name=free_name(scene, f"{name} follower", "joint"))
    scene.add_joint(copies, name=free_name(scene, f"{name} leader", "joint"))
    return made, frame, 1.0 if leader.turning else 1.0 / PINION_RADIUS


def _meshes(scene: Scene, wheels: tuple[Wheel, Wheel], pinion: Wheel, law: Law) -> tuple[Any, Any]:
    """The joint by which the pinion copies the leader, and the one by which it leads the follower."""
    follower, leader = wheels
    if leader.turning:
        copies = _gear(scene, leader._replace(way=0.0), pinion._replace(way=0.0), straight(1.0))
        return copies, _gear(scene, pinion, follower, law)
    rolls = _rack(scene, pinion._replace(way=0.0), leader._replace(way=0.0), (PINION_RADIUS, None, "pinion"))
    scaled = law.scaled(PINION_RADIUS)
    return rolls, _rack(scene, pinion, follower, (scaled.slope, scaled.bend(-1.0), "pinion"))


def _beside(follower: Floats, leader: Floats) -> Floats:
    """A direction across two axes (3,)."""
    found = np.cross(follower, leader)
    if np.linalg.norm(found) <= CLOSE:
        found = np.cross(leader, np.eye(3)[int(np.argmin(np.abs(leader)))])
    return np.asarray(found / np.linalg.norm(found))


def _pinion_body(scene: Scene, names: tuple[str, str], wheels: tuple[Wheel, Wheel], frame: Floats) -> str:
    """Add the body of a pinion, whose mass and moment its carrier lends; its name."""
    carrier, name = names
    mass = PINION_MASS * min(scene[wheel.body].mass for wheel in wheels)
    made = free_name(scene, f"{name} pinion", "body")
    moment = mass * PINION_RADIUS**2
    if wheels[0].turning:
        moment = PINION_MASS * min(float(np.max(scene[wheel.body].inertia)) for wheel in wheels)
    point, turn = split(frame)
    if carrier in scene and not scene[carrier].static:
        mass, moment = _spare(scene, carrier, np.array(point), (mass, moment))
    # What is seen of it is no larger than what it couples, and nothing collides.
    seen = Sphere(0.1 * max(float(np.linalg.norm(wheels[1].point - wheels[0].point)), SEEN))
    options: dict[str, Any] = {"position": point, "orientation": turn, "collision": None, "name": made}
    scene.add_body(seen, mass=mass, inertia=[moment] * 3, **options)
    return made


def _spare(scene: Scene, name: str, point: Floats, wanted: tuple[float, float]) -> tuple[float, float]:
    """Take the mass and the moment of a pinion from the body that carries it, if that can spare them."""
    body = scene[name]
    own = Inertia(body.mass, body.center_of_mass, body.inertia)
    place = make_pose(body.origin, matrix_from_quaternion(body.orientation))
    left, mass, moment = lent(own, (inverse(place) @ np.append(point, 1.0))[:3], *wanted)
    if left is None:
        return wanted
    scene.change_body(name, mass=left.mass, inertia=left.tensor, center_of_mass=left.center, origin=body.origin)
    return mass, moment


def _in_body(scene: Scene, name: str, frame: Floats) -> Floats:
    """A frame of the world at the start in that of a body."""
    if name == scene.world.name:
        return frame
    body = scene[name]
    return np.asarray(inverse(make_pose(body.origin, matrix_from_quaternion(body.orientation))) @ frame)
