"""The stiffness that loaded joints give to the bodies they hold, for steps that are long beside it.

    K = Σ over the joints of a body  (p · l) 1 − p lᵀ,   M̃ = I + h w K⁺,   K⁺ = Σ max(0, q · K q) q qᵀ

p impulse of a joint on the body, l its lever, I inertia, h time step, q the principal axes of K Kᵀ: K is not symmetric,
and what it cannot turn, such as a rod about its own axis, K⁺ must not turn either. A link under tension T swings about
its anchor with ω² = T l / I. With the levers of the start of the step that motion is stable only while z = h² ω² < 4,
however exactly the joints are solved. Beyond, the impulses act on levers in between, the part w of them at the end of
the step, which is stable while (1 − w) z < 4, and M̃ takes the place of the inertia in the matrix of the joints:
Newton's method on the equations of the end of the step. An angular impulse found at the end acts at the start as it
lies in the body, so that a link that is pulled along its axis does not begin to spin about it. M̃ is a matter of one
body, so the pattern of the matrix stays. Far beyond, the velocities at the end of the step relax by M̃⁻¹ I, too, which
keeps them from ringing. Bodies below the limit have w = 0 and nothing changes for them.

    w = max(0, 1 − 3.5/z),   at the end of the step max(0, 1 − 12/z),   z = 2 h × the largest eigenvalue of I⁻¹ K⁺
(p is about half of h T: the other half is the correction of the velocities, hence the 2.)

In between the impulses of that correction lean back as the others lean forward, so that little energy is lost.
What joints and contacts then exchange at the end of the step finds I again; at its start contacts have M̃, too: two
that take the same body for a different one drive each other on. What contacts turn is not for joints to take back.

The price: stiff bodies lose energy, at a rate of order h, and angular momentum is not kept to rounding. Where rows are
redundant a mechanism that passes a singular position carries large impulses for a moment. In such worlds only
the part of a load counts that the step before had too, unless corrections converge slowly; and so it is where contacts
have pushed bodies in this step, as a blow is no load.
Cost: one more evaluation and factorisation for every correction, in the worlds that need it only.

Reference: Andrews, Teichmann, Kry, Geometric stiffness for real-time constrained multibody dynamics, 2017.
"""

import math

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths.quat import rotate, rotate_back
from rattleback.maths.small_solve import largest_eigenvalue, mat66, solve6, symmetric_axes, vec6
from rattleback.maths.spin import angular_momentum
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import (
    FAR,
    Flight,
    JointStatus,
    Limits,
    Links,
    Reactions,
    part_of,
)
from rattleback.problem.joint_rows import Inertias, Joints, Levers, Rows, anchor, respond
from rattleback.problem.rotors import turned_inertia

# The largest z with levers of the start alone; they are stable up to 4.
STABLE = wp.constant(real(3.5))
# With 2 h |I⁻¹ K| below this, z is below the limit without a closer look.
CLEARLY_EASY = wp.constant(real(2.5))
# How far the levers of the velocities lean back; with 1 nothing would be damped, what a long step excites neither.
LEAN = wp.constant(real(0.6))
# Cosine of half the largest turn in a step for which they do, 0.2 rad.
LITTLE_TURN = wp.constant(real(math.cos(0.1)))
# Corrections after which a world with redundant rows is stiff by loads of this step alone.
PATIENCE = 5
# From this z on the velocities relax.
RINGING = wp.constant(real(12.0))


@wp.func
def damping_of(weight: real) -> real:
    """R = 1 − 12 / z at the end of the step, from w = 1 − 3.5 / z."""
    return wp.max(real(0.0), real(1.0) - RINGING / STABLE * (real(1.0) - weight))


@wp.func
def lever_of(joints: Joints, motion: Motion, j: int, i: int) -> vec3:
    """From the centre of mass of a body to the anchor of B of a joint that holds it, where its impulses act."""
    _lever, at = anchor(motion, joints.body_b[j], joints.anchor_b[j])
    return at - motion.position[i]


