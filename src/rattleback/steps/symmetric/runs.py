"""Runs: where each begins, what is kept of it, and how their results become one.

    Δx = Σ w_r Δx_r,   Δv = Σ w_r Δv_r,   ΔL = Σ w_r ΔL_r,   q = exp(Σ w_r log(q_r q_f⁻¹)) q_f

w weights of the runs, Δ increments from the start of the step, f the finest run. Orientations are combined in the chart
of the logarithm about the finest run, in which its own is zero. What is combined is then projected on the joints, see
``projection``. The error is the same sum with the weights of the difference, the largest over the bodies of

    |Δx|/(1 + |x|),   |θ|,   |Δv|/(1 + |v|),   |Δω|/(1 + |ω|)

Reference: Bender, dissertation, §3.4; Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, II.9.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, quat, real, vec3
from rattleback.integrators.rk45 import LOST, Control
from rattleback.maths.quat import quat_from_rotation_vector, rotation_vector_from_quat
from rattleback.model.state import Clock, Loads, Motion
from rattleback.steps.symmetric.course import Course, find_inverses, find_rows, return_to_start, show_velocities
from rattleback.steps.symmetric.mechanism import Mechanism, Node, System, choose_rows, respond
from rattleback.steps.symmetric.tops import angular_velocity_of, momentum_of
from rattleback.steps.symmetric.turns import Turns

# Errors of rows are left where they are this many roundings of the largest coordinate, or of one metre.
ROUNDINGS = wp.constant(real(2.0 * epsilon))


@group(axis="results")
class Results:
    """What the runs have come to; body i of run r is row r * bodies + i."""

    way: vec3 = field("m", "Δx")
    gain: vec3 = field("m/s", "Δv")
    twist: vec3 = field("kg m²/s", "ΔL")
    orientation: quat = field("1", "orientation")


@kernel
def begin_step(
    m: Mechanism,
    system: System,
    course: Course,
    motion: Motion,
    node: Node,
    clock: Clock,
    inner: real,
) -> None:
    """A step begins in one world, unless it has no length: its start, the rows there, and which of them take part."""
    w = wp.tid()
    system.active[w] = wp.where(clock.time_step[w] > wp.float64(0.0), 1, 0)
    system.trouble[w] = 0
    system.left[w] = real(0.0)
    system.iterations[w] = 0
    if system.active[w] == 0:
        return
    size = real(1.0)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        q = motion.orientation[i]
        x = motion.position[i]
        course.since.position[i] = x
        course.since.velocity[i] = motion.velocity[i]
        course.since.momentum[i] = momentum_of(q, motion.angular_velocity[i], m.tops.frame[i], m.tops.inverse[i])
        course.since.orientation[i] = q
        course.now.position[i] = x
        course.now.orientation[i] = q
        size = wp.max(size, wp.max(wp.abs(x[0]), wp.max(wp.abs(x[1]), wp.abs(x[2]))))
    system.goal[w] = wp.max(ROUNDINGS * size, inner)
    if m.row_count > 0:
        find_rows(m, course, node, w)
        find_inverses(m, course, node, w)
        respond(m, node, node.inverse, w)
        choose_rows(m, system, node, w)
    for r in range(w * m.row_count, (w + 1) * m.row_count):
        node.force[r] = real(0.0)


@kernel
def begin_run(m: Mechanism, system: System, course: Course, turns: Turns, given: Loads, loads: Loads) -> None:
    """A run begins where the step does."""
    w = wp.tid()
    if system.active[w] == 0:
        return
    return_to_start(m, course, w)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        loads.force[i] = given.force[i]
        loads.torque[i] = given.torque[i]
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        course.angles.angle[j] = turns.angle[j]
        course.angles.other_angle[j] = turns.other_angle[j]


@kernel
def end_run(m: Mechanism, system: System, course: Course, results: Results, first: int) -> None:
    """Keep what a run has come to, in the rows from ``first`` on."""
    w = wp.tid()
    if system.active[w] == 0:
        return
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        results.way[first + i] = course.since.way[i]
        results.gain[first + i] = course.since.gain[i]
        results.twist[first + i] = course.since.twist[i]
        results.orientation[first + i] = course.now.orientation[i]


@kernel
def combine(
    m: Mechanism,
    system: System,
    course: Course,
    results: Results,
    weights: wp.array[real],
    difference: wp.array[real],
    control: Control,
) -> None:
    """The weighted sum of the runs in one world, and the error of the step."""
    w = wp.tid()
    if system.active[w] == 0:
        return
    one = real(1.0)
    n = m.bodies.world.shape[0]
    runs = weights.shape[0]
    worst = real(0.0)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        finest = results.orientation[(runs - 1) * n + i]
        way = vec3()
        gain = vec3()
        twist = vec3()
        turn = vec3()
        dx = vec3()
        dv = vec3()
        dl = vec3()
        dq = vec3()
        for r in range(runs):
            k = r * n + i
            theta = rotation_vector_from_quat(results.orientation[k] * wp.quat_inverse(finest))
            way += weights[r] * results.way[k]
            gain += weights[r] * results.gain[k]
            twist += weights[r] * results.twist[k]
            turn += weights[r] * theta
            dx += difference[r] * results.way[k]
            dv += difference[r] * results.gain[k]
            dl += difference[r] * results.twist[k]
            dq += difference[r] * theta
        q = wp.normalize(quat_from_rotation_vector(turn) * finest)
        course.since.way[i] = way
        course.since.gain[i] = gain
        course.since.twist[i] = twist
        course.now.position[i] = course.since.position[i] + way
        course.now.orientation[i] = q
        show_velocities(m, course, i)
        spin = angular_velocity_of(q, dl, m.tops.frame[i], m.tops.inverse[i])
        error = wp.length(dx) / (one + wp.length(course.now.position[i]))
        error = wp.max(error, wp.length(dq))
        error = wp.max(error, wp.length(dv) / (one + wp.length(course.now.velocity[i])))
        error = wp.max(error, wp.length(spin) / (one + wp.length(course.now.angular_velocity[i])))
        # A maximum passes over what is not a number.
        worst = wp.where(wp.isfinite(error), wp.max(worst, error), LOST)
    control.error[w] = wp.where(system.trouble[w] == 0, worst, LOST)
    control.awake[w] = 1
