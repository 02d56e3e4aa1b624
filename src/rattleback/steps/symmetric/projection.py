"""Projection: poses and velocities of the bodies become the nearest ones that agree with the joints.

    J M⁻¹Jᵀ λ = −g,   x ← x + M⁻¹Jᵀλ         until g is at rounding
    J M⁻¹Jᵀ μ = r − J V,   V ← V + M⁻¹Jᵀμ

g errors of the rows, J their Jacobian, M masses and inertias, r wanted rates. Nearest means that no other change,
weighed with masses and inertias, is smaller. What agrees already keeps every bit.

Cost: one or two rounds after a combination, whose errors are those of the step. Reference: Hairer, Lubich, Wanner,
Geometric Numerical Integration, IV.4.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.integrators.rk45 import LOST
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.contact_memory import HELD, WRITTEN, ContactMemory
from rattleback.model.state import Motion
from rattleback.steps.symmetric.course import (
    Course,
    count_turns,
    find_inverses,
    find_rows,
    is_finite,
    return_to_start,
    show_velocities,
)
from rattleback.steps.symmetric.mechanism import (
    Mechanism,
    Node,
    System,
    assemble_symmetric,
    choose_rows,
    factor,
    respond,
    solve,
)
from rattleback.steps.symmetric.velocities import correct

MOST_ROUNDS = wp.constant(40)
# A round that leaves more than this part of an error that is this many goals or less has met rounding.
STALLED = wp.constant(real(0.5))
ROUNDING = wp.constant(real(1e4))
# Where more than this many goals are left, the joints could not be held.
FAILED = wp.constant(real(1e5))


@wp.func
def displace(m: Mechanism, system: System, course: Course, node: Node, w: int) -> None:
    """X + M⁻¹Jᵀλ of all bodies of a world; the sums are made where impulses would be."""
    shift = w * m.row_count
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.start_gain[i] = vec3()
        course.since.start_twist[i] = vec3()
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        a = m.joints.body_a[j]
        b = m.joints.body_b[j]
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            p = system.x[shift + m.pattern.place[r - shift]]
            if a >= 0:
                way = p * m.joints.inverse_mass_a[j] * node.linear[r]
                course.since.start_gain[a] = course.since.start_gain[a] - way
                course.since.start_twist[a] = course.since.start_twist[a] + p * node.response_a[r]
            if b >= 0:
                way = p * m.joints.inverse_mass_b[j] * node.linear[r]
                course.since.start_gain[b] = course.since.start_gain[b] + way
                course.since.start_twist[b] = course.since.start_twist[b] + p * node.response_b[r]
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.now.position[i] = course.now.position[i] + course.since.start_gain[i]
        turn = quat_from_rotation_vector(course.since.start_twist[i])
        course.now.orientation[i] = wp.normalize(turn * course.now.orientation[i])


@wp.func
def prepare(m: Mechanism, system: System, course: Course, node: Node, w: int) -> None:
    """J M⁻¹Jᵀ where the bodies are, factored."""
    find_inverses(m, course, node, w)
    respond(m, node, node.inverse, w)
    assemble_symmetric(m, system, node, w)
    factor(m, system, w)


@wp.func
def project_poses(m: Mechanism, system: System, course: Course, node: Node, w: int) -> real:
    """Newton's method for the poses of a world; returns the error that is left."""
    shift = w * m.row_count
    worst = find_rows(m, course, node, w)
    before = real(0.0)
    rounds = int(0)
    while worst > system.goal[w] and rounds < MOST_ROUNDS:
        prepare(m, system, course, node, w)
        for k in range(m.row_count):
            system.x[shift + k] = -node.error[shift + m.pattern.row[k]]
        solve(m, system, w)
        displace(m, system, course, node, w)
        before = worst
        worst = find_rows(m, course, node, w)
        rounds += 1
        if worst >= LOST or (worst > STALLED * before and before <= ROUNDING * system.goal[w]):
            break
    return worst


@wp.func
def write_motion(m: Mechanism, course: Course, motion: Motion, w: int) -> None:
    """Where the bodies of a world are becomes a motion."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        motion.position[i] = course.now.position[i]
        motion.orientation[i] = course.now.orientation[i]
        motion.velocity[i] = course.now.velocity[i]
        motion.angular_velocity[i] = course.now.angular_velocity[i]


@kernel
def project(m: Mechanism, system: System, course: Course, node: Node, motion: Motion) -> None:
    """The combination of the runs, projected, becomes the motion of one world; after trouble it stays at the start."""
    w = wp.tid()
    if system.active[w] == 0:
        return
    if m.row_count > 0 and system.trouble[w] == 0:
        worst = project_poses(m, system, course, node, w)
        if not (worst <= FAILED * system.goal[w]):
            system.trouble[w] = 1
        count_turns(m, course, w)
        prepare(m, system, course, node, w)
        for i in range(w * m.body_count, (w + 1) * m.body_count):
            show_velocities(m, course, i)
        correct(m, system, course, node, w)
        correct(m, system, course, node, w)
    if not is_finite(m, course, w):
        system.trouble[w] = 1
    if system.trouble[w] != 0:
        return_to_start(m, course, w)
    write_motion(m, course, motion, w)


@kernel
def fit_written(
    m: Mechanism, system: System, course: Course, node: Node, motion: Motion, memory: ContactMemory
) -> None:
    """What was written to one world is projected where it is off; the course begins there."""
    w = wp.tid()
    if memory.pending[w] != WRITTEN or m.row_count == 0 or system.active[w] == 0:
        return
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.gain[i] = vec3()
        course.since.twist[i] = vec3()
    worst = project_poses(m, system, course, node, w)
    find_inverses(m, course, node, w)
    respond(m, node, node.inverse, w)
    choose_rows(m, system, node, w)
    prepare(m, system, course, node, w)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        show_velocities(m, course, i)
    correct(m, system, course, node, w)
    correct(m, system, course, node, w)
    if worst <= FAILED * system.goal[w] and is_finite(m, course, w):
        write_motion(m, course, motion, w)
    memory.pending[w] = HELD
