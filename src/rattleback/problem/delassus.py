"""The matrix of all joints, A = J M⁻¹ Jᵀ: which blocks it has, and the kernel that fills them.

    A_ij = Σ over bodies shared by joints i and j of J_i (M⁻¹ J_jᵀ)

A_rs is how fast row r changes when a unit impulse acts along row s. Joints that share no moving body have a zero block.
Rows that yield add to the diagonal what they yield by a unit impulse.
The pattern is that of one world; world w finds its numbers w times ``size`` further on.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.block_sparse import Pattern, find_pattern
from rattleback.problem.joint_rows import JointRows, Joints, Rows

# A pivot this small beside the entry it started from is rounding: other rows imply its own.
REDUNDANT = wp.constant(real(epsilon**0.6))
# Which ends of two joints are the same body: bits of ``Blocks.shared``, the end of the block's row named first.
AA, AB, BA, BB = 1, 2, 4, 8


@group(axis="blocks")
class Blocks:
    """The blocks on and below the diagonal in one world, in order of elimination."""

    row: wp.int32 = field("1", "joint of its rows")
    column: wp.int32 = field("1", "joint of its columns")
    at: wp.int32 = field("1", "where its entries start")
    shared: wp.int32 = field("1", "which ends of the two joints are the same body, as bits")


@group(axis="entries")
class Entries:
    """The numbers of all blocks in all worlds."""

    value: real = field("1/kg", "entry of the matrix; of its factor once that is made")
    scaled: real = field("1", "the same times the inverse of its column's diagonal block")
    least: real = field("1/kg", "smallest pivot a row may have", axis="rows")
    order: wp.int32 = field("1", "row of the joint that was eliminated in this place", axis="rows")


@wp.struct
class Sizes:
    """Numbers of one world."""

    joints: wp.int32
    blocks: wp.int32
    columns: wp.int32
    entries: wp.int32


@dataclass(frozen=True)
class Delassus:
    """The matrix of all joints of a model.

    Attributes:
        pattern: Its pattern in one world.
        blocks: Its blocks in one world.
        entries: Their numbers in all worlds.
        starts: Where the entries of each block start.
        sizes: Numbers of one world.
    """

    pattern: Pattern
    blocks: Blocks
    entries: Entries
    starts: np.ndarray
    sizes: Sizes


def shared_bodies(problem: JointRows) -> set[tuple[int, int]]:
    """Pairs of joints that share a moving body."""
    members: dict[int, list[int]] = {}
    for joint, pair in enumerate(problem.pairs):
        for body in set(pair.tolist()) - {-1}:
            members.setdefault(body, []).append(joint)
    return {(i, j) for joints in members.values() for i in joints for j in joints if i < j}


def make_delassus(problem: JointRows, edges: set[tuple[int, int]], members: Collection[int] | None = None) -> Delassus:
    """Room for the matrix of some or all joints of a world, with the pattern its factor needs."""
    pattern, model = find_pattern(len(problem.names), edges, members), problem.model
    pairs = np.array(pattern.blocks)
    lengths = problem.counts[pairs[:, 0]] * problem.counts[pairs[:, 1]]
    starts = np.cumsum(lengths) - lengths
    sizes = Sizes()
    sizes.joints, sizes.blocks, sizes.columns = len(problem.names), len(pairs), len(pattern.order)
    sizes.entries = int(lengths.sum())
    blocks = arrays.allocate(Blocks, {"blocks": len(pairs)}, model.device)
    columns = {"row": pairs[:, 0], "column": pairs[:, 1], "at": starts, "shared": _shared(problem.pairs, pairs)}
    arrays.write(blocks, {name: column.astype(np.int32) for name, column in columns.items()}, "the blocks")
    counts = {"entries": sizes.entries * model.worlds, "rows": problem.row_count}
    return Delassus(pattern, blocks, arrays.allocate(Entries, counts, model.device), starts, sizes)


def _shared(ends: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Which ends are the same moving body, as bits."""
    first, second = ends[pairs[:, 0]], ends[pairs[:, 1]]
    same = (first[:, :, None] == second[:, None, :]) & (first[:, :, None] >= 0)
    return np.asarray(same.reshape(-1, 4) @ np.array([AA, AB, BA, BB]))


@wp.func
def three(rows: wp.array[vec3], r: int) -> mat33:
    """Three vectors that follow each other, as the rows of a matrix."""
    return wp.matrix_from_rows(rows[r], rows[r + 1], rows[r + 2])


@wp.func
def fill_threes(joints: Joints, rows: Rows, shared: int, i: int, j: int) -> mat33:
    """A block of three by three; ``shared`` says which ends are the same body."""
    r = joints.first[i]
    s = joints.first[j]
    mass = real(0.0)
    total = mat33()
    if shared & AA:
        mass += joints.inverse_mass_a[j]
        total += three(rows.angular_a, r) * wp.transpose(three(rows.spin_a, s))
    if shared & AB:
        mass -= joints.inverse_mass_b[j]
        total += three(rows.angular_a, r) * wp.transpose(three(rows.spin_b, s))
    if shared & BA:
        mass -= joints.inverse_mass_a[j]
        total += three(rows.angular_b, r) * wp.transpose(three(rows.spin_a, s))
    if shared & BB:
        mass += joints.inverse_mass_b[j]
        total += three(rows.angular_b, r) * wp.transpose(three(rows.spin_b, s))
    return total + mass * (three(rows.linear, r) * wp.transpose(three(rows.linear, s)))


@wp.func
def entry(joints: Joints, rows: Rows, shared: int, j: int, r: int, s: int) -> real:
    """Row r times the response of row s, which belongs to joint j."""
    mass = real(0.0)
    total = real(0.0)
    if shared & AA:
        mass += joints.inverse_mass_a[j]
        total += wp.dot(rows.angular_a[r], rows.spin_a[s])
    if shared & AB:
        mass -= joints.inverse_mass_b[j]
        total += wp.dot(rows.angular_a[r], rows.spin_b[s])
    if shared & BA:
        mass -= joints.inverse_mass_a[j]
        total += wp.dot(rows.angular_b[r], rows.spin_a[s])
    if shared & BB:
        mass += joints.inverse_mass_b[j]
        total += wp.dot(rows.angular_b[r], rows.spin_b[s])
    return total + mass * wp.dot(rows.linear[r], rows.linear[s])


@kernel
def fill(joints: Joints, rows: Rows, blocks: Blocks, entries: Entries, sizes: Sizes, which: wp.array[wp.int32]) -> None:
    """All entries of one block, in the worlds that are wanted, and the least pivots of a block on the diagonal."""
    k = wp.tid() % sizes.blocks
    world = wp.tid() // sizes.blocks
    if which[world] == 0:
        return
    i = world * sizes.joints + blocks.row[k]
    j = world * sizes.joints + blocks.column[k]
    at = world * sizes.entries + blocks.at[k]
    height = joints.count[i]
    width = joints.count[j]
    for m in range(height):
        for n in range(width):
            s = joints.first[j] + n
            entries.value[at + m * width + n] = entry(joints, rows, blocks.shared[k], j, joints.first[i] + m, s)
    if i == j:
        for m in range(width):
            c = rows.compliance[joints.first[i] + m]
            if c > real(0.0):
                entries.value[at + m * width + m] = entries.value[at + m * width + m] + c
            entries.least[joints.first[i] + m] = REDUNDANT * entries.value[at + m * width + m]
