"""Joint limits: rows of a joint that act on one side only, from the hit of a stop until the end of the step.

    u = ±(q − bound) ≤ 0,   p ≥ 0,   u̇ after the hit = −e u̇ before it

q coordinate of a freedom, u how far it is beyond its limit, p impulse of the stop, e restitution. A limit that is kept
anyway has a row of zeros, which every joint method leaves out. Once the joints hold at the predicted end of the step,
limits that do not hold there take effect. With u₀, v₀ at the start of the step, u₁ at its free end and h its length

    a = 2 (u₁ − u₀ − v₀ h)/h²        u₀ + v₀ τ + a τ²/2 = 0        v = v₀ + a τ        r = h − τ
    u(h) = −e v r + a r²/2           u̇(h) = −e v + a r

τ time of the hit, v speed there, r time that is left. The step is to end there: impulses at its start take it to u(h),
impulses at its end to u̇(h), so that under a steady load nothing is lost of a rebound. Where u(h) would be above zero
the rebound does not even last to the end of the step: the joint rests, u(h) = u̇(h) = 0. Where |a| h is above v₀, the
joint rests under a load or other stops act as well, and u(h) = 0, u̇(h) = −e v₀. That is also the target where several
stops of a world act: only velocities of one moment can rebound together without a gain of energy. A joint that rests at
its limit when the step begins is held from the first correction on. No threshold is needed for any of this.

    look: limits beyond at the predicted end take effect; the matrix is made anew for their worlds
    every correction: which stops act is settled before it is applied, see ``limit_choice``; none of them pulls
    velocities: the rows of the same stops, with u̇(h) as the target; after the step all are free again
Cost: none without limits; a check of every limit at each prediction; two more factorisations in worlds where one acts.
Limits: long chains with stops of a restitution near one can gain energy where many are hit at once; see the docs.

Reference: Bender, dissertation, §5.4.3 and §5.2.1 (Newton's law of impact).
"""

import warp as wp

from rattleback.constraints.coordinate import SLIDE_Z, coordinate, coordinate_row
from rattleback.constraints.frame import Row
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Motion
from rattleback.problem.corrections import FAR, Flight, JointStatus, Limits, Reactions, part_of
from rattleback.problem.joint_errors import JointErrors
from rattleback.problem.joint_rows import Inertias, Joints, Levers, Rows, frames_of, respond, row_velocity


@group(axis="stops")
class Stops:
    """Limits of freedoms, and what they do in this step; a stop has the next row after those of its joint."""

    joint: wp.int32 = field("1", "its joint")
    row: wp.int32 = field("1", "its row")
    freedom: wp.int32 = field("1", "which coordinate, see constraints")
    lower: wp.float64 = field("m or rad", "least value")
    upper: wp.float64 = field("m or rad", "largest value")
    restitution: real = field("1", "part of the velocity that is left after a hit")
    before: wp.float64 = field("m or rad", "coordinate at the start of the step")
    now: wp.float64 = field("m or rad", "coordinate at its end, as far as the impulses are known")
    side: wp.int32 = field("1", "1 where the upper limit acts, −1 where the lower, 0 where none does")
    goal: real = field("m or rad", "how far beyond the limit the step is to end; below zero after a rebound")
    target: real = field("m/s or rad/s", "velocity along the row at the end of the step")
    approach: real = field("m/s or rad/s", "the same at its start")
    total: real = field("N s or N m s", "impulse along the row in this step")
    known: wp.int32 = field("1", "side for which goal and target are known in this step")
    ahead: wp.float64 = field("m or rad", "coordinate at the end of the step after the correction that is being found")
    wish: wp.int32 = field("1", "side it wants to act on, 2 where it wants to be let go, 0 where it is content")
    leaving: wp.int32 = field("1", "1 where it is being let go")
    let_go: wp.int32 = field("1", "times it was let go at the end of a loop in this step")
    first: wp.int32 = field("1", "first stop of a joint that has some", axis="limited")
    count: wp.int32 = field("1", "number of its stops", axis="limited")


