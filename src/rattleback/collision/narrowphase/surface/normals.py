"""Triangles as parts of a surface: answers for single triangles made those for the surface they belong to.

    n · (x − q) ≤ 0   for every corner x around q      (valid)
    s = min { n_t · (y − q) : y in the other solid, over the triangle }      (replaced)

q the nearest point of triangle t, n the normal there, n_t the triangle's own normal; ``over`` means within the prism
along n_t. The answer for a triangle is one for the surface where q is nearest within the surface too: on the face,
where n = n_t; on an edge or a corner, where no triangle around it rises along n. That admits just the arc between the
two normals along a ridge, and nothing along a flat or a hollow edge. There, and where EPA leaves a flat triangle by its
border or its back, the normal becomes n_t and the separation is measured along it over the triangle; a solid that is
not over the triangle does not touch it. So a tessellated plane has one normal.

Behind the triangles of a closed mesh or a height field there is solid: a solid that has sunk in is moved out along n_t,
as long as its far side is still in front. One that lies wholly inside has no contacts; see ``surface_inside``. A sheet,
that is, an open mesh, has two sides, each with its own n_t; the one that the middle of the other solid is on counts.
Beyond the rim of a height field there is nothing.

Where the triangles of a pair bulge, ``surface_ridges`` knows the shortest way out. An answer that touches is kept if
it has that normal, or one beside it and is no deeper. Elsewhere the other triangles of the same pair tell which of the
replaced answers are to be trusted. One about as deep as EPA found is. Any other is kept if a trusted answer is about as
deep in about the same direction: else the triangle may be the side wall of what the solid stands on. Of those that EPA
left by the back with less than most of the solid behind, and of all where no trusted one touches, the direction of the
shallowest is kept. What is refused gets the largest separation. A solid that has sunk into a ridge and is over neither
of its triangles has an answer of the arc between their normals; see ``surface_arcs``.

Limits: where a solid reaches deeper than the edges of the triangles are long into a surface that has ridges and hollows
side by side, the normals beside a ridge stand in for those of its arc, and depths may be √2 times too large, or those
of a part only. A sheet knows the side of the middle of the other solid, not the one it came from.

Two triangles that report one point of a round solid, because it is on their common edge, keep it once, in the triangle
of the lower number. Angular solids keep a manifold for every triangle they touch.

Cost: some 0.1 µs for an answer that stays, 1 µs for one that is replaced. Reference: derived here; compare Bender,
dissertation, §2.2.3.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, PlacedColliders
from rattleback.collision.geometry.solid import ELLIPSOID, MESH, SPHERE, Solid, load, middle, support
from rattleback.collision.geometry.surface_table import Surfaces
from rattleback.collision.manifold.clip import Faces, draw_lines, find_corners
from rattleback.collision.manifold.support_face import across, support_face
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.surface.edges import (
    ALIKE,
    BACK,
    DEEP,
    DOUBLE,
    EDGE,
    FACE,
    INSIDE,
    NEAR,
    NONE,
    ON_FACE,
    SIDE,
    UNDER,
    Triangle,
    inward,
    judge,
    triangle_at,
)
from rattleback.collision.narrowphase.surface.inside import Verdicts, look_inside
from rattleback.collision.narrowphase.surface.ridge_edges import over_edges
from rattleback.collision.narrowphase.surface.ridges import Ridges, record_ridges
from rattleback.core.arrays import allocate
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3, vec4

# Depths that differ by no more than this factor are about the same; most of a solid is this part of its width.
AS_DEEP = wp.constant(real(2.0))
MOST = wp.constant(real(0.75))
# Angle by which a normal may differ from that of the way out of a ridge and stand beside it [rad].
BESIDE = wp.constant(real(0.45))


@wp.func
def is_over(t: Triangle, hulls: Hulls, surfaces: Surfaces, x: vec3) -> bool:
    """Whether a point lies over the triangle or behind it, along its normal."""
    for k in range(3):
        if inward(t, hulls, surfaces, 3 * t.part + k, x) < -NEAR * t.size * real(0.01):
            return False
    return True


@wp.func
def along_normal(t: Triangle, x: vec3) -> Closest:
    """The cores' answer along the triangle's normal, at a point x of the other core."""
    out = Closest()
    out.normal = t.normal
    out.separation = wp.dot(t.normal, x - t.corner)
    out.point_a = x
    out.point_b = x - out.separation * t.normal
    return out


@wp.func(inline=False)
def lowest_over(t: Triangle, hulls: Hulls, surfaces: Surfaces, other: Solid, low: vec3) -> Closest:
    """The cores' answer along the triangle's normal; the largest separation where the solid is not over the triangle.

    Args:
        t: The triangle.
        hulls: Corners.
        surfaces: The surfaces.
        other: The other solid, A of the answer.
        low: Its lowest point along the normal.
    """
    if is_over(t, hulls, surfaces, low):
        return along_normal(t, low)
    n = t.normal
    out = Closest()
    out.normal = n
    out.separation = LARGE
    view = across(n)
    point = wp.zeros(shape=(64,), dtype=vec3)
    line = wp.zeros(shape=(64,), dtype=vec4)
    corner = wp.zeros(shape=(40,), dtype=vec4)
    of_a = support_face(other, hulls, view, real(-1.0), point)
    if of_a.count < 2:
        return out
    of_b = support_face(t.body, hulls, view, real(1.0), point)
    draw_lines(point, line, 0, of_a.count)
    draw_lines(point, line, 1, of_b.count)
    faces = Faces()
    faces.of_a = of_a.count
    faces.of_b = of_b.count
    faces.plane_a = of_a.plane
    faces.plane_b = of_b.plane
    faces.max_gap = LARGE
    faces.size = t.size
    for k in range(find_corners(faces, point, line, corner)):
        x = corner[k]
        if x[2] < out.separation:
            out.separation = x[2]
            height = of_b.plane[0] * x[0] + of_b.plane[1] * x[1] + of_b.plane[2]
            out.point_b = wp.transpose(view) * vec3(x[0], x[1], height)
            out.point_a = out.point_b + x[2] * n
    return out


@wp.func
def replaced_kind(t: Triangle, hulls: Hulls, other: Solid, low: vec3, core: Closest, facing: real) -> int:
    """What a replaced answer is, from the cores' answer along the normal and how the first one faced it."""
    n = t.normal
    top = wp.dot(n, support(other, hulls, n) - t.corner) + other.round
    if top <= real(0.0):
        return NONE
    if facing > -ALIKE:
        return SIDE
    width = top - wp.dot(n, low - t.corner) + other.round
    return wp.where(other.round - core.separation > MOST * width, DEEP, BACK)


