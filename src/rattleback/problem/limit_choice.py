"""The active set of stops: chosen for a correction before it is applied, from the changes by its impulses.

    q(t + h) ≈ q + h J Δv,   Δv = M⁻¹ Jᵀ λ

q the coordinate of a stop at the predicted end of the step, λ the impulses found. A free stop that would end beyond
its limit becomes active; an active one whose total impulse would pull is released, and its impulse is taken back. Both
change the matrix, so the impulses are found again, until the active set stays (an active-set method on the linear
complementarity problem of the correction). All stops change at once, which is fast, but may cycle. Where the number of
violations does not fall, activations come first, and releases one by one: in a chain that lies on its stops a single
missing one makes many others pull. In the end only the last violation changes, which terminates, though not always
soon.

    solve; Δv; wish; choose; while the choice has changed: take back, make rows and matrix anew, solve, Δv, wish, choose
Cost: a factorisation and a substitution for every change, in the worlds where a limit was hit.

Reference: Júdice and Pires, A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, 1994.
"""

import warp as wp

from rattleback.constraints.coordinate import SLIDE_Z, coordinate_row
from rattleback.constraints.frame import Row
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import FAR, Flight, JointStatus, Limits, Links, Reactions
from rattleback.problem.joint_limits import Calls, Desk, Stops, rate_of, take, want
from rattleback.problem.joint_rows import Inertias, Levers, frames_of, row_velocity

# Changes in one correction, and how many of them may bring no progress before stops change one by one.
MOST_ROUNDS = wp.constant(100)
CHANCES = wp.constant(5)
# After this many, stops that want to act no longer come before those that want to be let go.
PATIENCE = wp.constant(40)
# Errors in units of the tolerance up to which a stiff world is thought to do what its impulses are going to change.
NEAR = wp.constant(real(1e2))
# More than the violations of any world.
MANY = wp.constant(2**31 - 1)
# Times a stop may be let go at the end of a loop.
MOST_LET_GO = wp.constant(3)
# What a stop may wish beside its side.
LEAVE = wp.constant(2)


@wp.func
def pulls(desk: Desk, limits: Limits, s: int, impulse: real) -> bool:
    """Whether an impulse along the row of a stop pulls; by less than the tolerance of velocities it does not."""
    j = desk.stops.joint[s]
    r = desk.stops.row[s]
    mass = (desk.joints.inverse_mass_a[j] + desk.joints.inverse_mass_b[j]) * wp.length_sq(desk.rows.linear[r])
    spin = wp.dot(desk.rows.angular_a[r], desk.rows.spin_a[r]) + wp.dot(desk.rows.angular_b[r], desk.rows.spin_b[r])
    return real(desk.stops.side[s]) * impulse * (mass + spin) > limits.velocity


@wp.func
def leave(desk: Desk, s: int) -> None:
    """A stop has to be released."""
    w = desk.joints.world[desk.stops.joint[s]]
    desk.stops.leaving[s] = 1
    desk.calls.release[w] = 1
    desk.calls.renew[w] = 1
    desk.calls.any_release[0] = 1
    desk.calls.any_renew[0] = 1


@kernel
def find_pulling(desk: Desk, limits: Limits, status: JointStatus) -> None:
    """Where all is within its tolerance and the loop would end, a stop that pulls has to be released."""
    stops = desk.stops
    s = wp.tid()
    w = desk.joints.world[stops.joint[s]]
    done = status.busy[w] == 0 and desk.calls.more[w] == 0 and status.iterations[w] < limits.most
    done = done and status.going[w] == 1
    if stops.side[s] != 0 and stops.let_go[s] < MOST_LET_GO and done and pulls(desk, limits, s, stops.total[s]):
        stops.let_go[s] = stops.let_go[s] + 1
        leave(desk, s)


@kernel
def forget_calls(calls: Calls) -> None:
    """No stop of a world is to change."""
    w = wp.tid()
    calls.more[w] = 0
    calls.renew[w] = 0
    calls.release[w] = 0
    calls.acting[w] = 0
    calls.held[w] = 0
    calls.again[w] = 0
    calls.any_renew[0] = 0
    calls.any_release[0] = 0
    calls.any_again[0] = 0


@kernel
def begin_choice(calls: Calls) -> None:
    """A correction begins."""
    w = wp.tid()
    calls.rounds[w] = 0
    calls.last_wish[w] = -1
    calls.any_take[w] = 0
    calls.wishes[w] = 0
    calls.fewest[w] = MANY


