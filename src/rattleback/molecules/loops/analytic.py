"""Analytic loop closure: three pivots of the loop are turned so that it closes exactly, in all ways there are.

A start leaves the loop open. Its residues between three pivots are rigid pieces, which makes it a tripeptide with long
units (see ``tripeptide``); both dihedrals of each pivot are found from its closures, all others stay as they are.

    a start, or what another method made of it;  the end of the chain is laid on the anchor
    all closures over the first, the middle and the last residue; where there is none, over other pivots
    the six dihedrals are measured on the closed chain, and the chain is built anew from them

Cost: some 10 µs a start and triple of pivots.
Use it: for closures to rounding, and for all of them. Alone, from random starts, most of which cannot be closed by
three pivots; behind ccd, which brings the ends so near that nearly all can.
References: Coutsias, Seok, Jacobson and Dill, Journal of Computational Chemistry 25 (2004), 510-528; Mandell,
Coutsias and Kortemme, "Sub-angstrom accuracy in protein loop reconstruction by robotics-inspired conformational
sampling", Nature Methods 6 (2009), 551-552 (pivots in long loops).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.molecules.geometry import angle, dihedral, unit, wrapped
from rattleback.molecules.loops.found import Found
from rattleback.molecules.loops.tripeptide import close_pivots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.loops.chain import LoopChain

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# The method before is asked again, each time for a tenth of its tolerance, where its end is still too far off.
ROUNDS = 4


@sealed
@dataclass(frozen=True)
class Analytic:
    """Analytic closure over three pivots, from starts or from what another method makes of them.

    Args:
        inner: The method before it, a dataclass with a ``tolerance``, such as ``LoopCCD()``; None for none.
        tolerance: Distance of the end from the anchor, root of the mean square, that is closed [Å].
        triples: Most triples of pivots that are tried.
    """

    inner: Any = None
    tolerance: float = 1e-9
    triples: int = 12

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.positive(self.tolerance, "The tolerance of analytic")
        checks.count(self.triples, "The triples of analytic")

    def close(self, chain: LoopChain, starts: Floats) -> Found:
        """All closures of each start, those nearest to it first; a start without any stays as it is, not closed."""
        q, waiting, found = starts.copy(), np.arange(len(starts)), []
        inner = self.inner
        for _ in range(ROUNDS if inner is not None else 1):
            if inner is not None:
                q[waiting] = inner.close(chain, q[waiting]).q
                inner = replace(inner, tolerance=0.1 * inner.tolerance)
            for pivots in self._triples(chain):
                rows, closed = close_over(chain, q[waiting], pivots)
                miss = chain.descend(closed, np.inf, 1).miss if len(closed) else np.zeros(0)
                good = miss <= self.tolerance
                found.append((closed[good], waiting[rows[good]], miss[good]))
                waiting = np.setdiff1d(waiting, waiting[rows[good]])
                if not len(waiting):
                    break
            if not len(waiting):
                break
        left = chain.descend(q[waiting], np.inf, 1).miss if len(waiting) else np.zeros(0)
        found.append((q[waiting], waiting, left))
        parts = [np.concatenate([part[k] for part in found]) for k in range(3)]
        apart = np.linalg.norm(wrapped(parts[0] - q[parts[1]]), axis=1)
        order = np.lexsort([apart, parts[1]])
        q, start, miss = (part[order] for part in parts)
        return Found(q, start, miss, miss <= self.tolerance)

    def _triples(self, chain: LoopChain) -> list[tuple[int, int, int]]:
        """Pivots to try, those far apart first."""
        turns = set(chain.pivots.tolist())
        free = [k for k in range(len(chain.residues)) if {3 * k + 1, 3 * k + 2} <= turns]
        if len(free) < 3:
            raise InputError(
                f"Loop {chain.name} has {len(free)} residues with φ and ψ to turn; three pivots are needed."
            )
        return sorted(combinations(free, 3), key=lambda k: abs(k[1] - k[0] - (k[2] - k[1])) - 2 * (k[2] - k[0]))[
            : self.triples
        ]


def close_over(chain: LoopChain, q: Floats, pivots: tuple[int, int, int]) -> tuple[Integers, Floats]:
    """All closures of chains over three pivots.

    Args:
        chain: The loop.
        q: Dihedrals (n, joints) [rad].
        pivots: Places of the pivots among the residues of the loop.

    Returns:
        The row of q each closure came from (m,), and its dihedrals (m, joints) [rad].
    """
    i, j, k = pivots
    points = chain.descend(q, np.inf, 1).points
    tail = _mapping(points[:, -1], np.broadcast_to(chain.native[-1], points[:, -1].shape))
    behind = np.stack([_moved(tail, points[:, k, 1]), _moved(tail, points[:, k, 2])], axis=1)
    ends = np.concatenate([points[:, i, :2], behind], axis=1)
    units = points[:, [i, i, j, j, j, j, k, k], [1, 2, 0, 1, 1, 2, 0, 1]]
    bends = np.cos([angle(*chain.native[place]) for place in pivots])
    closures = close_pivots(ends, units, np.broadcast_to(bends, (len(q), 3)), chain.protein.device)
    there = np.arange(closures.positions.shape[1])[None] < closures.counts[:, None]
    rows, _ = np.nonzero(there)
    now, found = closures.positions[there], q[rows]
    place = {pivot: column for column, pivot in enumerate(chain.pivots.tolist())}
    sides = _sides(chain, points[rows], now, pivots)
    for at, (ahead, after), (n, alpha, c) in zip(pivots, sides, now.transpose(1, 2, 0, 3), strict=True):
        found[:, place[3 * at + 1]] = dihedral(ahead, n, alpha, c)
        found[:, place[3 * at + 2]] = dihedral(n, alpha, c, after)
    return rows, found


def _sides(chain: LoopChain, points: Floats, now: Floats, pivots: tuple[int, int, int]) -> list[tuple[Floats, Floats]]:
    """The C before and the N after each pivot of closed chains, each (m, 3) [Å].

    Args:
        chain: The loop.
        points: The chains before they were closed (m, residues + 1, 3, 3) [Å].
        now: N, Cα, C of the pivots of the closed chains (m, 3, 3, 3) [Å].
        pivots: Places of the pivots among the residues of the loop.
    """
    i, j, k = pivots
    one = _mapping(points[:, [i, i, j], [1, 2, 1]], now[:, [0, 0, 1], [1, 2, 1]])
    two = _mapping(points[:, [j, j, k], [1, 2, 1]], now[:, [1, 1, 2], [1, 2, 1]])
    tail = _mapping(points[:, -1], np.broadcast_to(chain.native[-1], points[:, -1].shape))
    before = points[:, i - 1, 2] if i else np.broadcast_to(chain.before, (len(points), 3))
    return [
        (before, _moved(one, points[:, i + 1, 0])),
        (_moved(one, points[:, j - 1, 2]), _moved(two, points[:, j + 1, 0])),
        (_moved(two, points[:, k - 1, 2]), _moved(tail, points[:, k + 1, 0])),
    ]


def _mapping(source: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Rigid motions that take three points each to others (n, 3, 3): turns, and the first points of both."""
    turn = np.einsum("nij,nkj->nik", _axes(target), _axes(source))
    return turn, source[:, 0], target[:, 0]


def _moved(mapping: tuple[Floats, Floats, Floats], points: Floats) -> Floats:
    """Points (n, 3) carried along."""
    turn, source, target = mapping
    return target + np.einsum("nij,nj->ni", turn, points - source)


def _axes(points: Floats) -> Floats:
    """Axes through three points each, as columns (n, 3, 3)."""
    x = unit(points[:, 1] - points[:, 0])
    z = unit(np.cross(x, points[:, 2] - points[:, 0]))
    return np.stack([x, np.cross(z, x), z], axis=2)
