"""Successive over-relaxation (SOR): projected Gauss–Seidel whose corrections of points are taken more than once.

    p ← P(p + factor (p* − p)),     p* what projected Gauss–Seidel would give the point,   P projection on its cone

    for every manifold, for every point of it:  p* at the present velocities, the projected step, its effect

Factors above 1 pass loads on faster, in stacks by a constant; below 1 they are for contacts that fight each other. The
factor must lie between 0 and 2: beyond, sweeps diverge. A factor of 1 is ``ProjectedGaussSeidel``. The residual is that
of p*, so it is zero for the same impulses.

Cost: a quarter more than a sweep of ``pgs``. Use it to compare, with factors of 1.2 to 1.6 in towers; mass ratios need
``BlockGaussSeidel``. A new factor compiles its kernel.

Reference: Young (1971), Iterative solution of large linear systems; Erleben (2007), for contacts.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import warp as wp

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import solve_normal_point
from rattleback.solvers.contacts.kernels.box_point import solve_box_point
from rattleback.solvers.contacts.kernels.by_law import finish_resistance, point_correction
from rattleback.solvers.contacts.kernels.cone_point import solve_cone_point
from rattleback.solvers.contacts.kernels.friction import clamp_to_cone, solve_friction_point
from rattleback.solvers.contacts.kernels.laws import LAWS, project_on_cone
from rattleback.solvers.contacts.kernels.twist import Twist, apply_twist, make_twist
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, ManifoldPoints, Manifolds, moment_at, twist_of
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import iterate


@wp.func
def clamp_to_box(p: vec3, mu: real) -> vec3:
    """An impulse with each tangent clamped to its limit."""
    normal = wp.max(p[0], real(0.0))
    limit = mu * normal
    return vec3(normal, wp.clamp(p[1], -limit, limit), wp.clamp(p[2], -limit, limit))


@wp.func
def solve_coulomb_point(manifolds: Manifolds, points: ManifoldPoints, k: int, c: int, twist: Twist) -> Twist:
    """Correct a point along the normal, then across."""
    pushed = twist.normal_impulse
    twist = solve_normal_point(manifolds.block_nn[k], points, c, twist)
    twist.tangent += manifolds.block_tn[k] * (twist.normal_impulse - pushed)
    return solve_friction_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)


@wp.func
def solve_pyramid_point(manifolds: Manifolds, points: ManifoldPoints, k: int, c: int, twist: Twist) -> Twist:
    """Correct a point along the normal, then each tangent."""
    pushed = twist.normal_impulse
    twist = solve_normal_point(manifolds.block_nn[k], points, c, twist)
    twist.tangent += manifolds.block_tn[k] * (twist.normal_impulse - pushed)
    return solve_box_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)


@wp.func
def add_impulse(manifolds: Manifolds, k: int, twist: Twist, place: vec3, f: vec3) -> Twist:
    """Add an impulse at a point to the wrench of a manifold, and what it does to its twist."""
    moment = moment_at(place, f)
    normal = vec3(f[0], moment[1], moment[2])
    tangent = vec3(f[1], f[2], moment[0])
    twist.normal += manifolds.block_nn[k] * normal + wp.transpose(manifolds.block_tn[k]) * tangent
    twist.tangent += manifolds.block_tn[k] * normal + manifolds.block_tt[k] * tangent
    twist.normal_impulse += normal
    twist.tangent_impulse += tangent
    return twist


@cache
def relaxed(factor: float, law: str) -> Any:
    """The correction of a manifold with a factor under a law, as a Warp function."""
    solve_point = {"cone": solve_cone_point, "pyramid": solve_pyramid_point}.get(law, solve_coulomb_point)
    project = {"cone": project_on_cone, "pyramid": clamp_to_box}.get(law, clamp_to_cone)

    @wp.func
    def solve(bodies: Bodies, system: ContactSystem, motion: Motion, k: int) -> tuple[real, real]:
        u, w = twist_of(system.manifolds, motion, k)
        twist = make_twist(u + system.manifolds.bias[k], w + system.manifolds.angular_bias[k])
        mu = system.manifolds.friction[k]
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            before = system.points.impulse[c]
            trial = solve_point(system.manifolds, system.points, k, c, twist)
            p = project(before + real(factor) * (system.points.impulse[c] - before), mu)
            system.points.impulse[c] = p
            twist.normal_residual = trial.normal_residual
            twist.tangential_residual_squared = trial.tangential_residual_squared
            twist = add_impulse(system.manifolds, k, twist, system.points.place[c], p - before)
        twist = finish_resistance(system.manifolds, system.points, k, twist)
        apply_twist(bodies, system, motion, k, twist)
        return twist.normal_residual, wp.sqrt(twist.tangential_residual_squared)

    return solve


@sealed
@dataclass(frozen=True)
class SuccessiveOverRelaxation:
    """Points one after the other, each corrected by a multiple of what it asks for.

    Attributes:
        factor: The multiple, above 0 and below 2.
        sweeps: Most sweeps of one problem.
    """

    factor: float = 1.3
    sweeps: int = 50

    laws: ClassVar[tuple[str, ...]] = LAWS

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of SuccessiveOverRelaxation")
        if not checks.positive(self.factor, "factor of SuccessiveOverRelaxation") < 2.0:
            raise InputError(
                f"The factor of SuccessiveOverRelaxation is {self.factor!r}; it must be below 2, else sweeps diverge."
            )

    def bind(self, problem: ContactProblem) -> "BoundSuccessiveOverRelaxation":
        """The solver of a problem."""
        return BoundSuccessiveOverRelaxation(float(self.factor), problem)


class BoundSuccessiveOverRelaxation:
    """Records the sweeps; see ``core.protocols.BoundContactSolver``. Positions are corrected without a factor."""

    def __init__(self, factor: float, problem: ContactProblem) -> None:
        kernels = (drivers(relaxed(factor, problem.law)), drivers(point_correction("coulomb")))
        self.problem, self.sweeps = problem, Sweeps(problem, *kernels)

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        iterate(self.problem, lambda: self.sweeps.record(motion, goal), motion, goal, which, response)
