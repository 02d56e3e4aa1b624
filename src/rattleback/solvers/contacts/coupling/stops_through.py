"""Stops of joints as rows of a contact problem that is solved through trees.

    low ≤ u = J_s v ≤ high,   λ > 0 at low only, λ < 0 at high only
    λ ← (low − u₀)/A or (high − u₀)/A, zero in between,   u₀ = u − A λ,   A = J_s R J_sᵀ

J_s row of a stop, λ its impulse in this step, u its rate, R as in ``reduced.midpoint.touching``. Stops take part that
were hit in the step; those that contacts drive to their limits are found after it, see ``joint_limits``.

    bodies of stops that are hit count as touching;   A of each;   a correction of each in every sweep
    at the end: what they have done goes to their totals, and to the reactions of their joints
Cost: as that of a contact point each.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.state import Motion
from rattleback.problem.corrections import Reactions
from rattleback.problem.joint_limits import StopRows
from rattleback.problem.joint_rows import Levers, row_velocity
from rattleback.reduced.midpoint.touching import Touching, room_of


@wp.func
def list_body(touching: Touching, i: int, w: int) -> None:
    """A body of a stop counts as touching."""
    if i >= 0 and touching.place[wp.max(i, 0)] == -1:
        touching.place[i] = 0
        touching.fresh[w] = 0


@kernel
def mark_stops(stops: StopRows, touching: Touching, which: wp.array[wp.int32]) -> None:
    """The bodies of stops that are hit count as touching, in the worlds where ``which`` is 1."""
    w = wp.tid()
    if which[w] == 0 or stops.status.held[w] == 0:
        return
    n = stops.stops.joint.shape[0] // which.shape[0]
    for s in range(w * n, w * n + n):
        if stops.stops.side[s] != 0:
            j = stops.stops.joint[s]
            list_body(touching, stops.joints.body_a[j], w)
            list_body(touching, stops.joints.body_b[j], w)


@wp.struct
class StopAnswers:
    """How the touching bodies of a world answer to a unit impulse along each stop: ``room`` of them a stop."""

    way: wp.array[vec3]
    turn: wp.array[vec3]
    before: wp.array[real]  # impulse of a stop before a sweep
    step: wp.array[real]  # its last step


@wp.func
def effect_on(stops: StopRows, s: int, side: int) -> tuple[int, vec3, vec3]:
    """Body of one side of a stop, with the impulse and the angular impulse on it by a unit impulse along the row."""
    j = stops.stops.joint[s]
    r = stops.stops.row[s]
    if side == 0:
        return stops.joints.body_a[j], -stops.rows.linear[r], stops.rows.angular_a[r]
    return stops.joints.body_b[j], stops.rows.linear[r], stops.rows.angular_b[r]


@wp.func
def find_answer(stops: StopRows, touching: Touching, found: StopAnswers, s: int) -> None:
    """What a unit impulse along a stop does to all touching bodies, and to its own rate."""
    w = stops.joints.world[stops.stops.joint[s]]
    room = room_of(touching)
    for b in range(touching.count[w]):
        found.way[s * room + b] = vec3()
        found.turn[s * room + b] = vec3()
    answer = real(0.0)
    for side in range(2):
        i, push, twist = effect_on(stops, s, side)
        if i < 0 or touching.place[wp.max(i, 0)] < 0:
            continue
        pair = (w * room + touching.place[i]) * room
        for b in range(touching.count[w]):
            way = touching.way_push[pair + b] * push + touching.way_twist[pair + b] * twist
            turn = touching.turn_push[pair + b] * push + touching.turn_twist[pair + b] * twist
            found.way[s * room + b] = found.way[s * room + b] + way
            found.turn[s * room + b] = found.turn[s * room + b] + turn
    for side in range(2):
        i, push, twist = effect_on(stops, s, side)
        if i >= 0 and touching.place[wp.max(i, 0)] >= 0:
            b = s * room + touching.place[i]
            answer += wp.dot(push, found.way[b]) + wp.dot(twist, found.turn[b])
    stops.rows.wanted[stops.stops.row[s]] = answer


@wp.func
def begin_stops(stops: StopRows, touching: Touching, found: StopAnswers, w: int) -> None:
    """A solution begins: how the stops of a world that are hit answer; none has done anything in it."""
    n = stops.stops.joint.shape[0] // touching.count.shape[0]
    for s in range(w * n, w * n + n):
        stops.rows.impulse[stops.stops.row[s]] = real(0.0)
        found.before[s] = real(0.0)
        found.step[s] = real(0.0)
        if stops.stops.side[s] != 0:
            find_answer(stops, touching, found, s)


@wp.func
def push_stop(stops: StopRows, touching: Touching, found: StopAnswers, motion: Motion, s: int, p: real) -> None:
    """What an impulse along a stop does to all touching bodies."""
    w = stops.joints.world[stops.stops.joint[s]]
    room = room_of(touching)
    for b in range(touching.count[w]):
        i = touching.body[w * room + b]
        motion.velocity[i] = motion.velocity[i] + p * found.way[s * room + b]
        motion.angular_velocity[i] = motion.angular_velocity[i] + p * found.turn[s * room + b]
    for side in range(2):
        i, push, twist = effect_on(stops, s, side)
        if i >= 0 and touching.place[wp.max(i, 0)] >= 0:
            b = w * room + touching.place[i]
            touching.push[b] = touching.push[b] + p * push
            touching.twist[b] = touching.twist[b] + p * twist


@wp.func
def correct_stop(stops: StopRows, touching: Touching, found: StopAnswers, motion: Motion, s: int) -> real:
    """Correct the rate of a stop; returns by how much it changes."""
    j = stops.stops.joint[s]
    r = stops.stops.row[s]
    answer = stops.rows.wanted[r]
    if not answer > real(0.0):
        return real(0.0)
    total = stops.stops.total[s] + stops.rows.impulse[r]
    free = row_velocity(stops.joints, stops.rows, motion, j, r) - answer * total
    wanted = real(0.0)
    if free < stops.stops.low[s]:
        wanted = (stops.stops.low[s] - free) / answer
    elif free > stops.stops.high[s]:
        wanted = (stops.stops.high[s] - free) / answer
    p = wanted - total
    if p == real(0.0):
        return real(0.0)
    stops.rows.impulse[r] = stops.rows.impulse[r] + p
    push_stop(stops, touching, found, motion, s, p)
    return wp.abs(p) * answer


@wp.func
def correct_stops(stops: StopRows, touching: Touching, found: StopAnswers, motion: Motion, w: int) -> real:
    """Correct all stops of a world that are hit; returns the largest change."""
    worst = real(0.0)
    n = stops.stops.joint.shape[0] // touching.count.shape[0]
    for s in range(w * n, w * n + n):
        if stops.stops.side[s] != 0:
            worst = wp.max(worst, correct_stop(stops, touching, found, motion, s))
    return worst


@wp.func
def square_of_stops(stops: StopRows, touching: Touching, found: StopAnswers, w: int) -> real:
    """Squares of the changes of the stops of a world by a sweep."""
    square = real(0.0)
    n = stops.stops.joint.shape[0] // touching.count.shape[0]
    for s in range(w * n, w * n + n):
        z = stops.rows.impulse[stops.stops.row[s]] - found.before[s]
        square += z * z
    return square


@wp.func
def extrapolate_stops(
    stops: StopRows, touching: Touching, found: StopAnswers, motion: Motion, w: int, part: real
) -> None:
    """The stops of a world go on along their steps before the last sweep."""
    n = stops.stops.joint.shape[0] // touching.count.shape[0]
    for s in range(w * n, w * n + n):
        if stops.stops.side[s] != 0:
            r = stops.stops.row[s]
            swept = stops.rows.impulse[r]
            further = part * found.step[s]
            found.step[s] = swept - found.before[s] + further
            found.before[s] = swept + further
            stops.rows.impulse[r] = swept + further
            if part > real(0.0):
                push_stop(stops, touching, found, motion, s, further)


@kernel
def account_stops(stops: StopRows, levers: Levers, reactions: Reactions, which: wp.array[wp.int32]) -> None:
    """What the stops of a world have done in a solution goes to their totals and to the reactions of the joints."""
    w = wp.tid()
    if which[w] == 0 or stops.status.held[w] == 0:
        return
    n = stops.stops.joint.shape[0] // which.shape[0]
    for s in range(w * n, w * n + n):
        j = stops.stops.joint[s]
        r = stops.stops.row[s]
        p = stops.rows.impulse[r]
        if p != real(0.0):
            stops.stops.total[s] = stops.stops.total[s] + p
            push = p * stops.rows.linear[r]
            reactions.impulse[j] = reactions.impulse[j] + push
            reactions.couple[j] = reactions.couple[j] + p * stops.rows.angular_b[r] - wp.cross(levers.b[j], push)
            stops.rows.impulse[r] = real(0.0)
