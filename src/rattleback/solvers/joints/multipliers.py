"""Lagrange multipliers, the standard method: one dense system for all joints of a world.

    A λ = −J M⁻¹ F − J̇ V − 2α Ċ − β² C,   A = J M⁻¹ Jᵀ,   force of the joints Jᵀ λ

F forces and torques, J Jacobian of the rows, M masses and inertias, C errors; α, β Baumgarte's parameters.

    wherever the integrator evaluates forces: fill all of A, zero or not; factor it; find λ; add Jᵀ λ to the forces
Cost: of third order in the rows of a world, of second order in memory, at every evaluation of the forces. A pivot that
elimination has brought down to rounding belongs to a row that others imply, as in closed loops, and is left out. Use it
for comparison, and for mechanisms of ten joints; ``baraff`` finds the same λ in linear time.

Reference: Bender, dissertation, §2.1.3.1, eq. 2.8; stabilisation §2.1.3.3.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.mirror import seen
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.maths.dense_factor import DenseSystems, make_dense_factor
from rattleback.problem.by_forces.joint_forces import JointLaw
from rattleback.problem.delassus import AA, AB, BA, BB, REDUNDANT, entry
from rattleback.problem.joint_rows import JointRows, Joints, Rows
from rattleback.solvers.joints.levels import baumgarte_law, check_level


@wp.func
def shared_ends(joints: Joints, i: int, j: int) -> int:
    """Which ends of two joints are the same body, as bits."""
    bits = int(0)
    if joints.body_a[i] >= 0:
        if joints.body_a[i] == joints.body_a[j]:
            bits += AA
        if joints.body_a[i] == joints.body_b[j]:
            bits += AB
    if joints.body_b[i] >= 0:
        if joints.body_b[i] == joints.body_a[j]:
            bits += BA
        if joints.body_b[i] == joints.body_b[j]:
            bits += BB
    return bits


@kernel
def fill_dense(
    joints: Joints,
    rows: Rows,
    owner: wp.array[wp.int32],
    systems: DenseSystems,
    size: int,
    which: wp.array[wp.int32],
) -> None:
    """One entry of A on or below the diagonal, and the least pivot of a row."""
    world = wp.tid() // (size * size)
    m = (wp.tid() // size) % size
    n = wp.tid() % size
    if n > m or which[world] == 0:
        return
    r = world * size + m
    s = world * size + n
    i = owner[r]
    j = owner[s]
    value = entry(joints, rows, shared_ends(joints, i, j), j, r, s)
    systems.value[wp.tid()] = value
    if r == s:
        systems.least[r] = REDUNDANT * value


@kernel
def take_wanted(rows: Rows, systems: DenseSystems) -> None:
    """The right-hand side."""
    r = wp.tid()
    systems.x[r] = rows.wanted[r]


@kernel
def give_impulses(systems: DenseSystems, rows: Rows) -> None:
    """The multipliers."""
    r = wp.tid()
    rows.impulse[r] = systems.x[r]


@sealed
@dataclass(frozen=True)
class Multipliers:
    """Lagrange multipliers by one dense system.

    Args:
        level: ``"acceleration"`` or ``"velocity"``: what the forces hold, see ``levels``.
        stabilisation: ``"baumgarte"``, ``"none"``, ``"projection"`` or ``"impulses"``.
        alpha: Baumgarte's α [1/s], factor of the velocity error.
        beta: Baumgarte's β [1/s], whose square is the factor of the position error.
    """

    level: str = "acceleration"
    stabilisation: str = "baumgarte"
    alpha: float = 10.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_level(self, self.level, self.stabilisation)
        checks.not_negative(self.alpha, "The alpha of Multipliers")
        checks.not_negative(self.beta, "The beta of Multipliers")

    @property
    def law(self) -> JointLaw:
        """How errors decay."""
        return baumgarte_law(self.stabilisation, self.alpha, self.beta)

    def prepare(self, problem: JointRows, inertias: Any) -> "PreparedMultipliers":
        """Make room for the matrix of every world."""
        return PreparedMultipliers(problem)


class PreparedMultipliers:
    """The dense systems of the joints of one model.

    Attributes:
        dense: The systems, one for each world.
    """

    def __init__(self, problem: JointRows) -> None:
        self.problem, model = problem, problem.model
        self.size = int(problem.counts.sum())
        self.dense = make_dense_factor(self.size, model.worlds, model.device)
        self.everywhere = wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)
        owner = np.repeat(np.arange(problem.joint_count), np.tile(problem.counts, model.worlds))
        self.owner = wp.array(owner.astype(np.int32), dtype=wp.int32, device=model.device)

    def record_preparation(self, program: Program, which: Any) -> None:
        """Fill the matrices and factor them, in the worlds where ``which`` is 1."""
        problem, dense = self.problem, self.dense
        entries = self.size * self.size * dense.count
        given = (problem.joints, problem.rows, self.owner, dense.systems, self.size)
        program.launch(fill_dense, entries, *given, which)
        dense.record_factor(program, which)

    def record_solution(self, program: Program) -> None:
        """Multipliers for the wanted accelerations."""
        rows, systems = self.problem.rows, self.dense.systems
        program.launch(take_wanted, self.problem.row_count, rows, systems)
        self.dense.record_solution(program, self.everywhere)
        program.launch(give_impulses, self.problem.row_count, systems, rows)

    def redundant_rows(self) -> np.ndarray:
        """Rows of every joint that others imply, shape (worlds, joints)."""
        dropped = np.array(seen(self.dense.systems.dropped)).reshape(self.problem.model.worlds, self.size)
        first = np.cumsum(self.problem.counts) - self.problem.counts
        return np.stack(
            [dropped[:, at : at + n].sum(axis=1) for at, n in zip(first, self.problem.counts, strict=True)], axis=1
        )
