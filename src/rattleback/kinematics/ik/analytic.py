"""Closed forms: all solutions of planar arms with two or three hinges, and of arms with six and a spherical wrist.

    T = e₁(q₁) ⋯ e_n(q_n) M,   D = T M⁻¹

e_i turn about the axis of joint i as it lies at q = 0, by z_i through o_i; M frame of the tool at q = 0. Each step is
one of two questions (Paden 1986, Kahan 1983): turn r about z onto s; or turn r about z until its part along w is k,

    A cos θ + B sin θ = C,   θ = atan2(B, A) ± acos(C/√(A² + B²)),   A = w·r⊥,   B = w·(z × r),   C = k − (w·z)(r·z)

Six hinges, axes 4, 5, 6 through c, axes 2 ∥ 3: D c = e₁e₂e₃ c. 1. q₁ so that e₁⁻¹Dc lies as far along z₂ as c (two
ways).  2. q₃ from the distance of that point to o₂ (two ways).  3. q₂ turns the one onto the other.  4. q₅ from the
angle between z₄ and z₆ (two ways).  5. q₄, q₆ by turning onto.  Eight solutions. Two hinges: steps 2 and 3. Three: the
third joint is the point of the first two; the direction of the tool gives q₃.

Cost: a few dozen products a solution. Use it: wherever the arm allows. Not for other arms; it says which it knows.
References: Pieper 1968; Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation, §3.3; lecture notes
on forward and inverse kinematics, §4.2, the planar arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.chain import check_kinds, turn_matrix, within
from rattleback.kinematics.ik.result import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem

    Floats = NDArray[np.float64]

CLOSE = 1e-9


@sealed
@dataclass(frozen=True)
class Analytic:
    """Closed forms; of several solutions within the limits, the one nearest to the start is the answer."""

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems, one after the other."""
        arm = Arm(problem)
        q, every = problem.start.copy(), None
        for row in range(problem.count):
            one = problem.part(slice(row, row + 1))
            exact, all_ = self._within(one, arm.solutions(one))
            q[row] = all_[int(np.argmin(np.abs(all_ - q[row]).sum(axis=1)))]
            every = exact if problem.count == 1 else None
        ones = np.ones(problem.count, dtype=np.int64)
        return Answer(q, ones, ones, every=every)

    def _within(self, problem: Problem, found: list[Floats]) -> tuple[Floats, Floats]:
        """Solutions within the limits that hold, each once; and the same, or else what comes nearest."""
        ends = list(zip(problem.lower, problem.upper, strict=True))
        size = len(problem.lower)
        inside = [
            np.array(choice)
            for entry in found
            for choice in product(*(within(value, *end) for value, end in zip(entry, ends, strict=True)))
        ]
        kept: list[Floats] = []
        for entry in inside:
            if _holds(problem, entry) and all(np.abs(entry - other).max() > 1e-7 for other in kept):
                kept.append(entry)
        exact = np.array(kept).reshape(-1, size)
        if len(kept):
            return exact, exact
        rest = np.array([np.clip(entry, problem.lower, problem.upper) for entry in inside or found])
        misses = np.array([problem.look(entry[None]).square[0] for entry in rest])
        return exact, rest[[int(np.argmin(misses))]]


