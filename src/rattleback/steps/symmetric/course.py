"""The course of a run: where bodies are after each symmetric step, told as increments from the start of the step.

    x = x₀ + Δx,   v = v₀ + Δv,   L = L₀ + ΔL

Increments are small, so that sums of many of them lose less to rounding than the quantities themselves; results of
several runs are combined as increments as well. What nothing can turn has its angular velocity in the place of L.
"""

import warp as wp

from rattleback.constraints.coupling import counted, measured
from rattleback.constraints.row import row_of
from rattleback.core.arrays import field, group
from rattleback.core.precision import quat, real, vec3
from rattleback.integrators.rk45 import LOST
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import counted_frames_of, definition_of, frames_of
from rattleback.steps.symmetric.mechanism import Mechanism, Node
from rattleback.steps.symmetric.tops import angular_velocity_of, inverse_inertia_of


@group(axis="bodies")
class Increments:
    """What has become of the bodies since the start of the step."""

    way: vec3 = field("m", "Δx")
    gain: vec3 = field("m/s", "Δv")
    twist: vec3 = field("kg m²/s", "ΔL")
    start_gain: vec3 = field("m/s", "Δv before the impulses of the joints")
    start_twist: vec3 = field("kg m²/s", "ΔL before them")
    asked_velocity: vec3 = field("m/s", "velocity the loads at the end of a symmetric step are taken at")
    asked_spin: vec3 = field("rad/s", "angular velocity they are taken at")
    velocity_rest: vec3 = field("m/s", "by how much velocities disagree with the forces they cause")
    spin_rest: vec3 = field("rad/s", "the same of angular velocities")
    heading: quat = field("1", "orientation at the start of the symmetric step")
    position: vec3 = field("m", "x₀")
    velocity: vec3 = field("m/s", "v₀")
    momentum: vec3 = field("kg m²/s", "L₀")
    orientation: quat = field("1", "q₀")


@wp.struct
class Course:
    """Where bodies are now, with what has become of them, and the angles of the joints."""

    now: Motion
    since: Increments
    angles: JointState


@wp.func
def momentum_now(course: Course, i: int) -> vec3:
    """L of a body."""
    return course.since.momentum[i] + course.since.twist[i]


@wp.func
def show_velocities(m: Mechanism, course: Course, i: int) -> None:
    """V and ω of a body from its increments."""
    course.now.velocity[i] = course.since.velocity[i] + course.since.gain[i]
    top = m.tops.frame[i]
    w = angular_velocity_of(course.now.orientation[i], momentum_now(course, i), top, m.tops.inverse[i])
    course.now.angular_velocity[i] = w


@wp.func
def find_inverses(m: Mechanism, course: Course, node: Node, w: int) -> None:
    """J⁻¹ of all bodies of a world; zero for what nothing can turn."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        if m.bodies.inverse_mass[i] > real(0.0):
            node.inverse[i] = inverse_inertia_of(course.now.orientation[i], m.tops.frame[i], m.tops.inverse[i])


@wp.func
def find_rows(m: Mechanism, course: Course, node: Node, w: int) -> real:
    """The rows of a world where its bodies are now; returns the largest error of those that hold poses."""
    worst = real(0.0)
    total = real(0.0)
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        frames = counted_frames_of(m.joints, course.now, course.angles, j)
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            if m.joints.broken[j] == 0:
                row = row_of(definition_of(m.definitions, r), frames)
                node.linear[r] = row.linear_b
                node.angular_a[r] = row.angular_a
                node.angular_b[r] = row.angular_b
                node.error[r] = row.error
                worst = wp.max(worst, wp.abs(row.error))
                total += row.error
            else:
                node.linear[r] = vec3()
                node.angular_a[r] = vec3()
                node.angular_b[r] = vec3()
                node.error[r] = real(0.0)
    # A maximum passes over what is not a number.
    return wp.where(wp.isfinite(total), worst, LOST)


@wp.func
def rate_of(m: Mechanism, node: Node, motion: Motion, j: int, r: int) -> real:
    """ė of a row at given velocities."""
    a = m.joints.body_a[j]
    b = m.joints.body_b[j]
    rate = real(0.0)
    if a >= 0:
        rate += wp.dot(node.angular_a[r], motion.angular_velocity[a]) - wp.dot(node.linear[r], motion.velocity[a])
    if b >= 0:
        rate += wp.dot(node.angular_b[r], motion.angular_velocity[b]) + wp.dot(node.linear[r], motion.velocity[b])
    return rate


@wp.func
def push(m: Mechanism, course: Course, node: Node, j: int, r: int, p: real) -> None:
    """An impulse along a row."""
    a = m.joints.body_a[j]
    b = m.joints.body_b[j]
    if a >= 0 and m.joints.inverse_mass_a[j] > real(0.0):
        course.since.gain[a] = course.since.gain[a] - p * m.joints.inverse_mass_a[j] * node.linear[r]
        course.since.twist[a] = course.since.twist[a] + p * node.angular_a[r]
    if b >= 0 and m.joints.inverse_mass_b[j] > real(0.0):
        course.since.gain[b] = course.since.gain[b] + p * m.joints.inverse_mass_b[j] * node.linear[r]
        course.since.twist[b] = course.since.twist[b] + p * node.angular_b[r]


@wp.func
def is_finite(m: Mechanism, course: Course, w: int) -> bool:
    """Whether all velocities of a world are."""
    total = real(0.0)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        v = course.now.velocity[i] + course.now.angular_velocity[i]
        total += v[0] + v[1] + v[2]
    return wp.isfinite(total)


@wp.func
def return_to_start(m: Mechanism, course: Course, w: int) -> None:
    """The bodies of a world are where the step began."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.way[i] = vec3()
        course.since.gain[i] = vec3()
        course.since.twist[i] = vec3()
        course.now.position[i] = course.since.position[i]
        course.now.orientation[i] = course.since.orientation[i]
        show_velocities(m, course, i)


@wp.func
def count_turns(m: Mechanism, course: Course, w: int) -> None:
    """The angles of the joints go on over full turns."""
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        if m.joints.counts[j] == 1:
            first, second = measured(m.joints.coupling[j], frames_of(m.joints, course.now, j))
            course.angles.angle[j] = counted(first, course.angles.angle[j])
            course.angles.other_angle[j] = counted(second, course.angles.other_angle[j])
