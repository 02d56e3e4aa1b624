"""Joints as what they are: balls, pins, rails, crosses, rods, gears; motors in red, springs as coils."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.forces import Servo, Spring, TorsionSpring
from rattleback.joints import Ball, Cylindrical, Distance, Fixed, Gear, Rack, Revolute, Universal
from rattleback.maths.rotation import conjugate, multiply, rotate
from rattleback.viewer.drawing.batches import Piece, solids
from rattleback.viewer.drawing.bodies import bodies_of, layout_of
from rattleback.viewer.drawing.crowd import Crowd, Member
from rattleback.viewer.drawing.links import Link, Links
from rattleback.viewer.drawing.marks import Mark, marks_of, motor, torsion_spring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene
    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# Radius of a wheel beside the larger of its bodies at most.
WHEEL = 1.5
# Radius of a mark beside the thickness and the length of the thinner body, and beside the scene at most and at least.
OF_THICKNESS, OF_LENGTH, OF_SCENE, LEAST = 0.56, 0.2, 0.025, 0.003
BROKEN = (235, 30, 30)
# Joints that hold a body at a point of it.
HOLDING = (Ball, Cylindrical, Distance, Fixed, Revolute, Universal)
# Under this name frames say which joints are broken.
PROBE = "broken joints"
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


class Joints:
    """The joints and springs of all pictures.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.

    Args:
        window: The page.
    """

    title = "Joints and springs"

    def __init__(self, window: Window) -> None:
        self.visible = True
        self._window = window
        self._crowd: Crowd | None = None
        self._links = Links(window.server.scene)
        self._layout: Layout | None = None
        self._colours = np.zeros((0, 3), dtype=np.uint8)
        self._joint = np.zeros(0, dtype=np.int64)
        self._broken = np.zeros(0, dtype=np.bool_)
        # Bodies whose marks are hidden as they are.
        self._gone: frozenset[str] = frozenset()

    def renew(self, frame: Frame) -> None:
        """Make the marks of another scene."""
        if self._crowd is not None:
            self._crowd.remove()
        self._layout = layout_of(self._window, frame)
        found = list(_members(frame, self._layout))
        members = [member for member, _, _ in found]
        self._colours = np.array([colour for _, colour, _ in found], dtype=np.uint8).reshape(-1, 3)
        self._joint = np.array([joint for _, _, joint in found], dtype=np.int64)
        self._broken = np.zeros(sum(len(picture.scene.joints) for picture in frame.pictures), dtype=np.bool_)
        pose = grounded(frame, self._layout)
        self._crowd = Crowd(self._window.server.scene, "joints", members, pose, self._colours)
        self._gone = frozenset()
        self._links.renew(list(_links(frame, self._layout)), pose)
        # A replay has no session and shows joints as they were made.
        if (session := getattr(self._window, "session", None)) is not None:
            session.do(lambda sim: session.probes.setdefault(PROBE, _read_broken))

    def show(self, frame: Frame) -> None:
        """Put everything where it is now; what is broken is red."""
        if self._crowd is None or self._layout is None:
            return
        self._crowd.visible = self._links.visible = self.visible
        if not self.visible:
            return
        pose = grounded(frame, self._layout)
        bodies = bodies_of(self._window)
        if bodies is not None and bodies.hidden != self._gone:
            self._gone = bodies.hidden
            self._crowd.show_bodies(
                np.array([name not in self._gone for picture in frame.pictures for name in _names(picture)])
            )
        self._crowd.place(*pose)
        self._links.place(*pose)
        self._redden(frame)

    def _redden(self, frame: Frame) -> None:
        told = [picture.probes.get(PROBE) for picture in frame.pictures]
        if self._crowd is None or any(own is None for own in told):
            return
        broken = np.concatenate([np.asarray(own) for own in told])
        if len(broken) == len(self._broken) and np.any(broken != self._broken):
            self._broken = broken
            colours = np.where(broken[self._joint][:, None], BROKEN, self._colours).astype(np.uint8)
            self._crowd.colour(colours)


def grounded(frame: Frame, layout: Layout) -> tuple[Floats, Floats]:
    """Places and orientations of the bodies of all pictures, after those of each the world it is in."""
    places, turns = [], []
    for picture, offset in zip(frame.pictures, layout.offsets, strict=True):
        places += [picture.position + offset, offset[None]]
        turns += [picture.orientation, UPRIGHT[None]]
    return np.concatenate(places), np.concatenate(turns)


def _names(picture: Picture) -> list[str]:
    """Names of the bodies of a picture, and that of its world."""
    return [*(body.name for body in picture.scene.bodies), picture.scene.world.name]


def _members(frame: Frame, layout: Layout) -> Iterator[tuple[Member, tuple[int, int, int], int]]:
    """Marks, their colours and the numbers of their joints."""
    first, number = 0, 0
    for picture in frame.pictures:
        scene = picture.scene
        for name, joint in scene.joints.items():
            radius = _radius(scene, joint, layout.size)
            drives = [drive for force in scene.forces.values() for drive in _drive(force, name, radius)]
            for mark in (*marks_of(as_shown(scene, joint), radius), *drives):
                piece, row = _placed(scene, joint, mark)
                yield Member(piece, first + row, row == len(scene.bodies)), mark.colour, number
            number += 1
        first += len(scene.bodies) + 1


def as_shown(scene: Scene, joint: Any) -> Any:
    """A joint as it is shown: wheels are hardly larger than the bodies they turn."""
    if not isinstance(joint, (Gear, Rack)):
        return joint
    bodies = [body for _, body in (_row(scene, name) for name in (joint.a, joint.b)) if body is not None]
    reach = [float(body.shape.bounding_radius()) for body in bodies if body.shape is not None]
    most = WHEEL * max(reach, default=np.inf)
    if isinstance(joint, Rack):
        return replace(joint, radius=min(joint.radius or most, most))
    part = min(1.0, most / max(joint.radii))
    return replace(joint, radii=tuple(part * radius for radius in joint.radii))


def _drive(force: Any, joint: str, radius: float) -> list[Mark]:
    """What a force that acts on a joint adds to it."""
    kinds = {Servo: motor, TorsionSpring: torsion_spring}
    return kinds[type(force)](radius) if type(force) in kinds and force.joint == joint else []


def _read_broken(sim: Any) -> NDArray[np.bool_]:
    """Which joints of the first world are broken (joints,)."""
    broken: NDArray[np.bool_] = sim.state.breaks.broken.numpy()[: len(sim.scene.joints)] != 0
    return broken


def _row(scene: Scene, name: str) -> tuple[int, Body | None]:
    """Row of a body among those of its scene; the world comes after the last."""
    if name == scene.world.name:
        return len(scene.bodies), None
    row = scene.index(name)
    return row, scene.bodies[row]


def _placed(scene: Scene, joint: Any, mark: Mark) -> tuple[Piece, int]:
    """A mark as a piece of its body, and the row of that."""
    side = "ab".index(mark.side)
    row, body = _row(scene, (joint.a, joint.b)[side])
    point, turn = joint.points()[side], joint.frames()[side]
    if body is not None:
        if not joint.in_bodies:
            back = conjugate(body.orientation)
            point, turn = rotate(back, point - body.origin), multiply(back, turn)
        point = point - body.center_of_mass
    return Piece(mark.key, None, mark.scale, point + rotate(turn, np.array(mark.along)), turn), row


def _radius(scene: Scene, joint: Any, size: float) -> float:
    """How thick a mark of a joint may be [m]."""
    found = [OF_SCENE * size]
    for name in (joint.a, joint.b):
        _, body = _row(scene, name)
        # A body of mass alone is as thick as its inertia says, which may be hardly anything.
        for shape, *_ in solids(body) if body is not None and not _is_bare(body) else ():
            low, high = shape.bounds()
            if np.all(np.isfinite(high - low)):
                found.append(min(OF_THICKNESS * float((high - low).min()), OF_LENGTH * float((high - low).max())))
    return max(min(found), LEAST * size)


def _is_bare(body: Body) -> bool:
    """Whether a body is but a mass."""
    return body.shape is None and not body.colliders


def _links(frame: Frame, layout: Layout) -> Iterator[Link]:
    """What runs between two bodies."""
    first, thin = 0, 0.35 * min(OF_SCENE * layout.size, 0.5 * layout.body)
    for picture in frame.pictures:
        scene = picture.scene
        for joint in scene.joints.values():
            if type(joint) is Distance:
                (one, a), (two, b) = (_placed(scene, joint, Mark(side, "ball", (1.0, 1.0, 1.0))) for side in "ab")
                radius = 0.25 * _radius(scene, joint, layout.size)
                yield Link("rod", (first + a, first + b), (one.position, two.position), radius)
            yield from _arms(scene, joint, first, 0.3 * _radius(scene, joint, layout.size))
        for force in scene.forces.values():
            if isinstance(force, Spring):
                (a, start), (b, end) = _end(scene, force.a, force.at), _end(scene, force.b, force.at_b)
                yield Link("coil", (first + a, first + b), (start, end), thin)
        first += len(scene.bodies) + 1


def _arms(scene: Scene, joint: Any, first: int, radius: float) -> Iterator[Link]:
    """A rod to the centre of mass of a body that does not reach its joint, such as the bob of a pendulum."""
    for side, name in (("a", joint.a), ("b", joint.b)):
        row, body = _row(scene, name)
        if body is None or body.static or type(joint) not in HOLDING:
            continue
        place = _placed(scene, joint, Mark(side, "ball", (1.0, 1.0, 1.0)))[0].position
        reach = 0.0 if body.shape is None else body.shape.bounding_radius() + np.linalg.norm(body.center_of_mass)
        if np.linalg.norm(place) > 1.05 * reach + 1e-9:
            yield Link("rod", (first + row, first + row), (place, np.zeros(3)), radius)


def _end(scene: Scene, name: str, point: Any) -> tuple[int, Floats]:
    """Row of a body and a point of the world at the start, from its centre of mass in its own axes (3,) [m]."""
    row, body = _row(scene, name)
    place = np.array(point)
    return row, place if body is None else rotate(conjugate(body.orientation), place - body.position)
