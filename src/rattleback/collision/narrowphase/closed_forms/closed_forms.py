"""The pairs of kinds whose closest points have a closed form, and the kernels that find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import warp as wp

from rattleback.collision.geometry.solid import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    HULL,
    KINDS,
    MESH,
    PLANE,
    SPHERE,
)
from rattleback.collision.narrowphase.closed_forms.box_box import find_boxes
from rattleback.collision.narrowphase.closed_forms.capsule import find_capsules
from rattleback.collision.narrowphase.closed_forms.plane import record_planes
from rattleback.collision.narrowphase.closed_forms.sphere import find_balls
from rattleback.collision.narrowphase.gjk.gjk import GJK
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rattleback.collision.geometry.colliders import Places
    from rattleback.collision.geometry.compile import Geometry
    from rattleback.collision.narrowphase.closest import Found
    from rattleback.collision.narrowphase.items import Items
    from rattleback.core.stages import Program

CONVEX = (SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL)
BALLS = frozenset((SPHERE, other) for other in (*CONVEX, MESH))
CAPSULES = frozenset({(CAPSULE, CAPSULE), (CAPSULE, BOX)})
BOXES = frozenset({(BOX, BOX)})
PLANES = frozenset({*((other, PLANE) for other in CONVEX), (PLANE, MESH)})


def marks(pairs: Iterable[tuple[int, int]], device: Any) -> Any:
    """One entry for each ordered pair of kinds, first times nine plus second: 1 for these pairs in either order."""
    table = np.zeros((KINDS, KINDS), dtype=np.int32)
    for low, high in pairs:
        table[low, high] = table[high, low] = 1
    return wp.array(table.ravel(), dtype=wp.int32, device=device)


@sealed
@dataclass(frozen=True)
class ClosedForms:
    """Formulas for balls and half-spaces with everything, capsules with capsules and boxes, boxes with boxes; else GJK.

    Attributes:
        kinds: The pairs of kinds that are answered by formulas, the lower one first.
    """

    kinds: ClassVar[frozenset[tuple[int, int]]] = BALLS | CAPSULES | BOXES | PLANES
    cheap: ClassVar[frozenset[tuple[int, int]]] = kinds

    def record(
        self, program: Program, geometry: Geometry, items: Items, places: Places, max_gap: float, found: Found
    ) -> None:
        """Record the launches that write the answers of the items; see ``GJK.record``."""
        capacity = int(items.a.shape[0])
        start = (items, geometry.colliders, places)
        if _occur(BALLS, geometry.kinds):
            handles = marks(BALLS, geometry.device)
            program.share(find_balls, capacity, *start, geometry.hulls, handles, found)
        if _occur(CAPSULES, geometry.kinds):
            program.share(find_capsules, capacity, *start, marks(CAPSULES, geometry.device), found)
        if _occur(BOXES, geometry.kinds):
            program.share(find_boxes, capacity, *start, max_gap, 1, found)
        record_planes(program, geometry, items, places, found)
        GJK(leave_out=self.kinds).record(program, geometry, items, places, max_gap, found)


def _occur(pairs: Iterable[tuple[int, int]], kinds: tuple[int, ...]) -> bool:
    return any(low in kinds and high in kinds for low, high in pairs)
