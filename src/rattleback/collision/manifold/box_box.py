"""The contact manifold of two boxes: two parallelograms, one in the coordinates of the other.

    x = f + α h_i a_i + β h_j a_j + z n      A's face: |α| ≤ 1, |β| ≤ 1, z = 0      B's face: (α, β, z) = c + u e + v f

In the frame of A, projected along the normal n onto its face, B's face is c + u e + v f with |u|, |v| ≤ 1; −z is the
gap there. The corners of the overlap are where B's edges enter and leave the square of A, ends included, and the
corners of the square that lie within B's face. Reduction and feature ids are those of ``reduce`` and ``clip``.

Cost: 0.2 µs a pair. Reference: Bender, dissertation, §4.5.1.3; clipping: Liang, Barsky (1984).
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import BOX
from rattleback.collision.manifold.clip import (
    CROSSING,
    OF_B,
    SAME,
    VERTEX_RANGE,
    Manifolds,
    add_corner,
    fetch_soon,
    is_unused,
)
from rattleback.collision.manifold.limits import NO_VERTEX, ManifoldLimits, points_of
from rattleback.collision.manifold.reduce import SLACK, reduce_manifold
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real, vec3, vec4

# Cosine of the angle within which a normal is that of a face, and square of the sine of that between parallel edges.
UPRIGHT = wp.constant(real(0.99999))
PARALLEL = wp.constant(real(1e-12))


@wp.struct
class Frame:
    """A face of a box: its normal axis, the two axes in it, and the sign of its normal."""

    axis: wp.int32
    i: wp.int32
    j: wp.int32
    up: real


@wp.struct
class Sheet:
    """B's face in the coordinates (α, β, z) of A's face: middle and half edges."""

    middle: vec3
    e: vec3
    f: vec3


@wp.func
def face_along(d: vec3) -> Frame:
    """The face of a box whose normal is nearest to d, in its own frame."""
    face = Frame()
    face.axis = wp.where(wp.abs(d[1]) > wp.abs(d[0]), 1, 0)
    if wp.abs(d[2]) > wp.abs(d[face.axis]):
        face.axis = 2
    face.i = wp.where(face.axis == 2, 0, face.axis + 1)
    face.j = wp.where(face.i == 2, 0, face.i + 1)
    face.up = wp.where(d[face.axis] < real(0.0), real(-1.0), real(1.0))
    return face


@wp.func
def name_of(face: Frame, plus_i: bool, plus_j: bool) -> int:
    """Number of a corner of a face among those of its box: bit 0 says whether x > 0, bit 1 y, bit 2 z."""
    name = wp.where(face.up > real(0.0), 1 << face.axis, 0)
    return name + wp.where(plus_i, 1 << face.i, 0) + wp.where(plus_j, 1 << face.j, 0)


@wp.func
def onto(face: Frame, h: vec3, n: vec3, x: vec3) -> vec3:
    """A direction x of A's frame as (α, β, z)."""
    z = x[face.axis] / n[face.axis]
    return vec3((x[face.i] - z * n[face.i]) / h[face.i], (x[face.j] - z * n[face.j]) / h[face.j], z)


@wp.func
def clip_edges(sheet: Sheet, along: int, max_gap: real, corner: wp.array[vec4], count: int) -> int:
    """Add where the two edges of B's face along e (0) or f (1) enter and leave A's square; returns the number."""
    d = wp.where(along == 0, sheet.e, sheet.f)
    other = wp.where(along == 0, sheet.f, sheet.e)
    for side in range(2):
        start = sheet.middle + wp.where(side == 0, -other, other)
        low = real(-1.0)
        high = real(1.0)
        for axis in range(2):
            if wp.abs(d[axis]) > real(0.0):
                inverse = real(1.0) / d[axis]
                p = (real(-1.0) - start[axis]) * inverse
                q = (real(1.0) - start[axis]) * inverse
                low = wp.max(low, wp.min(p, q))
                high = wp.min(high, wp.max(p, q))
            elif wp.abs(start[axis]) > real(1.0):
                high = real(-2.0)
        if low <= high:
            # B's own corners are the ends; an end that is cut off is a crossing with an edge of A.
            for end in range(2):
                w = wp.where(end == 0, low, high)
                x = start + w * d
                if -x[2] <= max_gap:
                    cut = wp.where(wp.abs(w) < real(1.0), real(8.0), real(0.0))
                    code = real(4 * along + 2 * side + end) + cut
                    count = add_corner(corner, count, vec4(x[0], x[1], -x[2], real(OF_B) + code), SAME)
    return count


