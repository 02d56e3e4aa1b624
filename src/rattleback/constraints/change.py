"""How rows change while their bodies move: the derivative of the Jacobian by the poses, along a motion.

    δJ = (∂J/∂q) δq,    δq = (δx_A, δθ_A, δx_B, δθ_B),  turns on the left:  R ← exp(δθ) R

| piece | its change |
|---|---|
| axis a of A, lever l of A | δθ_A × a,  δθ_A × l |
| way d | δx_B + δθ_B × l_B − δx_A − δθ_A × l_A |
| n = p/|p| | (δp − n (n · δp))/|p| |
| t = c/|c|², c = z × v | (δc − 2 t (c · δc))/|c|² |
| r = q_a* q_b | ½ w r,  w = δθ_B − δθ_A in the axes of A |
| n = q_a m, m a function of r | δθ_A × n + q_a δm |

A row is made of these pieces by products, see ``row`` and ``coupling``; its change follows by the rule for products.
δJ · δq is the bias of ``bias`` where δq is a velocity; the forces of soft rows need the vector itself: with λ = −k e
the change of the force Jᵀ λ is −k Jᵀ (J δq) − k e δJᵀ. The matrix of the last part is not symmetric: moments are
counted about axes that stay in the world, not along one set of coordinates.

Reference: the notes on derivatives of constraints of rigid bodies keep δJ at zero ("second derivatives are left out").
"""

import warp as wp

from rattleback.constraints.bias import Rates, slope_rate
from rattleback.constraints.coordinate import TURN_A, TURN_B, TURN_Z
from rattleback.constraints.coupling import LEAST, MESH, RACK, SCREW, led_by_way, screw_direction, slope, steepest
from rattleback.constraints.frame import Frames, Row, axis
from rattleback.constraints.row import (
    ANGULAR_RATE,
    CROSS,
    DISTANCE,
    LINEAR_RATE,
    ORIENT,
    RADIUS,
    SLIDE,
    RowDefinition,
)
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate, rotate_back


@wp.func
def along_change(n: vec3, dn: vec3, frames: Frames, rates: Rates) -> Row:
    """Change of a row along n, an axis that turns with A."""
    row = Row()
    arm = wp.cross(rates.spin_a, frames.lever_a) + rates.drift
    row.linear_a = -dn
    row.angular_a = -wp.cross(arm, n) - wp.cross(frames.lever_a + frames.way, dn)
    row.linear_b = dn
    row.angular_b = wp.cross(wp.cross(rates.spin_b, frames.lever_b), n) + wp.cross(frames.lever_b, dn)
    return row


@wp.func
def about_change(dn: vec3) -> Row:
    """Change of a row about n."""
    row = Row()
    row.angular_a = -dn
    row.angular_b = dn
    return row


@wp.func
def unit_change(p: vec3, dp: vec3) -> vec3:
    """Change of p/|p|; zero where p is."""
    length = wp.length(p)
    if length == real(0.0):
        return vec3()
    n = p / length
    return (dp - wp.dot(n, dp) * n) / length


