"""Semi-implicit (symplectic) Euler step: velocities first, then positions with the new velocities.

    v₁ = v₀ + h F/m              x₁ = x₀ + h v₁
    ω₁ = ω₀ + h J⁻¹(τ − ω × J ω)   q₁ = exp(h ω₁) q₀

Loads at the start of the step. First order; symplectic for the translation, so its energy does not drift
there, but a constant force's parabola is off by h/2 · h F/m a step.

Cost: one force evaluation. The step most game engines take; here for comparison with them.

Reference: Bender, dissertation, B.1.1; overview of physics engines (time stepping q⁺ = q + h Q v⁺).
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.maths.spin import angular_acceleration
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import StepContext


@kernel
def velocity_then_position(bodies: Bodies, start: Motion, loads: Loads, clock: Clock, end: Motion) -> None:
    """One step of one body."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    q = start.orientation[i]
    w = start.angular_velocity[i]
    v = start.velocity[i] + h * bodies.inverse_mass[i] * loads.force[i]
    w1 = w + h * angular_acceleration(q, w, loads.torque[i], bodies.inertia[i], bodies.inverse_inertia[i])
    end.velocity[i] = v
    end.position[i] = start.position[i] + h * v
    end.angular_velocity[i] = w1
    end.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w1) * q)


@sealed
@dataclass(frozen=True)
class SemiImplicitEuler:
    """First order; velocities first, positions with the new ones."""

    order: ClassVar[int] = 1
    forces_at: ClassVar[float] = 0.0
    tolerance: ClassVar[float] = 0.0

    def record_forces(self, context: StepContext) -> None:
        """The forces at the start of the step."""
        context.evaluate(context.now, context.loads)

    def record_prediction(self, context: StepContext) -> None:
        """Velocities, then positions."""
        context.for_bodies(velocity_then_position, context.start, context.loads, context.state.clock, context.predicted)