@wp.func
def corners_of_a(sheet: Sheet, max_gap: real, corner: wp.array[vec4], count: int) -> int:
    """Add the corners of A's square that lie within B's face; returns the number."""
    e = sheet.e
    f = sheet.f
    inverse = real(1.0) / (e[0] * f[1] - e[1] * f[0])
    for k in range(4):
        x = wp.where((k & 1) > 0, real(1.0), real(-1.0))
        y = wp.where((k & 2) > 0, real(1.0), real(-1.0))
        dx = x - sheet.middle[0]
        dy = y - sheet.middle[1]
        u = (dx * f[1] - dy * f[0]) * inverse
        v = (e[0] * dy - e[1] * dx) * inverse
        if wp.abs(u) <= real(1.0) + SAME and wp.abs(v) <= real(1.0) + SAME:
            s = -(sheet.middle[2] + u * e[2] + v * f[2])
            if s <= max_gap:
                count = add_corner(corner, count, vec4(x, y, s, real(k)), SAME)
    return count


@wp.func
def name_after_vertex(sheet: Sheet, a: Frame, b: Frame, corner: wp.array[vec4], count: int) -> None:
    """Give every corner the id of the vertex of A near it, or of B, each once, or of the edges that cross there."""
    e = sheet.e
    f = sheet.f
    inverse = real(1.0) / (e[0] * f[1] - e[1] * f[0])
    faces = 16 * (2 * b.axis + int(b.up)) + 256 * (2 * a.axis + int(a.up))
    near = real(1.0) - real(2.0) * VERTEX_RANGE
    for k in range(count):
        x = corner[k]
        name = real(-1.0)
        if wp.abs(x[0]) > near and wp.abs(x[1]) > near:
            name = real(name_of(a, x[0] > real(0.0), x[1] > real(0.0)))
        if not is_unused(corner, k, name):
            dx = x[0] - sheet.middle[0]
            dy = x[1] - sheet.middle[1]
            u = (dx * f[1] - dy * f[0]) * inverse
            v = (e[0] * dy - e[1] * dx) * inverse
            name = real(-1.0)
            if wp.abs(u) > near and wp.abs(v) > near:
                name = real(OF_B + name_of(b, u > real(0.0), v > real(0.0)))
            if not is_unused(corner, k, name):
                name = real(CROSSING + faces + 4096) + x[3]
        corner[k] = vec4(x[0], x[1], x[2], name)


@wp.func
def lay_out(face: Frame, other: Frame, h: vec3, k: vec3, R: mat33, n: vec3) -> Sheet:
    """B's face but for where it is: its half edges in the coordinates of A's face."""
    i = other.i
    j = other.j
    sheet = Sheet()
    sheet.e = onto(face, h, n, k[i] * vec3(R[0, i], R[1, i], R[2, i]))
    sheet.f = onto(face, h, n, k[j] * vec3(R[0, j], R[1, j], R[2, j]))
    return sheet


