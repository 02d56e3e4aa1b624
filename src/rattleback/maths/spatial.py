"""Twists and wrenches about one point of the world, inside kernels.

    (s, a) · (f, n) = s · f + a · n
    (s, a) × (t, b) = (a × t + s × b, a × b)

A twist is the velocity s of the point of a body that is at the reference point above the angular velocity a; a wrench
is a force f above a torque n about that point. The first line is power, the second the rate of a twist (t, b) that a
body with the twist (s, a) carries.

Reference: Featherstone, Rigid Body Dynamics Algorithms, chapter 2, there with the angular part above.
"""

import warp as wp

from rattleback.core.precision import real, vec3


@wp.struct
class Twist:
    """A velocity and an angular velocity."""

    linear: vec3
    angular: vec3


@wp.struct
class Pull:
    """A wrench: a force and a torque."""

    force: vec3
    torque: vec3


@wp.func
def twist_of(linear: vec3, angular: vec3) -> Twist:
    """A twist from its parts."""
    twist = Twist()
    twist.linear = linear
    twist.angular = angular
    return twist


@wp.func
def sum_of(first: Twist, second: Twist) -> Twist:
    """The sum of two twists."""
    return twist_of(first.linear + second.linear, first.angular + second.angular)


@wp.func
def times(factor: real, twist: Twist) -> Twist:
    """A multiple of a twist."""
    return twist_of(factor * twist.linear, factor * twist.angular)


@wp.func
def crossed(carrier: Twist, carried: Twist) -> Twist:
    """The rate of a twist that is carried."""
    linear = wp.cross(carrier.angular, carried.linear) + wp.cross(carrier.linear, carried.angular)
    return twist_of(linear, wp.cross(carrier.angular, carried.angular))


@wp.func
def power(twist: Twist, pull: Pull) -> real:
    """The power of a wrench."""
    return wp.dot(twist.linear, pull.force) + wp.dot(twist.angular, pull.torque)
