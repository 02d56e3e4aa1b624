"""Distance, nearest points, depth and overlap of placements, one pair or many.

    distance = n · (p_a − p_b)

n unit normal from B to A, p_a, p_b points of their surfaces. Apart, the distance is positive and the points are nearest
to each other; overlapping, it is minus the length of the shortest translation, along n, that takes A out of B. Of
several parts the pair with the least distance counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.collision.queries.pairwise import NOWHERE, meet, method_of
from rattleback.collision.queries.placed_colliders import arrange
from rattleback.collision.queries.placement import joined, paired, read
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from rattleback.collision.queries.pairwise import Answers

DEFAULT = "closed_forms"


@sealed
@dataclass(frozen=True, eq=False)
class Separation:
    """How two placements lie to each other; with many pairs, arrays with a leading axis.

    Attributes:
        distance: Signed distance [m]: negative where they overlap, by the depth. A float, or (pairs,).
        normal: Unit normal from B to A, shape (3,) or (pairs, 3).
        point_a: Point of A's surface, world frame [m], shape (3,) or (pairs, 3).
        point_b: Point of B's surface, world frame [m], shape (3,) or (pairs, 3).
    """

    distance: Any
    normal: Any
    point_a: Any
    point_b: Any

    @property
    def overlap(self) -> Any:
        """Whether they share a point; touching counts."""
        return self.distance <= 0.0

    @property
    def penetration(self) -> Any:
        """Depth of the overlap [m], zero where they are apart."""
        return np.maximum(0.0, -self.distance) if np.ndim(self.distance) else max(0.0, -self.distance)


def distance(a: Any, b: Any, narrowphase: Any = DEFAULT, *, device: str = "cpu") -> Separation:
    """Signed distance, normal and nearest points of two placements, or of many pairs of them.

    Meshes and height fields count as their triangles; what lies wholly behind them is apart from them.

    Args:
        a: A placement: a shape, a ``Placed``, a ``Plane``, a body, ``Poses``, or a list of these.
        b: Another one; with as many entries as A, or one for all of A's.
        narrowphase: How to find out, a name from the menu or an object.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """
    answers, many = _answers(a, b, narrowphase, device)
    found = (answers.separation, answers.normal, answers.point_a, answers.point_b)
    return Separation(*found) if many else Separation(float(found[0][0]), *(column[0] for column in found[1:]))


def closest_points(a: Any, b: Any, narrowphase: Any = DEFAULT, *, device: str = "cpu") -> tuple[Any, Any]:
    """The points of A's and B's surfaces nearest to each other [m], each (3,) or (pairs, 3); see ``distance``."""
    found = distance(a, b, narrowphase, device=device)
    return found.point_a, found.point_b


def penetration(a: Any, b: Any, narrowphase: Any = DEFAULT, *, device: str = "cpu") -> Any:
    """How deep A and B overlap [m], zero where they are apart; a float or (pairs,). See ``distance``."""
    return distance(a, b, narrowphase, device=device).penetration


def overlap(a: Any, b: Any, narrowphase: Any = DEFAULT, *, device: str = "cpu") -> Any:
    """Whether A and B share a point, touching included; a bool or (pairs,). Faster than their distance."""
    answers, many = _answers(a, b, narrowphase, device, gap=0.0)
    return answers.separation <= 0.0 if many else bool(answers.separation[0] <= 0.0)


def _answers(a: Any, b: Any, narrowphase: Any, device: str, gap: float = NOWHERE) -> tuple[Answers, bool]:
    method = method_of(narrowphase)
    one, two = read(a, "Placement a"), read(b, "Placement b")
    count = paired(len(one), len(two), "A distance", "placements in a", "in b")
    arrangement = arrange(joined([one, two]), device)
    first = np.broadcast_to(np.arange(len(one)), count)
    second = np.broadcast_to(len(one) + np.arange(len(two)), count)
    return meet(arrangement, first, second, method, gap), one.many or two.many
