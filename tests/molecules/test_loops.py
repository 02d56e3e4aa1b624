"""Loop closure: ends that meet their anchors, what stays, clashes, and the published sets of loops."""

import csv

import numpy as np
import pytest

import rattleback as rb
from molecules.data import HAIRPIN, SHARED, needs_shared
from rattleback.core.errors import InputError, UnknownName
from rattleback.molecules.loops.chain import LoopChain

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")
TOLERANCES = {"ccd": 0.08, "ccd_analytic": 1e-9, "analytic": 1e-9, "lm": 1e-6}


def loops(length):
    """The loops of the published set of one length whose structures are there."""
    table = SHARED / "pdb" / "ccd_loop_definitions_bpl.csv"
    for row in csv.DictReader(table.read_text().splitlines()):
        path = SHARED / "pdb" / f"{row['pdbCode']}.pdb.gz"
        if row["loopSize"] == str(length) and path.is_file():
            yield rb.molecules.load(path), row["chainID"], int(row["resSeqFirst"]), int(row["resSeqLast"])


@pytest.fixture(scope="module")
def helix():
    return rb.molecules.peptide("GAVLKSETWRNQDA", phi=-1.05, psi=-0.82)


@pytest.mark.parametrize("method", TOLERANCES)
def test_the_anchor_is_met_and_all_else_stays(helix, method):
    closures = rb.molecules.close_loop(helix, "A", 4, 10, method, starts=12, seed=1)
    assert sorted(rb.molecules.LOOP_METHODS) == sorted(TOLERANCES)
    assert closures.method == method
    assert closures.closed_share > (0.5 if method == "analytic" else 0.99)
    own = helix.positions
    behind = helix.residue(12).start
    anchor = [helix.atom(11, name) for name in ("N", "CA", "C")]
    for k in np.flatnonzero(closures.closed)[:20]:
        there = closures.positions(int(k))
        miss = np.sqrt(np.mean(np.sum((there[anchor] - own[anchor]) ** 2, axis=1)))
        assert miss == pytest.approx(closures.miss[k], abs=1e-9)
        assert miss <= TOLERANCES[method] * 1.001
        if method != "ccd":
            np.testing.assert_allclose(there[behind:], own[behind:], atol=1e-4 if method == "lm" else 1e-8)


