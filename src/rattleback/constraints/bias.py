"""The bias acceleration of rows and coordinates: what their second derivative is where no body accelerates.

    ë = J V̇ + J̇ V        V = (v_A, ω_A, v_B, ω_B)

| kind | J̇ V |
|---|---|
| ``slide``, ``linear_rate`` | k · a + 2 ḋ · ȧ + d · ä |
| ``cross`` | ä · b + 2 ȧ · ḃ + a · b̈ |
| ``orient`` | −|w|² r_k / 2 − n · (ω_A × w) |
| ``distance`` | (ḋ² + d · k − l̇²) / l |
| ``radius`` | (ḋ² + d · k − ṡ² − s s̈ − ρ̇²) / ρ |
| ``angular_rate`` | ȧ · w |
| ``screw``, ``mesh``, ``rack`` | those of their slides and angles, times f' of what leads, and its ẋ² f'' |
| ``turn`` θ about z | −n · (ω_A × w) − θ̇ ṁ / m |
| ``swing`` between a and b | w · (ċ − c (c · ċ) / c²) / |c|, c = a × b; none without a direction |
| azimuth φ of a vector | (x ÿ − y ẍ − 2 φ̇ (x ẋ + y ẏ)) / (x² + y²) |

Symbols: d way from anchor to anchor, ḋ its rate, k = ω_B × (ω_B × l_B) − ω_A × (ω_A × l_A) the bias of d̈, l levers;
w = ω_B − ω_A; a, b axes that turn with A and B, so that ȧ = ω_A × a, ä = ω_A × ȧ; r, n, m, θ as in ``row`` and
``coupling``; l = |d|, ρ the distance from the axis, s = d · a_z; (x, y) the vector in the axes of the frame.

They close loops by accelerations, J V̇ = −J̇ V, and give the bias of motion subspaces.
"""

import warp as wp

from rattleback.constraints.coordinate import SLIDE_Z, SWING, TURN_A, TURN_B, TURN_Z
from rattleback.constraints.coupling import MESH, SCREW, leading, led_by_way, screw_direction, slope, steepest
from rattleback.constraints.frame import Frames, axis
from rattleback.constraints.row import (
    ANGULAR_RATE,
    CROSS,
    DISTANCE,
    FREE_TURN,
    LINEAR_RATE,
    ORIENT,
    RADIUS,
    SLIDE,
    RowDefinition,
    orient_row,
)
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate_back


@wp.struct
class Rates:
    """How the two frames of a joint move, where their bodies do not accelerate."""

    spin_a: vec3
    spin_b: vec3
    drift: vec3
    jolt: vec3


@wp.func
def rates_of(frames: Frames, velocity_a: vec3, spin_a: vec3, velocity_b: vec3, spin_b: vec3) -> Rates:
    """The rates of frames from velocities of the centres of mass and angular velocities of both bodies."""
    rates = Rates()
    rates.spin_a = spin_a
    rates.spin_b = spin_b
    swing_a = wp.cross(spin_a, frames.lever_a)
    swing_b = wp.cross(spin_b, frames.lever_b)
    rates.drift = velocity_b + swing_b - velocity_a - swing_a
    rates.jolt = wp.cross(spin_b, swing_b) - wp.cross(spin_a, swing_a)
    return rates


@wp.func
def slide_bias(a: vec3, spin: vec3, d: vec3, rates: Rates) -> real:
    """Bias of d · a, with an axis a that turns at an angular velocity."""
    turning = wp.cross(spin, a)
    twice = real(2.0) * wp.dot(rates.drift, turning)
    return wp.dot(rates.jolt, a) + twice + wp.dot(d, wp.cross(spin, turning))


@wp.func
def slide_rate(a: vec3, spin: vec3, d: vec3, rates: Rates) -> real:
    """Rate of d · a."""
    return wp.dot(rates.drift, a) + wp.dot(d, wp.cross(spin, a))


