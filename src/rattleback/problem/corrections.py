"""The kernels that correct: the impulses applied, the reactions of the joints, and which worlds continue.

Each body sums the impulses of its joints, in a fixed order. Each world continues while one of its joints is outside its
tolerance, shortens corrections when one made things worse, and undoes one that was not needed and made things worse. A
world whose loop has ended is neither measured nor corrected again, however long the loops of other worlds last.
"""

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate, rotate_back
from rattleback.maths.spin import angular_velocity
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.problem.joint_rows import Inertias, JointRows, Joints, Levers, Rows

# Larger than any error.
FAR = wp.constant(real(1e30))
LEAST_SCALE = wp.constant(real(1.0 / 32.0))
# The most a body of a stiff or open world may turn by one correction [rad].
MOST_TURN = wp.constant(real(0.5))
# A joint that starts a step this many times its tolerance apart is torn.
TORN = wp.constant(real(1e3))
# Most corrections while joints are far open: closing takes several steps anyway.
MOST_WHILE_OPEN = 4
# Where h |p| |l| / I of a joint comes near this, the stiffness of its bodies is evaluated.
SUSPECT = wp.constant(real(1.0))


@group(axis="joints")
class Reactions:
    """What the joints did to B in the last step."""

    impulse: vec3 = field("N s", "impulse on B at its anchor")
    couple: vec3 = field("N m s", "angular impulse on B about its anchor")
    last_impulse: vec3 = field("N s", "part of the impulse that the last correction adds")
    last_couple: vec3 = field("N m s", "the same of the couple")


@group(axis="worlds")
class JointStatus:
    """Status of the preview loop of each world."""

    busy: wp.int32 = field("1", "1 while a joint of the world is outside its tolerance")
    going: wp.int32 = field("1", "1 until the loop of the world has ended")
    iterations: wp.int32 = field("1", "corrections made in this loop")
    least: wp.int32 = field("1", "corrections it makes whatever the error")
    most_positions: wp.int32 = field("1", "most joint corrections one step needed")
    failed: wp.int32 = field("1", "1 when a loop ended with a joint outside its tolerance")
    error: real = field("1", "largest error of its joints, in units of the tolerance")
    before: real = field("1", "the same before the last correction")
    scale: real = field("1", "part of a correction that is applied; less than one after one that made things worse")
    turn: real = field("rad", "most a body of a stiff or open world would turn by the correction")
    keep: wp.int32 = field("1", "1 when this is the best within the tolerance so far")
    undo: wp.int32 = field("1", "1 when a correction beyond the tolerance made things worse")
    suspect: wp.int32 = field("1", "1 when the loads of a joint may make its bodies stiff")
    stiff: wp.int32 = field("1", "1 when a body is stiff")
    turned: wp.int32 = field("1", "1 when it is stiff and its rows are made anew at the end of the step")
    open: wp.int32 = field("1", "1 when a joint is so far open that it closes over several steps")
    torn: wp.int32 = field("1", "1 when a joint starts the step far outside its tolerance")
    limited: wp.int32 = field("1", "1 when the corrections of its positions are limited: it is stiff or open")
    time_step: real = field("s", "length of the step")
    eased: real = field("s", "step that rows which yield are made for; zero where they are left out")
    any_busy: wp.int32 = field("1", "1 while any world is active", axis="flags")
    any_keep: wp.int32 = field("1", "1 when any world has a best motion to store", axis="flags")
    any_undo: wp.int32 = field("1", "1 when any world has a correction to undo", axis="flags")
    any_suspect: wp.int32 = field("1", "1 when any world may be stiff", axis="flags")
    any_stiff: wp.int32 = field("1", "1 when any world is stiff", axis="flags")
    any_torn: wp.int32 = field("1", "1 when any world is torn", axis="flags")
    any_limited: wp.int32 = field("1", "1 when those of any world are", axis="flags")
    any_fresh: wp.int32 = field("1", "1 when any world has just been found to be", axis="flags")
    written: wp.int32 = field("1", "1 when velocities of the state may not fit the joints")
    any_written: wp.int32 = field("1", "1 when those of any world may not", axis="flags")
    afresh: wp.int32 = field("1", "0 when a step goes on whose contacts did not fit their buffer", axis="flags")
    arrived: wp.int32 = field("1", "1 when velocities at the end of a step are to be corrected", axis="flags")