@wp.func
def stiffness_of(joints: Joints, links: Links, reactions: Reactions, motion: Motion, i: int) -> mat33:
    """K of one body at a motion."""
    k = mat33()
    for e in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[e]
        lever = lever_of(joints, motion, j, i)
        p = wp.where(links.is_b[e] == 1, reactions.impulse[j], -reactions.impulse[j])
        k += wp.dot(lever, p) * wp.identity(n=3, dtype=real) - wp.outer(p, lever)
    return k


@wp.func
def resisting(k: mat33) -> mat33:
    """K⁺ of K."""
    axes = symmetric_axes(k * wp.transpose(k))
    values = wp.get_diag(wp.transpose(axes) * k * axes)
    for m in range(3):
        values[m] = wp.max(values[m], real(0.0))
    return axes * wp.diag(values) * wp.transpose(axes)


@wp.func
def largest(k: mat33, turn: quat, moments: vec3) -> real:
    """Largest eigenvalue of I⁻¹ K⁺, by that of I^(−½) K⁺ I^(−½) in principal axes."""
    axes = wp.quat_to_matrix(turn)
    root = wp.diag(vec3(wp.sqrt(moments[0]), wp.sqrt(moments[1]), wp.sqrt(moments[2])))
    inverse = wp.inverse(root)
    return largest_eigenvalue(inverse * wp.transpose(axes) * k * axes * inverse)


@wp.func
def inertia_of(bodies: Bodies, motion: Motion, i: int) -> mat33:
    """The inertia of one body in the world."""
    turn = wp.quat_to_matrix(motion.orientation[i])
    return turn * bodies.inertia[i] * wp.transpose(turn)


@kernel
def weigh(bodies: Bodies, motion: Motion, inertias: Inertias, which: wp.array[wp.int32]) -> None:
    """The inverse inertia of every body in the world, without any stiffness, in the worlds that are wanted."""
    i = wp.tid()
    if which[bodies.world[i]] == 1:
        turn = wp.quat_to_matrix(motion.orientation[i])
        inertias.inverse[i] = turn * bodies.inverse_inertia[i] * wp.transpose(turn)


@wp.func
def come_to_rest(inertias: Inertias, i: int) -> None:
    """Nothing of a body is left to be shifted or turned back."""
    inertias.shift[i] = vec3()
    inertias.back[i] = quat(real(0.0), real(0.0), real(0.0), real(1.0))


@kernel
def ease_off(bodies: Bodies, inertias: Inertias, which: wp.array[wp.int32]) -> None:
    """A step begins: no body is known to be stiff."""
    i = wp.tid()
    if which[bodies.world[i]] == 1:
        inertias.weight[i] = real(0.0)
        come_to_rest(inertias, i)


@kernel
def find_lasting(
    bodies: Bodies,
    links: Links,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    limits: Limits,
    remembered: JointState,
    hit: int,
) -> None:
    """Part of the load of a body of a suspected world that counts: where only lasting loads do, what it had before."""
    i = wp.tid()
    w = bodies.world[i]
    inertias.lasting[i] = real(1.0)
    if hit == 0 and (limits.share[w] == real(1.0) or status.iterations[w] >= PATIENCE):
        return
    now = real(0.0)
    before = real(0.0)
    for e in range(links.first[i], links.first[i] + links.count[i]):
        now += wp.length(reactions.impulse[links.joint[e]])
        before += remembered.load[links.joint[e]]
    if before < now:
        inertias.lasting[i] = before / now


@kernel
def note_loads(joints: Joints, reactions: Reactions, remembered: JointState, stop: wp.array[wp.int32]) -> None:
    """A step is done: what its joints carried, about half of which acted at its start; nothing where it diverged."""
    j = wp.tid()
    if stop[0] <= 0:
        load = real(0.5) * wp.length(reactions.impulse[j])
        remembered.load[j] = wp.where(joints.broken[j] == 0 and wp.isfinite(load), load, real(0.0))


