"""Exact workspaces of planar arms: bars one after the other in a plane, each turned about an axis across it.

    reachable, without limits    max(0, 2 max L − Σ L) ≤ |p| ≤ Σ L
    dexterous, without limits    the circle of radius L_n about p lies in what the other bars reach
    with limits, two bars        A = ∫₀^π L₁ L₂ sin θ m(θ) dθ

p place of the tip, L lengths of the bars, θ angle between two bars, m angle that the tips with ±θ sweep together while
the first joint turns from limit to limit, as p² = L₁² + L₂² + 2 L₁ L₂ cos θ depends on θ only.

The edge, with limits, is made of arcs: every joint is at a limit, or those that are not are stretched or folded into a
line with the tip, which then moves about the first of them. ``arcs`` lists all of these curves for any number of bars;
some of them lie inside.

Cost: arcs 3ⁿ 2ⁿ⁻¹ at most for n bars.

Reference: Spanos and Kohli, J. Mech. Transm. Autom. Des. 107 (1985), 216–222; Kumar and Waldron, J. Mech. Des. 103
(1981), 665–672, for the dexterous workspace.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

TURN = 2.0 * np.pi
# Points of the quadrature of an area; its integrand is smooth but for a few kinks.
POINTS = 20_000
FLAT = 1e-9


class Arc(NamedTuple):
    """An arc of a circle in the plane of an arm.

    Attributes:
        centre: Its centre (2,) [m].
        radius: Its radius [m].
        start: Angle of its first point [rad].
        sweep: Angle to its last point [rad], at most a full turn.
    """

    centre: Floats
    radius: float
    start: float
    sweep: float

    def points(self, count: int = 200) -> Floats:
        """Points along it (count, 2) [m]."""
        angle = self.start + np.linspace(0.0, self.sweep, count)
        return self.centre + self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@sealed
@dataclass(frozen=True, eq=False)
class PlanarArm:
    """Bars in a plane, from the base outwards.

    Attributes:
        lengths: Lengths of the bars (n,) [m].
        lower: Least angle of each joint (n,) [rad]; −∞ without limits. Zero where a bar goes on as the one before.
        upper: Greatest angle of each joint (n,) [rad].
    """

    lengths: Floats
    lower: Floats
    upper: Floats

    @property
    def limited(self) -> bool:
        """Whether a joint cannot make a full turn."""
        return bool(((self.upper - self.lower) < TURN - FLAT).any())

    @property
    def reach(self) -> tuple[float, float]:
        """Least and greatest distance of the tip from the base without limits [m]."""
        return _ring(self.lengths)

    def area(self) -> float:
        """Area of the reachable workspace [m²], for arms without limits or of two bars."""
        if not self.limited:
            inner, outer = self.reach
            return float(np.pi * (outer**2 - inner**2))
        if len(self.lengths) != 2:
            raise InputError(
                f"The area of an arm of {len(self.lengths)} bars with limits has no closed form here; sample it, or "
                "take the limits away."
            )
        return self._area_of_two()

    def dexterous(self) -> list[tuple[float, float]]:
        """Rings (inner, outer) [m] of distances at which the last bar can point anywhere; none where there is none."""
        if self.limited or len(self.lengths) < 2:
            raise InputError("The dexterous workspace is known exactly for arms of two bars or more without limits.")
        (inner, outer), last = _ring(self.lengths[:-1]), float(self.lengths[-1])
        # The circle of radius L_n stays within the outer circle and does not cut the inner one, beside it or in it.
        rings = [
            (max(0.0, last + inner if inner > FLAT else 0.0), outer - last),
            (0.0, min(last - inner, outer - last)),
        ]
        found = rings[:1] if inner <= FLAT else rings
        return [(low, high) for low, high in found if high >= low >= 0.0 and high >= 0.0]

    def dexterous_area(self) -> float:
        """Area of the dexterous workspace [m²]."""
        return float(sum(np.pi * (high**2 - low**2) for low, high in self.dexterous()))

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether the tip reaches points (..., 2) [m], for arms without limits or of two bars (...)."""
        place = np.asarray(points, dtype=np.float64)
        distance = np.hypot(place[..., 0], place[..., 1])
        inner, outer = self.reach
        within = (distance >= inner) & (distance <= outer)
        if not self.limited:
            return within
        if len(self.lengths) != 2:
            raise InputError(
                "Whether an arm of more than two bars with limits reaches a point is not known in closed form."
            )
        first, second = self.lengths
        cosine = (distance**2 - first**2 - second**2) / (2.0 * first * second)
        bend = np.arccos(np.clip(cosine, -1.0, 1.0))
        lead = np.arctan2(second * np.sin(bend), first + second * np.cos(bend))
        towards = np.arctan2(place[..., 1], place[..., 0])
        found = [self._allowed(1, s * bend) & self._allowed(0, towards - s * lead) for s in (1.0, -1.0)]
        return within & (found[0] | found[1])

    def arcs(self) -> list[Arc]:
        """Curves of which the edge of the reachable workspace is made; some lie inside."""
        ends = [
            [None, *([low, high] if np.isfinite(low) else [])] for low, high in zip(self.lower, self.upper, strict=True)
        ]
        found = []
        for choice in product(*ends):
            free = [k for k, value in enumerate(choice) if value is None]
            for signs in product((1.0, -1.0), repeat=max(len(free) - 1, 0)):
                arc = self._arc(list(choice), free, signs) if free else None
                if arc is not None:
                    found.append(arc)
        return found

    def outline(self, count: int = 400, gap: float = 1e-6) -> Floats:
        """Points of the edge of the reachable workspace (m, 2) [m], for arms without limits or of two bars.

        Args:
            count: Points on each curve, before those inside are left out.
            gap: How far beside a curve it is looked whether the arm still reaches [m].
        """
        kept = []
        for arc in self.arcs():
            points = arc.points(count)
            away = (points - arc.centre) / max(arc.radius, FLAT)
            inside, outside = self.contains(points - gap * away), self.contains(points + gap * away)
            kept.append(points[inside != outside])
        return np.concatenate(kept)

    def _arc(self, choice: list[Any], free: list[int], signs: tuple[float, ...]) -> Arc | None:
        """The arc of joints at limits, but for the free ones, which are in a line with the tip; None if they cannot."""
        stops = [*free, len(self.lengths)]
        rigid = [self._carried(choice, one, other) for one, other in pairwise(stops)]
        # Each rigid piece is laid along the line, or folded back, by the free joint before it.
        heading = np.angle(rigid[0][0])
        reach, before = abs(rigid[0][0]), rigid[0][1]
        for joint, (way, turned), sign in zip(free[1:], rigid[1:], signs, strict=True):
            wanted = heading + (0.0 if sign > 0.0 else np.pi) - np.angle(way)
            if not self._allowed(joint, wanted - before):
                return None
            reach, before = reach + sign * abs(way), wanted + turned
        root, turn = self._carried(choice, 0, free[0]) if free[0] else (0.0, 0.0)
        low, high = self.lower[free[0]], self.upper[free[0]]
        if not np.isfinite(low) or high - low >= TURN:
            low, high = -np.pi, np.pi
        start = turn + low + heading + (np.pi if reach < 0.0 else 0.0)
        return Arc(np.array([np.real(root), np.imag(root)]), abs(reach), float(start), float(high - low))

    def _carried(self, choice: list[Any], first: int, last: int) -> tuple[complex, float]:
        """Way from joint ``first`` to joint ``last``, seen with joint ``first`` at zero if it is free, and the turn."""
        way, angle = 0.0 + 0.0j, 0.0
        for k in range(first, last):
            angle += 0.0 if choice[k] is None else choice[k]
            way += self.lengths[k] * np.exp(1j * angle)
        return way, angle

    def _allowed(self, joint: int, angle: Any) -> Any:
        """Whether a joint can have an angle, however many turns away."""
        low, high = self.lower[joint], self.upper[joint]
        if not np.isfinite(low) or high - low >= TURN:
            return np.ones(np.shape(angle), dtype=np.bool_)
        return np.mod(np.asarray(angle) - low + FLAT, TURN) <= high - low + 2.0 * FLAT

    def _area_of_two(self) -> float:
        first, second = self.lengths
        edges = [0.0, np.pi]
        for limit in (self.lower[1], self.upper[1]):
            if np.isfinite(limit):
                folded = abs(np.mod(limit + np.pi, TURN) - np.pi)
                edges.append(float(folded))
        edges = sorted(set(edges))
        total = 0.0
        for low, high in pairwise(edges):
            step = (high - low) / POINTS
            bend = low + (np.arange(POINTS, dtype=np.float64) + 0.5) * step
            total += float((first * second * np.sin(bend) * self._swept(bend)).sum()) * step
        return total

    def _swept(self, bend: Floats) -> Floats:
        """Angle that the tips with ±bend sweep together while the first joint turns (n,) [rad]."""
        first, second = self.lengths
        width = min(self.upper[0] - self.lower[0], TURN)
        apart = 2.0 * np.arctan2(second * np.sin(bend), first + second * np.cos(bend))
        shared = np.maximum(0.0, width - apart) + np.maximum(0.0, width - (TURN - apart))
        both = np.minimum(2.0 * width - shared, TURN)
        one = [np.asarray(self._allowed(1, sign * bend)) for sign in (1.0, -1.0)]
        return np.where(one[0] & one[1], both, np.where(one[0] | one[1], width, 0.0))


