"""The order of elimination as arrays: who waits for whom, and the same answer level by level and chain by chain."""

from typing import Any

import numpy as np
import pytest
import warp as wp
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core import arrays
from rattleback.maths.block_sparse import Pattern, find_pattern
from rattleback.scenes import tree
from rattleback.solvers.joints.elimination import levels


def touched(count: int, edges: set[tuple[int, int]], order: list[int]) -> dict[int, set[int]]:
    """For every node the later ones its elimination touches, found on a dense pattern."""
    there = np.zeros((count, count), dtype=bool)
    for i, j in edges:
        there[i, j] = there[j, i] = True
    found = {}
    for k, node in enumerate(order):
        later = [other for other in order[k + 1 :] if there[other, node]]
        there[np.ix_(later, later)] = True
        found[node] = set(later)
    return found


def check_levels(pattern: Pattern, scheduled: list[int], after: dict[int, set[int]]) -> None:
    """The levels cover all columns once; whoever is touched comes in a later level than who touches it."""
    stretches = levels(pattern)
    assert sorted(scheduled) == list(range(len(pattern.order)))
    assert [first for first, _ in stretches] == [0, *np.cumsum([count for _, count in stretches])[:-1].tolist()]
    assert sum(count for _, count in stretches) == len(scheduled)
    level = {
        pattern.order[c]: k for k, (first, count) in enumerate(stretches) for c in scheduled[first : first + count]
    }
    assert all(level[later] > level[node] for node, others in after.items() for later in others)
    waits = {later for others in after.values() for later in others}
    assert all(level[node] == 0 for node in pattern.order if node not in waits)
    for node in waits:
        assert level[node] == 1 + max(level[before] for before, others in after.items() if node in others)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loops", [0, 5])
def test_every_column_takes_only_from_columns_of_earlier_levels(
    dense: Any, mechanism: Any, seed: int, loops: int
) -> None:
    case = dense(mechanism(seed, 12, loops=loops, roots=2))
    solver, pairs = case.solver, case.problem.pairs
    shared = [set(pair.tolist()) - {-1} for pair in pairs]
    count = len(shared)
    edges = {(i, j) for i in range(count) for j in range(i + 1, count) if shared[i] & shared[j]}
    pattern, made = solver.delassus.pattern, arrays.read(solver.elimination)
    check_levels(pattern, made["scheduled"].tolist(), touched(count, edges, pattern.order))


@given(st.integers(1, 20), st.sets(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40))
def test_the_number_of_levels_is_the_longest_wait(count: int, pairs: set[tuple[int, int]]) -> None:
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < count}
    pattern = find_pattern(count, edges)
    longest: dict[int, int] = {}
    after = touched(count, edges, pattern.order)
    for node in reversed(pattern.order):
        longest[node] = 1 + max((longest[later] for later in after[node]), default=0)
    assert len(levels(pattern)) == max(longest.values())


@pytest.mark.parametrize("seed", range(6))
def test_the_products_a_block_takes_are_those_of_dense_elimination(dense: Any, mechanism: Any, seed: int) -> None:
    """A_ij takes from column k where k has both i and j below its diagonal, and from no other."""
    solver = dense(mechanism(seed, 8, loops=4)).solver
    pattern, made = solver.delassus.pattern, arrays.read(solver.elimination)
    place, held = {joint: c for c, joint in enumerate(pattern.order)}, set(pattern.blocks)
    for b, (i, j) in enumerate(pattern.blocks):
        first, count = made["first_source"][b], made["sources"][b]
        taken = made["through"][first : first + count].tolist()
        before = pattern.order[: place[j]]
        assert sorted(taken) == sorted(k for k in before if (i, k) in held and (j, k) in held)
        for s, k in enumerate(taken, first):
            assert [pattern.blocks[made[side][s]] for side in ("left", "right")] == [(i, k), (j, k)]


@pytest.mark.parametrize("depth", range(1, 9))
def test_a_balanced_tree_has_about_two_levels_for_each_of_its_own(depth: int) -> None:
    """The two joints below a bar share it, so one of them waits for the other."""
    stretches = levels(rb.Simulation(tree(depth))._step.preview.solver.delassus.pattern)
    assert depth <= len(stretches) <= 2 * depth
    assert sum(count for _, count in stretches) == 2**depth - 1