@wp.struct
class Limits:
    """Tolerances of the loop, its budget, and the part of the tolerances it may use up."""

    position: real
    orientation: real
    velocity: real
    speed: real
    part: real
    most: wp.int32
    share: wp.array[real]


@group(axis="bodies")
class Links:
    """Which joints hold each body: a stretch of the ends of joints."""

    first: wp.int32 = field("1", "its first end")
    count: wp.int32 = field("1", "number of its ends")
    joint: wp.int32 = field("1", "the joint of an end", axis="ends")
    is_b: wp.int32 = field("1", "1 where the body is B of the joint, 0 where it is A", axis="ends")


@wp.struct
class Flight:
    """The motions of a step: before it, at its start with all impulses, and at its end.

    The velocities of ``pushed`` are what contacts alone have given at the start.
    """

    before: Motion
    start: Motion
    end: Motion
    pushed: Motion


@wp.func
def part_of(status: JointStatus, w: int) -> real:
    """The part of a correction that is applied."""
    return status.scale[w] * MOST_TURN / wp.max(status.turn[w], MOST_TURN)


@kernel
def start(clock: Clock, status: JointStatus) -> None:
    """A step begins: no world is known to be stiff."""
    w = wp.tid()
    status.time_step[w] = real(clock.time_step[w])
    status.suspect[w] = 0
    status.stiff[w] = 0
    status.open[w] = 0
    status.torn[w] = 0
    status.limited[w] = 0
    status.any_torn[0] = 0
    status.any_suspect[0] = 0
    status.any_stiff[0] = 0
    status.any_limited[0] = 0


@kernel
def drop_pull(bodies: Bodies, links: Links, flight: Flight, loads: Loads, status: JointStatus) -> None:
    """The pull that closes a torn world moves its bodies but leaves them no velocity; their rotation continues."""
    i = wp.tid()
    w = bodies.world[i]
    if status.torn[w] == 1 and links.count[i] > 0:
        pull = flight.start.velocity[i] - flight.before.velocity[i]
        flight.end.velocity[i] = flight.end.velocity[i] - pull
        q = flight.end.orientation[i]
        spin = rotate(q, rotate_back(flight.before.orientation[i], flight.before.angular_velocity[i]))
        kick = status.time_step[w] * loads.torque[i]
        flight.end.angular_velocity[i] = spin + angular_velocity(q, kick, bodies.inverse_inertia[i])


@kernel
def loosen(status: JointStatus) -> None:
    """The positions are done; corrections of the velocities are not limited."""
    w = wp.tid()
    status.open[w] = 0
    status.limited[w] = 0
    status.any_limited[0] = 0


@kernel
def end_stiffness(status: JointStatus) -> None:
    """The joints are settled; no world is stiff for the rest of the step."""
    status.stiff[wp.tid()] = 0
    status.any_stiff[0] = 0


@kernel
def begin(status: JointStatus, which: wp.array[wp.int32], least: int) -> None:
    """A loop of at least so many corrections begins in selected worlds; none is known to be active."""
    w = wp.tid()
    status.going[w] = which[w]
    status.busy[w] = 0
    status.least[w] = least
    status.keep[w] = 0
    status.undo[w] = 0
    status.any_busy[0] = 0
    status.any_keep[0] = 0
    if which[w] == 1:
        status.iterations[w] = 0
        status.error[w] = real(0.0)
        status.before[w] = FAR
        status.scale[w] = real(1.0)
        status.turn[w] = real(0.0)


