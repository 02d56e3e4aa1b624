"""Joints as rows: the scene's joints compiled into flat arrays, and the kernels that evaluate them at any motion.

Row r of a joint says ė_r = J_r · (v_A, ω_A, v_B, ω_B). Beside each Jacobian stands its response M⁻¹ J_rᵀ: the change of
the velocities a unit impulse along the row makes. The world and static bodies have no response.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.row import KINDS, LENGTHS, Frames, Letter, row_of
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.maths.quat import rotate
from rattleback.maths.spin import angular_velocity
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Motion


@group(axis="joints")
class Joints:
    """What does not change about a joint."""

    world: wp.int32 = field("1", "index of the world it lives in")
    body_a: wp.int32 = field("1", "row of body A; −1 for the world")
    body_b: wp.int32 = field("1", "row of body B; −1 for the world")
    anchor_a: vec3 = field("m", "anchor on A, from its centre of mass, in its axes")
    anchor_b: vec3 = field("m", "anchor on B, from its centre of mass, in its axes")
    turn_a: quat = field("1", "orientation of the frame on A, in its axes")
    turn_b: quat = field("1", "orientation of the frame on B, in its axes")
    first: wp.int32 = field("1", "its first row")
    count: wp.int32 = field("1", "number of its rows")


@group(axis="rows")
class Letters:
    """Which condition each row is."""

    kind: wp.int32 = field("1", "kind of row, see constraints")
    axis_a: wp.int32 = field("1", "axis of frame A")
    axis_b: wp.int32 = field("1", "axis of frame B")
    offset: real = field("m or 1", "value its quantity must have")
    is_length: wp.int32 = field("1", "1 where the error is a length, 0 where it is an angle")


@group(axis="rows")
class Rows:
    """The rows at one motion."""

    linear_a: vec3 = field("1", "Jacobian by the velocity of A")
    angular_a: vec3 = field("m or 1", "Jacobian by the angular velocity of A")
    linear_b: vec3 = field("1", "Jacobian by the velocity of B")
    angular_b: vec3 = field("m or 1", "Jacobian by the angular velocity of B")
    move_a: vec3 = field("1/kg", "change of the velocity of A by a unit impulse")
    spin_a: vec3 = field("1/(kg m)", "change of its angular velocity")
    move_b: vec3 = field("1/kg", "change of the velocity of B")
    spin_b: vec3 = field("1/(kg m)", "change of its angular velocity")
    wanted: real = field("m/s or rad/s", "change of the row's velocity that is looked for")
    impulse: real = field("N s or N m s", "impulse found for it")
    step: real = field("N s or N m s", "change of that impulse an iterative method is working on")


@wp.func
def side(motion: Motion, body: int, anchor: vec3, turn: quat) -> tuple[vec3, quat, vec3]:
    """Lever, frame and anchor of one side of a joint, in the world."""
    if body < 0:
        return vec3(), turn, anchor
    q = motion.orientation[body]
    lever = rotate(q, anchor)
    return lever, q * turn, motion.position[body] + lever


@wp.func
def frames_of(joints: Joints, motion: Motion, j: int) -> Frames:
    """The two frames of a joint at a motion."""
    lever_a, turn_a, at_a = side(motion, joints.body_a[j], joints.anchor_a[j], joints.turn_a[j])
    lever_b, turn_b, at_b = side(motion, joints.body_b[j], joints.anchor_b[j], joints.turn_b[j])
    frames = Frames()
    frames.turn_a = turn_a
    frames.turn_b = turn_b
    frames.lever_a = lever_a
    frames.lever_b = lever_b
    frames.way = at_b - at_a
    return frames


@wp.func
def letter_of(letters: Letters, r: int) -> Letter:
    """The letter of a row."""
    letter = Letter()
    letter.kind = letters.kind[r]
    letter.axis_a = letters.axis_a[r]
    letter.axis_b = letters.axis_b[r]
    letter.offset = letters.offset[r]
    return letter


@wp.func
def response(bodies: Bodies, motion: Motion, body: int, linear: vec3, angular: vec3) -> tuple[vec3, vec3]:
    """M⁻¹ Jᵀ of one side of a row."""
    if body < 0:
        return vec3(), vec3()
    spin = angular_velocity(motion.orientation[body], angular, bodies.inverse_inertia[body])
    return bodies.inverse_mass[body] * linear, spin


@wp.kernel(enable_backward=False)
def evaluate_rows(bodies: Bodies, joints: Joints, letters: Letters, motion: Motion, rows: Rows) -> None:
    """Jacobian and response of every row of a joint."""
    j = wp.tid()
    frames = frames_of(joints, motion, j)
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        row = row_of(letter_of(letters, r), frames)
        rows.linear_a[r] = row.linear_a
        rows.angular_a[r] = row.angular_a
        rows.linear_b[r] = row.linear_b
        rows.angular_b[r] = row.angular_b
        move_a, spin_a = response(bodies, motion, joints.body_a[j], row.linear_a, row.angular_a)
        move_b, spin_b = response(bodies, motion, joints.body_b[j], row.linear_b, row.angular_b)
        rows.move_a[r] = move_a
        rows.spin_a[r] = spin_a
        rows.move_b[r] = move_b
        rows.spin_b[r] = spin_b


@wp.func
def row_velocity(joints: Joints, rows: Rows, motion: Motion, j: int, r: int) -> real:
    """ė of a row."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    rate = real(0.0)
    if a >= 0:
        rate += wp.dot(rows.linear_a[r], motion.velocity[a]) + wp.dot(rows.angular_a[r], motion.angular_velocity[a])
    if b >= 0:
        rate += wp.dot(rows.linear_b[r], motion.velocity[b]) + wp.dot(rows.angular_b[r], motion.angular_velocity[b])
    return rate


