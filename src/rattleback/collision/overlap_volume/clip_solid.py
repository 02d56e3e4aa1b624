"""The overlap of two convex polyhedra: one of them, cut by the planes of the other, and integrals over what is left.

    V = Σ d/6      ∫ r dV = Σ d/24 s      ∫ r rᵀ dV = Σ d/120 (c cᵀ + p pᵀ + q qᵀ + s sᵀ)

p → q an edge of a face, c a corner of that face, d = c · (p × q), s = c + p + q, all from a point inside; the sums run
over the edges of all faces (see ``shapes.polyhedron``). Seen along the normal n, the faces with N · n > 0 tile the
region that the overlap covers, and their edges give its integrals in the same way:

    S = Σ w      ∫ r dS = Σ w/3 s      ∫ r rᵀ dS = Σ w/12 (c cᵀ + p pᵀ + q qᵀ + s sᵀ)      w = n · (p − c) × (q − c) / 2

A polyhedron is a list of directed edges, those of a face one after the other in any order; an edge occurs once in each
direction. A plane shortens the edges that cross it, closes every face it opens, and gains as a face of its own all
closing edges turned round. What is outside is decided, and crossings are computed, from the two ends of an edge alone,
so that both faces along it get the same bits: the surface stays closed whatever rounding does, and its integrals are
right to rounding even where faces of the two solids lie in one plane, or almost.

Cost: edges × planes, some 5 µs for two boxes. Reference: Sutherland and Hodgman (1974) for cutting a face; Mirtich
(1996) for the integrals; overview of physics engines, shape of the contact part.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import PLANE, Solid
from rattleback.core.precision import mat33, real, vec3, vec4

# Crossings of one face that wait for their partner. A convex face has one; rounding can add a few.
WAITING = wp.constant(8)


@wp.struct
class Workbench:
    """Room for the edges of the polyhedra at work, two lists for every worker; entry k of all workers lies together."""

    tail: wp.array[vec3]
    head: wp.array[vec3]
    face: wp.array[wp.int32]
    room: wp.int32
    workers: wp.int32


@wp.struct
class CutSolid:
    """A polyhedron at work: its worker, which of the two lists, number of edges; ``full`` where they did not fit."""

    worker: wp.int32
    side: wp.int32
    edges: wp.int32
    full: wp.int32


@wp.struct
class Integrals:
    """What is integrated over an overlap; points and moments are those about its own centroid."""

    volume: real
    centroid: vec3
    moments: mat33
    area_kept: real
    area_cut: real
    region: real
    region_centroid: vec3
    region_moments: mat33


@wp.func
def at(bench: Workbench, worker: int, side: int, k: int) -> int:
    """Place of entry k of one of a worker's lists."""
    return (side * bench.room + k) * bench.workers + worker


@wp.func
def put(bench: Workbench, k: int, tail: vec3, head: vec3, face: int) -> None:
    """Write an edge."""
    bench.tail[k] = tail
    bench.head[k] = head
    bench.face[k] = face


@wp.func
def spread_out(bench: Workbench, worker: int, solid: Solid, hulls: Hulls) -> CutSolid:
    """Lay the edges of a solid's faces on the bench."""
    body = CutSolid()
    body.worker = worker
    first = hulls.first_face[solid.hull]
    for f in range(hulls.faces[solid.hull]):
        start = hulls.face_corner[first + f]
        corners = hulls.face_corners[first + f]
        if body.edges + corners > bench.room:
            body.full = 1
            return body
        tail = solid.position + solid.rotation * hulls.vertex[hulls.corner[start + corners - 1]]
        for c in range(corners):
            head = solid.position + solid.rotation * hulls.vertex[hulls.corner[start + c]]
            put(bench, at(bench, worker, 0, body.edges), tail, head, f)
            tail = head
            body.edges += 1
    return body


@wp.func
def height(plane: vec4, x: vec3) -> real:
    """Distance of a point from a plane, positive outside."""
    return plane[0] * x[0] + plane[1] * x[1] + plane[2] * x[2] - plane[3]


@wp.func
def crossing(inner: vec3, outer: vec3, low: real, high: real) -> vec3:
    """Where the edge between two points at these heights goes through the plane; the same bits from either face."""
    if low >= real(0.0):
        return inner
    return inner + (low / (low - high)) * (outer - inner)


@wp.func
def differ(p: vec3, q: vec3) -> bool:
    """Whether two points differ in any bit."""
    return p[0] != q[0] or p[1] != q[1] or p[2] != q[2]


