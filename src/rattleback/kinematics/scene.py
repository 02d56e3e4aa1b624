"""A scene as a kinematic tree: the same models as the dynamics, moved by their joints' freedoms.

    T_B = T_A F_A M(q) K F_B⁻¹

T_A, T_B frames of the bodies, F_A, F_B frames of the joint on them, M turns and ways of its freedoms one after the
other, K how the frames lie to each other at rest: the identity, but for joints of two crossed axes. From B to A the
same is walked backwards.

Freedoms along and about the axes of A's frame become links without length, ways first. A screw is a turn and a way that
follows it. Angles are zero at the start of the scene, as they are for its stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean
from rattleback.joints.screw import Screw
from rattleback.joints.stop import stops_of
from rattleback.kinematics.link import HERE, Frame, Link, Mimic, as_frame, as_matrix
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
AXES = {"x": X, "y": (0.0, 1.0, 0.0), "z": Z, "a": Z, "b": X}
KINDS = {"turn": "revolute", "slide": "prismatic"}
# The z axis of each frame of two crossed axes is the x axis of the other.
CROSSED = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


class Part(NamedTuple):
    """One freedom: name of its link, kind, axis in A's frame, limits, offset and the joint it follows."""

    name: str
    kind: str
    axis: tuple[float, ...]
    limits: Any
    offset: float
    mimic: Mimic | None


def links_from_scene(scene: Any, root: Any, leave_out: Iterable[str]) -> tuple[list[Link], Frame]:
    """Links of all bodies that hang on the root, and the frame of the base."""
    name = getattr(root, "name", root)
    joints = _followed(scene, leave_out)
    if name == scene.world.name:
        still = [body for body in scene.bodies if body.static and _is_used(body.name, joints)]
        links = [Link(body.name, joint="fixed", place=_start(scene, body.name)) for body in still]
        base, known = Frame(*HERE), {name, *(body.name for body in still)}
    else:
        body = scene[name]
        joints = {label: joint for label, joint in joints.items() if not _held(scene, joint, name)}
        links, base, known = [Link(body.name, joint="fixed")], as_frame(_start(scene, name), "The base"), {body.name}
    while waiting := [label for label, joint in joints.items() if known & {joint.a, joint.b}]:
        label = waiting[0]
        joint = joints.pop(label)
        links += _joined(scene, label, joint, known)
        known |= {joint.a, joint.b}
    if not any(link.moves for link in links):
        raise InputError(f"Nothing that moves hangs on {name!r} in scene {scene.name!r}; add joints, or name a root.")
    return links, base


def _followed(scene: Any, leave_out: Iterable[str]) -> dict[str, Any]:
    left = set(leave_out)
    for name in left - set(scene.joints):
        raise UnknownName(f"There is no joint {name!r} to leave out.{did_you_mean(name, list(scene.joints))}")
    return {label: joint for label, joint in scene.joints.items() if label not in left}


def _is_used(name: str, joints: dict[str, Any]) -> bool:
    return any(name in (joint.a, joint.b) for joint in joints.values())


def _held(scene: Any, joint: Any, root: str) -> bool:
    """Whether a joint leads to the world or to something static, which does not hang on the root."""
    return any(end == scene.world.name or (end != root and scene[end].static) for end in (joint.a, joint.b))


def _joined(scene: Any, label: str, joint: Any, known: set[str]) -> list[Link]:
    """Links of a joint and of the body that hangs on it."""
    if {joint.a, joint.b} <= known:
        if all(end == scene.world.name or scene[end].static for end in (joint.a, joint.b)):
            return []
        raise InputError(f"Joint {label!r} closes a loop; a tree has none. Name a joint of the loop in leave_out=.")
    parts, ends, middle = _parts(scene, label, joint), _ends(scene, joint), _rest(scene, joint)
    if joint.a in known:
        first, last = ends[0], middle @ np.linalg.inv(ends[1])
        parent, child = joint.a, joint.b
    else:
        first, last = ends[1] @ np.linalg.inv(middle), np.linalg.inv(ends[0])
        parent, child = joint.b, joint.a
        parts = [part._replace(axis=tuple(-entry for entry in part.axis)) for part in parts[::-1]]
    links: list[Link] = []
    before = "" if parent == scene.world.name else parent
    for part in parts:
        place = HERE if links else first
        links.append(Link(part.name, before, part.kind, place, part.axis, part.limits, part.offset, part.mimic))
        before = part.name
    return [*links, Link(child, before, "fixed", last if links else first @ last)]


