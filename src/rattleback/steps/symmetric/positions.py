"""First half of a symmetric step: the loads, impulses of the joints so that they hold at the end, and free motion.

    v½ = v₀ + h/2 F₀/m + J₀ᵀλ/m,   L½ = L₀ + h/2 τ₀ + J₀ᵀλ       x₁ = x₀ + h v½,   q₁ = free rotation with L½
    g(x₁, q₁) = 0                                                 for the rows that hold poses
    ½ (J₀ + J₁) V½ = r                                            for the rows that hold velocities

F₀, τ₀ loads at the start, h length, λ impulses of the joints, J their Jacobian, g their errors, r wanted rates.
Together with the second half, see ``velocities``, this is RATTLE: half of the impulse acts at each end, so that the
step back undoes the step forth. Newton's method finds λ with the exact change of free motion by an impulse, made once a
step; with the inertia of the start in its place long loops take tens of rounds.

    guess λ from the last impulse at this pose
    repeat: move the bodies; errors of the rows; stop when they are at rounding; solve for the change of λ
Cost: three to five rounds. Reference: Andersen, RATTLE, J. Comput. Phys. 52 (1983); Hairer, Lubich, Wanner, Geometric
Numerical Integration, VII.1.4 and VII.5.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real
from rattleback.integrators.rk45 import LOST
from rattleback.model.state import Clock, Loads
from rattleback.steps.symmetric.course import (
    Course,
    count_turns,
    find_inverses,
    find_rows,
    momentum_now,
    push,
    rate_of,
    show_velocities,
)
from rattleback.steps.symmetric.mechanism import (
    Mechanism,
    Node,
    System,
    assemble,
    assemble_symmetric,
    factor,
    respond,
    solve,
)
from rattleback.steps.symmetric.tops import slope, turned

MOST_ROUNDS = wp.constant(40)
# The matrix is made anew where a round leaves more than this part of the error.
SLOW = wp.constant(real(0.1))
# A round that leaves more than this part of an error has met rounding, if that error is this many goals or less.
STALLED = wp.constant(real(0.5))
ROUNDING = wp.constant(real(1e4))
# Where more than this many goals are left, the joints could not be held.
FAILED = wp.constant(real(1e5))


@wp.func
def move(m: Mechanism, course: Course, first: Node, h: real, w: int) -> None:
    """Free motion over h with the impulses found so far."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.gain[i] = course.since.start_gain[i]
        course.since.twist[i] = course.since.start_twist[i]
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            push(m, course, first, j, r, first.impulse[r])
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        v = course.since.velocity[i] + course.since.gain[i]
        course.now.position[i] = course.since.position[i] + (course.since.way[i] + h * v)
        spin = momentum_now(course, i)
        course.now.orientation[i] = turned(course.since.heading[i], spin, m.tops.frame[i], m.tops.inverse[i], h)


@wp.func
def rate_errors(m: Mechanism, course: Course, first: Node, last: Node, h: real, w: int) -> real:
    """Errors of the rows that hold velocities, as if they were kept over h; returns the largest."""
    worst = real(0.0)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        spin = momentum_now(course, i)
        course.now.velocity[i] = course.since.velocity[i] + course.since.gain[i]
        course.now.angular_velocity[i] = wp.where(m.bodies.inverse_mass[i] > real(0.0), first.inverse[i] * spin, spin)
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            if m.definitions.is_velocity[r] == 1 and m.joints.broken[j] == 0:
                last.error[r] = rate_of(m, first, course.now, j, r)
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        show_velocities(m, course, i)
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            if m.definitions.is_velocity[r] == 1 and m.joints.broken[j] == 0:
                mean = real(0.5) * (last.error[r] + rate_of(m, last, course.now, j, r))
                last.error[r] = h * (mean - m.definitions.rate[r])
                worst = wp.max(worst, wp.abs(last.error[r]))
    return worst


@wp.func
def look(m: Mechanism, course: Course, first: Node, last: Node, h: real, w: int) -> real:
    """Move the bodies of a world and measure its rows; returns the largest error."""
    move(m, course, first, h, w)
    worst = find_rows(m, course, last, w)
    if m.rates == 1:
        worst = wp.max(worst, rate_errors(m, course, first, last, h, w))
    return worst


@wp.func
def make_matrix(m: Mechanism, system: System, course: Course, first: Node, last: Node, h: real, w: int) -> None:
    """Change of the errors, over h, by impulses at the start, factored."""
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        d = mat33()
        if m.bodies.inverse_mass[i] > real(0.0):
            spin = momentum_now(course, i)
            d = slope(course.since.heading[i], spin, m.tops.frame[i], m.tops.inverse[i], h)
        system.slope[i] = d
    respond(m, first, system.slope, w)
    assemble(m, system, last, first, w)
    factor(m, system, w)


@wp.func
def hold(m: Mechanism, system: System, course: Course, first: Node, last: Node, h: real, w: int) -> None:
    """Newton's method for the impulses of the joints at the start."""
    shift = w * m.row_count
    goal = system.goal[w]
    before = real(0.0)
    rounds = int(0)
    worst = look(m, course, first, last, h, w)
    while worst > goal and rounds < MOST_ROUNDS:
        if rounds == 0 or worst > SLOW * before:
            make_matrix(m, system, course, first, last, h, w)
        for k in range(m.row_count):
            system.x[shift + k] = last.error[shift + m.pattern.row[k]] / h
        solve(m, system, w)
        for k in range(m.row_count):
            r = shift + m.pattern.row[k]
            first.impulse[r] = first.impulse[r] - system.x[shift + k]
        before = worst
        worst = look(m, course, first, last, h, w)
        rounds += 1
        if worst >= LOST or (worst > STALLED * before and before <= ROUNDING * goal):
            break
    if not (worst <= FAILED * goal):
        system.trouble[w] = 1
    system.left[w] = wp.max(system.left[w], worst)
    system.iterations[w] = wp.max(system.iterations[w], rounds)


@kernel
def take_positions(
    m: Mechanism, system: System, course: Course, loads: Loads, first: Node, last: Node, clock: Clock, part: wp.float64
) -> None:
    """The first half of a symmetric step, a part of the whole step long, in one world."""
    w = wp.tid()
    if system.active[w] == 0:
        return
    h = real(part * clock.time_step[w])
    half = real(0.5) * h
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        course.since.heading[i] = course.now.orientation[i]
        gain = course.since.gain[i] + half * m.bodies.inverse_mass[i] * loads.force[i]
        twist = course.since.twist[i]
        if m.bodies.inverse_mass[i] > real(0.0):
            twist = twist + half * loads.torque[i]
        course.since.start_gain[i] = gain
        course.since.start_twist[i] = twist
    for r in range(w * m.row_count, (w + 1) * m.row_count):
        first.impulse[r] = h * first.force[r]
    if m.row_count > 0:
        hold(m, system, course, first, last, h, w)
        count_turns(m, course, w)
    else:
        move(m, course, first, h, w)
    for r in range(w * m.row_count, (w + 1) * m.row_count):
        first.force[r] = first.impulse[r] / h
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        v = course.since.velocity[i] + course.since.gain[i]
        course.since.way[i] = course.since.way[i] + h * v
        course.since.start_gain[i] = course.since.gain[i]
        course.since.start_twist[i] = course.since.twist[i]
    if m.row_count > 0:
        find_inverses(m, course, last, w)
        respond(m, last, last.inverse, w)
        assemble_symmetric(m, system, last, w)
        factor(m, system, w)
