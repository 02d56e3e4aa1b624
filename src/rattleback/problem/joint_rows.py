"""Joints as rows: the scene's joints compiled into flat arrays, and the kernels that evaluate them at any motion.

Row r of a joint says ė_r = n_r · (v_B − v_A) + a_r · ω_A + b_r · ω_B: what an impulse along it gives to B it takes from
A. Beside a_r and b_r stands their response, the change of the angular velocities by a unit impulse along the row. The
world and static bodies have no response.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.frame import Frames
from rattleback.constraints.row import COUPLINGS, KINDS, LENGTHS, VELOCITY_ONLY, Letter, row_of
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.precision import mat33, numpy_real, quat, real, vec3
from rattleback.joints.joint import RowSpec
from rattleback.joints.stop import StopSpec, stops_of
from rattleback.maths import rotation
from rattleback.maths.quat import rotate
from rattleback.model.model import Model
from rattleback.model.state import JointState, Motion

BALL = [("slide", axis, 0.0) for axis in range(3)]


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
    inverse_mass_a: real = field("1/kg", "inverse mass of A; zero for what does not move")
    inverse_mass_b: real = field("1/kg", "inverse mass of B")
    ease_a: real = field("1/(kg m²)", "bound on how easily A is turned, times twice the number of its joints")
    ease_b: real = field("1/(kg m²)", "the same of B")
    ball: wp.int32 = field("1", "1 where its rows just hold the two anchors together")
    counts: wp.int32 = field("1", "1 where an angle is counted on over full turns")
    coupling: wp.int32 = field("1", "kind of its row that couples; −1 where none does")


@group(axis="rows")
class Letters:
    """Which condition each row is."""

    kind: wp.int32 = field("1", "kind of row, see constraints; −1 for a limit")
    axis_a: wp.int32 = field("1", "axis of frame A")
    axis_b: wp.int32 = field("1", "axis of frame B")
    offset: real = field("m or 1", "value its quantity must have")
    radius_a: real = field("m", "metres a radian of the first angle is worth, in rows that couple")
    radius_b: real = field("m", "the same of the second angle")
    is_length: wp.int32 = field("1", "1 where the error is a length, 0 where it is an angle")
    is_velocity: wp.int32 = field("1", "1 where only the velocity has a target, 0 where the position has one")
    rate: real = field("m/s or rad/s", "target of such a velocity; zero for the others")


@group(axis="rows")
class Rows:
    """The rows at one motion."""

    linear: vec3 = field("1", "Jacobian by the velocity of B; that of A is its negative")
    angular_a: vec3 = field("m or 1", "Jacobian by the angular velocity of A")
    angular_b: vec3 = field("m or 1", "Jacobian by the angular velocity of B")
    spin_a: vec3 = field("1/(kg m)", "change of the angular velocity of A by a unit impulse")
    spin_b: vec3 = field("1/(kg m)", "change of the angular velocity of B")
    error: real = field("m or rad", "error at that motion")
    goal: real = field("m or rad", "error the step may leave; zero unless the joint is far open")
    wanted: real = field("m/s or rad/s", "change of the row's velocity that is looked for")
    impulse: real = field("N s or N m s", "impulse found for it")


@wp.func
def side(motion: Motion, body: int, anchor: vec3, turn: quat) -> tuple[vec3, quat, vec3]:
    """Lever, frame and anchor of one side of a joint, in the world."""
    if body < 0:
        return vec3(), turn, anchor
    q = motion.orientation[body]
    lever = rotate(q, anchor)
    return lever, q * turn, motion.position[body] + lever


@wp.func
def anchor(motion: Motion, body: int, at: vec3) -> tuple[vec3, vec3]:
    """Lever and anchor of one side of a joint, in the world."""
    if body < 0:
        return vec3(), at
    lever = rotate(motion.orientation[body], at)
    return lever, motion.position[body] + lever


@wp.func
def way_of(joints: Joints, motion: Motion, j: int) -> vec3:
    """The way from the anchor of A to that of B."""
    _lever_a, at_a = anchor(motion, joints.body_a[j], joints.anchor_a[j])
    _lever_b, at_b = anchor(motion, joints.body_b[j], joints.anchor_b[j])
    return at_b - at_a


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
def counted_frames_of(joints: Joints, motion: Motion, remembered: JointState, j: int) -> Frames:
    """The same with the angles remembered from the last step, which errors of rows that couple need."""
    frames = frames_of(joints, motion, j)
    frames.angle = remembered.angle[j]
    frames.other_angle = remembered.other_angle[j]
    return frames


@wp.func
def letter_of(letters: Letters, r: int) -> Letter:
    """The letter of a row."""
    letter = Letter()
    letter.kind = letters.kind[r]
    letter.axis_a = letters.axis_a[r]
    letter.axis_b = letters.axis_b[r]
    letter.offset = letters.offset[r]
    letter.radius_a = letters.radius_a[r]
    letter.radius_b = letters.radius_b[r]
    return letter


@group(axis="joints")
class Levers:
    """Where the impulses of a joint act, at the motion its rows were evaluated at."""

    a: vec3 = field("m", "from the centre of mass of A to the anchor of B")
    b: vec3 = field("m", "from the centre of mass of B to its anchor")


@group(axis="bodies")
class Inertias:
    """How the bodies answer to turning."""

    inverse: mat33 = field("1/(kg m²)", "inverse of the inertia, world frame; with the stiffness of its joints, if any")
    weight: real = field("1", "part of the lever of its impulses that is taken at the end of the step")
    shift: vec3 = field("rad/s", "change of the angular velocity the impulses make with those levers, not yet applied")
    back: quat = field("1", "turn from the end of the step, where both are found, to its start, where they act")


@wp.func
def respond(joints: Joints, inertias: Inertias, rows: Rows, j: int, r: int) -> None:
    """The response of one row."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    if a >= 0:
        rows.spin_a[r] = inertias.inverse[a] * rows.angular_a[r]
    if b >= 0:
        rows.spin_b[r] = inertias.inverse[b] * rows.angular_b[r]


