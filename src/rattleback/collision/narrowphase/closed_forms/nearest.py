"""The point of a solid's surface nearest to a point, in the solid's own frame: half-space, point, segment and box.

    distance = n · (x − q)

x the point, q the nearest point of the surface, n the outward unit normal there. Outside, the distance is positive;
inside, q is the point of the surface through which the way out is shortest, and the distance is minus its length. Where
several points are nearest, one is chosen by fixed rules. Solids that are not round have no unique normal at their edges
and corners; outside it points from q to x.

Reference: Ericson (2005), Real-Time Collision Detection, section 5.1.
"""

import warp as wp

from rattleback.core.precision import real, vec3


@wp.struct
class Nearest:
    """Signed distance, nearest point of the surface, outward normal there."""

    distance: real
    point: vec3
    normal: vec3


@wp.func
def direction(v: vec3, instead: vec3) -> vec3:
    """The unit vector along v, whatever its length; ``instead`` where it has none."""
    largest = wp.max(wp.max(wp.abs(v[0]), wp.abs(v[1])), wp.abs(v[2]))
    if largest == real(0.0):
        return instead
    scaled = v / largest
    return scaled / wp.length(scaled)


@wp.func
def perpendicular(v: vec3) -> vec3:
    """A unit vector perpendicular to v."""
    x = wp.abs(v[0])
    y = wp.abs(v[1])
    z = wp.abs(v[2])
    w = vec3(real(0.0), -v[2], v[1])
    if y < x and y <= z:
        w = vec3(v[2], real(0.0), -v[0])
    if z < x and z < y:
        w = vec3(-v[1], v[0], real(0.0))
    return direction(w, vec3(real(1.0), real(0.0), real(0.0)))


@wp.func
def point_plane(x: vec3) -> Nearest:
    """The half-space z ≤ 0."""
    out = Nearest()
    out.distance = x[2]
    out.point = vec3(x[0], x[1], real(0.0))
    out.normal = vec3(real(0.0), real(0.0), real(1.0))
    return out


@wp.func
def point_segment(x: vec3, half: real) -> Nearest:
    """A segment along z from −half to half, or the origin for half = 0; it has no inside."""
    out = Nearest()
    out.point = vec3(real(0.0), real(0.0), wp.clamp(x[2], -half, half))
    way = x - out.point
    out.normal = direction(way, vec3(real(1.0), real(0.0), real(0.0)))
    out.distance = wp.dot(out.normal, way)
    return out


@wp.func
def excess(x: vec3, half: vec3) -> vec3:
    """How far a point lies beyond a box with these half edges, along each axis."""
    none = vec3(real(0.0), real(0.0), real(0.0))
    return wp.max(x - half, none) + wp.min(x + half, none)


@wp.func
def point_box(x: vec3, half: vec3) -> Nearest:
    """A box with these half edges."""
    out = Nearest()
    way = excess(x, half)
    if way[0] != real(0.0) or way[1] != real(0.0) or way[2] != real(0.0):
        out.normal = direction(way, way)
        out.distance = wp.dot(out.normal, way)
        out.point = x - way
        return out
    axis = int(0)
    best = wp.abs(x[0]) - half[0]
    for k in range(1, 3):
        depth = wp.abs(x[k]) - half[k]
        if depth > best:
            best = depth
            axis = k
    side = wp.where(x[axis] < real(0.0), real(-1.0), real(1.0))
    out.distance = best
    out.normal = vec3(real(0.0), real(0.0), real(0.0))
    out.normal[axis] = side
    out.point = x
    out.point[axis] = side * half[axis]
    return out
