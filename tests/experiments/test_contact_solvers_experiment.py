"""The experiment of contact methods: the folder it reads, its profiles, and the failures it shows."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.experiments import Options, contact_solvers
from rattleback.experiments.contact_solvers import FACTORS, Run, profile


def test_a_folder_with_files_is_part_of_the_problems(tmp_path, monkeypatch):
    monkeypatch.setattr(contact_solvers, "QUICK_SCENES", ("sliding block",))
    folder = tmp_path / "contact_problems"
    folder.mkdir()
    rb.lcp.Problem(W=[[-1.0]], q=[-1.0], name="no solution").save(folder / "none.npz")
    (folder / "broken.dat").write_text("3 1 0 3 3 2 3")
    result = contact_solvers.run(Options(quick=True, data=tmp_path))
    names = {row.quantity.split(":")[0] for row in result.rows}
    assert {"sliding block", "no solution"} <= names
    assert any("broken.dat" in note and "should be 3" in note for note in result.notes)
    assert any(note.startswith("no solution: lemke, plain rows: secondary ray") for note in result.notes)
    assert not result.passed
    counts = {row.quantity: row.measured for row in result.rows if "solved to 1e-08" in row.quantity}
    assert counts["auto: solved to 1e-08 m/s, of 2"] == 1


def test_a_missing_or_empty_folder_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(contact_solvers, "QUICK_SCENES", ("sliding block",))
    monkeypatch.delenv("RATTLEBACK_DATA", raising=False)
    assert any("--data or RATTLEBACK_DATA may name" in n for n in contact_solvers.run(Options(quick=True)).notes)
    assert any("holds no .dat or .npz file" in n for n in contact_solvers.run(Options(quick=True, data=tmp_path)).notes)


def test_a_profile_counts_what_is_within_a_factor_of_the_fastest():
    def one(problem, method, seconds):
        return Run(problem, method, "coulomb", 0.0, seconds, (seconds,) * 3, "")

    runs = [one("a", "apgd", 1.0), one("a", "newton", 10.0), one("b", "apgd", float("inf")), one("b", "newton", 2.0)]
    shares = profile(runs, ("apgd", "newton", "lemke"), 0)
    at = {factor: int(np.searchsorted(FACTORS, 0.999 * factor)) for factor in (1.0, 10.0, 100.0)}
    assert [shares["apgd"][at[f]] for f in (1.0, 100.0)] == [0.5, 0.5]
    assert [shares["newton"][at[f]] for f in (1.0, 10.0)] == pytest.approx([0.5, 1.0])
    assert shares["lemke"][-1] == 0.0
