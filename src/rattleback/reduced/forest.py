"""The forest of a scene as arrays: what does not change about its bodies, their moves and their columns.

Bodies stand parents before children. A body has the moves of its joint in the order in which they lead from its parent
to it, and one column of the motion subspace S for each of their rates. A joint whose body A hangs on its body B is
walked backwards: the same moves in reverse order, with opposite axes and the quaternion inverted, so that coordinates
and rates always mean B against A.

One configuration takes ``q_count`` coordinates and as many rates as there are columns; several lie one after the other,
and a ``Slot`` says where one begins.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.reduced.moves import SLIDE, SPIN, TURN, Move
from rattleback.reduced.spanning import Hanging, Spanning


@group(axis="bodies")
class Forest:
    """What does not change about a forest of articulated bodies; the same for all configurations."""

    body: wp.int32 = field("1", "row of the body among those of its world")
    parent: wp.int32 = field("1", "place of its parent in the forest, an earlier one; −1 for the ground")
    root: wp.int32 = field("1", "place of the first body of its tree")
    first: wp.int32 = field("1", "its first move")
    moves: wp.int32 = field("1", "number of its moves")
    column: wp.int32 = field("1", "its first column")
    columns: wp.int32 = field("1", "number of its columns")
    forward: wp.int32 = field("1", "1 where it is body B of its joint, 0 where it is body A")
    place: vec3 = field("m", "joint on the parent, from its centre of mass and in its axes; on the ground in the world")
    turn: quat = field("1", "frame of the joint on the parent, in its axes")
    tip: vec3 = field("m", "joint on the body, from its centre of mass and in its axes")
    back: quat = field("1", "orientation of the body in the frame of its joint")
    mass: real = field("kg", "mass")
    inertia: mat33 = field("kg m²", "inertia about the centre of mass, in the body's axes")
    center: vec3 = field("m", "centre of mass in the body's frame")
    kind: wp.int32 = field("1", "SLIDE, TURN, SPIN or WAY", axis="moves")
    axis: vec3 = field("1 or m", "axis or fixed way, as it is walked", axis="moves")
    lead: real = field("m", "way of a turn for a radian", axis="moves")
    sense: wp.int32 = field("1", "1 where the quaternion of a spin is walked forwards, −1 backwards", axis="moves")
    free: wp.int32 = field("1", "first free axis of a spin", axis="moves")
    read: wp.int32 = field("1", "how the coordinate is read from poses, see ``moves``", axis="moves")
    q: wp.int32 = field("1", "first coordinate of the move", axis="moves")
    rate: wp.int32 = field("1", "first column of the move", axis="moves")
    owner: wp.int32 = field("1", "body of the column", axis="columns")
    above: wp.int32 = field("1", "the column before on the way from the root; −1 for none", axis="columns")
    carried: wp.int32 = field("1", "columns before this one on that way turn the column", axis="columns")
    armature: real = field("kg m² or kg", "inertia of the drive on this rate", axis="columns")
    damping: real = field("N m s or N s/m", "damping of this rate", axis="columns")


@wp.struct
class Slot:
    """Where a configuration begins: its bodies and columns among those worked on, its coordinates, rates, wrenches."""

    body: wp.int32
    column: wp.int32
    q: wp.int32
    v: wp.int32
    wrench: wp.int32


@group(axis="coordinates")
class Coordinates:
    """Configurations one after the other."""

    q: real = field("rad, m or 1", "coordinates")
    v: real = field("rad/s or m/s", "rates", axis="rates")


@wp.func
def slot_of(forest: Forest, lane: int, row: int, coordinates: int) -> Slot:
    """The slot of a configuration (row) that is worked on in a lane; ``coordinates`` is their number in one."""
    slot = Slot()
    slot.body = lane * forest.parent.shape[0]
    slot.column = lane * forest.owner.shape[0]
    slot.q = row * coordinates
    slot.v = row * forest.owner.shape[0]
    slot.wrench = row * forest.parent.shape[0]
    return slot


class Layout(NamedTuple):
    """Names and sizes of a forest.

    Attributes:
        bodies: Names of its bodies, parents before children.
        coordinates: Names of the coordinates q.
        rates: Names of the rates v.
        moves: The move, the joint and the first coordinate and rate of every move that has any.
        cut: Names of the joints that close loops.
    """

    bodies: tuple[str, ...]
    coordinates: tuple[str, ...]
    rates: tuple[str, ...]
    moves: tuple[tuple[Move, str, int, int], ...]
    cut: tuple[str, ...]


def compile_forest(scene: Any, spanning: Spanning, device: Any) -> tuple[Forest, Layout]:
    """The arrays of a forest, and its names and sizes."""
    rows: dict[str, list[Any]] = {name: [] for name in arrays.fields(Forest)}
    coordinates: list[str] = []
    rates: list[str] = []
    moves: list[tuple[Move, str, int, int]] = []
    last: list[int] = []
    for entry in spanning.bodies:
        label, own = entry.joint or scene.bodies[entry.body].name, _walked(entry)
        _add_body(rows, scene, entry, (len(moves), len(rates)))
        above = last[entry.parent] if entry.parent >= 0 else -1
        for move in own:
            moves.append((move, label, len(coordinates), len(rates)))
            _add_move(rows, move, entry.forward, moves[-1])
            above = _add_columns(rows, move, (len(rows["body"]) - 1, len(rates), above, entry.forward))
            coordinates += _coordinate_names(move, label, entry)
            rates += [_name(label, name, entry) for name in move.names]
        last.append(above)
    forest = Forest()
    for name, declared in arrays.fields(Forest).items():
        setattr(forest, name, _column(rows[name], declared.dtype, device))
    names = tuple(scene.bodies[entry.body].name for entry in spanning.bodies)
    return forest, Layout(names, tuple(coordinates), tuple(rates), tuple(moves), spanning.cut)


def _column(values: Sequence[Any], dtype: Any, device: Any) -> Any:
    kind = np.int32 if dtype is wp.int32 else numpy_real
    shape = getattr(dtype, "_shape_", ())
    return wp.array(np.array(values, dtype=kind).reshape(-1, *shape), dtype=dtype, device=device)


def _walked(entry: Hanging) -> list[Move]:
    """The moves of a body as they lead from its parent to it."""
    if entry.forward:
        return list(entry.moves.moves)
    return [move._replace(axis=tuple(-part for part in move.axis)) for move in entry.moves.moves[::-1]]


def _add_body(rows: dict[str, list[Any]], scene: Any, entry: Hanging, counts: tuple[int, int]) -> None:
    body, number = scene.bodies[entry.body], len(rows["body"])
    values = {
        "body": entry.body,
        "parent": entry.parent,
        "root": rows["root"][entry.parent] if entry.parent >= 0 else number,
        "first": counts[0],
        "moves": len(entry.moves.moves),
        "column": counts[1],
        "columns": sum(len(move.names) for move in entry.moves.moves),
        "forward": int(entry.forward),
        "place": entry.place[0],
        "turn": entry.place[1],
        "tip": entry.tip[0],
        "back": rotation.conjugate(entry.tip[1]),
        "mass": body.mass,
        "inertia": body.inertia,
        "center": body.center_of_mass,
    }
    for name, value in values.items():
        rows[name].append(value)


def _add_move(rows: dict[str, list[Any]], move: Move, forward: bool, at: tuple[Move, str, int, int]) -> None:
    values = {
        "kind": move.kind,
        "axis": move.axis,
        "lead": move.lead,
        "sense": 1 if forward else -1,
        "free": move.first,
        "read": move.read,
        "q": at[2],
        "rate": at[3],
    }
    for name, value in values.items():
        rows[name].append(value)


def _add_columns(rows: dict[str, list[Any]], move: Move, at: tuple[int, int, int, bool]) -> int:
    """Add the columns of a move; returns the last column on the way from the root."""
    owner, first, above, forward = at
    for k in range(len(move.names)):
        rows["owner"].append(owner)
        rows["above"].append(above)
        # The axes of a spin walked forwards turn with all of its columns, those of one walked backwards with none.
        spun = move.kind == SPIN
        rows["carried"].append(first + len(move.names) if spun and forward else first if spun else first + k)
        rows["armature"].append(0.0)
        rows["damping"].append(0.0)
        above = first + k
    return above


def _name(label: str, name: str, entry: Hanging) -> str:
    """Name of a rate: that of its joint or floating body, with the freedom after a dot where there are several."""
    single = sum(len(move.names) for move in entry.moves.moves) == 1
    return label if single else f"{label}.{name}"


def _coordinate_names(move: Move, label: str, entry: Hanging) -> list[str]:
    if move.kind in (SLIDE, TURN):
        return [_name(label, move.names[0], entry)]
    rod = "rod_" if move.first else ""
    return [f"{label}.{rod}{letter}" for letter in "xyzw"] if move.kind == SPIN else []
