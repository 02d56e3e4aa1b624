"""Rigid motion through a step: the centre moves in a straight line, and the solid rotates about it at a constant rate.

    x(τ) = c + τ v + e^(τ ω) (x − c)          0 ≤ τ ≤ 1

c centre of rotation, the centre of mass of the body, v its displacement, ω its rotation vector in the axes of the
world, x a point at the start. The rotation from one orientation to another is the shortest: |ω| ≤ π.
"""

import warp as wp

from rattleback.collision.geometry.solid import Solid
from rattleback.core.precision import quat, real, vec3


@wp.struct
class RigidMotion:
    """How a solid moves: centre, displacement [m], rotation [rad], reach of its core from the centre [m]."""

    center: vec3
    travel: vec3
    turn: vec3
    reach: real


@wp.func
def turn_between(start: quat, end: quat) -> vec3:
    """The shortest turn from one orientation to another, as a rotation vector in the world's axes [rad]."""
    q = end * wp.quat_inverse(start)
    v = vec3(q[0], q[1], q[2])
    if q[3] < real(0.0):
        v = -v
    sine = wp.length(v)
    if sine == real(0.0):
        return real(2.0) * v
    return v * (real(2.0) * wp.atan2(sine, wp.abs(q[3])) / sine)


@wp.func
def turned(turn: vec3, fraction: real) -> quat:
    """The rotation that is a part of a rotation vector."""
    angle = wp.length(turn)
    if angle == real(0.0):
        return wp.quat_identity(real)
    half = real(0.5) * fraction * angle
    v = turn * (wp.sin(half) / angle)
    return quat(v[0], v[1], v[2], wp.cos(half))


@wp.func
def moved(solid: Solid, motion: RigidMotion, fraction: real) -> Solid:
    """A solid, given at the start of its motion, at a part of it."""
    out = solid
    if wp.dot(motion.turn, motion.turn) == real(0.0):
        out.position = solid.position + fraction * motion.travel
        return out
    q = turned(motion.turn, fraction)
    out.position = motion.center + fraction * motion.travel + wp.quat_rotate(q, solid.position - motion.center)
    out.rotation = wp.quat_to_matrix(q) * solid.rotation
    return out


@wp.func
def part_of(motion: RigidMotion, begin: real, end: real) -> RigidMotion:
    """The part of a motion between two fractions of it."""
    out = RigidMotion()
    out.center = motion.center + begin * motion.travel
    out.travel = (end - begin) * motion.travel
    out.turn = (end - begin) * motion.turn
    out.reach = motion.reach
    return out
