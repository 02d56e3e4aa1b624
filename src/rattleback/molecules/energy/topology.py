"""What a protein's energy is made of: its points, the pairs that do not count, hydrogens, acceptors and bridges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.molecules.atoms import WATERS
from rattleback.molecules.bonds import near_in_bonds
from rattleback.molecules.energy.parameters import N_H, OTHER, VAN_DER_WAALS, torsion_of
from rattleback.molecules.geometry import unit
from rattleback.molecules.linkage import STRAIGHT
from rattleback.molecules.placing import frames_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


class Topology(NamedTuple):
    """A molecule as its energy sees it.

    Attributes:
        link: Link of each point (points,).
        local: Its place in the link (points, 3) [Å].
        size: Half the distance of least energy (points,) [Å]; zero for hydrogens on nitrogen or oxygen.
        depth: Square root of the depth of two like points (points,) [√(kcal/mol)].
        skip_from: Where the partners of a point that do not count begin in ``skip`` (points,).
        skip: Those partners, greater than the point, in order, −1 behind the last of each point.
        torsions: Barrier [kcal/mol], fold and phase [rad] of each joint (joints, 3).
        donors: Nitrogen and hydrogen of each backbone N-H (donors, 2).
        acceptors: Backbone oxygens (acceptors,).
        bridges: Sulfurs of disulfides (bridges, 2).
        lengths: Their distances as read (bridges,) [Å].
    """

    link: Integers
    local: Floats
    size: Floats
    depth: Floats
    skip_from: Integers
    skip: Integers
    torsions: Floats
    donors: Integers
    acceptors: Integers
    bridges: Integers
    lengths: Floats


def topology_of(protein: Protein) -> Topology:
    """The topology of a protein; of alternative locations the first, waters left out."""
    linkage, groups = protein.linkage, zip(protein.groups, protein.linkage.primary, strict=True)
    rows = [row for residue, own in groups if residue.name not in WATERS for row in own.values()]
    place = {row: k for k, row in enumerate(rows)}
    size, depth = _spheres(protein, rows)
    donors, made, links = _donors(protein, place)
    none = np.zeros(len(links))
    skip_from, skip = _skipped(protein, place, len(rows) + len(links))
    torsions = [torsion_of(protein.groups[turn.residue].name, turn.kind) for turn in linkage.turns]
    acceptors = [place[one["O"]] for one in map(linkage.primary.__getitem__, protein.rows) if "O" in one]
    bridges = [[place[atom] for atom in bond.atoms] for bond in protein.disulfides]
    return Topology(
        np.concatenate([linkage.link[rows], np.array(links, dtype=np.int64)]),
        np.concatenate([protein.placing.local[rows], np.reshape(made, (-1, 3))]),
        np.concatenate([size, none]),
        np.concatenate([depth, none]),
        skip_from,
        skip,
        np.array([(one.barrier, one.fold, np.pi * one.half_turns) for one in torsions]).reshape(-1, 3),
        np.array(donors, dtype=np.int64).reshape(-1, 2),
        np.array(acceptors, dtype=np.int64),
        np.array(bridges, dtype=np.int64).reshape(-1, 2),
        np.array([bond.length for bond in protein.disulfides]),
    )


def _skipped(protein: Protein, place: dict[int, int], count: int) -> tuple[Integers, Integers]:
    """Partners that do not count, being at most three bonds away: where those of a point begin, and all of them."""
    near = ((place[a], place[b]) for a, b in near_in_bonds(protein, 3) if a in place and b in place)
    # Behind the partners of a point stands one that no point has.
    last = [(point, count) for point in range(count)]
    pairs = np.array(sorted([*((min(pair), max(pair)) for pair in near), *last]), dtype=np.int64).reshape(-1, 2)
    found = np.where(pairs[:, 1] == count, -1, pairs[:, 1])
    return np.searchsorted(pairs[:, 0], np.arange(count)), found


def _spheres(protein: Protein, rows: list[int]) -> tuple[Floats, Floats]:
    """Sizes [Å] and roots of depths of atoms; a hydrogen on nitrogen or oxygen lies within it."""
    atoms = protein.atoms
    found = np.array([VAN_DER_WAALS.get(str(atoms.element[row]), OTHER) for row in rows]).reshape(-1, 2)
    light = np.isin(atoms.element[rows], ("H", "D"))
    heavy = np.isin(atoms.element[rows], ("N", "O"))
    for k in np.flatnonzero(light):
        same = heavy & (atoms.residue[rows] == atoms.residue[rows[k]])
        apart = np.linalg.norm(atoms.position[rows] - atoms.position[rows[k]], axis=1)
        if same.any() and apart[same].min() < 1.2:
            found[k] = 0.0
    return found[:, 0], np.sqrt(found[:, 1])


def _donors(protein: Protein, place: dict[int, int]) -> tuple[list[tuple[int, int]], list[Floats], list[int]]:
    """Nitrogen and hydrogen of each N-H; places and links of hydrogens that the file lacks."""
    linkage, positions = protein.linkage, protein.atoms.position
    frames = frames_of(linkage, positions)
    donors, made, links = [], [], []
    for segment in linkage.segments:
        for k, row in enumerate(segment.residues):
            own = linkage.primary[row]
            hydrogen = next((own[name] for name in ("H", "HN", "D") if name in own), None)
            if hydrogen is not None:
                donors.append((place[own["N"]], place[hydrogen]))
            elif k and protein.groups[row].name not in ("PRO", "HYP"):
                before = linkage.primary[segment.residues[k - 1]]["C"]
                n = positions[own["N"]]
                way = unit(n - positions[before]) + unit(n - positions[own["CA"]])
                if not np.linalg.norm(way) > STRAIGHT:
                    continue
                way = unit(way)
                link = int(linkage.link[own["CA"]])
                made.append(frames.matrix[link].T @ (n + N_H * way - frames.position[link]))
                links.append(link)
                donors.append((place[own["N"]], len(place) + len(made) - 1))
    return donors, made, links
