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
from rattleback.collision.manifold.build import CORNERS, Into, record_regions_of_solids
from rattleback.collision.manifold.clip import SLACK, Regions, thin_out
from rattleback.collision.manifold.limits import NAMES
from rattleback.collision.manifold.match import is_of, row_before
from rattleback.collision.manifold.support_face import across
from rattleback.collision.manifold.update import Carriage
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec4

# Rows that can span an area, and the part of what lies ahead within which points are to.
SPAN = wp.constant(4)
WITHIN = wp.constant(real(0.3))
# Part of how wide a region is within which corners are in one place.
TWINS = wp.constant(real(0.1))


@wp.struct
class Renewed:
    """Regions of where solids are now; corners this much less deep than the deepest are as good [m]."""

    regions: Regions
    slack: real


@wp.func
def leave_out_far(corner: wp.array[vec4], count: int, most: int, limit: real) -> int:
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
def leave_out_twins(corner: wp.array[vec4], count: int, most: int) -> int:
    """Leave out the less deep of corners that are nearly in one place until at most this many are left."""
    widest = real(0.0)
    for k in range(1, count):
        for j in range(k):
            widest = wp.max(widest, apart(corner[j], corner[k]))
    k = int(1)
    while k < count and count > most:
        twin = int(-1)
        for j in range(k):
            if apart(corner[j], corner[k]) < TWINS * TWINS * widest:
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
def choose_points(renewed: Renewed, m: int, slot: int, rows: int, limit: real, corner: wp.array[vec4]) -> int:
    """The points of a region, as many as there are rows: of those up to a limit the ones that keep the area."""
    regions = renewed.regions
    view = across(regions.normal[m])
    count = regions.points[m]
    for k in range(count):
        seen = view * regions.point[slot + k]
        corner[k] = vec4(seen[0], seen[1], regions.separation[slot + k], real(k))
    count = leave_out_twins(corner, count, rows)
    count = leave_out_far(corner, count, rows, limit)
    return thin_out(corner, count, rows, renewed.slack)


@wp.func
def row_held(carriage: Carriage, m: int, begin: int, c: int) -> int:
    """Row of the last time that a contact of an item had; −1 for none.

    It is the row it is in where contacts were carried along, and one in its place where all were listed anew.
    """
    if carriage.contacts.carried[0] == 1:
        return c
    memory = carriage.memory
    a = carriage.items.a[m]
    row = row_before(memory, carriage.items, m, begin - carriage.contacts.first[a]) + c - begin
    end = memory.first[a + 1]
    here = wp.min(row, memory.collider.shape[0] - 1)
    if row < end and is_of(memory, here, carriage.items.b[m], carriage.items.part[m]):
        return row
    return -1


@wp.func
def renew_item(carriage: Carriage, found: Found, renewed: Renewed, corner: wp.array[vec4], m: int) -> None:
    """Write the points of a region into the rows that its item has."""
    contacts = carriage.contacts
    regions = renewed.regions
    slot = m * carriage.most
    begin = carriage.start[m]
    end = wp.min(carriage.start[m + 1], contacts.part.shape[0])
    limit = found.separation[m]
    if end - begin >= SPAN:
        limit += WITHIN * carriage.items.ahead[m]
    count = choose_points(renewed, m, slot, end - begin, limit, corner)
    for c in range(begin, end):
        contacts.previous[c] = row_held(carriage, m, begin, c)
        if count == 0:
            contacts.separation[c] = wp.max(contacts.separation[c], found.separation[m])
            continue
        k = slot + int(corner[wp.min(c - begin, count - 1)][3])
        contacts.normal[c] = regions.normal[m]
        contacts.point[c] = regions.point[k]
        contacts.separation[c] = regions.separation[k]
        contacts.feature[c] = regions.feature[k] + NAMES * carriage.items.sight[m]


@kernel
def renew(carriage: Carriage, found: Found, renewed: Renewed, lanes: int) -> None:
    """Let the contacts of items that have gone far be those that were found where they are."""
    corner = wp.zeros(shape=(wp.static(CORNERS),), dtype=vec4)
    for m in range(wp.tid(), wp.min(carriage.items.needed[0], carriage.items.a.shape[0]), lanes):
        if carriage.near[m] == 0:
            renew_item(carriage, found, renewed, corner, m)


class Renewing:
    """Finds pairs anew that have gone far against each other since contacts were found.

    Args:
        geometry: The colliders.
        narrowphase: What answers how solids lie to each other.
        carriage: What is carried.
        into: What is wanted of regions.
    """

    def __init__(self, geometry: Geometry, narrowphase: Any, carriage: Carriage, into: Into) -> None:
        self.geometry, self.narrowphase, self.carriage = geometry, narrowphase, carriage
        counts = {"items": len(carriage.near), "slots": len(into.regions.point)}
        self.into = Into(arrays.allocate(Regions, counts, geometry.device), into.distance, into.points, into.look)
        self.renewed = Renewed()
        self.renewed.regions, self.renewed.slack = self.into.regions, float(SLACK) * into.distance
        self.found = arrays.allocate(Found, counts, geometry.device)
        # What is not far has its answer.
        self.found.settled = carriage.near
        self.items = Items()
        for name, array in arrays.each(carriage.items):
            setattr(self.items, name, array)
        self.items.kept = carriage.near

    def record(self, program: Any) -> None:
        """Record what finds them, after all contacts were carried along."""
        given = (self.geometry, self.items, self.carriage.poses)
        with program.when(self.carriage.far):
            self.narrowphase.record(program, *given, self.into.distance, self.found)
            record_regions_of_solids(program, *given, self.found, self.into)
            program.share(renew, len(self.items.a), self.carriage, self.found, self.renewed)
