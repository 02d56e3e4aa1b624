"""A pair of gears: their pitch circles roll on each other without slip.

    R_a f(φ_a) + R_b φ_b = const,   f(φ) = φ + b₂ φ² + b₃ φ³ + b₄ φ⁴

Symbols: φ_a azimuth of the line of centres seen from A, about its axis; φ_b the same seen from B; R_a, R_b radii of
the pitch circles, with opposite signs where one lies inside the other; b the bend, zero for circles. Only the two
bodies enter, so that it holds on a carrier that turns too: sun, planets and ring need no joint of their own kind.

Where the axes cross (bevel gears) the pitch circles touch at the point P common to their planes and to the plane of the
axes. The centres are then replaced by the points where the line through P, perpendicular to its ray from the apex,
meets the axes (the back cones of Tredgold). P lies on their line, so that the row is again the slip at P.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.bend import bend_of, keep_bend
from rattleback.joints.joint import Placement, RowSpec, Z, framed

# Relative to the distance of the centres: how well pitch circles must touch, and axes meet.
FIT = 1e-6


class Mesh(NamedTuple):
    """Where two gears meet: the points on the axes whose line passes through the point where they touch."""

    first: np.ndarray
    second: np.ndarray
    touch: np.ndarray


@sealed
@dataclass(frozen=True)
class Gear(Placement):
    """A pair of gears whose pitch circles roll on each other. It only couples them; their bearings are other joints.

    ``at`` and ``axis`` are the centre and the axis of gear A, ``at_b`` and ``axis_b`` those of B. Where the axes cross,
    the centres determine the radii. Placed by frames, gears need ``radii``: the points are the centres, the z axes the
    axes, pointing the same way (of bevel gears both away from where they meet), and each x axis points at the other
    centre where the gears mesh.

    Args:
        ratio: Turns of A for one turn of B, R_b/R_a; the radii then follow from the distance of the centres.
        radii: Radii of the two pitch circles (2,) [m], instead of a ratio.
        internal: Whether one gear lies inside the other, the larger one being the ring.
        bend: Parts (3,) of the second to fourth power in what A rolls, which then is no circle: B follows a polynomial.
    """

    ratio: float | None = None
    radii: Any = None
    internal: bool = False
    bend: Any = field(default=None, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_z", "turn_x", "turn_y", "roll")

    def __post_init__(self) -> None:
        """Check the geometry and find the radii."""
        super().__post_init__()
        keep_bend(self)
        object.__setattr__(self, "internal", checks.flag(self.internal, "The option internal of Gear"))
        if self.ratio is not None:
            object.__setattr__(self, "ratio", checks.positive(self.ratio, "The ratio of Gear"))
        if self.radii is not None:
            self._check_radii()
        if self.in_bodies:
            if self.radii is None:
                raise InputError("Gear is placed by frames; it then needs radii=, those of its pitch circles [m].")
            return
        found = self._crossed_radii() if self._crosses() else self._parallel_radii()
        if self.radii is None:
            object.__setattr__(self, "radii", found)
        self._check_fit(found)
        object.__setattr__(self, "ratio", self.radii[1] / self.radii[0])

    def _check_radii(self) -> None:
        given = checks.array(self.radii, (2,), "The radii of Gear")
        radii = tuple(checks.positive(radius, "A radius of Gear") for radius in given.tolist())
        if self.internal and radii[0] == radii[1]:
            raise InputError(f"Both radii of Gear are {radii[0]:g} m; one gear cannot lie inside the other.")
        if self.ratio is not None and abs(self.ratio * radii[0] / radii[1] - 1.0) > FIT:
            raise InputError(f"The radii {radii} of Gear have another ratio than {self.ratio:g}; give one of the two.")
        object.__setattr__(self, "radii", radii)

    def _check_fit(self, found: tuple[float, float]) -> None:
        if np.abs(np.subtract(self.radii, found)).max() > FIT * max(found):
            raise InputError(
                f"The pitch circles of Gear have the radii {self.radii[0]:.6g} m and {self.radii[1]:.6g} m; to touch, "
                f"those around its centres would be {found[0]:.6g} m and {found[1]:.6g} m."
            )
        ratio = found[1] / found[0]
        if self.ratio is not None and abs(self.ratio / ratio - 1.0) > FIT:
            raise InputError(
                f"The ratio of Gear is {self.ratio:.6g}; where axes cross the centres determine it: {ratio:.6g}."
            )

    def _way(self) -> np.ndarray:
        return np.subtract(self.at_b, self.at)

    def _crosses(self) -> bool:
        return bool(np.linalg.norm(np.cross(self.axis, self.axis_b)) > FIT)

    def _across(self) -> np.ndarray:
        """Way from the centre of A to the axis of B, where the axes are parallel."""
        across = self._way() - (self._way() @ np.array(self.axis)) * np.array(self.axis)
        if np.linalg.norm(across) <= FIT * np.linalg.norm(self._way()):
            raise InputError("Both gears of Gear have the same axis; give at=, the centre of A, and at_b=, that of B.")
        return across

    def _parallel_radii(self) -> tuple[float, float]:
        """Radii of circles that touch: with the ratio asked for, or that of the radii given."""
        distance = float(np.linalg.norm(self._across()))
        if self.ratio is None and self.radii is None:
            raise InputError("Gear needs ratio= or radii=; where the axes are parallel the centres leave it open.")
        ratio = self.ratio if self.radii is None else self.radii[1] / self.radii[0]
        ratio = float(ratio or 0.0)
        if self.internal and ratio == 1.0:
            raise InputError("The ratio of Gear is 1; one gear cannot lie inside the other.")
        first = distance / (abs(ratio - 1.0) if self.internal else 1.0 + ratio)
        return first, ratio * first

    def _crossed_radii(self) -> tuple[float, float]:
        """Radii of the circles about both axes that touch."""
        if self.internal:
            raise InputError("Gear is internal and its axes cross; there the centres say how the gears touch.")
        normal = np.cross(self.axis, self.axis_b)
        if abs(self._way() @ normal) > FIT * np.linalg.norm(self._way()) * np.linalg.norm(normal):
            raise InputError("The axes of Gear neither are parallel nor meet; such gears slip on each other.")
        touch = self._mesh().touch
        return float(np.linalg.norm(touch - self.at)), float(np.linalg.norm(touch - self.at_b))

    def _mesh(self) -> Mesh:
        return self._crossed_mesh() if self._crosses() else self._parallel_mesh()

    def _parallel_mesh(self) -> Mesh:
        across = self._across()
        reach = self.radii[0] / np.linalg.norm(across)
        inside = self.internal and self.radii[1] > self.radii[0]
        return Mesh(np.array(self.at), self.at + across, self.at + (-reach if inside else reach) * across)

    def _crossed_mesh(self) -> Mesh:
        (a, b), (p, q), way = (self.axis, self.axis_b), (np.array(self.at), np.array(self.at_b)), self._way()
        a, b = np.array(a), np.array(b)
        cosine, sine = a @ b, np.linalg.norm(np.cross(a, b))
        beside_a, beside_b = (b - cosine * a) / sine, (a - cosine * b) / sine
        # Ways of the centres from the apex along the axes, and radii, with signs.
        far_a, far_b = -(way @ beside_b) / sine, (way @ beside_a) / sine
        radius_a, radius_b = (way @ b) / sine, -(way @ a) / sine
        if min(map(abs, (far_a, far_b, radius_a, radius_b))) <= FIT * np.linalg.norm(way):
            raise InputError(
                f"The centres {self.at} and {self.at_b} of Gear leave a gear without a radius, or lie where its axes "
                "meet; give the centres of the pitch circles, at= and at_b=."
            )
        return Mesh(p + radius_a**2 / far_a * a, q + radius_b**2 / far_b * b, p + radius_a * beside_a)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Anchors on A and B (3,) [m]; the line between them passes through the point where the gears touch."""
        return super().points() if self.in_bodies else (self._mesh().first, self._mesh().second)

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B as quaternions; each x axis points at the other gear."""
        if self.in_bodies:
            return super().frames()
        first, second = self.points()
        return framed(second - first, np.array(self.axis)), framed(first - second, np.array(self.axis_b))

    def rows(self) -> list[RowSpec]:
        """The motion it forbids."""
        if self.in_bodies:
            first, second = self.radii
            signs = (1, 1) if not self.internal else (-1, 1) if second > first else (1, -1)
            return [RowSpec("mesh", Z, Z, 0.0, signs[0] * first, signs[1] * second, bend=bend_of(self))]
        mesh = self._mesh()
        way = mesh.second - mesh.first
        part = (mesh.touch - mesh.first) @ way / (way @ way)
        beside_a, beside_b = np.cross(self.axis, way), np.cross(self.axis_b, way)
        radius_b = (1.0 - part) * np.linalg.norm(beside_b) * np.sign(beside_a @ beside_b)
        return [RowSpec("mesh", Z, Z, 0.0, float(part * np.linalg.norm(beside_a)), float(radius_b), bend=bend_of(self))]
