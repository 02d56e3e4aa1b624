"""Dihedrals of a protein by residue, to be read and written: φ, ψ, ω and χ.

    φ_i = C_{i−1}-N_i-Cα_i-C_i,   ψ_i = N_i-Cα_i-C_i-N_{i+1},   ω_i = Cα_i-C_i-N_{i+1}-Cα_{i+1}

A residue at an end of a tree lacks some; they read as NaN. Those that a ring holds can be read and not written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.molecules.geometry import dihedral, wrapped
from rattleback.molecules.side_chains import MOST_CHI, chi_atoms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.molecules.linkage import Linkage
    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]

GREEK = {"phi": "φ", "psi": "ψ", "omega": "ω"} | {f"chi{k}": f"χ{k}" for k in range(1, MOST_CHI + 1)}


class Angles:
    """One kind of dihedral of all residues of a protein.

    ``angles[residue]`` and ``angles[residue] = value`` [rad], where a residue is named as for ``protein.residue``;
    ``angles[:]`` and ``angles.values`` are all of them, in the order of ``protein.residues``, NaN where there is none.

    Args:
        protein: The protein.
        kind: ``"phi"``, ``"psi"``, ``"omega"``, ``"chi1"`` and on.
        atoms: The four atoms of each residue's (residues, 4), −1 for none.
        columns: Its coordinate (residues,), −1 for none.
    """

    def __init__(self, protein: Protein, kind: str, atoms: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        self._protein, self._kind, self.atoms, self.columns = protein, kind, atoms, columns

    @property
    def values(self) -> Floats:
        """All of them (residues,) [rad]."""
        found = np.full(len(self.atoms), np.nan)
        there = self.atoms[:, 0] >= 0
        moves = self.columns >= 0
        found[moves] = self._protein.q[self.columns[moves]]
        held = there & ~moves
        if held.any():
            found[held] = dihedral(*(self._protein.positions[self.atoms[held, k]] for k in range(4)))
        return wrapped(found)

    def __len__(self) -> int:
        return len(self.atoms)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.values, dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.values[key]
        return float(self.values[self._protein.row(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            rows = np.arange(len(self))[key]
            given = np.broadcast_to(np.asarray(value, dtype=np.float64), rows.shape)
            moves = (self.columns[rows] >= 0) & ~np.isnan(given)
            checks.finite(given[moves], f"The {GREEK[self._kind]} of the protein")
            self._protein.turn(self.columns[rows[moves]], given[moves])
            return
        row = self._protein.row(key)
        number = checks.number(value, f"The {GREEK[self._kind]} of {self._protein.residues[row]}")
        self._protein.turn(np.array([self._column(row)]), np.array([number]))

    def __repr__(self) -> str:
        return f"<{GREEK[self._kind]} of {len(self)} residues>"

    def _column(self, row: int) -> int:
        residue = self._protein.residues[row]
        if self.columns[row] >= 0:
            return int(self.columns[row])
        if self.atoms[row, 0] >= 0:
            raise InputError(f"The {GREEK[self._kind]} of {residue} is held by a ring and cannot be written.")
        raise InputError(f"{residue} has no {GREEK[self._kind]}: an atom or a neighbour that it needs is not there.")


class SideChains:
    """χ₁, χ₂ and on of all residues.

    ``chi[residue]`` is an array of those a residue has (k,) [rad], ``chi[residue, 1]`` the first; both can be written.

    Args:
        angles: χ₁, χ₂ and on, each of all residues.
        protein: The protein.
    """

    def __init__(self, protein: Protein, angles: tuple[Angles, ...]) -> None:
        self._protein, self.each = protein, angles

    @property
    def values(self) -> Floats:
        """All of them (residues, 5) [rad], NaN where there is none."""
        return np.stack([angles.values for angles in self.each], axis=1)

    def __len__(self) -> int:
        return len(self.each[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.values, dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.values[key]
        residue, number = self._split(key)
        if number is not None:
            return self.each[number - 1][residue]
        found = self.values[self._protein.row(residue)]
        return found[: self._count(self._protein.row(residue))]

    def __setitem__(self, key: Any, value: Any) -> None:
        residue, number = self._split(key)
        if number is not None:
            self.each[number - 1][residue] = value
            return
        row = self._protein.row(residue)
        given = checks.array(value, (self._count(row),), f"The χ of {self._protein.residues[row]}")
        for angles, entry in zip(self.each, given.tolist(), strict=False):
            angles[residue] = entry

    def _count(self, row: int) -> int:
        there = np.array([angles.atoms[row, 0] >= 0 for angles in self.each])
        return int(np.flatnonzero(there).max(initial=-1)) + 1

    def _split(self, key: Any) -> tuple[Any, int | None]:
        """A residue, and which χ of it is meant; a chain and a number are a residue."""
        if isinstance(key, tuple) and not hasattr(key, "chain") and (len(key) == 3 or not isinstance(key[0], str)):
            *residue, number = key
            count = checks.count(number, "The number of a χ", most=MOST_CHI)
            return (residue[0] if len(residue) == 1 else tuple(residue)), count
        if isinstance(key, tuple) and len(key) == 2 and not hasattr(key, "chain") and ":" in str(key[0]):
            return key[0], checks.count(key[1], "The number of a χ", most=MOST_CHI)
        return key, None


def angles_of(protein: Protein, linkage: Linkage) -> dict[str, Angles]:
    """All kinds of dihedrals of a protein."""
    rows = protein.rows
    place = {row: k for k, row in enumerate(rows)}
    atoms = {kind: np.full((len(rows), 4), -1, dtype=np.int64) for kind in GREEK}
    columns = {kind: np.full(len(rows), -1, dtype=np.int64) for kind in GREEK}
    for segment in linkage.segments:
        for k, row in enumerate(segment.residues):
            before = linkage.primary[segment.residues[k - 1]] if k else None
            after = linkage.primary[segment.residues[k + 1]] if k + 1 < len(segment.residues) else None
            _fill(atoms, place[row], (before, linkage.primary[row], after))
            own = linkage.primary[row]
            for number, names in enumerate(chi_atoms(protein.residues[place[row]].name), 1):
                if all(name in own for name in names):
                    atoms[f"chi{number}"][place[row]] = [own[name] for name in names]
    for column, turn in enumerate(linkage.turns):
        columns[turn.kind][place[turn.residue]] = column
    return {kind: Angles(protein, kind, atoms[kind], columns[kind]) for kind in GREEK}


def _fill(atoms: dict[str, NDArray[np.int64]], row: int, three: tuple[Any, dict[str, int], Any]) -> None:
    """The backbone dihedrals of a residue, from the atoms of the one before, its own and those of the next."""
    before, own, after = three
    if before is not None:
        atoms["phi"][row] = (before["C"], own["N"], own["CA"], own["C"])
    if after is not None:
        atoms["psi"][row] = (own["N"], own["CA"], own["C"], after["N"])
        atoms["omega"][row] = (own["CA"], own["C"], after["N"], after["CA"])