@kernel
def find_change(
    bodies: Bodies, desk: Desk, links: Links, inertias: Inertias, status: JointStatus, change: Motion
) -> None:
    """Δv of a body by the impulses found, in busy worlds where a limit was hit."""
    i = wp.tid()
    w = bodies.world[i]
    if status.busy[w] == 0 or desk.calls.held[w] == 0:
        return
    joints = desk.joints
    v = vec3()
    spin = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            p = desk.rows.impulse[r]
            v += wp.where(links.is_b[k] == 1, p, -p) * desk.rows.linear[r]
            spin += p * wp.where(links.is_b[k] == 1, desk.rows.spin_b[r], desk.rows.spin_a[r])
    change.velocity[i] = bodies.inverse_mass[i] * v
    change.angular_velocity[i] = spin
    if status.stiff[w] == 1:
        change.angular_velocity[i] = spin + inertias.shift[i]


@wp.func
def row_now(desk: Desk, flight: Flight, status: JointStatus, s: int) -> Row:
    """The row a stop has or would have: that of the end of the step in a stiff world."""
    j = desk.stops.joint[s]
    if status.stiff[desk.joints.world[j]] == 1:
        return coordinate_row(desk.stops.freedom[s], frames_of(desk.joints, flight.end, j))
    return coordinate_row(desk.stops.freedom[s], frames_of(desk.joints, flight.before, j))


@wp.func
def act(desk: Desk, inertias: Inertias, status: JointStatus, row: Row, s: int) -> None:
    """What the row of a stop that has just taken effect wants; the shift of a stiff world does a part of it."""
    j = desk.stops.joint[s]
    w = desk.joints.world[j]
    want(desk, status.time_step[w], s)
    if status.stiff[w] == 1:
        a = desk.joints.body_a[j]
        b = desk.joints.body_b[j]
        done = real(0.0)
        if a >= 0:
            done += wp.dot(row.angular_a, inertias.shift[a])
        if b >= 0:
            done += wp.dot(row.angular_b, inertias.shift[b])
        desk.rows.wanted[desk.stops.row[s]] = desk.rows.wanted[desk.stops.row[s]] - done


@wp.func
def goal_of(stops: Stops, s: int, side: int) -> real:
    """How far beyond a limit the step is to end: at most at it, before it was hit."""
    return wp.where(stops.known[s] == side, stops.goal[s], real(0.0))


@kernel
def wish(desk: Desk, flight: Flight, limits: Limits, status: JointStatus, change: Motion, may_take: int) -> None:
    """A free stop that would end beyond its limit is to act; an active one with a pulling total is to be released."""
    stops = desk.stops
    s = wp.tid()
    j = stops.joint[s]
    w = desk.joints.world[j]
    stops.wish[s] = 0
    if desk.joints.broken[j] != 0:
        return
    if status.busy[w] == 0 or desk.calls.held[w] == 0 or desk.calls.rounds[w] >= MOST_ROUNDS:
        return
    if status.stiff[w] == 1 and status.before[w] > NEAR and status.before[w] < FAR:
        return
    if stops.side[s] != 0:
        if pulls(desk, limits, s, stops.total[s] + desk.rows.impulse[stops.row[s]]):
            stops.wish[s] = LEAVE
    elif may_take == 1:
        rate = rate_of(desk.joints, row_now(desk, flight, status, s), change, j)
        stops.ahead[s] = stops.now[s] + wp.float64(status.time_step[w] * rate)
        slack = wp.float64(wp.where(stops.freedom[s] == SLIDE_Z, limits.position, limits.orientation))
        if stops.ahead[s] > stops.upper[s] + slack + wp.float64(goal_of(stops, s, 1)):
            stops.wish[s] = 1
        elif stops.ahead[s] < stops.lower[s] - slack - wp.float64(goal_of(stops, s, -1)):
            stops.wish[s] = -1
    if stops.wish[s] != 0:
        wp.atomic_add(desk.calls.wishes, w, 1)
        wp.atomic_max(desk.calls.last_wish, w, s)
        if stops.wish[s] != LEAVE:
            desk.calls.any_take[w] = 1