@group(axis="worlds")
class Calls:
    """What stops want of their world."""

    more: wp.int32 = field("1", "1 while a stop is outside its tolerance")
    renew: wp.int32 = field("1", "1 when other stops act than the matrix knows")
    release: wp.int32 = field("1", "1 when a stop has to be let go")
    acting: wp.int32 = field("1", "number of stops that act at the end of the step")
    held: wp.int32 = field("1", "1 when a stop has acted in this step")
    wishes: wp.int32 = field("1", "stops that want to act or to be let go")
    last_wish: wp.int32 = field("1", "the last of them")
    any_take: wp.int32 = field("1", "1 when one of them wants to act")
    fewest: wp.int32 = field("1", "fewest such stops in this correction")
    chances: wp.int32 = field("1", "times all of them may be granted before they must become fewer")
    one_by_one: wp.int32 = field("1", "1 where they are no longer granted all at once")
    rounds: wp.int32 = field("1", "times the choice of stops was changed in this correction")
    again: wp.int32 = field("1", "1 when the matrix must be made anew for the next step")
    any_renew: wp.int32 = field("1", "1 when any world wants a new matrix", axis="flags")
    any_release: wp.int32 = field("1", "1 when any world has to let go", axis="flags")
    any_again: wp.int32 = field("1", "1 when any world wants a new matrix for the next step", axis="flags")


@wp.struct
class Desk:
    """What the kernels of the stops work on."""

    joints: Joints
    fixed: Joints
    rows: Rows
    stops: Stops
    calls: Calls


