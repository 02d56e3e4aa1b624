"""Balls around the origins of colliders.

    |p_a − p_b| ≤ r_a + r_b + 2 w        against a half-space: n · (p − p_0) ≤ r + 2 w

p place of a collider, r its reach, and its stride where speculative contacts are wanted, w half the contact
distance, n outward normal of the half-space, p_0 a point of its surface. Independent of the orientation, tight for what
is round, useless for needles.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.core.sealed import sealed

# Rounding of a few sums and products beside the numbers that go into them.
ROUNDING = wp.constant(real(32.0 * epsilon))


@wp.func
def size_of(p: vec3, q: vec3) -> real:
    """The largest coordinate of two points: what rounding is measured by."""
    return wp.max(wp.max(wp.abs(p)), wp.max(wp.abs(q)))


@kernel
def compare(colliders: Colliders, places: Places, pairs: Pairs, keep: wp.array[wp.int32], wider: real) -> None:
    """Keep the pairs whose balls come near each other."""
    k = wp.tid()
    keep[k] = 0
    if k >= pairs.needed[0]:
        return
    a = pairs.a[k]
    b = pairs.b[k]
    r = colliders.reach[a]
    s = colliders.reach[b]
    d = places.position[a] - places.position[b]
    most = wp.max(r, real(0.0)) + wp.max(s, real(0.0)) + real(2.0) * wider
    most += places.max_travel[a] + places.max_travel[b]
    apart = wp.length(d)
    if r < real(0.0):
        R = places.rotation[a]
        apart = -wp.dot(vec3(R[0, 2], R[1, 2], R[2, 2]), d) - colliders.round[a]
    elif s < real(0.0):
        R = places.rotation[b]
        apart = wp.dot(vec3(R[0, 2], R[1, 2], R[2, 2]), d) - colliders.round[b]
    if apart <= most + ROUNDING * (most + size_of(places.position[a], places.position[b])):
        keep[k] = 1


@sealed
@dataclass(frozen=True)
class SphereBounds:
    """Balls around colliders."""

    def record(self, program: Any, geometry: Any, places: Places, pairs: Pairs, keep: Any, wider: float) -> None:
        """Record the launch that compares the balls of every pair.

        Args:
            program: Where to record.
            geometry: The colliders.
            places: Where they are.
            pairs: Candidate pairs.
            keep: 1 or 0 for every pair (pairs,).
            wider: Half the contact distance [m].
        """
        program.launch(compare, len(pairs.a), geometry.colliders, places, pairs, keep, real(wider))
