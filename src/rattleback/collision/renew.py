"""Pairs that have gone far against each other since contacts were found: they are found anew where they are.

    |δ_a − δ_b| > L        δ how far the points of a contact have gone with either body, see ``carry``

What falls at 10 m/s goes a hundredth of a metre in a step of a millisecond, and tumbles past the edge it came upon.
Carried along its contact would be the one with that edge still. Such pairs are few; they get the regions of where they
are, in the rows that they have: of more points the nearest ones, and of fewer the last one again. Where solids are
apart by now their points are as far as that.

Whether a pair is found anew, and what is found, is a function of anchors and poses, as contacts that are carried are.
Triangles of meshes are carried only.

Cost: that of finding for these pairs, a look at every other item for each method; nothing where nobody has gone far.
"""

from typing import Any

import warp as wp

from rattleback.collision.carry import Carriage
from rattleback.collision.closest import Found
from rattleback.collision.compile import Geometry
from rattleback.collision.items import Items
from rattleback.collision.narrowphase.region import Into, record_regions_of_solids
from rattleback.collision.narrowphase.wanted import NAMES
from rattleback.collision.regions import Regions
from rattleback.core import arrays
from rattleback.core.kernel import kernel


@wp.func
def next_nearest(regions: Regions, slot: int, count: int, last: int) -> int:
    """The point of a region that is next in order of separation after one of them, or the nearest after none."""
    best = int(-1)
    for k in range(count):
        s = regions.separation[slot + k]
        later = last < 0
        if last >= 0:
            of_last = regions.separation[slot + last]
            later = s > of_last or (s == of_last and k > last)
        if later and (best < 0 or s < regions.separation[slot + wp.max(best, 0)]):
            best = k
    return best


@wp.func
def renew_item(carriage: Carriage, found: Found, regions: Regions, m: int, begin: int, end: int) -> None:
    """Write the points of a region into the rows that its item has."""
    contacts = carriage.contacts
    slot = m * carriage.most
    count = regions.points[m]
    last = int(-1)
    for c in range(begin, end):
        contacts.previous[c] = c
        if count == 0:
            contacts.separation[c] = wp.max(contacts.separation[c], found.separation[m])
            continue
        k = wp.min(c - begin, count - 1)
        if count > end - begin:
            last = next_nearest(regions, slot, count, last)
            k = last
        contacts.normal[c] = regions.normal[m]
        contacts.point[c] = regions.point[slot + k]
        contacts.separation[c] = regions.separation[slot + k]
        contacts.feature[c] = regions.feature[slot + k] + NAMES * carriage.items.sight[m]


@kernel
def renew(carriage: Carriage, found: Found, regions: Regions, lanes: int) -> None:
    """Let the contacts of items that have gone far be those that were found where they are."""
    for m in range(wp.tid(), wp.min(carriage.items.needed[0], carriage.items.a.shape[0]), lanes):
        if carriage.near[m] == 0:
            end = wp.min(carriage.start[m + 1], carriage.contacts.part.shape[0])
            renew_item(carriage, found, regions, m, carriage.start[m], end)


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
            program.share(renew, len(self.items.a), self.carriage, self.found, self.into.regions)
