"""Iterative joint method: joint by joint, each corrected as if the others stood still, over and over.

    λ_j += K_j⁻¹ (b_j − J_j Δv),   Δv += M⁻¹ J_jᵀ λ_j,   K_j = J_j M⁻¹ J_jᵀ

b_j the wanted change of the joint's rows, Δv the change of the bodies' velocities so far, K_j the joint's own block.
One solution is a number of sweeps over all joints (block Gauss–Seidel); the preview loop around it repeats until the
tolerance is met.

    for every sweep, for every joint of a chain in order: what is still wanted, its impulse, the velocities it changes
Cost: each sweep is linear in the joints, but the number of sweeps grows with the square of a chain's length. Handles
loops as they are. Use it for comparison, and for a handful of joints.

Reference: Bender, dissertation, §3.3.1.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from rattleback.core import arrays, checks
from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import factor_block, find_pattern, solve_block
from rattleback.model.state import Motion
from rattleback.problem.delassus import REDUNDANT, Blocks, Entries, Pivots, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import JointRows, Joints, Rows, row_velocity


@group(axis="chains")
class Parts:
    """Independent parts of the mechanism: stretches of ``member``."""

    first: wp.int32 = field("1", "its first member")
    count: wp.int32 = field("1", "number of its members")
    member: wp.int32 = field("1", "block of a joint, part by part in the order they are swept", axis="members")


@wp.kernel(enable_backward=False)
def factor_own(joints: Joints, blocks: Blocks, entries: Entries, pivots: Pivots) -> None:
    """The factor of every joint's own block."""
    k = wp.tid()
    j = blocks.row[k]
    n = joints.count[j]
    for m in range(n):
        pivots.least[joints.first[j] + m] = REDUNDANT * entries.value[blocks.at[k] + m * n + m]
    factor_block(entries.value, blocks.at[k], n, pivots.least, pivots.order, joints.first[j])


@wp.kernel(enable_backward=False)
def forget(change: Motion) -> None:
    """A solution begins: nothing has changed yet."""
    i = wp.tid()
    change.velocity[i] = vec3()
    change.angular_velocity[i] = vec3()


@wp.kernel(enable_backward=False)
def sweep(
    joints: Joints,
    parts: Parts,
    blocks: Blocks,
    entries: Entries,
    pivots: Pivots,
    rows: Rows,
    change: Motion,
    sweeps: int,
) -> None:
    """Sweeps over the joints of one part, in order."""
    part = wp.tid()
    first = parts.first[part]
    last = first + parts.count[part]
    for m in range(first, last):
        j = blocks.row[parts.member[m]]
        for k in range(joints.count[j]):
            rows.impulse[joints.first[j] + k] = real(0.0)
    for _n in range(sweeps):
        for m in range(first, last):
            block = parts.member[m]
            j = blocks.row[block]
            at = joints.first[j]
            n = joints.count[j]
            for k in range(n):
                rows.step[at + k] = rows.wanted[at + k] - row_velocity(joints, rows, change, j, at + k)
            solve_block(entries.value, blocks.at[block], n, pivots.order, at, rows.step, at)
            for k in range(n):
                r = at + k
                p = rows.step[r]
                rows.impulse[r] = rows.impulse[r] + p
                a = joints.body_a[j]
                b = joints.body_b[j]
                if a >= 0:
                    change.velocity[a] = change.velocity[a] + p * rows.move_a[r]
                    change.angular_velocity[a] = change.angular_velocity[a] + p * rows.spin_a[r]
                if b >= 0:
                    change.velocity[b] = change.velocity[b] + p * rows.move_b[r]
                    change.angular_velocity[b] = change.angular_velocity[b] + p * rows.spin_b[r]


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

    def prepare(self, problem: JointRows) -> "PreparedIterative":
        """Make room for every joint's own block."""
        return PreparedIterative(problem, self.sweeps)


class PreparedIterative:
    """The iterative method for the joints of one model.

    Attributes:
        share: Part of the tolerances each world may use up: all of it.
    """

    def __init__(self, problem: JointRows, sweeps: int) -> None:
        self.problem, self.sweeps, model = problem, sweeps, problem.model
        self.delassus = make_delassus(problem, set())
        self.share = wp.full(model.worlds, 1.0, dtype=real, device=model.device)
        self.pivots = arrays.allocate(Pivots, {"rows": problem.row_count}, model.device)
        self.change = arrays.allocate(Motion, {"bodies": model.count}, model.device)
        chains = find_pattern(len(problem.names), shared_bodies(problem))
        place = {node: k for k, (node, _) in enumerate(self.delassus.pattern.blocks)}
        count, shifts = np.array(chains.chains, dtype=np.int64), np.arange(model.worlds)[:, None]
        first = (np.cumsum(count) - count)[None] + shifts * count.sum()
        members = (np.array([place[node] for node in chains.order])[None] + shifts * len(place)).ravel()
        self.parts = arrays.allocate(Parts, {"chains": first.size, "members": members.size}, model.device)
        stretches = {"first": first.ravel(), "count": np.tile(count, model.worlds), "member": members}
        arrays.write(self.parts, {name: column.astype(np.int32) for name, column in stretches.items()}, "the parts")

    def record_preparation(self, program: Program) -> None:
        """Every joint's own block and its factor."""
        joints, blocks, entries = self.problem.joints, self.delassus.blocks, self.delassus.entries
        program.launch(fill, len(blocks.row), joints, self.problem.rows, blocks, entries)
        program.launch(factor_own, len(blocks.row), joints, blocks, entries, self.pivots)

    def record_solution(self, program: Program) -> None:
        """Impulses after some sweeps."""
        joints, rows = self.problem.joints, self.problem.rows
        blocks, entries = self.delassus.blocks, self.delassus.entries
        program.launch(forget, self.problem.model.count, self.change)
        parts = (joints, self.parts, blocks, entries, self.pivots, rows, self.change, self.sweeps)
        program.launch(sweep, len(self.parts.count), *parts)

    def redundant_rows(self) -> np.ndarray:
        """An iterative method finds no redundant rows; they do it no harm."""
        return np.zeros(self.problem.model.worlds, dtype=np.int64)