class Arm:
    """An arm a closed form is known for, as it lies at q = 0."""

    def __init__(self, problem: Problem) -> None:
        check_kinds(problem, "analytic", ("Position", "Pose"), ("revolute",))
        tree, target = problem.tree, problem.targets[0]
        moving = [i for i in tree.path(target.tool) if tree.links[i].moves]
        zero = np.zeros(len(tree.coordinates))
        frames, self.tip = tree.frames(zero), tree.forward(zero, target.tool)
        self.tip[:3, 3] += self.tip[:3, :3] @ np.array(target.point)
        self.z = np.array([frames[i, :3, :3] @ tree.links[i].axis for i in moving])
        self.o = frames[moving, :3, 3]
        kind = (type(target).__name__, len(moving))
        planar = _parallel(self.z, range(len(moving)))
        self.form = {("Position", 2): "two", ("Pose", 3): "three", ("Pose", 6): "six"}.get(kind, "")
        self.centre = _crossing(self.o[3:], self.z[3:]) if self.form == "six" else None
        fits = (self.form == "six" and self.centre is not None and _parallel(self.z, (1, 2))) or (
            self.form in ("two", "three") and planar
        )
        if not fits or len(problem.targets) > 1 or len(moving) != len(tree.coordinates):
            raise InputError(
                f"Method 'analytic' has no closed form for {tree.name!r} with this target; it knows two parallel "
                "hinges with a Position, three with a Pose, and six with a Pose whose last three axes cross and whose "
                "second and third are parallel; take 'lm'."
            )

    def solutions(self, problem: Problem) -> list[Floats]:
        """All solutions of a single problem, limits aside; the nearest guess where there is none."""
        goals = problem.targets[0].goals()
        if self.form == "two":
            return [np.array(pair) for pair in self._two(np.asarray(goals["point"]).reshape(3), self.tip[:3, 3], 0)]
        matrix = np.asarray(problem.targets[0].matrix).reshape(4, 4)  # type: ignore[attr-defined]
        motion = matrix @ np.linalg.inv(self.tip)
        return self._three(motion) if self.form == "three" else self._six(motion, problem.start[0])

    def _two(self, goal: Floats, point: Floats, first: int) -> list[tuple[float, float]]:
        """Turns of two joints on parallel axes that bring a point, as it lies at q = 0, to a goal."""
        z, a, b = self.z[first + 1], self.o[first], self.o[first + 1]
        arm, base, way = (vector - (vector @ z) * z for vector in (point - b, a - b, goal - a))
        along = 0.5 * float(arm @ arm + base @ base - way @ way)
        found = []
        for second in _until(arm, z, base, along):
            turned = b + turn_matrix(z, second) @ (point - b)
            found.append((_onto(turned - a, goal - a, self.z[first]), second))
        return found

    def _three(self, motion: Floats) -> list[Floats]:
        found = []
        for one, two in self._two((motion @ _point(self.o[2]))[:3], self.o[2], 0):
            before = turn_matrix(self.z[0], one) @ turn_matrix(self.z[1], two)
            across = np.cross(self.z[2], _other(self.z[2]))
            found.append(np.array([one, two, _onto(across, before.T @ motion[:3, :3] @ across, self.z[2])]))
        return found

    def _six(self, motion: Floats, start: Floats) -> list[Floats]:
        assert self.centre is not None
        goal = (motion @ _point(self.centre))[:3] - self.o[0]
        found = []
        for back in _until(goal, self.z[0], self.z[1], float((self.centre - self.o[0]) @ self.z[1])):
            first = -back
            point = self.o[0] + turn_matrix(self.z[0], back) @ goal
            for second, third in self._two(point, self.centre, 1):
                turns = zip(self.z[:3], (first, second, third), strict=True)
                before = np.linalg.multi_dot([turn_matrix(z, angle) for z, angle in turns])
                for wrist in self._wrist(before.T @ motion[:3, :3], start[3]):
                    found.append(np.array([first, second, third, *wrist]))
        return found

    def _wrist(self, turn: Floats, free: float) -> list[tuple[float, float, float]]:
        """Turns about three crossing axes that make up a rotation; ``free`` is the first where they do not fix it."""
        four, five, six = self.z[3:]
        across, found = np.cross(six, _other(six)), []
        for q5 in _until(six, five, four, float(four @ turn @ six)):
            axis = turn_matrix(five, q5) @ six
            lost = np.linalg.norm(np.cross(axis, four)) < 1e-8
            q4 = free if lost else _onto(axis, turn @ six, four)
            before = turn_matrix(four, q4) @ turn_matrix(five, q5)
            found.append((q4, q5, _onto(across, before.T @ turn @ across, six)))
        return found


def _onto(r: Floats, s: Floats, z: Floats) -> float:
    """Turn about z that brings r into the direction of s."""
    return float(np.arctan2(s @ np.cross(z, r), s @ r - (s @ z) * (r @ z)))


def _until(r: Floats, z: Floats, w: Floats, k: float) -> list[float]:
    """Turns about z after which the part of r along w is k; those that come nearest where there are none."""
    a, b = float(w @ (r - (r @ z) * z)), float(w @ np.cross(z, r))
    size, c = np.hypot(a, b), k - float(w @ z) * float(r @ z)
    if size < 1e-14:
        return [0.0]
    middle, spread = np.arctan2(b, a), np.arccos(np.clip(c / size, -1.0, 1.0))
    return [middle + spread, middle - spread] if spread > 0.0 else [float(middle)]


def _holds(problem: Problem, q: Floats) -> bool:
    return bool(problem.is_reached(problem.look(q[None]).miss)[0])


def _parallel(z: Floats, which: Any) -> bool:
    first, *rest = which
    return all(np.linalg.norm(np.cross(z[first], z[i])) < CLOSE for i in rest)


def _crossing(o: Floats, z: Floats) -> Floats | None:
    """The point three lines have in common, if they have one and the second is across the others."""
    planes = np.eye(3) - z[:, :, None] * z[:, None, :]
    matrix, right = planes.reshape(-1, 3), np.einsum("ijk,ik->ij", planes, o).ravel()
    found, *_ = np.linalg.lstsq(matrix, right, rcond=None)
    across = min(abs(float(z[1] @ z[0])), abs(float(z[1] @ z[2])))
    return found if np.abs(matrix @ found - right).max() < CLOSE and across < 1.0 - CLOSE else None


def _other(z: Floats) -> Floats:
    """A direction that is not z."""
    return np.asarray(np.eye(3)[int(np.argmin(np.abs(z)))])


def _point(place: Floats) -> Floats:
    return np.append(place, 1.0)
