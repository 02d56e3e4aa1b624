"""Lie-group midpoint step, the default: drift half a step, kick with the force met there, drift the other half.

    x½ = x₀ + h/2 v₀            q½, ω½ = free rotation over h/2
    v₁ = v₀ + h F½/m            L₁ = L₀ + h τ½
    x₁ = x½ + h/2 v₁            q₁, ω₁ = free rotation over h/2 with the momentum L₁

x, v, q, ω, L position, velocity, orientation, angular velocity and momentum; F½, τ½ loads at the middle.
A constant force gives the exact parabola. Without torque, energy and the angular momentum vector are kept
to rounding. When a force depends on velocity it is evaluated twice, the second time at the velocity half a
kick further, so that the order stays two. Where τ½ would turn a body by more than a radian in a step, half of it acts
at the start and half at the end: what holds a light link against a strong motor acts there, too, and in the middle of
the step one without the other would have turned it far.

Cost: one force evaluation a step (two with velocity-dependent forces), two small Newton solves a body.
Use it by default. For smooth motion to many digits take ``rk45`` or ``rk4``; for stiff damping ``implicit_euler``.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, II.5 (splitting) and VII.5 (rigid body).
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, quat, real, vec3
from rattleback.core.sealed import sealed
from rattleback.maths.quat import quat_from_rotation_vector, rotate, rotate_back
from rattleback.maths.spin import WHOLE, angular_velocity, free_rotation
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext

# Newton on three unknowns ends at rounding; more than this left over means it did not converge.
NOT_CONVERGED = wp.constant(real(1e5 * epsilon))
# Square of half an angle [rad] that is lost in the rounding of a unit quaternion.
UNSEEN = wp.constant(real((epsilon / 2.0) ** 2))
# Half the angle by which a load may turn a body in a step with all of it in the middle [rad].
STRONG = wp.constant(real(0.5))


@wp.func
def turn_ball(q: quat, w: vec3, after: vec3, half: real) -> quat:
    """Two Cayley turns over half a step each, of what turns about any axis alike, so at once and in the world frame."""
    a = (real(0.5) * half) * w
    b = (real(0.5) * half) * after
    u = a + b + wp.cross(b, a)
    return wp.normalize(quat(u[0], u[1], u[2], real(1.0) - wp.dot(a, b)) * q)


@wp.func
def turn_twice(q: quat, w: vec3, kick: vec3, bodies: Bodies, i: int, half: real) -> tuple[quat, vec3, real, int]:
    """Free rotation over half a step, an angular impulse, and the other half; a driven body turns at its own rate.

    Returns q, ω, residual and iterations.
    """
    kicked = wp.dot(kick, kick) > real(0.0)
    if half * half * wp.dot(w, w) <= UNSEEN and not kicked:
        return q, w, real(0.0), int(0)
    if bodies.inverse_mass[i] == real(0.0):
        return wp.normalize(quat_from_rotation_vector(real(2.0) * half * w) * q), w, real(0.0), int(0)
    moments = bodies.moments[i]
    ratios = bodies.ratios[i]
    if wp.dot(ratios, ratios) == real(0.0):
        after = w
        if kicked:
            after = w + kick / moments[0]
            if half * wp.length(kick) > STRONG * moments[0]:
                return turn_between(q, w, kick, bodies, i, real(2.0) * half)
        if half * half * wp.max(wp.dot(w, w), wp.dot(after, after)) <= real(4.0) * WHOLE * WHOLE:
            return turn_ball(q, w, after, half), after, real(0.0), int(0)
    axes = bodies.axes[i]
    aligned = axes[3] == real(1.0)
    p = q
    if not aligned:
        p = q * axes
    turn, local, first, count = free_rotation(rotate_back(p, w), moments, ratios, half)
    p = p * turn
    if kicked:
        if half * wp.length(wp.cw_div(rotate_back(q * axes, kick), moments)) > STRONG:
            return turn_between(q, w, kick, bodies, i, real(2.0) * half)
        local += wp.cw_div(rotate_back(wp.normalize(p), kick), moments)
    turn, local, second, second_count = free_rotation(local, moments, ratios, half)
    p = wp.normalize(p * turn)
    w = rotate(p, local)
    if not aligned:
        p = p * wp.quat_inverse(axes)
    return p, w, wp.sqrt(wp.max(first, second)), wp.max(count, second_count)


@wp.func
def turn_between(q: quat, w: vec3, kick: vec3, bodies: Bodies, i: int, h: real) -> tuple[quat, vec3, real, int]:
    """Half of an angular impulse, free rotation over the step, and the other half."""
    p = q * bodies.axes[i]
    moments = bodies.moments[i]
    local = rotate_back(p, w) + wp.cw_div(real(0.5) * rotate_back(p, kick), moments)
    turn, local, left, count = free_rotation(local, moments, bodies.ratios[i], h)
    p = wp.normalize(p * turn)
    local += wp.cw_div(real(0.5) * rotate_back(p, kick), moments)
    return p * wp.quat_inverse(bodies.axes[i]), rotate(p, local), wp.sqrt(left), count


@kernel
def drift_half(bodies: Bodies, start: Motion, clock: Clock, middle: Motion) -> None:
    """The first half without force: x½, q½, ω½, in two quarters."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    w = start.angular_velocity[i]
    q, w, _residual, _iterations = turn_twice(start.orientation[i], w, vec3(), bodies, i, real(0.5) * half)
    middle.position[i] = start.position[i] + half * start.velocity[i]
    middle.velocity[i] = start.velocity[i]
    middle.orientation[i] = q
    middle.angular_velocity[i] = w


