"""Joint limits: one-sided rows of a joint, which push from the hit of a stop until the end of the step.

    u = ±(q − bound) ≤ 0,   p ≥ 0,   u̇ after the hit = −e u̇ before it

q coordinate of a freedom, u how far it is beyond its limit, p impulse of the stop, e restitution. Once the joints hold
at the predicted end of the step, limits that do not hold there take effect. With u₀, v₀ at the start of the step, u₁ at
its free end and h its length

    a = 2 (u₁ − u₀ − v₀ h)/h²        u₀ + v₀ τ + a τ²/2 = 0        v = v₀ + a τ        r = h − τ
    u(h) = −e v r + a r²/2           u̇(h) = −e v + a r

τ time of the hit, v speed there, r time that is left. The step is to end there: impulses at its start take it to u(h),
impulses at its end to u̇(h), so that under a steady load nothing is lost of a rebound. Where u(h) would be above zero
the rebound does not even last to the end of the step: the joint rests, u(h) = u̇(h) = 0. Where |a| h is above v₀, the
joint rests under a load or other stops act as well, and u(h) = 0, u̇(h) = −e v₀. That is also the target where several
stops of a world act: only velocities of one moment can rebound together without a gain of energy. A joint that rests at
its limit when the step begins is held from the first correction on. No threshold is needed for any of this.

    every measurement: bounds of the rate of each row, so that the step ends at its bounds:   low ≤ J v ≤ high
    every correction, every sweep over contacts: impulses that keep the rates within them, see ``one_sided_rows``
    velocities: the same rows, with u̇(h) as the bound; after the step all are free again
Cost: none without limits; a look at every limit at each correction; more where one acts.
Limits: long chains with stops of a restitution near one can gain energy where many are hit at once; see the docs.

Reference: Bender, dissertation, §5.4.3 and §5.2.1 (Newton's law of impact).
"""

import warp as wp

from rattleback.constraints.coordinate import SLIDE_Z, SWING, coordinate, coordinate_row
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
    now: wp.float64 = field("m or rad", "coordinate at its end, when it was measured last")
    rate: real = field("m/s or rad/s", "rate of the row at the start of the step then")
    low: real = field("m/s or rad/s", "least rate of the row")
    high: real = field("m/s or rad/s", "largest rate of the row")
    side: wp.int32 = field("1", "1 where the upper limit was hit in this step, −1 where the lower, 0 where none was")
    goal: real = field("m or rad", "how far beyond the limit the step is to end; below zero after a rebound")
    target: real = field("m/s or rad/s", "velocity along the row at the end of the step")
    approach: real = field("m/s or rad/s", "the same at its start")
    total: real = field("N s or N m s", "impulse along the row in this step")
    first: wp.int32 = field("1", "first stop of a joint that has some", axis="limited")
    count: wp.int32 = field("1", "number of its stops", axis="limited")


@group(axis="worlds")
class StopStatus:
    """What the stops of a world do in a step."""

    more: wp.int32 = field("1", "1 while a stop is outside its tolerance")
    fresh: wp.int32 = field("1", "1 when a stop has just been hit")
    hits: wp.int32 = field("1", "number of stops that were hit in this step")
    factors: wp.int32 = field("1", "factors that a stiff loop has made")
    held: wp.int32 = field("1", "1 when stops take part in the corrections of this step")
    anew: wp.int32 = field("1", "1 when the row of a cone has just been made anew")


@wp.struct
class StopRows:
    """What the kernels of the stops work on; ``fixed`` has the joints without the rows of their stops."""

    joints: Joints
    fixed: Joints
    rows: Rows
    stops: Stops
    status: StopStatus
    loop: JointStatus
    limits: Limits
    flight: Flight


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
def slack_of(stops: Stops, limits: Limits, s: int) -> real:
    """Tolerance of a stop."""
    return wp.where(stops.freedom[s] == SLIDE_Z, limits.position, limits.orientation)


@wp.func
def set_bounds(stops: Stops, h: real, s: int) -> None:
    """Rates of the row with which the step ends at the limits, or where it is to end after a hit."""
    up = wp.where(stops.side[s] > 0, stops.goal[s], real(0.0))
    down = wp.where(stops.side[s] < 0, stops.goal[s], real(0.0))
    stops.high[s] = stops.rate[s] + (real(stops.upper[s] - stops.now[s]) + up) / h
    stops.low[s] = stops.rate[s] + (real(stops.lower[s] - stops.now[s]) - down) / h


@wp.func
def rate_before(system: StopRows, s: int, j: int, w: int) -> real:
    """Rate of a stop before the step; that of a cone along its row, which goes along with the swing."""
    before = system.flight.before
    if system.stops.freedom[s] == SWING and system.loop.stiff[w] == 0:
        return row_velocity(system.joints, system.rows, before, j, system.stops.row[s])
    row = coordinate_row(system.stops.freedom[s], frames_of(system.joints, before, j))
    return rate_of(system.joints, row, before, j)


