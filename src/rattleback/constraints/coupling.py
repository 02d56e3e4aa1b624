"""Rows that couple motions: a slide with a turn, or two turns, counted over any number of full turns.

| kind | error e [m] | what it is |
|---|---|---|
| ``screw`` | d · a_z − offset − r_a θ | B moves along the axis as it turns; r_a is the pitch over 2π |
| ``mesh`` | r_a f(φ_a) + r_b φ_b − offset | two pitch curves roll on each other without slip |
| ``rack`` | d · b_z − offset + r_a f(ψ) | a rack B rolls on a pinion A |
| ``rack``, r_b not zero | f(d · b_z − offset) + r_a ψ | the same, led by the rack |

    f(x) = x + b₂ x² + b₃ x³ + b₄ x⁴,   f'(x) = 1 + 2 b₂ x + 3 b₃ x² + 4 b₄ x³

f is x where the bend b is zero; else the wheel is no circle, and what follows is a polynomial of what leads. Rates and
Jacobians have f' beside r.

Symbols: d way from anchor to anchor; θ turn of frame B against frame A about z; φ_a azimuth of d in frame A, φ_b of
−d in frame B; ψ azimuth in frame A of the x axis of B, the rack's normal; r metres a radian is worth, with a sign [m].

An azimuth is the angle from the x axis of a frame about its z axis. With v a vector and t = z × v/(v_x² + v_y²),

    φ = atan2(v_y, v_x)        φ̇ = t · (v̇ − ω × v)

Seen from A the point where two gears touch runs along the pitch circle by r_a φ̇_a, seen from B by r_b φ̇_b; without slip
both are the same way. Only the line of centres enters, so that the condition is one between two bodies and holds on a
carrier that turns too: for sun, planet and ring it gives ω_s R_s + ω_r R_r = ω_c (R_s + R_r), the equation of Willis.
Where the touching point lies on the line through the anchors, the impulse of the row is one between the teeth there.

Of θ, with r = q_a* q_b and m = r_w² + r_z²,

    θ = 2 atan2(r_z, r_w)      θ̇ = n · (ω_B − ω_A),   n = q_a ((r_w r_y + r_x r_z)/m, (r_y r_z − r_w r_x)/m, 1)

A measured angle is one of many that differ by full turns; the one nearest the angle remembered from the last step is
meant. The error is therefore right as long as no step turns by half a turn or more.
"""

import math

import warp as wp

from rattleback.constraints.frame import Frames, Row, RowDefinition, axis
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate, rotate_back

SCREW, MESH, RACK = range(5, 8)
# Where the z axes of a screw are opposite, θ has no value and no rate; next to it the rate is bounded.
LEAST = wp.constant(real(1e-12))
FULL_TURN = wp.constant(wp.float64(2.0 * math.pi))


@wp.func
def counted(raw: real, remembered: wp.float64) -> wp.float64:
    """The angle that differs from a measured one by full turns and is nearest the remembered one."""
    found = wp.float64(raw)
    return found + FULL_TURN * wp.round((remembered - found) / FULL_TURN)


@wp.func
def twist(frames: Frames) -> real:
    """Turn of frame B against frame A about z, up to full turns."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    return real(2.0) * wp.atan2(r[2], r[3])


@wp.func
def azimuth(frame: quat, v: vec3) -> real:
    """Angle of a vector about the z axis of a frame, from its x axis."""
    local = rotate_back(frame, v)
    return wp.atan2(local[1], local[0])


@wp.func
def measured(kind: wp.int32, frames: Frames) -> tuple[real, real]:
    """The two angles a joint remembers, up to full turns; ``kind`` is that of its row that couples."""
    if kind == MESH:
        return azimuth(frames.turn_a, frames.way), azimuth(frames.turn_b, -frames.way)
    if kind == RACK:
        return azimuth(frames.turn_a, axis(frames.turn_b, 0)), real(0.0)
    return twist(frames), real(0.0)


@wp.func
def steepest(frame: quat, v: vec3) -> vec3:
    """The t of the azimuth of a vector; zero where the vector lies along the z axis and has no azimuth."""
    z = axis(frame, 2)
    t = wp.cross(z, v)
    square = wp.dot(t, t)
    if square > real(0.0):
        return t / square
    return vec3()


@wp.func
def screw_direction(frames: Frames) -> vec3:
    """The n of the turn θ, in the world."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    m = wp.max(r[3] * r[3] + r[2] * r[2], LEAST)
    return rotate(frames.turn_a, vec3((r[3] * r[1] + r[0] * r[2]) / m, (r[1] * r[2] - r[3] * r[0]) / m, real(1.0)))


