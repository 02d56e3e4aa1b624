"""Coordinates of the links from the poses of bodies, and the way back: where the links are after a part of a step.

    take     turns and ways of all links, and their rates, from poses and velocities
    move     q, x of a link from those of its parent, after the mean rates have acted for a time

A turn about an axis goes on at its rate; any turn goes on by the Cayley map of the mean rate, half a step of it by half
the angle, so that what turns freely keeps its angular momentum.
"""

import math

import warp as wp

from rattleback.constraints.coupling import azimuth, counted, twist
from rattleback.constraints.frame import Frames, axis
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import matrix_from_quat, quat_from_rotation_vector, rotate, rotate_back
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import frames_of
from rattleback.reduced.midpoint import links as kinds
from rattleback.reduced.midpoint.links import Trees

RIGID_LINK, TURN_LINK, SLIDE_LINK = wp.constant(kinds.RIGID), wp.constant(kinds.TURN), wp.constant(kinds.SLIDE)
BALL_LINK, FREE_LINK = wp.constant(kinds.BALL), wp.constant(kinds.FREE)
WHOLE, FIRST, SECOND = wp.constant(kinds.WHOLE_TURN), wp.constant(kinds.FIRST_TURN), wp.constant(kinds.SECOND_TURN)
ANY, SCREW, FIRST_SLIDE = wp.constant(kinds.ANY_TURN), wp.constant(kinds.SCREW_TURN), wp.constant(kinds.SLIDE_X)
# Sine and cosine of half a right angle.
HALF_RIGHT = wp.constant(real(0.5**0.5))
# Up to this angle [rad] five terms of the series are exact to rounding.
SHORT = wp.constant(real(0.25))
vec5 = wp.types.vector(5, real)
SINE = wp.constant(vec5(*((-1.0) ** (k + 1) / math.factorial(2 * k + 3) for k in range(5))))
COSINE = wp.constant(vec5(*((-1.0) ** (k + 1) / math.factorial(2 * k + 2) for k in range(5))))


@wp.func
def about_z(angle: real) -> tuple[real, real]:
    """Sine and cosine of half an angle."""
    a = real(0.5) * angle
    if wp.abs(a) > SHORT:
        return wp.sin(a), wp.cos(a)
    s = a * a
    sine = SINE[0] + s * (SINE[1] + s * (SINE[2] + s * (SINE[3] + s * SINE[4])))
    cosine = COSINE[0] + s * (COSINE[1] + s * (COSINE[2] + s * (COSINE[3] + s * COSINE[4])))
    return a + a * s * sine, real(1.0) + s * cosine


@wp.func
def turned_about_z(q: quat, sine: real, cosine: real) -> quat:
    """A turn, followed by one about its z axis."""
    return quat(
        q[0] * cosine + q[1] * sine,
        q[1] * cosine - q[0] * sine,
        q[2] * cosine + q[3] * sine,
        q[3] * cosine - q[2] * sine,
    )


@wp.func
def only_about_z(q: quat) -> quat:
    """The part of a turn that is one about z."""
    square = q[2] * q[2] + q[3] * q[3]
    if square == real(0.0):
        return quat(real(0.0), real(0.0), real(0.0), real(1.0))
    scale = real(1.0) / wp.sqrt(square)
    return quat(real(0.0), real(0.0), scale * q[2], scale * q[3])


@wp.func
def any_turn(u: vec3, whole: int) -> quat:
    """The Cayley turn with u half the turned way, or the turn by half its angle."""
    square = wp.dot(u, u)
    w = real(1.0)
    if whole == 0:
        w += wp.sqrt(real(1.0) + square)
    scale = real(1.0) / wp.sqrt(square + w * w)
    return quat(scale * u[0], scale * u[1], scale * u[2], scale * w)


@wp.func
def take_free(trees: Trees, motion: Motion, k: int, i: int) -> None:
    """A link that moves freely: its frame is that of its body."""
    step = trees.step
    q = motion.orientation[i]
    step.origin[k] = motion.position[i]
    step.turned[k] = q
    step.spin[k] = rotate_back(q, motion.angular_velocity[i])
    step.drift[k] = motion.velocity[i]
    step.mean_spin[k] = step.spin[k]
    step.mean_drift[k] = step.drift[k]


@wp.func
def take_base(trees: Trees, motion: Motion, link: int, k: int, i: int) -> None:
    """What carries the first link of a tree, and the origin there."""
    step = trees.step
    q = quat(real(0.0), real(0.0), real(0.0), real(1.0))
    way = trees.links.way[k]
    step.origin[k] = way
    if i >= 0:
        q = motion.orientation[i]
        way = rotate(q, way)
        step.origin[k] = motion.position[i] + way
        step.base_spin[k] = motion.angular_velocity[i]
        step.base_drift[k] = motion.velocity[i]
    step.base_turn[k] = q
    step.base_way[k] = -way