@kernel
def weigh_wishes(calls: Calls) -> None:
    """All violations of a world are granted while they become fewer, and a few times more."""
    w = wp.tid()
    calls.one_by_one[w] = 0
    if calls.wishes[w] < calls.fewest[w]:
        calls.fewest[w] = calls.wishes[w]
        calls.chances[w] = CHANCES
    elif calls.chances[w] > 0:
        calls.chances[w] = calls.chances[w] - 1
    else:
        calls.one_by_one[w] = 1
    calls.wishes[w] = 0


@kernel
def choose(desk: Desk, flight: Flight, limits: Limits, inertias: Inertias, status: JointStatus) -> None:
    """Change the active set: all violations, or activations only, or the last one of a world."""
    stops = desk.stops
    s = wp.tid()
    j = stops.joint[s]
    w = desk.joints.world[j]
    calls = desk.calls
    grant = calls.one_by_one[w] == 0 or calls.last_wish[w] == s
    if calls.one_by_one[w] == 1 and calls.any_take[w] == 1 and calls.rounds[w] < PATIENCE:
        grant = stops.wish[s] != LEAVE
    if stops.wish[s] == 0 or not grant:
        return
    if stops.wish[s] == LEAVE:
        leave(desk, s)
    else:
        take(desk, flight, limits, status.time_step[w], s, stops.wish[s], stops.ahead[s])
        act(desk, inertias, status, row_now(desk, flight, status, s), s)


@kernel
def let_go(desk: Desk, levers: Levers, reactions: Reactions) -> None:
    """Release the stops of a joint that pull; their impulses are taken back, and nothing else."""
    stops = desk.stops
    k = wp.tid()
    j = stops.joint[stops.first[k]]
    w = desk.joints.world[j]
    if desk.calls.release[w] == 0:
        return
    for r in range(desk.joints.first[j], desk.joints.first[j] + desk.joints.count[j]):
        desk.rows.impulse[r] = real(0.0)
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        if stops.leaving[s] == 1:
            r = stops.row[s]
            desk.rows.impulse[r] = -stops.total[s]
            p = stops.total[s] * desk.rows.linear[r]
            reactions.impulse[j] = reactions.impulse[j] - p
            turning = stops.total[s] * desk.rows.angular_b[r] - wp.cross(levers.b[j], p)
            reactions.couple[j] = reactions.couple[j] - turning
            stops.total[s] = real(0.0)
            stops.side[s] = 0
            stops.leaving[s] = 0


@kernel
def take_back(
    bodies: Bodies, desk: Desk, links: Links, inertias: Inertias, status: JointStatus, motion: Motion, change: Motion
) -> None:
    """Subtract the impulses of released stops from a body."""
    i = wp.tid()
    w = bodies.world[i]
    if desk.calls.release[w] == 0:
        return
    joints = desk.joints
    v = vec3()
    spin = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        for r in range(joints.first[j] + desk.fixed.count[j], joints.first[j] + joints.count[j]):
            p = desk.rows.impulse[r]
            v += wp.where(links.is_b[k] == 1, p, -p) * desk.rows.linear[r]
            spin += p * wp.where(links.is_b[k] == 1, desk.rows.spin_b[r], desk.rows.spin_a[r])
    change.velocity[i] = bodies.inverse_mass[i] * v
    change.angular_velocity[i] = spin
    if status.stiff[w] == 1:
        spin = rotate(inertias.back[i], spin)
    motion.velocity[i] = motion.velocity[i] + change.velocity[i]
    motion.angular_velocity[i] = motion.angular_velocity[i] + spin


@kernel
def want_back(desk: Desk, change: Motion) -> None:
    """The target of all other rows: the change by that, so that they stay as they were."""
    j = wp.tid()
    if desk.calls.release[desk.joints.world[j]] == 1:
        for r in range(desk.joints.first[j], desk.joints.first[j] + desk.joints.count[j]):
            desk.rows.wanted[r] = desk.rows.wanted[r] - row_velocity(desk.joints, desk.rows, change, j, r)


@kernel
def drift(desk: Desk, flight: Flight, status: JointStatus, change: Motion) -> None:
    """Where the stops of such a world end without those impulses."""
    s = wp.tid()
    j = desk.stops.joint[s]
    w = desk.joints.world[j]
    if desk.calls.release[w] == 1:
        rate = rate_of(desk.joints, row_now(desk, flight, status, s), change, j)
        desk.stops.now[s] = desk.stops.now[s] + wp.float64(status.time_step[w] * rate)


@kernel
def released(calls: Calls) -> None:
    """No stop is left to be released."""
    w = wp.tid()
    calls.release[w] = 0
    calls.any_release[0] = 0
