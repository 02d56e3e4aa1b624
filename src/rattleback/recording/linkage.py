"""Linkages: how far the bodies of a mechanism get from where it is held, by the ways along its bodies and joints.

    |x − p| ≤ L(x),    L the length of the shortest way from p to x

p a point that stands, x a point of a body. A way goes straight through bodies, from joint to joint, and along the rods
of distance joints. Over a joint whose points slide along each other it goes only to what cannot be reached otherwise,
and is an estimate from there on. Cost: for each point that stands, the joints times the joints of a body, times a
logarithm.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.maths.rotation import rotate
from rattleback.recording.picture import solid_of
from rattleback.recording.tessellation import tessellate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rattleback.model import Body, Scene

    Floats = NDArray[np.float64]

# Flat pieces around circles of bodies whose farthest points are looked for.
SEGMENTS = 24
# The freedoms of a joint that keeps nothing in its place.
ALL_SLIDES = ("slide_x", "slide_y", "slide_z")


class Hold(NamedTuple):
    """A joint that holds a point of one body at a point of another, where the scene starts.

    Attributes:
        rows: The bodies, −1 for the world.
        points: Where it holds them (2, 3) [m].
        length: How far apart the points are [m].
        slides: Whether they may part.
    """

    rows: tuple[int, int]
    points: Floats
    length: float
    slides: bool


class Ways(NamedTuple):
    """The shortest ways from a point that stands to the bodies of a mechanism.

    Attributes:
        point: The point (3,) [m].
        to_centre: How long they are to the centres of mass, by row of the body [m].
        to_end: The same to the farthest points of the bodies [m].
    """

    point: Floats
    to_centre: dict[int, float]
    to_end: dict[int, float]


def holds_of(scene: Scene) -> list[Hold]:
    """The joints of a scene that hold points together, at a distance, or on a line or a plane."""
    rows, found = {body.name: row for row, body in enumerate(scene.bodies)}, []
    for joint in scene.joints.values():
        freedoms = tuple(getattr(joint, "freedoms", ALL_SLIDES))
        slides = sum(freedom.startswith("slide") for freedom in freedoms)
        if slides == len(ALL_SLIDES) or "roll" in freedoms:
            continue
        sides = rows.get(joint.a, -1), rows.get(joint.b, -1)
        points = np.array(joint.points(), dtype=np.float64)
        if joint.in_bodies:
            points = np.stack([_placed(scene, row, point) for row, point in zip(sides, points, strict=True)])
        apart = float(np.linalg.norm(points[1] - points[0]))
        length = apart if slides else float(getattr(joint, "length", None) or 0.0)
        found.append(Hold(sides, points, length, slides > 0 or hasattr(joint, "pitch")))
    return found


def ways_from(start: int, side: int, holds: Sequence[Hold], scene: Scene) -> Ways:
    """The ways from a point that stands.

    Args:
        start: The hold at which they start.
        side: The side of it, 0 or 1, that stands.
        holds: All holds of the scene.
        scene: The scene.
    """
    at: dict[int, list[tuple[int, int]]] = {}
    for number, hold in enumerate(holds):
        for end in (0, 1):
            at.setdefault(hold.rows[end], []).append((number, end))
    ways, slid = Ways(holds[start].points[side], {}, {}), dict[int, int]()
    waiting, done = [(0, holds[start].length, start, 1 - side)], set()
    while waiting:
        slides, length, number, end = heapq.heappop(waiting)
        row, point = holds[number].rows[end], holds[number].points[end]
        if (number, end) in done or _stands(scene, row) or slides > slid.setdefault(row, slides):
            continue
        done.add((number, end))
        center, farthest = _spans(scene.bodies[row], point)
        ways.to_centre[row] = min(ways.to_centre.get(row, np.inf), length + center)
        ways.to_end[row] = min(ways.to_end.get(row, np.inf), length + farthest)
        for other, near in at[row]:
            hold = holds[other]
            through = length + float(np.linalg.norm(hold.points[near] - point)) + hold.length
            heapq.heappush(waiting, (slides + hold.slides, through, other, 1 - near))
    return ways


def ends_that_stand(holds: Sequence[Hold], scene: Scene) -> Iterator[tuple[int, int]]:
    """Numbers and sides of holds at which something that moves hangs on something that stands."""
    for number, hold in enumerate(holds):
        for side in () if hold.slides else (0, 1):
            if _stands(scene, hold.rows[side]) and not _stands(scene, hold.rows[1 - side]):
                yield number, side


def _stands(scene: Scene, row: int) -> bool:
    return row < 0 or scene.bodies[row].static


def _placed(scene: Scene, row: int, point: Floats) -> Any:
    """A point of a body's frame in the world, where the scene starts (3,) [m]."""
    if row < 0:
        return point
    body = scene.bodies[row]
    return body.position + rotate(body.orientation, point - body.center_of_mass)


def _spans(body: Body, point: Floats) -> tuple[float, float]:
    """How far the centre of mass and the farthest point of a body are from a point of it [m]."""
    surface = tessellate(solid_of(body), SEGMENTS).vertices - body.center_of_mass
    arms = body.position + rotate(body.orientation, surface) - point
    return float(np.linalg.norm(body.position - point)), float(np.linalg.norm(arms, axis=1).max())
