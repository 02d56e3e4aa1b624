"""The forest of a model: which joints make trees, and the links of these trees.

The rows of a joint say what it leaves free. ``slide`` rows leave the other axes of A; ``cross`` rows of two axes leave
the turn about z, of one axis the turns about two crossed axes; ``orient`` rows leave none, and without any of them all
turns are free. A joint with other rows, one that may break and one that closes a loop is left to the solver of rows;
of a loop it is one without armature and friction, where there is such.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.joints.joint import X, Y, Z
from rattleback.maths import rotation
from rattleback.reduced.midpoint import links as kinds
from rattleback.reduced.midpoint.links import Links

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from rattleback.problem.joint_rows import JointRows

UNTURNED = np.array([0.0, 0.0, 0.0, 1.0])
# Turns that take z to x and to y; the first is also that between crossed axes.
Z_TO = {X: np.array([0.0, 0.5**0.5, 0.0, 0.5**0.5]), Y: np.array([-(0.5**0.5), 0.0, 0.0, 0.5**0.5]), Z: UNTURNED}
OVER = np.array([1.0, 0.0, 0.0, 0.0])


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


def motions_of(specs: list[Any]) -> list[Freedom | Way] | None:
    """What a joint with these rows leaves free, as motions and fixed ways from frame A to B; None if rows say else."""
    slides = {row.axis_a: row.offset for row in specs if row.kind == "slide"}
    turns = sorted((row.kind, row.axis_a, row.axis_b) for row in specs if row.kind in ("cross", "orient"))
    screws = [row for row in specs if row.kind == "screw"]
    if len(slides) + len(turns) + len(screws) != len(specs) or any(row.kind == "cross" and row.offset for row in specs):
        return None
    found: list[Freedom | Way] = []
    for axis in (X, Y, Z):
        if axis in slides:
            found.append(Way(UNTURNED, slides[axis] * np.eye(3)[axis]))
        elif axis == Z and screws:
            found.append(Way(UNTURNED, screws[0].offset * np.eye(3)[Z]))
        else:
            freedom = Freedom(kinds.SLIDE, kinds.SLIDE_X + axis)
            found += [Way(Z_TO[axis], np.zeros(3)), freedom, Way(rotation.conjugate(Z_TO[axis]), np.zeros(3))]
    turn = _turns_of(turns, screws)
    return None if turn is None else found + turn


def _turns_of(turns: list[tuple[str, int, int]], screws: list[Any]) -> list[Freedom | Way] | None:
    aligned = [("cross", X, Z), ("cross", Y, Z)]
    if screws:
        return [Freedom(kinds.TURN, kinds.SCREW_TURN, screws[0].radius_a)] if turns == aligned else None
    if not turns:
        return [Freedom(kinds.BALL, kinds.ANY_TURN)]
    if turns == aligned:
        return [Freedom(kinds.TURN, kinds.WHOLE_TURN)]
    if turns == [("cross", Z, Z)]:
        first, second = (Freedom(kinds.TURN, role) for role in (kinds.FIRST_TURN, kinds.SECOND_TURN))
        return [first, Way(Z_TO[X], np.zeros(3)), second]
    return [] if [(kind, axis) for kind, axis, _ in turns] == [("orient", axis) for axis in (X, Y, Z)] else None


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
        self.motions = [None if j in left_out else motions_of(joint.rows()) for j, joint in enumerate(made)]
        self.sides = [self._sides(j) for j in range(len(made))]
        self.ends = [tuple(int(a) for a in pair) for pair in problem.pairs]
        self.named = [
            tuple(int(getattr(problem.joints, f"body_{side}").numpy()[j]) for side in "ab") for j in range(len(made))
        ]
        self.facing = problem.joints.facing.numpy()[: len(made)]
        self.drives = [{name: float(getattr(joint, name, 0.0)) for name in ("armature", "friction")} for joint in made]
        self.joints: set[int] = set()
        self.at: dict[int, list[tuple[int, int]]] = {}
        for j, pair in enumerate(self.ends):
            for side in range(2 if self.motions[j] is not None else 0):
                self.at.setdefault(pair[side], []).append((j, side))

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
        """All trees: those that stand on something fixed, then those that move freely, breadth first."""
        held = {
            body for pair, motion in zip(self.ends, self.motions, strict=True) if motion is not None for body in pair
        }
        self._grow(-1)
        for body in sorted(held - {-1}):
            if body not in self.last:
                self._add({"kind": kinds.FREE, "parent": -1, "base": -1, "joint": -1}, STAY, -1)
                self._bear(body, STAY)
                self._grow(body)

    def _grow(self, start: int) -> None:
        """A tree from a body or the world: joints with drives before others, which may stay rows; breadth first."""
        waiting: list[tuple[bool, int, int, int]] = []
        self._reach(start, 0, waiting)
        while waiting:
            _, depth, j, side = heappop(waiting)
            parent, child = self.ends[j][side], self.ends[j][1 - side]
            if child >= 0 and child not in self.last:
                self._join(j, parent, child, side)
                self._reach(child, depth + 1, waiting)

    def _reach(self, body: int, depth: int, waiting: list[tuple[bool, int, int, int]]) -> None:
        for j, side in self.at.get(body, ()):
            heappush(waiting, (not any(self.drives[j].values()), depth, j, side))

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
        rest = {"role": 0, "back": 0, "lead": 0.0, "body": -1, "body_turn": UNTURNED, "body_way": np.zeros(3)}
        massless = {"mass": 0.0, "inertia": np.zeros((3, 3)), "armature": 0.0, "friction": 0.0}
        self.rows.append({**rest, **massless, **given, "root": root, "turn": way.turn, "way": way.move})

    def _bear(self, body: int, way: Way) -> None:
        """The last link ends in a body."""
        axes = rotation.matrix_from_quaternion(way.turn)
        found = {"body": body, "body_turn": way.turn, "body_way": way.move, "mass": self.model.mass[body]}
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