@wp.func
def orient_bias(frames: Frames, rates: Rates, k: int) -> real:
    """Bias of 2 r_k."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    part = wp.where(r[3] < real(0.0), -r[k], r[k])
    w = rates.spin_b - rates.spin_a
    n = orient_row(frames, k).angular_b
    return real(-0.5) * wp.dot(w, w) * part - wp.dot(n, wp.cross(rates.spin_a, w))


@wp.func
def twist_bias(frames: Frames, rates: Rates) -> real:
    """Bias of the turn θ."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    w = rates.spin_b - rates.spin_a
    n = screw_direction(frames)
    # r changes by half of w, in the axes of A, times r.
    local = rotate_back(frames.turn_a, w)
    scalar = real(-0.5) * (local[0] * r[0] + local[1] * r[1] + local[2] * r[2])
    along = real(0.5) * (r[3] * local[2] + local[0] * r[1] - local[1] * r[0])
    growth = real(2.0) * (r[3] * scalar + r[2] * along) / (r[3] * r[3] + r[2] * r[2])
    return -wp.dot(n, wp.cross(rates.spin_a, w)) - wp.dot(n, w) * growth


@wp.func
def azimuth_bias(frame: quat, spin: vec3, v: vec3, rate: vec3, jolt: vec3) -> real:
    """Bias of the azimuth of a vector with a rate and a bias of its own, in a frame that turns."""
    u = rotate_back(frame, v)
    du = rotate_back(frame, rate - wp.cross(spin, v))
    ddu = rotate_back(frame, jolt - wp.cross(spin, real(2.0) * rate - wp.cross(spin, v)))
    square = u[0] * u[0] + u[1] * u[1]
    turning = (u[0] * du[1] - u[1] * du[0]) / square
    return (u[0] * ddu[1] - u[1] * ddu[0] - real(2.0) * turning * (u[0] * du[0] + u[1] * du[1])) / square


@wp.func
def axis_azimuth_bias(frame: quat, spin: vec3, a: vec3, other: vec3) -> real:
    """Bias of the azimuth of an axis that turns with the other body."""
    turning = wp.cross(other, a)
    return azimuth_bias(frame, spin, a, turning, wp.cross(other, turning))


@wp.func
def swing_bias(frames: Frames, rates: Rates) -> real:
    """Bias of the angle between the two z axes."""
    a = axis(frames.turn_a, 2)
    b = axis(frames.turn_b, 2)
    c = wp.cross(a, b)
    square = wp.dot(c, c)
    if square == real(0.0):
        return real(0.0)
    dc = wp.cross(wp.cross(rates.spin_a, a), b) + wp.cross(a, wp.cross(rates.spin_b, b))
    w = rates.spin_b - rates.spin_a
    return wp.dot(w, dc - wp.dot(c, dc) / square * c) / wp.sqrt(square)


@wp.func
def distance_bias(frames: Frames, rates: Rates) -> real:
    """Bias of |d|."""
    length = wp.length(frames.way)
    growth = wp.dot(frames.way, rates.drift) / length
    return (wp.dot(rates.drift, rates.drift) + wp.dot(frames.way, rates.jolt) - growth * growth) / length


@wp.func
def radius_bias(frames: Frames, rates: Rates) -> real:
    """Bias of the distance from the z axis of A."""
    z = axis(frames.turn_a, 2)
    s = wp.dot(frames.way, z)
    ds = slide_rate(z, rates.spin_a, frames.way, rates)
    dds = slide_bias(z, rates.spin_a, frames.way, rates)
    radius = wp.length(frames.way - s * z)
    growth = (wp.dot(frames.way, rates.drift) - s * ds) / radius
    square = wp.dot(rates.drift, rates.drift) + wp.dot(frames.way, rates.jolt)
    return (square - ds * ds - s * dds - growth * growth) / radius


