"""What a protein looks like, as balls, sticks and surfaces: as ribbons, a trace, or balls and sticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.molecules.atoms import WATERS
from rattleback.molecules.bonds import bond_list
from rattleback.molecules.ribbon import ribbon
from rattleback.molecules.secondary import COIL, HELIX, STRAND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]
    Words = NDArray[np.str_]

STYLES = ("ribbon", "trace", "sticks")
# The usual colours of the elements, a little toned down.
ELEMENTS = {
    "H": "#e8ebee", "D": "#e8ebee", "C": "#6b7680", "N": "#3d6fb5", "O": "#c8452d", "S": "#d9a441", "SE": "#c98a2b",
    "P": "#c97a2b",
}  # fmt: skip
OTHER = "#6a994e"
BANDS = {COIL: "#9aa7b4", HELIX: "#c8553d", STRAND: "#d9a441"}
# From the first residue of a chain to the last.
COURSE = ("#33507a", "#2a9d8f", "#6a994e", "#d9a441", "#c8452d")
# Radii [Å].
STICK, BALL, LIGHT, TRACE, WATER = 0.16, 0.36, 0.24, 0.35, 0.30


class Solid(NamedTuple):
    """Balls and sticks, each with a radius [Å] and a colour, ``"#c8553d"``.

    Attributes:
        start: Middle of a ball, or one end of a stick (n, 3) [Å].
        end: The same place for a ball, or the other end (n, 3) [Å].
        radius: Radii (n,) [Å].
        colour: Colours (n,).
        atom: The atom each belongs to (n,).
    """

    start: Floats
    end: Floats
    radius: Floats
    colour: Words
    atom: NDArray[np.int64]


class Drawing(NamedTuple):
    """What a protein looks like.

    Attributes:
        balls: The balls.
        sticks: The sticks.
        bands: Surfaces, each with points (n, 3) [Å], triangles (m, 3) and a colour.
    """

    balls: Solid
    sticks: Solid
    bands: list[tuple[Floats, NDArray[np.int64], str]]


def drawing_of(protein: Protein, style: str = "ribbon") -> Drawing:
    """What a protein looks like as it is now.

    Args:
        protein: The protein; of alternative locations the first, waters left out.
        style: ``"ribbon"``, bands along the backbone, with what is no amino acid as balls and sticks; ``"trace"``,
            sticks from Cα to Cα in the colours of their order; ``"sticks"``, all atoms and bonds.
    """
    checks.one_of(style, STYLES, "The style of a protein")
    places = protein.positions
    groups = [row for row, residue in enumerate(protein.groups) if residue.name not in WATERS]
    if style == "sticks":
        return Drawing(*_atoms_and_bonds(protein, places, groups), [])
    others = [row for row in groups if row not in set(protein.rows)]
    balls, sticks = _atoms_and_bonds(protein, places, others)
    if style == "trace":
        joints, bars = _trace(protein, places)
        return Drawing(_joined(balls, joints), _joined(sticks, bars), [])
    return Drawing(balls, sticks, [(band.vertices, band.triangles, BANDS[band.kind]) for band in ribbon(protein)])


def _atoms_and_bonds(protein: Protein, places: Floats, groups: list[int]) -> tuple[Solid, Solid]:
    """Balls of the atoms of some residues, and half a stick from each atom towards those it is bonded to."""
    atoms = protein.atoms
    rows = np.array([row for group in groups for row in protein.linkage.primary[group].values()], dtype=np.int64)
    colour = np.array([ELEMENTS.get(str(element), OTHER) for element in atoms.element], dtype="U7")
    radius = np.where(np.isin(atoms.element[rows], ("H", "D")), LIGHT, BALL)
    balls = Solid(places[rows], places[rows], radius, colour[rows], rows)
    bonds = bond_list(protein)
    bonds = bonds[np.isin(bonds, rows).all(axis=1)]
    ends = np.concatenate([bonds, bonds[:, ::-1]])
    start, middle = places[ends[:, 0]], 0.5 * (places[ends[:, 0]] + places[ends[:, 1]])
    return balls, Solid(start, middle, np.full(len(ends), STICK), colour[ends[:, 0]], ends[:, 0])


def _trace(protein: Protein, places: Floats) -> tuple[Solid, Solid]:
    """Balls on the Cα of each chain and sticks between them, in the colours of their order."""
    balls: list[tuple[Floats, Floats, str, int]] = []
    sticks: list[tuple[Floats, Floats, str, int]] = []
    for segment in protein.linkage.segments:
        rows = [protein.linkage.primary[row]["CA"] for row in segment.residues]
        shades = [_shade(k / max(1, len(rows) - 1)) for k in range(len(rows))]
        balls += [(places[row], places[row], shade, row) for row, shade in zip(rows, shades, strict=True)]
        sticks += [(places[rows[k]], places[rows[k + 1]], shades[k], rows[k]) for k in range(len(rows) - 1)]
    return _solid(balls), _solid(sticks)


def _solid(rows: list[tuple[Floats, Floats, str, int]]) -> Solid:
    ends = [np.array([row[k] for row in rows], dtype=np.float64).reshape(-1, 3) for k in (0, 1)]
    colours, atoms = np.array([row[2] for row in rows], dtype="U7"), np.array([row[3] for row in rows], dtype=np.int64)
    return Solid(ends[0], ends[1], np.full(len(rows), TRACE), colours, atoms)


def _joined(one: Solid, other: Solid) -> Solid:
    return Solid(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))


def _shade(part: float) -> str:
    """A colour between those of the first and the last residue, in one of twelve steps."""
    stops = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in COURSE], dtype=np.float64)
    at = np.round(part * 11.0) / 11.0 * (len(stops) - 1)
    mixed = [int(round(float(np.interp(at, np.arange(len(stops)), stops[:, k])))) for k in range(3)]
    return "#" + "".join(f"{value:02x}" for value in mixed)
