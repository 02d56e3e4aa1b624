"""Side chains: the atoms along which their dihedrals χ₁, χ₂ and on are counted.

    χ_k = dihedral(p_k, p_{k+1}, p_{k+2}, p_{k+3})

p the path N, Cα, Cβ and on. The turn about a bond carries all atoms behind it. Bonds in rings are left out; so are
turns of methyl, hydroxyl and amine hydrogens, which are no dihedrals of heavy atoms.

Reference: IUPAC-IUB Commission on Biochemical Nomenclature, "Abbreviations and symbols for the description of the
conformation of polypeptide chains", Biochemistry 9 (1970), 3471-3479.
"""

from __future__ import annotations

PATHS = {
    "ALA": "CB",
    "ARG": "CB CG CD NE CZ NH1",
    "ASN": "CB CG OD1",
    "ASP": "CB CG OD1",
    "CYS": "CB SG",
    "GLN": "CB CG CD OE1",
    "GLU": "CB CG CD OE1",
    "GLY": "",
    "HIS": "CB CG ND1",
    "ILE": "CB CG1 CD1",
    "LEU": "CB CG CD1",
    "LYS": "CB CG CD CE NZ",
    "MET": "CB CG SD CE",
    "MSE": "CB CG SE CE",
    "PHE": "CB CG CD1",
    "PRO": "CB CG CD",
    "SEC": "CB SE",
    "SER": "CB OG",
    "SEP": "CB OG P",
    "THR": "CB OG1",
    "TPO": "CB OG1 P",
    "TRP": "CB CG CD1",
    "TYR": "CB CG CD1",
    "PTR": "CB CG CD1",
    "VAL": "CB CG1",
}
# The longest side chain, of arginine, has so many dihedrals.
MOST_CHI = 5

ONE_LETTER = {
    "A": "ALA", "R": "ARG", "N": "ASN", "D": "ASP", "C": "CYS", "Q": "GLN", "E": "GLU", "G": "GLY", "H": "HIS",
    "I": "ILE", "L": "LEU", "K": "LYS", "M": "MET", "F": "PHE", "P": "PRO", "S": "SER", "T": "THR", "W": "TRP",
    "Y": "TYR", "V": "VAL",
}  # fmt: skip


def chi_atoms(name: str) -> list[tuple[str, str, str, str]]:
    """The four atoms of each χ of a kind of residue; none for a kind that is not in the table."""
    path = ["N", "CA", *PATHS.get(name, "").split()]
    return [(path[k], path[k + 1], path[k + 2], path[k + 3]) for k in range(len(path) - 3)]
