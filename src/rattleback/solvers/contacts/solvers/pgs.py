"""Projected Gauss–Seidel: contact points one after the other, along the normal and then within the friction cone.

    p_n ← max(p_n − (u_n + b_n) / K_nn, 0)
    p_t ← projection of  p_t − K_tt⁻¹ (u_t + b_t)  on  |p_t| ≤ μ p_n

u velocity of A against B at the point, b its bias, K = J M⁻¹ Jᵀ the 3 × 3 effective mass block of the point. Under
the laws ``cone`` and ``pyramid`` see ``kernels.cone_point`` and ``kernels.box_point``.

    for every manifold, for every point of it:  correct the normal impulse, then friction, at the present velocities

Cost: about 0.1 µs a point and sweep on a CPU. Convergence is linear and slows down with the height of a stack and with
the ratio of masses: use it for comparison and where few sweeps do; ``BlockGaussSeidel`` solves manifolds as
blocks and is accelerated.

Reference: Catto, Iterative Dynamics with Temporal Coherence, 2005; Bender, dissertation, §5.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.kernels.by_law import point_correction
from rattleback.solvers.contacts.kernels.laws import LAWS
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import iterate

if TYPE_CHECKING:
    from rattleback.model.state import Motion
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal


@sealed
@dataclass(frozen=True)
class ProjectedGaussSeidel:
    """Points one after the other.

    Attributes:
        sweeps: Most sweeps of one problem.
    """

    sweeps: int = 50

    laws: ClassVar[tuple[str, ...]] = LAWS

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of ProjectedGaussSeidel")

    def bind(self, problem: ContactProblem) -> BoundProjectedGaussSeidel:
        """The solver of a problem."""
        return BoundProjectedGaussSeidel(problem)


class BoundProjectedGaussSeidel:
    """Records the sweeps; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, problem: ContactProblem) -> None:
        kernels = (drivers(point_correction(law)) for law in (problem.law, "coulomb"))
        self.problem, self.sweeps = problem, Sweeps(problem, *kernels)

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        iterate(self.problem, lambda: self.sweeps.record(motion, goal), motion, goal, which, response)
