"""The stretch of a line inside a convex solid, in closed form, in the solid's own frame.

    { t : o + t d in the solid } = [enter, leave]

o a point of the line, d its unit direction. Boxes and hulls clip the line by the half-space of every face, cylinders
and cones by their flat faces and a quadric a t² + 2 b t + c ≤ 0; a capsule is the union of a tube and two balls, whose
stretches form one. With a shell around any other core no closed form is short; there the signed distance f from the
core, convex along the line, is followed to the shell by Newton's method, which never passes the root of a convex
function from the side where it falls:

    t ← t + (f − r) / (−n · d)

n normal at the nearest point. It misses where f no longer falls. Convergence is quadratic, but for grazing rays.

Reference: Ericson (2005), Real-Time Collision Detection, section 5.3.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, HULL, PLANE, SPHERE, Solid
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.narrowphase.closed_forms.nearest import direction
from rattleback.collision.narrowphase.closed_forms.sphere import point_core
from rattleback.core.precision import epsilon, real, vec3

# Grazing rays halve their distance with each step; this many leave nothing of it.
MOST_STEPS = wp.constant(100)
# Part of the lengths involved that is taken for rounding.
CLOSE = wp.constant(real(4.0 * epsilon))


@wp.struct
class Interval:
    """Where a line enters and leaves a solid, and the outward normal where it enters; empty if enter > leave."""

    enter: real
    leave: real
    normal: vec3


@wp.func
def whole() -> Interval:
    """All of the line."""
    out = Interval()
    out.enter = -FAR
    out.leave = FAR
    return out


@wp.func
def nothing() -> Interval:
    """No point of the line."""
    out = Interval()
    out.enter = FAR
    out.leave = -FAR
    return out


@wp.func
def clipped(line: Interval, over: real, along: real, normal: vec3) -> Interval:
    """What of a stretch is in a half-space: over + t along ≤ 0."""
    out = line
    # Rotated axes are off by rounding; a ray along a wall must not meet it somewhere far away.
    if wp.abs(along) <= CLOSE:
        if over > real(0.0):
            return nothing()
        return out
    t = -over / along
    if along < real(0.0):
        if t > out.enter:
            out.enter = t
            out.normal = normal
    else:
        out.leave = wp.min(out.leave, t)
    return out


@wp.func
def between(a: real, b: real, c: real) -> Interval:
    """Where a t² + 2 b t + c ≤ 0 for a ≥ 0, without a normal; the smaller root loses no digits."""
    out = nothing()
    square = b * b - a * c
    if a == real(0.0):
        # A line that keeps its distance, by the symmetry of every quadric here: b is zero with a.
        if c <= real(0.0):
            return whole()
        return out
    if square < real(0.0):
        return out
    q = -b - wp.where(b < real(0.0), real(-1.0), real(1.0)) * wp.sqrt(square)
    one = q / a
    two = one
    if q != real(0.0):
        two = c / q
    out.enter = wp.min(one, two)
    out.leave = wp.max(one, two)
    return out


@wp.func
def in_ball(o: vec3, d: vec3, radius: real) -> Interval:
    """A ball around the origin."""
    out = between(wp.dot(d, d), wp.dot(o, d), wp.dot(o, o) - radius * radius)
    out.normal = direction(o + out.enter * d, -d)
    return out


@wp.func
def in_ellipsoid(o: vec3, d: vec3, radii: vec3) -> Interval:
    """An ellipsoid, scaled to a ball of radius one."""
    out = in_ball(wp.cw_div(o, radii), wp.cw_div(d, radii), real(1.0))
    out.normal = direction(wp.cw_div(out.normal, radii), -d)
    return out


@wp.func
def in_tube(o: vec3, d: vec3, radius: real, half: real) -> Interval:
    """A cylinder along z."""
    flat_o = vec3(o[0], o[1], real(0.0))
    flat_d = vec3(d[0], d[1], real(0.0))
    out = between(wp.dot(flat_d, flat_d), wp.dot(flat_o, flat_d), wp.dot(flat_o, flat_o) - radius * radius)
    out.normal = direction(flat_o + out.enter * flat_d, -d)
    up = vec3(real(0.0), real(0.0), real(1.0))
    out = clipped(out, o[2] - half, d[2], up)
    return clipped(out, -o[2] - half, -d[2], -up)


@wp.func
def in_cone(o: vec3, d: vec3, radius: real, half: real) -> Interval:
    """A cone along z, its apex at half; w = half − z falls from the base to the apex."""
    slope = radius / (real(2.0) * half)
    k = slope * slope
    w = half - o[2]
    a = d[0] * d[0] + d[1] * d[1] - k * d[2] * d[2]
    b = o[0] * d[0] + o[1] * d[1] + k * w * d[2]
    c = o[0] * o[0] + o[1] * o[1] - k * w * w
    square = b * b - a * c
    out = nothing()
    if a > real(0.0) and square < real(0.0):
        return out
    q = -b - wp.where(b < real(0.0), real(-1.0), real(1.0)) * wp.sqrt(wp.max(square, real(0.0)))
    one = wp.where(a == real(0.0), FAR, q / wp.where(a == real(0.0), real(1.0), a))
    two = wp.where(q == real(0.0), one, c / wp.where(q == real(0.0), real(1.0), q))
    if a == real(0.0) and q == real(0.0):
        # A line beside the cone at the same distance everywhere, or in the side itself, through the apex.
        if c > CLOSE * k * w * w:
            return out
        two = w / d[2]
    out.enter = wp.min(one, two)
    out.leave = wp.max(one, two)
    if a > real(0.0):
        # A line flatter than the side meets one of the two nappes; the upper one is not there.
        if w - d[2] * (real(0.5) * out.enter + real(0.5) * out.leave) < real(0.0):
            return nothing()
    else:
        # A steeper one is in the upper nappe beyond one root and in the lower nappe beyond the other.
        turn = two
        if a < real(0.0):
            turn = wp.where(d[2] > real(0.0), out.enter, out.leave)
        if w - d[2] * turn < real(0.0):
            # Along the side, within rounding, there is one root only; here it is on the upper nappe.
            return nothing()
        out.enter = wp.where(d[2] > real(0.0), -FAR, turn)
        out.leave = wp.where(d[2] > real(0.0), turn, FAR)
    at = o + wp.max(out.enter, -real(1.0) / CLOSE) * d
    up = vec3(real(0.0), real(0.0), real(1.0))
    out.normal = direction(vec3(at[0], at[1], k * (half - at[2])), up)
    return clipped(out, -o[2] - half, -d[2], -up)


@wp.func
def in_faces(o: vec3, d: vec3, hull: int, hulls: Hulls) -> Interval:
    """A convex polyhedron, by its row in the tables."""
    out = whole()
    first = hulls.first_face[hull]
    for f in range(first, first + hulls.faces[hull]):
        plane = hulls.plane[f]
        n = vec3(plane[0], plane[1], plane[2])
        out = clipped(out, wp.dot(n, o) - plane[3], wp.dot(n, d), n)
        if out.enter > out.leave:
            return out
    return out


@wp.func
def in_block(o: vec3, d: vec3, half: vec3) -> Interval:
    """A box."""
    out = whole()
    for k in range(3):
        n = vec3(real(0.0), real(0.0), real(0.0))
        n[k] = real(1.0)
        out = clipped(out, o[k] - half[k], d[k], n)
        out = clipped(out, -o[k] - half[k], -d[k], -n)
    return out


@wp.func
def in_capsule(o: vec3, d: vec3, radius: real, half: real) -> Interval:
    """A capsule along z."""
    out = in_tube(o, d, radius, half)
    for k in range(2):
        end = vec3(real(0.0), real(0.0), wp.where(k == 0, half, -half))
        ball = in_ball(o - end, d, radius)
        if out.enter > out.leave:
            out = ball
        elif ball.enter <= ball.leave:
            if ball.enter < out.enter:
                out.enter = ball.enter
                out.normal = ball.normal
            out.leave = wp.max(out.leave, ball.leave)
    return out


@wp.func
def in_core(o: vec3, d: vec3, solid: Solid, hulls: Hulls) -> Interval:
    """A solid whose shell is part of what it is: none, but for balls, capsules and half-spaces."""
    s = solid.size
    if solid.kind == BOX:
        return in_block(o, d, s)
    if solid.kind == SPHERE:
        return in_ball(o, d, solid.round)
    if solid.kind == CAPSULE:
        return in_capsule(o, d, solid.round, s[2])
    if solid.kind == CYLINDER:
        return in_tube(o, d, s[0], s[2])
    if solid.kind == CONE:
        return in_cone(o, d, s[0], s[2])
    if solid.kind == ELLIPSOID:
        return in_ellipsoid(o, d, s)
    if solid.kind == HULL:
        return in_faces(o, d, solid.hull, hulls)
    up = vec3(real(0.0), real(0.0), real(1.0))
    return clipped(whole(), o[2] - solid.round, d[2], up)


@wp.func
def to_shell(o: vec3, d: vec3, begin: real, solid: Solid, hulls: Hulls) -> Interval:
    """Where the line comes to the shell around a core from ``begin`` on; an interval that ends there, or nothing."""
    t = begin
    out = nothing()
    for _ in range(MOST_STEPS):
        near = point_core(o + t * d, solid, hulls)
        gap = near.distance - solid.round
        out.normal = near.normal
        if gap <= CLOSE * (wp.abs(near.distance) + wp.length(near.point)):
            out.enter = t
            out.leave = t
            return out
        falling = -wp.dot(near.normal, d)
        if falling <= real(0.0):
            return nothing()
        t = t + gap / falling
        if t > FAR:
            return nothing()
    out.enter = t
    out.leave = t
    return out


@wp.func
def has_shell(solid: Solid) -> bool:
    """Whether there is a shell around a core that is more than a point, a segment or a half-space."""
    return solid.round > real(0.0) and solid.kind != SPHERE and solid.kind != CAPSULE and solid.kind != PLANE
