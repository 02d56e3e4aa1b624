"""Two boxes: separating axes, and the corners of the overlap of their faces, in one pass.

    s = max over the axes d of  |t · d| − Σ h_i |a_i · d| − Σ k_i |b_i · d|

t from centre to centre, h, k half edges, a_i, b_i axes of the two boxes; the 15 axes are the a_i, the b_i and the
a_i × b_j. Overlapping, s is minus the depth and its axis the normal. Apart, s is the distance wherever the points the
axis tells of are that near; else the nearest of all corners and edges are looked for. Of the 144 pairs of edges, only
the nine that face each other across a_i × b_j can be nearest, a few more where a face does not tell.

Reference: Gottschalk, Lin, Manocha (1996); Bender, dissertation, §2.2.2 and §4.5.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import BOX
from rattleback.collision.narrowphase.closest import Closest, Found, with_shells, write_found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3

# An axis across two edges must beat the faces by this part of the size: near ties a face is the steadier normal.
EDGE_BIAS = wp.constant(real(1e-7))
PARALLEL = wp.constant(real(1e-14))
# Where corners alone come as near as this part of the size to what the axes say, edges need no test.
TOUCHING = wp.constant(real(1e-12 if epsilon < 1e-10 else 1e-5))
# Points nearer than this part of the size lose too many digits for their difference to be a normal; the axis is one.
BLURRED = wp.constant(real(1e-9 if epsilon < 1e-10 else 1e-4))

# A direction this nearly along a face does not tell on which side of it an edge lies.
LEVEL = wp.constant(real(1e-5 if epsilon < 1e-10 else 1e-3))


@wp.func
def extent(size: vec3, d: vec3) -> real:
    """Half the width of a box along d, in its own frame."""
    return size[0] * wp.abs(d[0]) + size[1] * wp.abs(d[1]) + size[2] * wp.abs(d[2])


@wp.struct
class Axis:
    """The best separating axis so far: 0 … 2 of A, 3 … 5 of B, 6 … 14 across an edge of either."""

    separation: real
    code: wp.int32


@wp.func
def separate(h: vec3, k: vec3, R: mat33, t: vec3, enough: real) -> Axis:
    """The axis along which two boxes are farthest apart, as far as faces and pairs of edges tell.

    Args:
        h: Half edges of A.
        k: Half edges of B.
        R: Axes of B as columns, in the frame of A.
        t: Centre of B in that frame.
        enough: Stop where they are farther apart than this.
    """
    best = Axis()
    best.separation = real(-1e30)
    for i in range(3):
        s = wp.abs(t[i]) - h[i] - extent(k, vec3(R[i, 0], R[i, 1], R[i, 2]))
        if s > best.separation:
            best.separation = s
            best.code = i
    if best.separation > enough:
        return best
    for j in range(3):
        b = vec3(R[0, j], R[1, j], R[2, j])
        s = wp.abs(wp.dot(t, b)) - k[j] - extent(h, b)
        if s > best.separation:
            best.separation = s
            best.code = 3 + j
    if best.separation > enough:
        return best
    limit = best.separation + EDGE_BIAS * (h[0] + h[1] + h[2] + k[0] + k[1] + k[2])
    for i in range(3):
        for j in range(3):
            i1 = (i + 1) % 3
            i2 = (i + 2) % 3
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            along = wp.abs(t[i2] * R[i1, j] - t[i1] * R[i2, j])
            wide_a = h[i1] * wp.abs(R[i2, j]) + h[i2] * wp.abs(R[i1, j])
            wide_b = k[j1] * wp.abs(R[i, j2]) + k[j2] * wp.abs(R[i, j1])
            square = R[i1, j] * R[i1, j] + R[i2, j] * R[i2, j]
            s = along - wide_a - wide_b
            # s / √square is to exceed the best so far; squares tell without a root.
            if square > PARALLEL and s * wp.abs(s) > limit * wp.abs(limit) * square:
                best.separation = s / wp.sqrt(square)
                best.code = 6 + 3 * i + j
                limit = best.separation
                if limit > enough:
                    return best
    return best


@wp.func
def direction(code: int, R: mat33, t: vec3) -> vec3:
    """The axis of a code as a unit vector from B to A, in the frame of A."""
    d = vec3(real(code == 0), real(code == 1), real(code == 2))
    for j in range(3):
        b = vec3(R[0, j], R[1, j], R[2, j])
        if code == 3 + j:
            d = b
        for i in range(3):
            if code == 6 + 3 * i + j:
                d = wp.normalize(wp.cross(vec3(real(i == 0), real(i == 1), real(i == 2)), b))
    return wp.where(wp.dot(d, t) > real(0.0), -d, d)


@wp.struct
class BoxPoints:
    """Two points and the square of their distance."""

    square: real
    on_a: vec3
    on_b: vec3


@wp.func
def clamped(x: vec3, h: vec3) -> vec3:
    """The point of a box nearest to x."""
    return vec3(wp.clamp(x[0], -h[0], h[0]), wp.clamp(x[1], -h[1], h[1]), wp.clamp(x[2], -h[2], h[2]))


@wp.func
def nearer(best: BoxPoints, on_a: vec3, on_b: vec3) -> BoxPoints:
    """The better of two pairs of points."""
    d = on_a - on_b
    square = wp.dot(d, d)
    if square < best.square:
        best.square = square
        best.on_a = on_a
        best.on_b = on_b
    return best


@wp.func
def corner(h: vec3, k: int) -> vec3:
    """Corner k of a box: bit 0 says whether x > 0, bit 1 y, bit 2 z."""
    return vec3(
        wp.where((k & 1) > 0, h[0], -h[0]), wp.where((k & 2) > 0, h[1], -h[1]), wp.where((k & 4) > 0, h[2], -h[2])
    )


@wp.func
def sign_of(x: real) -> real:
    """1 or -1."""
    return wp.where(x < real(0.0), real(-1.0), real(1.0))


@wp.func
def from_axis(h: vec3, k: vec3, R: mat33, t: vec3, n: vec3, code: int) -> BoxPoints:
    """The points that follow from the axis: the corner nearest to a face, or two edges, in the frame of A."""
    best = BoxPoints()
    best.square = real(1e30)
    d = wp.transpose(R) * n
    p = vec3(-h[0] * sign_of(n[0]), -h[1] * sign_of(n[1]), -h[2] * sign_of(n[2]))
    q = vec3(k[0] * sign_of(d[0]), k[1] * sign_of(d[1]), k[2] * sign_of(d[2]))
    if code < 3:
        x = t + R * q
        return nearer(best, clamped(x, h), x)
    if code < 6:
        return nearer(best, p, t + R * clamped(wp.transpose(R) * (p - t), k))
    for i in range(3):
        for j in range(3):
            if code == 6 + 3 * i + j:
                p[i] = real(0.0)
                q[j] = real(0.0)
                b = vec3(R[0, j], R[1, j], R[2, j])
                w = p - t - R * q
                sine = real(1.0) - b[i] * b[i]
                along = wp.dot(b, w)
                p[i] = wp.clamp((b[i] * along - w[i]) / sine, -h[i], h[i])
                q[j] = wp.clamp((along - b[i] * w[i]) / sine, -k[j], k[j])
    return nearer(best, p, t + R * q)


@wp.func(inline=False)
def from_corners(h: vec3, k: vec3, R: mat33, t: vec3, enough: real) -> BoxPoints:
    """The nearest of the pairs of a corner of one box and the other box, or the first whose square is small enough."""
    best = BoxPoints()
    best.square = real(1e30)
    c = int(0)
    while c < 8 and best.square > enough:
        x = t + R * corner(k, c)
        best = nearer(best, clamped(x, h), x)
        y = corner(h, c)
        best = nearer(best, y, t + R * clamped(wp.transpose(R) * (y - t), k))
        c += 1
    return best


@wp.func
def sides(x: real, y: real) -> int:
    """Which of two coordinates are positive, as bits 0 and 1, and as bits 4 and 5 which are too small to tell."""
    signs = wp.where(x > real(0.0), 1, 0) + wp.where(y > real(0.0), 2, 0)
    return signs + wp.where(wp.abs(x) <= LEVEL, 16, 0) + wp.where(wp.abs(y) <= LEVEL, 32, 0)


@wp.func
def with_sign(h: real, positive: int) -> real:
    """One of h and -h."""
    return wp.where(positive > 0, h, -h)


@wp.func(inline=False)
def from_edges(h: vec3, k: vec3, R: mat33, t: vec3, best: BoxPoints) -> BoxPoints:
    """The nearest of all pairs of edges that face each other and what was found before, in the frame of A."""
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            b = vec3(R[0, j], R[1, j], R[2, j])
            cosine = b[i]
            sine = real(1.0) - cosine * cosine
            if sine > PARALLEL:
                j1 = (j + 1) % 3
                j2 = (j + 2) % 3
                # The way from A to B is across both edges, d = ± a_i × b_j; those of A lie high along it, of B low.
                up = sign_of(t[i2] * b[i1] - t[i1] * b[i2])
                seen = sides(-up * b[i2], up * b[i1]) + 4 * sides(-up * R[i, j2], up * R[i, j1])
                loose = seen >> 4
                free = int(0)
                last = bool(False)
                while not last:
                    m = ((seen & 15) & ~loose) | free
                    last = free == loose
                    free = (free - loose) & loose
                    # The two coordinates that are fixed along either edge.
                    p = vec3(real(0.0), real(0.0), real(0.0))
                    q = vec3(real(0.0), real(0.0), real(0.0))
                    p[i1] = with_sign(h[i1], m & 1)
                    p[i2] = with_sign(h[i2], m & 2)
                    q[j1] = with_sign(k[j1], m & 4)
                    q[j2] = with_sign(k[j2], m & 8)
                    w = p - t - R * q
                    along_b = (wp.dot(b, w) - cosine * w[i]) / sine
                    along_a = (cosine * wp.dot(b, w) - w[i]) / sine
                    if wp.abs(along_a) <= h[i] and wp.abs(along_b) <= k[j]:
                        p[i] = along_a
                        q[j] = along_b
                        best = nearer(best, p, t + R * q)
    return best


@wp.func
def between_boxes(h: vec3, k: vec3, R: mat33, t: vec3, enough: real, points: int) -> Closest:
    """The answer for two boxes in the frame of A; farther apart than ``enough``, only that they are.

    Args:
        h: Half edges of A.
        k: Half edges of B.
        R: Axes of B as columns, in the frame of A.
        t: Centre of B in that frame.
        enough: Distance that is not looked at more closely.
        points: Whether the points of overlapping boxes are wanted.
    """
    axis = separate(h, k, R, t, enough)
    out = Closest()
    out.separation = axis.separation
    if axis.separation > enough:
        return out
    out.normal = direction(axis.code, R, t)
    if points == 0 and axis.separation <= real(0.0):
        return out
    # Overlapping boxes are tested where they just touch: A moved out along the normal, which may be off by the bias.
    size = h[0] + h[1] + h[2] + k[0] + k[1] + k[2]
    depth = wp.max(real(0.0), -axis.separation)
    moved = t - depth * out.normal
    touching = wp.where(depth > real(0.0), real(2.0) * EDGE_BIAS, TOUCHING) * size + wp.max(real(0.0), axis.separation)
    near = from_axis(h, k, R, moved, out.normal, axis.code)
    if near.square > touching * touching:
        near = from_corners(h, k, R, moved, touching * touching)
        if near.square > touching * touching:
            near = from_edges(h, k, R, moved, near)
            clear = wp.max(touching, BLURRED * size)
            if depth == real(0.0) and near.square > clear * clear:
                out.separation = wp.sqrt(near.square)
                out.normal = (near.on_a - near.on_b) / out.separation
    out.point_b = near.on_b + depth * out.normal
    out.point_a = out.point_b + out.separation * out.normal
    return out


@kernel
def find_boxes(
    items: Items, colliders: Colliders, places: Places, max_gap: real, points: int, found: Found, lanes: int
) -> None:
    """The answer for every item of two boxes; the points of overlapping ones only if they are wanted."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.kept[m] == 1:
            continue
        i = items.a[m]
        j = items.b[m]
        if colliders.kind[i] != BOX or colliders.kind[j] != BOX:
            continue
        Ra = places.rotation[i]
        back = wp.transpose(Ra)
        t = back * (places.position[j] - places.position[i])
        shell_a = colliders.round[i]
        shell_b = colliders.round[j]
        far = max_gap + items.speculative_margin[m] + shell_a + shell_b
        answer = between_boxes(colliders.size[i], colliders.size[j], back * places.rotation[j], t, far, points)
        if answer.separation > far:
            found.separation[m] = answer.separation - shell_a - shell_b
            continue
        answer.normal = Ra * answer.normal
        answer.point_a = Ra * answer.point_a
        answer.point_b = Ra * answer.point_b
        write_found(found, m, with_shells(answer, shell_a, shell_b))
