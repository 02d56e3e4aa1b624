"""Manifold reduction on a surface: one manifold for each normal, from those of all triangles that one solid touches.

A box on a floor of triangles touches several, each with points of its own, many twice. Triangles of a pair whose
normals differ by at most 0.1 rad from that of the first of them form a group: a body in a smooth bowl meets many that
are nearly parallel. Of its points the deepest is kept, then the one farthest from it, then those that add most to the
area spanned by the points kept, as many as a manifold may have. Points keep the normals of their own triangles.

Cost: for a pair with n points, n times the number kept. Reference: derived here, after ``reduce``.
"""

import math
from typing import Any

import warp as wp

from rattleback.collision.manifold.clip import Manifolds
from rattleback.collision.manifold.limits import ManifoldLimits, points_of
from rattleback.collision.narrowphase.items import Items
from rattleback.core.arrays import allocate, field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3

# Cosine of the angle between normals of one group: small against angles of friction, 0.46 rad where μ is 0.5, so that
# the points kept can carry what the others would.
ALIKE = wp.constant(real(math.cos(0.1)))
# An area smaller than this part of the square of the size is none.
NOTHING = wp.constant(real(1e-9))
# The same for points that only speculative manifolds may have.
LITTLE = wp.constant(real(1e-3))
# Part of the contact distance by which points may differ and still be as deep as each other.
LEVEL = wp.constant(real(1e-3))


@group(axis="items")
class NormalGroups:
    """Which triangles of a pair have about one normal, and which of their points are kept."""

    leader: wp.int32 = field("1", "first item of the pair with about the same normal; -1 before that is known")
    kept: wp.int32 = field("1", "how many were kept before this one; -1 for one that is not kept", axis="slots")
    ring: wp.int32 = field("1", "slots of the points kept by a leader, in the order of a loop", axis="slots")


@wp.func
def deepest(manifolds: Manifolds, groups: NormalGroups, leader: int, end: int, most: int, level: real) -> int:
    """The slot of the deepest point of the triangles that belong to one leader; all points are candidates again.

    Of points that are as deep but for ``level``, the one farthest from the middle: those inside the manifold come last.
    """
    low = manifolds.separation[leader * most]
    middle = vec3()
    count = real(0.0)
    for m in range(leader, end):
        if groups.leader[m] == leader:
            for s in range(m * most, m * most + manifolds.points[m]):
                groups.kept[s] = -1
                low = wp.min(low, manifolds.separation[s])
                middle = middle + manifolds.point[s]
                count = count + real(1.0)
    best = int(leader * most)
    far = real(-1.0)
    for m in range(leader, end):
        if groups.leader[m] == leader:
            for s in range(m * most, m * most + manifolds.points[m]):
                d = manifolds.point[s] - middle / count
                if manifolds.separation[s] <= low + level and wp.dot(d, d) > far:
                    far = wp.dot(d, d)
                    best = s
    return best


@wp.func
def beyond(manifolds: Manifolds, groups: NormalGroups, leader: int, most: int, count: int, s: int) -> vec3:
    """What a point would add to the ring of those kept: the area, and after which of them it belongs.

    Of a single point, the square of the distance counts; of two, the area on either side.
    """
    n = manifolds.normal[leader]
    best = real(0.0)
    after = int(0)
    for k in range(count):
        p = manifolds.point[groups.ring[leader * most + k]]
        q = manifolds.point[groups.ring[leader * most + wp.where(k + 1 < count, k + 1, 0)]]
        d = manifolds.point[s] - p
        area = wp.dot(n, wp.cross(d, q - p))
        if count == 1:
            area = wp.dot(d, d)
        if area > best:
            best = area
            after = k
    return vec3(best, real(after), real(0.0))


@wp.func
def add_best(
    manifolds: Manifolds, groups: NormalGroups, leader: int, end: int, most: int, count: int, least: real
) -> real:
    """Keep the point that adds most to the ring of a leader, and at least so much; returns what it adds, else that."""
    best = int(-1)
    most_added = least
    after = int(0)
    for m in range(leader, end):
        if groups.leader[m] == leader:
            for s in range(m * most, m * most + manifolds.points[m]):
                if groups.kept[s] < 0:
                    found = beyond(manifolds, groups, leader, most, count, s)
                    if found[0] > most_added:
                        most_added = found[0]
                        after = int(found[1])
                        best = s
    if best >= 0:
        groups.kept[best] = count
        k = count
        while k > after + 1:
            groups.ring[leader * most + k] = groups.ring[leader * most + k - 1]
            k = k - 1
        groups.ring[leader * most + after + 1] = best
    return most_added


@wp.func
def close_up(manifolds: Manifolds, groups: NormalGroups, m: int, most: int) -> None:
    """Bring the points that are kept to the front of their item."""
    kept = int(0)
    first = m * most
    for s in range(first, first + manifolds.points[m]):
        if groups.kept[s] >= 0:
            manifolds.point[first + kept] = manifolds.point[s]
            manifolds.separation[first + kept] = manifolds.separation[s]
            manifolds.feature[first + kept] = manifolds.feature[s]
            kept = kept + 1
    manifolds.points[m] = kept


@wp.func
def reduce_pair(items: Items, limits: ManifoldLimits, groups: NormalGroups, manifolds: Manifolds, pair: int) -> None:
    """Group the triangles of a pair by normal and keep as many points of each group as a manifold may have."""
    first = items.first[pair]
    end = wp.min(items.first[pair + 1], items.needed[0])
    most = limits.most
    for m in range(first, end):
        groups.leader[m] = -1
    for leader in range(first, end):
        if groups.leader[leader] < 0 and manifolds.points[leader] > 0:
            for m in range(leader, end):
                along = wp.dot(manifolds.normal[m], manifolds.normal[leader])
                if manifolds.points[m] > 0 and groups.leader[m] < 0 and along > ALIKE:
                    groups.leader[m] = leader
            slot = deepest(manifolds, groups, leader, end, most, LEVEL * limits.max_gap)
            groups.kept[slot] = 0
            groups.ring[leader * most] = slot
            kept = int(1)
            square = real(0.0)
            while kept < points_of(limits, items.margin_class[leader]):
                # A speculative manifold may have more points, but only for more area.
                least = wp.where(kept < limits.few, real(0.0), LITTLE * square)
                added = add_best(manifolds, groups, leader, end, most, kept, least)
                square = wp.max(square, added)
                if added <= wp.max(least, NOTHING * square):
                    break
                kept = kept + 1
            for m in range(leader, end):
                if groups.leader[m] == leader:
                    close_up(manifolds, groups, m, most)


@kernel
def reduce_surfaces(
    items: Items, limits: ManifoldLimits, groups: NormalGroups, manifolds: Manifolds, lanes: int
) -> None:
    """Reduce the manifolds on surfaces of every pair whose points were not chosen before."""
    for first in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        pair = items.pair[first]
        if items.part[first] >= 0 and items.first[pair] == first and items.chosen[pair] == 0:
            reduce_pair(items, limits, groups, manifolds, pair)


def record_surface_reduction(
    program: Any, items: Items, limits: ManifoldLimits, manifolds: Manifolds, device: Any
) -> None:
    """Record the launch that reduces the manifolds of the triangles of a pair together."""
    groups = allocate(NormalGroups, {"items": len(items.a), "slots": len(manifolds.point)}, device)
    program.share(reduce_surfaces, len(items.a), items, limits, groups, manifolds)
