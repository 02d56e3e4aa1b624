"""The rows that trees do not hold: closed loops, limits, motors and couplings, solved through the trees.

    A λ = b,   A = J (S (Sᵀ M S + E)⁻¹ Sᵀ) Jᵀ + C,   P A Pᵀ = L D Lᵀ

J the rows, S the motion subspaces of the trees, M masses and inertias of the bodies, E armature and what else meets
their freedoms, see ``fitting``, C compliance of rows that yield, b the wanted change of the rows' velocities, λ
impulses, P the order of the pivots.

    factor the trees;  a column of A for each row that acts: its impulse on the bodies, what the trees make of it
    factor A, the largest pivot first; a pivot that is rounding is a redundant row, whose impulse is zero
Cost: a substitution in the trees for each row, and n³/6 for n rows of a world: made for some ten of them.

Reference: Featherstone, Rigid Body Dynamics Algorithms, chapter 8; Baraff, Linear-time dynamics using Lagrange
multipliers, 1996, section 7.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.mirror import seen
from rattleback.core.precision import real, vec3
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import factor_block
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.delassus import REDUNDANT
from rattleback.problem.joint_rows import JointRows, Rows, row_velocity
from rattleback.reduced.midpoint.fitting import FROM_REST, fit
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.through_trees import Through

# Part of the position tolerance that is used up where rows are redundant, as in the direct method.
SHARE = wp.constant(real(0.03))


@group(axis="rows")
class RowSystem:
    """The dense matrix of the rows of each world, and its factor."""

    value: real = field("1/kg", "entry; of the factor once that is made", axis="entries")
    least: real = field("1/kg", "smallest pivot a row may have")
    order: wp.int32 = field("1", "row in this place of the factor")
    row: wp.int32 = field("1", "its place among all rows, those of limits included")
    owner: wp.int32 = field("1", "joint it belongs to")
    found: real = field("N s", "room for a solution")
    dropped: wp.int32 = field("1", "redundant rows of the world", axis="worlds")


@wp.func
def acts(rows: Rows, r: int) -> bool:
    """Whether a row acts: those of broken joints and of limits that are not reached are empty."""
    size = wp.dot(rows.linear[r], rows.linear[r]) + wp.dot(rows.angular_a[r], rows.angular_a[r])
    return size + wp.dot(rows.angular_b[r], rows.angular_b[r]) > real(0.0)


@wp.func
def push(bodies: Bodies, trees: Trees, rows: Rows, column: Motion, r: int, j: int) -> None:
    """What a unit impulse along a row does to the bodies of its joint, if no tree held them; others stay."""
    w = trees.joints.world[j]
    count = int(trees.body_count)
    for i in range(w * count, w * count + count):
        column.velocity[i] = vec3()
        column.angular_velocity[i] = vec3()
    a = trees.joints.body_a[j]
    b = trees.joints.body_b[j]
    if a >= 0:
        column.velocity[a] = -bodies.inverse_mass[a] * rows.linear[r]
        column.angular_velocity[a] = rows.spin_a[r]
    if b >= 0:
        column.velocity[b] = bodies.inverse_mass[b] * rows.linear[r]
        column.angular_velocity[b] = rows.spin_b[r]


@kernel
def factor_rows(
    bodies: Bodies,
    trees: Trees,
    rows: Rows,
    system: RowSystem,
    column: Motion,
    share: wp.array[real],
    which: wp.array[wp.int32],
    count: int,
) -> None:
    """The matrix of the rows of a world, and its factor."""
    w = wp.tid()
    if which[w] == 0:
        return
    first = w * count
    at = w * count * count
    for c in range(count):
        k = first + c
        r = system.row[k]
        system.least[k] = real(0.0)
        live = acts(rows, r)
        if live:
            push(bodies, trees, rows, column, r, system.owner[k])
            # Beside what its two bodies would answer alone: trees may imply a row, which then has nothing but rounding.
            alone = row_velocity(trees.joints, rows, column, system.owner[k], r) + rows.compliance[r]
            system.least[k] = REDUNDANT * alone
            fit(trees, column, w, FROM_REST, real(-1.0))
        for d in range(count):
            value = real(0.0)
            other = system.row[first + d]
            if live and acts(rows, other):
                value = row_velocity(trees.joints, rows, column, system.owner[first + d], other)
            if d == c and live:
                value += rows.compliance[r]
            system.value[at + d * count + c] = value
    system.dropped[w] = factor_block(system.value, at, count, system.least, system.order, first)
    share[w] = wp.where(system.dropped[w] > 0, SHARE, real(1.0))


@kernel
def solve_rows(rows: Rows, system: RowSystem, count: int) -> None:
    """Impulses for the wanted changes of the rows of a world."""
    w = wp.tid()
    first = w * count
    at = w * count * count
    y = system.found
    for k in range(count):
        y[first + k] = rows.wanted[system.row[first + system.order[first + k]]]
    for k in range(count):
        for i in range(k + 1, count):
            y[first + i] = y[first + i] - system.value[at + i * count + k] * y[first + k]
    for m in range(count):
        k = count - 1 - m
        total = y[first + k] * system.value[at + k * count + k]
        for i in range(k + 1, count):
            total -= system.value[at + i * count + k] * y[first + i]
        y[first + k] = total
    for k in range(count):
        rows.impulse[system.row[first + system.order[first + k]]] = y[first + k]


class TreeRows:
    """The rows of the joints of a model, solved through its trees.

    Attributes:
        through: What trees make of changes of velocities.
        share: Part of the tolerances each world may use up.

    Args:
        through: See above.
    """

    def __init__(self, through: Through) -> None:
        self.through = through

    def prepare(self, problem: JointRows, members: Any = None) -> "TreeRows":
        """Make room for the matrix of the rows of a model."""
        model = problem.model
        self.problem, self.count = problem, int(problem.counts.sum())
        rows = self.count * model.worlds
        sizes = {"rows": rows, "entries": self.count * rows, "worlds": model.worlds}
        self.system: Any = arrays.allocate(RowSystem, sizes, model.device)
        owner = np.repeat(np.arange(problem.joint_count), np.tile(problem.counts, model.worlds))
        self.system.owner.assign(owner.astype(np.int32))
        held = zip(problem.joints.first.numpy(), problem.joints.count.numpy(), strict=True)
        self.system.row.assign(np.concatenate([np.arange(r, r + n, dtype=np.int32) for r, n in held]))
        self.column = arrays.allocate(Motion, {"bodies": model.count}, model.device)
        self.share = wp.full(model.worlds, 1.0, dtype=real, device=model.device)
        return self

    def record_preparation(self, program: Program, which: Any) -> None:
        """Fill the matrix and factor it, in the worlds where ``which`` is 1."""
        if self.count:
            trees = self.through.free
            given = (self.problem.rows, self.system, self.column, self.share, which, self.count)
            program.launch(factor_rows, len(which), self.through.bodies, trees, *given)

    def record_solution(self, program: Program) -> None:
        """Impulses for the wanted changes."""
        if self.count:
            program.launch(solve_rows, self.problem.model.worlds, self.problem.rows, self.system, self.count)

    def redundant_rows(self) -> np.ndarray:
        """Rows that others imply, shape (worlds, joints), counted with the first joint that has any rows."""
        count = len(self.problem.names)
        found = np.zeros((self.problem.model.worlds, count), dtype=np.int64)
        found[:, int(np.argmax(self.problem.fixed.count.numpy()[:count] > 0))] = seen(self.system.dropped)
        return found
