"""Hurdles: low boxes on the ground that a figure steps over.

    z' = z + (h + m) w(u) c(s)        a foot that would land within u_max of the middle lands there instead

u way along the hurdle's depth, h its height, m a margin; w one above the hurdle and a foot's length around it,
falling to zero beside it, c one but at both ends of a swing, s how far the foot has swung. Feet that stand are not
touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Room above a hurdle and beside it, and over which a foot goes up beside that [m].
ABOVE, BESIDE, RAMP = 0.05, 0.05, 0.3
# Part of a swing in which a foot leaves the ground and meets it.
ENDS = 0.15


@sealed
@dataclass(frozen=True)
class Hurdle:
    """A low box on the ground.

    Args:
        place: Its middle on the ground (2,) [m].
        height: Its height [m].
        depth: Its size along its heading [m].
        width: Its size across [m].
        heading: The way over it, a turn about z from x [rad].
    """

    place: Any
    height: float
    depth: float = 0.1
    width: float = 2.0
    heading: float = 0.0

    def __post_init__(self) -> None:
        """Check it and keep plain values."""
        place = tuple(float(x) for x in checks.array(self.place, (2,), "The place of a hurdle"))
        object.__setattr__(self, "place", place)
        for name in ("height", "depth", "width"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), f"The {name} of a hurdle"))
        object.__setattr__(self, "heading", checks.number(self.heading, "The heading of a hurdle"))

    def lift(self, heel: Floats, ball: Floats, swung: float) -> float:
        """How far a foot that swings is lifted [m].

        Args:
            heel: Where its heel is (3,) [m].
            ball: Where its ball is (3,) [m].
            swung: How far it has swung, from 0 to 1.
        """
        u, across = np.array([self._local(heel), self._local(ball)]).T
        if np.abs(across).min() > 0.5 * self.width + BESIDE:
            return 0.0
        away = 0.0 if u[0] * u[1] < 0.0 else float(np.abs(u).min())
        near = _gentle(1.0 - (away - 0.5 * self.depth - BESIDE) / RAMP)
        return (self.height + ABOVE) * near * _gentle(swung / ENDS) * _gentle((1.0 - swung) / ENDS)

    def clear(self, heel: Floats, ball: Floats) -> Floats:
        """The shift that takes a foot that lands out of its way (3,) [m]."""
        u, across = np.array([self._local(heel), self._local(ball)]).T
        room = 0.5 * self.depth + 2.0 * BESIDE
        if np.abs(across).min() > 0.5 * self.width + BESIDE or u.max() < -room or u.min() > room:
            return np.zeros(3)
        before, behind = -room - u.max(), room - u.min()
        step = before if abs(before) < abs(behind) else behind
        return step * np.array([np.cos(self.heading), np.sin(self.heading), 0.0])

    def _local(self, point: Floats) -> tuple[float, float]:
        x, y = point[0] - self.place[0], point[1] - self.place[1]
        c, s = np.cos(self.heading), np.sin(self.heading)
        return float(c * x + s * y), float(c * y - s * x)


def _gentle(part: float) -> float:
    t = min(1.0, max(0.0, part))
    return t * t * (3.0 - 2.0 * t)