@wp.func
def turn_change(frames: Frames, rates: Rates) -> tuple[quat, quat]:
    """The rotation r from frame A to frame B, and its change."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    w = real(0.5) * rotate_back(frames.turn_a, rates.spin_b - rates.spin_a)
    return r, quat(w[0], w[1], w[2], real(0.0)) * r


@wp.func
def orient_change(frames: Frames, rates: Rates, k: int) -> vec3:
    """Change of n = q_a (r_w e_k + r_v × e_k), on the half where r_w ≥ 0."""
    r, dr = turn_change(frames, rates)
    if r[3] < real(0.0):
        r = -r
        dr = -dr
    e = vec3()
    e[k] = real(1.0)
    n = rotate(frames.turn_a, r[3] * e + wp.cross(vec3(r[0], r[1], r[2]), e))
    return wp.cross(rates.spin_a, n) + rotate(frames.turn_a, dr[3] * e + wp.cross(vec3(dr[0], dr[1], dr[2]), e))


@wp.func
def screw_change(frames: Frames, rates: Rates) -> vec3:
    """Change of the n of the turn θ."""
    r, dr = turn_change(frames, rates)
    square = wp.max(r[3] * r[3] + r[2] * r[2], LEAST)
    growth = real(2.0) * (r[3] * dr[3] + r[2] * dr[2]) / square
    x = r[3] * r[1] + r[0] * r[2]
    y = r[1] * r[2] - r[3] * r[0]
    dx = dr[3] * r[1] + r[3] * dr[1] + dr[0] * r[2] + r[0] * dr[2]
    dy = dr[1] * r[2] + r[1] * dr[2] - dr[3] * r[0] - r[3] * dr[0]
    local = vec3((dx - growth * x) / square, (dy - growth * y) / square, real(0.0))
    return wp.cross(rates.spin_a, screw_direction(frames)) + rotate(frames.turn_a, local)


@wp.func
def steepest_change(frame: quat, spin: vec3, v: vec3, dv: vec3) -> vec3:
    """Change of the t of the azimuth of a vector that changes in a frame that turns."""
    z = axis(frame, 2)
    c = wp.cross(z, v)
    square = wp.dot(c, c)
    if square == real(0.0):
        return vec3()
    dc = wp.cross(wp.cross(spin, z), v) + wp.cross(z, dv)
    return (dc - real(2.0) * wp.dot(c, dc) / square * c) / square


@wp.func
def azimuth_change(frame: quat, spin: vec3, v: vec3, other: vec3) -> vec3:
    """Change of v × t, about which an azimuth turns, for a vector v that turns with the other body."""
    dv = wp.cross(other, v)
    t = steepest(frame, v)
    return wp.cross(dv, t) + wp.cross(v, steepest_change(frame, spin, v, dv))


@wp.func
def free_turn_change(freedom: int, frames: Frames, rates: Rates) -> vec3:
    """Change of the direction of a turn that a joint leaves free."""
    if freedom == TURN_A:
        return azimuth_change(frames.turn_a, rates.spin_a, axis(frames.turn_b, 2), rates.spin_b)
    if freedom == TURN_B:
        return azimuth_change(frames.turn_b, rates.spin_b, axis(frames.turn_a, 2), rates.spin_a)
    return screw_change(frames, rates)


@wp.func
def coupling_change(definition: RowDefinition, frames: Frames, rates: Rates) -> Row:
    """Change of a row that couples: of the ways p and s and the turning n that it is made of."""
    kind = definition.kind
    radius_a = definition.radius_a
    radius_b = definition.radius_b
    part = slope(definition, frames)
    growth = slope_rate(definition, frames, rates)
    p = vec3()
    dp = vec3()
    s = vec3()
    ds = vec3()
    dn = vec3()
    if kind == MESH:
        p = radius_a * steepest(frames.turn_a, frames.way)
        dp = radius_a * steepest_change(frames.turn_a, rates.spin_a, frames.way, rates.drift)
        dp = part * dp + growth * p
        p *= part
        s = -radius_b * steepest(frames.turn_b, -frames.way)
        ds = -radius_b * steepest_change(frames.turn_b, rates.spin_b, -frames.way, -rates.drift)
    elif kind == SCREW:
        p = axis(frames.turn_a, 2)
        dp = wp.cross(rates.spin_a, p)
        dn = -radius_a * screw_change(frames, rates)
    else:
        s = axis(frames.turn_b, 2)
        ds = wp.cross(rates.spin_b, s)
        normal = axis(frames.turn_b, 0)
        n = radius_a * wp.cross(normal, steepest(frames.turn_a, normal))
        dn = radius_a * azimuth_change(frames.turn_a, rates.spin_a, normal, rates.spin_b)
        if led_by_way(definition):
            ds = part * ds + growth * s
            s *= part
        else:
            dn = part * dn + growth * n
    arm_a = wp.cross(rates.spin_a, frames.lever_a)
    arm_b = wp.cross(rates.spin_b, frames.lever_b)
    row = Row()
    row.linear_a = -(dp + ds)
    row.linear_b = dp + ds
    row.angular_a = -wp.cross(arm_a + rates.drift, p) - wp.cross(frames.lever_a + frames.way, dp)
    row.angular_a -= wp.cross(arm_a, s) + wp.cross(frames.lever_a, ds) + dn
    row.angular_b = wp.cross(arm_b, p) + wp.cross(frames.lever_b, dp)
    row.angular_b += wp.cross(arm_b - rates.drift, s) + wp.cross(frames.lever_b - frames.way, ds) + dn
    return row


@wp.func
def length_change(definition: RowDefinition, frames: Frames, rates: Rates) -> Row:
    """Change of a row that measures the length of a way, or its length across the z axis of A."""
    p = frames.way
    dp = rates.drift
    if definition.kind == RADIUS:
        z = axis(frames.turn_a, 2)
        dz = wp.cross(rates.spin_a, z)
        s = wp.dot(p, z)
        dp = dp - (wp.dot(dp, z) + wp.dot(p, dz)) * z - s * dz
        p = p - s * z
    length = wp.length(p)
    n = axis(frames.turn_a, 0)
    if length > real(0.0):
        n = p / length
    dn = unit_change(p, dp)
    row = along_change(n, dn, frames, rates)
    if definition.kind == DISTANCE:
        row.angular_a = -wp.cross(wp.cross(rates.spin_a, frames.lever_a), n) - wp.cross(frames.lever_a, dn)
    return row


@wp.func
def row_change(definition: RowDefinition, frames: Frames, rates: Rates) -> Row:
    """Change of the Jacobian of a row along a motion, given as rates; its error is left at zero."""
    kind = definition.kind
    if kind == RADIUS or kind == DISTANCE:
        return length_change(definition, frames, rates)
    if kind >= SCREW and kind <= RACK:
        return coupling_change(definition, frames, rates)
    a = axis(frames.turn_a, definition.axis_a)
    da = wp.cross(rates.spin_a, a)
    if kind == SLIDE or kind == LINEAR_RATE:
        return along_change(a, da, frames, rates)
    if kind == ANGULAR_RATE:
        return about_change(da)
    if kind == CROSS:
        b = axis(frames.turn_b, definition.axis_b)
        return about_change(wp.cross(wp.cross(rates.spin_b, b), a) + wp.cross(b, da))
    if kind == ORIENT:
        return about_change(orient_change(frames, rates, definition.axis_a))
    return about_change(free_turn_change(TURN_Z + definition.axis_a, frames, rates))
