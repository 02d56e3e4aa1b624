"""Closing tripeptides: all solutions, none false, against a walk around the circle and the reference program."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from molecules.data import FILES, SHARED, needs_shared
from molecules.naive_closure import count_closures
from rattleback.core.errors import InputError
from rattleback.molecules.loops.isolation import arc_matrices
from rattleback.molecules.loops.tripeptide import measured

close = rb.molecules.close_tripeptide


def random_chains(count, seed):
    """Chains of nine atoms with unit-length steps in random directions (count, 3, 3, 3), closed as they stand."""
    steps = np.random.default_rng(seed).normal(size=(count, 9, 3))
    return np.cumsum(1.4 * steps / np.linalg.norm(steps, axis=2, keepdims=True), axis=1).reshape(count, 3, 3, 3)


def triples(protein):
    """N, CA, C of any three residues in a row (n, 3, 3, 3)."""
    found = []
    for segment in protein.linkage.segments:
        own = [protein.linkage.primary[row] for row in segment.residues]
        places = np.array([[protein.atoms.position[one[name]] for name in ("N", "CA", "C")] for one in own])
        found += [places[k : k + 3] for k in range(len(places) - 2)]
    return np.array(found).reshape(-1, 3, 3, 3)


def check(backbone, found):
    """Every solution keeps ends, lengths, angles and ω; no two are the same; the one that was there is among them."""
    ends, geometry = measured(backbone)
    there = np.arange(found.positions.shape[1])[None] < found.counts[:, None]
    rows, _ = np.nonzero(there)
    solutions = found.positions[there]
    own_ends, own = measured(solutions)
    np.testing.assert_allclose(own_ends, ends[rows], atol=1e-12)
    np.testing.assert_allclose(own.lengths, geometry.lengths[rows], atol=1e-11)
    np.testing.assert_allclose(own.angles, geometry.angles[rows], atol=1e-10)
    np.testing.assert_allclose(np.exp(1j * own.omegas), np.exp(1j * geometry.omegas[rows]), atol=1e-10)
    apart = np.abs(found.positions - backbone[:, None]).reshape(len(backbone), 16, -1).max(axis=2)
    assert np.nanmin(np.where(there, apart, np.inf), axis=1).max() < 1e-6
    for row in range(len(backbone)):
        one = found.positions[row, : found.counts[row]].reshape(-1, 27)
        gaps = np.abs(one[:, None] - one[None]).max(axis=2) + np.eye(len(one))
        assert gaps.min() > 1e-7


def test_every_solution_of_random_chains_closes_and_none_that_a_walk_finds_is_missing():
    backbone = random_chains(60, seed=4)
    ends, geometry = measured(backbone)
    found = close(ends, *geometry)
    check(backbone, found)
    walked = np.array([count_closures(one) for one in backbone])
    # The grid of the walk cannot tell roots nearer than itself, which come in pairs.
    assert (found.counts >= walked).all()
    assert np.mean(found.counts == walked) > 0.96
    assert (found.counts % 2 == 0).all()
    assert found.counts.max() >= 10


@given(st.integers(0, 10**6))
def test_a_chain_that_is_closed_is_found_so_whatever_it_looks_like(seed):
    backbone = random_chains(1, seed)
    ends, geometry = measured(backbone)
    check(backbone, close(ends, *geometry))


def test_roots_that_drown_in_the_rounding_of_the_polynomial_are_found_by_a_walk():
    """Among chains of very uneven steps some have samples of R that differ by more than sixteen powers of ten."""
    scale = np.random.default_rng(9).uniform(0.3, 3.0, (4000, 3, 3, 1))
    steps = np.diff(random_chains(4000, 8).reshape(-1, 9, 3), axis=1, prepend=0.0) * scale.reshape(-1, 9, 1)
    backbone = np.cumsum(steps, axis=1).reshape(-1, 3, 3, 3)
    ends, geometry = measured(backbone)
    found = close(ends, *geometry)
    check(backbone, found)
    assert (found.counts % 2 == 0).all()


def test_one_alone_has_exactly_its_solutions():
    backbone = random_chains(3, seed=7)
    ends, geometry = measured(backbone)
    batch = close(ends, *geometry)
    one = close(ends[1], *(part[1] for part in geometry))
    assert one.positions.shape == (batch.counts[1], 3, 3, 3) == (int(one.counts), 3, 3, 3)
    np.testing.assert_array_equal(one.positions, batch.positions[1, : one.counts])
    assert np.isnan(batch.positions[1, one.counts :]).all()


def test_two_roots_that_are_about_to_meet_are_both_found():
    """Where an angle is changed until two solutions meet and vanish, they are there until the last."""
    backbone = random_chains(1, seed=11)
    ends, geometry = measured(backbone)

    def at(bend):
        angles = geometry.angles.copy()
        angles[0, 3] += bend
        return close(ends, geometry.lengths, angles, geometry.omegas)

    low, high = 0.0, next(bend for bend in np.arange(0.02, 2.0, 0.02) if at(bend).counts[0] < at(0.0).counts[0])
    wanted = at(0.0).counts[0]
    low = high - 0.02
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle).counts[0] >= wanted else (low, middle)
    last = at(low)
    solutions = last.positions[0, : last.counts[0]].reshape(-1, 27)
    gaps = np.abs(solutions[:, None] - solutions[None]).max(axis=2) + np.eye(len(solutions))
    # Near the fold the distance goes with the root of what is left.
    assert gaps.min() < 0.02
    assert last.counts[0] == wanted


def test_ends_that_are_too_far_apart_have_no_solution():
    ends = [(-1.0, 1.0, 0.0), (0.0, 0.0, 0.0), (9.0, 0.0, 0.0), (10.0, 1.0, 0.0)]
    geometry = (1.52, 1.33, 1.46, 1.52, 1.33, 1.46), np.radians([111, 117, 122, 111, 117, 122, 111])
    found = close(ends, *geometry)
    assert (found.counts, found.positions.shape) == (0, (0, 3, 3, 3))


def test_the_matrices_of_the_arcs_reproduce_a_trigonometric_polynomial():
    from scipy.special import comb

    rng = np.random.default_rng(0)
    c, s = rng.normal(size=9), rng.normal(size=9)
    value = lambda tau: sum(c[k] * np.cos(k * tau) + s[k] * np.sin(k * tau) for k in range(9))  # noqa: E731
    coefficients = (arc_matrices() @ value(2.0 * np.pi * np.arange(17) / 17)).reshape(4, 17)
    t = np.linspace(0.0, 1.0, 21)
    basis = np.stack([comb(16, j) * t**j * (1 - t) ** (16 - j) for j in range(17)])
    for arc in range(4):
        u = np.tan(np.pi / 8) * (2.0 * t - 1.0)
        tau = 2.0 * np.pi * (arc + 0.5) / 4 + 2.0 * np.arctan(u)
        np.testing.assert_allclose(coefficients[arc] @ basis, value(tau) * (1.0 + u * u) ** 8, rtol=1e-9, atol=1e-10)


@needs_shared
def test_every_solution_of_the_reference_program_is_found_on_ubiquitin():
    cases = json.loads((SHARED / "oracle" / "tripeptide_closure_1ubi.json").read_text())["cases"]
    for case in cases:
        ends = [case[name] for name in ("N1", "CA1", "CA3", "C3")]
        found = close(ends, case["bond_lengths"], case["bond_angles"], case["omegas"])
        oracle = np.array(case["solutions_NNN_AAA_CCC"]).reshape(-1, 3, 3, 3).transpose(0, 2, 1, 3)
        apart = (
            np.abs(found.positions[:, None] - oracle[None]).reshape(len(found.positions), len(oracle), -1).max(axis=2)
        )
        assert apart.min(axis=0).max() < 1e-3
        assert apart.min(axis=1).max() < 1e-3


@needs_shared
def test_every_native_triple_of_every_structure_has_its_own_solution_and_no_false_one():
    pytest.importorskip("gemmi")
    backbone = np.concatenate([triples(rb.molecules.load(path)) for path in FILES])
    assert len(backbone) > 4000
    ends, geometry = measured(backbone)
    found = close(ends, *geometry)
    check(backbone, found)
    assert (found.counts % 2 == 0).all()


@pytest.mark.slow
def test_a_closure_in_a_batch_takes_thirteen_microseconds_at_most():
    """Of tripeptides that stand as they do in proteins, with other dihedrals each."""
    pytest.importorskip("gemmi")
    protein, rng = rb.molecules.peptide("AAA"), np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (5000, len(protein.q)))
    q[:, [name.endswith("omega") for name in protein.coordinates]] = np.pi
    rows = [protein.atom(number, name) for number in (1, 2, 3) for name in ("N", "CA", "C")]
    ends, geometry = measured(protein.rebuild(q)[:, rows].reshape(-1, 3, 3, 3))
    taken = []
    for _ in range(5):
        begun = time.process_time()
        close(ends, *geometry)
        taken.append((time.process_time() - begun) / len(q))
    assert min(taken[1:]) < 13e-6


def test_nonsense_is_refused():
    ends, geometry = np.eye(4, 3), ((1.5,) * 6, (1.9,) * 7)
    with pytest.raises(InputError, match=r"The ends of a tripeptide have shape \(3, 3\)"):
        close(ends[:3], *geometry)
    with pytest.raises(
        InputError, match=r"The angles of a tripeptide have shape \(6,\); they must be 7 numbers, or 1x7"
    ):
        close(ends, geometry[0], geometry[0])
    with pytest.raises(InputError, match="A bond length of a tripeptide is not greater than zero"):
        close(ends, (1.5, 1.5, 0.0, 1.5, 1.5, 1.5), geometry[1])
