"""A peptide from its sequence, with the bond lengths and angles that peptides have.

    x_N' = placed(N, Cα, C; ψ),   x_Cα' = placed(Cα, C, N'; ω),   x_C' = placed(C, N', Cα'; φ')

placed(a, b, c; t) the point at the length of its bond from c, with the angle of its bond at c and the dihedral t. The
side chains follow in their own lines. Backbone lengths and angles are those of Engh and Huber.

Reference: Engh and Huber, "Accurate bond and angle parameters for X-ray protein structure refinement", Acta
Crystallographica A47 (1991), 392-400.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.molecules.files import load_gemmi
from rattleback.molecules.geometry import placed
from rattleback.molecules.protein import Protein
from rattleback.molecules.side_chain_geometry import atoms_of
from rattleback.molecules.side_chains import ONE_LETTER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# Lengths [Å] and angles [rad] along the backbone.
N_CA, CA_C, C_N, C_O, C_OXT = 1.458, 1.525, 1.329, 1.231, 1.25
AT_CA, AT_C, AT_N, AT_O, AT_OXT = (float(np.radians(angle)) for angle in (111.0, 117.2, 121.7, 120.1, 117.0))
# φ that the ring of proline holds [rad].
PROLINE = float(np.radians(-65.0))
# χ of a new side chain [rad]: the first one turned away from the backbone, flat groups across, the others stretched.
FIRST, ACROSS, STRETCHED = (float(np.radians(angle)) for angle in (-65.0, 90.0, 180.0))
FLAT = ("PHE", "TYR", "TRP", "HIS", "ASN", "ASP")


def peptide(
    sequence: str,
    phi: ArrayLike = -2.36,
    psi: ArrayLike = 2.36,
    omega: ArrayLike = np.pi,
    chain: str = "A",
    on: str = "cpu",
) -> Protein:
    """A peptide of one chain, without hydrogens.

    Args:
        sequence: Its residues in one-letter code, such as ``"GAVLK"``.
        phi: φ of all residues or of each [rad]; that of proline is −65°, which its ring holds.
        psi: ψ of all residues or of each [rad]; the last one turns the end.
        omega: ω of all peptide bonds or of each [rad].
        chain: Name of the chain.
        on: Device for batches: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """
    names = _names(sequence)
    angles = [_angles(value, len(names), what) for value, what in ((phi, "φ"), (psi, "ψ"), (omega, "ω"))]
    residues = _backbone(names, angles)
    for name, own in zip(names, residues, strict=True):
        for atom in atoms_of(name):
            turn = atom.dihedral + (_first_chi(name, atom.chi) if atom.chi else 0.0)
            a, b, c = (own[other] for other in atom.chain[::-1])
            own[atom.name] = placed(a, b, c, (atom.length, atom.angle, turn))
    return Protein(_structure(names, residues, checks.text(chain, "The name of a chain")), 0, "peptide", on)


def _names(sequence: str) -> list[str]:
    letters = checks.text(sequence, "The sequence of a peptide").upper()
    for letter in letters:
        if letter not in ONE_LETTER:
            raise InputError(f"The sequence of a peptide has {letter!r}; it is made of {''.join(sorted(ONE_LETTER))}.")
    return [ONE_LETTER[letter] for letter in letters]


def _angles(value: ArrayLike, count: int, what: str) -> Floats:
    given = checks.finite(value, f"The {what} of a peptide")
    if given.shape not in ((), (count,)):
        raise InputError(f"The {what} of a peptide has shape {given.shape}; it must be a number, or {count} of them.")
    return np.broadcast_to(given, (count,))


def _first_chi(name: str, number: int) -> float:
    if number == 1:
        return FIRST
    return ACROSS if number == 2 and name in FLAT else STRETCHED


def _backbone(names: list[str], angles: list[Floats]) -> list[dict[str, Floats]]:
    """Places of N, CA, C and O of all residues, and of the last oxygen."""
    phi, psi, omega = angles
    n, alpha = np.zeros(3), np.array([N_CA, 0.0, 0.0])
    c = alpha + CA_C * np.array([-np.cos(AT_CA), np.sin(AT_CA), 0.0])
    found: list[dict[str, Floats]] = []
    for k, _ in enumerate(names):
        if k:
            before = found[-1]
            n = placed(before["N"], before["CA"], before["C"], (C_N, AT_C, float(psi[k - 1])))
            alpha = placed(before["CA"], before["C"], n, (N_CA, AT_N, float(omega[k - 1])))
            turn = PROLINE if names[k] == "PRO" else float(phi[k])
            c = placed(before["C"], n, alpha, (CA_C, AT_CA, turn))
        oxygen = placed(n, alpha, c, (C_O, AT_O, float(psi[k]) + np.pi))
        found.append({"N": n, "CA": alpha, "C": c, "O": oxygen})
    found[-1]["OXT"] = placed(n, alpha, c, (C_OXT, AT_OXT, float(psi[-1])))
    return found


def _structure(names: list[str], residues: list[dict[str, Floats]], chain: str) -> Any:
    """The peptide as gemmi holds it."""
    gemmi = load_gemmi()
    structure, made = gemmi.Structure(), gemmi.Chain(chain)
    structure.name = "peptide"
    serial = 0
    for number, (name, own) in enumerate(zip(names, residues, strict=True), 1):
        residue = gemmi.Residue()
        residue.name, residue.seqid, residue.het_flag = name, gemmi.SeqId(number, " "), "A"
        for label, place in own.items():
            atom = gemmi.Atom()
            serial += 1
            atom.name, atom.element, atom.serial = label, gemmi.Element(label[0]), serial
            atom.pos, atom.occ = gemmi.Position(*place.tolist()), 1.0
            residue.add_atom(atom)
        made.add_residue(residue)
    model = gemmi.Model(1)
    model.add_chain(made)
    structure.add_model(model)
    structure.setup_entities()
    return structure
