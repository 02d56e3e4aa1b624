"""The matrix of all joints, A = J M⁻¹ Jᵀ: which blocks it has, and the kernel that fills them.

    A_ij = Σ over bodies shared by joints i and j of J_i (M⁻¹ J_jᵀ)

A_rs is how fast row r changes when a unit impulse acts along row s. Joints that share no moving body have a zero block.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import epsilon, real, vec3
from rattleback.maths.block_sparse import Pattern, find_pattern
from rattleback.problem.joint_rows import JointRows, Joints, Rows

# A pivot this small beside the entry it started from is rounding: other rows imply its own.
REDUNDANT = wp.constant(real(epsilon**0.6))


@group(axis="blocks")
class Blocks:
    """The blocks on and below the diagonal, in order of elimination."""

    row: wp.int32 = field("1", "joint of its rows")
    column: wp.int32 = field("1", "joint of its columns")
    at: wp.int32 = field("1", "where its entries start")


@group(axis="entries")
class Entries:
    """The numbers of all blocks."""

    value: real = field("1/kg", "entry of the matrix, then of its factor")


@group(axis="rows")
class Pivots:
    """How the blocks on the diagonal are factored."""

    least: real = field("1/kg", "smallest pivot a row may have")
    order: wp.int32 = field("1", "row of the joint that was eliminated in this place")


@dataclass(frozen=True)
class Delassus:
    """The matrix of all joints of a model.

    Attributes:
        pattern: Its pattern in one world.
        blocks: Its blocks in all worlds.
        entries: Their numbers.
        starts: Where the entries of each block of one world start.
        size: Numbers in one world.
    """

    pattern: Pattern
    blocks: Blocks
    entries: Entries
    starts: np.ndarray
    size: int


def shared_bodies(problem: JointRows) -> set[tuple[int, int]]:
    """Pairs of joints that share a moving body."""
    members: dict[int, list[int]] = {}
    for joint, pair in enumerate(problem.pairs):
        for body in set(pair.tolist()) - {-1}:
            members.setdefault(body, []).append(joint)
    return {(i, j) for joints in members.values() for i in joints for j in joints if i < j}


def make_delassus(problem: JointRows, edges: set[tuple[int, int]]) -> Delassus:
    """Room for the matrix with the pattern its factor needs."""
    pattern = find_pattern(len(problem.names), edges)
    sizes = np.array([problem.counts[i] * problem.counts[j] for i, j in pattern.blocks], dtype=np.int64)
    starts, size, model = np.cumsum(sizes) - sizes, int(sizes.sum()), problem.model
    shifts = np.arange(model.worlds)[:, None]
    pairs, joints = np.array(pattern.blocks), len(problem.names)
    blocks = arrays.allocate(Blocks, {"blocks": len(pairs) * model.worlds}, model.device)
    columns = {
        "row": (pairs[None, :, 0] + shifts * joints).ravel().astype(np.int32),
        "column": (pairs[None, :, 1] + shifts * joints).ravel().astype(np.int32),
        "at": (starts[None] + shifts * size).ravel().astype(np.int32),
    }
    arrays.write(blocks, columns, "the blocks")
    entries = arrays.allocate(Entries, {"entries": max(size, 1) * model.worlds}, model.device)
    return Delassus(pattern, blocks, entries, starts, size)


@wp.func
def product(linear: vec3, angular: vec3, move: vec3, spin: vec3) -> real:
    """One side of a row times the response of one side of another."""
    return wp.dot(linear, move) + wp.dot(angular, spin)


@wp.kernel(enable_backward=False)
def fill(joints: Joints, rows: Rows, blocks: Blocks, entries: Entries) -> None:
    """All entries of one block."""
    k = wp.tid()
    i = blocks.row[k]
    j = blocks.column[k]
    aa = joints.body_a[i] == joints.body_a[j] and joints.body_a[i] >= 0
    ab = joints.body_a[i] == joints.body_b[j] and joints.body_a[i] >= 0
    ba = joints.body_b[i] == joints.body_a[j] and joints.body_b[i] >= 0
    bb = joints.body_b[i] == joints.body_b[j] and joints.body_b[i] >= 0
    width = joints.count[j]
    for m in range(joints.count[i]):
        r = joints.first[i] + m
        for n in range(width):
            s = joints.first[j] + n
            total = real(0.0)
            if aa:
                total += product(rows.linear_a[r], rows.angular_a[r], rows.move_a[s], rows.spin_a[s])
            if ab:
                total += product(rows.linear_a[r], rows.angular_a[r], rows.move_b[s], rows.spin_b[s])
            if ba:
                total += product(rows.linear_b[r], rows.angular_b[r], rows.move_a[s], rows.spin_a[s])
            if bb:
                total += product(rows.linear_b[r], rows.angular_b[r], rows.move_b[s], rows.spin_b[s])
            entries.value[blocks.at[k] + m * width + n] = total
