"""Atoms and residues as arrays: what a file says of them, in its order.

Lengths in this room are in ångström (1 Å = 1e-10 m), the unit of every file of molecules; angles in radians.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Names = NDArray[np.str_]


class Residue(NamedTuple):
    """A residue: an amino acid, a hetero group or a water.

    Attributes:
        chain: Name of its chain.
        number: Its number in the chain, which may be negative.
        insertion: Its insertion code; empty for none.
        name: Its kind, such as ``"ALA"``.
        start: Its first atom.
        stop: One past its last atom.
        hetero: Whether the file lists it as a hetero group.
    """

    chain: str
    number: int
    insertion: str
    name: str
    start: int
    stop: int
    hetero: bool = False

    @property
    def label(self) -> str:
        """Chain, number and insertion code: ``"A:52B"``."""
        return f"{self.chain}:{self.number}{self.insertion}"

    def __str__(self) -> str:
        return f"{self.name} {self.label}"


class Atoms(NamedTuple):
    """All atoms of a molecule.

    Attributes:
        name: Names within their residues, such as ``"CA"`` (atoms,).
        element: Symbols of the elements, such as ``"C"`` (atoms,).
        alternative: Labels of alternative locations, empty for none (atoms,).
        occupancy: Share of the molecules in which the atom is there (atoms,).
        residue: Row of the residue each belongs to (atoms,).
        position: Positions as read (atoms, 3) [Å].
        radius: Covalent radii (atoms,) [Å].
    """

    name: Names
    element: Names
    alternative: Names
    occupancy: Floats
    residue: NDArray[np.int64]
    position: Floats
    radius: Floats

    def __len__(self) -> int:
        return len(self.name)


# Covalent radii [Å]: Cordero and others, Dalton Transactions 2008, 2832; others count with 1.5 Å.
COVALENT = {
    "H": 0.31, "D": 0.31, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "P": 1.07, "S": 1.05, "CL": 1.02, "SE": 1.20,
    "BR": 1.20, "I": 1.39,
}  # fmt: skip
OTHER = 1.5
# Names of residues that are water.
WATERS = ("HOH", "WAT", "DOD")


def covalent_radii(elements: Names) -> Floats:
    """Covalent radii (atoms,) [Å]."""
    kinds, rows = np.unique(elements, return_inverse=True)
    return np.array([COVALENT.get(str(kind), OTHER) for kind in kinds])[rows]


def primary_atoms(atoms: Atoms, residue: Residue) -> dict[str, int]:
    """Rows of a residue's atoms by name; of alternative locations those of the label that comes first in the file.

    An atom that has no location of that label is taken where it first stands.
    """
    rows = range(residue.start, residue.stop)
    first = next((label for label in atoms.alternative[residue.start : residue.stop] if label), "")
    found: dict[str, int] = {}
    for row in rows:
        name = str(atoms.name[row])
        if name not in found or (atoms.alternative[row] == first != atoms.alternative[found[name]] != ""):
            found[name] = row
    return found
