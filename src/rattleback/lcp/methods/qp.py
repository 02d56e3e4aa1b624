"""The convex laws as a quadratic program, by a primal–dual interior-point method or by Clarabel.

    min ½ xᵀW x + qᵀx,   G x + g ∈ K          conditions:  W x + q = Gᵀz,   s = G x + g,   s ∘ z = 0,   s, z ∈ K

x impulses, K second-order cones and half lines (``lcp.forms.conic``), G scales normals by μ, z multipliers.

Algorithm:
    1. s and z inside K
    2. affine direction: (W + Gᵀ S⁻² G) Δx = …, S scaling of Nesterov and Todd
    3. centring σ = (1 − α)³ from its length α, corrected direction (Mehrotra), 0.99 of the way to the boundary, shorter
       where a cone would be left with less than a hundredth of the mean gap
    4. until the residual is within the tolerance, or steps have no length

Cost: one dense factorisation O(rows³) a step, 8 to 25 steps whatever the problem. ``most_rows`` is the limit.

When to use it: ``frictionless`` and ``cone`` to 1e-9 or better without tuning; redundant W is no trouble. It does not
solve Coulomb's law, which is no optimisation problem. The conditions are solved as they stand, so W may be slightly
unsymmetric; ``backend="clarabel"`` needs it symmetric and the package ``clarabel``.

Reference: document 000, the quadratic programs of contact (2–3, 7); Vandenberghe, The CVXOPT linear and quadratic cone
program solvers (2010), §5; Goulart and Chen, Clarabel, arXiv 2405.12762.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.linalg as la

from rattleback.core.errors import InputError
from rattleback.lcp.forms.conic import Scaling, determinant, divide, longest, product
from rattleback.lcp.forms.conic_program import ConicProgram
from rattleback.lcp.forms.factor import factorise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

Direction = tuple["NDArray[np.float64]", "list[NDArray[np.float64]]", "list[NDArray[np.float64]]"]
BACKENDS = ("own", "clarabel")
# Part of the way to the boundary, and the length of a step that is none.
SHORT_OF, NO_STEP = 0.99, 1e-9
# A step of this length needs no other direction.
LONG_ENOUGH = 0.1
# Least share of the mean gap that every cone keeps, and the factor by which steps are shortened for it.
CENTRAL, SHORTER = 1e-2, 0.8


@dataclass(frozen=True)
class QP:
    """Interior-point method for the convex laws.

    Attributes:
        backend: ``"own"`` or ``"clarabel"``.
        iterations: Largest number of steps.
    """

    backend: str = "own"
    iterations: int = 100

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "cone")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 1800

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InputError(f"The backend of qp is {self.backend!r}; it may be 'own' or 'clarabel'.")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Step until the watch says stop or steps have no length."""
        program = ConicProgram(problem, law)
        if self.backend == "clarabel":
            from rattleback.lcp.forms.clarabel_backend import solve_by_clarabel

            solve_by_clarabel(program, watch)
            return
        point = _Point(program)
        while not watch.see(program.impulse(point.x)):
            if not point.advance():
                watch.stop(
                    f"stalled: the interior-point step has no length, residual {watch.best_error:.3g} m/s "
                    f"(W may not be positive semidefinite, or the tolerance is below what rounding allows)"
                )
                return