@wp.func
def take(system: StopRows, s: int, side: int, q: wp.float64) -> None:
    """A limit is hit: where the step is to end, and how fast."""
    stops = system.stops
    stops.side[s] = side
    j = stops.joint[s]
    w = system.joints.world[j]
    h = system.loop.time_step[w]
    system.status.held[w] = 1
    sign = real(side)
    bound = wp.where(side > 0, stops.upper[s], stops.lower[s])
    u0 = sign * real(stops.before[s] - bound)
    v0 = sign * rate_before(system, s, j, w)
    goal, target = hit(u0, v0, sign * real(q - bound), h, stops.restitution[s])
    stops.goal[s] = wp.max(goal, u0 - system.limits.speed * h)
    stops.target[s] = sign * target
    stops.approach[s] = sign * v0
    set_bounds(stops, h, s)


@wp.func
def begin(system: StopRows, remembered: JointState, s: int) -> None:
    """A loop begins; a stop at which the joint rests takes effect at once."""
    stops = system.stops
    flight = system.flight
    limits = system.limits
    j = stops.joint[s]
    frames = frames_of(system.joints, flight.before, j)
    q = coordinate(stops.freedom[s], frames, remembered.angle[j])
    stops.before[s] = q
    rate = rate_of(system.joints, coordinate_row(stops.freedom[s], frames), flight.before, j)
    slack = wp.float64(slack_of(stops, limits, s))
    side = wp.where(wp.abs(q - stops.upper[s]) <= slack, 1, wp.where(wp.abs(q - stops.lower[s]) <= slack, -1, 0))
    if side != 0 and stops.side[s] == 0 and wp.abs(rate) <= real(2.0) * limits.velocity:
        stops.side[s] = side
        stops.goal[s] = real(0.0)
        stops.target[s] = real(0.0)
        stops.approach[s] = real(0.0)
        system.status.held[system.joints.world[j]] = 1


@wp.func
def error_of(stops: Stops, s: int) -> tuple[real, real]:
    """How far a stop is beyond its limit, and beyond where it should be; above it, too, where it pushes."""
    beyond = real(wp.max(stops.now[s] - stops.upper[s], stops.lower[s] - stops.now[s]))
    off = real(0.0)
    if stops.side[s] != 0:
        sign = real(stops.side[s])
        u = sign * real(stops.now[s] - wp.where(stops.side[s] > 0, stops.upper[s], stops.lower[s]))
        off = u - stops.goal[s]
        if stops.total[s] == real(0.0):
            off = wp.max(off, real(0.0))
    return wp.max(beyond, real(0.0)), wp.abs(off)


@kernel
def measure_positions(system: StopRows, remembered: JointState, errors: JointErrors, may_look: int) -> None:
    """How far the stops of a joint are from where they should be; where the joints hold, more may be hit."""
    stops = system.stops
    flight = system.flight
    limits = system.limits
    status = system.loop
    k = wp.tid()
    j = stops.joint[stops.first[k]]
    w = system.joints.world[j]
    if system.joints.broken[j] != 0 or status.going[w] == 0:
        return
    h = status.time_step[w]
    lengths = errors.position[j] * errors.position[j]
    angles = errors.orientation[j] * errors.orientation[j]
    worst = real(0.0)
    first = status.iterations[w] == 0
    # Joints that trees hold do so from the first, and need no correction to be told that a stop is hit.
    at_once = first and status.least[w] == 0
    looks = (
        may_look == 1 and (at_once or not first) and (status.busy[w] == 0 or 2 * status.iterations[w] >= limits.most)
    )
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        if first:
            begin(system, remembered, s)
            if at_once and stops.side[s] != 0:
                system.status.more[w] = 1
        # A body that contacts spin may turn by more than half a turn in a step.
        row = coordinate_row(stops.freedom[s], frames_of(system.joints, flight.start, j))
        near = stops.before[s] + wp.float64(h * rate_of(system.joints, row, flight.start, j))
        q = coordinate(stops.freedom[s], frames_of(system.joints, flight.end, j), near)
        stops.now[s] = q
        stops.rate[s] = row_velocity(system.joints, system.rows, flight.start, j, stops.row[s])
        side = wp.where(q > stops.upper[s], 1, wp.where(q < stops.lower[s], -1, 0))
        if looks and side != 0 and stops.total[s] == real(0.0) and side != stops.side[s]:
            take(system, s, side, q)
            system.status.fresh[w] = 1
        set_bounds(stops, h, s)
        beyond, off = error_of(stops, s)
        worst = wp.max(worst, off / slack_of(stops, limits, s))
        if stops.freedom[s] == SLIDE_Z:
            lengths += beyond * beyond
        else:
            angles += beyond * beyond
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    if worst > real(0.0) and status.open[w] == 0:
        # The report has joint and stops in one number.
        worst = wp.max(worst, wp.max(errors.position[j] / limits.position, errors.orientation[j] / limits.orientation))
    wp.atomic_max(status.error, w, wp.min(worst, FAR))
    if not (worst <= wp.min(limits.share[w], limits.part)):
        system.status.more[w] = 1


