"""The direct method where every joint has three rows, as in chains and trees of ball joints: blocks live in registers.

    factor, column by column: A_ij −= Σ Y_ik A_jkᵀ over the columns k before;  D_j = A_jj;  Y_ij = A_ij D_j⁻¹
    solve: b_j −= Σ Y_jk b_k in the same order;  λ_j = D_j⁻¹ b_j − Σ Y_ijᵀ λ_i back again

The numbers are those of ``direct``, seen as matrices and vectors of three. D_j is kept as its inverse, which is
accurate while its pivots are well above zero. A world where one is not is marked and left to the general method.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real, vec3
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import inverse33
from rattleback.problem.delassus import REDUNDANT, Blocks, Delassus, Sizes, fill_threes
from rattleback.problem.joint_rows import JointRows, Joints, Rows
from rattleback.solvers.joints.elimination import Elimination


@wp.struct
class Threes:
    """The entries of the matrix, and the wanted changes and impulses of the rows, in threes."""

    value: wp.array[mat33]
    scaled: wp.array[mat33]
    least: wp.array[vec3]
    wanted: wp.array[vec3]
    impulse: wp.array[vec3]
    trouble: wp.array[wp.int32]
    fresh: wp.array[wp.int32]
    any_trouble: wp.array[wp.int32]


@kernel
def begin(threes: Threes, share: wp.array[real], which: wp.array[wp.int32]) -> None:
    """No wanted world is known to be in trouble, nor to have redundant rows; of no other is that asked anew."""
    w = wp.tid()
    threes.fresh[w] = 0
    if which[w] == 1:
        threes.trouble[w] = 0
        share[w] = real(1.0)


@kernel
def fill(joints: Joints, rows: Rows, blocks: Blocks, threes: Threes, sizes: Sizes, which: wp.array[wp.int32]) -> None:
    """One block, in the worlds that are wanted, and the least pivots of a block on the diagonal."""
    k = wp.tid() % sizes.blocks
    world = wp.tid() // sizes.blocks
    if which[world] == 0:
        return
    i = world * sizes.joints + blocks.row[k]
    j = world * sizes.joints + blocks.column[k]
    m = fill_threes(joints, rows, blocks.shared[k], i, j)
    if i == j:
        for n in range(3):
            c = rows.compliance[joints.first[i] + n]
            if c > real(0.0):
                m[n, n] = m[n, n] + c
        threes.least[i] = REDUNDANT * wp.get_diag(m)
        if joints.broken[i] != 0:
            # Nothing is wanted of it and nothing couples it, so that its impulse is zero with any sound block.
            m = wp.identity(n=3, dtype=real)
    threes.value[wp.tid()] = m


@wp.func
def reduced(threes: Threes, elimination: Elimination, base: int, k: int) -> mat33:
    """A_ij − Σ Y_ik A_jkᵀ."""
    m = threes.value[base + k]
    for s in range(elimination.first_source[k], elimination.first_source[k] + elimination.sources[k]):
        y = threes.scaled[base + elimination.left[s]]
        m = m - y * wp.transpose(threes.value[base + elimination.right[s]])
    return m


@wp.func
def eliminate(threes: Threes, elimination: Elimination, sizes: Sizes, world: int, c: int) -> None:
    """Eliminate one column; where a pivot is not well above zero, mark the world."""
    base = world * sizes.blocks
    d = elimination.diagonal[c]
    j = world * sizes.joints + elimination.column[d]
    inverse, sound = inverse33(reduced(threes, elimination, base, d), threes.least[j])
    if not sound:
        threes.trouble[world] = 1
        threes.fresh[world] = 1
        threes.any_trouble[0] = 1
    threes.value[base + d] = inverse
    elimination.inverted[j] = 1
    elimination.dropped[j] = 0
    for k in range(d + 1, d + 1 + elimination.count[c]):
        m = reduced(threes, elimination, base, k)
        threes.value[base + k] = m
        threes.scaled[base + k] = m * inverse


@kernel
def factor_chain(
    threes: Threes, elimination: Elimination, sizes: Sizes, which: wp.array[wp.int32], chains: int
) -> None:
    """Factor one chain, in the worlds that are wanted."""
    chain = wp.tid() % chains
    world = wp.tid() // chains
    if which[world] == 0:
        return
    first = elimination.first[chain]
    for c in range(first, first + elimination.length[chain]):
        eliminate(threes, elimination, sizes, world, c)


@kernel
def factor_level(
    threes: Threes, elimination: Elimination, sizes: Sizes, which: wp.array[wp.int32], first: int, count: int
) -> None:
    """Factor one column of a level, in the worlds that are wanted."""
    world = wp.tid() // count
    if which[world] == 1:
        eliminate(threes, elimination, sizes, world, elimination.scheduled[first + wp.tid() % count])


@wp.func
def forward(threes: Threes, elimination: Elimination, sizes: Sizes, world: int, c: int) -> None:
    """b_j −= Σ Y_jk b_k, into the impulses."""
    base = world * sizes.blocks
    shift = world * sizes.joints
    j = shift + elimination.column[elimination.diagonal[c]]
    b = threes.wanted[j]
    for s in range(elimination.first_before[c], elimination.first_before[c] + elimination.befores[c]):
        k = elimination.before[s]
        b = b - threes.scaled[base + k] * threes.impulse[shift + elimination.column[k]]
    threes.impulse[j] = b


@wp.func
def backward(threes: Threes, elimination: Elimination, sizes: Sizes, world: int, c: int) -> None:
    """λ_j = D_j⁻¹ b_j − Σ Y_ijᵀ λ_i."""
    base = world * sizes.blocks
    shift = world * sizes.joints
    d = elimination.diagonal[c]
    j = shift + elimination.column[d]
    x = threes.value[base + d] * threes.impulse[j]
    for k in range(d + 1, d + 1 + elimination.count[c]):
        x = x - wp.transpose(threes.scaled[base + k]) * threes.impulse[shift + elimination.row[k]]
    threes.impulse[j] = x


@kernel
def solve_chain(threes: Threes, elimination: Elimination, sizes: Sizes, chains: int) -> None:
    """Impulses of one chain, in worlds without trouble."""
    chain = wp.tid() % chains
    world = wp.tid() // chains
    if threes.trouble[world] == 1:
        return
    first = elimination.first[chain]
    count = elimination.length[chain]
    for c in range(first, first + count):
        forward(threes, elimination, sizes, world, c)
    for back in range(count):
        backward(threes, elimination, sizes, world, first + count - 1 - back)


@kernel
def forward_level(threes: Threes, elimination: Elimination, sizes: Sizes, first: int, count: int) -> None:
    """The first substitution for one column of a level, in worlds without trouble."""
    world = wp.tid() // count
    if threes.trouble[world] == 0:
        forward(threes, elimination, sizes, world, elimination.scheduled[first + wp.tid() % count])


@kernel
def backward_level(threes: Threes, elimination: Elimination, sizes: Sizes, first: int, count: int) -> None:
    """The second substitution for one column of a level, in worlds without trouble."""
    world = wp.tid() // count
    if threes.trouble[world] == 0:
        backward(threes, elimination, sizes, world, elimination.scheduled[first + wp.tid() % count])


@dataclass(frozen=True)
class InThrees:
    """The factor of a model whose joints all have three rows.

    Attributes:
        problem: The joints as rows.
        delassus: Their matrix.
        elimination: The order of elimination.
        levels: First column and number of columns of every level; empty to do a chain per thread.
        share: Part of the tolerances each world may use up.
        data: The numbers, in threes; ``any_trouble`` stays raised once a world was in trouble.
    """

    problem: JointRows
    delassus: Delassus
    elimination: Elimination
    levels: list[tuple[int, int]]
    share: Any
    data: Any

    def record_preparation(self, program: Program, which: Any) -> None:
        """Fill and factor the matrix in the worlds where ``which`` is 1."""
        problem, sizes, worlds = self.problem, self.delassus.sizes, self.problem.model.worlds
        program.launch(begin, worlds, self.data, self.share, which)
        blocks = (self.delassus.blocks, self.data, sizes, which)
        program.launch(fill, sizes.blocks * worlds, problem.joints, problem.rows, *blocks)
        parts = (self.data, self.elimination, sizes, which)
        for first, count in self.levels:
            program.launch(factor_level, count * worlds, *parts, first, count)
        if not self.levels:
            chains = len(self.delassus.pattern.chains)
            program.launch(factor_chain, chains * worlds, *parts, chains)

    def record_solution(self, program: Program) -> None:
        """Impulses for the wanted changes."""
        worlds, parts = self.problem.model.worlds, (self.data, self.elimination, self.delassus.sizes)
        for first, count in self.levels:
            program.launch(forward_level, count * worlds, *parts, first, count)
        for first, count in reversed(self.levels):
            program.launch(backward_level, count * worlds, *parts, first, count)
        if not self.levels:
            chains = len(self.delassus.pattern.chains)
            program.launch(solve_chain, chains * worlds, *parts, chains)


def see_in_threes(problem: JointRows, delassus: Delassus) -> Any:
    """The numbers of a matrix and its rows as matrices and vectors of three, in the same memory."""
    data, device = Threes(), problem.model.device

    def seen(flat: Any, kind: Any, size: int) -> Any:
        return wp.array(ptr=flat.ptr, dtype=kind, shape=len(flat) // size, device=device, copy=False)

    entries, rows = delassus.entries, problem.rows
    data.value, data.scaled = seen(entries.value, mat33, 9), seen(entries.scaled, mat33, 9)
    data.least = seen(entries.least, vec3, 3)
    data.wanted, data.impulse = seen(rows.wanted, vec3, 3), seen(rows.impulse, vec3, 3)
    data.trouble, data.fresh = (wp.zeros(problem.model.worlds, dtype=wp.int32, device=device) for _ in range(2))
    data.any_trouble = wp.zeros(1, dtype=wp.int32, device=device)
    return data
