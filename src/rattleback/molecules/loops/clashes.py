"""Clashes: atoms that are nearer than their van der Waals spheres allow.

    overlap = r_a + r_b − |x_a − x_b|,   a clash where it is 0.4 Å or more

r van der Waals radii. Atoms within three bonds of each other do not count, nor do waters, nor other
alternative locations than the first. Two nitrogens or oxygens, which may share a hydrogen, have 0.5 Å less.

Reference: Word and others, "Visualizing and quantifying molecular goodness-of-fit: small-probe contact dots with
explicit hydrogen atoms", Journal of Molecular Biology 285 (1999), 1711-1733 (the bound of 0.4 Å).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from rattleback.molecules.atoms import WATERS
from rattleback.molecules.bonds import near_in_bonds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]

CLASH, SHARED = 0.4, 0.5
# Bondi, Journal of Physical Chemistry 68 (1964), 441-451; hydrogen as in Rowland and Taylor (1996) [Å].
RADII = {"H": 1.10, "D": 1.10, "C": 1.70, "N": 1.55, "O": 1.52, "S": 1.80, "P": 1.80, "SE": 1.90, "F": 1.47, "CL": 1.75}
OTHER = 1.7


class Clash(NamedTuple):
    """Two atoms that overlap.

    Attributes:
        first: Its residue and name, such as ``"A:5.CB"``.
        second: The other one's.
        overlap: By how much [Å].
    """

    first: str
    second: str
    overlap: float


def radii_of(elements: NDArray[np.str_]) -> Floats:
    """Van der Waals radii (atoms,) [Å]."""
    kinds, rows = np.unique(elements, return_inverse=True)
    return np.array([RADII.get(str(kind), OTHER) for kind in kinds])[rows]


def find_clashes(protein: Protein, positions: Floats, residues: list[int] | None = None) -> list[Clash]:
    """Clashes of a conformation, the worst first.

    Args:
        protein: The protein.
        positions: Its atoms (atoms, 3) [Å].
        residues: Rows in ``protein.residues`` of those that count, against all else; all if left out.
    """
    atoms = protein.atoms
    radius = radii_of(atoms.element)
    first = np.zeros(len(atoms), dtype=bool)
    for residue, own in zip(protein.groups, protein.linkage.primary, strict=True):
        first[list(own.values())] = residue.name not in WATERS
    rows = np.flatnonzero(first)
    mine = np.isin(atoms.residue, [protein.rows[row] for row in residues]) if residues is not None else first
    pairs = rows[cKDTree(positions[rows]).query_pairs(2.0 * float(radius.max()) - CLASH, output_type="ndarray")]
    pairs = np.sort(pairs[mine[pairs].any(axis=1)], axis=1)
    overlap = radius[pairs].sum(axis=1) - np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    overlap -= SHARED * np.isin(atoms.element[pairs], ("N", "O")).all(axis=1)
    pairs, overlap = pairs[overlap >= CLASH], overlap[overlap >= CLASH]
    close = near_in_bonds(protein, 3)
    found = [
        (float(size), tuple(pair))
        for size, pair in zip(overlap, pairs.tolist(), strict=True)
        if tuple(pair) not in close
    ]
    names = [f"{protein.groups[atoms.residue[row]].label}.{atoms.name[row]}" for row in range(len(atoms))]
    return [Clash(names[a], names[b], size) for size, (a, b) in sorted(found, reverse=True)]
