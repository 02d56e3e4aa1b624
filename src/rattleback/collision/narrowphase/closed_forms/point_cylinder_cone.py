"""The point of a cylinder's or cone's surface nearest to a point, from their profiles in the half-plane (ρ, z).

    ρ = √(x² + y²)      nearest point = (q_ρ u, q_z)      u = (x, y) / ρ

The profile of a cylinder of radius r and half length h is the rectangle ρ ≤ r, |z| ≤ h. That of a cone is the triangle
below its side, the segment from the rim (r, −h) to the apex (0, h) with the outward normal m = (2h, r) / √(4h² + r²).
Inside, the nearer of the side and the flat faces counts; outside, the nearest of side, face, rim and apex.

On the axis, u is the x axis. Derived here; the profile is exact because both solids are convex and turn about z.
"""

import warp as wp

from rattleback.collision.narrowphase.closed_forms.nearest import Nearest, direction
from rattleback.core.precision import real, vec3


@wp.func
def outward(x: vec3) -> vec3:
    """Unit vector from the z axis to a point."""
    return direction(vec3(x[0], x[1], real(0.0)), vec3(real(1.0), real(0.0), real(0.0)))


@wp.func
def point_cylinder(x: vec3, radius: real, half: real) -> Nearest:
    """A cylinder along z of this radius, from −half to half."""
    u = outward(x)
    up = vec3(real(0.0), real(0.0), wp.where(x[2] < real(0.0), real(-1.0), real(1.0)))
    beyond = wp.dot(u, x) - radius
    above = wp.abs(x[2]) - half
    out = Nearest()
    if beyond > real(0.0) and above > real(0.0):
        way = beyond * u + above * up
        out.normal = direction(way, u)
        out.distance = wp.dot(out.normal, way)
        out.point = radius * u + half * up
    elif beyond > above:
        out.normal = u
        out.distance = beyond
        out.point = radius * u + vec3(real(0.0), real(0.0), x[2])
    else:
        out.normal = up
        out.distance = above
        out.point = vec3(x[0], x[1], half * up[2])
    return out


@wp.func
def point_cone(x: vec3, radius: real, half: real) -> Nearest:
    """A cone along z with a base of this radius at −half and its apex at half."""
    u = outward(x)
    up = vec3(real(0.0), real(0.0), real(1.0))
    beyond = wp.dot(u, x) - radius
    above = x[2] + half
    length = wp.sqrt(radius * radius + real(4.0) * half * half)
    sine = radius / length
    cosine = real(2.0) * half / length
    side = cosine * beyond + sine * above
    along = cosine * above - sine * beyond
    out = Nearest()
    inside = above > real(0.0) and side <= real(0.0)
    if (above <= real(0.0) and beyond <= real(0.0)) or (inside and -above > side):
        out.normal = -up
        out.distance = -above
        out.point = vec3(x[0], x[1], -half)
    elif inside or (along > real(0.0) and along < length):
        out.normal = cosine * u + sine * up
        out.distance = side
        out.point = (radius - sine * along) * u + (cosine * along - half) * up
    else:
        out.point = radius * u - half * up
        if along > real(0.0):
            out.point = half * up
        way = x - out.point
        out.normal = direction(way, cosine * u + sine * up)
        out.distance = wp.dot(out.normal, way)
    return out