@wp.func
def mend_item(
    items: Items, placed: PlacedColliders, surfaces: Surfaces, max_gap: real, found: Found, verdicts: Verdicts, i: int
) -> None:
    """Judge the answer of a triangle and replace it if it is not valid."""
    part = items.part[i]
    reach = max_gap + items.speculative_margin[i]
    if part < 0 or found.separation[i] > reach:
        return
    if verdicts.inside[items.first[items.pair[i]]] == 1:
        found.separation[i] = LARGE
        return
    colliders = placed.colliders
    places = placed.places
    hulls = placed.hulls
    a = items.a[i]
    turned = colliders.kind[a] == MESH
    mesh = wp.where(turned, a, items.b[i])
    other = load(colliders, places, wp.where(turned, items.b[i], a), part, places.position[a])
    body = load(colliders, places, mesh, part, places.position[a])
    t = triangle_at(colliders.hull[mesh], part, body, hulls, surfaces)
    if t.is_solid == 0 and wp.dot(t.normal, middle(other, hulls) - t.corner) < real(0.0):
        t.normal = -t.normal
    if wp.length_sq(t.normal) == real(0.0):
        found.separation[i] = LARGE
        return
    n = wp.where(turned, -found.normal[i], found.normal[i])
    q = wp.where(turned, found.point_a[i], found.point_b[i]) - body.round * n
    core = along_normal(t, wp.where(turned, found.point_b[i], found.point_a[i]) + other.round * n)
    kind = int(FACE)
    if wp.length_sq(n) < real(0.5):
        kind = NONE
    elif wp.length(n - t.normal) > ON_FACE * NEAR:
        kind = judge(t, hulls, surfaces, n, q)
        if kind == INSIDE:
            kind = NONE
    low = support(other, hulls, -t.normal)
    if kind == FACE and (
        found.separation[i] + other.round + body.round <= real(0.0) or is_over(t, hulls, surfaces, low)
    ):
        core = along_normal(t, low)
    elif kind == NONE:
        core = lowest_over(t, hulls, surfaces, other, low)
        if core.separation == LARGE and found.separation[i] <= real(0.0):
            core = over_edges(t, hulls, surfaces, other)
        kind = FACE
        if core.separation < real(0.0):
            kind = replaced_kind(t, hulls, other, low, core, wp.dot(n, t.normal))
            if found.separation[i] > max_gap:
                kind = NONE
            elif found.separation[i] > real(0.0) and kind != NONE:
                kind = UNDER
            elif kind == SIDE and core.separation - other.round - body.round >= AS_DEEP * found.separation[i]:
                kind = FACE
    if kind == FACE and core.separation - other.round - body.round > reach:
        kind = NONE
    if kind == NONE:
        found.separation[i] = LARGE
    elif kind != EDGE and kind != DOUBLE:
        answer = with_shells(core, other.round, body.round)
        if turned:
            answer = swapped(answer)
        write_found(found, i, answer)
    verdicts.kind[i] = kind


