"""The narrow phase by GJK and EPA: signed distance, normal and nearest points of any two convex solids.

    separation = distance of the cores − shells      apart
    separation = −depth of the cores − shells        overlapping

Cores that are apart are measured by GJK, those that overlap by EPA; the shells around them are subtracted. Works for
every pair of convex solids, so it is the method for those without a closed form; a mesh is met triangle by triangle.

Reference: van den Bergen (2003), chapter 4; Bender, dissertation, §2.2.3.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import CONE, CYLINDER, ELLIPSOID, KINDS, MESH, PLANE, Solid, load
from rattleback.collision.narrowphase.closed_forms.plane import record_planes
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.gjk.distance import ROUNDS, Bounds, largest, search, size_of
from rattleback.collision.narrowphase.gjk.epa import penetration
from rattleback.collision.narrowphase.gjk.refine import sharpened
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.surface.face_below import over_face
from rattleback.collision.narrowphase.surface.round_triangle import beside
from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed

# Part of the coordinates within which cores all but touch.
CLOSE = wp.constant(real(1e-6))
# Rounds are counted in 32 bits on the device.
MOST_ROUNDS = 2**31 - 1


@wp.func
def closest_within(a: Solid, b: Solid, hulls: Hulls, axis: vec3, bounds: Bounds) -> Closest:
    """The answer for two solids; where their cores are farther apart than ``bounds.far``, only a lower bound of it.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        axis: First guess of the direction from B to A; zero for none.
        bounds: When to stop early.
    """
    core = search(a, b, hulls, axis, bounds)
    answer = Closest()
    if core.overlap == 1:
        answer = penetration(a, b, hulls, core)
    else:
        answer.separation = core.distance
        answer.normal = core.normal
        answer.point_a = core.point_a
        answer.point_b = core.point_b
        if core.distance <= CLOSE * core.scale:
            answer = sharpened(a, b, hulls, answer, core.scale)
    return with_shells(answer, a.round, b.round)


@wp.func
def with_triangle(triangle: Solid, other: Solid, hulls: Hulls, bounds: Bounds) -> Closest:
    """The answer for a solid and a triangle, the other solid as A; see ``closest_within``."""
    core = over_face(triangle, other, hulls, bounds.far)
    if core.separation == LARGE and (other.kind == CYLINDER or other.kind == CONE or other.kind == ELLIPSOID):
        core = beside(triangle, other, hulls)
        # What all but touches needs more care.
        if core.separation <= CLOSE * wp.max(size_of(other), largest(triangle.position)):
            core.separation = LARGE
    if core.separation < LARGE:
        return with_shells(core, other.round, triangle.round)
    return closest_within(other, triangle, hulls, vec3(), bounds)


@kernel
def find_by_gjk(
    items: Items,
    colliders: Colliders,
    places: Places,
    hulls: Hulls,
    handles: wp.array[wp.int32],
    bounds: Bounds,
    found: Found,
    lanes: int,
) -> None:
    """The answers for items of the pairs of kinds that ``handles`` names; ``bounds.far`` is the contact distance."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[i]
        b = items.b[i]
        if handles[colliders.kind[a] * KINDS + colliders.kind[b]] == 0 or found.settled[i] == 1:
            continue
        # The answer of a triangle is made that of its surface, from what is found for it here.
        if items.kept[i] == 1 and items.part[i] < 0:
            continue
        solid_a = load(colliders, places, a, items.part[i], places.position[a])
        solid_b = load(colliders, places, b, items.part[i], places.position[a])
        own = Bounds()
        own.far = bounds.far + items.speculative_margin[i] + solid_a.round + solid_b.round
        own.most = bounds.most
        answer = Closest()
        if colliders.kind[a] == MESH:
            answer = swapped(with_triangle(solid_a, solid_b, hulls, own))
        elif colliders.kind[b] == MESH:
            answer = with_triangle(solid_b, solid_a, hulls, own)
        else:
            answer = closest_within(solid_a, solid_b, hulls, vec3(), own)
        write_found(found, i, answer)


def handled(kinds: tuple[int, ...], leave_out: frozenset[tuple[int, int]] = frozenset()) -> "np.ndarray[Any, Any]":
    """Table of the pairs of kinds GJK does, of shape (81,): all that occur but planes, mesh with mesh, those left out.

    Args:
        kinds: Kinds that occur.
        leave_out: Pairs of kinds that another method does; either order.
    """
    table = np.zeros((int(KINDS), int(KINDS)), dtype=np.int32)
    solids = [kind for kind in kinds if kind != PLANE]
    for i in solids:
        for j in solids:
            other = (i, j) in leave_out or (j, i) in leave_out
            table[i, j] = int(not other and (i, j) != (MESH, MESH))
    return table.ravel()


@sealed
@dataclass(frozen=True)
class GJK:
    """GJK with EPA for every pair of convex solids.

    Attributes:
        cheap: Pairs of kinds that are as fast as asking for what kept them apart before.
        max_iterations: Most rounds of GJK for a pair; the best answer so far is taken then.
        leave_out: Pairs of kinds that another method does.
    """

    cheap: ClassVar[frozenset[tuple[int, int]]] = frozenset()
    max_iterations: int = int(ROUNDS)
    leave_out: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        checks.count(self.max_iterations, "max_iterations of GJK", most=MOST_ROUNDS)

    def record(self, program: Any, geometry: Any, items: Any, places: Any, max_gap: float, found: Any) -> None:
        """Record the launches that write the answers of the items.

        Args:
            program: Where to record.
            geometry: Colliders and their tables.
            items: The items to test.
            places: Where the colliders are.
            max_gap: Contact distance [m]; items farther apart than that plus their ``speculative_margin`` may get less
                than their distance, but more than this bound.
            found: Where the answers go.
        """
        if not any(PLANE in pair for pair in self.leave_out):
            record_planes(program, geometry, items, places, found)
        table = handled(geometry.kinds, self.leave_out)
        if not table.any():
            return
        handles = wp.array(table, dtype=wp.int32, device=geometry.device)
        bounds = Bounds()
        bounds.far, bounds.most = max_gap, self.max_iterations
        inputs = (items, geometry.colliders, places, geometry.hulls, handles, bounds, found)
        program.share(find_by_gjk, items.a.shape[0], *inputs)