@kernel
def find_stiff(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    motion: Motion,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    limits: Limits,
) -> None:
    """Which bodies of a suspected world need levers of the end of the step; a weight only grows within a step."""
    i = wp.tid()
    w = bodies.world[i]
    if status.suspect[w] * status.going[w] == 0 or bodies.inverse_mass[i] == real(0.0):
        return
    k = inertias.lasting[i] * stiffness_of(joints, links, reactions, motion, i)
    rough = inertias.inverse[i] * k
    if status.stiff[w] == 0 and real(2.0) * status.time_step[w] * wp.sqrt(wp.ddot(rough, rough)) < CLEARLY_EASY:
        return
    turn, moments = turned_inertia(bodies, motion, inertias, i)
    z = real(2.0) * status.time_step[w] * largest(resisting(k), turn, moments)
    weight = wp.max(inertias.weight[i], real(1.0) - STABLE / wp.max(z, STABLE))
    inertias.weight[i] = weight
    if weight > real(0.0):
        status.stiff[w] = 1
        status.any_stiff[0] = 1
        status.limited[w] = 1
        status.any_limited[0] = 1
        if status.iterations[w] == 1:
            status.any_fresh[0] = 1


@kernel
def find_turned(status: JointStatus, which: wp.array[wp.int32]) -> None:
    """Stiff ones of the worlds that are wanted get rows of the end of the step."""
    w = wp.tid()
    status.turned[w] = status.stiff[w] * which[w]


@kernel
def start_anew(bodies: Bodies, flight: Flight, status: JointStatus) -> None:
    """A world just found to be stiff turns as before the step: the first correction knew nothing of its stiffness."""
    i = wp.tid()
    w = bodies.world[i]
    status.any_fresh[0] = 0
    if status.turned[w] == 1 and status.iterations[w] == 1:
        flight.start.angular_velocity[i] = flight.before.angular_velocity[i]


@kernel
def hold_directions(joints: Joints, rows: Rows, levers: Levers, status: JointStatus, reactions: Reactions) -> None:
    """Bring what a joint has done into the directions its rows have now: least squares over the rows."""
    j = wp.tid()
    if status.turned[joints.world[j]] == 0 or joints.broken[j] != 0:
        return
    n = joints.count[j]
    first = joints.first[j]
    gram = wp.identity(n=6, dtype=real)
    right = vec6()
    for r in range(n):
        p = rows.linear[first + r]
        c = rows.angular_b[first + r] - wp.cross(levers.b[j], p)
        right[r] = wp.dot(p, reactions.impulse[j]) + wp.dot(c, reactions.couple[j])
        for s in range(n):
            q = rows.linear[first + s]
            d = rows.angular_b[first + s] - wp.cross(levers.b[j], q)
            gram[r, s] = wp.dot(p, q) + wp.dot(c, d)
        gram[r, r] = gram[r, r] + real(1e-14) * gram[r, r]
    x = solve6(mat66(gram), right)
    impulse = vec3()
    couple = vec3()
    for r in range(n):
        p = rows.linear[first + r]
        impulse += x[r] * p
        couple += x[r] * (rows.angular_b[first + r] - wp.cross(levers.b[j], p))
    reactions.impulse[j] = impulse
    reactions.couple[j] = couple


@wp.func
def turned_by(joints: Joints, links: Links, reactions: Reactions, motion: Motion, i: int) -> vec3:
    """Angular impulse of all joints on a body, with the levers of a motion."""
    total = vec3()
    for e in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[e]
        lever = lever_of(joints, motion, j, i)
        turning = wp.cross(lever, reactions.impulse[j]) + reactions.couple[j]
        total += wp.where(links.is_b[e] == 1, turning, -turning)
    return total