@wp.func
def bent(x: wp.float64, bend: vec3) -> wp.float64:
    """f(x) of a bend."""
    rest = wp.float64(bend[1]) + x * wp.float64(bend[2])
    return x * (wp.float64(1.0) + x * (wp.float64(bend[0]) + x * rest))


@wp.func
def led_by_way(definition: RowDefinition) -> bool:
    """Whether a rack leads its pinion."""
    return definition.kind == RACK and definition.radius_b != real(0.0)


@wp.func
def leading(definition: RowDefinition, frames: Frames) -> wp.float64:
    """The x that the f of a coupling is taken of."""
    if led_by_way(definition):
        return wp.float64(wp.dot(frames.way, axis(frames.turn_b, 2)) - definition.offset)
    raw, _other = measured(definition.kind, frames)
    return counted(raw, frames.angle)


@wp.func
def slope(definition: RowDefinition, frames: Frames) -> real:
    """F' of a coupling."""
    bend = definition.bend
    if wp.dot(bend, bend) == real(0.0):
        return real(1.0)
    x = real(leading(definition, frames))
    rest = real(3.0) * bend[1] + real(4.0) * x * bend[2]
    return real(1.0) + x * (real(2.0) * bend[0] + x * rest)


@wp.func
def coupling_error(definition: RowDefinition, frames: Frames) -> real:
    """Error of a row that couples; the sums are made in double precision, as angles of many turns need it."""
    kind = definition.kind
    raw, other = measured(kind, frames)
    angle = counted(raw, frames.angle)
    offset = definition.offset
    radius = wp.float64(definition.radius_a)
    if led_by_way(definition):
        return real(bent(leading(definition, frames), definition.bend) + radius * angle)
    turned = radius * bent(angle, definition.bend)
    if kind == MESH:
        rolled = wp.float64(definition.radius_b) * counted(other, frames.other_angle)
        return real(turned + rolled - wp.float64(offset))
    if kind == SCREW:
        return real(wp.float64(wp.dot(frames.way, axis(frames.turn_a, 2)) - offset) - turned)
    return real(wp.float64(wp.dot(frames.way, axis(frames.turn_b, 2)) - offset) + turned)


@wp.func
def coupling_row(definition: RowDefinition, frames: Frames) -> Row:
    """Jacobian of a row that couples: a way p seen from A, a way s seen from B, and a turning n."""
    kind = definition.kind
    radius_a = definition.radius_a
    p = vec3()
    s = vec3()
    n = vec3()
    if kind == MESH:
        # φ̇_b = t · (−ḋ + ω_B × d), hence the minus.
        p = radius_a * slope(definition, frames) * steepest(frames.turn_a, frames.way)
        s = -definition.radius_b * steepest(frames.turn_b, -frames.way)
    elif kind == SCREW:
        p = axis(frames.turn_a, 2)
        n = -radius_a * screw_direction(frames)
    else:
        normal = axis(frames.turn_b, 0)
        s = axis(frames.turn_b, 2)
        n = radius_a * wp.cross(normal, steepest(frames.turn_a, normal))
        if led_by_way(definition):
            s *= slope(definition, frames)
        else:
            n *= slope(definition, frames)
    row = Row()
    row.linear_a = -(p + s)
    row.linear_b = p + s
    row.angular_a = -wp.cross(frames.lever_a + frames.way, p) - wp.cross(frames.lever_a, s) - n
    row.angular_b = wp.cross(frames.lever_b, p) + wp.cross(frames.lever_b - frames.way, s) + n
    return row
