"""Joints as rows: the scene's joints compiled into flat arrays, and the kernels that evaluate them at any motion.

Row r of a joint says ė_r = n_r · (v_B − v_A) + a_r · ω_A + b_r · ω_B: what an impulse along it gives to B it takes from
A. Beside a_r and b_r stands their response, the change of the angular velocities by a unit impulse along the row. The
world and static bodies have no response.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.frame import Frames, about, axis
from rattleback.constraints.row import CROSS, RowDefinition, row_of
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.joints.joint import RowSpec
from rattleback.joints.soft import soft_rows
from rattleback.joints.stop import StopSpec, stops_of
from rattleback.maths.quat import rotate
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Model
from rattleback.model.state import Motion
from rattleback.problem.joint_columns import (
    aligns_axes,
    body_index,
    definition_columns,
    drive_rows,
    joint_columns,
    kind_columns,
    mass_columns,
    yields,
)
from rattleback.problem.row_arrays import RowDefinitions as RowDefinitions
from rattleback.problem.row_arrays import Rows as Rows

# Sine of an angle that is half a turn to rounding, so that its axis is not known.
LEAST_SINE = wp.constant(real(1e-6))


@group(axis="joints")
class Joints:
    """What does not change about a joint, and whether it is broken."""

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
    facing: wp.int32 = field("1", "1 where rows keep z axes parallel, −1 where against each other, 0 where none does")
    counts: wp.int32 = field("1", "1 where an angle is counted on over full turns")
    coupling: wp.int32 = field("1", "kind of its row that couples; −1 where none does")
    drives: wp.int32 = field("1", "1 where it moves its bodies against each other at a rate of its own")
    broken: wp.int32 = field("1", "1 where it is broken; the array of the state")


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
def definition_of(definitions: RowDefinitions, r: int) -> RowDefinition:
    """The definition of a row."""
    definition = RowDefinition()
    definition.kind = definitions.kind[r]
    definition.axis_a = definitions.axis_a[r]
    definition.axis_b = definitions.axis_b[r]
    definition.offset = definitions.offset[r]
    definition.radius_a = definitions.radius_a[r]
    definition.radius_b = definitions.radius_b[r]
    definition.bend = definitions.bend[r]
    return definition


@group(axis="joints")
class Levers:
    """Where the impulses of a joint act, at the motion its rows were evaluated at."""

    a: vec3 = field("m", "from the centre of mass of A to the anchor of B")
    b: vec3 = field("m", "from the centre of mass of B to its anchor")


@group(axis="bodies")
class Inertias:
    """How the bodies answer to turning."""

    inverse: mat33 = field("1/(kg m²)", "inverse of the inertia, world frame; with the stiffness of its joints, if any")
    rotors: mat33 = field("kg m²", "what drives of its joints add against turning, world frame; see rotors")
    weight: real = field("1", "part of the lever of its impulses that is taken at the end of the step")
    lasting: real = field("1", "part of its load that counts for its stiffness")
    shift: vec3 = field("rad/s", "change of the angular velocity the impulses make with those levers, not yet applied")
    back: quat = field("1", "turn from the end of the step, where both are found, to its start, where they act")


@wp.func
def respond(joints: Joints, inertias: Inertias, rows: Rows, j: int, r: int) -> None:
    """The response of one row."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    rows.spin_a[r] = vec3()
    rows.spin_b[r] = vec3()
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


@wp.func
def empty_rows(joints: Joints, rows: Rows, levers: Levers, j: int) -> None:
    """The rows of a broken joint: zeros, which every joint method leaves out."""
    levers.a[j] = vec3()
    levers.b[j] = vec3()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.linear[r] = vec3()
        rows.angular_a[r] = vec3()
        rows.angular_b[r] = vec3()
        rows.spin_a[r] = vec3()
        rows.spin_b[r] = vec3()
        rows.error[r] = real(0.0)


@wp.func
def is_folded(joints: Joints, definition: RowDefinition, frames: Frames, j: int) -> bool:
    """Whether a row that keeps z axes parallel has them turned past a right angle."""
    if joints.facing[j] == 0 or definition.kind != CROSS or definition.axis_a == 2:
        return False
    return real(joints.facing[j]) * wp.dot(axis(frames.turn_a, 2), axis(frames.turn_b, 2)) < real(0.0)


@wp.func
def unfolded(definition: RowDefinition, frames: Frames, error: real) -> real:
    """Error of such a row: 2 − sin θ in the place of sin θ, which would be zero again after half a turn."""
    sine = wp.length(wp.cross(axis(frames.turn_a, 2), axis(frames.turn_b, 2)))
    if sine < LEAST_SINE:
        return wp.where(definition.axis_a == 0, real(2.0), real(0.0))
    return error * (real(2.0) / sine - real(1.0))


