"""What a protein looks like: bonds of the right length, closed ribbons, helices and strands where they are known."""

import numpy as np
import pytest

import rattleback as rb
from molecules.data import HAIRPIN, SHARED, needs_shared
from rattleback.core.errors import InputError
from rattleback.molecules.secondary import secondary_structure

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


def test_sticks_show_every_atom_and_bond_but_waters():
    protein = rb.molecules.load(HAIRPIN)
    drawing = protein.drawing("sticks")
    waters = sum(residue.name == "HOH" for residue in protein.groups)
    assert len(drawing.balls.radius) == len(protein.atoms) - waters - 1  # one further location
    # In a tree of bonds there is one fewer than atoms: rings, chains, the sulfate and the disulfide change that.
    rings = sum({"PRO": 1, "TRP": 2}.get(residue.name, 0) for residue in protein.residues)
    trees = len(protein.linkage.segments) + 1
    assert len(drawing.sticks.radius) == 2 * (len(drawing.balls.radius) - trees + rings + len(protein.disulfides))
    lengths = 2.0 * np.linalg.norm(drawing.sticks.end - drawing.sticks.start, axis=1)
    assert lengths.min() > 1.2
    assert lengths.max() < 2.1


def test_a_trace_goes_from_alpha_to_alpha():
    protein = rb.molecules.peptide("GAVLKSE")
    drawing = protein.drawing("trace")
    assert (len(drawing.balls.radius), len(drawing.sticks.radius)) == (7, 6)
    np.testing.assert_allclose(np.linalg.norm(drawing.sticks.end - drawing.sticks.start, axis=1), 3.8, atol=0.05)


def test_ribbons_are_closed_and_broad_where_they_should_be():
    helix = rb.molecules.peptide("A" * 20, phi=np.radians(-57.8), psi=np.radians(-47.0))
    drawing = helix.drawing("ribbon")
    assert len(drawing.balls.radius) == 0
    for vertices, triangles, _ in drawing.bands:
        assert np.isfinite(vertices).all()
        edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        _, uses = np.unique(edges, axis=0, return_counts=True)
        assert (uses == 2).all()
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0  # its outside is outside


@needs_shared
def test_the_helix_and_the_strands_of_ubiquitin_are_where_they_are_known_to_be():
    protein = rb.molecules.load(SHARED / "pdb" / "1ubi.pdb.gz")
    kinds = dict(zip((residue.number for residue in protein.residues), secondary_structure(protein), strict=True))
    # From the file's own header: helix 23-34; strands 1-7, 10-17, 40-45, 48-49, 64-72.
    assert all(kinds[number] == "helix" for number in range(24, 34))
    for first, last in ((2, 6), (12, 16), (41, 44), (66, 71)):
        assert all(kinds[number] == "strand" for number in range(first, last + 1))
    assert "helix" not in {kinds[number] for number in (*range(1, 22), *range(36, 55))}


def test_an_unknown_style_is_refused():
    with pytest.raises(InputError, match="The style of a protein is 'cartoon'; it may be 'ribbon', 'trace', 'sticks'"):
        rb.molecules.peptide("AAA").drawing("cartoon")
