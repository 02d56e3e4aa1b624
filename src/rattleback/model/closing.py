"""Closing joints without dynamics: poses at which all rows of a mechanism vanish, found by damped Gauss–Newton steps.

    minimise Σ (s_r e_r)² over the poses,   (Jᵀ S² J + μ W) Δ = −Jᵀ S² e,   Δ = (Δx, Δφ) of every body that may move

Symbols: e_r, J rows and their Jacobian; s_r = 1 for a length, the size of the bodies for an angle [m]; W = diag(1, ρ²),
ρ the size of a body, so that |Δ|² measures how far its points move: of all steps that close the joints the smallest is
taken, and rows that say the same twice do no harm. μ falls while the sum falls, and rises when a step is undone.

- ρ is at least the longest way by which joints are apart and the longest arm on which the body turns at a joint: bodies
  come first and turn later, and one far out on a slide turns little.
- A step turns no body by more than half a radian, so that none flips.
- Two axes to be parallel are compared by 2 sin(α/2), which grows up to α = π, where the rows' own sin α falls back to
  zero; those opposite at the start stay so, for their rows are met.
- Where the sum no longer falls (a body turned by exactly half a turn stays there) the poses are perturbed.

Cost: one elimination over the bodies an iteration, linear in their number on trees.

Reference: Bender, dissertation, §3.3.3 (models that fell apart are put together); Nocedal and Wright, Numerical
Optimization, section 10.3 (Levenberg–Marquardt).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.constraints.evaluation import definitions_of, evaluate, frames_of
from rattleback.constraints.row import LENGTHS
from rattleback.core.errors import InputError
from rattleback.joints.joint import RowSpec, X, Y, Z
from rattleback.maths import block_elimination, rotation
from rattleback.maths.block_sparse import find_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Largest turn of a body in one step [rad], and how often a step is sought that keeps to it before it is cut.
MOST_TURN, RETRIES = 0.5, 3
LEAST_DAMPING, MOST_DAMPING = 1e-10, 1e6
# A step that lowers the sum by less than this part is slow; after so many in a row the search is stuck.
SLOW, PATIENCE = 1e-3, 4
# Turns of the shakes [rad], one after the other.
SHAKES = (0.01, 0.1, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0)
# Sine of the angle below which axes count as opposite at the start, and the least 1 + cos α later.
OPPOSITE, LEAST_ROOM = 1e-6, 1e-12


class Poses(NamedTuple):
    """Positions [m] and orientations of all bodies; the last row is the world, so that index −1 finds it."""

    position: Floats
    orientation: Floats

    def moved(self, bodies: NDArray[np.int64], step: Floats) -> Poses:
        """The poses after moving bodies by (Δx, Δφ), shape (bodies, 6)."""
        position, orientation = self.position.copy(), self.orientation.copy()
        position[bodies] += step[:, :3]
        turned = rotation.multiply(rotation.quaternion_from_rotation_vector(step[:, 3:]), orientation[bodies])
        orientation[bodies] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return Poses(position, orientation)


class Ends(NamedTuple):
    """Where joints sit on their bodies: body, anchor from the centre of mass [m] and frame, in the body's axes.

    The first axis counts joints, the second is A and B; body −1 is the world.
    """

    body: NDArray[np.int64]
    anchor: Floats
    turn: Floats

    def some(self, joints: Sequence[int]) -> Ends:
        """Those of some of the joints."""
        return Ends(self.body[joints], self.anchor[joints], self.turn[joints])

    def frames(self, poses: Poses) -> Any:
        """The frames of the joints in the world."""
        turn = poses.orientation[self.body]
        lever = rotation.rotate(turn, self.anchor)
        at, frame = poses.position[self.body] + lever, rotation.multiply(turn, self.turn)
        columns = {"turn_a": frame[:, 0], "turn_b": frame[:, 1], "lever_a": lever[:, 0], "lever_b": lever[:, 1]}
        return frames_of({**columns, "way": at[:, 1] - at[:, 0]})


class Measured(NamedTuple):
    """A mechanism at some poses: its scaled rows with their Jacobians, and the errors of its joints [m], [rad]."""

    rows: Floats
    jacobian: Floats
    position: Floats
    orientation: Floats

    @property
    def sum(self) -> float:
        """Sum of the squares of the scaled rows [m²]."""
        return float(self.rows @ self.rows)

    @property
    def worst(self) -> float:
        """Largest error of a joint, in metres or radians."""
        return float(max(self.position.max(), self.orientation.max()))


class Mechanism:
    """Joints that hang together, as functions of the poses.

    Args:
        ends: Where they sit.
        specs: The rows of each.
        sizes: Size ρ of every body that may move (bodies,) [m]; zero for those that may not.
        start: Where the bodies are at the start.
    """

    def __init__(self, ends: Ends, specs: Sequence[Sequence[RowSpec]], sizes: Floats, start: Poses) -> None:
        self.ends, flat = ends, [spec for rows in specs for spec in rows]
        self.joint = np.repeat(np.arange(len(specs)), [len(rows) for rows in specs])
        self.is_length = np.array([spec.kind in LENGTHS for spec in flat], dtype=bool)
        self.pairs = _parallel_pairs(specs)
        self.definitions = definitions_of([*flat, *(RowSpec("cross", Z, Z) for _ in self.pairs)])
        self.definition_joint = np.concatenate([self.joint, self.joint[self.pairs[:, 0]]])
        self._keep_opposite_axes(start)
        moving = np.append(sizes, 0.0)[ends.body]
        self.scale = np.where(self.is_length, 1.0, moving.max(axis=1)[self.joint])
        self.bodies = np.unique(ends.body[moving > 0.0])
        self.sizes = sizes[self.bodies]
        self.node = np.where(moving > 0.0, np.searchsorted(self.bodies, ends.body), -1)
        linked = self.node[(self.node >= 0).all(axis=1)]
        self.pattern = find_pattern(len(self.bodies), {(int(i), int(j)) for i, j in linked if i != j})

    def _keep_opposite_axes(self, start: Poses) -> None:
        errors, count = evaluate(self.definitions, self.definition_joint, self.ends.frames(start))[0], len(self.joint)
        kept = (errors[count:] > 0.0) | (np.hypot(*errors[self.pairs].T) > OPPOSITE)
        rows = np.append(np.ones(count, dtype=bool), kept)
        self.pairs, self.definitions, self.definition_joint = (
            self.pairs[kept],
            self.definitions[rows],
            self.definition_joint[rows],
        )

    def measure(self, poses: Poses) -> Measured:
        """Rows and errors at given poses."""
        errors, jacobian = evaluate(self.definitions, self.definition_joint, self.ends.frames(poses))
        count = len(self.joint)
        e, J = errors[:count].copy(), jacobian[:count].reshape(count, 2, 6).copy()
        joints = len(self.ends.body)
        lengths, angles = (
            np.sqrt(np.bincount(self.joint[mask], e[mask] ** 2, minlength=joints))
            for mask in (self.is_length, ~self.is_length)
        )
        if len(self.pairs):
            _grow_to_half_turn(self.pairs, errors[count:], jacobian[count:].reshape(-1, 2, 6), e, J)
        return Measured(self.scale * e, self.scale[:, None, None] * J, lengths, angles)

    def step(self, found: Measured, damping: float) -> Floats:
        """The damped step of the bodies (bodies, 6); those that would turn too far are made to turn less."""
        sizes = np.maximum(self.sizes, found.position.max())
        arms, nodes = np.linalg.norm(found.jacobian[:, :, 3:], axis=2), self.node[self.joint]
        np.maximum.at(sizes, nodes[nodes >= 0], arms[nodes >= 0])
        for _ in range(RETRIES):
            step = self._free_step(found, sizes, damping)
            turn = np.linalg.norm(step[:, 3:], axis=1)
            if turn.max() <= MOST_TURN:
                return step
            sizes = sizes * np.maximum(1.0, 2.0 * turn / MOST_TURN)
        return step * (MOST_TURN / turn.max())

    def _free_step(self, found: Measured, sizes: Floats, damping: float) -> Floats:
        unit = _unit(sizes)
        blocks, slope = self._normal(found, unit)
        for node in range(len(sizes)):
            blocks[node, node] = blocks[node, node] + damping * np.eye(6)
        return unit * block_elimination.solve(self.pattern, blocks, -slope)

    def redundant_rows(self, found: Measured) -> int:
        """Rows that others imply."""
        return len(self.joint) - block_elimination.rank(self.pattern, self._normal(found, _unit(self.sizes))[0])

    def _normal(self, found: Measured, unit: Floats) -> tuple[dict[tuple[int, int], Floats], Floats]:
        """Blocks of Jᵀ J between bodies, and Jᵀ e, in units that make all columns alike."""
        blocks = {(node, node): np.zeros((6, 6)) for node in range(len(unit))}
        slope = np.zeros((len(unit), 6))
        bounds = np.searchsorted(self.joint, np.arange(len(self.node) + 1))
        for joint, nodes in enumerate(self.node.tolist()):
            rows = slice(bounds[joint], bounds[joint + 1])
            own = [(node, found.jacobian[rows, s] * unit[node]) for s, node in enumerate(nodes) if node >= 0]
            for i, J in own:
                slope[i] += J.T @ found.rows[rows]
                for j, K in own:
                    blocks[i, j] = blocks.get((i, j), 0.0) + J.T @ K
        return blocks, slope


@dataclass
class Search:
    """The way from given poses to poses at which a mechanism is closed; ``best`` is the closest it came.

    Attributes:
        mechanism: What is to be closed.
        poses: Where it is now.
        iterations: Steps tried.
    """

    mechanism: Mechanism
    poses: Poses
    iterations: int = 0

    def __post_init__(self) -> None:
        """Measure the start."""
        self.found = self.mechanism.measure(self.poses)
        self.best = (self.found.worst, self.poses)
        self._damping, self._slow, self._shakes = 1e-3, 0, list(SHAKES)
        self._random = np.random.default_rng(0)

    @property
    def was_stuck(self) -> bool:
        """Whether it came to a place from which no step led on."""
        return len(self._shakes) < len(SHAKES)

    def run(self, goal: float, most: int) -> None:
        """Go on until no joint is off by more than ``goal`` [m, rad], at most so many iterations, or stuck for good."""
        while self.best[0] > goal and self.iterations < most:
            self.iterations += 1
            if self._slow < PATIENCE and self._damping < MOST_DAMPING:
                self._improve()
            elif self._shakes:
                self._shake(self._shakes.pop(0))
            else:
                return

    def _improve(self) -> None:
        try:
            trial = self.poses.moved(self.mechanism.bodies, self.mechanism.step(self.found, self._damping))
        except (np.linalg.LinAlgError, InputError):  # rows so steep that the step is lost to rounding
            trial = self.poses
        found = self.mechanism.measure(trial)
        if not found.sum < self.found.sum:
            self._damping *= 10.0
            return
        self._slow = self._slow + 1 if found.sum > (1.0 - SLOW) * self.found.sum else 0
        self._damping = max(0.1 * self._damping, LEAST_DAMPING)
        self._stand(trial, found)

    def _shake(self, turn: float) -> None:
        bodies, sizes = self.mechanism.bodies, self.mechanism.sizes
        step = turn * self._random.uniform(-1.0, 1.0, (len(bodies), 6))
        step[:, :3] *= sizes[:, None]
        trial = self.best[1].moved(bodies, step)
        self._damping, self._slow = 1e-3, 0
        self._stand(trial, self.mechanism.measure(trial))

    def _stand(self, poses: Poses, found: Measured) -> None:
        self.poses, self.found = poses, found
        self.best = min(self.best, (found.worst, poses), key=lambda entry: entry[0])


def _unit(sizes: Floats) -> Floats:
    """Steps of every body that move its points by about one metre, along and about each axis (bodies, 6)."""
    unit = np.ones((len(sizes), 6))
    unit[:, 3:] = 1.0 / sizes[:, None]
    return unit


def _parallel_pairs(specs: Sequence[Sequence[RowSpec]]) -> NDArray[np.int64]:
    """Places of the two rows that keep the z axes of a joint parallel, for each joint that has them (pairs, 2)."""
    pairs, first = [], 0
    for rows in specs:
        places = {(spec.kind, spec.axis_a, spec.axis_b, spec.offset): first + k for k, spec in enumerate(rows)}
        keys = (("cross", X, Z, 0.0), ("cross", Y, Z, 0.0))
        if all(key in places for key in keys):
            pairs.append([places[key] for key in keys])
        first += len(rows)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _grow_to_half_turn(pairs: NDArray[np.int64], cosine: Floats, turning: Floats, e: Floats, J: Floats) -> None:
    """Make sin α into 2 sin(α/2): e ← g e with g² = 2/(1 + c), c = cos α, and J ← g J + g′(c) e J_c."""
    room = np.maximum(1.0 + cosine, LEAST_ROOM)
    grow = np.sqrt(2.0 / room)
    for rows in pairs.T:
        J[rows] = grow[:, None, None] * (J[rows] - (0.5 * e[rows] / room)[:, None, None] * turning)
        e[rows] *= grow