@wp.func
def back_of(q: quat) -> quat:
    """The turn back, of a quaternion of length one."""
    return quat(-q[0], -q[1], -q[2], q[3])


@wp.func
def axis_z(q: quat) -> vec3:
    """The z axis of a frame, of a quaternion of length one."""
    two = real(2.0)
    x = two * (q[0] * q[2] + q[3] * q[1])
    return vec3(x, two * (q[1] * q[2] - q[3] * q[0]), real(1.0) - two * (q[0] * q[0] + q[1] * q[1]))


@wp.func
def take_turn(trees: Trees, motion: Motion, link: int, k: int, j: int) -> None:
    """Turn and rate of a link that turns about one axis, which is all that most joints do."""
    turn_a = trees.joints.turn_a[j]
    turn_b = trees.joints.turn_b[j]
    a = trees.joints.body_a[j]
    b = trees.joints.body_b[j]
    spin = vec3()
    if a >= 0:
        turn_a = motion.orientation[a] * turn_a
        spin -= motion.angular_velocity[a]
    if b >= 0:
        turn_b = motion.orientation[b] * turn_b
        spin += motion.angular_velocity[b]
    relative = back_of(turn_a) * turn_b
    if trees.joints.facing[j] < 0:
        relative = relative * quat(real(-1.0), real(0.0), real(0.0), real(0.0))
    turned = only_about_z(relative)
    rates = vec3(wp.dot(axis_z(turn_a), spin), real(0.0), real(0.0))
    if trees.links.back[link] == 1:
        turned = back_of(turned)
        rates = -rates
    trees.step.turned[k] = turned
    trees.step.slid[k] = real(0.0)
    trees.step.spin[k] = rates
    trees.step.mean_spin[k] = rates


@wp.func
def turn_of(trees: Trees, frames: Frames, link: int, j: int) -> quat:
    """The turn of a link of a joint, from A to B."""
    role = trees.links.role[link]
    relative = wp.quat_inverse(frames.turn_a) * frames.turn_b
    if role == WHOLE or role == SCREW:
        if trees.joints.facing[j] < 0:
            relative = relative * quat(real(-1.0), real(0.0), real(0.0), real(0.0))
        return only_about_z(relative)
    if role == ANY:
        return wp.normalize(relative)
    half = real(0.5) * azimuth(frames.turn_a, axis(frames.turn_b, 2))
    if role == FIRST:
        return quat(real(0.0), real(0.0), wp.sin(half), wp.cos(half))
    back = quat(real(0.0), real(0.0), -wp.sin(half), wp.cos(half))
    return only_about_z(quat(real(0.0), -HALF_RIGHT, real(0.0), HALF_RIGHT) * back * relative)


@wp.func
def rates_of(trees: Trees, motion: Motion, frames: Frames, link: int, j: int) -> vec3:
    """The rates of a link of a joint, from A to B; those of any turn are about the axes of the frame it leads to."""
    role = trees.links.role[link]
    a = trees.joints.body_a[j]
    b = trees.joints.body_b[j]
    spin = vec3()
    drift = vec3()
    if a >= 0:
        spin -= motion.angular_velocity[a]
        drift -= motion.velocity[a] + wp.cross(motion.angular_velocity[a], frames.lever_a + frames.way)
    if b >= 0:
        spin += motion.angular_velocity[b]
        drift += motion.velocity[b] + wp.cross(motion.angular_velocity[b], frames.lever_b)
    if role == ANY:
        if trees.links.back[link] == 1:
            return rotate_back(frames.turn_a, spin)
        return rotate_back(frames.turn_b, spin)
    rate = vec3()
    if role >= FIRST_SLIDE:
        rate[0] = wp.dot(axis(frames.turn_a, role - FIRST_SLIDE), drift)
    elif role == SECOND:
        rate[0] = wp.dot(axis(frames.turn_b, 2), spin)
    else:
        rate[0] = wp.dot(axis(frames.turn_a, 2), spin)
    return rate


@wp.func
def take_joint(trees: Trees, motion: Motion, link: int, k: int, j: int) -> None:
    """Turn or way of a link of a joint, and its rates."""
    step = trees.step
    role = trees.links.role[link]
    frames = frames_of(trees.joints, motion, j)
    slid = real(0.0)
    turned = quat(real(0.0), real(0.0), real(0.0), real(1.0))
    if role >= FIRST_SLIDE:
        slid = wp.dot(axis(frames.turn_a, role - FIRST_SLIDE), frames.way)
    else:
        turned = turn_of(trees, frames, link, j)
        if role == SCREW:
            slid = trees.links.lead[k] * real(counted(twist(frames), trees.remembered.angle[j]))
    rates = rates_of(trees, motion, frames, link, j)
    if trees.links.back[link] == 1:
        turned = back_of(turned)
        slid = -slid
        rates = -rates
    step.turned[k] = turned
    step.slid[k] = slid
    step.spin[k] = rates
    step.mean_spin[k] = rates


