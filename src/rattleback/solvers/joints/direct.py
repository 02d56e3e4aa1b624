"""Direct joint method: one block-sparse factorisation of all joints of a chain.

    A λ = b,   A = J M⁻¹ Jᵀ = L D Lᵀ,   b the wanted change of the rows' velocities, λ the impulses

Joints are eliminated from the leaves of a mechanism to its root, which makes no new blocks on a tree, so time and
memory grow linearly with the number of joints; a loop makes few. A pivot that elimination has brought down to rounding
belongs to a row that other rows already imply; it is left out and its impulse is zero.

    factor, column by column: D_j = A_jj;  Y_ij = A_ij D_j⁻¹;  A_ik −= Y_ij A_kjᵀ for all i, k below j
    solve: b_i −= Y_ij b_j down the columns;  λ_j = D_j⁻¹ b_j − Σ Y_ijᵀ λ_i back up
Cost: one factorisation a step, one substitution a correction; one thread per chain. The default. Use ``iterative`` for
comparison.

Reference: Bender, dissertation, §3.3.2 and section 7.2; Baraff, Linear-time dynamics using Lagrange multipliers, 1996.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import factor_block, inverse33, load33, solve_block, store33
from rattleback.problem.delassus import REDUNDANT, Blocks, Delassus, Entries, Pivots, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import JointRows, Joints, Rows

# Part of the position tolerance that is used up where rows are redundant.
SHARE = wp.constant(real(0.03))


@group(axis="chains")
class Chains:
    """Independent parts of the mechanism; nothing passes between them."""

    world: wp.int32 = field("1", "index of the world it lives in")
    first: wp.int32 = field("1", "its first column")
    count: wp.int32 = field("1", "number of its columns")
    dropped: wp.int32 = field("1", "rows left out because others imply them")


@group(axis="columns")
class Columns:
    """The columns of the factor, in the order of elimination."""

    diagonal: wp.int32 = field("1", "its block on the diagonal")
    count: wp.int32 = field("1", "number of its blocks below the diagonal, which follow that one")
    update: wp.int32 = field("1", "where the targets of its updates start")
    threes: wp.int32 = field("1", "1 where its joint and those below it have three rows each")


@wp.kernel(enable_backward=False)
def note_scale(joints: Joints, columns: Columns, blocks: Blocks, entries: Entries, pivots: Pivots) -> None:
    """The smallest pivot each row may have."""
    c = wp.tid()
    d = columns.diagonal[c]
    j = blocks.row[d]
    n = joints.count[j]
    for k in range(n):
        pivots.least[joints.first[j] + k] = REDUNDANT * entries.value[blocks.at[d] + k * n + k]


@wp.func
def eliminate_threes(
    columns: Columns,
    blocks: Blocks,
    targets: wp.array[wp.int32],
    pivots: Pivots,
    entries: Entries,
    scaled: Entries,
    c: int,
    own: int,
) -> None:
    """Eliminate a column whose blocks are all three by three, in registers."""
    d = columns.diagonal[c]
    inverse = inverse33(entries.value, blocks.at[d], pivots.order, own)
    target = columns.update[c]
    for k in range(columns.count[c]):
        at_k = blocks.at[d + 1 + k]
        y = load33(entries.value, at_k) * inverse
        store33(scaled.value, at_k, y)
        for m in range(k + 1):
            goal = blocks.at[targets[target]]
            target += 1
            x = load33(entries.value, blocks.at[d + 1 + m])
            store33(entries.value, goal, load33(entries.value, goal) - y * wp.transpose(x))


@wp.func
def eliminate(
    joints: Joints,
    columns: Columns,
    blocks: Blocks,
    targets: wp.array[wp.int32],
    pivots: Pivots,
    entries: Entries,
    scaled: Entries,
    c: int,
) -> None:
    """Eliminate a column of blocks of any size."""
    d = columns.diagonal[c]
    j = blocks.column[d]
    n = joints.count[j]
    own = joints.first[j]
    target = columns.update[c]
    for k in range(columns.count[c]):
        at_k = blocks.at[d + 1 + k]
        rows_k = joints.count[blocks.row[d + 1 + k]]
        for r in range(rows_k):
            for q in range(n):
                scaled.value[at_k + r * n + q] = entries.value[at_k + r * n + q]
            solve_block(entries.value, blocks.at[d], n, pivots.order, own, scaled.value, at_k + r * n)
        for m in range(k + 1):
            columns_m = joints.count[blocks.row[d + 1 + m]]
            at_m = blocks.at[d + 1 + m]
            goal = blocks.at[targets[target]]
            target += 1
            for r in range(rows_k):
                for s in range(columns_m):
                    total = real(0.0)
                    for q in range(n):
                        total += scaled.value[at_k + r * n + q] * entries.value[at_m + s * n + q]
                    entries.value[goal + r * columns_m + s] = entries.value[goal + r * columns_m + s] - total


@wp.kernel(enable_backward=False)
def factor(
    joints: Joints,
    chains: Chains,
    columns: Columns,
    blocks: Blocks,
    targets: wp.array[wp.int32],
    pivots: Pivots,
    entries: Entries,
    scaled: Entries,
) -> None:
    """Factor one chain; ``entries`` keeps A_ij below the diagonal, ``scaled`` gets Y_ij."""
    chain = wp.tid()
    dropped = int(0)
    for c in range(chains.first[chain], chains.first[chain] + chains.count[chain]):
        d = columns.diagonal[c]
        j = blocks.column[d]
        n = joints.count[j]
        own = joints.first[j]
        dropped += factor_block(entries.value, blocks.at[d], n, pivots.least, pivots.order, own)
        if columns.count[c] > 0 and columns.threes[c] == 1:
            eliminate_threes(columns, blocks, targets, pivots, entries, scaled, c, own)
        else:
            eliminate(joints, columns, blocks, targets, pivots, entries, scaled, c)
    chains.dropped[chain] = dropped


@wp.kernel(enable_backward=False)
def forget(share: wp.array[real]) -> None:
    """Nothing is redundant until a chain says so."""
    share[wp.tid()] = real(1.0)


@wp.kernel(enable_backward=False)
def be_strict(chains: Chains, share: wp.array[real]) -> None:
    """Ask for better positions where rows were left out: left-out rows depend on the others only as far as they fit."""
    chain = wp.tid()
    if chains.dropped[chain] > 0:
        share[chains.world[chain]] = SHARE


@wp.kernel(enable_backward=False)
def solve(
    joints: Joints,
    chains: Chains,
    columns: Columns,
    blocks: Blocks,
    pivots: Pivots,
    entries: Entries,
    scaled: Entries,
    rows: Rows,
) -> None:
    """Impulses of one chain."""
    chain = wp.tid()
    first = chains.first[chain]
    last = first + chains.count[chain]
    for c in range(first, last):
        j = blocks.column[columns.diagonal[c]]
        for k in range(joints.count[j]):
            r = joints.first[j] + k
            rows.impulse[r] = rows.wanted[r]
    for c in range(first, last):
        d = columns.diagonal[c]
        j = blocks.column[d]
        n = joints.count[j]
        for k in range(columns.count[c]):
            i = blocks.row[d + 1 + k]
            at = blocks.at[d + 1 + k]
            for m in range(joints.count[i]):
                total = real(0.0)
                for q in range(n):
                    total += scaled.value[at + m * n + q] * rows.impulse[joints.first[j] + q]
                rows.impulse[joints.first[i] + m] = rows.impulse[joints.first[i] + m] - total
    for back in range(last - first):
        c = last - 1 - back
        d = columns.diagonal[c]
        j = blocks.column[d]
        n = joints.count[j]
        own = joints.first[j]
        solve_block(entries.value, blocks.at[d], n, pivots.order, own, rows.impulse, own)
        for k in range(columns.count[c]):
            i = blocks.row[d + 1 + k]
            at = blocks.at[d + 1 + k]
            for m in range(joints.count[i]):
                for q in range(n):
                    r = joints.first[j] + q
                    rows.impulse[r] = rows.impulse[r] - scaled.value[at + m * n + q] * rows.impulse[joints.first[i] + m]


@dataclass(frozen=True)
class Direct:
    """One factorisation of all joints.

    Redundant rows of closed loops are found by their pivots and left out; no change to the model is needed.
    """

    def prepare(self, problem: JointRows) -> "PreparedDirect":
        """Find the order of elimination and make room for the factor."""
        return PreparedDirect(problem)


class PreparedDirect:
    """The direct method for the joints of one model.

    Attributes:
        fill: Blocks of the factor that are zero in the matrix, in one world.
        share: Part of the tolerances each world may use up.
    """

    def __init__(self, problem: JointRows) -> None:
        self.problem = problem
        self.delassus = make_delassus(problem, shared_bodies(problem))
        model, pattern = problem.model, self.delassus.pattern
        self.fill, counts = pattern.fill, _sizes(self.delassus, model.worlds)
        self.chains = arrays.allocate(Chains, counts, model.device)
        self.columns = arrays.allocate(Columns, counts, model.device)
        self.scaled = arrays.clone(self.delassus.entries)
        self.share = wp.full(model.worlds, 1.0, dtype=real, device=model.device)
        self.pivots = arrays.allocate(Pivots, {"rows": problem.row_count}, model.device)
        targets = _targets(self.delassus)
        arrays.write(self.chains, _chain_arrays(self.delassus, model.worlds), "the chains")
        arrays.write(self.columns, _column_arrays(self.delassus, problem, len(targets)), "the columns")
        shifts = np.arange(model.worlds)[:, None] * len(pattern.blocks)
        flat = (np.array(targets, dtype=np.int64)[None] + shifts).ravel().astype(np.int32)
        self.targets = wp.array(flat if flat.size else np.zeros(1, np.int32), dtype=wp.int32, device=model.device)

    def record_preparation(self, program: Program) -> None:
        """Fill the matrix from the rows and factor it."""
        joints, rows = self.problem.joints, self.problem.rows
        blocks, entries = self.delassus.blocks, self.delassus.entries
        program.launch(fill, len(blocks.row), joints, rows, blocks, entries)
        program.launch(note_scale, len(self.columns.count), joints, self.columns, blocks, entries, self.pivots)
        sizes = (joints, self.chains, self.columns, blocks, self.targets, self.pivots, entries, self.scaled)
        program.launch(factor, len(self.chains.count), *sizes)
        program.launch(forget, len(self.share), self.share)
        program.launch(be_strict, len(self.chains.count), self.chains, self.share)

    def record_solution(self, program: Program) -> None:
        """Impulses for the wanted changes."""
        blocks, entries = self.delassus.blocks, self.delassus.entries
        parts = (
            self.problem.joints,
            self.chains,
            self.columns,
            blocks,
            self.pivots,
            entries,
            self.scaled,
            self.problem.rows,
        )
        program.launch(solve, len(self.chains.count), *parts)

    def redundant_rows(self) -> np.ndarray:
        """Rows left out in each world."""
        dropped: Any = self.chains.dropped
        return np.asarray(dropped.numpy()).reshape(self.problem.model.worlds, -1).sum(axis=1)


def _sizes(delassus: Delassus, worlds: int) -> dict[str, int]:
    pattern = delassus.pattern
    return {"chains": len(pattern.chains) * worlds, "columns": len(pattern.order) * worlds}


def _chain_arrays(delassus: Delassus, worlds: int) -> dict[str, Any]:
    count = np.array(delassus.pattern.chains, dtype=np.int64)
    first = (np.cumsum(count) - count)[None] + np.arange(worlds)[:, None] * count.sum()
    columns = {
        "world": np.repeat(np.arange(worlds), len(count)),
        "first": first.ravel(),
        "count": np.tile(count, worlds),
        "dropped": np.zeros(first.size),
    }
    return {name: column.astype(np.int32) for name, column in columns.items()}


def _column_arrays(delassus: Delassus, problem: JointRows, targets: int) -> dict[str, Any]:
    pattern, worlds = delassus.pattern, problem.model.worlds
    shifts = np.arange(worlds)[:, None]
    members = [[pattern.blocks[k][0] for k in column] for column in pattern.columns]
    threes = [
        all(problem.counts[joint] == 3 for joint in (j, *below))
        for j, below in zip(pattern.order, members, strict=True)
    ]
    below = np.array([len(column) for column in pattern.columns], dtype=np.int64)
    diagonal = np.cumsum(below + 1) - below - 1
    update = np.cumsum(below * (below + 1) // 2) - below * (below + 1) // 2
    columns = {
        "diagonal": (diagonal[None] + shifts * len(pattern.blocks)).ravel(),
        "count": np.tile(below, worlds),
        "update": (update[None] + shifts * targets).ravel(),
        "threes": np.tile(threes, worlds),
    }
    return {name: column.astype(np.int32) for name, column in columns.items()}


def _targets(delassus: Delassus) -> list[int]:
    """For every column the blocks its elimination changes: (k, m) for k and m ≤ k below it."""
    pattern = delassus.pattern
    number = {pair: k for k, pair in enumerate(pattern.blocks)}
    found: list[int] = []
    for column in pattern.columns:
        joints = [pattern.blocks[k][0] for k in column]
        found.extend(number[(joints[k], joints[m])] for k in range(len(joints)) for m in range(k + 1))
    return found
