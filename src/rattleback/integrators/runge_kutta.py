"""Explicit Runge–Kutta steps for free bodies, one set of kernels for every tableau.

    k_s = f(t + c_s h, y₀ + h Σ_j a_sj k_j),   y₁ = y₀ + h Σ_s b_s k_s,   y = (x, q, v, ω)
    f = (v, ½ ω ⊗ q, F/m, J⁻¹(τ − ω × J ω))

x, q, v, ω position, quaternion, velocity, angular velocity; F, τ loads; a, b, c the tableau. Stage values of
the quaternion are brought back to unit length before use, which does not change the order.

Cost: one force evaluation per stage. Smooth motion only; nothing is kept exactly but a constant force's parabola
(from order two on).

Reference: Bender, dissertation, B.1.1 (Euler), B.1.3 (fourth order).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core.arrays import allocate, field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.core.sealed import sealed
from rattleback.maths.quat import quat_rate
from rattleback.maths.spin import angular_acceleration
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment, StepContext


@group(axis="rates")
class Rates:
    """Time derivatives of the motion; stage s of body i is row s * bodies + i."""

    position: vec3 = field("m/s", "of the position")
    orientation: quat = field("1/s", "of the quaternion")
    velocity: vec3 = field("m/s²", "of the velocity")
    angular_velocity: vec3 = field("rad/s²", "of the angular velocity")


@dataclass(frozen=True)
class Tableau:
    """The coefficients of a Runge–Kutta method."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]


@kernel
def stage_rates(bodies: Bodies, motion: Motion, loads: Loads, rates: Rates, first: int) -> None:
    """F at a stage, into rows from ``first`` on."""
    i = wp.tid()
    q = motion.orientation[i]
    w = motion.angular_velocity[i]
    rates.position[first + i] = motion.velocity[i]
    rates.orientation[first + i] = quat_rate(q, w)
    rates.velocity[first + i] = bodies.inverse_mass[i] * loads.force[i]
    rates.angular_velocity[first + i] = angular_acceleration(
        q, w, loads.torque[i], bodies.inertia[i], bodies.inverse_inertia[i]
    )


@kernel
def advance_along(
    bodies: Bodies, start: Motion, clock: Clock, rates: Rates, weights: wp.array[real], end: Motion
) -> None:
    """y₀ + h Σ weight_s k_s."""
    i = wp.tid()
    n = bodies.world.shape[0]
    h = real(clock.time_step[bodies.world[i]])
    x = start.position[i]
    q = start.orientation[i]
    v = start.velocity[i]
    w = start.angular_velocity[i]
    for s in range(weights.shape[0]):
        f = h * weights[s]
        x += f * rates.position[s * n + i]
        q += f * rates.orientation[s * n + i]
        v += f * rates.velocity[s * n + i]
        w += f * rates.angular_velocity[s * n + i]
    end.position[i] = x
    end.orientation[i] = wp.normalize(q)
    end.velocity[i] = v
    end.angular_velocity[i] = w


def record_stages(context: StepContext, tableau: Tableau, start: Moment, rates: Rates, given: bool) -> None:
    """Record the evaluation of every k_s; with ``given``, the context has the loads of the first."""
    n, stage, met = context.model.count, context.scratch(Motion), context.scratch(Loads)
    for s, (row, c) in enumerate(zip(tableau.a, tableau.c, strict=True)):
        moment = start if s == 0 else Moment(stage, start.clock, c)
        loads = context.loads if s == 0 and given else met
        if s > 0:
            context.for_bodies(advance_along, start.motion, start.clock, rates, coefficients(context, row), stage)
        if s > 0 or not given:
            context.evaluate(moment, loads)
        context.for_bodies(stage_rates, moment.motion, loads, rates, s * n)


def coefficients(context: StepContext, values: tuple[float, ...]) -> Any:
    """Coefficients as a device array."""
    return wp.array(np.array(values, dtype=numpy_real), dtype=real, device=context.model.device)


def new_rates(context: StepContext, tableau: Tableau) -> Rates:
    """Room for the rates of every stage."""
    return allocate(Rates, {"rates": len(tableau.b) * context.model.count}, context.model.device)


def record_fixed_step(context: StepContext, tableau: Tableau) -> None:
    """Record all stages and their weighted sum; the loads of the first stage are in the step context already."""
    rates = new_rates(context, tableau)
    record_stages(context, tableau, context.now, rates, given=True)
    weights = coefficients(context, tableau.b)
    context.for_bodies(advance_along, context.start, context.state.clock, rates, weights, context.predicted)


@sealed
@dataclass(frozen=True)
class ExplicitEuler:
    """First order, y₁ = y₀ + h f(y₀); gains energy. For comparison."""

    order: ClassVar[int] = 1
    forces_at: ClassVar[float] = 0.0
    tolerance: ClassVar[float] = 0.0
    tableau: ClassVar[Tableau] = Tableau(((),), (1.0,), (0.0,))

    def record_forces(self, context: StepContext) -> None:
        """The forces at the start of the step."""
        context.evaluate(context.now, context.loads)

    def record_prediction(self, context: StepContext) -> None:
        """Along the rates at the start."""
        record_fixed_step(context, self.tableau)


@sealed
@dataclass(frozen=True)
class RK4:
    """The classical method of fourth order."""

    order: ClassVar[int] = 4
    tolerance: ClassVar[float] = 0.0
    tableau: ClassVar[Tableau] = Tableau(
        ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0)
    )

    def record_forces(self, context: StepContext) -> None:
        """The forces at the start of the step."""
        context.evaluate(context.now, context.loads)

    def record_prediction(self, context: StepContext) -> None:
        """The three other stages, then the weighted sum of all."""
        record_fixed_step(context, self.tableau)
