"""Baraff's method: Lagrange multipliers of a tree of joints in linear time, closed loops by a small dense system.

    | M   −Jᵀ | | V̇' |   |  0 |
    |         | |    | = |    |      b = −J M⁻¹ F − J̇ V − 2α Ċ − β² C
    | −J   0  | | λ  |   | −b |

V̇' acceleration by the joints, λ multipliers, J Jacobian, M masses and inertias, F loads, C errors, α and β Baumgarte's.
The matrix has a node for every body and every joint, and a block where a joint holds a body. From the leaves to the
root each node is eliminated after its children, so its only neighbour left is its parent, and no new block appears:

    body c:   I_c = L D Lᵀ             joint: S = J_c I_c⁻¹ J_cᵀ             its other body p:  I_p += J_pᵀ S⁻¹ J_p
    forward: r = b − J_c I_c⁻¹ f_c, f_p += J_pᵀ S⁻¹ r          back: λ = S⁻¹ (r − J_p y_p), y_c = I_c⁻¹ (f_c + J_cᵀ λ)
    joints L that close loops: K = J_L H⁻¹ J_Lᵀ, a column from a substitution; K λ_L = b_L − J_L y; once more with both
Cost: linear in the bodies of a tree; with k rows that close loops k substitutions and k³ more. Redundant rows are left
out by their pivots. Use it for long chains and large trees at the level of accelerations.

Reference: Baraff, Linear-time dynamics using Lagrange multipliers, 1996; Bender, dissertation, §2.1.3.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.mirror import seen
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.maths.dense_factor import make_dense_factor
from rattleback.problem.by_forces.joint_forces import JointLaw
from rattleback.problem.joint_rows import JointRows
from rattleback.solvers.joints.connections import find_closing
from rattleback.solvers.joints.levels import baumgarte_law, check_level
from rattleback.solvers.joints.tree_system import (
    factor_tree,
    make_tree,
    respond_to_closing,
    solve_tree,
    solve_with_closing,
    want_of_closing,
)


@sealed
@dataclass(frozen=True)
class Baraff:
    """Lagrange multipliers in linear time.

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
        checks.not_negative(self.alpha, "The alpha of Baraff")
        checks.not_negative(self.beta, "The beta of Baraff")

    @property
    def law(self) -> JointLaw:
        """How errors decay."""
        return baumgarte_law(self.stabilisation, self.alpha, self.beta)

    def prepare(self, problem: JointRows, inertias: Any) -> "PreparedBaraff":
        """Find the order of elimination."""
        return PreparedBaraff(problem, inertias)


class PreparedBaraff:
    """The tree and the closing joints of one model.

    Attributes:
        roots: Moving bodies of a world that are roots, of parts that hang from nothing.
        tree: Joints of a world's tree in the order of elimination, each with the body on its side away from the root
            and the one towards it, −1 where that does not move.
        closing: Joints of a world that close loops.
    """

    def __init__(self, problem: JointRows, inertias: Any) -> None:
        self.problem, self.inertias, model = problem, inertias, problem.model
        self.closing = sorted(find_closing(problem))
        self.tree = order_of(problem, set(self.closing))
        children, towards = ({hold[side] for hold in self.tree} for side in (1, 2))
        self.roots = sorted(towards - children - {-1})
        self.system = make_tree(problem, self.tree, self.roots, self.closing)
        size = int(problem.counts[self.closing].sum())
        self.dense = make_dense_factor(size, model.worlds, model.device) if size else None
        self.everywhere = wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)
        self.parts = (problem.joints, problem.rows, self.system)

    @property
    def blocks(self) -> int:
        """Blocks of the factor on and below the diagonal, in one world: those of the matrix and no others."""
        bodies = {body for _, child, parent in self.tree for body in (child, parent)} - {-1}
        held = sum(1 + (parent >= 0) for _, _, parent in self.tree)
        return len(bodies) + len(self.tree) + held

    def record_preparation(self, program: Program, which: Any) -> None:
        """Factor the trees and the closing systems, in the worlds where ``which`` is 1."""
        worlds = self.problem.model.worlds
        joints, rows, tree = self.parts
        program.launch(factor_tree, worlds, joints, self.problem.model.bodies, rows, tree, self.inertias, which)
        if self.dense is not None:
            program.launch(respond_to_closing, worlds, *self.parts, self.dense.systems, which)
            self.dense.record_factor(program, which)

    def record_solution(self, program: Program) -> None:
        """Multipliers for the wanted accelerations."""
        worlds = self.problem.model.worlds
        program.launch(solve_tree, worlds, *self.parts)
        if self.dense is not None:
            program.launch(want_of_closing, worlds, *self.parts, self.dense.systems)
            self.dense.record_solution(program, self.everywhere)
            program.launch(solve_with_closing, worlds, *self.parts, self.dense.systems)

    def redundant_rows(self) -> np.ndarray:
        """Rows of every joint that others imply, shape (worlds, joints)."""
        worlds = self.problem.model.worlds
        found = np.array(seen(self.system.data.dropped)).reshape(worlds, -1)
        if self.dense is not None:
            dropped = np.array(seen(self.dense.systems.dropped)).reshape(worlds, -1)
            at = 0
            for joint in self.closing:
                count = int(self.problem.counts[joint])
                found[:, joint] = dropped[:, at : at + count].sum(axis=1)
                at += count
        return found


def order_of(problem: JointRows, closing: set[int]) -> list[tuple[int, int, int]]:
    """The joints of the tree, leaves first, each with the body away from the root and the body towards it.

    Everything that does not move is the root; a part that hangs from nothing has its first body for one.
    """
    beside: dict[int, list[tuple[int, int]]] = {-1: []}
    for joint, (a, b) in enumerate(problem.pairs.tolist()):
        if joint not in closing:
            beside.setdefault(a, []).append((b, joint))
            beside.setdefault(b, []).append((a, joint))
    found: list[tuple[int, int, int]] = []
    reached: set[int] = set()
    for root in sorted(beside):
        if root in reached:
            continue
        reached.add(root)
        waiting = [root]
        for body in waiting:
            for other, joint in beside[body]:
                if other not in reached:
                    reached.add(other)
                    found.append((joint, other, body))
                    waiting.append(other)
    return found[::-1]
