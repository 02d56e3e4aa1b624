"""Barzilai–Borwein: projected gradient steps as long as the curvature of the last step says.

    t = P(p − τ ρ û(p)),   d = t − p,   p ← p + λ d
    λ = 1 where that does not raise f,   else −d·û / d·W d, where f is least on the way
    τ ← d·d/ρ / d·W d   and   d·W d / ρ (W d)²   in turn

f = ½ p·W p + q·p with the De Saxcé shift of the present velocities in q, ρ = 3 / tr K of each point, û velocities with
that shift under ``coulomb``, without it under ``cone`` and ``frictionless``. The two lengths are the longest and the
shortest that the last step suggests; λ is the safeguard without which they may cycle.

Cost: see ``solvers.descent``; about as many iterations as ``apgd``, without momentum to lose when contacts change.
Use it to compare, and where ``apgd`` restarts too often.

Reference: Barzilai, Borwein (1988); Dai, Fletcher (2005), projected; Heyn, Anitescu, Tasora, Negrut (2013), contacts.
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.status import SolverStatus
from rattleback.solvers.contacts.solvers.descent import FirstOrder
from rattleback.solvers.contacts.solvers.descent_rows import Steps

# Bounds of the step length, in parts of ρ.
SHORTEST, LONGEST = wp.constant(real(1e-3)), wp.constant(real(1e3))
HALF = wp.constant(real(0.5))


@kernel
def decide_by_curvature(status: SolverStatus, steps: Steps) -> None:
    """How much of the trial is taken, and the length of the next step."""
    w = wp.tid()
    if status.busy[w] == 0:
        return
    curvature = steps.first[w][0]
    square = steps.first[w][1]
    slope = steps.second[w][0]
    steps.part[w] = real(1.0)
    if curvature > real(0.0):
        least = -slope / curvature
        if least < HALF and least > real(0.0):
            steps.part[w] = least
        long = square / curvature
        short = curvature / steps.second[w][1]
        steps.step[w] = wp.clamp(wp.where(status.sweeps[w] % 2 == 0, long, short), SHORTEST, LONGEST)


@sealed
@dataclass(frozen=True)
class BarzilaiBorwein:
    """Projected gradient steps of the length that the last one suggests.

    Attributes:
        sweeps: Most iterations of one problem.
    """

    sweeps: int = 200

    laws: ClassVar[tuple[str, ...]] = ("coulomb", "cone", "frictionless")

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of BarzilaiBorwein")

    def bind(self, problem: ContactProblem) -> FirstOrder:
        """The solver of a problem."""
        return FirstOrder(problem, decide_by_curvature)
