"""Pairs that have gone far against each other since contacts were found: they are found anew where they are.

    |δ_a − δ_b| > L        δ how far the points of a contact have gone with either body, see ``carry``

What falls at 10 m/s goes a hundredth of a metre in a step of a millisecond, and tumbles past the edge it came upon.
Carried along its contact would be the one with that edge still. Such pairs are few; they get the regions of where they
are, in the rows that they have. Of more points four rows or more get those that keep the area, as corners that are not
near come down when solids turn, and fewer rows the nearest; before that, of points in nearly one place the deepest
stays alone, so that both ends of an edge have a row. Of fewer points the last one is there again. Where solids are
apart by now their points are as far as that.

Whether a pair is found anew, and what is found, is a function of anchors and poses, as contacts that are carried are.
Triangles of meshes are carried only.

Cost: that of finding for these pairs, a look at every other item for each method; nothing where nobody has gone far.
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

# Rows that can span an area, and the part of what lies ahead within which points are to.
SPAN = wp.constant(4)
WITHIN = wp.constant(real(0.3))
# Part of how wide a region is within which corners are in one place.
CLOSE = wp.constant(real(0.1))


@wp.struct
class RefreshedManifolds:
    """Regions of where solids are now; corners this much less deep than the deepest are as good [m]."""

    manifolds: Manifolds
    slack: real


@wp.func
def drop_far_points(corner: wp.array[vec4], count: int, most: int, limit: real) -> int:
    """Leave out the farthest of corners that are too far until at most this many are left; returns how many are."""
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
    """Square of the distance of two corners in the plane of a region."""
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])


@wp.func
def merge_close_points(corner: wp.array[vec4], count: int, most: int) -> int:
    """Leave out the less deep of corners that are nearly in one place until at most this many are left."""
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
    """The points of a region, as many as there are rows: of those up to a limit the ones that keep the area."""
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
    """Row of the last time that a contact of an item had; −1 for none.

    It is the row it is in where contacts were carried along, and one in its place where all were listed anew.
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
    """Write the points of a region into the rows that its item has."""
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
    """Let the contacts of items that have gone far be those that were found where they are."""
    corner = wp.zeros(shape=(wp.static(CORNERS),), dtype=vec4)
    for m in range(wp.tid(), wp.min(update.items.needed[0], update.items.a.shape[0]), lanes):
        if update.near[m] == 0:
            refresh_manifold(update, found, refreshed, corner, m)


class ManifoldRefresher:
    """Finds pairs anew that have gone far against each other since contacts were found.

    Args:
        geometry: The colliders.
        narrowphase: What answers how solids lie to each other.
        update: What is carried.
        output: What is wanted of regions.
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
        # What is not far has its answer.
        self.found.settled = update.near
        self.items = Items()
        for name, array in arrays.each(update.items):
            setattr(self.items, name, array)
        self.items.kept = update.near

    def record(self, program: Any) -> None:
        """Record what finds them, after all contacts were carried along."""
        given = (self.geometry, self.items, self.update.poses)
        with program.when(self.update.far):
            self.narrowphase.record(program, *given, self.output.distance, self.found)
            record_item_manifolds(program, *given, self.found, self.output)
            program.share(refresh_manifolds, len(self.items.a), self.update, self.found, self.refreshed)