@kernel
def mend(
    items: Items,
    placed: PlacedColliders,
    surfaces: Surfaces,
    max_gap: real,
    found: Found,
    verdicts: Verdicts,
    lanes: int,
) -> None:
    """Judge the answers of all triangles and replace those that are not valid."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        verdicts.kind[i] = NONE
        verdicts.kept[i] = 1
        mend_item(items, placed, surfaces, max_gap, found, verdicts, i)


@wp.func
def is_valid(kind: int) -> bool:
    """Whether an answer was valid from the start."""
    return kind == FACE or kind == EDGE or kind == DOUBLE


@wp.func
def is_trusted(items: Items, found: Found, verdicts: Verdicts, max_gap: real, i: int) -> int:
    """Whether a replaced answer is to be trusted, by what the other triangles of its pair say; 1 or 0."""
    kind = verdicts.kind[i]
    n = found.normal[i]
    depth = -found.separation[i]
    touching = bool(False)
    as_deep = bool(False)
    shallowest = int(i)
    pair = items.pair[i]
    for j in range(items.first[pair], items.first[pair + 1]):
        other = verdicts.kind[j]
        if is_valid(other) and found.separation[j] <= real(0.0):
            touching = True
            if wp.dot(n, found.normal[j]) >= ALIKE and depth <= max_gap - AS_DEEP * found.separation[j]:
                as_deep = True
        if (other == SIDE or other == BACK or other == DEEP) and found.separation[j] > found.separation[shallowest]:
            shallowest = j
    if as_deep or kind == UNDER:
        return wp.where(as_deep, 1, 0)
    alike = wp.dot(n, found.normal[shallowest]) >= ALIKE
    return wp.where(alike and (not touching or kind == BACK), 1, 0)


@wp.func
def fits(ridges: Ridges, answer: Closest, kind: int, first: int, shells: real) -> int:
    """Whether an answer, out of the surface, agrees with the way out of the ridge its pair is in; 1 or 0."""
    if answer.separation > real(0.0):
        return wp.where(is_valid(kind), 1, 0)
    turn = wp.length(answer.normal - ridges.normal[first])
    deeper = ridges.separation[first] - shells - answer.separation
    return wp.where(turn <= NEAR or (turn <= BESIDE and deeper <= -NEAR * answer.separation), 1, 0)


@wp.func
def is_first(items: Items, found: Found, verdicts: Verdicts, near: real, i: int) -> int:
    """Whether no triangle of a lower number in the same pair has the same points and normal; 1 or 0."""
    for j in range(items.first[items.pair[i]], i):
        alike = is_valid(verdicts.kind[j]) == is_valid(verdicts.kind[i])
        alike = alike and verdicts.kind[j] != DOUBLE and verdicts.kind[j] != NONE
        alike = alike and wp.length(found.normal[i] - found.normal[j]) <= real(2.0) * ON_FACE * NEAR
        alike = alike and wp.length(found.point_a[i] - found.point_a[j]) <= near
        if alike and wp.length(found.point_b[i] - found.point_b[j]) <= near:
            return 0
    return 1


@wp.func
def stays(
    items: Items, colliders: Colliders, max_gap: real, found: Found, ridges: Ridges, verdicts: Verdicts, i: int
) -> int:
    """Whether the answer of a triangle stays that is none of another one; 1 or 0."""
    kind = verdicts.kind[i]
    other = items.a[i]
    turned = colliders.kind[other] == MESH
    if turned:
        other = items.b[i]
    kept = int(1)
    first = items.first[items.pair[i]]
    if ridges.carrier[first] >= 0:
        answer = Closest()
        answer.separation = found.separation[i]
        answer.normal = wp.where(turned, -found.normal[i], found.normal[i])
        kept = fits(ridges, answer, kind, first, colliders.round[items.a[i]] + colliders.round[items.b[i]])
    elif not is_valid(kind):
        kept = is_trusted(items, found, verdicts, max_gap, i)
    shape = colliders.kind[other]
    if kept == 1 and (shape == SPHERE or shape == ELLIPSOID):
        kept = is_first(items, found, verdicts, real(2.0) * ON_FACE * NEAR * colliders.reach[other], i)
    return kept


@kernel
def settle(
    items: Items, colliders: Colliders, max_gap: real, found: Found, ridges: Ridges, verdicts: Verdicts, lanes: int
) -> None:
    """Say which answers of triangles stay."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        kind = verdicts.kind[i]
        if kind == DOUBLE:
            verdicts.kept[i] = 0
        elif kind != NONE:
            verdicts.kept[i] = stays(items, colliders, max_gap, found, ridges, verdicts, i)


