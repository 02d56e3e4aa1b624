"""Accelerated projected gradient descent: all contact points at once, with momentum, adaptive steps and restarts.

    t = P(y − τ ρ ĝ(y)),   y = p + β (p − p'),   β = (θ' − 1) / θ,   θ = (1 + √(1 + 4 θ'²)) / 2

p impulses, P projection on the cones, ρ = 3 / tr K of each point, ĝ velocities with the De Saxcé shift μ |g_t| n under
``coulomb``, renewed in every iteration, without it under ``cone``; τ the inverse of a bound of ρ W, found on the way:

    d·W d > d·d / (τ ρ)            the step was too long:   τ ← d·d/ρ / (1.05 d·W d);   else τ ← 1.02 τ
    (y − t)·(t − p) / ρ > 0        momentum leads uphill:   it begins anew, θ = 1, β = 0

Under ``cone`` this minimises ½ p·W p + q·p, and the error falls with the square of the iterations; Coulomb's law has no
such bound, but the best impulses are kept.

Cost: see ``solvers.descent``; iterations grow with the root of the condition number, where sweeps grow with the number
itself. Use it for large heaps that sweeps leave unfinished and on a GPU, where manifolds need no order; in towers
``BlockGaussSeidel`` is far ahead, as its blocks are exact.

Reference: Nesterov (1983); O'Donoghue, Candès (2015), restarts; Mazhar, Heyn, Negrut, Tasora (2015), for contacts.
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

# Growth of the step length in an iteration that went well, its margin after one that did not, and its least part then.
GROWTH, MARGIN, LEAST_PART = wp.constant(real(1.02)), wp.constant(real(1.05)), wp.constant(real(0.25))


@kernel
def decide_accelerated(status: SolverStatus, steps: Steps) -> None:
    """The trial is taken; step length and momentum of the next."""
    w = wp.tid()
    if status.busy[w] == 0:
        return
    curvature = steps.first[w][0]
    square = steps.first[w][1]
    steps.part[w] = real(1.0)
    steps.momentum[w] = real(0.0)
    weight = steps.weight[w]
    steps.weight[w] = real(1.0)
    if not steps.first[w][2] > real(0.0):
        steps.weight[w] = real(0.5) * (real(1.0) + wp.sqrt(real(1.0) + real(4.0) * weight * weight))
        steps.momentum[w] = (weight - real(1.0)) / steps.weight[w]
    # Momentum stays where the step is shortened: beginning anew each time would take five times as many iterations.
    if curvature * steps.step[w] > square:
        steps.step[w] = wp.max(square / (MARGIN * curvature), LEAST_PART * steps.step[w])
    else:
        steps.step[w] = GROWTH * steps.step[w]


@sealed
@dataclass(frozen=True)
class AcceleratedGradient:
    """All contact points at once, with momentum.

    Attributes:
        sweeps: Most iterations of one problem.
    """

    sweeps: int = 200

    laws: ClassVar[tuple[str, ...]] = ("coulomb", "cone", "frictionless")

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of AcceleratedGradient")

    def bind(self, problem: ContactProblem) -> FirstOrder:
        """The solver of a problem."""
        return FirstOrder(problem, decide_accelerated)
