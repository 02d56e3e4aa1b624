"""The linkage of a molecule: its rigid groups of atoms and the bonds about which they turn.

    x_a = p_i + R_i l_a,      T_i = T_parent(i) · P_i · M(q_i)

l_a place of atom a in its link i, T_i frame of the link, P_i place of its joint in the parent, M turn about its bond. A
joint turns about the bond from b to c of a dihedral a-b-c-d. The frame of its link has its origin at c, z along the
bond, and x towards d, so that q is the dihedral itself and q = 0 is the cis form.

1. Amino acids in a row are one tree as long as peptide bonds join them; each break begins another.
2. Along the backbone: ω turns Cα about C–N of the residue before, φ turns C about N–Cα, ψ turns the next N about
   Cα–C.
3. In side chains: χ_k, in the order of the path of the kind of residue. All other atoms lie in the link of the atom
   they are bonded to; further alternative locations in that of the first one of the name, as are
   the atoms of another kind of residue at the same place.
4. The ring of proline, and any other that holds N and Cα, fixes φ and the side chain. What is no amino acid does not
   move.

Cost: a few microseconds an atom, once for a molecule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.molecules.atoms import primary_atoms
from rattleback.molecules.bonds import is_amino_acid, is_joined, neighbours
from rattleback.molecules.side_chains import chi_atoms

if TYPE_CHECKING:
    from rattleback.molecules.atoms import Atoms, Residue

# Link 0 carries what does not move.
STILL = 0
# Three atoms of a dihedral that are straighter than that have none (sine).
STRAIGHT = 1e-4


class Turn(NamedTuple):
    """A joint.

    Attributes:
        kind: ``"phi"``, ``"psi"``, ``"omega"``, ``"chi1"`` and on.
        residue: Row of the residue it belongs to.
        atoms: Its four atoms.
        link: The link it carries.
        parent: The link it hangs on.
    """

    kind: str
    residue: int
    atoms: tuple[int, int, int, int]
    link: int
    parent: int


class Segment(NamedTuple):
    """Amino acids joined by peptide bonds, which are one tree.

    Attributes:
        residues: Rows of its residues.
        root: The link that does not move, with the first N, Cα and C.
    """

    residues: tuple[int, ...]
    root: int


class Linkage:
    """What moves with what.

    Attributes:
        link: Link of each atom.
        parents: Parent of each link, −1 for none.
        turns: The joints, parents before children.
        segments: The trees of amino acids.
        primary: Rows of the atoms of each residue by name, of the first alternative location.

    Args:
        atoms: The atoms.
        residues: The residues.
    """

    def __init__(self, atoms: Atoms, residues: tuple[Residue, ...]) -> None:
        self._atoms, self._residues = atoms, residues
        self.primary = [primary_atoms(atoms, residue) for residue in residues]
        self.link = np.full(len(atoms), STILL, dtype=np.int64)
        self.parents = [-1]
        self.turns: list[Turn] = []
        self.segments: list[Segment] = []
        self._twins: dict[int, int] = {}
        for rows in self._in_a_row():
            root = self._new_link(-1)
            self.segments.append(Segment(tuple(rows), root))
            self._walk(rows, root)
        for twin, first in self._twins.items():
            own = self.primary[first]
            links = {str(atoms.name[row]): int(self.link[row]) for row in own.values()}
            for row in range(residues[twin].start, residues[twin].stop):
                self.link[row] = links.get(str(atoms.name[row]), links["C"])
            # Like a further location, it counts for nothing but its place.
            self.primary[twin] = {}

    def _in_a_row(self) -> list[list[int]]:
        """Rows of amino acids, a list for each tree."""
        found: list[list[int]] = []
        for row, residue in enumerate(self._residues):
            if not is_amino_acid(self._atoms, self.primary[row]):
                continue
            last = found[-1][-1] if found else -1
            if last >= 0 and self._residues[last].label == residue.label:
                self._twins[row] = last
                continue
            same = last >= 0 and self._residues[last].chain == residue.chain
            if same and is_joined(self._atoms, self.primary[last], self.primary[row]):
                found[-1].append(row)
            else:
                found.append([row])
        return found

    def _walk(self, rows: list[int], root: int) -> None:
        """Links of a tree, residue by residue."""
        link_n = link_alpha = root
        for place, row in enumerate(rows):
            own = self.primary[row]
            before = self.primary[rows[place - 1]] if place else None
            after = self.primary[rows[place + 1]] if place + 1 < len(rows) else None
            order, ring = self._order(row)
            link_c = link_alpha
            if before is not None and not ring:
                link_c = self._turn("phi", row, (before["C"], own["N"], own["CA"], own["C"]), link_alpha)
            link_o = link_c
            if after is not None:
                link_o = self._turn("psi", row, (own["N"], own["CA"], own["C"], after["N"]), link_c)
            links = {own["N"]: link_n, own["CA"]: link_alpha, own["C"]: link_c}
            beyond = {own["N"]: link_alpha, own["CA"]: link_c, own["C"]: link_o}
            self._side_chain(row, (links, beyond), order, ring)
            self._assign(row, links, link_c)
            if after is not None:
                link_n = link_o
                link_alpha = self._turn("omega", row, (own["CA"], own["C"], after["N"], after["CA"]), link_o)

    def _order(self, row: int) -> tuple[list[tuple[int, int]], bool]:
        """Atoms of a residue as its backbone reaches them, each with the one before; whether N is in a ring."""
        own = self.primary[row]
        rows = list(own.values())
        near = neighbours(self._atoms, rows)
        place = {atom: k for k, atom in enumerate(rows)}
        seen, found, ring = {own["N"], own["CA"], own["C"]}, [], False
        side: set[int] = set()
        for first in ("CA", "C", "N"):
            queue = [own[first]]
            while queue:
                atom = queue.pop(0)
                for k in near[place[atom]]:
                    other = rows[k]
                    ring = ring or (first == "CA" and other == own["N"] and atom in side)
                    if other not in seen:
                        seen.add(other)
                        side.add(other)
                        found.append((other, atom))
                        queue.append(other)
        return found, ring

    def _side_chain(
        self, row: int, links: tuple[dict[int, int], dict[int, int]], order: list[tuple[int, int]], ring: bool
    ) -> None:
        """Links of the atoms beside the backbone: each lies in the link that turns about the atom it hangs on."""
        own, (link, beyond) = self.primary[row], links
        chi = {} if ring else {names[2]: (k, names) for k, names in enumerate(chi_atoms(self._residues[row].name), 1)}
        names_of = {atom: name for name, atom in own.items()}
        for atom, before in order:
            link[atom] = beyond[before]
            beyond[atom] = link[atom]
            k, names = chi.get(names_of[atom], (0, ("", "", "", "")))
            if k and all(name in own for name in names) and own[names[1]] == before:
                four = (own[names[0]], own[names[1]], own[names[2]], own[names[3]])
                beyond[atom] = self._turn(f"chi{k}", row, four, link[atom])

    def _assign(self, row: int, links: dict[int, int], otherwise: int) -> None:
        """Write the links of the atoms of a residue, alternative locations with the first of their name."""
        residue, own = self._residues[row], self.primary[row]
        for atom in range(residue.start, residue.stop):
            first = own[str(self._atoms.name[atom])]
            self.link[atom] = links[first] if first in links else self._nearest(first, links, otherwise)

    def _nearest(self, atom: int, links: dict[int, int], otherwise: int) -> int:
        """Link of the nearest atom of a residue, for one that no bond leads to."""
        rows = [other for other in links if other != atom]
        if not rows:
            return otherwise
        apart = np.linalg.norm(self._atoms.position[rows] - self._atoms.position[atom], axis=1)
        return links[rows[int(np.argmin(apart))]]

    def _turn(self, kind: str, residue: int, four: tuple[int, int, int, int], parent: int) -> int:
        """A joint and the link it carries; the parent itself where the four atoms have no dihedral."""
        a, b, c, d = self._atoms.position[list(four)]
        for first, second in ((b - a, c - b), (c - b, d - c)):
            size = np.linalg.norm(first) * np.linalg.norm(second)
            if not np.linalg.norm(np.cross(first, second)) > STRAIGHT * size:
                return parent
        link = self._new_link(parent)
        self.turns.append(Turn(kind, residue, four, link, parent))
        return link

    def _new_link(self, parent: int) -> int:
        self.parents.append(parent)
        return len(self.parents) - 1
