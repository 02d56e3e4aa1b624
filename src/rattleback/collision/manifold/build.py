"""Manifold construction: from normal and nearest points of two solids to their contact points.

    support faces → clipped overlap → feature ids → reduction → points (p, gap, feature id)

The nearest points are the only contact point where a solid is round or no corner of the overlap is near enough, and
one more corner where all others are less deep. Two boxes have their own construction (``box_box``).
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import PlacedColliders, Places
from rattleback.collision.geometry.solid import BOX, MESH, PLANE, Solid, load
from rattleback.collision.manifold.box_box import build_box_manifolds
from rattleback.collision.manifold.clip import (
    SHALLOW,
    SUNK,
    Faces,
    Manifolds,
    add_deepest,
    assign_feature_ids,
    draw_lines,
    find_corners,
)
from rattleback.collision.manifold.limits import NO_VERTEX, ManifoldLimits, points_of
from rattleback.collision.manifold.reduce import SLACK, reduce_manifold
from rattleback.collision.manifold.reduce_surface import record_surface_reduction
from rattleback.collision.manifold.support_face import LEVEL, across, support_face
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3, vec4

# Most corners of a support face, and of an overlap before reduction.
SIDES, CORNERS = 32, 40


@wp.func
def cut_out(plane: Solid, x: vec3, reach: real) -> Solid:
    """The square of a half-space's boundary below x, wide enough for a solid of this reach."""
    up = vec3(plane.rotation[0, 2], plane.rotation[1, 2], plane.rotation[2, 2])
    square = plane
    square.position = x - wp.dot(up, x - plane.position) * up
    square.size = vec3(real(4.0) * reach, real(4.0) * reach, real(0.0))
    return square


@wp.func
def shortest(point: wp.array[vec3], of_b: int, n: int) -> real:
    """Length of the shorter of the first two edges of a support face."""
    p = point[2 + of_b] - point[of_b]
    square = p[0] * p[0] + p[1] * p[1]
    if n > 2:
        q = point[4 + of_b] - point[2 + of_b]
        square = wp.min(square, q[0] * q[0] + q[1] * q[1])
    return wp.sqrt(square)


@wp.func(inline=False)
def build_manifold(
    items: Items, placed: PlacedColliders, found: Found, limits: ManifoldLimits, manifolds: Manifolds, m: int
) -> None:
    """The manifold of one item; a function of its own because its arrays are cleared at every call."""
    i = items.a[m]
    j = items.b[m]
    separation = found.separation[m]
    reach = limits.max_gap + items.speculative_margin[m]
    origin = placed.places.position[i]
    a = load(placed.colliders, placed.places, i, items.part[m], origin)
    b = load(placed.colliders, placed.places, j, items.part[m], origin)
    if a.kind == PLANE:
        a = cut_out(a, b.position, placed.colliders.reach[j])
    if b.kind == PLANE:
        b = cut_out(b, a.position, placed.colliders.reach[i])
    n = found.normal[m]
    view = across(n)
    point = wp.zeros(shape=(wp.static(2 * SIDES),), dtype=vec3)
    line = wp.zeros(shape=(wp.static(2 * SIDES),), dtype=vec4)
    corner = wp.zeros(shape=(wp.static(CORNERS),), dtype=vec4)
    of_a = support_face(a, placed.hulls, view, real(-1.0), point)
    of_b = support_face(b, placed.hulls, view, real(1.0), point)
    count = int(0)
    shells = a.round + b.round
    middle = real(0.5) * (found.point_a[m] + found.point_b[m])
    seen = view * middle
    nearest = vec4(seen[0], seen[1], separation + shells, real(NO_VERTEX))
    if of_a.count > 1 and of_b.count > 1:
        draw_lines(point, line, 0, of_a.count)
        draw_lines(point, line, 1, of_b.count)
        faces = Faces()
        faces.of_a = of_a.count
        faces.of_b = of_b.count
        faces.plane_a = of_a.plane
        faces.plane_b = of_b.plane
        faces.max_gap = reach + shells
        faces.size = wp.min(shortest(point, 0, of_a.count), shortest(point, 1, of_b.count))
        count = find_corners(faces, point, line, corner)
        if count > 0:
            shallow = SHALLOW * faces.size
            tilt = of_a.plane - of_b.plane
            if tilt[0] * tilt[0] + tilt[1] * tilt[1] < real(4.0) * LEVEL * LEVEL:
                shallow = wp.max(shallow, SUNK * limits.max_gap)
            count = add_deepest(corner, count, nearest, shallow)
        assign_feature_ids(faces, point, corner, count)
        count = reduce_manifold(corner, count, points_of(limits, items.margin_class[m]), SLACK * limits.max_gap)
    if count == 0:
        corner[0] = nearest
        count = 1
    first = m * limits.most
    manifolds.normal[m] = n
    manifolds.points[m] = count
    u = vec3(view[0, 0], view[0, 1], view[0, 2])
    v = vec3(view[1, 0], view[1, 1], view[1, 2])
    for k in range(count):
        x = corner[k]
        s = x[2] - shells
        low = of_b.plane[0] * x[0] + of_b.plane[1] * x[1] + of_b.plane[2] + b.round
        spot = x[0] * u + x[1] * v + (low + real(0.5) * s) * n
        if x[3] == real(NO_VERTEX):
            spot = middle
        manifolds.point[first + k] = origin + spot
        manifolds.separation[first + k] = s
        manifolds.feature[first + k] = int(x[3])


