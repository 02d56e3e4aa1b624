"""Workspaces by sampling: where the tip of a tree comes to, and in how many directions it can point there.

    reachable     {p(q)},  q within the limits
    dexterity     share of all directions in which the tip comes to a cell; where it is one, the cell is dexterous
    area, volume  h^d (N − ½ N_edge)

p place of the tip, h side of a cell, d 2 or 3, N cells that are visited, N_edge those of them beside a cell that is
not: the edge of the workspace runs through them, and on average half of each belongs to it.

    configurations   a Kronecker sequence, q_k = low + frac(½ + k α) (high − low), α_j = φ⁻ʲ with φ^{n+1} = φ + 1:
                     evener than random ones, and the same ones always
    cells            must be visited some ten times each to be found; ask for more samples or for fewer cells otherwise
    dexterous cells  are too many, by one or two all along their edge, as a direction need only be found somewhere in a
                     cell; the excess shrinks with its side

Cost: one forward kinematics a sample, all side by side; a million of a 6-axis arm take about a second.

Reference: Merlet, Parallel Robots (2006), chapter 7, for the names; Zacharias, Borst and Hirzinger, IROS 2007, for the
share of directions; Roberts, "The unreasonable effectiveness of quasirandom sequences" (2018), for the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.grid import Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

AT_ONCE = 100_000
FLAT = 1e-9


class Dexterity(NamedTuple):
    """How freely a tip can point, cell by cell.

    Attributes:
        reached: Cells it comes to.
        share: Share of all directions in which it does (nx, ny, nz).
    """

    reached: Region
    share: Floats

    def dexterous(self, least: float = 1.0) -> Region:
        """Cells in which it can point in at least so large a share of all directions."""
        return Region(self.reached.low, self.reached.spacing, self.share >= least)


@sealed
@dataclass(frozen=True, eq=False)
class Cloud:
    """Samples of the workspace of a tree.

    Attributes:
        q: Configurations (n, coordinates) [rad or m].
        points: Where the tip is (n, 3) [m]: a cloud of points to look at.
        turns: How it is turned (n, 3, 3).
    """

    q: Floats
    points: Floats
    turns: Floats

    @property
    def planar(self) -> bool:
        """Whether all points lie in one plane of constant z."""
        return bool(np.ptp(self.points[:, 2]) <= FLAT * max(1.0, float(np.abs(self.points).max())))

    def region(self, cells: int = 100) -> Region:
        """The cells it visits.

        Args:
            cells: Number of cells along the longest side of the box it lies in.
        """
        low, spacing, shape = self._grid(cells)
        inside = np.zeros(shape, dtype=np.bool_)
        inside[tuple(self._cells(low, spacing, shape).T)] = True
        return Region(low, spacing, inside)

    def area(self, cells: int = 100) -> float:
        """Area that it covers in a plane of constant z [m²]."""
        if not self.planar:
            raise InputError("The points do not lie in one plane of constant z; ask for their volume.")
        found = self.region(cells)
        return _filled(np.asarray(found.inside.any(axis=2))) * found.spacing**2

    def volume(self, cells: int = 60) -> float:
        """Volume that it fills [m³]."""
        found = self.region(cells)
        return _filled(found.inside) * found.spacing**3

    def section(self, axis: int, at: float, thickness: float) -> Floats:
        """Points of a slice across an axis.

        Args:
            axis: 0, 1 or 2 for x, y or z.
            at: Where its middle is [m].
            thickness: How thick it is [m].

        Returns:
            Points (m, 3) [m].
        """
        axis = checks.count(axis, "The axis of a section", least=0, most=2)
        off = np.abs(self.points[:, axis] - checks.number(at, "The place of a section"))
        return self.points[off <= 0.5 * checks.positive(thickness, "The thickness of a section")]

    def dexterity(self, cells: int = 40, directions: int = 24) -> Dexterity:
        """In how many directions the tip comes to each cell: of its x axis in a plane, of its z axis in space.

        Args:
            cells: Number of cells along the longest side of the box it lies in.
            directions: Number of parts all directions are divided into.
        """
        count = checks.count(directions, "The number of directions")
        low, spacing, shape = self._grid(cells)
        cell = np.ravel_multi_index(tuple(self._cells(low, spacing, shape).T), shape)
        part = _planar_part(self.turns, count) if self.planar else _part_of_sphere(self.turns[:, :, 2], count)
        pairs = np.unique(cell * count + part)
        share = np.bincount(pairs // count, minlength=int(np.prod(shape))).reshape(shape) / count
        return Dexterity(Region(low, spacing, share > 0.0), share)

    def _grid(self, cells: int) -> tuple[Floats, float, tuple[int, ...]]:
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        spacing = max(float((high - low).max()), FLAT) / checks.count(cells, "The number of cells")
        # A little room, so that the last points are not beside the last cells.
        shape = np.maximum(np.ceil((high - low) / spacing - FLAT), 1.0).astype(int)
        return low, spacing, tuple(shape.tolist())

    def _cells(self, low: Floats, spacing: float, shape: tuple[int, ...]) -> Any:
        index = np.floor((self.points - low) / spacing).astype(np.int64)
        return np.clip(index, 0, np.array(shape) - 1)


def sample(tree: Tree, count: int = 100_000, tool: str = "tip") -> Cloud:
    """Samples of the workspace of a tree, spread evenly over its configurations.

    Args:
        tree: The tree; joints without limits turn all the way round.
        count: Number of samples.
        tool: The tool, or the link, whose places are meant.
    """
    q = configurations(tree, checks.count(count, "The number of samples"))
    frames = [tree.forward(q[start : start + AT_ONCE], tool) for start in range(0, len(q), AT_ONCE)]
    places = np.concatenate([frame[:, :3, 3] for frame in frames])
    turns = np.concatenate([frame[:, :3, :3] for frame in frames])
    return Cloud(q, places, turns)


def configurations(tree: Tree, count: int) -> Floats:
    """Configurations spread evenly within the limits, always the same ones (count, coordinates) [rad or m]."""
    low = np.where(np.isfinite(tree.lower), tree.lower, -np.pi)
    high = np.where(np.isfinite(tree.upper), tree.upper, np.pi)
    ratio = 2.0
    for _ in range(60):  # a fixed point of φ = (1 + φ)^(1/(n+1)), which is left by less than a half each time
        ratio = (1.0 + ratio) ** (1.0 / (len(low) + 1.0))
    steps = ratio ** -np.arange(1.0, len(low) + 1.0)
    return low + np.mod(0.5 + np.outer(np.arange(1, count + 1), steps), 1.0) * (high - low)


def _filled(inside: NDArray[np.bool_]) -> float:
    """Number of cells that are visited, those at the edge counted half."""
    padded = np.pad(inside, 1)
    around = np.zeros(inside.shape, dtype=np.bool_)
    for shift in np.ndindex(*[3] * inside.ndim):
        part = tuple(slice(s, s + n) for s, n in zip(shift, inside.shape, strict=True))
        around |= ~padded[part]
    return float(inside.sum()) - 0.5 * float((inside & around).sum())


def _planar_part(turns: Floats, count: int) -> NDArray[np.int64]:
    """Which part of the circle an x axis points into."""
    angle = np.mod(np.arctan2(turns[:, 1, 0], turns[:, 0, 0]), 2.0 * np.pi)
    return np.minimum((angle / (2.0 * np.pi) * count).astype(np.int64), count - 1)


def _part_of_sphere(directions: Floats, count: int) -> NDArray[np.int64]:
    """Which of points spread evenly over the sphere a direction is nearest to."""
    k = np.arange(count) + 0.5
    height, around = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    flat = np.sqrt(1.0 - height**2)
    centres = np.stack([flat * np.cos(around), flat * np.sin(around), height], axis=1)
    parts = [(directions[i : i + AT_ONCE] @ centres.T).argmax(axis=1) for i in range(0, len(directions), AT_ONCE)]
    return np.concatenate(parts).astype(np.int64)