@wp.func
def leading_rate(definition: RowDefinition, frames: Frames, rates: Rates) -> real:
    """Rate of the x that the f of a coupling is taken of."""
    if led_by_way(definition):
        return slide_rate(axis(frames.turn_b, 2), rates.spin_b, frames.way, rates)
    if definition.kind == MESH:
        t = steepest(frames.turn_a, frames.way)
        return wp.dot(t, rates.drift - wp.cross(rates.spin_a, frames.way))
    normal = axis(frames.turn_b, 0)
    return wp.dot(wp.cross(normal, steepest(frames.turn_a, normal)), rates.spin_b - rates.spin_a)


@wp.func
def slope_rate(definition: RowDefinition, frames: Frames, rates: Rates) -> real:
    """Rate of f'."""
    bend = definition.bend
    if wp.dot(bend, bend) == real(0.0):
        return real(0.0)
    x = real(leading(definition, frames))
    curvature = real(2.0) * bend[0] + x * (real(6.0) * bend[1] + real(12.0) * x * bend[2])
    return curvature * leading_rate(definition, frames, rates)


@wp.func
def coupling_bias(definition: RowDefinition, frames: Frames, rates: Rates) -> real:
    """Bias of a row that couples."""
    part = slope(definition, frames)
    growth = slope_rate(definition, frames, rates)
    if definition.kind == MESH:
        first = azimuth_bias(frames.turn_a, rates.spin_a, frames.way, rates.drift, rates.jolt)
        first = part * first + growth * leading_rate(definition, frames, rates)
        second = azimuth_bias(frames.turn_b, rates.spin_b, -frames.way, -rates.drift, -rates.jolt)
        return definition.radius_a * first + definition.radius_b * second
    if definition.kind == SCREW:
        way = slide_bias(axis(frames.turn_a, 2), rates.spin_a, frames.way, rates)
        return way - definition.radius_a * twist_bias(frames, rates)
    way = slide_bias(axis(frames.turn_b, 2), rates.spin_b, frames.way, rates)
    turn = axis_azimuth_bias(frames.turn_a, rates.spin_a, axis(frames.turn_b, 0), rates.spin_b)
    more = growth * leading_rate(definition, frames, rates)
    if led_by_way(definition):
        return part * way + more + definition.radius_a * turn
    return way + definition.radius_a * (part * turn + more)


@wp.func
def coordinate_bias(freedom: wp.int32, frames: Frames, rates: Rates) -> real:
    """Ċ V of a coordinate."""
    if freedom == SLIDE_Z:
        return slide_bias(axis(frames.turn_a, 2), rates.spin_a, frames.way, rates)
    if freedom == TURN_A:
        return axis_azimuth_bias(frames.turn_a, rates.spin_a, axis(frames.turn_b, 2), rates.spin_b)
    if freedom == TURN_B:
        return -axis_azimuth_bias(frames.turn_b, rates.spin_b, axis(frames.turn_a, 2), rates.spin_a)
    if freedom == SWING:
        return swing_bias(frames, rates)
    return twist_bias(frames, rates)


@wp.func
def row_bias(definition: RowDefinition, frames: Frames, rates: Rates) -> real:
    """J̇ V of a row."""
    kind = definition.kind
    a = axis(frames.turn_a, definition.axis_a)
    turning = wp.cross(rates.spin_a, a)
    if kind == SLIDE or kind == LINEAR_RATE:
        return slide_bias(a, rates.spin_a, frames.way, rates)
    if kind == ANGULAR_RATE:
        return wp.dot(turning, rates.spin_b - rates.spin_a)
    if kind == CROSS:
        b = axis(frames.turn_b, definition.axis_b)
        other = wp.cross(rates.spin_b, b)
        twice = real(2.0) * wp.dot(turning, other)
        return wp.dot(wp.cross(rates.spin_a, turning), b) + twice + wp.dot(a, wp.cross(rates.spin_b, other))
    if kind == ORIENT:
        return orient_bias(frames, rates, definition.axis_a)
    if kind == DISTANCE:
        return distance_bias(frames, rates)
    if kind == RADIUS:
        return radius_bias(frames, rates)
    if kind == FREE_TURN:
        return coordinate_bias(TURN_Z + definition.axis_a, frames, rates)
    return coupling_bias(definition, frames, rates)