@kernel
def rest(joints: Joints, rows: Rows, status: JointStatus, limits: Limits, reactions: Reactions) -> None:
    """A step begins: no joint has an impulse yet; one that is far open is closed at a limited speed."""
    j = wp.tid()
    reactions.impulse[j] = vec3()
    reactions.couple[j] = vec3()
    square = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if rows.compliance[r] == real(0.0):
            square += rows.error[r] * rows.error[r]
    w = joints.world[j]
    way = limits.speed * status.time_step[w]
    far = wp.min(way, TORN * limits.position)
    left = real(0.0)
    if square > far * far:
        status.torn[w] = 1
        status.any_torn[0] = 1
    if square > way * way:
        left = real(1.0) - way / wp.sqrt(square)
        status.open[w] = 1
        status.limited[w] = 1
        status.any_limited[0] = 1
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.goal[r] = wp.where(rows.compliance[r] == real(0.0), left * rows.error[r], real(0.0))


@wp.func
def pushed_by(links: Links, levers: Levers, reactions: Reactions, i: int) -> tuple[vec3, vec3]:
    """Impulse and angular impulse of the last correction on a body, in a fixed order."""
    push = vec3()
    turning = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        p = reactions.last_impulse[j]
        if links.is_b[k] == 1:
            push += p
            turning += wp.cross(levers.b[j], p) + reactions.last_couple[j]
        else:
            push -= p
            turning -= wp.cross(levers.a[j], p) + reactions.last_couple[j]
    return push, turning


@kernel
def apply_impulses(
    bodies: Bodies,
    links: Links,
    levers: Levers,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    motion: Motion,
) -> None:
    """Every body adds the impulses of its joints, in worlds that are active."""
    i = wp.tid()
    w = bodies.world[i]
    if status.busy[w] == 0:
        return
    push, turning = pushed_by(links, levers, reactions, i)
    spin = inertias.inverse[i] * turning
    part = part_of(status, w)
    if status.stiff[w] == 1:
        spin = rotate(inertias.back[i], spin + inertias.shift[i])
    motion.velocity[i] = motion.velocity[i] + part * bodies.inverse_mass[i] * push
    motion.angular_velocity[i] = motion.angular_velocity[i] + part * spin


@wp.func
def add_last(joints: Joints, levers: Levers, status: JointStatus, reactions: Reactions, j: int, w: int) -> None:
    """Add the impulses of a correction; a joint with a large load makes its world a candidate for stiffness."""
    part = part_of(status, w)
    total = reactions.impulse[j] + part * reactions.last_impulse[j]
    reactions.impulse[j] = total
    reactions.couple[j] = reactions.couple[j] + part * reactions.last_couple[j]
    ease = wp.max(joints.ease_a[j] * wp.length(levers.a[j]), joints.ease_b[j] * wp.length(levers.b[j]))
    if status.time_step[w] * wp.length(total) * ease > SUSPECT:
        status.suspect[w] = 1
        status.any_suspect[0] = 1


@kernel
def find_reactions(joints: Joints, rows: Rows, levers: Levers, status: JointStatus, reactions: Reactions) -> None:
    """Impulse of a correction on B, from the impulses along the rows; added at once unless it is limited."""
    j = wp.tid()
    w = joints.world[j]
    if status.busy[w] == 0:
        return
    p = vec3()
    turning = vec3()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        p += rows.impulse[r] * rows.linear[r]
        turning += rows.impulse[r] * rows.angular_b[r]
    reactions.last_impulse[j] = p
    reactions.last_couple[j] = turning - wp.cross(levers.b[j], p)
    if status.limited[w] == 0:
        add_last(joints, levers, status, reactions, j, w)