def _parts(scene: Any, label: str, joint: Any) -> list[Part]:
    """The freedoms of a joint, ways first."""
    known = all(name.split("_")[0] in KINDS and name.split("_")[-1] in AXES for name in joint.freedoms)
    if not known or not hasattr(joint, "frames"):
        raise InputError(
            f"Joint {label!r} is a {type(joint).__name__}, which has no coordinates of its own; name it in leave_out=."
        )
    limits = {stop.freedom: np.array([stop.lower, stop.upper]) for stop in stops_of(joint)}
    names = sorted(joint.freedoms, key=lambda name: name.startswith("turn"))
    turns = [name for name in names if name.startswith("turn")] == ["turn_z"]
    start = _twist(scene, joint) if turns else 0.0
    parts = []
    for name in names:
        kind, axis = name.split("_")
        offset = start if kind == "turn" else 0.0
        own = None if name not in limits else tuple((limits[name] + offset).tolist())
        direction = tuple(_rest(scene, joint)[:3, 2].tolist()) if axis == "b" else AXES[axis]
        full = label if len(names) == 1 else f"{label}.{name}"
        parts.append(Part(full, KINDS[kind], direction, own, offset, None))
    if isinstance(joint, Screw):
        row = joint.rows()[-1]
        parts.append(Part(f"{label}.slide_z", "prismatic", Z, None, 0.0, Mimic(label, row.radius_a, row.offset)))
    return parts


def _rest(scene: Any, joint: Any) -> Floats:
    """How B's frame lies to A's where all angles are zero (4, 4); of crossed axes free to move, as at the start."""
    if "turn_a" not in joint.freedoms:
        return np.eye(4)
    if joint.freedoms == ("turn_a", "turn_b"):
        return CROSSED
    found = _between(scene, joint)
    found[:3, :3], found[:3, 3] = rotation.orthonormalise(found[:3, :3]), 0.0
    return found


def _between(scene: Any, joint: Any) -> Floats:
    """B's frame of a joint in A's, at the start (4, 4)."""
    first, second = _ends(scene, joint)
    return np.asarray(np.linalg.inv(_start(scene, joint.a) @ first) @ _start(scene, joint.b) @ second)


def _twist(scene: Any, joint: Any) -> float:
    """Angle of B's frame against A's about the axis, at the start [rad]."""
    _, _, z, w = rotation.quaternion_from_matrix(rotation.orthonormalise(_between(scene, joint)[:3, :3]))
    return float(2.0 * np.arctan2(z, w)) if np.hypot(z, w) > 1e-9 else 0.0


def _ends(scene: Any, joint: Any) -> tuple[Floats, Floats]:
    """Frames of a joint on its bodies (4, 4)."""
    found = []
    for name, point, turn in zip((joint.a, joint.b), joint.points(), joint.frames(), strict=True):
        frame = as_matrix(Frame(tuple(point.tolist()), tuple(turn.tolist())))
        found.append(frame if joint.in_bodies else np.linalg.inv(_start(scene, name)) @ frame)
    return found[0], found[1]


def _start(scene: Any, name: str) -> Floats:
    """Frame of a body at the start (4, 4)."""
    if name == scene.world.name:
        return np.eye(4)
    body = scene[name]
    return as_matrix(Frame(tuple(body.origin.tolist()), tuple(body.orientation.tolist())))
