"""The geometry of side chains, for peptides that are built from a sequence.

Each line places an atom: its name, the atom it is bonded to, the one before and the one before that; the length of
the bond [Å], the angle at the atom it is bonded to [°], the dihedral over the four [°] and the number of the χ that
is added to it, 0 for none. Lengths and angles are medians over well-resolved crystal structures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Placed(NamedTuple):
    """How an atom is placed.

    Attributes:
        name: Its name.
        chain: The atom it is bonded to, the one before that, and one more.
        length: Of the bond [Å].
        angle: At the atom it is bonded to [rad].
        dihedral: Over the four atoms [rad].
        chi: Which χ is added to the dihedral; 0 for none.
    """

    name: str
    chain: tuple[str, str, str]
    length: float
    angle: float
    dihedral: float
    chi: int


LINES: dict[str, tuple[str, ...]] = {
    "ALA": ("CB CA C N 1.526 110.2 122.4 0",),
    "GLY": (),
    "VAL": (
        "CB CA C N 1.545 109.9 122.7 0",
        "CG1 CB CA N 1.526 110.5 0.0 1",
        "CG2 CB CA N 1.526 110.1 122.1 1",
    ),
    "ILE": (
        "CB CA C N 1.545 110.0 122.8 0",
        "CG1 CB CA N 1.532 110.0 0.0 1",
        "CG2 CB CA N 1.528 110.4 -122.4 1",
        "CD1 CG1 CB CA 1.521 113.7 0.0 2",
    ),
    "LEU": (
        "CB CA C N 1.533 110.0 122.3 0",
        "CG CB CA N 1.532 115.8 0.0 1",
        "CD1 CG CB CA 1.524 110.1 0.0 2",
        "CD2 CG CB CA 1.523 110.2 122.3 2",
    ),
    "SER": (
        "CB CA C N 1.532 109.5 122.4 0",
        "OG CB CA N 1.418 110.9 0.0 1",
    ),
    "THR": (
        "CB CA C N 1.542 109.3 122.9 0",
        "OG1 CB CA N 1.435 109.2 0.0 1",
        "CG2 CB CA N 1.523 110.8 -120.2 1",
    ),
    "CYS": (
        "CB CA C N 1.532 109.4 122.1 0",
        "SG CB CA N 1.812 113.7 0.0 1",
    ),
    "ASP": (
        "CB CA C N 1.532 109.9 122.7 0",
        "CG CB CA N 1.518 112.7 0.0 1",
        "OD1 CG CB CA 1.250 118.8 0.0 2",
        "OD2 CG CB CA 1.250 118.1 180.0 2",
    ),
    "ASN": (
        "CB CA C N 1.532 110.1 122.7 0",
        "CG CB CA N 1.517 112.7 0.0 1",
        "OD1 CG CB CA 1.232 120.9 0.0 2",
        "ND2 CG CB CA 1.328 116.5 180.0 2",
    ),
    "GLU": (
        "CB CA C N 1.532 110.0 122.5 0",
        "CG CB CA N 1.523 113.7 0.0 1",
        "CD CG CB CA 1.517 113.2 0.0 2",
        "OE1 CD CG CB 1.250 118.9 0.0 3",
        "OE2 CD CG CB 1.251 118.2 180.0 3",
    ),
    "GLN": (
        "CB CA C N 1.532 109.9 123.0 0",
        "CG CB CA N 1.522 114.1 0.0 1",
        "CD CG CB CA 1.518 112.6 0.0 2",
        "OE1 CD CG CB 1.233 120.9 0.0 3",
        "NE2 CD CG CB 1.328 116.5 180.0 3",
    ),
    "LYS": (
        "CB CA C N 1.531 109.7 122.4 0",
        "CG CB CA N 1.521 113.9 0.0 1",
        "CD CG CB CA 1.521 111.4 0.0 2",
        "CE CD CG CB 1.521 111.4 0.0 3",
        "NZ CE CD CG 1.491 111.9 0.0 4",
    ),
    "ARG": (
        "CB CA C N 1.533 110.1 122.4 0",
        "CG CB CA N 1.522 113.7 0.0 1",
        "CD CG CB CA 1.524 111.4 0.0 2",
        "NE CD CG CB 1.461 111.7 0.0 3",
        "CZ NE CD CG 1.330 124.3 0.0 4",
        "NH1 CZ NE CD 1.329 120.5 0.0 5",
        "NH2 CZ NE CD 1.328 119.8 180.0 5",
    ),
    "MET": (
        "CB CA C N 1.532 110.0 122.7 0",
        "CG CB CA N 1.524 113.8 0.0 1",
        "SD CG CB CA 1.809 112.7 0.0 2",
        "CE SD CG CB 1.793 100.6 0.0 3",
    ),
    "PHE": (
        "CB CA C N 1.534 110.0 122.1 0",
        "CG CB CA N 1.508 113.9 0.0 1",
        "CD1 CG CB CA 1.389 120.7 0.0 2",
        "CD2 CG CB CA 1.390 120.5 180.0 2",
        "CE1 CD1 CG CB 1.394 120.9 180.0 0",
        "CE2 CD2 CG CB 1.392 120.8 180.0 0",
        "CZ CE1 CD1 CG 1.387 119.8 0.0 0",
    ),
    "TYR": (
        "CB CA C N 1.533 109.9 122.7 0",
        "CG CB CA N 1.514 113.9 0.0 1",
        "CD1 CG CB CA 1.394 120.9 0.0 2",
        "CD2 CG CB CA 1.394 120.9 180.0 2",
        "CE1 CD1 CG CB 1.391 121.1 180.0 0",
        "CE2 CD2 CG CB 1.390 121.1 180.0 0",
        "CZ CE1 CD1 CG 1.383 119.5 0.0 0",
        "OH CZ CE1 CD1 1.377 119.8 180.0 0",
    ),
    "HIS": (
        "CB CA C N 1.532 110.1 122.6 0",
        "CG CB CA N 1.497 113.6 0.0 1",
        "ND1 CG CB CA 1.379 122.7 0.0 2",
        "CD2 CG CB CA 1.355 130.9 180.0 2",
        "CE1 ND1 CG CB 1.322 109.2 180.0 0",
        "NE2 CD2 CG CB 1.375 107.1 180.0 0",
    ),
    "TRP": (
        "CB CA C N 1.531 109.2 121.9 0",
        "CG CB CA N 1.501 113.6 0.0 1",
        "CD1 CG CB CA 1.367 126.9 0.0 2",
        "CD2 CG CB CA 1.434 126.8 180.0 2",
        "NE1 CD1 CG CB 1.376 110.2 180.0 0",
        "CE2 CD2 CG CB 1.412 107.2 180.0 0",
        "CE3 CD2 CG CB 1.402 133.9 0.0 0",
        "CZ2 CE2 CD2 CG 1.399 122.4 180.0 0",
        "CZ3 CE3 CD2 CG 1.388 118.7 180.0 0",
        "CH2 CZ2 CE2 CD2 1.373 117.5 0.0 0",
    ),
    "PRO": (
        "CB CA C N 1.531 111.5 116.5 0",
        "CG CB CA N 1.501 103.3 29.6 0",
        "CD N CA CB 1.476 111.6 -13.9 0",
    ),
}


def atoms_of(residue: str) -> list[Placed]:
    """The atoms of a side chain, in an order in which they can be placed."""
    found = []
    for line in LINES[residue]:
        name, one, two, three, length, angle, dihedral, chi = line.split()
        turn = float(np.radians(float(dihedral)))
        found.append(Placed(name, (one, two, three), float(length), float(np.radians(float(angle))), turn, int(chi)))
    return found
