"""The numbers of the field TVH: torsion barriers, van der Waals radii and depths, hydrogen bonds.

All are round numbers of the size that published fields have, chosen to be read rather than fitted. Energies in
kcal/mol.
"""

from __future__ import annotations

from typing import NamedTuple


class Torsion(NamedTuple):
    """½ V (1 + cos(n φ − δ)): barrier V [kcal/mol], fold n, phase δ in half turns."""

    barrier: float
    fold: int
    half_turns: int


PEPTIDE = Torsion(20.0, 2, 1)
BACKBONE = Torsion(0.5, 3, 0)
# Between two tetrahedral atoms, beside a flat group, within a guanidinium, and beside a sulfur.
STAGGERED, FLAT, CONJUGATED, SULFUR = Torsion(2.8, 3, 0), Torsion(0.5, 2, 0), Torsion(8.0, 2, 1), Torsion(1.0, 3, 0)
BESIDE_FLAT = {
    ("PHE", 2), ("TYR", 2), ("PTR", 2), ("TRP", 2), ("HIS", 2), ("ASP", 2), ("ASN", 2), ("GLU", 3), ("GLN", 3),
    ("ARG", 4),
}  # fmt: skip
CONJUGATED_TURNS = {("ARG", 5)}
BESIDE_SULFUR = {("MET", 3), ("MSE", 3)}

# Half the distance of least energy [Å] and depth [kcal/mol] of two like atoms.
VAN_DER_WAALS = {
    "H": (1.20, 0.015), "D": (1.20, 0.015), "C": (1.90, 0.10), "N": (1.82, 0.17), "O": (1.66, 0.20), "S": (2.00, 0.25),
    "SE": (2.10, 0.25), "P": (2.10, 0.20),
}  # fmt: skip
OTHER = (1.90, 0.10)
# Distance H···O of least energy [Å], depth [kcal/mol].
HYDROGEN_BOND = (1.9, 3.0)
# Stiffness of a disulfide [kcal/mol/Å²].
BRIDGE = 200.0
# Length of a bond N-H that is not in the file [Å].
N_H = 1.01


def torsion_of(residue: str, kind: str) -> Torsion:
    """The torsion of a dihedral, by the kind of its residue."""
    if kind == "omega":
        return PEPTIDE
    if not kind.startswith("chi"):
        return BACKBONE
    key = (residue, int(kind[3:]))
    if key in CONJUGATED_TURNS:
        return CONJUGATED
    if key in BESIDE_SULFUR:
        return SULFUR
    return FLAT if key in BESIDE_FLAT else STAGGERED