@kernel
def kick_half(bodies: Bodies, loads: Loads, clock: Clock, middle: Motion) -> None:
    """The velocity in the middle of the kick, where velocity-dependent forces are taken."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    middle.velocity[i] = middle.velocity[i] + half * bodies.inverse_mass[i] * loads.force[i]
    change = angular_velocity(middle.orientation[i], half * loads.torque[i], bodies.inverse_inertia[i])
    middle.angular_velocity[i] = middle.angular_velocity[i] + change


@kernel
def fly(
    bodies: Bodies, start: Motion, loads: Loads, clock: Clock, end: Motion, diagnostics: Diagnostics, lanes: int
) -> None:
    """Drift, kick by F½ and τ½, drift."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        h = real(clock.time_step[bodies.world[i]])
        half = real(0.5) * h
        v = start.velocity[i] + h * bodies.inverse_mass[i] * loads.force[i]
        end.velocity[i] = v
        # Halves are summed first, so that what is at rest stays in its place to the last bit.
        end.position[i] = start.position[i] + (half * start.velocity[i] + half * v)
        kick = h * loads.torque[i]
        q, w, residual, count = turn_twice(start.orientation[i], start.angular_velocity[i], kick, bodies, i, half)
        end.orientation[i] = q
        end.angular_velocity[i] = w
        diagnostics.integration_error[i] = wp.max(diagnostics.integration_error[i], residual)
        diagnostics.iterations[i] = wp.max(diagnostics.iterations[i], count)
        if residual > NOT_CONVERGED:
            diagnostics.trouble[i] = 1


@sealed
@dataclass(frozen=True)
class LieMidpoint:
    """Second order, symmetric; keeps energy and angular momentum of free rotation to rounding."""

    order: ClassVar[int] = 2
    tolerance: ClassVar[float] = float(NOT_CONVERGED)
    leaves_loads: ClassVar[bool] = True

    def record_forces(self, context: StepContext) -> None:
        """The forces half a step on; where none depends on the motion, half a step on in time is enough."""
        clock, motion = context.state.clock, context.start
        if context.motion_dependent:
            motion = context.scratch(Motion)
            context.for_bodies(drift_half, context.start, clock, motion)
        context.evaluate(Moment(motion, clock, 0.5), context.loads)
        if context.velocity_dependent:
            context.for_bodies(kick_half, context.loads, clock, motion)
            context.evaluate(Moment(motion, clock, 0.5), context.loads)

    def record_prediction(self, context: StepContext) -> None:
        """Both drifts with the kick between them."""
        context.share_bodies(
            fly, context.start, context.loads, context.state.clock, context.predicted, context.diagnostics
        )
