"""Bonds of a molecule, told from distances: within residues, between residues of a chain, and between sulfurs.

    bonded  ⇔  |x_a − x_b| < r_a + r_b + 0.4 Å

r covalent radii. A hydrogen has one bond, to its nearest atom. The peptide bond C–N is there below 2 Å: where it is
not, a chain is broken. Two sulfurs of cysteines below 2.5 Å are a disulfide.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.molecules.atoms import Atoms, Residue
    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]

SLACK, PEPTIDE, BACKBONE, DISULFIDE = 0.4, 2.0, 1.9, 2.5


class Disulfide(NamedTuple):
    """Two cysteines whose sulfurs are bonded, which closes a loop of the tree.

    Attributes:
        residues: Rows of the residues (2,).
        atoms: Rows of their sulfurs (2,).
        length: Distance as read [Å].
    """

    residues: tuple[int, int]
    atoms: tuple[int, int]
    length: float


def neighbours(atoms: Atoms, rows: Sequence[int]) -> list[list[int]]:
    """Bonds between some atoms, those of a residue: of each, the places in ``rows`` of the atoms it is bonded to."""
    chosen = np.asarray(rows, dtype=np.int64)
    position, radius = atoms.position[chosen], atoms.radius[chosen]
    apart = np.linalg.norm(position[:, None] - position[None], axis=-1)
    bonded = apart < radius[:, None] + radius[None] + SLACK
    np.fill_diagonal(bonded, False)
    light = np.isin(atoms.element[chosen], ("H", "D"))
    if light.any() and not light.all():
        nearest = np.argmin(np.where(light[None], np.inf, apart), axis=1)
        for row in np.flatnonzero(light):
            kept = bonded[row, nearest[row]]
            bonded[row] = bonded[:, row] = False
            bonded[row, nearest[row]] = bonded[nearest[row], row] = kept
    return [np.flatnonzero(row).tolist() for row in bonded]


def is_amino_acid(atoms: Atoms, primary: dict[str, int]) -> bool:
    """Whether a residue has the backbone of an amino acid: N, Cα and C, bonded."""
    if not {"N", "CA", "C"} <= primary.keys():
        return False
    n, alpha, c = (atoms.position[primary[name]] for name in ("N", "CA", "C"))
    return bool(np.linalg.norm(alpha - n) < BACKBONE and np.linalg.norm(c - alpha) < BACKBONE)


def is_joined(atoms: Atoms, before: dict[str, int], after: dict[str, int]) -> bool:
    """Whether a peptide bond leads from one residue to the next."""
    way = atoms.position[after["N"]] - atoms.position[before["C"]]
    return bool(np.linalg.norm(way) < PEPTIDE)


def find_disulfides(
    atoms: Atoms, residues: Sequence[Residue], primary: Sequence[dict[str, int]]
) -> tuple[Disulfide, ...]:
    """All disulfides, each sulfur in one at most."""
    ends = [(row, primary[row]["SG"]) for row, residue in enumerate(residues) if "SG" in primary[row]]
    if len(ends) < 2:
        return ()
    places = atoms.position[[atom for _, atom in ends]]
    pairs = cKDTree(places).query_pairs(DISULFIDE, output_type="ndarray")
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    found: list[Disulfide] = []
    taken: set[int] = set()
    for k in np.argsort(lengths, kind="stable"):
        i, j = pairs[k].tolist()
        if {i, j} & taken or ends[i][0] == ends[j][0]:
            continue
        taken |= {i, j}
        found.append(Disulfide((ends[i][0], ends[j][0]), (ends[i][1], ends[j][1]), float(lengths[k])))
    return tuple(sorted(found))


def bond_list(protein: Protein) -> NDArray[np.int64]:
    """Bonds between atoms of first alternative locations, the lesser row first (bonds, 2)."""
    if "bonds" in protein.kept:
        return protein.kept["bonds"]
    pairs: list[tuple[int, int]] = []
    for own in protein.linkage.primary:
        rows = list(own.values())
        near = neighbours(protein.atoms, rows)
        pairs += [(row, rows[k]) for row, others in zip(rows, near, strict=True) for k in others]
    for segment in protein.linkage.segments:
        row_of = [protein.linkage.primary[row] for row in segment.residues]
        pairs += [(one["C"], other["N"]) for one, other in pairwise(row_of)]
    pairs += [bond.atoms for bond in protein.disulfides]
    protein.kept["bonds"] = np.unique(np.sort(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    return protein.kept["bonds"]


def near_in_bonds(protein: Protein, most: int) -> set[tuple[int, int]]:
    """Pairs of atoms that at most so many bonds join, the lesser row first."""
    key = ("near", most)
    if key in protein.kept:
        return protein.kept[key]
    bonds, count = bond_list(protein), len(protein.atoms)
    one = csr_array((np.ones(2 * len(bonds)), (bonds.ravel("F"), bonds[:, ::-1].ravel("F"))), shape=(count, count))
    reach, total = one, one
    for _ in range(most - 1):
        reach = reach @ one
        total = total + reach
    first, second = total.nonzero()
    kept = first < second
    protein.kept[key] = set(zip(first[kept].tolist(), second[kept].tolist(), strict=True))
    return protein.kept[key]
