"""Lie-group midpoint step, the default: drift half a step, kick with the force met there, drift the other half.

    x½ = x₀ + h/2 v₀            q½, ω½ = free rotation over h/2
    v₁ = v₀ + h F½/m            L₁ = L₀ + h τ½
    x₁ = x½ + h/2 v₁            q₁, ω₁ = free rotation over h/2 with the momentum L₁

x, v, q, ω, L position, velocity, orientation, angular velocity and momentum; F½, τ½ loads at the middle.
A constant force gives the exact parabola. Without torque, energy and the angular momentum vector are kept
to rounding. When a force depends on velocity it is evaluated twice, the second time at the velocity half a
kick further, so that the order stays two.

Cost: one force evaluation a step (two with velocity-dependent forces), two small Newton solves a body.
Use it by default. For smooth motion to many digits take ``rk45`` or ``rk4``; for stiff damping ``implicit_euler``.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, II.5 (splitting) and VII.5 (rigid body).
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core.precision import epsilon, real
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.maths.spin import angular_velocity, free_rotation
from rattleback.model.bench import Bench, Diagnostics, Moment
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion

# Newton on three unknowns ends at rounding; more than this left over means it did not converge.
NOT_CONVERGED = wp.constant(real(1e5 * epsilon))


@wp.func
def turn(bodies: Bodies, source: Motion, target: Motion, i: int, h: real) -> tuple[real, int]:
    """Free rotation of one body over h; a driven body turns at its own rate. Returns residual and iterations."""
    q = source.orientation[i]
    w = source.angular_velocity[i]
    residual = real(0.0)
    iterations = int(0)
    if bodies.inverse_mass[i] == real(0.0):
        target.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w) * q)
        target.angular_velocity[i] = w
    else:
        q1, w1, residual, iterations = free_rotation(q, w, bodies.inertia[i], h)
        target.orientation[i] = q1
        target.angular_velocity[i] = w1
    return residual, iterations


@wp.kernel(enable_backward=False)
def drift_half(bodies: Bodies, start: Motion, clock: Clock, middle: Motion) -> None:
    """The first half without force: x½, q½, ω½."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    middle.position[i] = start.position[i] + half * start.velocity[i]
    middle.velocity[i] = start.velocity[i]
    turn(bodies, start, middle, i, half)


@wp.kernel(enable_backward=False)
def kick_half(bodies: Bodies, middle: Motion, loads: Loads, clock: Clock, probe: Motion) -> None:
    """The velocity in the middle of the kick, where velocity-dependent forces are taken."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    q = middle.orientation[i]
    probe.position[i] = middle.position[i]
    probe.orientation[i] = q
    probe.velocity[i] = middle.velocity[i] + half * bodies.inverse_mass[i] * loads.force[i]
    change = angular_velocity(q, half * loads.torque[i], bodies.inverse_inertia[i])
    probe.angular_velocity[i] = middle.angular_velocity[i] + change


@wp.kernel(enable_backward=False)
def kick_and_drift(
    bodies: Bodies, middle: Motion, loads: Loads, clock: Clock, end: Motion, diagnostics: Diagnostics
) -> None:
    """The kick by F½ and τ½, then the second half without force."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    half = real(0.5) * h
    v = middle.velocity[i] + h * bodies.inverse_mass[i] * loads.force[i]
    end.velocity[i] = v
    end.position[i] = middle.position[i] + half * v
    kick = angular_velocity(middle.orientation[i], h * loads.torque[i], bodies.inverse_inertia[i])
    middle.angular_velocity[i] = middle.angular_velocity[i] + kick
    residual, iterations = turn(bodies, middle, end, i, half)
    diagnostics.integration_error[i] = wp.max(diagnostics.integration_error[i], residual)
    diagnostics.iterations[i] = wp.max(diagnostics.iterations[i], iterations)
    if residual > NOT_CONVERGED:
        diagnostics.trouble[i] = 1


@dataclass(frozen=True)
class LieMidpoint:
    """Second order, symmetric; keeps energy and angular momentum of free rotation to rounding."""

    order: ClassVar[int] = 2
    tolerance: ClassVar[float] = float(NOT_CONVERGED)

    def record_forces(self, bench: Bench) -> Motion:
        """Half a drift, then the forces there; returns the motion at the middle."""
        middle, clock = bench.scratch(Motion), bench.state.clock
        bench.for_bodies(drift_half, bench.state.motion, clock, middle)
        bench.evaluate(Moment(middle, clock, 0.5), bench.loads)
        if bench.velocity_dependent:
            probe = bench.scratch(Motion)
            bench.for_bodies(kick_half, middle, bench.loads, clock, probe)
            bench.evaluate(Moment(probe, clock, 0.5), bench.loads)
        return middle

    def record_prediction(self, bench: Bench, work: Motion) -> None:
        """The kick and the second drift."""
        bench.for_bodies(kick_and_drift, work, bench.loads, bench.state.clock, bench.predicted, bench.diagnostics)
