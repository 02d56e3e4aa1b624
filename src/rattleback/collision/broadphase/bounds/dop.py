"""Slabs along fixed directions of the world: discrete oriented polytopes with k sides.

    [ min d · x , max d · x ]        d = ±e_i, (±1, ±1, ±1) and, with 26 sides, (±1, ±1, 0), (±1, 0, ±1), (0, ±1, ±1)

x point of a collider. The largest and smallest values come from its farthest points along ±d, shell and half the
contact distance, times |d|, added. Two colliders are apart where one pair of intervals is. The three axes are those the
broad phase has compared. Costs 8 or 20 farthest points a collider and step; tight for many-sided hulls.

Reference: Klosowski, Held, Mitchell, Sowizral, Zikan (1998), Efficient collision detection using bounding volume
hierarchies of k-DOPs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.broadphase.bounds.sphere import ROUNDING
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import PLANE, load_whole, support
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.core.sealed import sealed

CORNERS = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]
EDGES = [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
DIRECTIONS = {14: CORNERS, 26: CORNERS + EDGES}


@wp.struct
class Slabs:
    """The intervals of all colliders, direction by direction for each."""

    direction: wp.array[vec3]
    low: wp.array[real]
    high: wp.array[real]


@kernel
def measure(colliders: Colliders, hulls: Hulls, places: Places, slabs: Slabs, wider: real) -> None:
    """Find one interval of a collider."""
    n = wp.tid()
    many = slabs.direction.shape[0]
    i = n // many
    d = slabs.direction[n % many]
    if colliders.kind[i] == PLANE:
        return
    solid = load_whole(colliders, places, i, vec3())
    more = (solid.round + wider + places.max_travel[i]) * wp.length(d)
    low = wp.dot(d, support(solid, hulls, -d))
    high = wp.dot(d, support(solid, hulls, d))
    rounding = ROUNDING * (wp.abs(low) + wp.abs(high) + wp.length(solid.position) + more)
    slabs.low[n] = low - more - rounding
    slabs.high[n] = high + more + rounding


@wp.func
def above_plane(places: Places, plane: int, other: int, shell: real) -> bool:
    """Whether the box along the axes of a collider is out of reach of a half-space."""
    R = places.rotation[plane]
    n = vec3(R[0, 2], R[1, 2], R[2, 2])
    half = real(0.5) * (places.upper[other] - places.lower[other])
    center = places.lower[other] + half
    lowest = wp.dot(n, center - places.position[plane]) - wp.dot(wp.abs(n), half)
    return lowest > shell + ROUNDING * (wp.length(center) + wp.length(places.position[plane]) + wp.length(half))


@kernel
def compare(
    colliders: Colliders, places: Places, slabs: Slabs, pairs: Pairs, keep: wp.array[wp.int32], wider: real
) -> None:
    """Keep the pairs whose intervals overlap along every direction."""
    k = wp.tid()
    keep[k] = 0
    if k >= pairs.needed[0]:
        return
    a = pairs.a[k]
    b = pairs.b[k]
    apart = bool(False)
    if colliders.kind[a] == PLANE:
        apart = above_plane(places, a, b, colliders.round[a] + wider + places.max_travel[a])
    elif colliders.kind[b] == PLANE:
        apart = above_plane(places, b, a, colliders.round[b] + wider + places.max_travel[b])
    else:
        many = slabs.direction.shape[0]
        for n in range(many):
            i = a * many + n
            j = b * many + n
            if slabs.low[i] > slabs.high[j] or slabs.low[j] > slabs.high[i]:
                apart = True
    if not apart:
        keep[k] = 1


@sealed
@dataclass(frozen=True)
class DopBounds:
    """Slabs along fixed directions.

    Args:
        sides: 14 or 26.
    """

    sides: int = 14

    def __post_init__(self) -> None:
        """Check the number of sides."""
        if self.sides not in DIRECTIONS:
            raise InputError(f"sides of DopBounds is {self.sides!r}; it may be 14 or 26.")

    def record(self, program: Any, geometry: Any, places: Places, pairs: Pairs, keep: Any, wider: float) -> None:
        """Record the launches that measure the slabs and compare those of every pair.

        Args:
            program: Where to record.
            geometry: The colliders.
            places: Where they are.
            pairs: Candidate pairs.
            keep: 1 or 0 for every pair (pairs,).
            wider: Half the contact distance [m].
        """
        directions = np.array(DIRECTIONS[self.sides], dtype=numpy_real)
        many = geometry.count * len(directions)
        slabs = Slabs()
        slabs.direction = wp.array(directions, dtype=vec3, device=geometry.device)
        slabs.low, slabs.high = (wp.zeros(many, dtype=real, device=geometry.device) for _ in range(2))
        tables = (geometry.colliders, geometry.hulls)
        program.launch(measure, many, *tables, places, slabs, real(wider))
        program.launch(compare, len(pairs.a), geometry.colliders, places, slabs, pairs, keep, real(wider))
