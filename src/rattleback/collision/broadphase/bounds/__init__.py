"""Bounding volumes: a second test of candidate pairs, cheaper than the narrow phase, by name.

| name | volume | what it costs a pair |
|---|---|---|
| ``box`` (default) | the boxes along the axes the broad phase has compared | nothing |
| ``sphere`` | a ball around the origin of a collider | one distance |
| ``oriented`` | a box in the collider's own frame | at most 15 axes |
| ``dop`` | slabs along 7 or 13 fixed directions | 4 or 10 intervals |

Each has ``record(program, geometry, places, pairs, keep, wider)``: it records launches that write 1 to ``keep[k]``
where pair k may be nearer than the contact distance, 2 ``wider``, now or after the ``places.max_travel`` of both, and 0
where it is not. A pair that is nearer is never given up. The items tested are the colliders where they are, not where
they come from.
"""

from typing import Any

from rattleback.collision.broadphase.bounds.box import BoxBounds
from rattleback.collision.broadphase.bounds.dop import DopBounds
from rattleback.collision.broadphase.bounds.oriented import OrientedBounds
from rattleback.collision.broadphase.bounds.sphere import SphereBounds

MENU: dict[str, type[Any]] = {"box": BoxBounds, "sphere": SphereBounds, "oriented": OrientedBounds, "dop": DopBounds}
DEFAULT = "box"
NEEDS = ("record",)

__all__ = ["BoxBounds", "DopBounds", "OrientedBounds", "SphereBounds"]
