"""Peptides from a sequence: their geometry, their dihedrals, their hands."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.molecules.geometry import dihedral
from rattleback.molecules.secondary import secondary_structure

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")
ALL = "ARNDCQEGHILKMFPSTWYV"


def test_all_twenty_have_the_atoms_they_should():
    protein = rb.molecules.peptide(ALL)
    # Heavy atoms of the residues in the order of ALL, and the last oxygen.
    heavy = [5, 11, 8, 8, 6, 9, 9, 4, 10, 8, 8, 9, 8, 11, 7, 6, 7, 14, 12, 7]
    assert [residue.stop - residue.start for residue in protein.residues] == [*heavy[:-1], heavy[-1] + 1]
    chi = [0, 5, 2, 2, 1, 3, 3, 0, 2, 2, 2, 4, 3, 2, 2, 1, 1, 2, 2, 1]
    assert [len(protein.chi[residue]) for residue in protein.residues] == chi


def test_the_dihedrals_are_those_that_were_asked_for():
    phi, psi = np.linspace(-2.5, 2.5, 20), np.linspace(3.0, -3.0, 20)
    protein = rb.molecules.peptide(ALL, phi, psi, omega=3.0)
    there = np.array([letter != "P" for letter in ALL]) & (np.arange(20) > 0)
    np.testing.assert_allclose(protein.phi.values[there], phi[there], atol=1e-12)
    np.testing.assert_allclose(protein.psi.values[:-1], psi[:-1], atol=1e-12)
    np.testing.assert_allclose(protein.omega.values[:-1], 3.0, atol=1e-12)
    assert np.degrees(protein.phi["A:15"]) == pytest.approx(-65.0)


def test_every_residue_is_left_handed_and_every_ring_closes():
    protein = rb.molecules.peptide(ALL)
    x = protein.positions
    for residue in protein.residues:
        if residue.name != "GLY":
            rows = [protein.atom(residue, name) for name in ("N", "C", "CA", "CB")]
            assert np.degrees(dihedral(*x[rows])) == pytest.approx(120.0, abs=5.0)
    rings = [
        (15, "CG", "CD"),
        (9, "CE1", "NE2"),
        (14, "CZ", "CE2"),
        (18, "NE1", "CE2"),
        (18, "CZ3", "CH2"),
        (19, "CZ", "CE2"),
    ]
    for number, one, other in rings:
        gap = np.linalg.norm(x[protein.atom(number, one)] - x[protein.atom(number, other)])
        assert 1.25 < gap < 1.58
    # Isoleucine and threonine have a second hand: (2S,3S) and (2S,3R).
    for number, names in ((10, ("CG1", "CG2")), (17, ("OG1", "CG2"))):
        rows = [[protein.atom(number, name) for name in ("N", "CA", "CB", last)] for last in names]
        one, other = (dihedral(*x[row]) for row in rows)
        assert np.degrees(other - one) % 360.0 == pytest.approx(240.0, abs=5.0)


def test_a_helix_rises_by_one_and_a_half_angstrom_a_residue_and_is_told_as_one():
    protein = rb.molecules.peptide("A" * 30, phi=np.radians(-57.8), psi=np.radians(-47.0))
    alpha = protein.positions[[protein.atom(number, "CA") for number in range(1, 31)]]
    middle = 0.5 * (alpha[:-3] + alpha[3:])
    rise = np.linalg.norm(alpha[22:26].mean(axis=0) - alpha[4:8].mean(axis=0)) / 18.0
    assert rise == pytest.approx(1.5, abs=0.06)
    assert len(middle) == 27
    assert secondary_structure(protein)[4:-4] == ["helix"] * 22


def test_nonsense_is_refused():
    with pytest.raises(InputError, match="The sequence of a peptide has 'X'; it is made of ACDEFGHIKLMNPQRSTVWY"):
        rb.molecules.peptide("AXA")
    with pytest.raises(InputError, match=r"The φ of a peptide has shape \(2,\); it must be a number, or 3 of them"):
        rb.molecules.peptide("AAA", phi=(1.0, 2.0))
