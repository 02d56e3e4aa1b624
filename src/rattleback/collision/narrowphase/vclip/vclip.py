"""V-Clip: a walk over pairs of features of two convex polyhedra to the pair that is closest.

    |p_x − p_y| least   ⇔   p_x in the Voronoi region of y, p_y in that of x

x, y features of the two solids, p_x, p_y their closest points. From some pair of features each step replaces one of the
two by a neighbour that is nearer, until neither has one (module voronoi); a vertex caught below the plane of a face is
freed by the highest face, and an edge through a face or a vertex below all of them means that the solids overlap. Then

1. the separating axis test gives the depth and the normal, exactly (module least_axis),
2. one solid is moved out along the normal, and the walk gives the points: shifted along it, the closest ones stay the
   same.

A sphere is walked to as a vertex, a capsule as an edge. The walk has no tolerance. Rounding alone can lead it in a
circle, about once in a thousand pairs of boxes that stand exactly square to each other; it is then cut off and every
pair of features is tried.

Cost: a step is some ten products for each edge of a vertex or a face. Solids apart that moved little since their
features were found take one or two steps, from scratch about as many as there are edges between the start and the end.
Overlaps cost more: see module least_axis.

Reference: Mirtich (1998), V-Clip: fast and robust polyhedral collision detection, ACM Transactions on Graphics 17(3);
Bender, dissertation, §4.4.5 and §4.5.1.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import BOX, CAPSULE, HULL, KINDS, SPHERE, Solid, load
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.gjk.gjk import GJK
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.vclip.features import (
    EDGE,
    FACE,
    VERTEX,
    Meeting,
    Polyhedron,
    edge_places,
    face_plane,
    farthest_vertex,
    meeting_of,
    nearest_on_segments,
    shifted,
    turned,
    vertex_place,
)
from rattleback.collision.narrowphase.vclip.separating_axis import least_axis
from rattleback.collision.narrowphase.vclip.voronoi import APART, INSIDE, MOVED, beyond_face, step
from rattleback.core.arrays import allocate, field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, numpy_real, real, vec3
from rattleback.core.sealed import sealed

# Part of the size below which a distance is too small to give a direction: half its digits are lost there.
TOUCHING = wp.constant(real(epsilon**0.5))
# Steps after which a walk is cut off, beside one for every vertex. Walks of hulls of a hundred vertices take up to 30.
MOST_STEPS = wp.constant(100)
# Separation of items that are not looked at.
FAR = wp.constant(real(np.finfo(numpy_real).max))


@group(axis="items")
class Features:
    """The closest features of every item, kept to start from: four times the index plus the kind; 0 for none yet."""

    a: wp.int32 = field("1", "feature of A")
    b: wp.int32 = field("1", "feature of B")
    steps: wp.int32 = field("1", "steps of the last walk")


@wp.func
def is_feature(p: Polyhedron, feature: int) -> bool:
    """Whether a number names a feature of a polyhedron."""
    i = feature // 4
    kind = feature % 4
    if feature <= 0 or kind == 0:
        return False
    return i < wp.where(kind == VERTEX, p.vertices, wp.where(kind == EDGE, p.edges, p.faces))


@wp.func
def walk(hulls: Hulls, m: Meeting, back: Meeting, start: wp.vec2i, most: int) -> tuple[wp.vec2i, int, int]:
    """Walk to the closest features: these, the state it ends in, MOVED if it was cut off, and the number of steps."""
    pair = start
    if not (is_feature(m.x, start[0]) and is_feature(m.y, start[1])) or (start[0] % 4 == FACE and start[1] % 4 == FACE):
        d = m.y.center - m.R * m.x.center - m.t
        pair[0] = 4 * farthest_vertex(hulls, m.x, m.S * d, 0) + VERTEX
        pair[1] = 4 * farthest_vertex(hulls, m.y, -d, 0) + VERTEX
    state = int(MOVED)
    steps = int(0)
    # A pair met again means a circle, which only rounding can make; the mark moves on with every doubling of the steps.
    mark = wp.vec2i(0, 0)
    while state == MOVED and steps < most and (pair[0] != mark[0] or pair[1] != mark[1]):
        if (steps & (steps - 1)) == 0:
            mark = pair
        turn = pair[0] % 4 > pair[1] % 4
        view = m
        x = pair[0]
        y = pair[1]
        if turn:
            view = back
            x = pair[1]
            y = pair[0]
        new_x, new_y, new_state = step(hulls, view, x, y)
        pair[0] = wp.where(turn, new_y, new_x)
        pair[1] = wp.where(turn, new_x, new_y)
        state = new_state
        steps += 1
    return pair, state, steps


@wp.func
def between(hulls: Hulls, m: Meeting, x: int, y: int) -> tuple[vec3, vec3, vec3]:
    """Closest points of feature x of X and feature y of Y, of no lower kind, and the normal, in the frame of Y."""
    i = x // 4
    j = y // 4
    p = vec3()
    q = vec3()
    n = vec3()
    if y % 4 == FACE:
        p = m.R * vertex_place(hulls, m.x, i) + m.t
        normal, d = face_plane(hulls, m.y, j)
        q = p - (wp.dot(normal, p) - d) * normal
        return p, q, normal
    if y % 4 == VERTEX:
        p = m.R * vertex_place(hulls, m.x, i) + m.t
        q = vertex_place(hulls, m.y, j)
    else:
        r, s = edge_places(hulls, m.y, j)
        if x % 4 == VERTEX:
            p = m.R * vertex_place(hulls, m.x, i) + m.t
            q = r + wp.clamp(wp.dot(p - r, s - r) / wp.dot(s - r, s - r), real(0.0), real(1.0)) * (s - r)
        else:
            a, b = edge_places(hulls, m.x, i)
            a = m.R * a + m.t
            b = m.R * b + m.t
            u, v = nearest_on_segments(a, b, r, s)
            p = a + u * (b - a)
            q = r + v * (s - r)
    n = wp.normalize(p - q)
    return p, q, n


@wp.func
def closest_of(hulls: Hulls, m: Meeting, back: Meeting, pair: wp.vec2i) -> Closest:
    """The answer for a pair of features, in the frame of Y, with X as A."""
    out = Closest()
    if pair[0] % 4 > pair[1] % 4:
        q, p, n = between(hulls, back, pair[1], pair[0])
        out.point_a = m.R * p + m.t
        out.point_b = m.R * q + m.t
        out.normal = -(m.R * n)
    else:
        a, b, normal = between(hulls, m, pair[0], pair[1])
        out.point_a = a
        out.point_b = b
        out.normal = normal
    out.separation = wp.dot(out.normal, out.point_a - out.point_b)
    return out


@wp.func
def nearest_pair(hulls: Hulls, m: Meeting, back: Meeting) -> wp.vec2i:
    """The closest features of two solids that are apart, by trying all of them."""
    best = wp.vec2i(VERTEX, VERTEX)
    least = real(wp.inf)
    for side in range(2):
        view = m
        if side == 1:
            view = back
        for i in range(view.x.vertices):
            x = view.R * vertex_place(hulls, view.x, i) + view.t
            for j in range(view.y.faces):
                n, d = face_plane(hulls, view.y, j)
                height = wp.dot(n, x) - d
                if height > real(0.0) and height < least and beyond_face(hulls, view.y, j, x) == 0:
                    least = height
                    best[side] = 4 * i + VERTEX
                    best[1 - side] = 4 * j + FACE
            for j in range(view.y.edges):
                p, q, n = between(hulls, view, 4 * i + VERTEX, 4 * j + EDGE)
                if wp.length(p - q) < least:
                    least = wp.length(p - q)
                    best[side] = 4 * i + VERTEX
                    best[1 - side] = 4 * j + EDGE
    for i in range(m.x.edges):
        for j in range(m.y.edges):
            p, q, n = between(hulls, m, 4 * i + EDGE, 4 * j + EDGE)
            if wp.length(p - q) < least:
                least = wp.length(p - q)
                best = wp.vec2i(4 * i + EDGE, 4 * j + EDGE)
    return best


@wp.func
def overlap(hulls: Hulls, m: Meeting, back: Meeting, most: int) -> tuple[Closest, wp.vec2i]:
    """The answer for two solids that touch or overlap, in the frame of Y, and the features it lies between."""
    axis = least_axis(hulls, m, back)
    out = Closest()
    out.normal = axis.normal
    out.separation = axis.separation
    size = wp.length(vertex_place(hulls, m.x, 0) - m.x.center) + wp.length(vertex_place(hulls, m.y, 0) - m.y.center)
    shift = (size - axis.separation) * axis.normal
    apart = shifted(m, shift)
    turn = turned(apart)
    pair, state, _steps = walk(hulls, apart, turn, wp.vec2i(axis.x, axis.y), most)
    if state != APART:
        pair = nearest_pair(hulls, apart, turn)
    found = closest_of(hulls, apart, turn, pair)
    out.point_a = found.point_a - shift
    out.point_b = found.point_b
    return out, pair


@wp.func
def closest_cores(hulls: Hulls, m: Meeting, start: wp.vec2i, most: int) -> tuple[Closest, wp.vec2i, int]:
    """The answer for the cores X, as A, and Y, which has faces, in the frame of Y; the features, and the steps."""
    back = turned(m)
    pair, state, steps = walk(hulls, m, back, start, most)
    out = Closest()
    # A walk ends at a face only where it is seen from outside; its normal holds however near the vertex is.
    certain = state == APART and (pair[0] % 4 == FACE or pair[1] % 4 == FACE)
    if state == MOVED:
        axis = least_axis(hulls, m, back)
        state = int(INSIDE)
        if axis.separation > real(0.0):
            state = int(APART)
            pair = nearest_pair(hulls, m, back)
    if state == APART:
        out = closest_of(hulls, m, back, pair)
        size = wp.length(out.point_a) + wp.length(out.point_a - m.t) + wp.length(m.t)
        if out.separation <= TOUCHING * size and not certain:
            state = int(INSIDE)
    if state == INSIDE:
        out, pair = overlap(hulls, m, back, most)
    return out, pair, steps


@wp.func
def closest_by_vclip(a: Solid, b: Solid, hulls: Hulls, start: wp.vec2i) -> tuple[Closest, wp.vec2i, int]:
    """How two solids meet: the answer, the features it lies between, and the number of steps of the walk.

    Args:
        a: A sphere, a capsule, a box or a hull.
        b: Another one; one of the two is a box or a hull.
        hulls: Corners, edges and faces.
        start: Features to start from; the answer hardly depends on them. Zeros start from scratch.
    """
    x = a
    y = b
    features = start
    turn = b.kind == SPHERE or b.kind == CAPSULE
    if turn:
        x = b
        y = a
        features = wp.vec2i(start[1], start[0])
    m = meeting_of(x, y, hulls)
    core, pair, steps = closest_cores(hulls, m, features, MOST_STEPS + m.x.vertices + m.y.vertices)
    core.normal = y.rotation * core.normal
    core.point_a = y.position + y.rotation * core.point_a
    core.point_b = y.position + y.rotation * core.point_b
    if turn:
        core = swapped(core)
        pair = wp.vec2i(pair[1], pair[0])
    return with_shells(core, a.round, b.round), pair, steps


@kernel
def find_by_vclip(
    items: Items,
    colliders: Colliders,
    places: Places,
    hulls: Hulls,
    handles: wp.array[wp.int32],
    max_gap: real,
    found: Found,
    features: Features,
) -> None:
    """Look at the items of the kinds this method handles, unless they are certainly farther apart than they may be."""
    i = wp.tid()
    if i >= items.needed[0]:
        return
    a = items.a[i]
    b = items.b[i]
    if handles[KINDS * colliders.kind[a] + colliders.kind[b]] == 0 or found.settled[i] == 1:
        return
    origin = places.position[a]
    if (
        wp.length(places.position[b] - origin)
        > colliders.reach[a] + colliders.reach[b] + max_gap + items.speculative_margin[i]
    ):
        found.separation[i] = FAR
        return
    x = load(colliders, places, a, items.part[i], origin)
    y = load(colliders, places, b, items.part[i], origin)
    start = wp.vec2i(features.a[i], features.b[i])
    answer, pair, steps = closest_by_vclip(x, y, hulls, start)
    write_found(found, i, answer)
    features.a[i] = pair[0]
    features.b[i] = pair[1]
    features.steps[i] = steps


@kernel
def forget(features: Features) -> None:
    """Let every walk start from scratch."""
    i = wp.tid()
    features.a[i] = 0
    features.b[i] = 0


@sealed
@dataclass(frozen=True)
class VClip:
    """V-Clip for boxes and hulls among each other and against spheres and capsules; GJK for what is left."""

    cheap: ClassVar[frozenset[tuple[int, int]]] = frozenset()
    kinds: ClassVar[frozenset[tuple[int, int]]] = frozenset(
        (low, high) for low in (SPHERE, CAPSULE, BOX, HULL) for high in (BOX, HULL) if low <= high
    )

    def record(
        self,
        program: Any,
        geometry: Any,
        items: Items,
        places: Places,
        max_gap: float,
        found: Found,
        *,
        handles: Any = None,
        features: "Features | None" = None,
    ) -> None:
        """Record the launches that write the answers of the items.

        Args:
            program: Where to record.
            geometry: Colliders and their tables.
            items: The items to test.
            places: Where the colliders are.
            max_gap: Contact distance [m]; pairs that are certainly farther apart are not looked at.
            found: Where the answers go.
            handles: Which ordered pairs of kinds to do (81,), first kind times nine plus second; by default ``kinds``.
            features: Features to start from and to keep; by default every walk starts from scratch.
        """
        capacity, device = int(items.a.shape[0]), geometry.device
        if handles is None:
            handles = wp.array(self.marks(), dtype=wp.int32, device=device)
        if features is None:
            features = allocate(Features, {"items": capacity}, device)
            program.launch(forget, capacity, features)
        inputs = (items, geometry.colliders, places, geometry.hulls, handles, max_gap, found, features)
        program.launch(find_by_vclip, capacity, *inputs)
        GJK(leave_out=self.kinds).record(program, geometry, items, places, max_gap, found)

    @classmethod
    def marks(cls) -> "np.ndarray[Any, Any]":
        """Which ordered pairs of kinds V-Clip can do, of shape (81,)."""
        table = np.zeros((KINDS, KINDS), dtype=np.int32)
        for low, high in cls.kinds:
            table[low, high] = table[high, low] = 1
        return table.ravel()