@wp.func
def evaluate_ball(joints: Joints, motion: Motion, inertias: Inertias, rows: Rows, levers: Levers, j: int) -> None:
    """The rows of a joint that just holds two anchors together: along the axes of A's frame."""
    lever_a, turn_a, at_a = side(motion, joints.body_a[j], joints.anchor_a[j], joints.turn_a[j])
    lever_b, at_b = anchor(motion, joints.body_b[j], joints.anchor_b[j])
    way = at_b - at_a
    lever = lever_a + way
    levers.a[j] = lever
    levers.b[j] = lever_b
    frame = wp.quat_to_matrix(turn_a)
    for k in range(3):
        r = joints.first[j] + k
        n = vec3(frame[0, k], frame[1, k], frame[2, k])
        rows.linear[r] = n
        rows.angular_a[r] = wp.cross(n, lever)
        rows.angular_b[r] = wp.cross(lever_b, n)
        rows.error[r] = wp.dot(n, way)
        respond(joints, inertias, rows, j, r)


@wp.kernel(enable_backward=False)
def evaluate_rows(
    joints: Joints,
    letters: Letters,
    motion: Motion,
    remembered: JointState,
    inertias: Inertias,
    rows: Rows,
    levers: Levers,
    which: wp.array[wp.int32],
) -> None:
    """Jacobian, response and error of every row of a joint, in the worlds that are wanted."""
    j = wp.tid()
    if which[joints.world[j]] == 0:
        return
    if joints.ball[j] == 1:
        evaluate_ball(joints, motion, inertias, rows, levers, j)
        return
    frames = counted_frames_of(joints, motion, remembered, j)
    levers.a[j] = frames.lever_a + frames.way
    levers.b[j] = frames.lever_b
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        row = row_of(letter_of(letters, r), frames)
        rows.linear[r] = row.linear_b
        rows.angular_a[r] = row.angular_a
        rows.angular_b[r] = row.angular_b
        rows.error[r] = row.error
        respond(joints, inertias, rows, j, r)


@wp.func
def row_velocity(joints: Joints, rows: Rows, motion: Motion, j: int, r: int) -> real:
    """ė of a row."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    rate = real(0.0)
    if a >= 0:
        rate += wp.dot(rows.angular_a[r], motion.angular_velocity[a]) - wp.dot(rows.linear[r], motion.velocity[a])
    if b >= 0:
        rate += wp.dot(rows.linear[r], motion.velocity[b]) + wp.dot(rows.angular_b[r], motion.angular_velocity[b])
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
        stops: Limits of each joint of one world; their rows follow the others of their joint.
        fixed: The joints without the rows of their limits.
    """

    model: Model
    names: tuple[str, ...]
    joints: Joints
    letters: Letters
    rows: Rows
    counts: np.ndarray
    pairs: np.ndarray
    stops: list[list[StopSpec]]
    fixed: Joints

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
    specs, stops = [joint.rows() for joint in made], [stops_of(joint) for joint in made]
    held = np.array([len(rows) for rows in specs], dtype=np.int64)
    counts = held + np.array([len(limits) for limits in stops], dtype=np.int64)
    sizes = {"joints": len(made) * model.worlds, "rows": int(counts.sum()) * model.worlds}
    joints, letters = arrays.allocate(Joints, sizes, model.device), arrays.allocate(Letters, sizes, model.device)
    rows = arrays.allocate(Rows, sizes, model.device)
    pairs = np.array([[_index(model, joint.a), _index(model, joint.b)] for joint in made], dtype=np.int64)
    kinds = _kinds(made, specs)
    flat = {**_joint_arrays(model, made, counts, pairs), **_masses(model, pairs)}
    arrays.write(joints, {**flat, **{name: np.tile(kind, model.worlds) for name, kind in kinds.items()}}, "the joints")
    arrays.write(letters, _letter_arrays(model, specs, stops), "the rows")
    moving = np.array([[i if i >= 0 and not scene.bodies[i].static else -1 for i in pair] for pair in pairs])
    fixed = _counting(joints, held, model)
    return JointRows(model, tuple(scene.joints), joints, letters, rows, counts, moving, stops, fixed)


