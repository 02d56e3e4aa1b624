"""Which solids lie wholly inside a surface: those have no contacts with it.

    d = min { d_t } > 0      n · Σ α_t n_t < 0

d_t distances of the solid from the triangles of its pair, n the normal at the nearest point q of the nearest one, n_t
normals of the triangles around q, α_t their angles there. A solid that touches no triangle is on one side of all of
them, and the sum at q tells which, as it does for a point. No single triangle can tell: one across a notch has the
solid in front of it, though the solid is behind the wall between them.

Only surfaces that are solid have an inside. Where the nearest triangle is farther than contacts are looked for, or so
near that its normal may be rounding, the solid counts as outside. Cost: one pass over the triangles of a pair and one
walk around a point. Reference: Bærentzen and Aanæs (2005), Signed distance computation using the angle weighted
pseudonormal.
"""

import warp as wp

from rattleback.collision.geometry.colliders import PlacedColliders
from rattleback.collision.geometry.solid import MESH, load
from rattleback.collision.geometry.surface_table import Surfaces
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.surface.edges import INSIDE, NEAR, ON_FACE, judge, triangle_at
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real


@group(axis="items")
class Verdicts:
    """What is thought of the answers."""

    kind: wp.int32 = field("1", "what the answer is")
    kept: wp.int32 = field("1", "1 where it stays")
    inside: wp.int32 = field("1", "1 in the row of the first item of a pair whose solid lies inside the surface")


@wp.func
def nearest_item(items: Items, found: Found, first: int) -> int:
    """The item with the least separation of the pair that begins with an item."""
    nearest = int(first)
    for i in range(first + 1, items.first[items.pair[first] + 1]):
        if found.separation[i] < found.separation[nearest]:
            nearest = i
    return nearest


@wp.func(inline=False)
def is_inside(items: Items, placed: PlacedColliders, surfaces: Surfaces, max_gap: real, found: Found, i: int) -> bool:
    """Whether the solid of an item, the nearest one of its pair, touches nothing and lies inside the surface."""
    a = items.a[i]
    turned = placed.colliders.kind[a] == MESH
    mesh = wp.where(turned, a, items.b[i])
    surface = placed.colliders.hull[mesh]
    if surfaces.solid[surface] == 0 or found.separation[i] > max_gap + items.speculative_margin[i]:
        return False
    body = load(placed.colliders, placed.places, mesh, items.part[i], placed.places.position[a])
    t = triangle_at(surface, items.part[i], body, placed.hulls, surfaces)
    n = wp.where(turned, -found.normal[i], found.normal[i])
    if found.separation[i] <= NEAR * t.size or wp.length(n - t.normal) <= ON_FACE * NEAR:
        return False
    q = wp.where(turned, found.point_a[i], found.point_b[i]) - body.round * n
    return judge(t, placed.hulls, surfaces, n, q) == INSIDE


@kernel
def look_inside(
    items: Items,
    placed: PlacedColliders,
    surfaces: Surfaces,
    max_gap: real,
    found: Found,
    verdicts: Verdicts,
    lanes: int,
) -> None:
    """Say of every pair with a surface, in the row of its first item, whether the other solid lies inside."""
    for first in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.part[first] >= 0 and items.first[items.pair[first]] == first:
            nearest = nearest_item(items, found, first)
            verdicts.inside[first] = wp.where(is_inside(items, placed, surfaces, max_gap, found, nearest), 1, 0)
