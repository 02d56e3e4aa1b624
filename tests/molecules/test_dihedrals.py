"""Dihedrals as joints: what they read, what they turn, what stays rigid, and how residues are named."""

import json

import numpy as np
import pytest

import rattleback as rb
from molecules.data import FILES, HAIRPIN, SHARED, needs_shared
from rattleback.core.errors import InputError, UnknownName
from rattleback.molecules.geometry import dihedral
from rattleback.molecules.trees import columns_of

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


@pytest.fixture
def hairpin():
    return rb.molecules.load(HAIRPIN)


def plain_dihedral(a, b, c, d):
    """The angle of two half planes that share an edge, by turning the edge onto z."""
    z = (c - b) / np.linalg.norm(c - b)
    x = np.cross([0.123, 0.9, -0.4], z)
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    first, last = (complex((p - b) @ x, (p - b) @ y) for p in (a, d))
    return float(np.angle(last / first))


@pytest.mark.parametrize("path", [HAIRPIN, *FILES], ids=lambda path: path.name)
def test_rebuilding_gives_every_atom_back(path):
    protein = rb.molecules.load(path)
    assert np.abs(protein.rebuild() - protein.atoms.position).max() < 1e-9


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_phi_psi_and_omega_are_those_of_the_oracle(path):
    oracle = json.loads((SHARED / "oracle" / "phi_psi_omega_degrees.json").read_text())
    protein = rb.molecules.load(path)
    for key in (key for key in oracle if key.startswith(path.name)):
        chain = key.split(":")[1]
        for name, number, *angles in oracle[key]:
            assert protein.residue((chain, number)).name == name
            for kind, wanted in zip((protein.phi, protein.psi, protein.omega), angles, strict=True):
                found = np.degrees(kind[chain, number])
                if wanted is None:
                    assert np.isnan(found)
                else:
                    assert abs((found - wanted + 180.0) % 360.0 - 180.0) <= 1e-3


def test_what_is_read_is_the_angle_between_the_planes_of_the_atoms(hairpin):
    x = hairpin.positions
    for kind in (hairpin.phi, hairpin.psi, hairpin.omega, *hairpin.chi.each):
        for row in np.flatnonzero(kind.atoms[:, 0] >= 0):
            over = kind.values[row] - plain_dihedral(*x[kind.atoms[row]])
            assert abs((over + np.pi) % (2.0 * np.pi) - np.pi) < 1e-9


def test_what_is_written_is_where_the_atoms_are_and_nothing_before_it_moves(hairpin):
    before = hairpin.positions
    hairpin.phi["A:3"], hairpin.chi["A:5B", 2] = 1.0, -0.4
    x = hairpin.positions
    assert hairpin.phi["A:3"] == 1.0
    assert plain_dihedral(*x[hairpin.phi.atoms[hairpin.row("A:3")]]) == pytest.approx(1.0, abs=1e-12)
    assert plain_dihedral(*x[hairpin.chi.each[1].atoms[hairpin.row("A:5B")]]) == pytest.approx(-0.4, abs=1e-12)
    until = hairpin.atom("A:3", "CA") + 1
    np.testing.assert_allclose(x[:until], before[:until], atol=1e-10)
    chain_b = hairpin.residue("B:101").start
    np.testing.assert_allclose(x[chain_b:], before[chain_b:], atol=1e-10)


def test_random_dihedrals_keep_bond_lengths_and_angles(hairpin):
    rng = np.random.default_rng(1)
    many = hairpin.rebuild(rng.uniform(-np.pi, np.pi, (20, len(hairpin.q))))
    from rattleback.molecules.bonds import bond_list

    loops = {tuple(bond.atoms) for bond in hairpin.disulfides}
    bonds = [set(pair) for pair in bond_list(hairpin).tolist() if tuple(pair) not in loops]
    angles = [one ^ other for one in bonds for other in bonds if len(one & other) == 1]
    pairs = np.array([sorted(pair) for pair in (*bonds, *angles)])
    lengths = np.linalg.norm(many[:, pairs[:, 0]] - many[:, pairs[:, 1]], axis=-1)
    own = np.linalg.norm(hairpin.positions[pairs[:, 0]] - hairpin.positions[pairs[:, 1]], axis=-1)
    np.testing.assert_allclose(lengths, np.broadcast_to(own, lengths.shape), atol=1e-10)


def test_a_break_begins_another_tree_and_turns_nothing_beyond_it(hairpin):
    labels = [[hairpin.groups[row].label for row in one.residues] for one in hairpin.linkage.segments]
    assert [(one[0], one[-1]) for one in labels] == [("A:-1", "A:11"), ("B:101", "B:104"), ("B:106", "B:109")]
    assert np.isnan(hairpin.psi["B:104"])
    assert np.isnan(hairpin.phi["B:106"])
    before = hairpin.positions
    hairpin.psi["B:102"] += 1.0
    behind = hairpin.residue("B:106").start
    np.testing.assert_allclose(hairpin.positions[behind:], before[behind:], atol=1e-10)


def test_a_disulfide_is_a_loop_whose_gap_is_told(hairpin):
    (bond,) = hairpin.disulfides
    assert [hairpin.groups[row].label for row in bond.residues] == ["A:1", "A:9"]
    np.testing.assert_allclose(hairpin.loop_gaps(), 0.0, atol=1e-12)
    hairpin.chi["A:1", 1] += 0.2
    x = hairpin.positions
    assert hairpin.loop_gaps()[0] == pytest.approx(np.linalg.norm(x[bond.atoms[0]] - x[bond.atoms[1]]) - bond.length)
    assert abs(hairpin.loop_gaps()[0]) > 0.01


