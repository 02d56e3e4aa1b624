"""Which coordinates a joint leaves: slides, turns and spins of its frame B against its frame A, one after the other.

    T_A^B = way · m_1(q_1) · m_2(q_2) ⋯ K

| move | coordinates | rates | motion |
|---|---|---|---|
| ``SLIDE`` | way s | ṡ | along an axis of the frame reached so far |
| ``TURN`` | angle θ | θ̇ | about an axis of it; with a lead also along it, by lead · θ |
| ``SPIN`` | unit quaternion | angular velocity in the turned axes, those that are free | turn by the quaternion |
| ``WAY`` | none | none | a fixed way in the frame reached |

K is how frame B lies to the frame reached at the end, the identity but for joints of crossed axes. The moves follow
from the names of the freedoms and the rows of the joint; a joint declares nothing more.

A spin with all three axes is a ball joint. One whose x axis is not free carries the rod of a ``Distance``: the rod lies
along x, and a turn about it, which changes no pose, has no rate. Joints that only couple two bodies or have no position
(gears, racks, velocity joints) have no coordinates; nor have joints from outside whose freedoms do not fit their rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rattleback.joints.joint import RowSpec, X, Y, Z

SLIDE, TURN, SPIN, WAY = range(4)
# How a coordinate is read from poses: the twist that is left, the azimuth of the way left, or of the x axis of B.
BY_TWIST, BY_WAY, BY_AXIS = range(3)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
LETTERS = "xyz"
SAME = (0.0, 0.0, 0.0, 1.0)
# The z axis of each frame of two crossed axes is the x axis of the other.
CROSSED = (0.5**0.5, 0.0, 0.5**0.5, 0.0)
# Half a turn about x, where the z axes of a joint point against each other.
FACING = (1.0, 0.0, 0.0, 0.0)
# The rows that forbid what a set of turns does not leave, as (kind, axis of A, axis of B).
ALIGNED = {("cross", X, Z), ("cross", Y, Z)}
UNTURNED = {("orient", axis, 0) for axis in (X, Y, Z)}
TURNS = {
    (): UNTURNED,
    ("turn_z",): ALIGNED,
    ("turn_a", "turn_b"): {("cross", Z, Z)},
    ("turn_x", "turn_y", "turn_z"): set(),
}
ORBITS = {(): "slide", ("orbit_z",): "radius", ("orbit_y", "orbit_z"): "distance"}


class Move(NamedTuple):
    """A move: its kind, its axis or way in the frame reached, and what belongs to some kinds only.

    ``names`` are those of its rates, ``lead`` is the way of a turn for a radian [m], ``first`` the first free axis of a
    spin and ``read`` how its coordinate is read from poses.
    """

    kind: int
    axis: tuple[float, ...]
    names: tuple[str, ...] = ()
    lead: float = 0.0
    first: int = 0
    read: int = BY_TWIST

    @property
    def coordinates(self) -> int:
        """Number of its coordinates."""
        return (1, 1, 4, 0)[self.kind]


class Moves(NamedTuple):
    """The moves of a joint, the fixed way before them (3,) [m], and K, how frame B lies to the frame reached."""

    way: np.ndarray
    moves: tuple[Move, ...]
    rest: tuple[float, ...]


FLOATING = Moves(
    np.zeros(3),
    (
        *(Move(SLIDE, AXES[k], (f"slide_{LETTERS[k]}",)) for k in range(3)),
        Move(SPIN, (0.0, 0.0, 0.0), ("turn_x", "turn_y", "turn_z")),
    ),
    SAME,
)


def moves_of(joint: Any) -> Moves | None:
    """The moves of a joint; None where it has no coordinates."""
    rows: list[RowSpec] = joint.rows()
    groups = {
        kind: tuple(name for name in joint.freedoms if name.startswith(kind)) for kind in ("slide", "orbit", "turn")
    }
    slides, orbits, turns = groups["slide"], groups["orbit"], groups["turn"]
    if sum(map(len, groups.values())) != len(joint.freedoms) or orbits not in ORBITS or turns not in TURNS:
        return None
    if not _fit(rows, slides, orbits, turns):
        return None
    way = np.zeros(3)
    for row in rows:
        if row.kind in ("slide", "screw"):
            way[row.axis_a] = row.offset
    lead = next((row.radius_a for row in rows if row.kind == "screw"), 0.0)
    length = next((row.offset for row in rows if row.kind in ("distance", "radius")), 0.0)
    moves = (*_slides(slides), *_orbit(orbits, length), *_turns(turns, lead))
    return Moves(way, moves, CROSSED if turns == ("turn_a", "turn_b") else SAME)


def _fit(rows: list[RowSpec], slides: tuple[str, ...], orbits: tuple[str, ...], turns: tuple[str, ...]) -> bool:
    """Whether the rows of a joint forbid just what its freedoms do not leave."""
    angular = {(row.kind, row.axis_a, row.axis_b) for row in rows if row.kind in ("cross", "orient")}
    if angular != TURNS[turns] or any(row.offset for row in rows if row.kind in ("cross", "orient")):
        return False
    linear = [row for row in rows if row.kind not in ("cross", "orient")]
    if orbits:
        free = ("slide_z",) if orbits == ("orbit_z",) else ()
        return [row.kind for row in linear] == [ORBITS[orbits]] and slides == free and len(turns) == 3
    names = {name[-1] for name in slides}
    held = {LETTERS[row.axis_a] for row in linear}
    screws = [row for row in linear if row.kind == "screw"]
    known = all(row.kind in ("slide", "screw") for row in linear) and len(screws) <= (turns == ("turn_z",))
    return known and not names & held and len(names) + len(linear) == 3 and len(slides) == len(names)


def _slides(names: tuple[str, ...]) -> list[Move]:
    return [Move(SLIDE, AXES[LETTERS.index(name[-1])], (name,)) for name in names]


def _orbit(names: tuple[str, ...], length: float) -> list[Move]:
    if not names:
        return []
    rod = Move(WAY, (length, 0.0, 0.0))
    if names == ("orbit_z",):
        return [Move(TURN, (0.0, 0.0, 1.0), names, read=BY_WAY), rod]
    return [Move(SPIN, (0.0, 0.0, 0.0), names, first=1, read=BY_WAY), rod]


def _turns(names: tuple[str, ...], lead: float) -> list[Move]:
    if len(names) == 3:
        return [Move(SPIN, (0.0, 0.0, 0.0), names)]
    if names == ("turn_a", "turn_b"):
        return [
            Move(TURN, (0.0, 0.0, 1.0), ("turn_a",), read=BY_AXIS),
            Move(TURN, (1.0, 0.0, 0.0), ("turn_b",)),
        ]
    return [Move(TURN, (0.0, 0.0, 1.0), names, lead) for _ in names]