@wp.func
def cut(bench: Workbench, body: CutSolid, plane: vec4, face: int, near: real) -> CutSolid:
    """What a half-space leaves of a polyhedron; points higher than ``near`` above its plane are outside.

    Args:
        bench: Where the edges are.
        body: The polyhedron.
        plane: Outward unit normal and distance from the origin.
        face: Number of the face that the plane makes.
        near: Heights that are zero but for rounding.
    """
    rest = CutSolid()
    rest.worker = body.worker
    rest.side = 1 - body.side
    made = int(0)
    waiting = int(0)
    partner = wp.zeros(shape=(WAITING,), dtype=vec3)
    for k in range(body.edges):
        i = at(bench, body.worker, body.side, k)
        p = bench.tail[i]
        q = bench.head[i]
        low = height(plane, p)
        high = height(plane, q)
        leaves = low <= near and high > near
        enters = low > near and high <= near
        x = p
        if leaves:
            x = crossing(p, q, low, high)
            q = x
        if enters:
            x = crossing(q, p, high, low)
            p = x
        if rest.edges + made + 3 > bench.room or wp.abs(waiting) >= WAITING:
            rest.full = 1
            return rest
        if (low <= near or high <= near) and differ(p, q):
            put(bench, at(bench, body.worker, rest.side, rest.edges), p, q, bench.face[i])
            rest.edges += 1
        if leaves or enters:
            # Leaving, the count goes up; entering, it goes down. A partner waits where the signs differ.
            step = wp.where(leaves, 1, -1)
            if waiting * step < 0:
                y = partner[wp.abs(waiting) - 1]
                if differ(x, y):
                    out = wp.where(leaves, x, y)
                    back = wp.where(leaves, y, x)
                    put(bench, at(bench, body.worker, rest.side, rest.edges), out, back, bench.face[i])
                    rest.edges += 1
                    # Edges of the new face wait at the end of the list until all others are there.
                    made += 1
                    put(bench, at(bench, body.worker, rest.side, bench.room - made), back, out, face)
            else:
                partner[wp.abs(waiting)] = x
            waiting += step
    for k in range(made):
        i = at(bench, body.worker, rest.side, bench.room - made + k)
        put(bench, at(bench, body.worker, rest.side, rest.edges + k), bench.tail[i], bench.head[i], face)
    rest.edges += made
    return rest


@wp.func
def face_plane(solid: Solid, hulls: Hulls, f: int) -> vec4:
    """Outward normal of face f of a solid, and its distance from the origin."""
    local = vec4(real(0.0), real(0.0), real(1.0), real(0.0))
    if solid.kind != PLANE:
        local = hulls.plane[hulls.first_face[solid.hull] + f]
    n = solid.rotation * vec3(local[0], local[1], local[2])
    return vec4(n[0], n[1], n[2], local[3] + wp.dot(n, solid.position))


@wp.func
def cut_by_all(bench: Workbench, body: CutSolid, solid: Solid, hulls: Hulls, first: int, near: real) -> CutSolid:
    """What all planes of a solid leave of a polyhedron.

    Args:
        bench: Where the edges are.
        body: The polyhedron.
        solid: A polyhedron or a half-space.
        hulls: Its faces.
        first: Number of the first face that a plane makes.
        near: Heights that are zero but for rounding.
    """
    planes = int(1)
    if solid.kind != PLANE:
        planes = hulls.faces[solid.hull]
    f = int(0)
    while f < planes and body.edges > 0 and body.full == 0:
        plane = face_plane(solid, hulls, f)
        highest = near
        for k in range(body.edges):
            highest = wp.max(highest, height(plane, bench.tail[at(bench, body.worker, body.side, k)]))
        if highest > near:
            body = cut(bench, body, plane, first + f, near)
        f += 1
    return body


@wp.func
def integrate(bench: Workbench, body: CutSolid, kept: int, n: vec3) -> Integrals:
    """Integrals over a polyhedron and over the region it covers along n; faces below ``kept`` are its own.

    Args:
        bench: Where the edges are.
        body: The polyhedron.
        kept: Number of the first face made by a cut.
        n: Unit normal of the region.
    """
    zero = vec3(real(0.0), real(0.0), real(0.0))
    o = zero
    for k in range(body.edges):
        o += bench.tail[at(bench, body.worker, body.side, k)]
    o = o / real(body.edges)
    out = Integrals()
    volume = real(0.0)
    first = zero
    second = mat33()
    region = real(0.0)
    region_first = zero
    region_second = mat33()
    k = int(0)
    while k < body.edges:
        start = k
        face = bench.face[at(bench, body.worker, body.side, k)]
        c = bench.tail[at(bench, body.worker, body.side, k)] - o
        across = zero
        while k < body.edges and bench.face[at(bench, body.worker, body.side, k)] == face:
            i = at(bench, body.worker, body.side, k)
            across += wp.cross(bench.tail[i] - o - c, bench.head[i] - o - c)
            k += 1
        if face < kept:
            out.area_kept += real(0.5) * wp.length(across)
        else:
            out.area_cut += real(0.5) * wp.length(across)
        upward = wp.dot(n, across) > real(0.0)
        for m in range(start, k):
            i = at(bench, body.worker, body.side, m)
            p = bench.tail[i] - o
            q = bench.head[i] - o
            twice = wp.cross(p - c, q - c)
            s = c + p + q
            d = wp.dot(c, twice)
            products = wp.outer(c, c) + wp.outer(p, p) + wp.outer(q, q) + wp.outer(s, s)
            volume += d
            first += d * s
            second += d * products
            if upward:
                w = wp.dot(n, twice)
                region += w
                region_first += w * s
                region_second += w * products
    out.volume = volume / real(6.0)
    out.centroid = first / real(24.0)
    out.moments = second / real(120.0)
    out.region = region / real(2.0)
    out.region_centroid = region_first / real(6.0)
    out.region_moments = region_second / real(24.0)
    return about_centroids(out, o, n)


@wp.func
def about_centroids(sums: Integrals, o: vec3, n: vec3) -> Integrals:
    """Integrals about the centroids from those about a point o, the region laid into the plane of the centroid."""
    out = sums
    if sums.volume > real(0.0) and sums.region > real(0.0):
        c = sums.centroid / sums.volume
        out.centroid = o + c
        out.moments = sums.moments - sums.volume * wp.outer(c, c)
        r = sums.region_centroid / sums.region
        flat = wp.identity(n=3, dtype=real) - wp.outer(n, n)
        about = sums.region_moments - sums.region * wp.outer(r, r)
        out.region_moments = flat * about * flat
        out.region_centroid = o + r + wp.dot(n, c - r) * n
    return out
