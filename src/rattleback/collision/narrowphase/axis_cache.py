"""Separating-axis cache: the axis that separated a pair in the last detection is tested before the narrow phase.

    s = n · (s_A(−n) − s_B(n)) − r_A − r_B

n cached axis, s_A, s_B support points of the cores, r shells. Where s exceeds the contact distance plus
``items.speculative_margin`` the pair is apart, and the narrow phase skips it. Otherwise the narrow phase runs as if
there were no cache, so contacts depend on the state alone, and a copied state continues bit for bit.

Cost: two support points a pair, where GJK needs 4 to 30 times as many, and a binary search among the pairs of the last
detection. Pairs of kinds with a cheaper narrow phase are not cached.

Reference: Bender, dissertation, §2.2.3; van den Bergen (2003), §4.3.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import KINDS, PLANE, load, support
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3

# More than any triangle has as its number.
LATER = wp.constant(2**30)


@group(axis="items")
class Axes:
    """The items of the last detection, and the axes that separated them."""

    b: wp.int32 = field("1", "second collider")
    key: wp.int32 = field("1", "triangle, by which the items of a pair are sorted; see ``key_of``")
    axis: vec3 = field("1", "unit axis from B to A along which they were apart; zero where they touched")
    first: wp.int32 = field("1", "first item of a collider as A, and one more entry", axis="colliders_and_one")


@wp.struct
class AxisTests:
    """The colliders, where they are, and which pairs of kinds are tested."""

    colliders: Colliders
    places: Places
    hulls: Hulls
    spared: wp.array[wp.int32]
    max_gap: real


@wp.func
def key_of(part: int, later: bool) -> int:
    """A number by which the items of a pair are sorted: those that only the stretched box reaches are its last ones."""
    return wp.where(later, part + LATER, part)


@wp.func
def find_row(axes: Axes, a: int, b: int, key: int) -> int:
    """Row of an item of the last detection; −1 for none. Rows of a collider are sorted by the other and the key."""
    low = axes.first[a]
    high = axes.first[a + 1]
    end = high
    while low < high:
        half = (low + high) // 2
        if axes.b[half] < b or (axes.b[half] == b and axes.key[half] < key):
            low = half + 1
        else:
            high = half
    if low == end:
        return -1
    return wp.where(axes.b[low] == b and axes.key[low] == key, low, -1)


@wp.func
def cached_axis(axes: Axes, a: int, b: int, part: int) -> vec3:
    """The axis that separated an item in the last detection; zero for none."""
    row = find_row(axes, a, b, key_of(part, False))
    if row < 0 and part >= 0:
        row = find_row(axes, a, b, key_of(part, True))
    if row < 0:
        return vec3()
    return axes.axis[row]


@kernel
def try_cached_axes(items: Items, solids: AxisTests, axes: Axes, found: Found, lanes: int) -> None:
    """Settle the items that are still apart along their cached axis."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        found.settled[m] = 0
        i = items.a[m]
        j = items.b[m]
        if solids.spared[KINDS * solids.colliders.kind[i] + solids.colliders.kind[j]] == 0:
            continue
        n = cached_axis(axes, i, j, items.part[m])
        if wp.dot(n, n) == real(0.0):
            continue
        origin = solids.places.position[i]
        a = load(solids.colliders, solids.places, i, items.part[m], origin)
        b = load(solids.colliders, solids.places, j, items.part[m], origin)
        s = wp.dot(n, support(a, solids.hulls, -n) - support(b, solids.hulls, n)) - a.round - b.round
        if s > solids.max_gap + items.speculative_margin[m]:
            found.settled[m] = 1
            found.separation[m] = s
            found.normal[m] = n


@kernel
def reject_pairs(items: Items, keep: wp.array[wp.int32], afresh: int, found: Found, lanes: int) -> None:
    """Settle the items of the pairs that bounding volumes reject: they are apart."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if afresh == 1:
            found.settled[m] = 0
        if keep[items.pair[m]] == 0:
            found.settled[m] = 1
            found.separation[m] = LARGE
            found.normal[m] = vec3()


@kernel
def store_axes(items: Items, found: Found, max_gap: real, axes: Axes, lanes: int) -> None:
    """Store the axes that separate the items now."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        axes.b[m] = items.b[m]
        pair = items.pair[m]
        axes.key[m] = key_of(items.part[m], m >= items.first[pair + 1] - items.speculative_count[pair])
        n = vec3()
        # A method may say no more of what is far apart than that it is.
        if found.separation[m] > max_gap and wp.abs(wp.length(found.normal[m]) - real(1.0)) < real(1e-3):
            n = found.normal[m]
        axes.axis[m] = n


@kernel
def store_rows(items: Items, pairs: Pairs, axes: Axes, lanes: int) -> None:
    """Store where the items of every collider begin."""
    for a in range(wp.tid(), pairs.first.shape[0], lanes):
        axes.first[a] = wp.min(items.first[pairs.first[a]], axes.b.shape[0])


class AxisCache:
    """Spares the narrow phase the pairs that are still apart along their cached axis.

    Args:
        geometry: The colliders.
        items: The items tested.
        pairs: Their pairs.
        cheap: Pairs of kinds that are not worth caching, the lower one first.
    """

    def __init__(self, geometry: Geometry, items: Items, pairs: Pairs, cheap: frozenset[tuple[int, int]]) -> None:
        self.geometry, self.items, self.pairs = geometry, items, pairs
        kinds = [kind for kind in geometry.kinds if kind != PLANE]
        spared = np.zeros((KINDS, KINDS), dtype=np.int32)
        for i in kinds:
            for j in kinds:
                spared[i, j] = (min(i, j), max(i, j)) not in cheap
        self.active = bool(spared.any())
        self._spared = wp.array(spared.ravel(), dtype=wp.int32, device=geometry.device)
        self._keep = wp.zeros(len(pairs.a), dtype=wp.int32, device=geometry.device)
        counts = {"items": len(items.a), "colliders_and_one": geometry.count + 1}
        self._axes = arrays.allocate(Axes, counts if self.active else dict.fromkeys(counts, 0), geometry.device)

    def record_start(self, program: Any, places: Places, max_gap: float, found: Found) -> None:
        """Record the test of cached axes before the narrow phase."""
        if self.active:
            solids = AxisTests()
            solids.colliders, solids.places, solids.hulls = self.geometry.colliders, places, self.geometry.hulls
            solids.spared, solids.max_gap = self._spared, max_gap
            program.share(try_cached_axes, len(self.items.a), self.items, solids, self._axes, found)

    def record_bounds(self, program: Any, volume: Any, places: Places, wider: float, found: Found) -> None:
        """Record the test of bounding volumes, after ``record_start``.

        Args:
            program: Where to record.
            volume: The bounding volume.
            places: Where the colliders are.
            wider: Half the contact distance [m].
            found: Where the answers go.
        """
        volume.record(program, self.geometry, places, self.pairs, self._keep, wider)
        program.share(reject_pairs, len(self.items.a), self.items, self._keep, int(not self.active), found)

    def record_end(self, program: Any, max_gap: float, found: Found) -> None:
        """Record what stores the axes for the next detection."""
        if self.active:
            program.share(store_axes, len(self.items.a), self.items, found, max_gap, self._axes)
            program.share(store_rows, len(self.pairs.first), self.items, self.pairs, self._axes)