@kernel
def soften(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    flight: Flight,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    limits: Limits,
) -> None:
    """M̃⁻¹ of a body of a stiff world, and what its impulses still have to change with the levers they have now."""
    i = wp.tid()
    w = bodies.world[i]
    if status.turned[w] == 0 or bodies.inverse_mass[i] == real(0.0):
        return
    weight = inertias.weight[i]
    h = status.time_step[w]
    k = resisting(stiffness_of(joints, links, reactions, flight.end, i))
    inverse = wp.inverse(inertia_of(bodies, flight.end, i) + h * weight * k)
    back = flight.before.orientation[i] * wp.quat_inverse(flight.end.orientation[i])
    change = flight.start.angular_velocity[i] - flight.before.angular_velocity[i] - flight.pushed.angular_velocity[i]
    rest = (real(1.0) - weight) * turned_by(joints, links, reactions, flight.before, i)
    rest -= angular_momentum(flight.before.orientation[i], change, bodies.inertia[i])
    shift = inverse * (weight * turned_by(joints, links, reactions, flight.end, i) + rotate_back(back, rest))
    inertias.inverse[i] = inverse
    inertias.shift[i] = shift
    inertias.back[i] = back
    error = h * wp.length(shift) / limits.orientation
    wp.atomic_max(status.error, w, wp.min(error, FAR))
    if not (error <= real(1.0)):
        wp.atomic_max(status.busy, w, 1)


@kernel
def respond_anew(joints: Joints, inertias: Inertias, rows: Rows, status: JointStatus) -> None:
    """The response of the rows of a stiff world, and what the shift of its bodies leaves to be wanted."""
    j = wp.tid()
    if status.turned[joints.world[j]] == 0:
        return
    a = joints.body_a[j]
    b = joints.body_b[j]
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        respond(joints, inertias, rows, j, r)
        if a >= 0:
            rows.wanted[r] = rows.wanted[r] - wp.dot(rows.angular_a[r], inertias.shift[a])
        if b >= 0:
            rows.wanted[r] = rows.wanted[r] - wp.dot(rows.angular_b[r], inertias.shift[b])


@kernel
def lean_back(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    flight: Flight,
    levers: Levers,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
) -> None:
    """The impulses that correct velocities act on levers as far from the end of the step as the others from its start.

    That makes a step almost the same backwards, so that it hardly damps, until r takes over. Each correction leaves a
    part of the error that is as large as the turn of the step, so that it is not done for large ones.
    """
    i = wp.tid()
    w = bodies.world[i]
    part = LEAN * inertias.weight[i] * (real(1.0) - damping_of(inertias.weight[i]))
    forth = flight.before.orientation[i] * wp.quat_inverse(flight.start.orientation[i])
    if status.stiff[w] == 0 or status.torn[w] == 1 or status.busy[w] == 0:
        return
    if part == real(0.0) or wp.abs(forth[3]) < LITTLE_TURN:
        return
    now = vec3()
    before = vec3()
    for e in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[e]
        sign = wp.where(links.is_b[e] == 1, real(1.0), real(-1.0))
        lever = wp.where(links.is_b[e] == 1, levers.b[j], levers.a[j])
        p = sign * reactions.last_impulse[j]
        now += wp.cross(lever, p)
        before += wp.cross(lever_of(joints, flight.start, j, i), p)
    spin = part * part_of(status, w) * (inertias.inverse[i] * (rotate(forth, before) - now))
    flight.before.angular_velocity[i] = flight.before.angular_velocity[i] + spin


@kernel
def settle(bodies: Bodies, inertias: Inertias, status: JointStatus) -> None:
    """The positions of a stiff world are done."""
    i = wp.tid()
    if status.stiff[bodies.world[i]] == 1:
        come_to_rest(inertias, i)


@kernel
def relax(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    motion: Motion,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
) -> None:
    """The end of a step of a stiff world: ω = M̃⁻¹ I ω, and M̃⁻¹ for the correction of the velocities."""
    i = wp.tid()
    w = bodies.world[i]
    if status.stiff[w] == 0 or bodies.inverse_mass[i] == real(0.0):
        return
    inertia = inertia_of(bodies, motion, i)
    k = resisting(stiffness_of(joints, links, reactions, motion, i))
    inverse = wp.inverse(inertia + status.time_step[w] * damping_of(inertias.weight[i]) * k)
    inertias.inverse[i] = inverse
    if inertias.weight[i] > real(0.0):
        motion.angular_velocity[i] = inverse * (inertia * motion.angular_velocity[i])
