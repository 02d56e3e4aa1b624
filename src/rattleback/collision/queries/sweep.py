"""Shape casts: how far a shape can be moved along a straight line until it touches something.

    f(t) = distance(A + t u, B)      t ← t + f / (−n · u)

u unit direction of the motion, n normal from B to A. For convex A and B, f is the distance of a point from their
Minkowski difference and so convex in t: while it falls, Newton's method comes ever nearer to the first contact and
never passes it, however fast the motion or thin the obstacle; where f no longer falls, nothing is touched. Compounds go
part by part, surfaces triangle by triangle.

Cost: a narrow phase for each of about five rounds, over the parts whose boxes meet the box of the motion.

Reference: van den Bergen (2004), Ray casting against general convex objects with application to continuous collision
detection (the Minkowski difference).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import PLANE
from rattleback.collision.queries.pairwise import Answers, check_kinds, method_of, narrow
from rattleback.collision.queries.placed_colliders import arrange, upload
from rattleback.collision.queries.placement import joined, paired, read, rows
from rattleback.collision.queries.ray import one
from rattleback.collision.queries.triangles import split
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import epsilon
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.collision.queries.placed_colliders import Arrangement

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Motions that graze halve their distance with each round; this many leave nothing of it.
MOST_ROUNDS = 100
# Parts of the sizes and ways involved at which shapes count as touching.
CLOSE = 64.0 * epsilon


@sealed
@dataclass(frozen=True, eq=False)
class Touch:
    """Where moving shapes first touch something; with one motion, single values without the leading axis.

    Attributes:
        hit: Whether they do, shape (motions,).
        fraction: Part of the displacement that is free, from 0 to 1, shape (motions,); 1 where nothing is touched.
        distance: Length of the way that is free [m], shape (motions,).
        point: Where they touch, world frame [m], shape (motions, 3); not a number where nothing is touched.
        normal: Unit normal there from the obstacle to the moving shape, shape (motions, 3).
        index: Which of the obstacles, shape (motions,); −1 for none.
        part: Which of its parts, shape (motions,).
    """

    hit: Any
    fraction: Any
    distance: Any
    point: Any
    normal: Any
    index: Any
    part: Any


@dataclass(frozen=True, eq=False)
class Meetings:
    """Parts that may touch on the way: one row for each part of a motion and each part or triangle of an obstacle."""

    motion: Ints
    a: Ints
    b: Ints
    part: Ints


def shape_cast(
    shape: Any, displacement: ArrayLike, against: Any, narrowphase: Any = "closed_forms", *, device: str = "cpu"
) -> Touch:
    """Where shapes that are moved, without turning, first touch something.

    A shape that overlaps an obstacle at the start touches it at fraction 0.

    Args:
        shape: What is moved: a placement with bounds.
        displacement: Where to [m], shape (3,), or (motions, 3) for as many entries of the placement or for one.
        against: The obstacles: a placement or a list of them.
        narrowphase: How distances are found, a name from the menu or an object.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """
    method = method_of(narrowphase)
    movers, obstacles = read(shape, "The moving shape"), read(against, "The obstacles")
    ways = rows(displacement, 3, "The displacement")
    count = paired(len(movers), len(ways), "A shape cast", "moving shapes", "displacements")
    arrangement = arrange(joined([movers, obstacles]), device)
    if int(PLANE) in arrangement.kind[arrangement.owner < len(movers)]:
        raise InputError("The moving shape has a Plane, which has no end; move the obstacles instead.")
    mover = np.broadcast_to(np.arange(len(movers)), count)
    ways = np.broadcast_to(ways, (count, 3))
    meetings = _candidates(arrangement, mover, ways, len(movers))
    time, answers = _advance(arrangement, meetings, ways, method)
    sweep = _first(arrangement, (meetings, time, answers), ways, len(movers))
    many = movers.many or np.ndim(displacement) > 1
    return sweep if many else Touch(*(one(getattr(sweep, name)) for name in Touch.__annotations__))


def _candidates(arrangement: Arrangement, mover: Ints, ways: Floats, movers: int) -> Meetings:
    """The parts, and the triangles, whose boxes meet the boxes of the motions."""
    own = arrangement.count[mover]
    motion = np.repeat(np.arange(len(mover)), own)
    a = arrangement.first[mover][motion] + np.arange(len(motion)) - (np.cumsum(own) - own)[motion]
    crowd, places = _crowd(arrangement, a)
    still = len(arrangement.owner)
    places["lower"][still:] += np.minimum(ways[motion], 0.0)
    places["upper"][still:] += np.maximum(ways[motion], 0.0)
    row, b = _boxes_meet(places, still, np.flatnonzero(arrangement.owner >= movers))
    check_kinds(arrangement, a[row], b)
    swept = replace(crowd, places=upload(Places, places, crowd.device))
    member, part = split(swept, still + row, b, np.zeros(len(b)))
    row, b = row[member], b[member]
    return Meetings(motion[row], a[row], b, part.astype(np.int64))


def _boxes_meet(places: dict[str, Any], still: int, others: Ints) -> tuple[Ints, Ints]:
    """Which of the boxes from ``still`` on meet which of the others."""
    low, high = places["lower"][others], places["upper"][others]
    rows, columns = [others[:0]], [others[:0]]
    for k in range(len(places["lower"]) - still):
        near = ((low <= places["upper"][still + k]) & (high >= places["lower"][still + k])).all(axis=1)
        columns.append(others[near])
        rows.append(np.full(len(columns[-1]), k))
    return np.concatenate(rows), np.concatenate(columns)


def _advance(arrangement: Arrangement, meetings: Meetings, ways: Floats, method: Any) -> tuple[Floats, Answers]:
    """For every meeting the way until they touch, infinite if they do not, and the answer where they do."""
    length = np.linalg.norm(ways, axis=1)
    unit = (ways / np.where(length > 0.0, length, 1.0)[:, None])[meetings.motion]
    end, time = length[meetings.motion], np.zeros(len(meetings.a))
    crowd, base = _crowd(arrangement, meetings.a)
    size = _sizes(crowd, meetings) + end
    answers, active = _answer(crowd, base, (meetings, unit * time[:, None]), method, np.arange(len(time))), time == 0.0
    for _ in range(MOST_ROUNDS):
        falling = -np.einsum("ij,ij->i", answers.normal, unit)
        touching = answers.separation <= CLOSE * size
        time[active & ~touching & (falling <= 0.0)] = np.inf
        active &= ~touching & (falling > 0.0)
        time[active] += answers.separation[active] / falling[active]
        time[active & (time > end)] = np.inf
        active &= np.isfinite(time)
        if not (going := np.flatnonzero(active)).size:
            break
        fresh = _answer(crowd, base, (meetings, unit * np.where(active, time, 0.0)[:, None]), method, going)
        for name in Answers.__annotations__:
            getattr(answers, name)[going] = getattr(fresh, name)
    return time, answers


def _crowd(arrangement: Arrangement, moving: Ints) -> tuple[Arrangement, dict[str, Any]]:
    """The arrangement with copies of colliders that move behind all others; and the places of all."""
    source = np.concatenate([np.arange(len(arrangement.owner)), moving])
    columns = {name: column[source] for name, column in arrays.read(arrangement.geometry.colliders).items()}
    colliders = upload(Colliders, columns, arrangement.device)
    places = {name: column[source] for name, column in arrays.read(arrangement.places).items()}
    geometry = replace(arrangement.geometry, colliders=colliders, each=len(source), names=("",) * len(source))
    return replace(arrangement, geometry=geometry, kind=arrangement.kind[source]), places


def _answer(
    crowd: Arrangement, base: dict[str, Any], moved: tuple[Meetings, Floats], method: Any, going: Ints
) -> Answers:
    """The answers for the meetings that are still going on, with the moving parts where they are now."""
    meetings, offset = moved
    still = len(crowd.owner)
    position = base["position"].copy()
    position[still:] += offset
    places = upload(Places, {**base, "position": position}, crowd.device)
    return narrow(crowd, places, (still + going, meetings.b[going], meetings.part[going]), method)


def _sizes(crowd: Arrangement, meetings: Meetings) -> Floats:
    """The sizes that rounding is relative to: how far both parts reach."""
    reach = np.maximum(crowd.geometry.colliders.reach.numpy().astype(np.float64), 0.0)
    return reach[meetings.a] + reach[meetings.b]


def _first(arrangement: Arrangement, found: tuple[Meetings, Floats, Answers], ways: Floats, movers: int) -> Touch:
    """The first contact of every motion."""
    meetings, time, answers = found
    count, length = len(ways), np.linalg.norm(ways, axis=1)
    order = np.lexsort((meetings.b, answers.separation, time, meetings.motion))
    order = order[np.isfinite(time[order])]
    motion, where = np.unique(meetings.motion[order], return_index=True)
    chosen = order[where]
    hit, index, part = np.zeros(count, dtype=bool), np.full(count, -1), np.full(count, -1)
    free, point, normal = length.copy(), np.full((count, 3), np.nan), np.full((count, 3), np.nan)
    hit[motion], free[motion] = True, time[chosen]
    point[motion], normal[motion] = answers.point_b[chosen], answers.normal[chosen]
    collider = meetings.b[chosen]
    index[motion] = arrangement.owner[collider] - movers
    part[motion] = collider - arrangement.first[arrangement.owner[collider]]
    fraction = np.where(hit, free / np.where(length > 0.0, length, 1.0), 1.0)
    return Touch(hit, fraction, free, point, normal, index, part)
