"""Iterative joint method: joint by joint, each corrected as if the others stood still, over and over.

    λ_j += K_j⁻¹ (b_j − J_j Δv − S_j λ_j),   Δv += M⁻¹ J_jᵀ λ_j,   K_j = J_j M⁻¹ J_jᵀ + S_j

b_j the wanted change of the joint's rows, Δv the change of the bodies' velocities so far, K_j the joint's own block,
S_j the compliance of its rows, zero but for those that yield.
One solution is a number of sweeps over all joints (block Gauss–Seidel); the preview loop around it repeats until the
tolerance is met.

    for every sweep, for every joint of a chain in order: what is still wanted, its impulse, the velocities it changes
Cost: each sweep is linear in the joints, but the number of sweeps grows with the square of a chain's length. Handles
loops as they are. Use it for comparison, and for a handful of joints.

Reference: Bender, dissertation, §3.3.1.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays, checks
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import factor_block, find_pattern, solve_block
from rattleback.maths.small_solve import vec6
from rattleback.model.state import Motion
from rattleback.problem.delassus import Blocks, Entries, Sizes, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import JointRows, Joints, Rows, row_velocity


@group(axis="chains")
class Parts:
    """Independent parts of the mechanism: stretches of ``member``."""

    first: wp.int32 = field("1", "its first member")
    count: wp.int32 = field("1", "number of its members")
    member: wp.int32 = field("1", "block of a joint, part by part in the order they are swept", axis="members")


@kernel
def factor_own(joints: Joints, blocks: Blocks, entries: Entries, sizes: Sizes, which: wp.array[wp.int32]) -> None:
    """The factor of a joint's own block, in the worlds that are wanted."""
    k = wp.tid() % sizes.blocks
    world = wp.tid() // sizes.blocks
    if which[world] == 1:
        j = world * sizes.joints + blocks.row[k]
        at = world * sizes.entries + blocks.at[k]
        factor_block(entries.value, at, joints.count[j], entries.least, entries.order, joints.first[j])


@kernel
def forget(change: Motion) -> None:
    """A solution begins: nothing has changed yet."""
    i = wp.tid()
    change.velocity[i] = vec3()
    change.angular_velocity[i] = vec3()


@wp.func
def correct(joints: Joints, entries: Entries, rows: Rows, change: Motion, j: int, at: int) -> None:
    """λ_j += K_j⁻¹ (b_j − J_j Δv) and what it does to the velocities."""
    first = joints.first[j]
    n = joints.count[j]
    still = vec6()
    for k in range(n):
        still[k] = rows.wanted[first + k] - row_velocity(joints, rows, change, j, first + k)
        if rows.compliance[first + k] > real(0.0):
            still[k] = still[k] - rows.compliance[first + k] * rows.impulse[first + k]
    a = joints.body_a[j]
    b = joints.body_b[j]
    still = solve_block(entries.value, at, n, entries.order, first, still)
    for k in range(n):
        r = first + k
        p = still[k]
        rows.impulse[r] = rows.impulse[r] + p
        if a >= 0:
            change.velocity[a] = change.velocity[a] - p * joints.inverse_mass_a[j] * rows.linear[r]
            change.angular_velocity[a] = change.angular_velocity[a] + p * rows.spin_a[r]
        if b >= 0:
            change.velocity[b] = change.velocity[b] + p * joints.inverse_mass_b[j] * rows.linear[r]
            change.angular_velocity[b] = change.angular_velocity[b] + p * rows.spin_b[r]


@kernel
def sweep(
    joints: Joints,
    parts: Parts,
    blocks: Blocks,
    entries: Entries,
    sizes: Sizes,
    rows: Rows,
    change: Motion,
    sweeps: int,
) -> None:
    """Sweeps over the joints of one part, in order."""
    chains = parts.first.shape[0]
    world = wp.tid() // chains
    part = wp.tid() % chains
    first = parts.first[part]
    last = first + parts.count[part]
    shift = world * sizes.joints
    for m in range(first, last):
        j = shift + blocks.row[parts.member[m]]
        for k in range(joints.count[j]):
            rows.impulse[joints.first[j] + k] = real(0.0)
    for _n in range(sweeps):
        for m in range(first, last):
            block = parts.member[m]
            j = shift + blocks.row[block]
            correct(joints, entries, rows, change, j, world * sizes.entries + blocks.at[block])


@sealed
@dataclass(frozen=True)
class Iterative:
    """Joint by joint, over and over.

    Args:
        sweeps: Sweeps over all joints before the end of the step is predicted again.
    """

    sweeps: int = 4

    def __post_init__(self) -> None:
        """Check the number of sweeps."""
        checks.count(self.sweeps, "The sweeps of Iterative")

    def prepare(self, problem: JointRows, members: Collection[int] | None = None) -> "PreparedIterative":
        """Make room for the own block of every joint, or of some joints of a world."""
        return PreparedIterative(problem, self.sweeps, members)


class PreparedIterative:
    """The iterative method for the joints of one model.

    Attributes:
        share: Part of the tolerances each world may use up: all of it.
    """

    def __init__(self, problem: JointRows, sweeps: int, members: Collection[int] | None = None) -> None:
        self.problem, self.sweeps, model = problem, sweeps, problem.model
        self.delassus = make_delassus(problem, set(), members)
        self.share = wp.full(model.worlds, 1.0, dtype=real, device=model.device)
        self.change = arrays.allocate(Motion, {"bodies": model.count}, model.device)
        chains = find_pattern(len(problem.names), shared_bodies(problem), members)
        place = {node: k for k, (node, _) in enumerate(self.delassus.pattern.blocks)}
        count = np.array(chains.chains, dtype=np.int64)
        members = np.array([place[node] for node in chains.order])
        self.parts = arrays.allocate(Parts, {"chains": count.size, "members": members.size}, model.device)
        stretches = {"first": np.cumsum(count) - count, "count": count, "member": members}
        arrays.write(self.parts, {name: column.astype(np.int32) for name, column in stretches.items()}, "the parts")

    def record_preparation(self, program: Program, which: Any) -> None:
        """The factor of every joint's own block, in the worlds where ``which`` is 1."""
        joints, blocks, sizes = self.problem.joints, self.delassus.blocks, self.delassus.sizes
        entries, count = self.delassus.entries, sizes.blocks * self.problem.model.worlds
        program.launch(fill, count, joints, self.problem.rows, blocks, entries, sizes, which)
        program.launch(factor_own, count, joints, blocks, entries, sizes, which)

    def record_solution(self, program: Program) -> None:
        """Impulses after some sweeps."""
        joints, rows, model = self.problem.joints, self.problem.rows, self.problem.model
        blocks, entries, sizes = self.delassus.blocks, self.delassus.entries, self.delassus.sizes
        program.launch(forget, model.count, self.change)
        parts = (joints, self.parts, blocks, entries, sizes, rows, self.change, self.sweeps)
        program.launch(sweep, len(self.parts.count) * model.worlds, *parts)

    def redundant_rows(self) -> np.ndarray:
        """An iterative method finds no redundant rows; they do it no harm."""
        return np.zeros((self.problem.model.worlds, len(self.problem.names)), dtype=np.int64)
