"""The same rebuilding by another program: the same atoms, and how much time it takes beside ours."""

import time
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from molecules.data import HAIRPIN

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")
parsing = pytest.importorskip("Bio.PDB.PDBParser", reason="needs pip install 'rattleback[oracles]'")


@pytest.fixture
def pair(tmp_path):
    """A peptide of sixty residues, ours and Biopython's chain of it with its internal coordinates."""
    protein = rb.molecules.peptide("GAVLKSETWRNQDAFIHMYC" * 3, phi=-1.05, psi=-0.82)
    protein.save(tmp_path / "helix.pdb")
    protein = rb.molecules.load(tmp_path / "helix.pdb")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (chain,) = parsing.PDBParser(QUIET=True).get_structure("helix", str(tmp_path / "helix.pdb")).get_chains()
        chain.atom_to_internal_coordinates()
    return protein, chain


def theirs(chain):
    """Rebuild all atoms of a chain from its internal coordinates: places by residue and name, and the seconds."""
    chain.internal_coord.atomArrayValid[:] = False
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain.internal_to_atom_coordinates()
    seconds = time.process_time() - begun
    return {(residue.id[1], atom.name): atom.coord.copy() for residue in chain for atom in residue}, seconds


def test_dihedrals_and_a_turned_chain_are_those_of_biopython(pair):
    protein, chain = pair
    for residue in chain:
        number, own = residue.id[1], residue.internal_coord
        for kind, name in ((protein.phi, "phi"), (protein.psi, "psi")):
            angle = own.get_angle(name)
            assert (angle is None) == np.isnan(kind[number])
            assert angle is None or np.degrees(kind[number]) == pytest.approx(angle, abs=1e-3)
    chain[30].internal_coord.set_angle("psi", 100.0)
    protein.psi[30] = np.radians(100.0)
    found, _ = theirs(chain)
    # Biopython builds in a frame of its own.
    there = np.array(list(found.values()), dtype=np.float64)
    ours = protein.positions[[protein.atom(number, name) for number, name in found]]
    there, ours = there - there.mean(axis=0), ours - ours.mean(axis=0)
    turn, _ = Rotation.align_vectors(ours, there)
    np.testing.assert_allclose(turn.apply(there), ours, atol=1e-2)


def test_rebuilding_is_at_least_ten_times_faster_than_biopython(pair):
    protein, chain = pair
    protein.rebuild()
    begun = time.process_time()
    for _ in range(20):
        protein.rebuild()
    ours = (time.process_time() - begun) / 20
    assert ours * 10.0 < np.median([theirs(chain)[1] for _ in range(3)])


def test_the_own_file_is_read_as_biopython_reads_it():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        structure = parsing.PDBParser(QUIET=True).get_structure("hairpin", str(HAIRPIN))
    protein = rb.molecules.load(HAIRPIN)
    for residue in protein.residues:
        chain = structure[0][residue.chain]
        own = chain[(" ", residue.number, residue.insertion or " ")]
        assert own.get_resname() == residue.name
        np.testing.assert_allclose(own["CA"].coord, protein.positions[protein.atom(residue, "CA")], atol=1e-3)
