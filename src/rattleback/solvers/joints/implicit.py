"""Implicit joint method: soft joints as forces at the end of the step or in its middle, found by Newton's method.

    M (u − u₀) = τ (F(y₀ exp(τ u), u) + Jᵀ λ),    e(y₀ exp(h u)) = 0

u velocities, F forces of soft rows and all others, λ forces of the rows that hold and e their errors, h the step;
τ = h is implicit Euler, τ = h/2 the implicit midpoint rule. The iteration is in ``problem.soft.newton``, the matrix
with one block of 6 × 6 for each body and each hard joint in ``problem.soft.system``.

    start from the velocities there are;  forces and their Jacobian at the pose;  block-sparse L U;  a better u and λ
    until no velocity changes by more than the tolerance;  then velocities that fit the rows that hold
Cost: linear in bodies and joints on a tree, three to six iterations a step. Use it for soft joints whose motion is
wanted, not only their hold: the Jacobian is the exact one, and the midpoint rule is of second order and damps nothing.
Limits of joints, contacts, sleep, armature and friction are left to the methods by impulses, where a soft row yields.

Reference: Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8; the Jacobians of soft constraints are those
of the notes on derivatives of constraints of rigid bodies, with the blocks between bodies and the second derivatives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.precision import epsilon
from rattleback.core.sealed import sealed
from rattleback.joints.stop import stops_of

JACOBIANS = ("exact", "gauss_newton", "body_by_body", "explicit")
RULES = ("euler", "midpoint")
INSTEAD = "joints='direct' or 'iterative'"


@sealed
@dataclass(frozen=True)
class Implicit:
    """Soft joints as forces, found by Newton's method with the Jacobian of all of them.

    Args:
        jacobian: ``"exact"``: with second derivatives of the rows, converges quadratically; ``"gauss_newton"``: without
            them, −k JᵀJ; ``"body_by_body"``: that without what one body does to another; ``"explicit"``: soft forces
            are those of the start of the step and have no Jacobian.
        rule: ``"euler"``, of first order and damping, or ``"midpoint"``, of second order.
        tolerance: Largest change of a velocity in the last iteration, relative to one plus its size.
        max_iterations: Iterations a step may take; past that it is reported as not converged.
    """

    jacobian: str = "exact"
    rule: str = "euler"
    tolerance: float = 1e-10 if epsilon < 1e-10 else 1e-5
    max_iterations: int = 50

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.one_of(self.jacobian, JACOBIANS, "The jacobian of Implicit")
        checks.one_of(self.rule, RULES, "The rule of Implicit")
        object.__setattr__(self, "tolerance", checks.positive(self.tolerance, "The tolerance of Implicit"))
        checks.count(self.max_iterations, "The max_iterations of Implicit")

    def prepare(self, problem: Any) -> Any:
        """Refused: it holds no rows beside other methods, but moves all bodies.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"Implicit moves all bodies of {problem.model.scene.name!r} and finds no impulses of single joints; choose "
            'it for all joints, joints="implicit".'
        )


def is_implicit(method: object) -> bool:
    """Whether a joint method moves all bodies by an implicit rule."""
    return isinstance(method, Implicit)


def check_implicit(methods: Any, scene: Any, can_meet: bool) -> None:
    """Refuse scenes and settings that an implicit step has no answer to.

    Args:
        methods: The settings, with ``resolves``, ``contact_time`` and ``sleep``.
        scene: The scene.
        can_meet: Whether it has bodies that may touch.
    """
    for label, joint in scene.joints.items():
        if stops_of(joint):
            raise InputError(
                f"Joint {label!r} has limits, which joints='implicit' cannot hold: a limit is hit and pushes to one "
                f"side only. {INSTEAD} can, or leave the limits out."
            )
    for label, force in scene.forces.items():
        if math.isfinite(getattr(force, "limit", math.inf)) and hasattr(force, "drive_rows"):
            raise InputError(
                f"Force {label!r} has a limit inside the constraint solve, which joints='implicit' cannot hold: it is "
                f"a kink in the force. {INSTEAD} can, or leave the limit out."
            )
    if methods.resolves and can_meet:
        raise InputError(
            "joints='implicit' finds forces and cannot be combined with contacts, which are impulses between bodies "
            f"that may touch in this scene. contacts='detect' or 'none' works, or {INSTEAD}, where soft joints yield."
        )
    if methods.contact_time != "off":
        raise InputError(
            f"joints='implicit' takes whole steps, and contact_time={methods.contact_time!r} shortens them. "
            f"contact_time='off' works, or {INSTEAD}."
        )
    if methods.sleep:
        raise InputError(f"joints='implicit' does not let bodies sleep. sleep=False works, or {INSTEAD}.")
