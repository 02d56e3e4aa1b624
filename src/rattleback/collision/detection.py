"""How contacts are detected: contact distance, points of a manifold, broad phase, narrow phase and bounding volumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase import bounds
from rattleback.core import checks
from rattleback.core.choice import choose

MOST_POINTS = 16
MOST_STEPS = 100


@dataclass(frozen=True)
class Detection:
    """How contacts are detected.

    Attributes:
        distance: Surfaces no farther apart than this are in contact [m]; None for a thousandth of the median size of
            what moves.
        points: Most points of one pair of solids.
        broadphase: Name from the menu or object; None for what is fastest at this size on this device.
        narrowphase: Name from the menu or object.
        bounds: Bounding volume that pairs are tested with before a costly narrow phase; name from the menu or object.
        volumes: Whether overlap volumes are measured, too.
        every: After how many steps, sub-steps included, contacts are detected; between, manifolds are updated.
    """

    distance: float | None = None
    points: int = 4
    broadphase: Any = None
    narrowphase: Any = narrowphase.DEFAULT
    bounds: Any = bounds.DEFAULT
    volumes: bool = False
    every: int = 1

    def __post_init__(self) -> None:
        """Check the numbers and look up the names."""
        if self.distance is not None:
            checks.not_negative(self.distance, "The contact distance")
        checks.flag(self.volumes, "contact_volumes")
        checks.count(self.points, "The number of points of a contact manifold", most=MOST_POINTS)
        checks.count(self.every, "contact_every", most=MOST_STEPS)
        if self.broadphase is not None:
            chosen = choose("broad phase", self.broadphase, broadphase.MENU, broadphase.NEEDS)
            object.__setattr__(self, "broadphase", chosen)
        chosen = choose("narrow phase", self.narrowphase, narrowphase.MENU, narrowphase.NEEDS)
        object.__setattr__(self, "narrowphase", chosen)
        chosen = choose("bounding volume", self.bounds, bounds.MENU, bounds.NEEDS)
        object.__setattr__(self, "bounds", chosen)