def test_the_ring_of_proline_is_read_and_stays(hairpin):
    atoms = [hairpin.atom("A:5", name) for name in ("N", "CA", "CB", "CG", "CD")]
    ring = hairpin.positions[atoms]
    hairpin.phi[:] = -1.0
    turned = hairpin.positions[atoms]
    across = [np.linalg.norm(points[:, None] - points[None], axis=-1) for points in (ring, turned)]
    np.testing.assert_allclose(*across, atol=1e-10)
    assert hairpin.phi["A:5"] != -1.0
    with pytest.raises(InputError, match=r"The φ of PRO A:5 is held by a ring and cannot be written\."):
        hairpin.phi["A:5"] = -1.0
    assert len(hairpin.chi["A:5"]) == 2


def test_alternative_locations_turn_together_with_the_first(hairpin):
    group = hairpin.residue("A:10")
    rows = [row for row in range(group.start, group.stop) if hairpin.atoms.name[row] == "OG"]
    assert [str(hairpin.atoms.alternative[row]) for row in rows] == ["A", "B"]
    beta = hairpin.atom("A:10", "CB")
    before = hairpin.positions
    hairpin.chi["A:10", 1] += 0.8
    after = hairpin.positions
    assert np.linalg.norm(after[rows] - before[rows], axis=1).min() > 0.5
    for x in (before, after):
        np.testing.assert_allclose(
            np.linalg.norm(x[rows] - x[beta], axis=1), np.linalg.norm(before[rows] - before[beta], axis=1), atol=1e-10
        )


def test_residues_are_named_in_every_way(hairpin):
    row = hairpin.row("A:5B")
    assert hairpin.row(("A", "5B")) == hairpin.row("5B") == hairpin.row(hairpin.residues[row]) == row
    assert hairpin.row(-1) == hairpin.row(("A", -1)) == 0
    assert hairpin.chi["A", 0, 1] == hairpin.chi["A:0"][0] == hairpin.chi["A:0", 1] == hairpin.chi.values[1, 0]
    np.testing.assert_array_equal(hairpin.psi[2:4], hairpin.psi.values[2:4])
    assert str(hairpin.residues[row]) == "TRP A:5B"


def test_what_is_not_there_is_refused_by_name(hairpin):
    with pytest.raises(UnknownName, match="has no amino acid 'A:99'"):
        hairpin.phi["A:99"]
    with pytest.raises(UnknownName, match="has no atom 'CG'. It has 'N', 'CA', 'C', 'O'"):
        hairpin.atom("A:5A", "CG")
    with pytest.raises(InputError, match=r"GLY A:-1 has no φ: an atom or a neighbour that it needs is not there\."):
        hairpin.phi[-1] = 0.0
    with pytest.raises(InputError, match=r"GLY A:5A has no χ1"):
        hairpin.chi["A:5A", 1] = 0.0
    with pytest.raises(InputError, match="The number of a χ is 6; it must be at most 5"):
        hairpin.chi["A:0", 6] = 0.0
    with pytest.raises(InputError, match=r"The χ of LYS A:0 has shape \(2,\); it must be 4 numbers"):
        hairpin.chi["A:0"] = (1.0, 2.0)
    with pytest.raises(InputError, match="The φ of LYS A:0 is nan; it must be finite"):
        hairpin.phi["A:0"] = float("nan")
    with pytest.raises(InputError, match="The dihedrals of 'hairpin' have shape"):
        hairpin.rebuild(np.zeros(3))
    both = rb.molecules.load(HAIRPIN)
    both._labels["B:5B"] = 0
    with pytest.raises(InputError, match="has a residue 5B in several chains: 'A:5B', 'B:5B'; name one"):
        both.row("5B")


def test_the_kinematic_tree_of_a_chain_moves_as_the_protein_does(hairpin):
    tree = hairpin.tree("A:3")
    columns = columns_of(hairpin, tree)
    q = hairpin.q
    q[columns] += np.random.default_rng(2).normal(size=len(columns))
    places = hairpin.rebuild(q)
    for label in ("A:2", "A:5B", "A:11"):
        np.testing.assert_allclose(tree.forward(q[columns], label)[:3, 3], places[hairpin.atom(label, "CA")], atol=1e-9)


def test_a_batch_is_its_conformations_one_by_one(hairpin, device):
    protein = rb.molecules.load(HAIRPIN, on=device)
    q = protein.q + np.random.default_rng(3).normal(size=(50, len(protein.q)))
    many = protein.rebuild(q)
    assert many.shape == (50, len(protein.atoms), 3)
    np.testing.assert_allclose(many[17], hairpin.rebuild(q[17]), atol=1e-10)


def test_a_copy_stands_as_the_original_and_turns_by_itself(hairpin):
    hairpin.psi["A:2"] = 0.4
    other = hairpin.copy()
    np.testing.assert_array_equal(other.positions, hairpin.positions)
    other.psi["A:2"] = 0.5
    assert hairpin.psi["A:2"] == 0.4


def test_dihedrals_are_positive_clockwise_along_the_middle_bond():
    a, b, c = np.array([1.0, 0.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.0])
    # Seen along z, from b to c, y lies clockwise of x.
    assert dihedral(a, b, c, c + np.array([0.0, 1.0, 0.0])) == pytest.approx(np.pi / 2)
