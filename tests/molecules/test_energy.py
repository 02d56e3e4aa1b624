"""The field TVH: closed forms of its terms, its gradient, and minimisation that never goes up."""

import numpy as np
import pytest

import rattleback as rb
from molecules.data import HAIRPIN, SHARED, needs_shared
from rattleback.core.errors import InputError
from rattleback.molecules.bonds import near_in_bonds
from rattleback.molecules.energy.parameters import HYDROGEN_BOND, VAN_DER_WAALS, torsion_of

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


def plain_van_der_waals(protein):
    """The sum over all pairs, term by term."""
    x, near, total = protein.positions, near_in_bonds(protein, 3), 0.0
    rows = [row for own in protein.linkage.primary for row in own.values()]
    waters = [k for k, residue in enumerate(protein.groups) if residue.name == "HOH"]
    rows = sorted(row for row in rows if protein.atoms.residue[row] not in waters)
    for k, a in enumerate(rows):
        for b in rows[k + 1 :]:
            r = float(np.linalg.norm(x[a] - x[b]))
            if (a, b) in near or r >= 10.0 or protein.linkage.link[a] == protein.linkage.link[b]:
                continue
            (one, deep), (other, deeper) = (VAN_DER_WAALS[str(protein.atoms.element[row])] for row in (a, b))
            s, t = r / (one + other), np.clip((r - 8.0) / 2.0, 0.0, 1.0)
            fade = 1.0 - 10.0 * t**3 + 15.0 * t**4 - 6.0 * t**5
            law = s**-12 - 2.0 * s**-6
            if s < 0.7:
                law = 0.7**-12 - 2.0 * 0.7**-6 + 12.0 * (0.7**-7 - 0.7**-13) * (s - 0.7)
            total += np.sqrt(deep * deeper) * law * fade
    return total


def test_torsion_and_van_der_waals_are_the_sums_they_are_said_to_be():
    protein = rb.molecules.load(HAIRPIN)
    energy = rb.molecules.TVH(protein).energy()
    torsion = 0.0
    for turn, q in zip(protein.linkage.turns, protein.q, strict=True):
        term = torsion_of(protein.groups[turn.residue].name, turn.kind)
        torsion += 0.5 * term.barrier * (1.0 + np.cos(term.fold * q - np.pi * term.half_turns))
    assert energy.torsion == pytest.approx(torsion, rel=1e-12)
    assert energy.van_der_waals == pytest.approx(plain_van_der_waals(protein), rel=1e-9)
    assert energy.bridges == pytest.approx(0.0, abs=1e-12)
    assert energy.total == sum(energy)


def test_a_stretched_disulfide_pulls():
    protein = rb.molecules.load(HAIRPIN)
    protein.chi["A:1", 1] += 0.1
    assert rb.molecules.TVH(protein).energy().bridges == pytest.approx(100.0 * protein.loop_gaps()[0] ** 2)


def test_a_helix_is_held_by_its_hydrogen_bonds_and_a_strand_has_none():
    helix = rb.molecules.peptide("A" * 12, phi=np.radians(-57.8), psi=np.radians(-47.0))
    strand = rb.molecules.peptide("A" * 12)
    bound, free = (rb.molecules.TVH(one).energy().hydrogen_bonds for one in (helix, strand))
    # Residues 5 to 12 have a C=O four before them; each bond is at most as deep as the law.
    assert -8.0 * HYDROGEN_BOND[1] <= bound < -8.0
    assert abs(free) < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_what_differences_give(seed):
    protein = rb.molecules.load(HAIRPIN)
    field = rb.molecules.TVH(protein)
    q = protein.q + np.random.default_rng(seed).normal(size=len(protein.q)) * 0.01 * seed
    gradient, h = field.gradient(q), 1e-4
    steps = np.eye(len(q)) * h
    rows = [sum(field.energy(q + k * steps)) for k in (-2, -1, 1, 2)]
    slope = (rows[0] - 8.0 * rows[1] + 8.0 * rows[2] - rows[3]) / (12.0 * h)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_energies_of_a_batch_are_those_of_its_conformations(device):
    protein = rb.molecules.load(HAIRPIN, on=device)
    field = rb.molecules.TVH(protein)
    q = protein.q + np.random.default_rng(5).normal(size=(7, len(protein.q))) * 0.02
    many, one = field.energy(q), field.energy(q[3])
    np.testing.assert_allclose([part[3] for part in many], one, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(field.gradient(q)[3], field.gradient(q[3]), rtol=1e-9, atol=1e-9)


def minimised_from_extended(protein):
    protein.phi[:] = protein.psi[:] = np.pi
    field = rb.molecules.TVH(protein)
    found = rb.molecules.minimise(field)
    assert (np.diff(found.energies) < 0.0).all()
    assert found.energies[0] == pytest.approx(field.energy().total)
    assert found.energies[-1] == pytest.approx(field.energy(found.q).total)
    assert found.converged
    assert found.slope <= 0.01
    assert np.abs(field.gradient(found.q)).max() == pytest.approx(found.slope)
    return found


def test_minimising_lowers_the_energy_with_every_step():
    found = minimised_from_extended(rb.molecules.peptide("NLYIQWLKDGGPSSGRPPPS"))
    assert found.energies[-1] < found.energies[0] - 20.0


@needs_shared
def test_minimising_an_extended_trp_cage_lowers_the_energy_with_every_step():
    found = minimised_from_extended(rb.molecules.load(SHARED / "pdb" / "1l2y.pdb.gz"))
    assert found.energies[-1] < found.energies[0] - 100.0


def test_a_clash_is_relieved_and_a_minimum_stays():
    protein = rb.molecules.peptide("AVLKSEW", phi=-1.05, psi=-0.82)
    field = rb.molecules.TVH(protein)
    first = rb.molecules.minimise(field, steps=2000, tolerance=1e-4)
    again = rb.molecules.minimise(field, first.q, tolerance=1e-3)
    assert len(again.energies) == 1
    assert again.reason == "It is at a minimum."
    short = rb.molecules.minimise(field, steps=2)
    assert short.reason == "It took all 2 steps."


def test_nonsense_is_refused():
    protein = rb.molecules.peptide("AAA")
    field = rb.molecules.TVH(protein)
    with pytest.raises(InputError, match="The protein of a field is 3"):
        rb.molecules.TVH(3)
    with pytest.raises(InputError, match=r"The dihedrals of a field have shape \(2,\); their last axis must be"):
        field.energy((1.0, 2.0))
    with pytest.raises(InputError, match="The start of minimise has shape"):
        rb.molecules.minimise(field, (1.0,))
