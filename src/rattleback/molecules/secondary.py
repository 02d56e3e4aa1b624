"""Helices and strands of a protein, from the hydrogen bonds of its backbone, for ribbons.

    E = 27.9 kcal Å/mol · (1/r_ON + 1/r_CH − 1/r_OH − 1/r_CN),   a bond from N-H to C=O below −0.5 kcal/mol

An α-helix is where two bonds i → i + 4 follow one another; a strand where a bridge to another one does: bonds across on
both sides of a residue pair, antiparallel or parallel.

Reference: Kabsch and Sander, "Dictionary of protein secondary structure", Biopolymers 22 (1983), 2577-2637; only its
α-helices and bridges are told here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from rattleback.molecules.geometry import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]

COIL, HELIX, STRAND = "coil", "helix", "strand"
FACTOR, BONDED, N_H = 27.9, -0.5, 1.01
# Farther than that, no N and O are bonded [Å].
NEAREST = 5.2


def secondary_structure(protein: Protein) -> list[str]:
    """``"helix"``, ``"strand"`` or ``"coil"`` for each residue."""
    bonds, order = _bonds(protein), _order(protein)
    kinds = np.full(len(protein.residues), COIL, dtype=object)
    for row in np.flatnonzero(_bridged(bonds)):
        kinds[row] = STRAND
    # bonds[i, j]: the C=O of i holds the N-H of j.
    turns = np.zeros(len(kinds), dtype=bool)
    if len(kinds) > 4:
        turns[:-4] = np.diagonal(bonds, 4) & (order[4:] == order[:-4] + 4)
    for row in np.flatnonzero(turns[1:] & turns[:-1]) + 1:
        kinds[row : row + 4] = HELIX
    return [str(kind) for kind in kinds]


def _order(protein: Protein) -> NDArray[np.int64]:
    """Numbers that follow one another along a tree, and jump from one tree to the next."""
    sizes = [len(segment.residues) for segment in protein.linkage.segments]
    return np.arange(sum(sizes)) + np.repeat(10 * np.arange(len(sizes)), sizes)


def _bonds(protein: Protein) -> NDArray[np.bool_]:
    """Whether the C=O of one residue holds the N-H of another (residues, residues)."""
    places, primary = protein.positions, [protein.linkage.primary[row] for row in protein.rows]
    count = len(primary)
    at = {name: np.full((count, 3), np.nan) for name in ("N", "CA", "C", "O")}
    for row, own in enumerate(primary):
        for name, points in at.items():
            if name in own:
                points[row] = places[own[name]]
    before = np.full((count, 3), np.nan)
    joined = np.diff(_order(protein)) == 1
    before[1:][joined] = at["C"][:-1][joined]
    proline = np.array([residue.name == "PRO" for residue in protein.residues], dtype=bool)
    hydrogen = at["N"] + N_H * unit(unit(at["N"] - before) + unit(at["N"] - at["CA"]))
    hydrogen[proline] = np.nan

    found = np.zeros((count, count), dtype=bool)
    for i, j in _near(at["O"], at["N"]):
        apart = ((at["O"], at["N"]), (at["C"], hydrogen), (at["O"], hydrogen), (at["C"], at["N"]))
        on, ch, oh, cn = (float(np.linalg.norm(one[i] - other[j])) for one, other in apart)
        if abs(i - j) > 1 and min(on, ch, oh, cn) > 0.0:
            found[i, j] = FACTOR * (1.0 / on + 1.0 / ch - 1.0 / oh - 1.0 / cn) < BONDED
    return found


def _near(oxygens: Floats, nitrogens: Floats) -> list[tuple[int, int]]:
    """Rows of oxygens and nitrogens near enough for a bond, of those that are there."""
    one, other = (np.flatnonzero(np.isfinite(points).all(axis=1)) for points in (oxygens, nitrogens))
    if not len(one) or not len(other):
        return []
    near = cKDTree(oxygens[one]).query_ball_tree(cKDTree(nitrogens[other]), NEAREST)
    return [(int(one[k]), int(other[m])) for k, row in enumerate(near) for m in row]


def _bridged(bonds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a residue is part of a bridge."""
    count = len(bonds)
    if count < 5:
        return np.zeros(count, dtype=bool)
    wide = np.zeros((count + 2, count + 2), dtype=bool)
    wide[1:-1, 1:-1] = bonds

    def at(i: int, j: int) -> NDArray[np.bool_]:
        return wide[1 + i : 1 + i + count, 1 + j : 1 + j + count]

    # at(i, j)[a, b]: the C=O of a + i holds the N-H of b + j; transposed, the C=O of b + i that of a + j.
    parallel = at(-1, 0) & at(0, 1).T
    antiparallel = (at(0, 0) & at(0, 0).T) | (at(-1, 1) & at(-1, 1).T)
    both = parallel | antiparallel
    rows = np.arange(count)
    both &= np.abs(rows[:, None] - rows[None]) > 2
    both |= both.T
    return np.asarray(both.any(axis=1))