def _counting(joints: Any, counts: np.ndarray, model: Model) -> Any:
    """The same joints with only so many rows each."""
    some: Any = Joints()
    for name, array in arrays.each(joints):
        setattr(some, name, array)
    some.count = wp.array(np.tile(counts, model.worlds), dtype=wp.int32, device=model.device)
    return some


def _index(model: Model, name: str) -> int:
    return -1 if name == model.scene.world.name else model.index(name)


def _kinds(made: list[Any], specs: list[list[Any]]) -> dict[str, np.ndarray]:
    """What kernels want to know of the kind of a joint."""
    coupling = [next((KINDS[row.kind] for row in rows if row.kind in COUPLINGS), -1) for rows in specs]
    turns = [[name for name in joint.freedoms if name.startswith("turn")] == ["turn_z"] for joint in made]
    columns = {
        "coupling": coupling,
        "ball": [[(row.kind, row.axis_a, row.offset) for row in rows] == BALL for rows in specs],
        "counts": [turn or kind >= 0 for turn, kind in zip(turns, coupling, strict=True)],
    }
    return {name: np.array(column, dtype=np.int32) for name, column in columns.items()}


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
        [_placed(model, pairs[k, s], point, turn, joint.in_bodies) for s, (point, turn) in enumerate(_ends(joint))]
        for k, joint in enumerate(made)
    ]
    for s, letter in enumerate("ab"):
        for place, name in enumerate((f"anchor_{letter}", f"turn_{letter}")):
            column = np.array([side_[s][place] for side_ in sides], dtype=numpy_real)
            flat[name] = np.tile(column, (model.worlds, 1))
    _check_levers(model, flat)
    return flat


def _masses(model: Model, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """How easily the bodies of each joint are moved and turned; the world is not."""
    ends = np.bincount(pairs[pairs >= 0], minlength=len(model.names))
    mass = np.append(model.bodies.inverse_mass.numpy()[: len(model.names)], 0.0)
    inverse = model.bodies.inverse_inertia.numpy()[: len(model.names)]
    ease = np.append(2.0 * ends * np.linalg.eigvalsh(inverse).max(axis=1), 0.0)
    named = {"inverse_mass": mass, "ease": ease}
    return {
        f"{name}_{side_}": np.tile(values[pairs[:, s]], model.worlds).astype(numpy_real)
        for name, values in named.items()
        for s, side_ in enumerate("ab")
    }


def _check_levers(model: Model, flat: dict[str, np.ndarray]) -> None:
    """Refuse a joint so far from its body that the numbers of its matrix leave their range."""
    names = list(model.scene.joints)
    for side_ in ("anchor_a", "anchor_b"):
        with np.errstate(over="ignore"):
            far = ~np.isfinite((flat[side_][: len(names)] ** 4).sum(axis=1))
        if far.any():
            raise InputError(f"Joint {names[int(np.argmax(far))]!r} is too far from its body to be computed with.")


def _ends(joint: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(zip(joint.points(), joint.frames(), strict=True))


def _placed(
    model: Model, body: int, point: np.ndarray, turn: np.ndarray, in_body: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A point and a frame as seen from a body's centre of mass; given in its frame, or in the world at the start."""
    if body < 0:
        return np.array(point), turn
    found = model.scene.bodies[body]
    if in_body:
        return np.subtract(point, found.center_of_mass), turn
    back = rotation.conjugate(found.orientation)
    return rotation.rotate(back, np.subtract(point, found.position)), rotation.multiply(back, turn)


def _letter_arrays(model: Model, rows: list[list[Any]], stops: list[list[StopSpec]]) -> dict[str, np.ndarray]:
    pairs = zip(rows, stops, strict=True)
    specs = [spec for own, limits in pairs for spec in (*own, *(RowSpec(limit.freedom) for limit in limits))]
    columns = {
        "kind": np.array([KINDS.get(spec.kind, -1) for spec in specs], dtype=np.int32),
        "axis_a": np.array([spec.axis_a for spec in specs], dtype=np.int32),
        "axis_b": np.array([spec.axis_b for spec in specs], dtype=np.int32),
        **{
            name: np.array([getattr(spec, name) for spec in specs], dtype=numpy_real)
            for name in ("offset", "radius_a", "radius_b", "rate")
        },
        "is_length": np.array([spec.kind in LENGTHS for spec in specs], dtype=np.int32),
        "is_velocity": np.array([spec.kind in VELOCITY_ONLY for spec in specs], dtype=np.int32),
    }
    return {name: np.tile(column, model.worlds) for name, column in columns.items()}
