"""Boxes in the frames of the colliders, compared by the separating-axis test.

    |l · t| ≤ Σ |l · a_i| h_i + Σ |l · b_j| k_j        for l = a_i, b_j and a_i × b_j

t from one centre to the other, a_i, b_j axes of the boxes, h_i, k_j half their edges, shell and half the contact
distance included. Two boxes are apart where one of the 15 axes says so. An axis a_i × b_j of nearly parallel edges is
short; both sides are then small, and what rounding may do is allowed for. Tight for boxes and needles.

Reference: Gottschalk, Lin, Manocha (1996), OBBTree; Bender, dissertation, §2.2.1.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.broadphase.bounds.sphere import ROUNDING, size_of
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import MESH, PLANE, load, support_local
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real, vec3
from rattleback.core.sealed import sealed


@wp.struct
class OwnBoxes:
    """The boxes around all colliders in their own frames: centres and half edges, shells included."""

    center: wp.array[vec3]
    half: wp.array[vec3]


@kernel
def measure(colliders: Colliders, hulls: Hulls, places: Places, boxes: OwnBoxes) -> None:
    """Find the box around a collider in its own frame."""
    i = wp.tid()
    kind = colliders.kind[i]
    solid = load(colliders, places, i, 0, vec3(real(0.0), real(0.0), real(0.0)))
    if kind == MESH:
        solid.count = colliders.count[i]
    low = vec3(real(0.0), real(0.0), real(0.0))
    high = vec3(real(0.0), real(0.0), real(0.0))
    if kind != PLANE:
        for axis in range(3):
            d = vec3(real(0.0), real(0.0), real(0.0))
            d[axis] = real(1.0)
            above = support_local(solid, hulls, d)
            below = support_local(solid, hulls, -d)
            high[axis] = above[axis]
            low[axis] = below[axis]
    shell = vec3(solid.round, solid.round, solid.round)
    boxes.center[i] = real(0.5) * (low + high)
    boxes.half[i] = real(0.5) * (high - low) + shell


@wp.func
def radius(R: mat33, half: vec3, axis: vec3) -> real:
    """Half the length of a box along an axis, times the length of this."""
    m = wp.transpose(R) * axis
    return wp.abs(m[0]) * half[0] + wp.abs(m[1]) * half[1] + wp.abs(m[2]) * half[2]


@wp.func
def column(R: mat33, k: int) -> vec3:
    """An axis of a box."""
    return vec3(R[0, k], R[1, k], R[2, k])


@wp.func
def boxes_apart(A: mat33, half_a: vec3, B: mat33, half_b: vec3, t: vec3, rounding: real) -> bool:
    """Whether one of 15 axes parts two boxes; ``t`` leads from one centre to the other."""
    for k in range(15):
        axis = vec3(real(0.0), real(0.0), real(0.0))
        if k < 3:
            axis = column(A, k)
        elif k < 6:
            axis = column(B, k - 3)
        else:
            axis = wp.cross(column(A, (k - 6) // 3), column(B, (k - 6) % 3))
        if wp.abs(wp.dot(axis, t)) > radius(A, half_a, axis) + radius(B, half_b, axis) + rounding:
            return True
    return False


@kernel
def compare(
    colliders: Colliders, places: Places, boxes: OwnBoxes, pairs: Pairs, keep: wp.array[wp.int32], wider: real
) -> None:
    """Keep the pairs whose boxes come near each other."""
    k = wp.tid()
    keep[k] = 0
    if k >= pairs.needed[0]:
        return
    a = pairs.a[k]
    b = pairs.b[k]
    A = places.rotation[a]
    B = places.rotation[b]
    p = places.position[a]
    q = places.position[b]
    t = (p - q) + A * boxes.center[a] - B * boxes.center[b]
    more_a = wider + places.max_travel[a]
    more_b = wider + places.max_travel[b]
    half_a = boxes.half[a] + vec3(more_a, more_a, more_a)
    half_b = boxes.half[b] + vec3(more_b, more_b, more_b)
    rounding = ROUNDING * (size_of(p, q) + wp.length(t) + wp.length(half_a) + wp.length(half_b))
    apart = bool(False)
    if colliders.kind[a] == PLANE:
        n = column(A, 2)
        apart = -wp.dot(n, t) > radius(B, half_b, n) + half_a[2] + rounding
    elif colliders.kind[b] == PLANE:
        n = column(B, 2)
        apart = wp.dot(n, t) > radius(A, half_a, n) + half_b[2] + rounding
    else:
        apart = boxes_apart(A, half_a, B, half_b, t, rounding)
    if not apart:
        keep[k] = 1


@sealed
@dataclass(frozen=True)
class OrientedBounds:
    """Boxes in the frames of the colliders."""

    def record(self, program: Any, geometry: Any, places: Places, pairs: Pairs, keep: Any, wider: float) -> None:
        """Measure the boxes, which never change, and record the launch that compares those of every pair.

        Args:
            program: Where to record.
            geometry: The colliders.
            places: Where they are.
            pairs: Candidate pairs.
            keep: 1 or 0 for every pair (pairs,).
            wider: Half the contact distance [m].
        """
        boxes = OwnBoxes()
        boxes.center = wp.zeros(geometry.count, dtype=vec3, device=geometry.device)
        boxes.half = wp.zeros(geometry.count, dtype=vec3, device=geometry.device)
        inputs = [geometry.colliders, geometry.hulls, places, boxes]
        wp.launch(measure, geometry.count, inputs=inputs, device=geometry.device)
        program.launch(compare, len(pairs.a), geometry.colliders, places, boxes, pairs, keep, real(wider))