@kernel
def evaluate_rows(
    joints: Joints,
    definitions: RowDefinitions,
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
    if joints.broken[j] != 0:
        empty_rows(joints, rows, levers, j)
        return
    if joints.ball[j] == 1:
        evaluate_ball(joints, motion, inertias, rows, levers, j)
        return
    frames = counted_frames_of(joints, motion, remembered, j)
    levers.a[j] = frames.lever_a + frames.way
    levers.b[j] = frames.lever_b
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        definition = definition_of(definitions, r)
        row = row_of(definition, frames)
        if is_folded(joints, definition, frames, j):
            row = about(-row.angular_b, unfolded(definition, frames, row.error))
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
        joints: What does not change about them, and which are broken.
        definitions: Which condition each row is.
        rows: Room for the rows at one motion.
        counts: Rows of each joint of one world.
        pairs: Bodies of each joint of one world, −1 for the world and for static bodies that never move.
        stops: Limits of each joint of one world; their rows follow the others of their joint.
        fixed: The joints without the rows of their limits.
    """

    model: Model
    names: tuple[str, ...]
    joints: Joints
    definitions: RowDefinitions
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
        return len(self.rows.wanted)

    def without_stops(self) -> "JointRows":
        """The same joints without the rows of their limits, which joint methods do not see."""
        counts = self.fixed.count.numpy()[: len(self.names)].astype(np.int64)
        return replace(self, joints=self.fixed, counts=counts)


def compile_joints(
    model: Model,
    broken: Any = None,
    without_rows: Collection[int] = (),
    hard_only: bool = False,
    drives: bool = False,
) -> JointRows:
    """The joints of a model's scene, repeated for every world.

    Args:
        model: The model.
        broken: The array of the state that says which joints are broken; None where none ever is.
        without_rows: Places of joints that something else holds, so that they have no rows but those of their limits.
        hard_only: Whether rows that yield are left out.
        drives: Whether armature and friction of joints are a row along what they leave free.
    """
    scene = model.scene
    made = list(scene.joints.values())
    declared, stops = [soft_rows(joint) for joint in made], [stops_of(joint) for joint in made]
    specs = _specs(scene, without_rows, hard_only, drives)
    held = np.array([len(rows) for rows in specs], dtype=np.int64)
    counts = held + np.array([len(limits) for limits in stops], dtype=np.int64)
    sizes = {"joints": len(made) * model.worlds, "rows": int(counts.sum()) * model.worlds}
    joints = arrays.allocate(Joints, sizes, model.device)
    definitions = arrays.allocate(RowDefinitions, sizes, model.device)
    rows = arrays.allocate(Rows, sizes, model.device)
    pairs = np.array([[body_index(model, joint.a), body_index(model, joint.b)] for joint in made], dtype=np.int64)
    aligns = [aligns_axes(rows_) for rows_ in declared]
    flat = {**joint_columns(model, counts, pairs, aligns), **mass_columns(model, pairs)}
    kinds = kind_columns(made, specs, declared)
    arrays.write(joints, {**flat, **{name: np.tile(kind, model.worlds) for name, kind in kinds.items()}}, "the joints")
    joints.broken = joints.broken if broken is None else broken
    listed = model.scenes.listed(lambda own: _with_limits(own, _specs(own, without_rows, hard_only, drives)))
    arrays.write(definitions, definition_columns(model, listed), "the rows")
    moving = np.array([[i if i >= 0 and not scene.bodies[i].static else -1 for i in pair] for pair in pairs])
    fixed = _counting(joints, held, model)
    return JointRows(model, tuple(scene.joints), joints, definitions, rows, counts, moving, stops, fixed)


def _specs(scene: Any, without_rows: Collection[int], hard_only: bool, drives: bool) -> list[list[RowSpec]]:
    """The rows of every joint of a scene, without those of its limits."""
    declared, driven = [soft_rows(joint) for joint in scene.joints.values()], drive_rows(scene, drives)
    specs = [([] if j in without_rows else own) + driven[j] for j, own in enumerate(declared)]
    return [[row for row in rows if not yields([row])] for rows in specs] if hard_only else specs


def _with_limits(scene: Any, specs: list[list[RowSpec]]) -> list[RowSpec]:
    """All rows of a scene; those of limits follow the others of their joint."""
    pairs = zip(specs, scene.joints.values(), strict=True)
    return [row for own, joint in pairs for row in (*own, *(RowSpec(stop.freedom) for stop in stops_of(joint)))]


def _counting(joints: Any, counts: np.ndarray, model: Model) -> Any:
    """The same joints with only so many rows each."""
    some: Any = Joints()
    for name, array in arrays.each(joints):
        setattr(some, name, array)
    some.count = wp.array(np.tile(counts, model.worlds), dtype=wp.int32, device=model.device)
    return some
