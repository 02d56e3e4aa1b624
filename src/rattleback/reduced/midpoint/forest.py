"""The links of the trees of a model: what joints leave free, as motions about or along z axes, one after the other.

Which joints make trees is found by ``reduced.spanning``, and what they leave free by ``reduced.moves``. A joint whose
moves links do not have, one that may break and one that closes a loop is left to the solver of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """One freedom of a joint: its kind, what of the joint it is, and metres along the axis for a radian."""

    kind: int
    role: int
    lead: float = 0.0


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
    """A forest that grows: links as rows of columns, and the way from the last link of a body to the body."""

    def __init__(self, problem: JointRows, left_out: Collection[int]) -> None:
        self.problem, self.model = problem, problem.model
        self.rows: list[dict[str, Any]] = []
        self.last: dict[int, int] = {}
        self.after: dict[int, Way] = {}
        made = list(self.model.scene.joints.values())
        self.motions = [None if j in left_out else motions_of(joint) for j, joint in enumerate(made)]
        self.sides = [self._sides(j) for j in range(len(made))]
        self.ends = [(int(a), int(b)) for a, b in problem.pairs]
        self.named = [
            tuple(int(getattr(problem.joints, f"body_{side}").numpy()[j]) for side in "ab") for j in range(len(made))
        ]
        self.facing = problem.joints.facing.numpy()[: len(made)]
        self.drives = [{name: float(getattr(joint, name, 0.0)) for name in ("armature", "friction")} for joint in made]
        self.joints: set[int] = set()

    def _sides(self, j: int) -> tuple[Way, Way]:
        found = []
        for side in "ab":
            turn, move = (
                np.array(getattr(self.problem.joints, f"{name}_{side}").numpy()[j], dtype=np.float64)
                for name in ("turn", "anchor")
            )
            found.append(Way(turn, move))
        return found[0], found[1]

    def link(self) -> None:
        """All trees: those that stand on something fixed, then those that move freely."""
        usable = [motion is not None for motion in self.motions]
        held = {body for pair, has in zip(self.ends, usable, strict=True) if has for body in pair}
        drives = [any(drive.values()) for drive in self.drives]
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
        chain = [*(self.motions[j] or []), Way(OVER, np.zeros(3)) if self.facing[j] < 0 else STAY]
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
        found = {"body": body, "body_turn": way.turn, "body_way": way.move, "mass": self.model.mass[body]}
        for row in reversed(self.rows):
            if row["bears"] >= 0:
                break
            row["bears"] = body
        self.rows[-1].update(found, inertia=axes @ self.model.inertia[body] @ axes.T)
        self.last[body], self.after[body] = len(self.rows) - 1, way


def link_trees(problem: JointRows, left_out: Collection[int] = ()) -> LinkedTrees:
    """The forest of a model.

    Args:
        problem: Its joints as rows.
        left_out: Places of joints that are no part of a tree, though their rows would do.
    """
    linking = _Linking(problem, left_out)
    linking.link()
    links = arrays.allocate(Links, {"links": len(linking.rows)}, problem.model.device)
    columns = {}
    for name, array in arrays.each(links):
        kind = array.numpy().dtype
        columns[name] = np.array([row[name] for row in linking.rows], dtype=kind).reshape(array.numpy().shape)
    arrays.write(links, columns, "the links")
    first = next((k for k, row in enumerate(linking.rows) if row["kind"] == kinds.FREE), len(linking.rows))
    return LinkedTrees(links, len(linking.rows), first, frozenset(linking.joints), frozenset(linking.last))
