"""Capsules against capsules and boxes: the distance of segments, and the shortest way of a segment out of a box.

    segments:       min |p + t v − z e_z|²      |t| ≤ a, |z| ≤ h, in the frame of the second, whose axis is e_z
    segment, box:   Σ v_i excess_i(p + t v) = 0      apart
                    max_n (|n · p| − Σ h_i |n_i| − a |n · v|),  n = e_i, e_k × v / |e_k × v|      overlapping

p centre, v direction and a half length of the segment, h half edges of the box. The slope of the squared distance to a
box is increasing and piecewise straight in t; looking at it where the segment crosses the six planes of the box leaves
one straight piece, whose root is exact. A segment in a box is a point in their sum, a solid with six pairs of parallel
faces, of which the nearest counts. Derived here.

Reference: Ericson (2005), Real-Time Collision Detection, section 5.1.9 (segments).
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import BOX, CAPSULE, KINDS, Solid, load
from rattleback.collision.narrowphase.closed_forms.nearest import excess
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3

# Below this part of the sizes a distance is rounding; below this sine two directions are parallel.
TOUCHING = wp.constant(real(16.0 * epsilon))


@wp.func
def segment_segment(p: vec3, v: vec3, a: real, h: real) -> Closest:
    """A segment A with centre p, unit direction v, half length a, and a segment B along z of half length h."""
    across = wp.sqrt(v[0] * v[0] + v[1] * v[1])
    parallel = across <= TOUCHING
    side = vec3(real(1.0), real(0.0), real(0.0))
    t = real(0.0)
    if parallel:
        # The middle of what they share.
        low = wp.max(p[2] - a, -h)
        high = wp.min(p[2] + a, h)
        t = (real(0.5) * (low + high) - p[2]) * v[2]
    else:
        t = -(p[0] * v[0] + p[1] * v[1]) / (across * across)
        side = vec3(v[1], -v[0], real(0.0)) / across
    free = wp.abs(t) < a
    t = wp.clamp(t, -a, a)
    z = p[2] + t * v[2]
    if wp.abs(z) > h:
        free = False
        z = wp.clamp(z, -h, h)
        t = wp.clamp(z * v[2] - wp.dot(p, v), -a, a)
    out = Closest()
    out.point_a = p + t * v
    out.point_b = vec3(real(0.0), real(0.0), z)
    way = out.point_a - out.point_b
    distance = wp.length(way)
    if wp.dot(side, way) < real(0.0):
        side = -side
    if distance <= TOUCHING * (a + h) or (free and not parallel and distance < across * (a + h)):
        out.normal = side
        out.separation = wp.dot(side, way)
    else:
        out.normal = way / distance
        out.separation = distance
    return out


@wp.func
def nearest_to_box(p: vec3, v: vec3, a: real, half: vec3) -> real:
    """The t of the point p + t v, |t| ≤ a, of a segment nearest to a box."""
    low = -a
    high = a + real(0.0)
    if wp.dot(v, excess(p + low * v, half)) >= real(0.0):
        return low
    if wp.dot(v, excess(p + high * v, half)) <= real(0.0):
        return high
    for k in range(6):
        i = k // 2
        if v[i] != real(0.0):
            t = (wp.where(k % 2 == 0, half[i], -half[i]) - p[i]) / v[i]
            if t > low and t < high:
                if wp.dot(v, excess(p + t * v, half)) <= real(0.0):
                    low = t
                else:
                    high = t
    middle = real(0.5) * (low + high)
    beyond = excess(p + middle * v, half)
    rise = real(0.0)
    fall = real(0.0)
    for i in range(3):
        if beyond[i] != real(0.0):
            rise += v[i] * v[i]
            fall += v[i] * (p[i] - wp.where(beyond[i] > real(0.0), half[i], -half[i]))
    if rise == real(0.0):
        return middle
    return wp.clamp(-fall / rise, low, high)


@wp.func
def through_face(p: vec3, v: vec3, a: real, half: vec3, i: int) -> Closest:
    """The way of a segment out of a box through its nearer face along axis i."""
    n = vec3(real(0.0), real(0.0), real(0.0))
    n[i] = wp.where(p[i] < real(0.0), real(-1.0), real(1.0))
    low = -a
    high = a + real(0.0)
    for j in range(3):
        if j != i and v[j] != real(0.0):
            reach = half[j] / wp.abs(v[j])
            low = wp.max(low, -p[j] / v[j] - reach)
            high = wp.min(high, -p[j] / v[j] + reach)
    t = wp.clamp(real(0.5) * (low + high), -a, a)
    if low <= high and wp.abs(v[i]) > TOUCHING:
        t = wp.where(n[i] * v[i] > real(0.0), low, high)
    out = Closest()
    out.normal = n
    out.separation = wp.abs(p[i]) - half[i] - a * wp.abs(v[i])
    out.point_a = p + t * v
    out.point_b = out.point_a
    out.point_b[i] = n[i] * half[i]
    return out


@wp.func
def crossed(v: vec3, k: int) -> vec3:
    """The product e_k × v."""
    axis = vec3(real(0.0), real(0.0), real(0.0))
    axis[k] = real(1.0)
    return wp.cross(axis, v)


@wp.func
def past_edge(p: vec3, v: vec3, a: real, half: vec3, k: int) -> Closest:
    """The way of a segment out of a box past an edge along axis k."""
    n = wp.normalize(crossed(v, k))
    if wp.dot(n, p) < real(0.0):
        n = -n
    corner = vec3(real(0.0), real(0.0), real(0.0))
    flat = v
    flat[k] = real(0.0)
    for i in range(3):
        if i != k:
            corner[i] = wp.where(n[i] < real(0.0), -half[i], half[i])
    t = wp.clamp(wp.dot(corner - p, flat) / wp.dot(flat, flat), -a, a)
    out = Closest()
    out.normal = n
    out.separation = wp.dot(n, p) - wp.dot(n, corner)
    out.point_a = p + t * v
    out.point_b = corner
    out.point_b[k] = wp.clamp(out.point_a[k], -half[k], half[k])
    return out


@wp.func
def segment_in_box(p: vec3, v: vec3, a: real, half: vec3) -> Closest:
    """The shortest way of a segment A out of a box B; where they are apart, their distance along an axis of the six."""
    best = wp.abs(p[0]) - half[0] - a * wp.abs(v[0])
    axis = int(0)
    for k in range(1, 6):
        i = (k + 1) % 3
        j = (k + 2) % 3
        value = best
        if k < 3:
            value = wp.abs(p[k]) - half[k] - a * wp.abs(v[k])
        else:
            length = wp.sqrt(v[i] * v[i] + v[j] * v[j])
            if length > TOUCHING:
                beside = wp.abs(v[j] * p[i] - v[i] * p[j])
                value = (beside - half[i] * wp.abs(v[j]) - half[j] * wp.abs(v[i])) / length
        if value > best:
            best = value
            axis = k
    if axis < 3:
        return through_face(p, v, a, half, axis)
    return past_edge(p, v, a, half, axis - 3)


@wp.func
def segment_box(p: vec3, v: vec3, a: real, half: vec3) -> Closest:
    """A segment A with centre p, unit direction v, half length a, and a box B with these half edges."""
    scale = a + wp.length(half)
    t = nearest_to_box(p, v, a, half)
    out = Closest()
    out.point_a = p + t * v
    way = excess(out.point_a, half)
    out.point_b = out.point_a - way
    out.separation = wp.length(way)
    if out.separation <= TOUCHING * scale:
        return segment_in_box(p, v, a, half)
    out.normal = way / out.separation
    if wp.abs(t) < a:
        # Past an edge the normal is perpendicular to both, which is better known than where two near points are.
        for k in range(3):
            beyond_edge = way[k] == real(0.0) and way[(k + 1) % 3] != real(0.0) and way[(k + 2) % 3] != real(0.0)
            across = crossed(v, k)
            if beyond_edge and wp.length(across) * scale > out.separation:
                n = wp.normalize(across)
                out.normal = wp.where(wp.dot(n, way) < real(0.0), -n, n)
                out.separation = wp.dot(out.normal, way)
    return out


@wp.func
def capsule_solid(a: Solid, b: Solid) -> Closest:
    """A capsule A and a capsule or box B."""
    back = wp.transpose(b.rotation)
    p = back * (a.position - b.position)
    v = back * (a.rotation * vec3(real(0.0), real(0.0), real(1.0)))
    core = Closest()
    if b.kind == BOX:
        core = segment_box(p, v, a.size[2], b.size)
    if b.kind == CAPSULE:
        core = segment_segment(p, v, a.size[2], b.size[2])
    core.normal = b.rotation * core.normal
    core.point_a = b.position + b.rotation * core.point_a
    core.point_b = b.position + b.rotation * core.point_b
    return with_shells(core, a.round, b.round)


@kernel
def find_capsules(
    items: Items, colliders: Colliders, places: Places, handles: wp.array[wp.int32], found: Found, lanes: int
) -> None:
    """Look at the pairs of a capsule with a capsule or box whose kinds are marked."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[i]
        b = items.b[i]
        if items.kept[i] == 1 or handles[colliders.kind[a] * KINDS + colliders.kind[b]] == 0:
            continue
        turned = colliders.kind[a] > colliders.kind[b]
        origin = places.position[a]
        capsule = load(colliders, places, wp.where(turned, b, a), -1, origin)
        other = load(colliders, places, wp.where(turned, a, b), -1, origin)
        answer = capsule_solid(capsule, other)
        if turned:
            answer = swapped(answer)
        write_found(found, i, answer)