@wp.func
def write_way_out(items: Items, colliders: Colliders, ridges: Ridges, found: Found, first: int) -> None:
    """Write the way out of a ridge as the answer of the item that carries it."""
    i = ridges.carrier[first]
    a = items.a[i]
    b = items.b[i]
    core = Closest()
    core.separation = ridges.separation[first]
    core.normal = ridges.normal[first]
    core.point_a = ridges.on_solid[first]
    core.point_b = ridges.on_surface[first]
    if colliders.kind[a] == MESH:
        write_found(found, i, swapped(with_shells(core, colliders.round[b], colliders.round[a])))
    else:
        write_found(found, i, with_shells(core, colliders.round[a], colliders.round[b]))


@kernel
def finish(items: Items, colliders: Colliders, ridges: Ridges, verdicts: Verdicts, found: Found, lanes: int) -> None:
    """Take away the answers that do not stay, and write those of ridges."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.part[i] >= 0:
            if verdicts.kept[i] == 0:
                found.separation[i] = LARGE
            first = items.first[items.pair[i]]
            if ridges.carrier[first] == i:
                write_way_out(items, colliders, ridges, found, first)


def record_surface_normals(program: Any, geometry: Any, items: Any, places: Any, max_gap: float, found: Any) -> None:
    """Record the launches that make answers for triangles those for their surfaces; without a mesh, none.

    Args:
        program: Where to record.
        geometry: Colliders and their tables.
        items: The items tested.
        places: Where the colliders are.
        max_gap: Contact distance [m].
        found: The answers, changed in place.
    """
    if int(MESH) not in geometry.kinds:
        return
    count = int(items.a.shape[0])
    verdicts = allocate(Verdicts, {"items": count}, geometry.device)
    placed = PlacedColliders()
    placed.colliders, placed.places, placed.hulls = geometry.colliders, places, geometry.hulls
    ridges = record_ridges(program, geometry, items, places, found)
    program.share(look_inside, count, items, placed, geometry.surfaces, max_gap, found, verdicts)
    program.share(mend, count, items, placed, geometry.surfaces, max_gap, found, verdicts)
    program.share(settle, count, items, geometry.colliders, max_gap, found, ridges, verdicts)
    program.share(finish, count, items, geometry.colliders, ridges, verdicts, found)