@wp.func
def take(trees: Trees, motion: Motion, link: int, w: int) -> None:
    """Coordinates and rates of a link, from poses and velocities; the mean rates are those of the start."""
    k = w * int(trees.count) + link
    first = w * int(trees.body_count)
    if trees.links.parent[link] < 0:
        if trees.links.kind[link] == FREE_LINK:
            take_free(trees, motion, k, first + trees.links.body[link])
        else:
            base = trees.links.base[link]
            take_base(trees, motion, link, k, wp.where(base < 0, -1, first + base))
    j = w * int(trees.joint_count) + trees.links.joint[link]
    if trees.links.kind[link] == TURN_LINK and trees.links.role[link] == WHOLE:
        take_turn(trees, motion, link, k, j)
    elif trees.links.joint[link] >= 0 and trees.links.kind[link] != RIGID_LINK:
        take_joint(trees, motion, link, k, j)


@wp.func
def base_of(trees: Trees, link: int, k: int, t: real) -> tuple[quat, vec3]:
    """Where the motion of the first link of a tree begins."""
    step = trees.step
    base = step.base_turn[k]
    x = t * step.base_drift[k]
    w = t * step.base_spin[k]
    # Else both ways cancel, but for rounding.
    if wp.dot(w, w) + wp.dot(x, x) > real(0.0):
        base = quat_from_rotation_vector(w) * base
        x += step.base_way[k] + rotate(base, trees.links.way[k])
    return base * trees.links.turn[k], x


@wp.func
def move(trees: Trees, link: int, w: int, h: real, whole: int) -> None:
    """Where a link is after a step h, or after half of it, with the mean rates; its parent is there."""
    step = trees.step
    k = w * int(trees.count) + link
    p = trees.links.parent[link]
    kind = trees.links.kind[link]
    t = wp.where(whole == 1, h, real(0.5) * h)
    q = quat()
    x = vec3()
    rate = step.mean_spin[k]
    if kind == FREE_LINK:
        q = step.turned[k] * any_turn(real(0.5) * h * rate, whole)
        x = t * step.mean_drift[k]
    elif p < 0:
        q, x = base_of(trees, link, k, t)
    else:
        m = k - link + p
        q = step.q[m] * trees.links.turn[k]
        x = step.x[m] + step.frame[m] * trees.links.way[k]
    if kind == TURN_LINK:
        sine, cosine = about_z(t * rate[0])
        own = step.turned[k]
        q = turned_about_z(q, own[2] * cosine + own[3] * sine, own[3] * cosine - own[2] * sine)
    elif kind == BALL_LINK:
        q = q * step.turned[k] * any_turn(real(0.5) * h * rate, whole)
    frame = matrix_from_quat(q)
    lead = wp.where(kind == SLIDE_LINK, real(1.0), trees.links.lead[k])
    if lead != real(0.0):
        far = step.slid[k] + t * rate[0] * lead
        x += far * vec3(frame[0, 2], frame[1, 2], frame[2, 2])
    step.q[k] = q
    step.frame[k] = frame
    step.x[k] = x


@wp.func
def go_on(trees: Trees, link: int, w: int, h: real) -> None:
    """A part h of a step is done with the mean rates: the next part of it begins."""
    step = trees.step
    k = w * int(trees.count) + link
    kind = trees.links.kind[link]
    rate = step.mean_spin[k]
    if trees.links.parent[link] < 0:
        step.base_way[k] = step.base_way[k] + h * step.base_drift[k]
        step.base_turn[k] = quat_from_rotation_vector(h * step.base_spin[k]) * step.base_turn[k]
    if kind == TURN_LINK:
        sine, cosine = about_z(h * rate[0])
        step.turned[k] = turned_about_z(step.turned[k], sine, cosine)
        step.slid[k] = step.slid[k] + h * rate[0] * trees.links.lead[k]
    elif kind == SLIDE_LINK:
        step.slid[k] = step.slid[k] + h * rate[0]
    elif kind == BALL_LINK or kind == FREE_LINK:
        step.turned[k] = wp.normalize(step.turned[k] * any_turn(real(0.5) * h * rate, 1))
        step.origin[k] = step.origin[k] + h * step.mean_drift[k]
    step.spin[k] = real(2.0) * rate - step.spin[k]
    step.drift[k] = real(2.0) * step.mean_drift[k] - step.drift[k]
    step.mean_spin[k] = step.spin[k]
    step.mean_drift[k] = step.drift[k]