def test_from_where_it_stands_the_loop_itself_is_among_its_closures(helix):
    closures = rb.molecules.close_loop(helix, "A", 4, 8, "analytic", starts="current")
    over = (closures.q - closures.chain.start + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(over[0]).max() < 1e-7
    assert len(closures) >= 2
    assert closures.closed.all()


def test_a_closure_is_applied_and_reported_with_its_clashes():
    protein = rb.molecules.peptide("GAVLKSETWRNQDA", phi=-1.05, psi=-0.82)
    closures = rb.molecules.close_loop(protein, "A", 4, 10, starts=5, seed=3)
    assert "conformations closed, from 5 starts" in repr(closures)
    assert closures.coordinates[:2] == ("A:4.phi", "A:4.psi")
    places = closures.positions(2)
    closures.apply(2)
    np.testing.assert_allclose(protein.positions, places, atol=1e-12)
    assert protein.phi["A:4"] == closures.q[2, 0]
    clashes = closures.clashes(2)
    radii = {"H": 1.10, "C": 1.70, "N": 1.55, "O": 1.52, "S": 1.80}
    for clash in clashes:
        (one, first), (two, second) = (label.split(".") for label in clash[:2])
        gap = np.linalg.norm(places[protein.atom(one, first)] - places[protein.atom(two, second)])
        shared = 0.5 if {first[0], second[0]} <= {"N", "O"} else 0.0
        assert clash.overlap == pytest.approx(radii[first[0]] + radii[second[0]] - shared - gap)
        assert clash.overlap >= 0.4
    assert clashes == sorted(clashes, key=lambda clash: -clash.overlap)


def test_atoms_on_top_of_each_other_clash_and_bonded_ones_do_not():
    protein = rb.molecules.peptide("GAVLKSE")
    assert rb.molecules.find_clashes(protein, protein.positions) == []
    places = protein.positions
    one, other = protein.atom(1, "N"), protein.atom(7, "CB")
    places[other] = places[one] + (0.0, 0.0, 1.0)
    worst = rb.molecules.find_clashes(protein, places)[0]
    assert {worst.first, worst.second} == {"A:1.N", "A:7.CB"}
    assert worst.overlap == pytest.approx(1.70 + 1.55 - 1.0)


def test_ccd_never_goes_up_while_it_is_not_shaken(helix):
    chain = LoopChain(helix, "A", 4, 10)
    starts = chain.starts(5, seed=2)
    misses = np.array([chain.descend(starts, 1e-12, sweeps).miss for sweeps in (1, 2, 4, 8, 16, 32)])
    assert (np.diff(misses, axis=0) <= 1e-12).all()


def test_at_a_break_the_last_residue_is_the_anchor():
    protein = rb.molecules.load(HAIRPIN)
    closures = rb.molecules.close_loop(protein, "B", 102, 104, "ccd", starts="current")
    assert [protein.residues[row].label for row in closures.chain.residues] == ["B:102", "B:103"]


def test_what_cannot_be_closed_is_named(helix):
    hairpin = rb.molecules.load(HAIRPIN)
    close = rb.molecules.close_loop
    with pytest.raises(UnknownName, match=r"no method of loop closure 'ccdd'. Did you mean 'ccd'\?"):
        close(helix, "A", 3, 6, "ccdd")
    with pytest.raises(InputError, match=r"The loop from 6 to 3 of chain 'A' ends before it begins"):
        close(helix, "A", 6, 3)
    with pytest.raises(InputError, match=r"Loop A:1–A:4 begins its tree; it needs a residue before it to hang on"):
        close(helix, "A", 1, 4)
    with pytest.raises(InputError, match=r"Loop A:14–A:14 is the last residue of its tree"):
        close(helix, "A", 14, 14)
    with pytest.raises(InputError, match=r"The chain is broken between the ends of loop B:102–B:107"):
        close(hairpin, "B", 102, 107)
    with pytest.raises(InputError, match="Loop A:3–A:4 has 2 residues with φ and ψ to turn; three pivots are needed"):
        close(helix, "A", 3, 4)
    with pytest.raises(InputError, match="Method 'ccd' has no option 'sweep'. Did you mean 'sweeps'"):
        close(helix, "A", 3, 6, "ccd", sweep=5)
    with pytest.raises(InputError, match="The options 'sweeps' come beside a method that is an object"):
        close(helix, "A", 3, 6, rb.molecules.LoopCCD(), sweeps=5)
    with pytest.raises(InputError, match="The starts of a loop is 'now'; it may be 'current'"):
        close(helix, "A", 3, 6, starts="now")
    with pytest.raises(InputError, match="The protein of close_loop is 'helix'"):
        close("helix", "A", 3, 6)
    for kind in (rb.molecules.LoopCCD, rb.molecules.LoopLM, rb.molecules.Analytic):
        with pytest.raises(InputError, match="The tolerance of"):
            kind(tolerance=0.0)


@needs_shared
@pytest.mark.parametrize(
    "length", [4, pytest.param(8, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.slow)]
)
def test_published_loops_close_from_random_starts_at_least_as_often_as_published(length):
    count = 100
    found = {"ccd": [], "ccd_analytic": []}
    for protein, chain, first, last in loops(length):
        for method, closed in found.items():
            closures = rb.molecules.close_loop(protein, chain, first, last, method, starts=count, seed=length)
            assert closures.miss[closures.closed].max() <= TOLERANCES[method]
            closed.append(closures.closed_share)
    assert len(found["ccd"]) >= 4
    assert np.mean(found["ccd"]) >= 0.998
    assert np.mean(found["ccd_analytic"]) >= 0.998
