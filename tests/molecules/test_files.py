"""Files of molecules: all that is in them survives reading and writing, and what cannot be read is refused by name."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from molecules.data import FILES, HAIRPIN
from rattleback.core.errors import FileError, InputError

gemmi = pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


def sites(path):
    """Every atom of a file, with all that is said of it."""
    structure = gemmi.read_structure(str(path))
    return [
        (model.num, chain.name, str(residue.seqid), residue.name, residue.het_flag, atom.name, atom.altloc,
         round(atom.occ, 3), round(atom.b_iso, 2), atom.element.name, [round(x, 3) for x in atom.pos.tolist()])
        for model in structure for chain in model for residue in chain for atom in residue
    ]  # fmt: skip


@pytest.mark.parametrize("path", [HAIRPIN, *FILES], ids=lambda path: path.name)
def test_chains_hetero_groups_waters_locations_codes_and_numbers_survive(path, tmp_path):
    protein = rb.molecules.load(path)
    protein.q = protein.q  # so that positions are computed anew
    for ending in (".pdb", ".cif", ".pdb.gz") if path == HAIRPIN else (".pdb", ".cif"):
        protein.save(tmp_path / f"again{ending}")
        assert sites(tmp_path / f"again{ending}") == sites(path)


def test_the_own_file_has_what_is_hard_about_such_files():
    kinds = sites(HAIRPIN)
    assert {kind[1] for kind in kinds} == {"A", "B"}
    assert {"-1", "5A", "5B"} <= {kind[2] for kind in kinds}
    assert {"SO4", "HOH"} <= {kind[3] for kind in kinds}
    assert {"A", "B"} <= {kind[6] for kind in kinds}


def test_a_turned_dihedral_is_in_the_file(tmp_path):
    protein = rb.molecules.load(HAIRPIN)
    protein.psi["A:5B"] = -0.7
    protein.save(tmp_path / "turned.cif")
    assert rb.molecules.load(tmp_path / "turned.cif").psi["A", "5B"] == pytest.approx(-0.7, abs=2e-3)


def test_of_several_models_the_one_that_is_meant_moves_and_the_others_stay(tmp_path):
    structure = gemmi.read_structure(str(HAIRPIN))
    other = structure[0].clone()
    other.num = 2
    structure.add_model(other)
    structure.write_pdb(str(tmp_path / "two.pdb"))
    protein = rb.molecules.load(tmp_path / "two.pdb", model=1)
    protein.psi["A:2"] += 0.5
    protein.save(tmp_path / "moved.pdb")
    first, second = (rb.molecules.load(tmp_path / "moved.pdb", model=k) for k in (0, 1))
    own = rb.molecules.load(HAIRPIN)
    np.testing.assert_allclose(first.positions, own.positions, atol=1e-9)
    assert second.psi["A:2"] == pytest.approx(own.psi["A:2"] + 0.5, abs=2e-3)
    with pytest.raises(InputError, match=r"has 2 models; they count from 0, there is no 2\."):
        rb.molecules.load(tmp_path / "two.pdb", model=2)


def lines_of(*kinds):
    """Lines of atoms of the own file that a rule keeps."""
    keep = {
        "alphas": lambda line: line[12:16].strip() == "CA",
        "waters": lambda line: "HOH" in line,
        "one residue": lambda line: line[21:27].split() == ["A", "0"],
        "one atom": lambda line: line[6:11].strip() == "1",
        "no oxygens": lambda line: line[12:16].strip() != "O",
    }
    text = HAIRPIN.read_text().splitlines()
    return [line for line in text if line.startswith(("ATOM", "HETATM")) and all(keep[kind](line) for kind in kinds)]


@pytest.mark.parametrize(
    ("kind", "amino_acids"), [("alphas", 0), ("waters", 0), ("one residue", 1), ("one atom", 0), ("no oxygens", 23)]
)
def test_files_that_lack_most_of_a_protein_are_read_measured_and_written(kind, amino_acids, tmp_path):
    (tmp_path / "part.pdb").write_text("\n".join([*lines_of(kind), "END", ""]))
    protein = rb.molecules.load(tmp_path / "part.pdb")
    assert len(protein.residues) == len(protein.phi.values) == amino_acids
    np.testing.assert_allclose(protein.rebuild(), protein.atoms.position, atol=1e-12)
    assert np.isfinite(rb.molecules.TVH(protein).energy().total)
    for style in ("ribbon", "trace", "sticks"):
        protein.drawing(style)
    rb.molecules.find_clashes(protein, protein.positions)
    protein.save(tmp_path / "again.cif")
    assert len(sites(tmp_path / "again.cif")) == len(protein.atoms)


def test_atoms_on_top_of_each_other_are_read(tmp_path):
    """Bonds without a length have no dihedral; such a residue is no amino acid, or does not turn there."""
    lines = lines_of()
    flat = [line[:30] + lines[0][30:54] + line[54:] for line in lines[:9]] + lines[9:]
    (tmp_path / "flat.pdb").write_text("\n".join([*flat, "END", ""]))
    protein = rb.molecules.load(tmp_path / "flat.pdb")
    np.testing.assert_allclose(protein.rebuild(), protein.atoms.position, atol=1e-12)
    assert np.isfinite(rb.molecules.TVH(protein).energy().total)


def test_two_kinds_of_residue_at_one_place_are_one_link_of_the_chain(tmp_path):
    """Lysine with a share of methionine at the same place."""
    lines = lines_of()
    own = [line for line in lines if line[21:27].split() == ["A", "0"]]
    at, names = lines.index(own[0]), ("N", "CA", "C", "O", "CB", "CG")
    first = [line[:16] + "A" + line[17:] for line in own]
    second = [line[:16] + "BMET" + line[20:] for line in own if line[12:16].strip() in names]
    (tmp_path / "two.pdb").write_text("\n".join([*lines[:at], *first, *second, *lines[at + len(own) :], "END", ""]))
    protein, whole = rb.molecules.load(tmp_path / "two.pdb"), rb.molecules.load(HAIRPIN)
    assert [str(residue) for residue in protein.residues] == [str(residue) for residue in whole.residues]
    assert rb.molecules.TVH(protein).energy().total == pytest.approx(rb.molecules.TVH(whole).energy().total)
    protein.psi["A:0"] += 0.3
    rows = next(residue for residue in protein.groups if residue.name == "MET" and residue.chain == "A")
    lysine = protein.residue("A:0")
    own_n, twin_n = protein.positions[lysine.start], protein.positions[rows.start]
    np.testing.assert_allclose(own_n, twin_n, atol=1e-12)


def test_what_cannot_be_read_or_written_is_named(tmp_path):
    (tmp_path / "empty.pdb").write_text("END\n")
    (tmp_path / "junk.cif").write_text("data_\nloop_\n_atom_site.id\n1 2 3 'x\n")
    with pytest.raises(FileError, match=r"empty\.pdb' has no atoms"):
        rb.molecules.load(tmp_path / "empty.pdb")
    with pytest.raises(FileError, match=r"junk\.cif' cannot be read"):
        rb.molecules.load(tmp_path / "junk.cif")
    with pytest.raises(FileError, match="there is no such file"):
        rb.molecules.load(tmp_path / "none.pdb")
    with pytest.raises(InputError, match=r"must end with \.pdb, \.ent, \.cif or \.mmcif, also \.gz"):
        rb.molecules.load(tmp_path / "model.xyz")
    protein = rb.molecules.load(HAIRPIN)
    with pytest.raises(FileError, match="there is no folder"):
        protein.save(tmp_path / "nowhere" / "a.pdb")
    far = gemmi.read_structure(str(HAIRPIN))
    far[0][0][0][0].pos = gemmi.Position(20000.0, 0.0, 0.0)
    with pytest.raises(InputError, match=r"too far from the origin for the columns of a PDB file; write \.cif"):
        rb.molecules.Protein(far).save(tmp_path / "far.pdb")
    far[0][0][0][0].pos = gemmi.Position(float("nan"), 0.0, 0.0)
    with pytest.raises(FileError, match=r"Atom N of GLY A:-1 has no finite position"):
        rb.molecules.Protein(far)


def test_without_gemmi_the_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gemmi", None)
    with pytest.raises(InputError, match=r"pip install 'rattleback\[molecules\]'"):
        rb.molecules.load(HAIRPIN)


def test_gemmi_is_loaded_on_first_use():
    assert importlib.util.find_spec("gemmi") is not None
    source = (Path(rb.molecules.__file__).parent).rglob("*.py")
    assert not [path.name for path in source if "\nimport gemmi" in path.read_text(encoding="utf-8")]
