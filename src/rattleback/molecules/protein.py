"""A protein: atoms whose dihedrals are joints.

    protein = rb.molecules.load("1ubi.pdb")
    protein.psi["A:23"] += 0.3
    protein.save("turned.pdb")

What is between the joints is rigid: bond lengths and angles are those that were read. Each tree hangs on its first
residue, which stays where it is; disulfides close loops that the trees leave open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, device
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.molecules.angles import GREEK, Angles, SideChains, angles_of
from rattleback.molecules.atoms import Residue
from rattleback.molecules.bonds import Disulfide, find_disulfides
from rattleback.molecules.files import read_atoms, read_structure, write_structure
from rattleback.molecules.linkage import Linkage
from rattleback.molecules.placing import Placing

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.tree import Tree
    from rattleback.molecules.drawing import Drawing

    Floats = NDArray[np.float64]


@sealed
class Protein:
    """A protein, with all that its file holds beside it.

    Attributes:
        name: What it is called.
        atoms: All atoms as read.
        groups: Every residue, hetero group and water, in the order of the file.
        residues: The amino acids, in the same order.
        rows: Their rows among the groups (residues,).
        linkage: What moves with what.
        placing: What computes positions.
        disulfides: Bonds between sulfurs, which close loops.
        device: Where batches are computed.
        kept: What is told from its atoms again and again, made once.
        phi: φ of the residues, −π to π [rad]; readable and writable, as are the others.
        psi: ψ of the residues.
        omega: ω of the residues, of the bond to the next one.
        chi: χ of the residues' side chains.

    Args:
        structure: As gemmi holds it.
        model: Row of the model that is meant.
        name: What it is called.
        on: Device for batches: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """

    _kind = "protein"

    def __init__(self, structure: Any, model: int = 0, name: str = "protein", on: str = "cpu") -> None:
        self.name, self.device = checks.text(name, "The name of a protein"), device.find(on)
        self._structure, self._model = structure, model
        self.kept: dict[Any, Any] = {}
        self.atoms, self.groups = read_atoms(structure, model)
        self.linkage = Linkage(self.atoms, self.groups)
        self.rows = [row for segment in self.linkage.segments for row in segment.residues]
        self.residues = tuple(self.groups[row] for row in self.rows)
        self.disulfides: tuple[Disulfide, ...] = find_disulfides(self.atoms, self.groups, self.linkage.primary)
        self.placing = Placing(self.linkage, self.atoms.position, self.device)
        self._q = self.placing.q.copy()
        self._positions: Floats | None = self.atoms.position
        found = angles_of(self, self.linkage)
        self.phi: Angles = found["phi"]
        self.psi: Angles = found["psi"]
        self.omega: Angles = found["omega"]
        self.chi = SideChains(self, tuple(found[kind] for kind in GREEK if kind.startswith("chi")))
        self._labels: dict[str, int] = {}
        for row, residue in enumerate(self.residues):
            self._labels.setdefault(residue.label, row)

    def __repr__(self) -> str:
        trees = len(self.linkage.segments)
        return f"<{self.name!r}: {len(self.atoms)} atoms, {len(self.residues)} amino acids, {trees} trees>"

    @property
    def q(self) -> Floats:
        """The dihedrals of all joints (coordinates,) [rad]; ``coordinates`` names them. Can be written as a whole."""
        return self._q.copy()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._q = checks.array(value, (len(self._q),), f"The dihedrals of {self.name!r}")
        self._positions = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the joints, ``"A:5.phi"``, in the order of q."""
        return tuple(f"{self.groups[turn.residue].label}.{turn.kind}" for turn in self.linkage.turns)

    @property
    def positions(self) -> Floats:
        """Positions of all atoms as its dihedrals are now (atoms, 3) [Å]."""
        if self._positions is None:
            self._positions = self.rebuild()
        return self._positions.copy()

    def rebuild(self, q: ArrayLike | None = None) -> Floats:
        """Positions of all atoms, computed from dihedrals and the bond geometry that was read.

        Args:
            q: Dihedrals of all joints, of one conformation (coordinates,) or of many (n, coordinates) [rad]; as they
                are now if left out.

        Returns:
            Positions (atoms, 3) or (n, atoms, 3) [Å].
        """
        rows = checks.finite(self._q if q is None else q, f"The dihedrals of {self.name!r}")
        if rows.shape[-1:] != self._q.shape or rows.ndim > 2:
            raise InputError(
                f"The dihedrals of {self.name!r} have shape {rows.shape}; their last axis must be {len(self._q)}."
            )
        found = self.placing.positions(rows.reshape(rows.shape[0] if rows.ndim == 2 else 1, len(self._q)))
        return found if rows.ndim == 2 else found[0]

    def turn(self, columns: NDArray[np.int64], values: Floats) -> None:
        """Write some of the dihedrals [rad], by their columns in q."""
        self._q[columns] = values
        self._positions = None

    def row(self, key: Any) -> int:
        """Row of an amino acid in ``residues``.

        Args:
            key: ``"A:52B"``, chain, number and insertion code; ``("A", 52)`` or ``("A", "52B")``; ``52`` where one
                chain alone has that number; or an entry of ``residues``.
        """
        if isinstance(key, Residue):
            key = key.label
        elif isinstance(key, tuple) and len(key) == 2:
            key = f"{key[0]}:{key[1]}"
        elif isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            key = str(int(key))
        if isinstance(key, str) and ":" not in key:
            found = [label for label in self._labels if label.partition(":")[2] == key]
            if len(found) > 1:
                raise InputError(f"{self.name!r} has a residue {key} in several chains: {listing(found)}; name one.")
            key = found[0] if found else key
        if key not in self._labels:
            names = list(self._labels)
            raise UnknownName(
                f"{self.name!r} has no amino acid {key!r}.{did_you_mean(key, names)} It has {listing(names, 8)}."
            )
        return self._labels[key]

    def residue(self, key: Any) -> Residue:
        """An amino acid by chain and number, see ``row``."""
        return self.residues[self.row(key)]

    def atom(self, key: Any, name: str) -> int:
        """Row of an atom of an amino acid, of its first alternative location."""
        row = self.row(key)
        own = self.linkage.primary[self.rows[row]]
        if name not in own:
            raise UnknownName(f"{self.residues[row]} has no atom {name!r}. It has {listing(list(own), 30)}.")
        return own[name]

    def loop_gaps(self) -> Floats:
        """How much longer each disulfide is than it was read (disulfides,) [Å]; zero where its loop is closed."""
        places, pairs = self.positions, np.array([bond.atoms for bond in self.disulfides]).reshape(-1, 2)
        lengths = np.array([bond.length for bond in self.disulfides])
        return np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1) - lengths

    def tree(self, key: Any = None) -> Tree:
        """The tree of amino acids that holds a residue, the first one if left out, for ``rb.ik`` and the like.

        Its coordinates have the names of ``coordinates``, its tools those of the residues: frames of the links of
        their Cα. Lengths are in ångström.
        """
        from rattleback.molecules.trees import tree_of

        return tree_of(self, 0 if key is None else self.row(key))

    def drawing(self, style: str = "ribbon") -> Drawing:
        """What it looks like now: ``"ribbon"``, ``"trace"`` or ``"sticks"``, see ``molecules.drawing``."""
        from rattleback.molecules.drawing import drawing_of

        return drawing_of(self, style)

    def copy(self) -> Protein:
        """Another protein that stands as this one does."""
        made = Protein(self._structure, self._model, self.name, str(self.device))
        made.q = self._q
        return made

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as it is now, with all that was read beside it, as PDB or mmCIF.

        Args:
            path: Where to, a name that ends with ``.pdb``, ``.ent``, ``.cif`` or ``.mmcif``, or these with ``.gz``.
        """
        write_structure(self._structure, self._model, self.positions, path)


def load(path: str | PathLike[str], model: int = 0, on: str = "cpu") -> Protein:
    """A protein from a PDB or mmCIF file, also compressed.

    Args:
        path: The file.
        model: Which of its models is meant, from 0; the others are kept and written back.
        on: Device for batches: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """
    structure, row = read_structure(path, model)
    return Protein(structure, row, structure.name or "protein", on)