@dataclass(frozen=True)
class JointRows:
    """The joints of a model as arrays.

    Attributes:
        model: The model.
        names: Names of the joints of one world.
        joints: What does not change about them.
        letters: Which condition each row is.
        rows: Room for the rows at one motion.
        counts: Rows of each joint of one world.
        pairs: Bodies of each joint of one world, −1 for the world and for static bodies that never move.
    """

    model: Model
    names: tuple[str, ...]
    joints: Joints
    letters: Letters
    rows: Rows
    counts: np.ndarray
    pairs: np.ndarray

    @property
    def joint_count(self) -> int:
        """Number of joints in all worlds."""
        return len(self.names) * self.model.worlds

    @property
    def row_count(self) -> int:
        """Number of rows in all worlds."""
        return int(self.counts.sum()) * self.model.worlds


def compile_joints(model: Model) -> JointRows:
    """The joints of a model's scene, repeated for every world."""
    scene = model.scene
    made = list(scene.joints.values())
    specs = [joint.rows() for joint in made]
    counts = np.array([len(rows) for rows in specs], dtype=np.int64)
    sizes = {"joints": len(made) * model.worlds, "rows": int(counts.sum()) * model.worlds}
    joints, letters = arrays.allocate(Joints, sizes, model.device), arrays.allocate(Letters, sizes, model.device)
    rows = arrays.allocate(Rows, sizes, model.device)
    pairs = np.array([[_index(model, joint.a), _index(model, joint.b)] for joint in made], dtype=np.int64)
    arrays.write(joints, _joint_arrays(model, made, counts, pairs), "the joints")
    arrays.write(letters, _letter_arrays(model, [row for rows in specs for row in rows]), "the rows")
    moving = np.array([[i if i >= 0 and not scene.bodies[i].static else -1 for i in pair] for pair in pairs])
    return JointRows(model, tuple(scene.joints), joints, letters, rows, counts, moving)


def _index(model: Model, name: str) -> int:
    return -1 if name == model.scene.world.name else model.index(name)


def _joint_arrays(model: Model, made: list[Any], counts: np.ndarray, pairs: np.ndarray) -> dict[str, np.ndarray]:
    worlds, n = np.arange(model.worlds), len(model.names)
    shift = np.where(pairs >= 0, n, 0)
    rows = pairs[None] + worlds[:, None, None] * shift[None]
    first = np.cumsum(counts) - counts
    flat: dict[str, np.ndarray] = {
        "world": np.repeat(worlds, len(made)),
        "body_a": rows[:, :, 0].ravel(),
        "body_b": rows[:, :, 1].ravel(),
        "first": (first[None] + worlds[:, None] * counts.sum()).ravel(),
        "count": np.tile(counts, model.worlds),
    }
    flat = {name: column.astype(np.int32) for name, column in flat.items()}
    sides = [
        [_placed(model, pairs[k, s], point, turn) for s, (point, turn) in enumerate(_ends(joint))]
        for k, joint in enumerate(made)
    ]
    for s, letter in enumerate("ab"):
        for place, name in enumerate((f"anchor_{letter}", f"turn_{letter}")):
            column = np.array([side_[s][place] for side_ in sides], dtype=numpy_real)
            flat[name] = np.tile(column, (model.worlds, 1))
    _check_levers(model, flat)
    return flat


def _check_levers(model: Model, flat: dict[str, np.ndarray]) -> None:
    """Refuse a joint so far from its body that the numbers of its matrix leave their range."""
    names = list(model.scene.joints)
    for side_ in ("anchor_a", "anchor_b"):
        with np.errstate(over="ignore"):
            far = ~np.isfinite((flat[side_][: len(names)] ** 4).sum(axis=1))
        if far.any():
            raise InputError(f"Joint {names[int(np.argmax(far))]!r} is too far from its body to be computed with.")


def _ends(joint: Any) -> list[tuple[Any, np.ndarray]]:
    first, second = joint.frames()
    return [(joint.at, first), (joint.at_b, second)]


def _placed(model: Model, body: int, point: Any, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A point and a frame of the world at the start, as a body sees them."""
    if body < 0:
        return np.array(point), turn
    found = model.scene.bodies[body]
    back = rotation.conjugate(found.orientation)
    return rotation.rotate(back, np.subtract(point, found.position)), rotation.multiply(back, turn)


def _letter_arrays(model: Model, specs: list[Any]) -> dict[str, np.ndarray]:
    columns = {
        "kind": np.array([KINDS[spec.kind] for spec in specs], dtype=np.int32),
        "axis_a": np.array([spec.axis_a for spec in specs], dtype=np.int32),
        "axis_b": np.array([spec.axis_b for spec in specs], dtype=np.int32),
        "offset": np.array([spec.offset for spec in specs], dtype=numpy_real),
        "is_length": np.array([spec.kind in LENGTHS for spec in specs], dtype=np.int32),
    }
    return {name: np.tile(column, model.worlds) for name, column in columns.items()}