@wp.func
def normal_sensitivity(face: Frame, other: Frame, n: vec3, d: vec3, R: mat33) -> real:
    """How many times faster than the boxes the square of their normal turns; zero for that of a face."""
    # The edges that the normal is across are those it is least along.
    of_a = wp.where(wp.abs(n[face.i]) < wp.abs(n[face.j]), face.i, face.j)
    of_b = wp.where(wp.abs(d[other.i]) < wp.abs(d[other.j]), other.i, other.j)
    cosine = R[of_a, of_b]
    faster = real(1.0) / wp.max(real(1.0) - cosine * cosine, PARALLEL)
    return wp.where(wp.max(wp.abs(n[face.axis]), wp.abs(d[other.axis])) > UPRIGHT, real(0.0), faster)


@wp.func
def build_box_manifold(
    items: Items,
    colliders: Colliders,
    places: Places,
    found: Found,
    limits: ManifoldLimits,
    manifolds: Manifolds,
    corner: wp.array[vec4],
    m: int,
) -> None:
    """The manifold of two boxes; ``corner`` has room for its corners."""
    a = items.a[m]
    b = items.b[m]
    separation = found.separation[m]
    reach = limits.max_gap + items.speculative_margin[m]
    Ra = places.rotation[a]
    back = wp.transpose(Ra)
    R = back * places.rotation[b]
    t = back * (places.position[b] - places.position[a])
    n = back * found.normal[m]
    h = colliders.size[a]
    k = colliders.size[b]
    face = face_along(-n)
    d = wp.transpose(R) * n
    other = face_along(d)
    manifolds.sensitivity[m] = normal_sensitivity(face, other, n, d, R)
    sheet = lay_out(face, other, h, k, R, n)
    middle = t + other.up * k[other.axis] * vec3(R[0, other.axis], R[1, other.axis], R[2, other.axis])
    middle[face.axis] = middle[face.axis] - face.up * h[face.axis]
    sheet.middle = onto(face, h, n, middle)
    shell_a = colliders.round[a]
    shell_b = colliders.round[b]
    max_gap = reach + shell_a + shell_b
    count = corners_of_a(sheet, max_gap, corner, 0)
    count = clip_edges(sheet, 0, max_gap, corner, count)
    count = clip_edges(sheet, 1, max_gap, corner, count)
    count = reduce_manifold(corner, count, points_of(limits, items.margin_class[m]), SLACK * limits.max_gap)
    name_after_vertex(sheet, face, other, corner, count)
    first = m * limits.most
    manifolds.normal[m] = found.normal[m]
    manifolds.points[m] = wp.max(count, 1)
    if count == 0:
        manifolds.point[first] = places.position[a] + real(0.5) * (found.point_a[m] + found.point_b[m])
        manifolds.separation[first] = separation
        manifolds.feature[first] = NO_VERTEX
    for c in range(count):
        x = corner[c]
        p = real(0.5) * (shell_b - shell_a - x[2]) * n
        p[face.axis] = p[face.axis] + face.up * h[face.axis]
        p[face.i] = p[face.i] + x[0] * h[face.i]
        p[face.j] = p[face.j] + x[1] * h[face.j]
        manifolds.point[first + c] = places.position[a] + Ra * p
        manifolds.separation[first + c] = x[2] - shell_a - shell_b
        manifolds.feature[first + c] = int(x[3])


@kernel
def build_box_manifolds(
    items: Items,
    colliders: Colliders,
    places: Places,
    found: Found,
    limits: ManifoldLimits,
    manifolds: Manifolds,
    lanes: int,
) -> None:
    """The manifold of every item of two boxes."""
    # Here, where it is cleared only once.
    corner = wp.zeros(shape=(16,), dtype=vec4)
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.kept[m] == 1:
            continue
        if colliders.kind[items.a[m]] != BOX or colliders.kind[items.b[m]] != BOX:
            continue
        fetch_soon(manifolds, m, limits.most)
        if found.separation[m] > limits.max_gap + items.speculative_margin[m]:
            manifolds.points[m] = 0
        else:
            build_box_manifold(items, colliders, places, found, limits, manifolds, corner, m)
