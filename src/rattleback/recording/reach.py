"""How far what moves will get, told from how it starts: for a camera that shows all of it, and a floor below it.

What hangs stays within the ways from where it hangs, and swings no higher than the energy there is lets it:

    H = (T + V − V₀) / (M g)        s = √(u (2l − u)),  u = H + z₀ − (z_p − l)

T, V energy of a mechanism of mass M, and of those it may be hit by, V₀ the potential where every centre of mass is as
low as it gets, z₀ that height of one of them, p where it hangs, l the way to it, s how far it swings aside. What
flies goes along a parabola for a while, what lies on a slope down it, and what attracts each other around. For a single
pendulum this is exact, for all else an estimate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rattleback.forces import Attraction, Drag
from rattleback.maths.rotation import rotate
from rattleback.recording.linkage import Ways, ends_that_stand, holds_of, ways_from
from rattleback.recording.orbits import orbits
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model import Scene

    Floats = NDArray[np.float64]

# Of many points on which a mechanism hangs, about so many tell how far it gets.
MOST_POINTS = 12
# Flights are looked ahead for twice so long [s].
LONGEST_FLIGHT = 0.6
# What slides or rolls, for so long [s]; on a slope, for so long.
SLIDE, SLOPE = 0.5, 1.0
# Directions and places that differ by less than this, beside one, are the same.
SAME = 1e-6


class Moves(Protocol):
    """How the bodies of a scene lie and move, as moments and the pictures of a page say it."""

    @property
    def scene(self) -> Scene:
        """The scene."""

    @property
    def position(self) -> Floats:
        """Centres of mass (bodies, 3) [m]."""

    @property
    def orientation(self) -> Floats:
        """Quaternions x, y, z, w (bodies, 4)."""

    @property
    def velocity(self) -> Floats:
        """Velocities of the centres of mass (bodies, 3) [m/s]."""

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocities (bodies, 3) [rad/s]."""


class Reach(NamedTuple):
    """How far what moves will get.

    Attributes:
        low: Lower corners of boxes (boxes, 3) [m].
        high: Upper corners (boxes, 3) [m].
        depth: Height that nothing is expected below [m]; −∞ where something may fall on and on.
    """

    low: Floats
    high: Floats
    depth: float


class Mechanism(NamedTuple):
    """Bodies that hang together on what stands.

    Attributes:
        rows: The bodies.
        ways: The ways to them from the points on which they hang.
        points: Where its joints are at the start (points, 3) [m].
        loops: Whether some of them close a loop.
    """

    rows: list[int]
    ways: list[Ways]
    points: Floats
    loops: bool

    def table(self) -> tuple[Floats, Floats, Floats]:
        """Starts of the ways (ways, 3) [m], and their lengths to centres and ends of bodies (ways, bodies) [m]."""
        points = np.array([way.point for way in self.ways])
        centre = np.array([[way.to_centre[row] for row in self.rows] for way in self.ways])
        return points, centre, np.array([[way.to_end[row] for row in self.rows] for way in self.ways])

    def bounds(self) -> tuple[Floats, Floats]:
        """Corners of boxes that its bodies cannot leave, each (bodies, 3) [m]."""
        points, _, end = self.table()
        return np.max(points[:, None] - end[..., None], axis=0), np.min(points[:, None] + end[..., None], axis=0)


def reach(moment: Moves, low: Floats, high: Floats) -> Reach:
    """How far what moves will get.

    Args:
        moment: Where everything is.
        low: Lower corners of boxes around its bodies now (bodies, 3) [m]; not finite for what has no end.
        high: Upper corners (bodies, 3) [m].
    """
    moving = np.array([not body.static for body in moment.scene.bodies], dtype=np.bool_)
    finite = np.all(np.isfinite(high - low), axis=1)
    held = np.zeros(len(moving), dtype=np.bool_)
    depth = float(np.min(low[finite, 2], initial=np.inf))
    mechanisms = list(mechanisms_of(moment.scene))
    boxes = _all_hanging(moment, mechanisms, (low, high))
    for mechanism, (lower, _) in zip(mechanisms, boxes, strict=True):
        held[mechanism.rows] = True
        depth = min(depth, float(lower[:, 2].min()))
    free = moving & ~held & finite
    boxes += _flying(moment, np.flatnonzero(free), (low, high))
    falls = np.any(free) and np.any(moment.scene.gravity) and np.all(moving)
    lows, highs = (np.concatenate([np.zeros((0, 3)), *(box[side] for box in boxes)]) for side in (0, 1))
    return Reach(lows, highs, -math.inf if falls else depth)


