"""Corrections of a manifold by the law of friction: point by point, or as a block where it sticks.

A block that sticks is a solution under every law: its velocity is zero, and its impulses are within the cone. Else
points go one after the other, under ``cone`` with all three components at once, under ``pyramid`` along the normal and
then each tangent for itself. Without friction the coefficients are zero, and Coulomb's arithmetic does.
"""

from functools import cache
from typing import Any

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import (
    is_at_rest,
    is_satisfied,
    is_separating,
    solve_block,
    solve_manifold,
    solve_normal_block,
    solve_normal_point,
    solve_normal_points,
    solve_sticking_block,
)
from rattleback.solvers.contacts.kernels.box_point import solve_box_point
from rattleback.solvers.contacts.kernels.cone_point import solve_cone_point
from rattleback.solvers.contacts.kernels.friction import has_resistance, solve_resistance
from rattleback.solvers.contacts.kernels.point import solve_points, solve_twist_by_points
from rattleback.solvers.contacts.kernels.twist import Twist, apply_twist, make_twist
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, ManifoldPoints, Manifolds, twist_of


@wp.func
def finish_resistance(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The resisting moments of a manifold whose twist along the normal has the change by friction in it."""
    if has_resistance(manifolds, k):
        twist.normal -= wp.transpose(manifolds.block_tn[k]) * twist.tangent_impulse
        twist = solve_resistance(manifolds, points, k, twist)
    return twist


@wp.func
def solve_twist_by_cones(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The wrench that corrects a manifold under ``cone``, point by point, forward and backward."""
    first = manifolds.first[k]
    count = manifolds.count[k]
    for i in range(count):
        twist = solve_cone_point(manifolds, points, k, first + i, twist)
    for i in range(1, count):
        twist = solve_cone_point(manifolds, points, k, first + count - 1 - i, twist)
    return finish_resistance(manifolds, points, k, twist)


@wp.func
def solve_twist_by_boxes(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The wrench that corrects a manifold under ``pyramid``, point by point."""
    first = manifolds.first[k]
    block_tn = manifolds.block_tn[k]
    for c in range(first, first + manifolds.count[k]):
        pushed = twist.normal_impulse
        twist = solve_normal_point(manifolds.block_nn[k], points, c, twist)
        twist.tangent += block_tn * (twist.normal_impulse - pushed)
        rubbed = twist.tangent_impulse
        twist = solve_box_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)
        twist.normal += wp.transpose(block_tn) * (twist.tangent_impulse - rubbed)
    return finish_resistance(manifolds, points, k, twist)


@wp.func
def solve_cone_manifold(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The wrench that corrects a manifold under ``cone``: as one block if it sticks."""
    holds = bool(False)
    if manifolds.as_block[k] == 1 and not has_resistance(manifolds, k):
        twist, holds = solve_sticking_block(manifolds, points, k, twist)
        if holds:
            return twist
    return solve_twist_by_cones(manifolds, points, k, twist)


@wp.func
def solve_box_manifold(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The wrench that corrects a manifold under ``pyramid``: as one block if it sticks, or along the normal."""
    holds = bool(False)
    if manifolds.as_block[k] == 1:
        if not has_resistance(manifolds, k):
            twist, holds = solve_sticking_block(manifolds, points, k, twist)
            if holds:
                return twist
        twist, holds = solve_normal_block(manifolds, points, k, twist)
    if not holds:
        twist = solve_normal_points(manifolds, points, k, twist)
    twist.tangent += manifolds.block_tn[k] * twist.normal_impulse
    first = manifolds.first[k]
    count = manifolds.count[k]
    for i in range(2 * count - 1):
        c = first + wp.min(i, 2 * count - 2 - i)
        twist = solve_box_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)
    if has_resistance(manifolds, k):
        twist = solve_resistance(manifolds, points, k, twist)
    return twist


@wp.func
def is_cone_satisfied(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> bool:
    """Whether a manifold needs no correction under ``cone``, where also a point that separates may push."""
    return is_at_rest(manifolds, points, k, twist) and not has_resistance(manifolds, k)


@cache
def corrects(solve_twist: Any, satisfied: Any) -> Any:
    """The correction of the velocities of a manifold, of what finds its wrench.

    Args:
        solve_twist: A ``@wp.func`` (manifolds, points, k, twist).
        satisfied: The same, whether there is nothing to correct.
    """

    @wp.func
    def correct(bodies: Bodies, system: ContactSystem, motion: Motion, k: int) -> tuple[real, real]:
        u, w = twist_of(system.manifolds, motion, k)
        twist = make_twist(u + system.manifolds.bias[k], w + system.manifolds.angular_bias[k])
        if satisfied(system.manifolds, system.points, k, twist):
            return real(0.0), real(0.0)
        twist = solve_twist(system.manifolds, system.points, k, twist)
        apply_twist(bodies, system, motion, k, twist)
        return twist.normal_residual, wp.sqrt(twist.tangential_residual_squared)

    return correct


def twist_solver(law: str) -> Any:
    """What finds the wrench of a manifold point by point under a law."""
    return {"cone": solve_twist_by_cones, "pyramid": solve_twist_by_boxes}.get(law, solve_twist_by_points)


def point_correction(law: str) -> Any:
    """The correction of a manifold point by point under a law."""
    if law == "cone":
        return corrects(solve_twist_by_cones, is_cone_satisfied)
    return corrects(solve_twist_by_boxes, is_separating) if law == "pyramid" else solve_points


def block_twist(law: str) -> tuple[Any, Any]:
    """What finds the wrench of a manifold as a block where it can be, and whether there is nothing to correct."""
    found = {"cone": (solve_cone_manifold, is_cone_satisfied), "pyramid": (solve_box_manifold, is_satisfied)}
    return found.get(law, (solve_block, is_satisfied))


def block_correction(law: str) -> Any:
    """The correction of a manifold as a block where it can be, under a law."""
    return corrects(*block_twist(law)) if law in ("cone", "pyramid") else solve_manifold