class _Point:
    """The variables of the interior-point method.

    Args:
        program: The program.
    """

    def __init__(self, program: ConicProgram) -> None:
        self.program = program
        self.x = program.inside()
        self.s = [group.slack(self.x) for group in program.groups]
        size = max(float(np.abs(program.q).max(initial=0.0)), 1e-12)
        self.z = []
        for s in self.s:
            z = np.zeros_like(s)
            z[:, 0] = size
            self.z.append(z)

    def advance(self) -> bool:
        """One step; False where it has no length."""
        try:
            scalings = [Scaling.between(s, z) for s, z in zip(self.s, self.z, strict=True)]
            system = _System(self, scalings)
            for direction in self._directions(system):
                alpha = self._central_part(*direction[1:])
                if alpha >= LONG_ENOUGH:
                    break
        except la.LinAlgError:
            return False
        dx, ds, dz = direction
        if not np.isfinite(dx).all() or alpha < NO_STEP:
            return False
        self.x = self.x + alpha * dx
        self.s = [s + alpha * d for s, d in zip(self.s, ds, strict=True)]
        self.z = [z + alpha * d for z, d in zip(self.z, dz, strict=True)]
        return True

    def _directions(self, system: _System) -> Iterator[Direction]:
        """Mehrotra's direction, then one that only brings all cones to half of the mean gap."""
        sizes = [product(L, L) for L in system.lengths]
        gap = sum(float(size[:, 0].sum()) for size in sizes) / max(sum(len(size) for size in sizes), 1)
        _, ds, dz = system.direction([-size for size in sizes])
        centring = (1.0 - self._reach(ds, dz)) ** 3
        targets = [-size for size in sizes]
        for target, scaling, a, b in zip(targets, system.scalings, ds, dz, strict=True):
            target -= product(scaling.inverse_times(a), scaling.times(b))
            target[:, 0] += centring * gap
        yield system.direction(targets)
        targets = [-size for size in sizes]
        for target in targets:
            target[:, 0] += 0.5 * gap
        yield system.direction(targets)

    def _central_part(self, ds: list[NDArray[np.float64]], dz: list[NDArray[np.float64]]) -> float:
        """The part of a step after which no cone has far less than its share of the gap."""
        if not self.s:
            return 1.0
        alpha = min(1.0, SHORT_OF * self._reach(ds, dz))
        while alpha >= NO_STEP:
            s = [a + alpha * d for a, d in zip(self.s, ds, strict=True)]
            z = [a + alpha * d for a, d in zip(self.z, dz, strict=True)]
            shares = np.concatenate([determinant(a) * determinant(b) for a, b in zip(s, z, strict=True)])
            gaps = np.concatenate([(a * b).sum(axis=1) for a, b in zip(s, z, strict=True)])
            if (shares > (CENTRAL * gaps.mean()) ** 2).all():
                break
            alpha *= SHORTER
        return alpha

    def _reach(self, ds: list[NDArray[np.float64]], dz: list[NDArray[np.float64]]) -> float:
        """The way to the boundary of the cones, 1 at most."""
        pairs = [*zip(self.s, ds, strict=True), *zip(self.z, dz, strict=True)]
        return min((longest(a, d) for a, d in pairs), default=1.0)


class _System:
    """The linear system of one step.

    Args:
        point: Where it is taken.
        scalings: The scalings there.
    """

    def __init__(self, point: _Point, scalings: list[Scaling]) -> None:
        program = self.program = point.program
        self.scalings = scalings
        self.lengths = [scaling.times(z) for scaling, z in zip(scalings, point.z, strict=True)]
        self.dual_rest = program.W @ point.x + program.q
        matrix = program.W.copy()
        self.rests = []
        for group, scaling, s, z in zip(program.groups, scalings, point.s, point.z, strict=True):
            self.dual_rest = self.dual_rest - group.back(z)
            self.rests.append(s - group.slack(point.x))
            group.add_to(matrix, scaling.inverse_squared())
        self.solve = factorise(matrix)

    def direction(self, targets: list[NDArray[np.float64]]) -> Direction:
        """Changes of x, s and z with λ ∘ (S Δz + S⁻¹ Δs) = target."""
        groups = list(zip(self.program.groups, self.scalings, self.lengths, self.rests, targets, strict=True))
        right = -self.dual_rest
        pulls = []
        for group, scaling, lengths, rest, target in groups:
            pull = scaling.inverse_times(divide(lengths, target))
            pulls.append(pull)
            right = right + group.back(pull + scaling.inverse_times(scaling.inverse_times(rest)))
        dx = self.solve(right)
        ds = [group.forth(dx) - rest for group, _, _, rest, _ in groups]
        dz = [
            pull - scaling.inverse_times(scaling.inverse_times(d))
            for pull, (_, scaling, _, _, _), d in zip(pulls, groups, ds, strict=True)
        ]
        return dx, ds, dz