@kernel
def limit_turn(
    bodies: Bodies,
    links: Links,
    levers: Levers,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    limits: Limits,
) -> None:
    """How far a limited correction would turn the bodies, or move them in the same proportion.

    A body of an open world moves by no more than twice the way its joints may close.
    """
    i = wp.tid()
    w = bodies.world[i]
    if status.busy[w] == 0 or status.limited[w] == 0:
        return
    push, turning = pushed_by(links, levers, reactions, i)
    turn = status.time_step[w] * wp.length(inertias.inverse[i] * turning + inertias.shift[i])
    if status.open[w] == 1:
        turn = wp.max(turn, MOST_TURN * wp.length(bodies.inverse_mass[i] * push) / (real(2.0) * limits.speed))
    wp.atomic_max(status.turn, w, wp.min(turn, FAR))


@kernel
def add_reactions(joints: Joints, levers: Levers, status: JointStatus, reactions: Reactions) -> None:
    """Add the impulses of a limited correction, once the part that is applied is known."""
    j = wp.tid()
    w = joints.world[j]
    if status.busy[w] == 1 and status.limited[w] == 1:
        add_last(joints, levers, status, reactions, j, w)


@kernel
def lower(status: JointStatus) -> None:
    """A correction is done: no world is known to be outside its tolerance."""
    w = wp.tid()
    status.iterations[w] = status.iterations[w] + status.busy[w]
    status.busy[w] = 0
    status.turn[w] = real(0.0)
    status.any_busy[0] = 0
    status.any_keep[0] = 0


@kernel
def decide(status: JointStatus, limits: Limits) -> None:
    """Continue while a joint is outside its tolerance and corrections are left; shorten them when errors grew.

    At the start of a step one is made anyhow: a joint that is within its tolerance without any still carries its load.
    A correction made to be better than the tolerance is undone when it made things worse.
    """
    w = wp.tid()
    if status.going[w] == 0:
        status.keep[w] = 0
        return
    worse = status.error[w] > status.before[w]
    one = real(1.0)
    status.keep[w] = wp.where(status.busy[w] == 1 and status.error[w] <= one and not worse, 1, 0)
    if status.keep[w] == 1:
        wp.atomic_max(status.any_keep, 0, 1)
    if worse and status.before[w] <= one and status.iterations[w] > status.least[w]:
        status.undo[w] = 1
        status.busy[w] = 0
        status.before[w] = one
        wp.atomic_max(status.any_undo, 0, 1)
    if status.iterations[w] < status.least[w]:
        status.busy[w] = 1
    if worse:
        status.scale[w] = wp.max(real(0.5) * status.scale[w], LEAST_SCALE)
    else:
        status.scale[w] = wp.min(real(2.0) * status.scale[w], real(1.0))
    status.before[w] = status.error[w]
    status.error[w] = real(0.0)
    most = limits.most
    if status.open[w] == 1:
        most = wp.min(most, MOST_WHILE_OPEN)
    if status.iterations[w] >= most:
        status.failed[w] = wp.max(status.failed[w], status.busy[w])
        status.busy[w] = 0
    status.going[w] = status.busy[w]
    if status.busy[w] == 1:
        wp.atomic_max(status.any_busy, 0, 1)


@kernel
def note_iterations(status: JointStatus) -> None:
    """The positions are done: store the number of corrections for the report."""
    w = wp.tid()
    status.most_positions[w] = wp.max(status.most_positions[w], status.iterations[w])


def make_links(problem: JointRows) -> Links:
    """For every body the joints that hold it, in the order of the joints."""
    model = problem.model
    pairs = np.stack([problem.joints.body_a.numpy(), problem.joints.body_b.numpy()], axis=1)
    joint, is_b = np.nonzero(pairs >= 0)
    body = pairs[joint, is_b]
    order = np.lexsort((joint, body))
    count = np.bincount(body, minlength=model.count)
    links = arrays.allocate(Links, {"bodies": model.count, "ends": len(order)}, model.device)
    lists = {"first": np.cumsum(count) - count, "count": count, "joint": joint[order], "is_b": is_b[order]}
    arrays.write(links, {name: values.astype(np.int32) for name, values in lists.items()}, "the links")
    return links
