"""Joints that follow others, as gears: exact between joints that share a body.

    q_f = c₀ + c₁ q_l

| follower and leader | becomes |
|---|---|
| two hinges on different axes | ``Gear``; its radii are as 1 to |c₁|, its wheels touch, its centres lie on the axes |
| a hinge and a slide | ``Rack`` of radius |c₁| or 1/|c₁| |
| two slides | a small pinion on the common body that both roll on |

A gear couples angles seen from the body that carries both wheels; where its centres lie on their axes does not matter,
nor whether the axes are parallel. Everything is placed so that the condition holds at the start.

Couplings that are not linear, of hinges on one axis, and of joints without a common body are kept as data. The
kinematic tree follows all that are linear; here they would join more than two bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.builder.bodies import free_name
from rattleback.io.robots.builder.massless import lent
from rattleback.io.robots.description import Inertia
from rattleback.io.robots.source.placing import inverse, with_axes
from rattleback.io.robots.source.placing import parts as split
from rattleback.joints import Gear, Rack, Revolute
from rattleback.kinematics.pose import make_pose
from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.shapes import Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.builder.joints import Attached
    from rattleback.io.robots.description import Coupling, Joint
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

    Floats = NDArray[np.float64]

CLOSE = 1e-9
# Of the lighter of two slides: mass of the pinion between them. It is large, so that it turns little; its moment is
# that of its mass at its radius [m].
PINION_MASS, PINION_RADIUS = 1e-3, 1.0
# Distance of slides below which a pinion is drawn as for this one [m].
SEEN = 0.02


class Pinion(NamedTuple):
    """A pinion between two slides.

    Attributes:
        body: Name of its body.
        carrier: Part that carries it.
        place: Its frame in that of the carrier at the start (4, 4); it turns about z.
        leader: Joint that turns it, by its way over the radius of the pinion.
    """

    body: str
    carrier: str
    place: Floats
    leader: str


class Wheel(NamedTuple):
    """One of two coupled joints, seen from the body both share.

    Attributes:
        body: Name of the body that moves against the shared one.
        point: A point of its axis in the world at the start (3,) [m].
        axis: Its axis in the world at the start (3,); its motion along or about it is that of the coordinate.
        turning: Whether it is a hinge.
    """

    body: str
    point: Floats
    axis: Floats
    turning: bool


def add_couplings(scene: Scene, attached: Attached, places: dict[str, Floats], report: Report) -> list[Pinion]:
    """Add a gear for every coupling that two bodies can have; the pinions it takes."""
    pinions: list[Pinion] = []
    for coupling in attached.description.couplings:
        reason = _reason(attached, coupling)
        if not reason:
            reason = _add_coupling(scene, attached, places, (coupling, report, pinions))
        if reason:
            kept = "scene.robot.couplings and the kinematic tree keep it"
            report.drop(_place(coupling), f"{reason}, so that the bodies of the scene do not follow; {kept}")
    return pinions


def _place(coupling: Coupling) -> str:
    return coupling.where or f"joint {coupling.follower!r} coupling"


def _reason(attached: Attached, coupling: Coupling) -> str:
    """Why a coupling cannot be made; empty if it may be."""
    joints = attached.bodies.joints
    if coupling.coefficients[1:2] in ((), (0.0,)) and coupling.linear:
        return "it holds its joint still"
    if not {coupling.follower, coupling.leader} <= joints.keys():
        return "one of its joints is not there"
    if not coupling.linear:
        return "it is not linear"
    if any(joints[name].kind not in ("revolute", "prismatic") for name in (coupling.follower, coupling.leader)):
        return "one of its joints has several freedoms"
    return ""


def _add_coupling(scene: Scene, attached: Attached, places: dict[str, Floats], told: Any) -> str:
    """Add the gear, rack or pinion of a coupling; why not, where it cannot be done."""
    coupling, report, pinions = told
    joints = attached.bodies.joints
    first, second = joints[coupling.follower], joints[coupling.leader]
    shared = [part for part in (first.parent, first.child) if part in (second.parent, second.child)]
    if not shared or first is second:
        return "its joints share no body"
    carrier, ratio = shared[0], coupling.coefficients[1]
    wheels = [_wheel(attached, places, joint, carrier) for joint in (first, second)]
    name = free_name(scene, f"{coupling.follower} coupling", "joint")
    if wheels[0].turning and wheels[1].turning and _apart(*wheels):
        scene.add_joint(_gear(scene, wheels[0], wheels[1], ratio), name=name)
    elif wheels[0].turning != wheels[1].turning:
        scene.add_joint(_mixed(scene, wheels, ratio), name=name)
    elif wheels[0].turning:
        return "its hinges have one axis"
    else:
        made, frame = _add_pinion(scene, (attached.names[carrier], name), wheels, ratio)
        pinions.append(Pinion(made, carrier, inverse(places[carrier]) @ frame, coupling.leader))
        told = f"both slides roll on a pinion of {PINION_MASS:g} of the lighter one's mass, which its carrier lends"
        report.approximate(_place(coupling), told)
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


def _gear(scene: Scene, a: Wheel, b: Wheel, ratio: float) -> Gear:
    """A gear with ω_a = ratio ω_b against the carrier: R_a ω_a + R_b ω_b = 0, so b turns about the opposite axis."""
    p, q = _centres(a, b)
    axis_b = -b.axis if ratio > 0.0 else b.axis
    ends = [(a.body, with_axes(q - p, a.axis, p)), (b.body, with_axes(p - q, axis_b, q))]
    frame_a, frame_b = (split(_in_body(scene, name, frame)) for name, frame in ends)
    # Wheels that touch each other where the axes are nearest.
    size = float(np.linalg.norm(q - p)) / (1.0 + abs(ratio))
    return Gear(a.body, b.body, frame_a=frame_a, frame_b=frame_b, radii=(size, size * abs(ratio)))


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


def _mixed(scene: Scene, wheels: list[Wheel], ratio: float) -> Rack:
    """A rack between a hinge and a slide, whichever follows."""
    if wheels[0].turning:
        return _rack(scene, wheels[0], wheels[1], 1.0 / ratio)
    return _rack(scene, wheels[1], wheels[0], ratio)


def _rack(scene: Scene, pinion: Wheel, rack: Wheel, radius: float) -> Rack:
    """A rack that moves by the radius for every radian of the pinion: d · u + R ψ = 0 where ψ turns back."""
    along = rack.axis if radius > 0.0 else -rack.axis
    normal = np.cross(along, pinion.axis)
    if np.linalg.norm(normal) < CLOSE:
        normal = np.eye(3)[int(np.argmin(np.abs(along)))]
    frame_a = with_axes(normal, pinion.axis, pinion.point)
    frame_b = with_axes(frame_a[:3, 0] if abs(frame_a[:3, 0] @ along) < CLOSE else normal, along, pinion.point)
    ends = [(pinion.body, frame_a), (rack.body, frame_b)]
    first, second = (split(_in_body(scene, name, frame)) for name, frame in ends)
    return Rack(pinion.body, rack.body, frame_a=first, frame_b=second, radius=abs(radius))


def _add_pinion(scene: Scene, names: tuple[str, str], wheels: list[Wheel], ratio: float) -> tuple[str, Floats]:
    """Add a small pinion on the carrier, and both slides as racks on it; its name and frame."""
    carrier, name = names
    a, b = wheels
    across = np.cross(a.axis, np.eye(3)[int(np.argmin(np.abs(a.axis)))])
    if np.linalg.norm(np.cross(a.axis, b.axis)) > CLOSE:
        across = np.cross(a.axis, b.axis)
    across /= np.linalg.norm(across)
    mass = PINION_MASS * min(scene[wheel.body].mass for wheel in wheels)
    made = free_name(scene, f"{name} pinion", "body")
    moment = mass * PINION_RADIUS**2
    if carrier in scene and not scene[carrier].static:
        mass, moment = _spare(scene, carrier, a.point, (mass, moment))
    frame = with_axes(a.axis, across, a.point)
    # What is seen of it is no larger than what it couples, and nothing collides.
    seen = Sphere(0.1 * max(float(np.linalg.norm(b.point - a.point)), SEEN))
    turn = split(frame)[1]
    options: dict[str, Any] = {"position": a.point, "orientation": turn, "collision": None, "name": made}
    scene.add_body(seen, mass=mass, inertia=[moment] * 3, **options)
    bearing = Revolute(carrier, made, at=a.point, axis=across)
    scene.add_joint(bearing, name=free_name(scene, f"{name} bearing", "joint"))
    pinion = Wheel(made, a.point, across, True)
    scene.add_joint(_rack(scene, pinion, a, ratio * PINION_RADIUS), name=free_name(scene, f"{name} follower", "joint"))
    scene.add_joint(_rack(scene, pinion, b, PINION_RADIUS), name=free_name(scene, f"{name} leader", "joint"))
    return made, frame


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
