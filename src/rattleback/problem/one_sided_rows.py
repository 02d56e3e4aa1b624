"""The stops of joints as one-sided rows: impulses that keep them within bounds, with the joints answering to each.

    low ≤ J_s v ≤ high,    p pushes at low and pulls at high only,    v = v₀ + W J_sᵀ p
    W J_sᵀ = M⁻¹ (J_sᵀ + Jᵀ λ),    J M⁻¹ Jᵀ λ = −J M⁻¹ J_sᵀ

J_s rows of the stops, J rows of the joints, which are eliminated through their factor: W is how bodies answer in the
mechanism. The stops of a mechanism thus have a dense matrix J_s W J_sᵀ of their own; a column of it is one answer of
the joints to a unit impulse, found when a stop first needs it with these rows. Corrections at either end of a step,
displacements, and the answers to every sweep over contacts are this one problem with other bounds.

    v as the joints alone leave it;  bounds that it breaks;   columns that are missing;   impulses, see
    ``maths.complementarity``;   the joints answer to them
Cost: a look at every stop; a substitution for every column, and one more where a stop pushes.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.complementarity import BARRED, HELD, OPEN, PUSHING, OneSidedRows, solve_one_sided
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import FAR, JointStatus, Limits, Links
from rattleback.problem.joint_limits import StopRows, Stops, StopStatus, take
from rattleback.problem.joint_rows import Inertias, row_velocity

# What is solved: a correction at the start of a step, the answer to sweeps there, velocities at its end, displacements,
# and what is left of a push with the stops that push held.
CORRECTION, ANSWER, VELOCITIES, DISPLACEMENTS, PUSH = (wp.constant(k) for k in range(5))
# Part of the tolerance by which bounds may be broken.
PART = wp.constant(real(0.1))
# Errors in units of the tolerance up to which a stiff world is thought to do what its impulses are going to change.
NEAR = wp.constant(real(1e2))
# A stop that a unit impulse moves by less than this part of what it moves free bodies by is held by the joints.
STUCK = wp.constant(real(1e-9))


@group(axis="groups")
class StopGroups:
    """The stops of one mechanism: a stretch of stops."""

    first: wp.int32 = field("1", "its first stop")
    count: wp.int32 = field("1", "number of its stops")
    entry: wp.int32 = field("1", "first entry of its matrix")
    chosen: wp.int32 = field("1", "stop whose column is found; −1 for none")
    rate: real = field("m/s or rad/s", "what the row of a stop does as the joints alone leave it", axis="stops")
    begins: wp.int32 = field("1", "what it does at first, see ``maths.complementarity``", axis="stops")
    tolerance: real = field("m/s or rad/s", "by how much bounds may be broken")
    kept: real = field("m/s or rad/s", "change of the velocity of a row that was wanted", axis="rows")
    any_missing: wp.int32 = field("1", "1 where a column is wanted", axis="flags")
    any_push: wp.int32 = field("1", "1 where a stop pushes", axis="flags")


@wp.func
def pushed_by_rows(system: StopRows, links: Links, i: int, joints: int, stops: int) -> tuple[vec3, vec3]:
    """Impulse and change of the angular velocity of a body by the rows of joints, of their stops, or of both."""
    v = vec3()
    spin = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        first = system.joints.first[j]
        middle = first + system.fixed.count[j]
        last = first + system.joints.count[j]
        for r in range(wp.where(joints == 1, first, middle), wp.where(stops == 1, last, middle)):
            p = system.rows.impulse[r]
            v += wp.where(links.is_b[k] == 1, p, -p) * system.rows.linear[r]
            spin += p * wp.where(links.is_b[k] == 1, system.rows.spin_b[r], system.rows.spin_a[r])
    return v, spin


@kernel
def find_change(bodies: Bodies, system: StopRows, links: Links, change: Motion, joints: int, stops: int) -> None:
    """Change of the velocities of a body by the impulses found, of joints, of stops, or of both."""
    i = wp.tid()
    if links.count[i] > 0:
        push, spin = pushed_by_rows(system, links, i, joints, stops)
        change.velocity[i] = bodies.inverse_mass[i] * push
        change.angular_velocity[i] = spin


@kernel
def add_shift(bodies: Bodies, links: Links, inertias: Inertias, status: JointStatus, change: Motion) -> None:
    """A correction of a stiff world shifts its bodies, too."""
    i = wp.tid()
    if links.count[i] > 0 and status.stiff[bodies.world[i]] == 1:
        change.angular_velocity[i] = change.angular_velocity[i] + inertias.shift[i]


@wp.func
def bounds_of(stops: Stops, s: int, h: real, mode: int) -> tuple[real, real, real]:
    """Bounds of what a row does, and the impulse along it so far."""
    low = stops.low[s]
    high = stops.high[s]
    total = stops.total[s]
    if mode == DISPLACEMENTS:
        low = h * (low - stops.rate[s])
        high = h * (high - stops.rate[s])
        if total != real(0.0):
            # A stop that carries a load stays in touch.
            low = wp.where(stops.side[s] > 0, high, low)
            high = low
        total = real(0.0)
    elif mode == PUSH:
        low = wp.where(total == real(0.0), -FAR, real(0.0))
        high = wp.where(total == real(0.0), FAR, real(0.0))
        total = real(0.0)
    return low, high, total


@wp.func
def pose(rows: OneSidedRows, stops: Stops, groups: StopGroups, s: int, h: real, mode: int) -> None:
    """The row of a stop in the problem of its group."""
    x = groups.rate[s]
    low, high, total = bounds_of(stops, s, h, mode)
    below = low - x > x - high
    if total != real(0.0):
        below = wp.where(stops.side[s] != 0, stops.side[s] < 0, total > real(0.0))
    rows.sign[s] = wp.where(below, real(1.0), real(-1.0))
    rows.gap[s] = wp.where(below, x - low, high - x)
    rows.width[s] = high - low
    rows.start[s] = rows.sign[s] * total
    rows.does[s] = groups.begins[s]


@wp.func
def takes_hits(system: StopRows, w: int, mode: int) -> bool:
    """Whether limits may be hit; errors of a stiff world that is far off do not tell which are."""
    far = system.loop.stiff[w] == 1 and system.loop.before[w] > NEAR
    return mode == ANSWER or (mode == CORRECTION and not far)


@wp.func
def note_solution(
    system: StopRows, groups: StopGroups, rows: OneSidedRows, s: int, diagonal: real, takes: bool
) -> None:
    """The impulse of a stop is found; one that the impulses of others have driven to a limit has hit it."""
    w = system.joints.world[system.stops.joint[s]]
    if rows.y[s] != rows.start[s]:
        groups.any_push[0] = 1
    side = wp.where(rows.sign[s] > real(0.0), -1, 1)
    if takes and rows.y[s] > real(0.0) and side != system.stops.side[s]:
        bound = wp.where(side > 0, system.stops.upper[s], system.stops.lower[s])
        beyond = system.loop.time_step[w] * diagonal * rows.y[s]
        take(system, s, side, bound + wp.float64(real(side) * beyond))


@wp.func
def solve_group(system: StopRows, groups: StopGroups, rows: OneSidedRows, g: int, mode: int) -> None:
    """Impulses of the stops of a group; nothing yet where a column is missing, or is found to be."""
    first = groups.first[g]
    n = groups.count[g]
    at = groups.entry[g]
    w = system.joints.world[system.stops.joint[first]]
    missing = int(0)
    for s in range(first, first + n):
        pose(rows, system.stops, groups, s, system.loop.time_step[w], mode)
        if rows.does[s] > 0 and rows.known[s] != 1:
            rows.known[s] = -1
            missing = 1
        elif rows.known[s] == 1 and rows.entry[at + (s - first) * (n + 1)] == real(0.0):
            rows.does[s] = BARRED
    if missing == 1 or not solve_one_sided(rows, at, first, n, groups.tolerance[g]):
        groups.any_missing[0] = 1
        return
    takes = takes_hits(system, w, mode)
    for s in range(first, first + n):
        note_solution(system, groups, rows, s, rows.entry[at + (s - first) * (n + 1)], takes)


@wp.func
def tolerance_of(limits: Limits, h: real, mode: int) -> real:
    """By how much bounds may be broken."""
    if mode == CORRECTION or mode == ANSWER:
        return PART * wp.min(limits.position, limits.orientation) / h
    if mode == DISPLACEMENTS:
        return PART * wp.min(limits.position, limits.orientation)
    return wp.where(mode == PUSH, real(0.0), PART * limits.velocity)


@kernel
def pose_stops(
    system: StopRows, groups: StopGroups, rows: OneSidedRows, motion: Motion, change: Motion, mode: int
) -> None:
    """The problem of the stops of a mechanism, and its solution where all columns are known."""
    g = wp.tid()
    stops = system.stops
    first = groups.first[g]
    w = system.joints.world[stops.joint[first]]
    h = system.loop.time_step[w]
    off = system.loop.busy[w] == 0 or (mode == CORRECTION and system.status.held[w] == 0)
    takes = takes_hits(system, w, mode)
    tolerance = tolerance_of(system.limits, h, mode)
    groups.tolerance[g] = tolerance
    for s in range(first, first + groups.count[g]):
        j = stops.joint[s]
        system.rows.impulse[stops.row[s]] = real(0.0)
        groups.begins[s] = BARRED
        rows.start[s] = real(0.0)
        rows.y[s] = real(0.0)
        if off or system.joints.broken[j] != 0:
            continue
        x = row_velocity(system.joints, system.rows, motion, j, stops.row[s])
        x += row_velocity(system.joints, system.rows, change, j, stops.row[s])
        low, high, total = bounds_of(stops, s, h, mode)
        side = wp.where(x > high + tolerance, 1, wp.where(x < low - tolerance, -1, 0))
        if takes and side != 0 and side != stops.side[s] and total == real(0.0):
            take(system, s, side, stops.now[s] + wp.float64(h * (x - stops.rate[s])))
            low, high, total = bounds_of(stops, s, h, mode)
        groups.rate[s] = x
        pushes = wp.where(total != real(0.0) or side != 0, PUSHING, OPEN)
        groups.begins[s] = wp.where(low == high, HELD, pushes)
    if not off:
        solve_group(system, groups, rows, g, mode)


@kernel
def keep_wanted(system: StopRows, groups: StopGroups, sign: int) -> None:
    """Put aside what the rows of a joint are to do (1), or take it up again (−1)."""
    j = wp.tid()
    for r in range(system.fixed.first[j], system.fixed.first[j] + system.fixed.count[j]):
        if sign > 0:
            groups.kept[r] = system.rows.wanted[r]
        else:
            system.rows.wanted[r] = groups.kept[r]


@kernel
def choose_column(system: StopRows, groups: StopGroups, rows: OneSidedRows) -> None:
    """A unit impulse along the next stop of a mechanism whose column is missing."""
    g = wp.tid()
    groups.chosen[g] = -1
    groups.any_missing[0] = 0
    groups.any_push[0] = 1
    for s in range(groups.first[g], groups.first[g] + groups.count[g]):
        unit = real(0.0)
        if rows.known[s] < 0 and groups.chosen[g] < 0:
            groups.chosen[g] = s
            unit = real(1.0)
        system.rows.impulse[system.stops.row[s]] = unit


@kernel
def want_rest(system: StopRows, change: Motion) -> None:
    """The rows of a joint keep their rates beside a change by stops alone."""
    j = wp.tid()
    for r in range(system.fixed.first[j], system.fixed.first[j] + system.fixed.count[j]):
        system.rows.wanted[r] = -row_velocity(system.joints, system.rows, change, j, r)


@kernel
def want_beside(system: StopRows, groups: StopGroups, change: Motion) -> None:
    """What the rows of a joint are to do beside a change by stops."""
    j = wp.tid()
    groups.any_push[0] = 0
    for r in range(system.fixed.first[j], system.fixed.first[j] + system.fixed.count[j]):
        rate = row_velocity(system.joints, system.rows, change, j, r)
        system.rows.wanted[r] = system.rows.wanted[r] - rate


@kernel
def store_column(system: StopRows, groups: StopGroups, rows: OneSidedRows, change: Motion, mode: int) -> None:
    """The column of the stop that was chosen in a mechanism; its problem is solved once none is missing."""
    g = wp.tid()
    chosen = groups.chosen[g]
    if chosen < 0:
        return
    stops = system.stops
    first = groups.first[g]
    n = groups.count[g]
    column = chosen - first
    for k in range(n):
        j = stops.joint[first + k]
        rate = row_velocity(system.joints, system.rows, change, j, stops.row[first + k])
        rows.entry[groups.entry[g] + k * n + column] = rate
    j = stops.joint[chosen]
    r = stops.row[chosen]
    alone = (system.joints.inverse_mass_a[j] + system.joints.inverse_mass_b[j]) * wp.length_sq(system.rows.linear[r])
    alone += wp.dot(system.rows.angular_a[r], system.rows.spin_a[r])
    alone += wp.dot(system.rows.angular_b[r], system.rows.spin_b[r])
    rows.known[chosen] = 1
    diagonal = groups.entry[g] + column * (n + 1)
    if rows.entry[diagonal] <= STUCK * alone:
        rows.entry[diagonal] = real(0.0)
    for s in range(first, first + n):
        if rows.known[s] < 0:
            groups.any_missing[0] = 1
            return
    solve_group(system, groups, rows, g, mode)


@kernel
def put_impulses(system: StopRows, rows: OneSidedRows) -> None:
    """The impulses found, along the rows of the stops."""
    s = wp.tid()
    system.rows.impulse[system.stops.row[s]] = rows.sign[s] * (rows.y[s] - rows.start[s])


@kernel
def forget_columns(system: StopRows, rows: OneSidedRows, which: wp.array[wp.int32]) -> None:
    """The factor of the joints is another, in the worlds that are wanted."""
    s = wp.tid()
    w = system.joints.world[system.stops.joint[s]]
    if which[w] == 1:
        rows.known[s] = 0
        system.status.factors[w] = 0


@kernel
def forget_old_columns(system: StopRows, rows: OneSidedRows) -> None:
    """In a stiff loop it is in every correction, but by ever less: columns are found anew after 1, 2, 4, 8 … ones."""
    s = wp.tid()
    w = system.joints.world[system.stops.joint[s]]
    n = system.status.factors[w]
    if system.loop.turned[w] == 1 and (n & (n - 1)) == 0:
        rows.known[s] = 0


@kernel
def count_factors(status: StopStatus, loop: JointStatus) -> None:
    """One more correction of a stiff loop."""
    w = wp.tid()
    status.factors[w] = status.factors[w] + loop.turned[w]
