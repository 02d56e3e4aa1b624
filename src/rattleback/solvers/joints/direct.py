"""Direct joint method: one block-sparse factorisation of all joints of a chain.

    A λ = b,   A = J M⁻¹ Jᵀ + S = L D Lᵀ,   b the wanted change of the rows' velocities, λ the impulses

S is the compliance of rows that yield, and zero for all others.

Joints are eliminated from the leaves of a mechanism to its root, which makes no new blocks on a tree, so time and
memory grow linearly with the number of joints; a loop makes few. A pivot that elimination has brought down to rounding
belongs to a row that other rows already imply; it is left out and its impulse is zero.

    factor, column by column: A_ij −= Σ Y_ik A_jkᵀ over the columns k before;  D_j = A_jj;  Y_ij = A_ij D_j⁻¹
    solve: b_j −= Σ Y_jk b_k in the same order;  λ_j = D_j⁻¹ b_j − Σ Y_ijᵀ λ_i back again
Cost: one factorisation a step, one substitution a correction. On a CPU one thread does a chain, column by column; on a
GPU all columns that wait for the same number of others are done at once. The default.

Reference: Bender, dissertation, §3.3.2 and section 7.2; Baraff, Linear-time dynamics using Lagrange multipliers, 1996.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.mirror import seen
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import factor_block, multiply_block, solve_block
from rattleback.maths.small_solve import vec6
from rattleback.problem.delassus import Entries, Sizes, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import JointRows, Joints, Rows
from rattleback.solvers.joints.elimination import Elimination, levels, make_elimination
from rattleback.solvers.joints.threes import InThrees, see_in_threes

# Part of the position tolerance that is used up where rows are redundant: rows that are left out depend on the others
# only as far as those fit.
SHARE = wp.constant(real(0.03))
# With more levels than this a GPU does a chain per thread, too: the launches would cost more than they gain.
MOST_LEVELS = 64
# What may be done with closed loops.
LOOPS = ("drop_redundant", "cut")


@wp.func
def reduce(joints: Joints, entries: Entries, elimination: Elimination, sizes: Sizes, world: int, k: int) -> None:
    """A_ij −= Σ Y_ik A_jkᵀ for a block of any size."""
    base = world * sizes.entries
    at = base + elimination.at[k]
    height = joints.count[elimination.row[k]]
    width = joints.count[elimination.column[k]]
    for s in range(elimination.first_source[k], elimination.first_source[k] + elimination.sources[k]):
        depth = joints.count[elimination.through[s]]
        left = base + elimination.at[elimination.left[s]]
        right = base + elimination.at[elimination.right[s]]
        for m in range(height):
            for n in range(width):
                total = real(0.0)
                for q in range(depth):
                    total += entries.scaled[left + m * depth + q] * entries.value[right + n * depth + q]
                entries.value[at + m * width + n] = entries.value[at + m * width + n] - total


@wp.func
def eliminate(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    share: wp.array[real],
    world: int,
    c: int,
) -> None:
    """Eliminate one column and note how many of its rows others imply."""
    base = world * sizes.entries
    d = elimination.diagonal[c]
    j = world * sizes.joints + elimination.column[d]
    n = joints.count[j]
    own = joints.first[j]
    at = base + elimination.at[d]
    reduce(joints, entries, elimination, sizes, world, d)
    dropped = factor_block(entries.value, at, n, entries.least, entries.order, own)
    for k in range(d + 1, d + 1 + elimination.count[c]):
        reduce(joints, entries, elimination, sizes, world, k)
        for m in range(joints.count[elimination.row[k]]):
            row = base + elimination.at[k] + m * n
            y = vec6()
            for q in range(n):
                y[q] = entries.value[row + q]
            y = solve_block(entries.value, at, n, entries.order, own, y)
            for q in range(n):
                entries.scaled[row + q] = y[q]
    elimination.inverted[j] = 0
    elimination.dropped[j] = dropped
    if dropped > 0:
        share[world] = SHARE


@kernel
def factor_chain(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    share: wp.array[real],
    which: wp.array[wp.int32],
    chains: int,
) -> None:
    """Factor one chain, in the worlds that are wanted."""
    chain = wp.tid() % chains
    world = wp.tid() // chains
    if which[world] == 0:
        return
    first = elimination.first[chain]
    for c in range(first, first + elimination.length[chain]):
        eliminate(joints, entries, elimination, sizes, share, world, c)


@kernel
def factor_level(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    share: wp.array[real],
    which: wp.array[wp.int32],
    first: int,
    count: int,
) -> None:
    """Factor one column of a level, in the worlds that are wanted."""
    world = wp.tid() // count
    if which[world] == 1:
        eliminate(joints, entries, elimination, sizes, share, world, elimination.scheduled[first + wp.tid() % count])


@kernel
def forget(share: wp.array[real], which: wp.array[wp.int32]) -> None:
    """Nothing is redundant until a column says so."""
    w = wp.tid()
    if which[w] == 1:
        share[w] = real(1.0)


@wp.func
def forward(
    joints: Joints, entries: Entries, elimination: Elimination, sizes: Sizes, rows: Rows, world: int, c: int
) -> None:
    """b_j −= Σ Y_jk b_k, into the impulses."""
    base = world * sizes.entries
    shift = world * sizes.joints
    j = shift + elimination.column[elimination.diagonal[c]]
    own = joints.first[j]
    begin = elimination.first_before[c]
    end = begin + elimination.befores[c]
    for m in range(joints.count[j]):
        total = rows.wanted[own + m]
        for s in range(begin, end):
            k = elimination.before[s]
            i = shift + elimination.column[k]
            n = joints.count[i]
            at = base + elimination.at[k] + m * n
            for q in range(n):
                total -= entries.scaled[at + q] * rows.impulse[joints.first[i] + q]
        rows.impulse[own + m] = total


@wp.func
def backward(
    joints: Joints, entries: Entries, elimination: Elimination, sizes: Sizes, rows: Rows, world: int, c: int
) -> None:
    """λ_j = D_j⁻¹ b_j − Σ Y_ijᵀ λ_i."""
    base = world * sizes.entries
    shift = world * sizes.joints
    d = elimination.diagonal[c]
    j = shift + elimination.column[d]
    own = joints.first[j]
    end = d + 1 + elimination.count[c]
    n = joints.count[j]
    x = vec6()
    for m in range(n):
        x[m] = rows.impulse[own + m]
    at = base + elimination.at[d]
    if elimination.inverted[j] == 1:
        x = multiply_block(entries.value, at, n, x)
    else:
        x = solve_block(entries.value, at, n, entries.order, own, x)
    for k in range(d + 1, end):
        i = shift + elimination.row[k]
        for m in range(joints.count[i]):
            for q in range(n):
                entry = entries.scaled[base + elimination.at[k] + m * n + q]
                x[q] = x[q] - entry * rows.impulse[joints.first[i] + m]
    for m in range(n):
        rows.impulse[own + m] = x[m]


@wp.func
def stays_as_it_is(
    joints: Joints, elimination: Elimination, sizes: Sizes, rows: Rows, world: int, first: int, count: int
) -> bool:
    """Whether no row of a chain is to change; its impulses are zero then."""
    for c in range(first, first + count):
        j = world * sizes.joints + elimination.column[elimination.diagonal[c]]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            if rows.wanted[r] != real(0.0):
                return False
    for c in range(first, first + count):
        j = world * sizes.joints + elimination.column[elimination.diagonal[c]]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            rows.impulse[r] = real(0.0)
    return True


@kernel
def solve_chain(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    rows: Rows,
    which: wp.array[wp.int32],
    chains: int,
) -> None:
    """Impulses of one chain, in the worlds that are wanted."""
    chain = wp.tid() % chains
    world = wp.tid() // chains
    if which[world] == 0:
        return
    first = elimination.first[chain]
    count = elimination.length[chain]
    if stays_as_it_is(joints, elimination, sizes, rows, world, first, count):
        return
    for c in range(first, first + count):
        forward(joints, entries, elimination, sizes, rows, world, c)
    for back in range(count):
        backward(joints, entries, elimination, sizes, rows, world, first + count - 1 - back)


@kernel
def forward_level(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    rows: Rows,
    which: wp.array[wp.int32],
    first: int,
    count: int,
) -> None:
    """The first substitution for one column of a level, in the worlds that are wanted."""
    world = wp.tid() // count
    if which[world] == 1:
        c = elimination.scheduled[first + wp.tid() % count]
        forward(joints, entries, elimination, sizes, rows, world, c)


@kernel
def backward_level(
    joints: Joints,
    entries: Entries,
    elimination: Elimination,
    sizes: Sizes,
    rows: Rows,
    which: wp.array[wp.int32],
    first: int,
    count: int,
) -> None:
    """The second substitution for one column of a level, in the worlds that are wanted."""
    world = wp.tid() // count
    if which[world] == 1:
        c = elimination.scheduled[first + wp.tid() % count]
        backward(joints, entries, elimination, sizes, rows, world, c)


@sealed
@dataclass(frozen=True)
class Direct:
    """One factorisation of all joints.

    Args:
        loops: ``"drop_redundant"``: redundant rows of closed loops are found by their pivots and left out, no change to
            the model is needed; ``"cut"``: a tree of joints is solved directly and the joints that close its loops
            iteratively, see ``cut``.
        rounds: Most rounds between the tree and the cut joints in one correction.
    """

    loops: str = "drop_redundant"
    rounds: int = 100

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.one_of(self.loops, LOOPS, "The loops of Direct")
        checks.count(self.rounds, "The rounds of Direct")

    def prepare(self, problem: JointRows, members: Collection[int] | None = None) -> Any:
        """Find the order of elimination of some or all joints of a world and make room for their factor."""
        if self.loops == "cut":
            from rattleback.solvers.joints.cut import prepare_cut

            if (cut := prepare_cut(problem, self.rounds, members)) is not None:
                return cut
        return PreparedDirect(problem, members)


class PreparedDirect:
    """The direct method for the joints of one model.

    Attributes:
        fill: Blocks of the factor that are zero in the matrix, in one world.
        share: Part of the tolerances each world may use up.
    """

    def __init__(self, problem: JointRows, members: Collection[int] | None = None) -> None:
        self.problem, model = problem, problem.model
        self.delassus = make_delassus(problem, shared_bodies(problem), members)
        self.fill = self.delassus.pattern.fill
        self.elimination = make_elimination(problem, self.delassus)
        self.share = wp.full(model.worlds, 1.0, dtype=real, device=model.device)
        self.everywhere = wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)
        by_level = levels(self.delassus.pattern)
        self.levels = [] if model.device.is_cpu or len(by_level) > MOST_LEVELS else by_level
        self.threes: InThrees | None = None
        # Where limits have rows between those of the joints, the latter are not in threes.
        if (problem.counts == 3).all() and len(problem.rows.wanted) == 3 * problem.joint_count:
            data = see_in_threes(problem, self.delassus)
            self.threes = InThrees(problem, self.delassus, self.elimination, self.levels, self.share, data)

    def record_preparation(self, program: Program, which: Any) -> None:
        """Fill the matrix from the rows and factor it, in the worlds where ``which`` is 1."""
        if self.threes is None:
            program.launch(forget, self.problem.model.worlds, self.share, which)
            self._factor(program, which)
            return
        self.threes.record_preparation(program, which)
        with program.when(self.threes.data.any_trouble):
            self._factor(program, self.threes.data.fresh)

    def record_solution(self, program: Program) -> None:
        """Impulses for the wanted changes."""
        if self.threes is None:
            self._solve(program, self.everywhere)
            return
        self.threes.record_solution(program)
        with program.when(self.threes.data.any_trouble):
            self._solve(program, self.threes.data.trouble)

    def redundant_rows(self) -> np.ndarray:
        """Rows of every joint that others imply, shape (worlds, joints)."""
        return np.array(seen(self.elimination.dropped)).reshape(self.problem.model.worlds, -1)

    def _factor(self, program: Program, which: Any) -> None:
        joints, delassus, worlds = self.problem.joints, self.delassus, self.problem.model.worlds
        entries, sizes = delassus.entries, delassus.sizes
        blocks = sizes.blocks * worlds
        program.launch(fill, blocks, joints, self.problem.rows, delassus.blocks, entries, sizes, which)
        parts = (joints, entries, self.elimination, sizes, self.share, which)
        for first, count in self.levels:
            program.launch(factor_level, count * worlds, *parts, first, count)
        if not self.levels:
            chains = len(delassus.pattern.chains)
            program.launch(factor_chain, chains * worlds, *parts, chains)

    def _solve(self, program: Program, which: Any) -> None:
        entries, sizes, worlds = self.delassus.entries, self.delassus.sizes, self.problem.model.worlds
        parts = (self.problem.joints, entries, self.elimination, sizes, self.problem.rows, which)
        for first, count in self.levels:
            program.launch(forward_level, count * worlds, *parts, first, count)
        for first, count in reversed(self.levels):
            program.launch(backward_level, count * worlds, *parts, first, count)
        if not self.levels:
            chains = len(self.delassus.pattern.chains)
            program.launch(solve_chain, chains * worlds, *parts, chains)
