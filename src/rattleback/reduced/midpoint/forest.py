"""The links of the trees of a model: what joints leave free, as motions about or along z axes, one after the other.

Which joints make trees is found by ``reduced.spanning``, and what they leave free by ``reduced.moves``. A joint whose
moves links do not have, one that may break and one that closes a loop is left to the solver of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.joints.joint import X, Y, Z
from rattleback.maths import rotation
from rattleback.reduced.midpoint import links as kinds
from rattleback.reduced.midpoint.links import Links
from rattleback.reduced.moves import AXES, SLIDE, SPIN, WAY, moves_of
from rattleback.reduced.spanning import branches

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from rattleback.problem.joint_rows import JointRows

UNTURNED = np.array([0.0, 0.0, 0.0, 1.0])
# Turns that take z to x and to y; the first is also that between crossed axes.
Z_TO = {X: np.array([0.0, 0.5**0.5, 0.0, 0.5**0.5]), Y: np.array([-(0.5**0.5), 0.0, 0.0, 0.5**0.5]), Z: UNTURNED}
OVER = np.array([1.0, 0.0, 0.0, 0.0])
# Fields of a joint that are of its drive.
DRIVES = ("armature", "friction")
# What of a joint its turns are.
TURN_ROLES = {"turn_z": kinds.WHOLE_TURN, "turn_a": kinds.FIRST_TURN, "turn_b": kinds.SECOND_TURN}


@dataclass(frozen=True)
class Way:
    """A fixed way from one frame to another: a turn, and a way in the axes of the first."""

    turn: NDArray[Any]
    move: NDArray[Any]

    def then(self, other: Way) -> Way:
        """One after the other."""
        return Way(rotation.multiply(self.turn, other.turn), self.move + rotation.rotate(self.turn, other.move))

    def back(self) -> Way:
        """The way back."""
        turn = rotation.conjugate(self.turn)
        return Way(turn, -rotation.rotate(turn, self.move))


STAY = Way(UNTURNED, np.zeros(3))


@dataclass(frozen=True)
class Freedom:
    """One freedom of a joint: its kind, what of the joint it is, and metres along the axis for a radian, by world."""

    kind: int
    role: int
    lead: Any = 0.0


def motions_of(joint: Any) -> list[Freedom | Way] | None:
    """What a joint leaves free, as motions and fixed ways from frame A to B; None where links have no such motion."""
    moves = moves_of(joint)
    if moves is None or any(move.kind == WAY or move.first for move in moves.moves):
        return None
    found: list[Freedom | Way] = [Way(UNTURNED, np.array(moves.way))]
    for move in moves.moves:
        if move.kind == SPIN:
            found.append(Freedom(kinds.BALL, kinds.ANY_TURN))
            continue
        axis = AXES.index(move.axis)
        over = Way(Z_TO[axis], np.zeros(3))
        if move.kind == SLIDE:
            found += [over, Freedom(kinds.SLIDE, kinds.SLIDE_X + axis), Way(rotation.conjugate(over.turn), np.zeros(3))]
        else:
            role = kinds.SCREW_TURN if move.lead else TURN_ROLES[move.names[0]]
            found += [over, Freedom(kinds.TURN, role, move.lead)]
    return found


@dataclass(frozen=True)
class LinkedTrees:
    """The trees of a model.

    Attributes:
        links: Their links, of one world.
        count: Number of links of a world.
        first_floating: Number of those in trees that something fixed holds; they come first.
        joints: Places of the joints that the trees hold, among those of a world.
        bodies: Bodies of a world that the trees move.
    """

    links: Any
    count: int
    first_floating: int
    joints: frozenset[int]
    bodies: frozenset[int]


class _Linking:
    """A forest that grows: links as rows of columns, and the way from the last link of a body to the body.

    Numbers have a leading axis of the worlds whose scenes differ, or of one world where all are alike.
    """

    def __init__(self, problem: JointRows, left_out: Collection[int]) -> None:
        self.problem, self.model = problem, problem.model
        self.rows: list[dict[str, Any]] = []
        self.last: dict[int, int] = {}
        self.after: dict[int, Way] = {}
        scenes = self.model.scenes
        made = [list(scene.joints.values()) for scene in scenes.scenes]
        alike = [list(versions) for versions in zip(*made, strict=True)]
        self.motions = [None if j in left_out else _motions_of_all(versions) for j, versions in enumerate(alike)]
        placed = {name: self._by_world(name) for name in ("turn_a", "turn_b", "anchor_a", "anchor_b")}
        self.sides = [
            tuple(Way(placed[f"turn_{side}"][:, j], placed[f"anchor_{side}"][:, j]) for side in "ab")
            for j in range(len(alike))
        ]
        self.ends = [(int(a), int(b)) for a, b in problem.pairs]
        self.named = [
            tuple(int(getattr(problem.joints, f"body_{side}").numpy()[j]) for side in "ab") for j in range(len(alike))
        ]
        self.facing = self.model.by_world(problem.joints.facing.numpy())
        self.drives = [
            {name: np.array([float(getattr(joint, name, 0.0)) for joint in versions]) for name in DRIVES}
            for versions in alike
        ]
        self.mass = self.model.mass[: len(scenes.scenes)]
        self.inertia = self.model.of_bodies(lambda body: body.inertia)[: len(scenes.scenes)]
        self.joints: set[int] = set()

    def _by_world(self, name: str) -> NDArray[np.float64]:
        """An array of the joints (worlds, joints, ...)."""
        return self.model.by_world(getattr(self.problem.joints, name).numpy()).astype(np.float64)

    def link(self) -> None:
        """All trees: those that stand on something fixed, then those that move freely."""
        usable = [motion is not None for motion in self.motions]
        held = {body for pair, has in zip(self.ends, usable, strict=True) if has for body in pair}
        drives = [any(values.any() for values in drive.values()) for drive in self.drives]
        for body, j, forward in branches(self.ends, usable, drives, sorted(held - {-1}), shallow=True):
            if j >= 0:
                parent = self.ends[j][0 if forward else 1]
                self._join(j, parent, body, 0 if forward else 1)
            else:
                self._add({"kind": kinds.FREE, "parent": -1, "base": -1, "joint": -1}, STAY, -1)
                self._bear(body, STAY)

    def _join(self, j: int, parent: int, child: int, side: int) -> None:
        """A joint joins the forest, from the body at one of its sides to the one at the other."""
        near, far = self.sides[j][side], self.sides[j][1 - side].back()
        over = np.where(self.facing[:, j, None] < 0, OVER, UNTURNED)
        chain = [*(self.motions[j] or []), Way(over, np.zeros(3))]
        if side == 1:
            chain = [part.back() if isinstance(part, Way) else part for part in reversed(chain)]
        way, at = self.after.get(parent, STAY).then(near), self.last.get(parent, -1)
        if not any(isinstance(part, Freedom) for part in chain):
            chain.insert(0, Freedom(kinds.RIGID, 0))
        for part in chain:
            if isinstance(part, Way):
                way = way.then(part)
                continue
            base = self.named[j][side] if at < 0 else -1
            given = {"kind": part.kind, "parent": at, "base": base, "joint": j, "role": part.role}
            self._add({**given, "back": side, "lead": part.lead, **self.drives[j]}, way, at)
            at, way = len(self.rows) - 1, STAY
        self._bear(child, way.then(far))
        self.joints.add(j)

    def _add(self, given: dict[str, Any], way: Way, parent: int) -> None:
        number = len(self.rows)
        root = number if parent < 0 else self.rows[parent]["root"]
        rest: dict[str, Any] = {"role": 0, "back": 0, "lead": 0.0, "body": -1, "bears": -1}
        rest |= {"body_turn": UNTURNED, "body_way": np.zeros(3)}
        massless = {"mass": 0.0, "inertia": np.zeros((3, 3)), "armature": 0.0, "friction": 0.0}
        self.rows.append({**rest, **massless, **given, "root": root, "turn": way.turn, "way": way.move})

    def _bear(self, body: int, way: Way) -> None:
        """The last link ends in a body."""
        axes = rotation.matrix_from_quaternion(way.turn)
        found = {"body": body, "body_turn": way.turn, "body_way": way.move, "mass": self.mass[:, body]}
        for row in reversed(self.rows):
            if row["bears"] >= 0:
                break
            row["bears"] = body
        self.rows[-1].update(found, inertia=axes @ self.inertia[:, body] @ axes.swapaxes(-1, -2))
        self.last[body], self.after[body] = len(self.rows) - 1, way


def _motions_of_all(versions: list[Any]) -> list[Freedom | Way] | None:
    """What a joint leaves free, with the numbers of all of its versions."""
    known: dict[int, Any] = {id(joint): joint for joint in versions}
    found = {key: motions_of(joint) for key, joint in known.items()}
    if found[id(versions[0])] is None:
        return None
    every = [found[id(joint)] or [] for joint in versions]
    return [_stacked(list(parts)) for parts in zip(*every, strict=True)]


def _stacked(parts: list[Any]) -> Freedom | Way:
    """One part of the motions of a joint, from that of every world."""
    first = parts[0]
    if isinstance(first, Way):
        return Way(np.array([part.turn for part in parts]), np.array([part.move for part in parts]))
    return replace(first, lead=np.array([part.lead for part in parts]))


def _column(linking: _Linking, name: str, like: NDArray[Any]) -> NDArray[Any]:
    """A column of all links; numbers are those of all worlds."""
    if like.dtype == np.int32:
        return np.array([row[name] for row in linking.rows], dtype=like.dtype)
    worlds, inner = len(linking.model.scenes.scenes), like.shape[1:]
    entries = [np.broadcast_to(row[name], (worlds, *inner)) for row in linking.rows]
    flat = np.stack(entries, axis=1).reshape(-1, *inner) if entries else np.zeros((0, *inner))
    return linking.model.scenes.tiled(flat).astype(like.dtype)


def link_trees(problem: JointRows, left_out: Collection[int] = ()) -> LinkedTrees:
    """The forest of a model.

    Args:
        problem: Its joints as rows.
        left_out: Places of joints that are no part of a tree, though their rows would do.
    """
    linking = _Linking(problem, left_out)
    linking.link()
    model, count = problem.model, len(linking.rows)
    links = arrays.allocate(Links, {"links": count, "every": count * model.worlds}, model.device)
    arrays.write(links, {name: _column(linking, name, array.numpy()) for name, array in arrays.each(links)}, "links")
    first = next((k for k, row in enumerate(linking.rows) if row["kind"] == kinds.FREE), len(linking.rows))
    return LinkedTrees(links, len(linking.rows), first, frozenset(linking.joints), frozenset(linking.last))