def mechanisms_of(scene: Scene) -> Iterator[Mechanism]:
    """The mechanisms of a scene that hang on what stands."""
    holds = holds_of(scene)
    of: dict[int, int] = {}
    groups: list[list[tuple[int, int]]] = []
    for number, side in ends_that_stand(holds, scene):
        row = holds[number].rows[1 - side]
        if row not in of:
            of.update(dict.fromkeys(ways_from(number, side, holds, scene).to_end, len(groups)))
            groups.append([])
        groups[of[row]].append((number, side))
    for group in groups:
        chosen = group[:: 1 + (len(group) - 1) // MOST_POINTS]
        ways = [ways_from(number, side, holds, scene) for number, side in chosen]
        rows = sorted(ways[0].to_end)
        own = [hold.points for hold in holds if {*hold.rows} & {*rows}]
        yield Mechanism(rows, ways, np.concatenate(own), len(own) > len(rows))


def _all_hanging(moment: Moves, mechanisms: list[Mechanism], now: tuple[Floats, Floats]) -> list[tuple[Floats, Floats]]:
    """Corners of boxes that mechanisms stay in, each (boxes, 3) [m]; those that may be hit share their energy."""
    energies = [_energy(moment, mechanism) for mechanism in mechanisms]
    solid = [any(moment.scene.bodies[row].colliders for row in mechanism.rows) for mechanism in mechanisms]
    shared = sum(energy for energy, hit in zip(energies, solid, strict=True) if hit)
    return [
        _hanging(moment, mechanism, now, shared if hit else energy)
        for mechanism, energy, hit in zip(mechanisms, energies, solid, strict=True)
    ]


def _hanging(moment: Moves, mechanism: Mechanism, now: tuple[Floats, Floats], energy: float) -> tuple[Floats, Floats]:
    """Corners of boxes that a mechanism of this energy [J] stays in, each (bodies and points it hangs on, 3) [m]."""
    (points, centre, end), rows = mechanism.table(), mechanism.rows
    own, height = (now[0][rows], now[1][rows]), points[:, None, 2]
    weight = -float(moment.scene.gravity[2]) * sum(moment.scene.bodies[row].mass for row in rows)
    rise = energy / weight if energy > 0.0 and weight > 0.0 else math.inf if energy > 0.0 else 0.0
    # How high each centre gets above where its way hangs down, how far aside it swings then, and its end with it.
    lowest = np.max(height - centre, axis=0)
    lift = np.clip(rise + lowest - (height - centre), 0.0, 2.0 * centre)
    swing = np.where(lift < centre, np.sqrt(lift * (2.0 * centre - lift)), centre)
    turned = np.divide(swing * end, centre, out=end.copy(), where=centre > 0.0)
    out = np.maximum(np.abs(own[0] - points[:, None]), np.abs(own[1] - points[:, None]))[..., :2].max(axis=-1)
    aside = np.minimum(np.maximum(turned + 0.5 * np.max(own[1] - own[0], axis=1) * (swing < end), out), end)
    low, high = mechanism.bounds()
    low[:, :2] = np.max(points[:, None, :2] - aside[..., None], axis=0)
    high[:, :2] = np.min(points[:, None, :2] + aside[..., None], axis=0)
    high[:, 2] = np.minimum(high[:, 2], lowest + rise + np.min(end - centre, axis=0))
    if mechanism.loops:
        # These get less far than their ways: as far again as they are large now, less if they are held at many points.
        least, most = np.min([*own[0], *points], axis=0), np.max([*own[1], *points], axis=0)
        further = min(1.0, 2.0 / len(points)) * float((most - least).max())
        low, high = np.maximum(low, least - further), np.minimum(high, most + further)
    # What is hit leaves its plane.
    flat = _flat(moment, mechanism) & (energy <= _energy(moment, mechanism))
    low, high = np.where(flat, own[0], low), np.where(flat, own[1], high)
    return np.concatenate([np.minimum(low, own[0]), points]), np.concatenate([np.maximum(high, own[1]), points])


def _energy(moment: Moves, mechanism: Mechanism) -> float:
    """Energy of a mechanism, above where it is as low as it gets [J]; ∞ where forces or motors do work."""
    scene, rows = moment.scene, mechanism.rows
    points, centre, _ = mechanism.table()
    mass = np.array([scene.bodies[row].mass for row in rows])
    spin = rotate(moment.orientation[rows] * (-1.0, -1.0, -1.0, 1.0), moment.angular_velocity[rows])
    inertia = np.array([scene.bodies[row].inertia for row in rows])
    kinetic = 0.5 * float(mass @ np.sum(moment.velocity[rows] ** 2, axis=1))
    kinetic += 0.5 * float(np.einsum("bi,bij,bj", spin, inertia, spin))
    if _is_driven(scene) or not falls_down(scene):
        return math.inf if kinetic > 0.0 or np.any(scene.gravity) or _is_driven(scene) else 0.0
    lowest = np.max(points[:, None, 2] - centre, axis=0)
    return kinetic - float(scene.gravity[2]) * float(mass @ (moment.position[rows, 2] - lowest))


def falls_down(scene: Scene) -> bool:
    """Whether what falls in a scene falls straight down."""
    x, y, z = scene.gravity
    return bool(z < 0.0 and x == 0.0 and y == 0.0)


def _flat(moment: Moves, mechanism: Mechanism) -> NDArray[np.bool_]:
    """Along which axes nothing of a mechanism moves, as all of it lies and moves in a plane across them (3,)."""
    places = np.concatenate([moment.position[mechanism.rows], mechanism.points])
    spread = np.ptp(places, axis=0)
    flat = (spread <= SAME * (1.0 + spread.max())) & (moment.scene.gravity == 0.0)
    flat &= ~np.any(moment.velocity[mechanism.rows], axis=0)
    for axis in range(3):
        flat[axis] &= not np.any(np.delete(moment.angular_velocity[mechanism.rows], axis, axis=1))
    return flat & (not _is_driven(moment.scene))


def _is_driven(scene: Scene) -> bool:
    """Whether there are forces that do work."""
    return any(not isinstance(force, Drag) for force in scene.forces.values())


def _flying(moment: Moves, rows: NDArray[np.int64], now: tuple[Floats, Floats]) -> list[tuple[Floats, Floats]]:
    """Corners of boxes that free bodies will go through, each (bodies, 3) [m]."""
    own, position, velocity = (now[0][rows], now[1][rows]), moment.position[rows], moment.velocity[rows]
    gravity, fall = moment.scene.gravity, float(np.linalg.norm(moment.scene.gravity))
    turning = np.any(moment.angular_velocity[rows], axis=1)
    radius = 0.5 * np.max(own[1] - own[0], axis=1)[turning, None]
    found = [own, (position[turning] - radius, position[turning] + radius)]
    level = velocity
    if fall > 0.0:
        # Half the time until it is as high as it was; the highest point, and where it comes down.
        half = np.clip(-(velocity @ gravity) / fall**2, 0.0, LONGEST_FLIGHT)[:, None]
        found += [_moved(own, t * velocity + 0.5 * t**2 * gravity) for t in (half, 2.0 * half)]
        level = velocity - (velocity @ gravity)[:, None] * gravity / fall**2
    for normal, offset in planes_of(moment):
        foot = position + (offset - position @ normal)[:, None] * normal
        down = gravity - (gravity @ normal) * normal
        found += [
            (foot, foot),
            _moved(own, SLOPE * (velocity - (velocity @ normal)[:, None] * normal) + 0.5 * SLOPE**2 * down),
        ]
    rounds = _orbiting(moment, rows, now)
    straight = ~np.isin(rows, [row for one in rounds for row in one[0]])[:, None]
    found.append(_moved(own, SLIDE * straight * level))
    return [*found, *(one[1:] for one in rounds)]


def _orbiting(
    moment: Moves, rows: NDArray[np.int64], now: tuple[Floats, Floats]
) -> list[tuple[NDArray[np.int64], Floats, Floats]]:
    """Free bodies that attract each other: their rows, and corners of boxes they will go through (bodies, 3) [m]."""
    bodies, found = moment.scene.bodies, []
    for force in moment.scene.forces.values():
        if isinstance(force, Attraction) and not np.any(moment.scene.gravity):
            named = force.bodies
            chosen = [row for row in rows if named is None or {bodies[row].name, bodies[row].group} & {*named}]
            own = np.array(chosen, dtype=np.int64)
            mass = np.array([bodies[row].mass for row in own])
            position, velocity = moment.position[own], moment.velocity[own]
            low, high = orbits(force, mass, position, velocity)
            found.append((own, now[0][own] + low - position, now[1][own] + high - position))
    return found


def _moved(box: tuple[Floats, Floats], way: Floats) -> tuple[Floats, Floats]:
    return box[0] + way, box[1] + way


def planes_of(moment: Moves) -> Iterator[tuple[Floats, float]]:
    """Normals (3,) and offsets [m] in the world of the planes of a scene."""
    for row, body in enumerate(moment.scene.bodies):
        for shape in (body.shape,) if body.shape is not None else body.colliders:
            if isinstance(shape, Plane):
                normal = rotate(moment.orientation[row], np.array(shape.normal))
                yield normal, shape.offset + float(normal @ moment.position[row])
