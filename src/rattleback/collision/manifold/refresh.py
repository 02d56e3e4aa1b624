"""Manifold refresh: pairs that have slipped far since the last detection get a new manifold at their present poses.

    |δ_a − δ_b| > L        δ displacement of the points of a contact with either body, see ``update``

A body that falls at 10 m/s moves a hundredth of a metre in a step of a millisecond, and tumbles past the edge it met.
Its updated contact would still be the one with that edge. Such pairs are few. They get the manifold of their present
poses in the rows that they have. With more points than rows, points in nearly one place are merged into the deepest of
them, so that both ends of an edge keep a row; then four rows or more take the points that keep the area, and fewer rows
the nearest points. With fewer points than rows the last point is repeated. Where the solids are apart their points get
that gap.

Which pairs are refreshed, and their points, are a function of reference poses and poses, as updated contacts are.
Triangles of meshes are only updated.

Cost: detection of these pairs, and one test of every other item for each narrow-phase method; nothing without slip.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.manifold.build import CORNERS, ManifoldOutput, record_item_manifolds
from rattleback.collision.manifold.clip import Manifolds
from rattleback.collision.manifold.limits import FEATURE_IDS
from rattleback.collision.manifold.match import is_of_same_item, previous_row
from rattleback.collision.manifold.reduce import SLACK, reduce_manifold
from rattleback.collision.manifold.support_face import across
from rattleback.collision.manifold.update import ManifoldUpdate
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec4

# Rows that can span an area, and the part of the speculative margin within which points may span it.
SPAN = wp.constant(4)
WITHIN = wp.constant(real(0.3))
# Part of the width of a manifold within which corners are in one place.
CLOSE = wp.constant(real(0.1))


@wp.struct
class RefreshedManifolds:
    """Manifolds at present poses; corners this much less deep than the deepest are as good [m]."""

    manifolds: Manifolds
    slack: real


@wp.func
def drop_far_points(corner: wp.array[vec4], count: int, most: int, limit: real) -> int:
    """Drop the corner with the largest gap above a limit until at most this many are left; returns how many are."""
    while count > most:
        farthest = int(0)
        for k in range(1, count):
            if corner[k][2] > corner[farthest][2]:
                farthest = k
        if corner[farthest][2] <= limit:
            return count
        count -= 1
        corner[farthest] = corner[count]
    return count


@wp.func
def apart(a: vec4, b: vec4) -> real:
    """Square of the distance of two corners in the plane of a manifold."""
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])


@wp.func
def merge_close_points(corner: wp.array[vec4], count: int, most: int) -> int:
    """Drop the less deep of corners that are nearly in one place until at most this many are left."""
    widest = real(0.0)
    for k in range(1, count):
        for j in range(k):
            widest = wp.max(widest, apart(corner[j], corner[k]))
    k = int(1)
    while k < count and count > most:
        twin = int(-1)
        for j in range(k):
            if apart(corner[j], corner[k]) < CLOSE * CLOSE * widest:
                twin = j
        if twin >= 0:
            if corner[k][2] < corner[twin][2]:
                corner[twin] = corner[k]
            count -= 1
            corner[k] = corner[count]
        else:
            k += 1
    return count


@wp.func
def choose_points(
    refreshed: RefreshedManifolds, m: int, slot: int, rows: int, limit: real, corner: wp.array[vec4]
) -> int:
    """The points of a manifold, as many as there are rows: of those up to a limit the ones that keep the area."""
    manifolds = refreshed.manifolds
    view = across(manifolds.normal[m])
    count = manifolds.points[m]
    for k in range(count):
        seen = view * manifolds.point[slot + k]
        corner[k] = vec4(seen[0], seen[1], manifolds.separation[slot + k], real(k))
    count = merge_close_points(corner, count, rows)
    count = drop_far_points(corner, count, rows, limit)
    return reduce_manifold(corner, count, rows, refreshed.slack)


@wp.func
def previous_row_of(update: ManifoldUpdate, m: int, begin: int, c: int) -> int:
    """Row of a contact of an item in the last step; −1 for none.

    After an update it is the row of the contact; after a detection, one in its place.
    """
    if update.contacts.carried[0] == 1:
        return c
    memory = update.memory
    a = update.items.a[m]
    row = previous_row(memory, update.items, m, begin - update.contacts.first[a]) + c - begin
    end = memory.first[a + 1]
    here = wp.min(row, memory.collider.shape[0] - 1)
    if row < end and is_of_same_item(memory, here, update.items.b[m], update.items.part[m]):
        return row
    return -1


@wp.func
def refresh_manifold(
    update: ManifoldUpdate, found: Found, refreshed: RefreshedManifolds, corner: wp.array[vec4], m: int
) -> None:
    """Write the points of a new manifold into the rows that its item has."""
    contacts = update.contacts
    manifolds = refreshed.manifolds
    slot = m * update.most
    begin = update.start[m]
    end = wp.min(update.start[m + 1], contacts.part.shape[0])
    limit = found.separation[m]
    if end - begin >= SPAN:
        limit += WITHIN * update.items.speculative_margin[m]
    count = choose_points(refreshed, m, slot, end - begin, limit, corner)
    for c in range(begin, end):
        contacts.previous[c] = previous_row_of(update, m, begin, c)
        if count == 0:
            contacts.separation[c] = wp.max(contacts.separation[c], found.separation[m])
            continue
        k = slot + int(corner[wp.min(c - begin, count - 1)][3])
        contacts.normal[c] = manifolds.normal[m]
        contacts.point[c] = manifolds.point[k]
        contacts.separation[c] = manifolds.separation[k]
        contacts.feature[c] = manifolds.feature[k] + FEATURE_IDS * update.items.margin_class[m]


@kernel
def refresh_manifolds(update: ManifoldUpdate, found: Found, refreshed: RefreshedManifolds, lanes: int) -> None:
    """Replace the contacts of items that have slipped far by those of their new manifolds."""
    corner = wp.zeros(shape=(wp.static(CORNERS),), dtype=vec4)
    for m in range(wp.tid(), wp.min(update.items.needed[0], update.items.a.shape[0]), lanes):
        if update.near[m] == 0:
            refresh_manifold(update, found, refreshed, corner, m)


class ManifoldRefresher:
    """Detects pairs again that have slipped far since the last detection.

    Args:
        geometry: The colliders.
        narrowphase: The narrow phase.
        update: What is updated.
        output: Limits of manifolds.
    """

    def __init__(self, geometry: Geometry, narrowphase: Any, update: ManifoldUpdate, output: ManifoldOutput) -> None:
        self.geometry, self.narrowphase, self.update = geometry, narrowphase, update
        counts = {"items": len(update.near), "slots": len(output.manifolds.point)}
        self.output = ManifoldOutput(
            arrays.allocate(Manifolds, counts, geometry.device), output.distance, output.points, output.speculative
        )
        self.refreshed = RefreshedManifolds()
        self.refreshed.manifolds, self.refreshed.slack = self.output.manifolds, float(SLACK) * output.distance
        self.found = arrays.allocate(Found, counts, geometry.device)
        # Items without slip keep their manifold.
        self.found.settled = update.near
        self.items = Items()
        for name, array in arrays.each(update.items):
            setattr(self.items, name, array)
        self.items.kept = update.near

    def record(self, program: Any) -> None:
        """Record the detection of these pairs, after all manifolds were updated."""
        given = (self.geometry, self.items, self.update.poses)
        with program.when(self.update.far):
            self.narrowphase.record(program, *given, self.output.distance, self.found)
            record_item_manifolds(program, *given, self.found, self.output)
            program.share(refresh_manifolds, len(self.items.a), self.update, self.found, self.refreshed)