def planar_arm(tree: Tree, tool: str = "tip") -> PlanarArm:
    """The bars of a tree, if it is an arm in a plane.

    Args:
        tree: A chain of revolute joints about parallel axes.
        tool: Its tip.
    """
    chain = [tree.links[k] for k in tree.path(tool)]
    moving = [link for link in chain if link.joint != "fixed"]
    if any(link.joint != "revolute" or link.mimic is not None for link in moving) or not moving:
        raise InputError(f"{tree.name!r} is no planar arm; all joints must be revolute, with coordinates of their own.")
    zero = np.zeros(len(tree.coordinates))
    frames = [tree.forward(zero, link.name) for link in moving]
    axes = np.stack([frame[:3, :3] @ np.array(link.axis) for frame, link in zip(frames, moving, strict=True)])
    places = np.stack([frame[:3, 3] for frame in [*frames, tree.forward(zero, tool)]])
    if np.abs(np.cross(axes, axes[0])).max() > FLAT:
        raise InputError(f"{tree.name!r} is no planar arm; the axes of its joints must be parallel.")
    ways = np.diff(places, axis=0)
    ways -= np.outer(ways @ axes[0], axes[0])
    across = np.cross(axes[0], ways[0])
    length, sign = np.linalg.norm(ways, axis=1), np.sign(axes @ axes[0])
    heading = np.arctan2(ways @ across, ways @ ways[0])
    # What the joint shows when its bar goes on as the one before, and which way it counts.
    bent = np.diff(heading, prepend=0.0)
    columns = [tree.coordinates.index(link.name) for link in moving]
    ends = np.stack([sign * tree.lower[columns], sign * tree.upper[columns]])
    return PlanarArm(length, ends.min(axis=0) + bent, ends.max(axis=0) + bent)


def _ring(lengths: Floats) -> tuple[float, float]:
    total, longest = float(lengths.sum()), float(lengths.max())
    return max(0.0, 2.0 * longest - total), total
