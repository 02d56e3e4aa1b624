"""Placements: what a query accepts as a shape at a place, read into arrays of poses.

A placement is a shape at the origin, a ``Placed``, a ``Plane``, a body of a scene with all its colliders, ``Poses`` of
one shape, or a list of these. Whatever it is, it becomes a short list of distinct kinds and one pose for each entry, so
that a hundred thousand poses of one shape cost a few arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths.rotation import identity, rotate
from rattleback.model.body import Body
from rattleback.shapes import MENU, Placed

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

SHAPES = tuple(MENU.values())
EXAMPLES = "a shape such as rb.Box(1, 1, 1), a rb.Placed, a body with colliders, rb.collision.Poses, or a list of these"


@sealed
@dataclass(frozen=True, eq=False)
class Poses:
    """Many poses of one shape; a single position or orientation counts for all of them.

    Attributes:
        shape: Any shape.
        positions: Origins of the shape in the world [m], shape (poses, 3) or (3,).
        orientations: Unit quaternions (x, y, z, w), shape (poses, 4) or (4,); None for the axes of the world.
    """

    shape: Any
    positions: ArrayLike
    orientations: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the shape, and bring both arrays to one row for each pose."""
        if isinstance(self.shape, type) or not isinstance(self.shape, SHAPES):
            raise InputError(f"The shape of Poses is {self.shape!r}; it must be a shape, such as rb.Sphere(0.1).")
        positions = rows(self.positions, 3, "The positions of Poses")
        given = identity() if self.orientations is None else self.orientations
        orientations = _unit(rows(given, 4, "The orientations of Poses"))
        count = paired(len(positions), len(orientations), "Poses", "positions", "orientations")
        object.__setattr__(self, "positions", np.broadcast_to(positions, (count, 3)))
        object.__setattr__(self, "orientations", np.broadcast_to(orientations, (count, 4)))

    def __len__(self) -> int:
        return len(np.asarray(self.positions))


@dataclass(frozen=True, eq=False)
class PlacedEntries:
    """Placements as arrays, one entry for each pose.

    Attributes:
        kinds: Distinct things that are placed: a shape, or the colliders of a body and their margin.
        which: Kind of every entry (entries,).
        positions: Origins [m], shape (entries, 3).
        orientations: Quaternions (x, y, z, w), shape (entries, 4).
        many: Whether they were given as many, so that the answers have a leading axis.
    """

    kinds: tuple[Hashable, ...]
    which: NDArray[np.int64]
    positions: Floats
    orientations: Floats
    many: bool

    def __len__(self) -> int:
        return len(self.which)


def read(given: Any, what: str) -> PlacedEntries:
    """The entries of a placement.

    Args:
        given: The placement.
        what: What it is called in messages, such as "Placement a".
    """
    if isinstance(given, Poses):
        count = len(given)
        which = np.zeros(count, dtype=np.int64)
        return PlacedEntries((given.shape,), which, np.asarray(given.positions), np.asarray(given.orientations), True)
    if not isinstance(given, (list, tuple)):
        kind, position, orientation = _single(given, what)
        return PlacedEntries((kind,), np.zeros(1, dtype=np.int64), position[None], orientation[None], False)
    if not given:
        raise InputError(f"{what} is an empty list; give at least one placement.")
    return joined([_member(entry, f"Entry {k} of {what[0].lower()}{what[1:]}") for k, entry in enumerate(given)])


def joined(parts: list[PlacedEntries]) -> PlacedEntries:
    """The entries of several lists, one after the other, with kinds that are alike counted once."""
    numbers: dict[Hashable, int] = {}
    which = []
    for part in parts:
        own = np.array([numbers.setdefault(kind, len(numbers)) for kind in part.kinds])
        which.append(own[part.which])
    positions = np.concatenate([part.positions for part in parts])
    orientations = np.concatenate([part.orientations for part in parts])
    return PlacedEntries(tuple(numbers), np.concatenate(which), positions, orientations, True)


def rows(given: ArrayLike, width: int, what: str) -> Floats:
    """A finite array of shape (n, width); one row may be given as (width,)."""
    if (flat := np.ndim(np.asarray(given, dtype=object))) == 1:
        return checks.array(given, (width,), what)[None]
    return checks.array(given, (-1, width), what) if flat else checks.array(given, (width,), what)


def paired(first: int, second: int, what: str, *names: str) -> int:
    """The common length of two arrays, one of which may be a single row."""
    if first != second and 1 not in (first, second):
        raise InputError(
            f"{what} got {first} {names[0]} and {second} {names[1]}; give equally many, or one on either side."
        )
    return second if first == 1 else first


def body_entries(bodies: list[Body], positions: Floats, orientations: Floats) -> PlacedEntries:
    """Bodies with their centres of mass and orientations somewhere else than where they start."""
    centers = np.array([body.center_of_mass for body in bodies])
    kinds: dict[Hashable, int] = {}
    which = np.array([kinds.setdefault((body.colliders, body.margin), len(kinds)) for body in bodies])
    return PlacedEntries(tuple(kinds), which, positions - rotate(orientations, centers), orientations, True)


def _member(given: Any, what: str) -> PlacedEntries:
    if isinstance(given, (list, tuple)):
        raise InputError(f"{what} is a list itself; give one flat list of placements.")
    return read(given, what)


def _single(given: Any, what: str) -> tuple[Any, Floats, Floats]:
    if isinstance(given, Body):
        if not given.colliders:
            raise InputError(f"{what} is body {given.name!r}, which has no colliders; give it a shape or collision=.")
        return (given.colliders, given.margin), given.origin, np.asarray(given.orientation)
    if isinstance(given, Placed):
        return given.shape, np.array(given.position), np.array(given.orientation)
    if isinstance(given, SHAPES):
        return given, np.zeros(3), identity()
    raise InputError(f"{what} is {given!r}; it must be {EXAMPLES}.")


def _unit(quaternions: Floats) -> Floats:
    """Quaternions scaled to length one, those off by more than rounding refused."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(quaternions, axis=1, keepdims=True)
    bad = np.flatnonzero(np.abs(length[:, 0] - 1.0) > 1e-6)
    if bad.size:
        raise InputError(
            f"Orientation {bad[0]} of Poses is {quaternions[bad[0]]}, a quaternion (x, y, z, w) of length "
            f"{length[bad[0], 0]:.6g}; it must have length 1."
        )
    # As everywhere: a quaternion that was scaled once stays as it is.
    return np.where(np.abs(length - 1.0) <= 1e-15, quaternions, quaternions / length)