def test_a_chain_that_hangs_from_one_end_waits_joint_by_joint(dense: Any, mechanism: Any) -> None:
    scene = rb.Scene()
    for k in range(20):
        scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"link_{k}")
        scene.add_joint(rb.Ball(f"link_{k - 1}" if k else "world", f"link_{k}", at=(k, 0, 0)))
    assert 10 <= len(levels(dense(scene).solver.delassus.pattern)) <= 20


def go_by_level(solver: Any) -> None:
    """On a CPU a chain is done by one thread; here it is done as on a GPU."""
    assert solver.levels == []
    solver.levels[:] = levels(solver.delassus.pattern)


SCENES = {
    "tree of any joints": {"bodies": 12},
    "tree of balls": {"bodies": 12, "names": ("ball",)},
    "forest": {"bodies": 14, "roots": 5},
    "loops": {"bodies": 10, "loops": 4, "names": ("ball", "distance", "point_on_plane", "double_rotation")},
}


@pytest.mark.parametrize("worlds", [None, 3])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCENES)
def test_level_by_level_and_chain_by_chain_give_the_answer_of_numpy(
    dense: Any, mechanism: Any, name: str, seed: int, worlds: int | None
) -> None:
    case = dense(mechanism(seed, **SCENES[name]), worlds=worlds)
    wanted = np.random.default_rng(seed).standard_normal(len(case.A))
    by_chain = case.impulses(wanted)
    factor = case.solver.delassus.entries.value.numpy().copy()
    case.solver.delassus.entries.value.zero_()
    case.problem.rows.impulse.zero_()
    go_by_level(case.solver)
    by_level = case.impulses(wanted)
    np.testing.assert_array_equal(by_level, by_chain)
    np.testing.assert_array_equal(case.solver.delassus.entries.value.numpy(), factor)
    if case.rank == len(case.A):
        expected = np.linalg.solve(case.A, wanted)
        assert np.abs(by_level - expected).max() <= 1e-14 * np.linalg.cond(case.A) * np.abs(expected).max()


@pytest.mark.parametrize("worlds", [None, 2])
def test_a_simulation_solved_by_levels_has_the_bits_of_one_solved_by_chains(worlds: int | None) -> None:
    hashes = []
    for by_level in (False, True):
        sim = rb.Simulation(tree(5), time_step=1 / 30, worlds=worlds)
        if by_level:
            go_by_level(sim._step.preview.solver)
        sim._step.program.stages.clear()
        sim._step.program._prologue.clear()
        with sim.forces.around_step(sim._step.program, sim._step.context.stop):
            rb.steps.ImpulseStep(sim.integrator, sim._step.preview).record(sim._step.context)
        sim._step.program.compile()
        sim.step(20)
        hashes.append(sim.hash())
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("by_level", [False, True])
@pytest.mark.parametrize("method", ["direct", "iterative"])
def test_a_world_that_is_not_wanted_keeps_its_factor_bit_for_bit(
    dense: Any, mechanism: Any, method: str, by_level: bool
) -> None:
    case = dense(mechanism(5, 8, loops=2), method, worlds=3)
    solver, entries = case.solver, case.solver.delassus.entries
    if by_level and method == "direct":
        go_by_level(solver)
    case.impulses(np.ones(len(case.A)))
    expected = {name: array.numpy().reshape(3, -1).copy() for name, array in arrays.each(entries)}
    kept = [entries.value, entries.scaled, entries.least, solver.share]
    if method == "direct":
        kept.append(solver.elimination.dropped)
    for array in kept:
        array.fill_(7)
    case.run(wp.array(np.array([0, 1, 0], dtype=np.int32), device="cpu"))
    for array in kept:
        assert (np.delete(array.numpy().reshape(3, -1), 1, axis=0) == 7).all()
    np.testing.assert_array_equal(entries.value.numpy().reshape(3, -1)[1], expected["value"][1])
    np.testing.assert_array_equal(entries.least.numpy().reshape(3, -1)[1], expected["least"][1])
    if method == "direct":
        below = expected["scaled"][1] != 0.0
        np.testing.assert_array_equal(entries.scaled.numpy().reshape(3, -1)[1][below], expected["scaled"][1][below])
