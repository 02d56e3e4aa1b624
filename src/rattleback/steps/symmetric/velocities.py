"""Second half of a symmetric step: the loads at its end, and impulses so that velocities agree with the joints there.

    v₁ = v½ + h/2 F₁/m + J₁ᵀμ/m,   L₁ = L½ + h/2 τ₁ + J₁ᵀμ,      J₁ V₁ = r

Symbols as in ``positions``; μ impulses of the joints at the end. The equations are linear; a second solution takes away
the rounding of the first. Loads that depend on velocities are those at V₁, as the first half of a step takes them at
V₀: only so does the step back undo the step forth. They are met in rounds

    u ← u + s r,   r = V₁(u) − u,   s ← −s ⟨r_before, r − r_before⟩ / |r − r_before|²

V₁(u) velocities at the end with loads at u. The share s, the secant along the last change, takes away most of what is
left of a motion that is damped much more than the others, also where h c/2m is more than one, c damping, m mass.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, VII.1.4; Irons and Tuck, Int. J. Numer. Methods Eng.
1 (1969).
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads
from rattleback.steps.symmetric.course import Course, push, rate_of, show_velocities
from rattleback.steps.symmetric.mechanism import Mechanism, Node, System, solve

MOST_ROUNDS = wp.constant(60)
# Velocities agree with their forces where they change by less than this part of themselves, or one [m/s, rad/s].
AGREED = wp.constant(real(8.0 * epsilon))
# Rounds that change more than this part of what the one before did have met rounding, where that was this small.
STALLED = wp.constant(real(0.7))
# Masses [kg] and inverse inertias are taken to be this large at least, where changes of velocities are weighed.
LIGHTEST = wp.constant(real(1e-12))
ROUNDING = wp.constant(real(1e4 * epsilon))


@wp.func
def correct(m: Mechanism, system: System, course: Course, node: Node, w: int) -> None:
    """Impulses that make the velocities of a world agree with its joints; the matrix is factored."""
    shift = w * m.row_count
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            wanted = real(0.0)
            if m.joints.broken[j] == 0:
                wanted = m.definitions.rate[r] - rate_of(m, node, course.now, j, r)
            system.x[shift + m.pattern.place[r - shift]] = wanted
    solve(m, system, w)
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            p = system.x[shift + m.pattern.place[r - shift]]
            node.impulse[r] = node.impulse[r] + p
            push(m, course, node, j, r, p)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        show_velocities(m, course, i)


@wp.func
def load(m: Mechanism, course: Course, half: real, loads: Loads, i: int) -> None:
    """Take the loads over half a step in."""
    course.since.gain[i] = course.since.start_gain[i] + half * m.bodies.inverse_mass[i] * loads.force[i]
    twist = course.since.start_twist[i]
    if m.bodies.inverse_mass[i] > real(0.0):
        twist = twist + half * loads.torque[i]
    course.since.twist[i] = twist
    show_velocities(m, course, i)


@wp.func
def take_half(m: Mechanism, system: System, course: Course, loads: Loads, last: Node, h: real, w: int) -> None:
    """Loads over the second half, and the joints."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        load(m, course, real(0.5) * h, loads, i)
    for r in range(w * m.row_count, (w + 1) * m.row_count):
        last.impulse[r] = real(0.0)
    if m.row_count > 0:
        correct(m, system, course, last, w)
        correct(m, system, course, last, w)
    for r in range(w * m.row_count, (w + 1) * m.row_count):
        last.force[r] = last.impulse[r] / h


@kernel
def take_velocities(
    m: Mechanism, system: System, course: Course, loads: Loads, last: Node, clock: Clock, part: wp.float64
) -> None:
    """The second half of a symmetric step in one world, with loads that are known."""
    w = wp.tid()
    if system.active[w] == 1:
        take_half(m, system, course, loads, last, real(part * clock.time_step[w]), w)


@kernel
def begin_rounds(system: System, agree: wp.array[wp.int32]) -> None:
    """Loads and velocities of the worlds that take part are still to agree."""
    w = wp.tid()
    system.busy[w] = system.active[w]
    system.rounds[w] = 0
    system.change[w] = real(1.0)
    system.share[w] = real(1.0)
    agree[0] = 1


@kernel
def lower(agree: wp.array[wp.int32]) -> None:
    """Loads and velocities of no world are known to disagree."""
    agree[0] = 0


@kernel
def take_found(bodies: Bodies, system: System, found: Loads, loads: Loads) -> None:
    """The loads found for a body, unless its world is done, which keeps its own whatever others have still to do."""
    i = wp.tid()
    if system.busy[bodies.world[i]] == 1:
        loads.force[i] = found.force[i]
        loads.torque[i] = found.torque[i]


@kernel
def agree_velocities(
    m: Mechanism,
    system: System,
    course: Course,
    loads: Loads,
    last: Node,
    clock: Clock,
    part: wp.float64,
    agree: wp.array[wp.int32],
) -> None:
    """The second half again, with loads at the velocities it had given; done where these stay as they are."""
    w = wp.tid()
    if system.busy[w] == 0:
        return
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.asked_velocity[i] = course.now.velocity[i]
        course.since.asked_spin[i] = course.now.angular_velocity[i]
    take_half(m, system, course, loads, last, real(part * clock.time_step[w]), w)
    change = real(0.0)
    across = real(0.0)
    square = real(0.0)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        v = course.now.velocity[i] - course.since.asked_velocity[i]
        omega = course.now.angular_velocity[i] - course.since.asked_spin[i]
        dv = v - course.since.velocity_rest[i]
        dw = omega - course.since.spin_rest[i]
        weight = wp.max(m.bodies.mass[i], LIGHTEST)
        inertia = real(1.0) / wp.max(m.tops.inverse[i][0], LIGHTEST)
        across += weight * wp.dot(course.since.velocity_rest[i], dv)
        across += inertia * wp.dot(course.since.spin_rest[i], dw)
        square += weight * wp.dot(dv, dv) + inertia * wp.dot(dw, dw)
        change = wp.max(change, wp.length(v) / (real(1.0) + wp.length(course.now.velocity[i])))
        change = wp.max(change, wp.length(omega) / (real(1.0) + wp.length(course.now.angular_velocity[i])))
        course.since.velocity_rest[i] = v
        course.since.spin_rest[i] = omega
    before = system.change[w]
    system.change[w] = change
    system.rounds[w] = system.rounds[w] + 1
    settled = change <= AGREED or (change > STALLED * before and before <= ROUNDING)
    lost = system.rounds[w] >= MOST_ROUNDS or not wp.isfinite(square)
    if settled or lost:
        system.busy[w] = 0
        if not settled:
            system.trouble[w] = 2
        return
    agree[0] = 1
    if system.rounds[w] > 1 and square > real(0.0):
        system.share[w] = -system.share[w] * across / square
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        v = course.since.asked_velocity[i] + system.share[w] * course.since.velocity_rest[i]
        course.now.velocity[i] = v
        omega = course.since.asked_spin[i] + system.share[w] * course.since.spin_rest[i]
        course.now.angular_velocity[i] = omega