@kernel
def build_manifolds(
    items: Items, placed: PlacedColliders, found: Found, limits: ManifoldLimits, manifolds: Manifolds, lanes: int
) -> None:
    """The manifold of every item but those of two boxes."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.kept[m] == 1:
            continue
        if placed.colliders.kind[items.a[m]] == BOX and placed.colliders.kind[items.b[m]] == BOX:
            continue
        manifolds.points[m] = 0
        manifolds.sensitivity[m] = real(0.0)
        if found.separation[m] <= limits.max_gap + items.speculative_margin[m]:
            build_manifold(items, placed, found, limits, manifolds, m)


def record_item_manifolds(
    program: Any, geometry: Any, items: Items, places: Places, found: Found, output: "ManifoldOutput"
) -> None:
    """Record the launches that build the manifold of every item, each on its own."""
    many, placed = len(items.a), PlacedColliders()
    placed.colliders, placed.places, placed.hulls = geometry.colliders, places, geometry.hulls
    if BOX in geometry.kinds:
        program.share(
            build_box_manifolds, many, items, geometry.colliders, places, found, output.limits(), output.manifolds
        )
    if geometry.kinds != (BOX,):
        program.share(build_manifolds, many, items, placed, found, output.limits(), output.manifolds)


def record_manifolds(
    program: Any, geometry: Any, items: Items, places: Places, found: Found, output: "ManifoldOutput"
) -> None:
    """Record the launches that build the manifold of every item; those of a surface are reduced together."""
    record_item_manifolds(program, geometry, items, places, found, output)
    if MESH in geometry.kinds:
        if output.speculative is not None:
            output.speculative.record_points(program, items, output.slots, output.manifolds)
        record_surface_reduction(program, items, output.limits(), output.manifolds, geometry.device)


@dataclass(frozen=True)
class ManifoldOutput:
    """Where manifolds are written, and their limits.

    Attributes:
        manifolds: The manifolds.
        distance: Surfaces no farther apart than this are in contact [m].
        points: Most points of a manifold; a speculative one may have twice as many.
        speculative: What makes speculative contacts; None for no speculative margin.
    """

    manifolds: Manifolds
    distance: float
    points: int
    speculative: Any = None

    def limits(self) -> ManifoldLimits:
        """The limits, as kernels read them."""
        result = ManifoldLimits()
        result.max_gap, result.most, result.few = self.distance, self.slots, self.points
        return result

    @property
    def slots(self) -> int:
        """Slots of an item."""
        return self.points if self.speculative is None else 2 * self.points
