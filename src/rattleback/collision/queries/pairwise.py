"""Pairs of entries put to the narrow phase: every part of one against every part of the other, the least counts.

    distance(A, B) = min { separation(a, b) : a part of A, b part of B }

Many pairs are tested in portions, so that memory stays bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision import narrowphase
from rattleback.collision.geometry.solid import MESH, PLANE
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.queries.placed_colliders import upload
from rattleback.collision.queries.triangles import first_parts, split
from rattleback.core import arrays
from rattleback.core.choice import choose, name_of
from rattleback.core.errors import InputError
from rattleback.core.stages import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.collision.geometry.colliders import Places
    from rattleback.collision.queries.placed_colliders import Arrangement

    Ints = NDArray[np.int64]

# So many pairs of parts are tested at once; a surface counts as many, for its triangles.
PORTION, SURFACE = 500_000, 64
# Farther than anything, yet sums of it are finite; pairs that no method answers keep it.
NOWHERE = float(FAR)


@dataclass(frozen=True, eq=False)
class Answers:
    """What the narrow phase says of pairs of entries, one row each.

    Attributes:
        separation: Signed distances (pairs,) [m]; infinite where no parts were near enough to be tested.
        normal: Unit normals from B to A (pairs, 3).
        point_a: Points of A's surface, world frame (pairs, 3) [m].
        point_b: Points of B's surface, world frame (pairs, 3) [m].
        collider_a: Collider of A (pairs,).
        collider_b: Collider of B (pairs,).
    """

    separation: NDArray[np.float64]
    normal: NDArray[np.float64]
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    collider_a: Ints
    collider_b: Ints


def method_of(given: Any) -> Any:
    """The narrow phase of this name, or the object itself."""
    return choose("narrow phase", given, narrowphase.MENU, narrowphase.NEEDS)


def meet(arrangement: Arrangement, first: Ints, second: Ints, method: Any, gap: float = NOWHERE) -> Answers:
    """The answers for pairs of entries.

    Args:
        arrangement: The entries.
        first: PlacedEntries A (pairs,).
        second: PlacedEntries B (pairs,).
        method: The narrow phase.
        gap: Distance of interest [m]; beyond it answers may be anything larger.
    """
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in Answers.__annotations__}
    each = SURFACE if int(MESH) in arrangement.kind else 1
    for begin, end in _portions(each * arrangement.count[first] * arrangement.count[second]):
        pair, a, b = _parts(arrangement, first[begin:end], second[begin:end])
        check_kinds(arrangement, a, b)
        answers = _least(look(arrangement, arrangement.places, (a, b), method, gap), pair, end - begin)
        for name, column in columns.items():
            column.append(getattr(answers, name))
    return Answers(**{name: np.concatenate(column) for name, column in columns.items()})


def look(
    arrangement: Arrangement, places: Places, pairs: tuple[Ints, Ints], method: Any, gap: float
) -> tuple[Ints, Answers]:
    """For pairs of colliders, the pair every item belongs to and the answer for it; of surfaces, one for a triangle."""
    bound = np.full(len(pairs[0]), gap)
    if int(MESH) in arrangement.kind and gap >= NOWHERE:
        near = narrow(arrangement, places, (*pairs, first_parts(arrangement, *pairs)), method)
        bound = np.maximum(near.separation, 0.0)
    member, part = split(arrangement, *pairs, bound)
    a, b = (column[member] for column in pairs)
    return member, narrow(arrangement, places, (a, b, part), method, gap)


def narrow(
    arrangement: Arrangement, places: Places, parts: tuple[Any, Any, Any], method: Any, gap: float = NOWHERE
) -> Answers:
    """The answers for items: pairs of colliders, and the triangle of one that is a surface."""
    device, count = arrangement.device, len(parts[0])
    numbers = np.arange(count)
    columns = dict(zip(("a", "b", "part", "pair"), (*parts, numbers), strict=True))
    columns |= {"speculative_margin": np.zeros(count), "approach": np.zeros(count)}
    columns |= {"margin_class": np.zeros_like(numbers), "kept": np.zeros_like(numbers)}
    columns |= {name: np.zeros(2, dtype=np.int32) for name in ("speculative_count", "chosen", "changed")}
    items = upload(Items, {**columns, "first": np.array([0, count]), "needed": np.array([count])}, device)
    found = arrays.allocate(Found, {"items": count}, device)
    found.separation.fill_(NOWHERE)
    if count:
        program = Program(device, wp.zeros(1, dtype=wp.int32, device=device))
        with program.stage("narrow phase"):
            method.record(program, arrangement.geometry, items, places, gap, found)
        program.compile()
        program.run(1)
    answer = {name: column.astype(np.float64) for name, column in arrays.read(found).items()}
    unanswered = np.flatnonzero(~(answer["separation"] < NOWHERE))
    if unanswered.size and gap >= NOWHERE:
        raise InputError(f"The narrow phase {_called(method)} has no answer for one of the pairs; try 'closed_forms'.")
    origin = places.position.numpy()[parts[0]]
    a, b = origin + answer["point_a"], origin + answer["point_b"]
    return Answers(answer["separation"], answer["normal"], a, b, *(np.asarray(rows, np.int64) for rows in parts[:2]))


def check_kinds(arrangement: Arrangement, a: Ints, b: Ints) -> None:
    """Refuse pairs that have no distance between them or none that is known."""
    kinds = np.stack([arrangement.kind[a], arrangement.kind[b]])
    if (kinds == int(PLANE)).all(axis=0).any():
        raise InputError("Two planes were asked for their distance; one of the two placements must have an end.")
    if (kinds == int(MESH)).all(axis=0).any():
        raise InputError(
            "Two surfaces were asked for their distance; make one of them convex, with rb.ConvexHull(mesh.vertices) or "
            "rb.Mesh(..., decompose=True)."
        )


def _called(method: Any) -> str:
    return repr(name_of(method, narrowphase.MENU))


def _portions(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Stretches of the pairs that have PORTION parts at most, or one pair."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + PORTION, side="right")))
        yield begin, end
        begin = end


def _parts(arrangement: Arrangement, first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """For every part of A against every part of B: the pair of entries, and the two colliders."""
    each = arrangement.count[second]
    sizes = arrangement.count[first] * each
    pair = np.repeat(np.arange(len(first)), sizes)
    place = np.arange(len(pair)) - (np.cumsum(sizes) - sizes)[pair]
    row, column = np.divmod(place, each[pair])
    return pair, arrangement.first[first][pair] + row, arrangement.first[second][pair] + column


def _least(looked: tuple[Ints, Answers], pair: Ints, count: int) -> Answers:
    """The answer with the least separation of every pair of entries; of equal ones, the first."""
    member, answers = looked
    owner = pair[member]
    if len(owner) == count and (owner == np.arange(count)).all():
        return answers
    order = np.lexsort((answers.separation, owner))
    begins = np.flatnonzero(np.append(True, np.diff(owner[order]) != 0)) if len(order) else order
    chosen = order[begins]
    columns = {}
    for name in Answers.__annotations__:
        column = getattr(answers, name)
        columns[name] = np.full((count, *column.shape[1:]), np.inf if column.dtype.kind == "f" else -1, column.dtype)
        columns[name][owner[chosen]] = column[chosen]
    return Answers(**columns)