@wp.func
def rate_of(joints: Joints, row: Row, motion: Motion, j: int) -> real:
    """Velocity along a row at a motion."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    rate = real(0.0)
    if a >= 0:
        rate += wp.dot(row.linear_a, motion.velocity[a]) + wp.dot(row.angular_a, motion.angular_velocity[a])
    if b >= 0:
        rate += wp.dot(row.linear_b, motion.velocity[b]) + wp.dot(row.angular_b, motion.angular_velocity[b])
    return rate


@wp.func
def bound_of(stops: Stops, s: int) -> wp.float64:
    """The limit that acts."""
    return wp.where(stops.side[s] > 0, stops.upper[s], stops.lower[s])


@wp.func
def hit(u0: real, v0: real, u1: real, h: real, e: real) -> tuple[real, real]:
    """How far beyond the limit a step ends in which it is hit, and the velocity there."""
    zero = real(0.0)
    a = real(2.0) * (u1 - u0 - v0 * h) / (h * h)
    if e == zero or wp.abs(a) * h > v0:
        return zero, -e * v0
    v = v0
    r = h
    if u0 < zero:
        v = wp.sqrt(wp.max(v0 * v0 - real(2.0) * a * u0, zero))
        r = wp.clamp(h + real(2.0) * u0 / (v0 + v), zero, h)
    end = r * (real(0.5) * a * r - e * v)
    if end < zero:
        return end, a * r - e * v
    return zero, zero


@wp.func
def take(desk: Desk, flight: Flight, limits: Limits, h: real, s: int, side: int, q: wp.float64) -> None:
    """A limit takes effect: where the step is to end, and how fast, as found the first time."""
    stops = desk.stops
    stops.side[s] = side
    j = stops.joint[s]
    w = desk.joints.world[j]
    desk.calls.held[w] = 1
    desk.calls.renew[w] = 1
    desk.calls.any_renew[0] = 1
    if stops.known[s] == side:
        return
    stops.known[s] = side
    sign = real(side)
    bound = bound_of(stops, s)
    row = coordinate_row(stops.freedom[s], frames_of(desk.joints, flight.before, j))
    u0 = sign * real(stops.before[s] - bound)
    v0 = sign * rate_of(desk.joints, row, flight.before, j)
    goal, target = hit(u0, v0, sign * real(q - bound), h, stops.restitution[s])
    stops.goal[s] = wp.max(goal, u0 - limits.speed * h)
    stops.target[s] = sign * target
    stops.approach[s] = sign * v0


@wp.func
def begin(desk: Desk, flight: Flight, remembered: JointState, limits: Limits, s: int) -> None:
    """A step begins; a stop at which the joint rests takes effect at once, and is let go if it would pull."""
    stops = desk.stops
    j = stops.joint[s]
    frames = frames_of(desk.joints, flight.before, j)
    q = coordinate(stops.freedom[s], frames, remembered.angle[j])
    stops.before[s] = q
    rate = rate_of(desk.joints, coordinate_row(stops.freedom[s], frames), flight.before, j)
    slack = wp.float64(wp.where(stops.freedom[s] == SLIDE_Z, limits.position, limits.orientation))
    side = wp.where(wp.abs(q - stops.upper[s]) <= slack, 1, wp.where(wp.abs(q - stops.lower[s]) <= slack, -1, 0))
    if side != 0 and wp.abs(rate) <= real(2.0) * limits.velocity:
        stops.known[s] = side
        stops.goal[s] = real(0.0)
        stops.target[s] = real(0.0)
        stops.approach[s] = real(0.0)
        take(desk, flight, limits, real(1.0), s, side, q)


@wp.func
def want(desk: Desk, h: real, s: int) -> real:
    """How far beyond its limit a stop that acts is, and the change of velocity that takes it to its goal."""
    stops = desk.stops
    sign = real(stops.side[s])
    u = sign * real(stops.now[s] - bound_of(stops, s))
    desk.rows.wanted[stops.row[s]] = -sign * (u - stops.goal[s]) / h
    return u


@kernel
def measure_positions(
    desk: Desk,
    flight: Flight,
    remembered: JointState,
    limits: Limits,
    errors: JointErrors,
    status: JointStatus,
    may_look: int,
) -> None:
    """How far the stops of a joint are from where they should be; where the joints hold, more may take effect."""
    stops = desk.stops
    k = wp.tid()
    j = stops.joint[stops.first[k]]
    w = desk.joints.world[j]
    if desk.joints.broken[j] != 0 or status.going[w] == 0:
        return
    h = status.time_step[w]
    lengths = errors.position[j] * errors.position[j]
    angles = errors.orientation[j] * errors.orientation[j]
    worst = real(0.0)
    first = status.iterations[w] == 0
    looks = may_look == 1 and not first and (status.busy[w] == 0 or 2 * status.iterations[w] >= limits.most)
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        if first:
            begin(desk, flight, remembered, limits, s)
        # A body that contacts spin may turn by more than half a turn in a step.
        row = coordinate_row(stops.freedom[s], frames_of(desk.joints, flight.start, j))
        near = stops.before[s] + wp.float64(h * rate_of(desk.joints, row, flight.start, j))
        q = coordinate(stops.freedom[s], frames_of(desk.joints, flight.end, j), near)
        stops.now[s] = q
        if looks and stops.side[s] == 0:
            if q > stops.upper[s]:
                take(desk, flight, limits, h, s, 1, q)
            elif q < stops.lower[s]:
                take(desk, flight, limits, h, s, -1, q)
        beyond = wp.max(real(wp.max(q - stops.upper[s], stops.lower[s] - q)), real(0.0))
        off = real(0.0)
        if stops.side[s] != 0:
            u = want(desk, h, s)
            off = u - stops.goal[s]
            beyond = wp.max(u, real(0.0))
        if stops.freedom[s] == SLIDE_Z:
            worst = wp.max(worst, wp.abs(off) / limits.position)
            lengths += beyond * beyond
        else:
            worst = wp.max(worst, wp.abs(off) / limits.orientation)
            angles += beyond * beyond
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    if worst > real(0.0) and status.open[w] == 0:
        # The report has joint and stops in one number.
        worst = wp.max(worst, wp.max(errors.position[j] / limits.position, errors.orientation[j] / limits.orientation))
    wp.atomic_max(status.error, w, wp.min(worst, FAR))
    if not (worst <= wp.min(limits.share[w], limits.part)):
        desk.calls.more[w] = 1


@kernel
def count_acting(desk: Desk) -> None:
    """How many stops of a world act."""
    s = wp.tid()
    if desk.stops.side[s] != 0:
        wp.atomic_add(desk.calls.acting, desk.joints.world[desk.stops.joint[s]], 1)


@kernel
def share_moment(desk: Desk) -> None:
    """Where several stops act, all rebound from the velocities of one moment, the start of the step."""
    s = wp.tid()
    stops = desk.stops
    if desk.calls.acting[desk.joints.world[stops.joint[s]]] > 1:
        stops.target[s] = -stops.restitution[s] * stops.approach[s]


@kernel
def measure_velocities(desk: Desk, motion: Motion, limits: Limits, errors: JointErrors, status: JointStatus) -> None:
    """How far the velocities of the stops of a joint are from their targets."""
    stops = desk.stops
    k = wp.tid()
    j = stops.joint[stops.first[k]]
    if status.going[desk.joints.world[j]] == 0:
        return
    square = errors.velocity[j] * errors.velocity[j]
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        if stops.side[s] != 0:
            off = row_velocity(desk.joints, desk.rows, motion, j, stops.row[s]) - stops.target[s]
            desk.rows.wanted[stops.row[s]] = -off
            square += off * off
    errors.velocity[j] = wp.sqrt(square)
    if not (errors.velocity[j] <= limits.velocity):
        desk.calls.more[desk.joints.world[j]] = 1


@kernel
def call(calls: Calls, status: JointStatus) -> None:
    """A world whose stops want something goes on; errors cannot be compared with those of other stops."""
    w = wp.tid()
    if calls.more[w] + calls.renew[w] + calls.release[w] > 0:
        status.busy[w] = 1
    if calls.renew[w] + calls.release[w] > 0:
        status.error[w] = FAR
        status.before[w] = FAR
        status.scale[w] = real(1.0)
    calls.more[w] = 0


@kernel
def renewed(calls: Calls) -> None:
    """The matrix is that of the stops that act."""
    w = wp.tid()
    calls.rounds[w] = calls.rounds[w] + calls.renew[w]
    calls.last_wish[w] = -1
    calls.any_take[w] = 0
    calls.renew[w] = 0
    calls.any_renew[0] = 0


@kernel
def evaluate_stops(desk: Desk, motion: Motion, inertias: Inertias, which: wp.array[wp.int32]) -> None:
    """Jacobian and response of the stops that act, and zeros for the others, in the worlds that are wanted."""
    s = wp.tid()
    j = desk.stops.joint[s]
    if which[desk.joints.world[j]] == 0:
        return
    r = desk.stops.row[s]
    row = Row()
    if desk.stops.side[s] != 0:
        row = coordinate_row(desk.stops.freedom[s], frames_of(desk.joints, motion, j))
    desk.rows.linear[r] = row.linear_b
    desk.rows.angular_a[r] = row.angular_a
    desk.rows.angular_b[r] = row.angular_b
    respond(desk.joints, inertias, desk.rows, j, r)


@kernel
def add_totals(desk: Desk, status: JointStatus) -> None:
    """What a correction adds to the impulses of the stops."""
    s = wp.tid()
    w = desk.joints.world[desk.stops.joint[s]]
    if status.busy[w] == 1 and desk.stops.side[s] != 0:
        desk.stops.total[s] = desk.stops.total[s] + part_of(status, w) * desk.rows.impulse[desk.stops.row[s]]


@kernel
def set_aside(desk: Desk, levers: Levers, status: JointStatus, reactions: Reactions, sign: int) -> None:
    """Take what the stops of a joint in a stiff world have done out of its reactions, or put it back where they are."""
    k = wp.tid()
    stops = desk.stops
    j = stops.joint[stops.first[k]]
    if status.turned[desk.joints.world[j]] == 0:
        return
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        p = real(sign) * stops.total[s] * desk.rows.linear[stops.row[s]]
        turning = real(sign) * stops.total[s] * desk.rows.angular_b[stops.row[s]]
        reactions.impulse[j] = reactions.impulse[j] + p
        reactions.couple[j] = reactions.couple[j] + turning - wp.cross(levers.b[j], p)


@wp.func
def free(desk: Desk, s: int) -> None:
    """A limit does not act, and nothing is known of it."""
    stops = desk.stops
    desk.rows.wanted[stops.row[s]] = real(0.0)
    desk.rows.impulse[stops.row[s]] = real(0.0)
    stops.side[s] = 0
    stops.total[s] = real(0.0)
    stops.leaving[s] = 0
    stops.let_go[s] = 0
    stops.known[s] = 0


@kernel
def let_all_go(desk: Desk) -> None:
    """A step is done: no limit acts until it is hit again."""
    s = wp.tid()
    if desk.stops.side[s] != 0:
        desk.calls.again[desk.joints.world[desk.stops.joint[s]]] = 1
        desk.calls.any_again[0] = 1
    free(desk, s)


@kernel
def forget_stops(desk: Desk) -> None:
    """No limit acts, also where the last step was broken off."""
    free(desk, wp.tid())


@kernel
def end_step(calls: Calls, status: JointStatus) -> None:
    """The next step knows of no stop that has acted; the matrix of a stiff world must be made anew as well."""
    w = wp.tid()
    calls.held[w] = 0
    calls.acting[w] = 0
    if status.stiff[w] == 1:
        calls.again[w] = 1
        calls.any_again[0] = 1


@kernel
def made_anew(calls: Calls) -> None:
    """The matrix is that of the next step."""
    w = wp.tid()
    calls.again[w] = 0
    calls.any_again[0] = 0
