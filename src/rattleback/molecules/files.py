"""Files of molecules, PDB and mmCIF, read and written by gemmi, which keeps what is no atom, too.

Cells, models, hetero groups, waters, alternative locations, insertion codes and negative numbers are written back as
they were read; only the positions of the atoms of one model change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import FileError, InputError
from rattleback.molecules.atoms import Atoms, Residue, covalent_radii

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

PDB, MMCIF = (".pdb", ".ent"), (".cif", ".mmcif")
# Columns of a PDB file hold no more.
WIDEST = 9999.9995


def load_gemmi() -> Any:
    """The package that reads and writes files of molecules; where it is missing, a sentence says how to get it."""
    try:
        import gemmi
    except ImportError:
        wanted = "pip install 'rattleback[molecules]'"
        raise InputError(f"Files of molecules need the package gemmi; install it with {wanted}.") from None
    return gemmi


def read_structure(path: str | PathLike[str], model: int) -> tuple[Any, int]:
    """A structure as gemmi holds it, and the row of the model that is meant.

    Args:
        path: The file, PDB or mmCIF, also compressed as ``.gz``.
        model: Which of its models, from 0.
    """
    gemmi = load_gemmi()
    name = whole_file.location(path, "file of a molecule")
    _check_ending(name)
    if not Path(name).is_file():
        whole_file.read(path, "file of a molecule")
    try:
        structure = gemmi.read_structure(name)
    except (RuntimeError, ValueError, OSError) as error:
        raise FileError(f"The file of a molecule {name!r} cannot be read: {error}.") from None
    if not len(structure) or not structure[0].count_atom_sites():
        raise FileError(f"The file of a molecule {name!r} has no atoms.")
    count = checks.count(model, "The model", least=0)
    if count >= len(structure):
        raise InputError(f"The file {name!r} has {len(structure)} models; they count from 0, there is no {count}.")
    structure.setup_entities()
    return structure, count


def read_atoms(structure: Any, model: int) -> tuple[Atoms, tuple[Residue, ...]]:
    """Atoms and residues of a model, in the order of the file."""
    rows: list[Any] = []
    residues: list[Residue] = []
    for chain in structure[model]:
        for found in chain:
            start = len(rows)
            rows += [(atom, len(residues)) for atom in found]
            code, hetero = found.seqid.icode.strip(), found.het_flag == "H"
            residues.append(Residue(chain.name, found.seqid.num, code, found.name, start, len(rows), hetero))
    element = np.array([atom.element.name.upper() for atom, _ in rows])
    atoms = Atoms(
        np.array([atom.name for atom, _ in rows]),
        element,
        np.array([atom.altloc.strip("\0 ") for atom, _ in rows]),
        np.array([atom.occ for atom, _ in rows], dtype=np.float64),
        np.array([residue for _, residue in rows], dtype=np.int64),
        np.array([(atom.pos.x, atom.pos.y, atom.pos.z) for atom, _ in rows], dtype=np.float64),
        covalent_radii(element),
    )
    if not np.isfinite(atoms.position).all():
        bad = int(np.argmin(np.isfinite(atoms.position).all(axis=1)))
        raise FileError(f"Atom {atoms.name[bad]} of {residues[atoms.residue[bad]]} has no finite position.")
    return atoms, tuple(residues)


def write_structure(structure: Any, model: int, positions: NDArray[np.float64], path: str | PathLike[str]) -> None:
    """Write a structure with other positions of one model, as PDB or mmCIF.

    Args:
        structure: As gemmi holds it; it stays as it is.
        model: The model that has moved.
        positions: Its atoms (atoms, 3) [Å].
        path: Where to; the ending says which format.
    """
    gemmi = load_gemmi()
    name = whole_file.location(path, "file of a molecule")
    ending = _check_ending(name)
    moved = structure.clone()
    sites = (atom for chain in moved[model] for residue in chain for atom in residue)
    for atom, place in zip(sites, positions.tolist(), strict=True):
        atom.pos = gemmi.Position(*place)
    text = _pdb_text(gemmi, moved, positions) if ending in PDB else moved.make_mmcif_document().as_string()
    content = text.encode()
    if name.lower().endswith(".gz"):
        import gzip

        content = gzip.compress(content, mtime=0)
    whole_file.write(path, content, "file of a molecule")


def _pdb_text(gemmi: Any, structure: Any, positions: NDArray[np.float64]) -> str:
    """The text of a PDB file, if its columns hold everything."""
    if positions.min() < -999.9995 or positions.max() >= WIDEST:
        raise InputError("An atom is too far from the origin for the columns of a PDB file; write .cif.")
    structure.shorten_ccd_codes()
    try:
        text: str = structure.make_pdb_string(gemmi.PdbWriteOptions(preserve_serial=True))
    except (RuntimeError, ValueError) as error:
        raise InputError(f"The molecule does not fit a PDB file: {error}; write .cif.") from None
    return text


def _check_ending(name: str) -> str:
    plain = name[:-3] if name.lower().endswith(".gz") else name
    ending = Path(plain).suffix.lower()
    if ending not in (*PDB, *MMCIF):
        raise InputError(f"The file of a molecule {name!r} must end with .pdb, .ent, .cif or .mmcif, also .gz.")
    return ending