@kernel
def begin_velocities(system: StopRows) -> None:
    """Bounds of the rates at the end of a step; stops that were hit together rebound from the velocities of one moment.

    That moment is the start of the step. A stop that was hit and does not touch any more is free.
    """
    s = wp.tid()
    stops = system.stops
    side = stops.side[s]
    stops.low[s] = -FAR
    stops.high[s] = FAR
    if side == 0:
        return
    bound = wp.where(side > 0, stops.upper[s], stops.lower[s])
    if stops.total[s] == real(0.0) and real(side) * real(stops.now[s] - bound) < -slack_of(stops, system.limits, s):
        return
    if system.status.hits[system.joints.world[stops.joint[s]]] > 1:
        stops.target[s] = -stops.restitution[s] * stops.approach[s]
    if side > 0:
        stops.high[s] = stops.target[s]
    else:
        stops.low[s] = stops.target[s]


@kernel
def count_hits(system: StopRows) -> None:
    """How many stops of a world were hit."""
    s = wp.tid()
    if system.stops.total[s] != real(0.0):
        wp.atomic_add(system.status.hits, system.joints.world[system.stops.joint[s]], 1)


@kernel
def measure_velocities(system: StopRows, motion: Motion, errors: JointErrors) -> None:
    """How far the velocities of the stops of a joint are from their bounds; above them, too, where they push."""
    stops = system.stops
    k = wp.tid()
    j = stops.joint[stops.first[k]]
    if system.loop.going[system.joints.world[j]] == 0:
        return
    square = errors.velocity[j] * errors.velocity[j]
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        rate = row_velocity(system.joints, system.rows, motion, j, stops.row[s])
        off = wp.max(wp.max(rate - stops.high[s], stops.low[s] - rate), real(0.0))
        if stops.total[s] != real(0.0):
            off = rate - stops.target[s]
        square += off * off
    errors.velocity[j] = wp.sqrt(square)
    if not (errors.velocity[j] <= system.limits.velocity):
        system.status.more[system.joints.world[j]] = 1


@kernel
def decide(stop_status: StopStatus, status: JointStatus) -> None:
    """A world whose stops are off goes on; errors cannot be compared with those before a stop was hit."""
    w = wp.tid()
    if stop_status.more[w] + stop_status.fresh[w] > 0:
        status.busy[w] = 1
    if stop_status.fresh[w] == 1:
        status.error[w] = FAR
        status.before[w] = FAR
        status.scale[w] = real(1.0)
    stop_status.more[w] = 0
    stop_status.fresh[w] = 0


@kernel
def evaluate_stops(system: StopRows, motion: Motion, inertias: Inertias, which: wp.array[wp.int32]) -> None:
    """Jacobian and response of the stops, in the worlds that are wanted."""
    s = wp.tid()
    j = system.stops.joint[s]
    if which[system.joints.world[j]] == 0:
        return
    r = system.stops.row[s]
    row = Row()
    if system.joints.broken[j] == 0:
        row = coordinate_row(system.stops.freedom[s], frames_of(system.joints, motion, j))
    system.rows.linear[r] = row.linear_b
    system.rows.angular_a[r] = row.angular_a
    system.rows.angular_b[r] = row.angular_b
    respond(system.joints, inertias, system.rows, j, r)


@kernel
def add_totals(system: StopRows) -> None:
    """What a correction adds to the impulses of the stops."""
    s = wp.tid()
    status = system.loop
    w = system.joints.world[system.stops.joint[s]]
    if status.busy[w] == 1:
        system.stops.total[s] = system.stops.total[s] + part_of(status, w) * system.rows.impulse[system.stops.row[s]]


@kernel
def set_aside(system: StopRows, levers: Levers, reactions: Reactions, sign: int) -> None:
    """Take what the stops of a joint in a stiff world have done out of its reactions, or put it back where they are."""
    k = wp.tid()
    stops = system.stops
    j = stops.joint[stops.first[k]]
    if system.loop.turned[system.joints.world[j]] == 0:
        return
    for s in range(stops.first[k], stops.first[k] + stops.count[k]):
        p = real(sign) * stops.total[s] * system.rows.linear[stops.row[s]]
        turning = real(sign) * stops.total[s] * system.rows.angular_b[stops.row[s]]
        reactions.impulse[j] = reactions.impulse[j] + p
        reactions.couple[j] = reactions.couple[j] + turning - wp.cross(levers.b[j], p)


@kernel
def free_stops(system: StopRows) -> None:
    """No limit is hit, and nothing is known of one."""
    s = wp.tid()
    stops = system.stops
    w = system.joints.world[stops.joint[s]]
    system.rows.impulse[stops.row[s]] = real(0.0)
    stops.side[s] = 0
    stops.total[s] = real(0.0)
    stops.low[s] = -FAR
    stops.high[s] = FAR
    system.status.more[w] = 0
    system.status.fresh[w] = 0
    system.status.hits[w] = 0
    system.status.held[w] = 0
