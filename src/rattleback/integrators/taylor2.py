"""Taylor step of second order: the motion's series up to h², with the loads' rate taken along the flow.

    x₁ = x₀ + h v₀ + h²/2 F/m              v₁ = v₀ + h F/m + h²/2 Ḟ/m
    q₁ = q₀ ⊗ exp(h ω + h²/2 ω̇)            ω₁ = ω + h ω̇ + h²/2 ω̈
    ω̇ = J⁻¹(τ − ω × J ω),  ω̈ = J⁻¹(τ̇ − ω̇ × J ω − ω × J ω̇)      (ω, τ in the body's frame)

Ḟ, τ̇ rates of the loads, from a second evaluation one Euler step further: Ḟ = (F(y₀ + h f) − F(y₀))/h, an error of
order h that the series multiplies by h². A constant force gives the exact parabola.

Cost: two force evaluations a step. Explicit and cheap; nothing is conserved exactly.

Reference: Bender, dissertation, B.1.2 (Taylor series).
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.maths.quat import quat_from_rotation_vector, rotate, rotate_back
from rattleback.maths.spin import angular_acceleration, local_angular_acceleration
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment, StepContext


@kernel
def euler_probe(bodies: Bodies, start: Motion, loads: Loads, clock: Clock, probe: Motion) -> None:
    """Where an Euler step leads: the place the loads' rate is taken from."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    q = start.orientation[i]
    w = start.angular_velocity[i]
    probe.position[i] = start.position[i] + h * start.velocity[i]
    probe.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w) * q)
    probe.velocity[i] = start.velocity[i] + h * bodies.inverse_mass[i] * loads.force[i]
    rate = angular_acceleration(q, w, loads.torque[i], bodies.inertia[i], bodies.inverse_inertia[i])
    probe.angular_velocity[i] = w + h * rate


@kernel
def translate(bodies: Bodies, start: Motion, loads: Loads, later: Loads, clock: Clock, end: Motion) -> None:
    """The series of position and velocity."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    a = bodies.inverse_mass[i] * loads.force[i]
    a1 = bodies.inverse_mass[i] * later.force[i]
    end.position[i] = start.position[i] + h * (start.velocity[i] + real(0.5) * h * a)
    end.velocity[i] = start.velocity[i] + real(0.5) * h * (a + a1)


@kernel
def turn(bodies: Bodies, start: Motion, probe: Motion, loads: Loads, later: Loads, clock: Clock, end: Motion) -> None:
    """The series of orientation and angular velocity, in the body's frame."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    half = real(0.5) * h * h
    j = bodies.inertia[i]
    inverse = bodies.inverse_inertia[i]
    q = start.orientation[i]
    w = rotate_back(q, start.angular_velocity[i])
    torque = rotate_back(q, loads.torque[i])
    torque_change = rotate_back(probe.orientation[i], later.torque[i]) - torque
    w1 = local_angular_acceleration(w, torque, j, inverse)
    w2 = inverse * (torque_change / h - wp.cross(w1, j * w) - wp.cross(w, j * w1))
    q1 = wp.normalize(q * quat_from_rotation_vector(h * w + half * w1))
    end.orientation[i] = q1
    end.angular_velocity[i] = rotate(q1, w + h * w1 + half * w2)


@sealed
@dataclass(frozen=True)
class Taylor2:
    """Second order by the series of the motion."""

    order: ClassVar[int] = 2
    tolerance: ClassVar[float] = 0.0

    def record_forces(self, context: StepContext) -> None:
        """The forces at the start of the step."""
        context.evaluate(context.now, context.loads)

    def record_prediction(self, context: StepContext) -> None:
        """The loads one Euler step further, then both series."""
        start, clock, end = context.start, context.state.clock, context.predicted
        probe, later = context.scratch(Motion), context.scratch(Loads)
        context.for_bodies(euler_probe, start, context.loads, clock, probe)
        context.evaluate(Moment(probe, clock, 1.0), later)
        context.for_bodies(translate, start, context.loads, later, clock, end)
        context.for_bodies(turn, start, probe, context.loads, later, clock, end)
