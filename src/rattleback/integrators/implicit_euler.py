"""Implicit Euler step: the loads are those at the end of the step, found by Newton's method.

    m (v₁ − v₀) − h F(y₁) = 0,   x₁ = x₀ + h v₁
    L(q₁, ω₁) − L₀ − h τ(y₁) = 0,  q₁ = exp(h ω₁) q₀

The unknown of a body is u = (v₁, ω₁). Newton's matrix is taken body by body from six more evaluations of all
forces, each with every body's u moved along one axis; what one body's motion does to another's load is left to
the iteration.

    start from u = (v₀, ω₀)
    repeat: residual g(u); column k of G from g(u + δ e_k), k = 1…6; u ← u − G⁻¹ g
    until a world's largest change is within the tolerance; worlds that are done stay as they are
Cost: seven force evaluations an iteration, three or four iterations. First order and strongly damping, but stable
with stiff damping and springs at any step where the explicit methods explode. Use it for those.

Reference: Bender, dissertation, B.1; Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8.
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core import checks
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.core.sealed import sealed
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.maths.small_solve import mat66, solve6, vec6
from rattleback.maths.spin import angular_momentum
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext

# Where a difference quotient of a function known to rounding is most exact.
NUDGE = wp.constant(real(epsilon**0.5))


@group(axis="bodies")
class Unknowns:
    """The end velocities looked for and the residual they leave."""

    u: vec6 = field("m/s, rad/s", "velocity and angular velocity at the end of the step")
    g: vec6 = field("N s, N m s", "residual of the momentum balance")
    slope: mat66 = field("kg, kg m²", "derivative of g by u, body by body")
    change: real = field("1", "size of the last change of u, relative to one plus its size")


@group(axis="worlds")
class Progress:
    """Which worlds are still iterating."""

    busy: wp.int32 = field("1", "1 while the world has not converged")
    moving: wp.int32 = field("1", "1 when a body of it changed by more than the tolerance")
    iterations: wp.int32 = field("1", "iterations done in this step")


@wp.func
def nudge(u: vec6) -> real:
    """How far u is moved along an axis to feel the slope."""
    return NUDGE * (real(1.0) + wp.length(u))


@kernel
def begin(bodies: Bodies, start: Motion, unknowns: Unknowns, progress: Progress, any_busy: wp.array[wp.int32]) -> None:
    """The first guess is the velocity at the start."""
    i = wp.tid()
    v = start.velocity[i]
    w = start.angular_velocity[i]
    unknowns.u[i] = vec6(v[0], v[1], v[2], w[0], w[1], w[2])
    world = bodies.world[i]
    progress.busy[world] = 1
    progress.iterations[world] = 0
    any_busy[0] = 1


@kernel
def end_motion(bodies: Bodies, start: Motion, unknowns: Unknowns, clock: Clock, axis: int, end: Motion) -> None:
    """The motion at the end of the step for u, moved along an axis of u unless ``axis`` is −1."""
    i = wp.tid()
    h = real(clock.time_step[bodies.world[i]])
    u = unknowns.u[i]
    if axis >= 0:
        u[axis] = u[axis] + nudge(unknowns.u[i])
    v = vec3(u[0], u[1], u[2])
    w = vec3(u[3], u[4], u[5])
    end.velocity[i] = v
    end.angular_velocity[i] = w
    end.position[i] = start.position[i] + h * v
    end.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w) * start.orientation[i])


@wp.func
def residual(bodies: Bodies, start: Motion, end: Motion, loads: Loads, i: int, h: real) -> vec6:
    """G = (m (v₁ − v₀) − h F, L₁ − L₀ − h τ); for a driven body the change of velocity itself."""
    m = bodies.mass[i]
    j = bodies.inertia[i]
    dv = end.velocity[i] - start.velocity[i]
    p = m * dv - h * loads.force[i]
    l0 = angular_momentum(start.orientation[i], start.angular_velocity[i], j)
    spin = angular_momentum(end.orientation[i], end.angular_velocity[i], j) - l0 - h * loads.torque[i]
    if m == real(0.0):
        p = dv
        spin = end.angular_velocity[i] - start.angular_velocity[i]
    return vec6(p[0], p[1], p[2], spin[0], spin[1], spin[2])


@kernel
def balance(
    bodies: Bodies, start: Motion, end: Motion, loads: Loads, clock: Clock, unknowns: Unknowns, axis: int
) -> None:
    """g(u) when ``axis`` is −1, else a column of its derivative: (g(u + δ e) − g(u))/δ."""
    i = wp.tid()
    g = residual(bodies, start, end, loads, i, real(clock.time_step[bodies.world[i]]))
    if axis < 0:
        unknowns.g[i] = g
        return
    column = (g - unknowns.g[i]) / nudge(unknowns.u[i])
    slope = unknowns.slope[i]
    for row in range(6):
        slope[row, axis] = column[row]
    unknowns.slope[i] = slope


@kernel
def newton(bodies: Bodies, unknowns: Unknowns, tolerance: real, progress: Progress) -> None:
    """U ← u − G⁻¹ g, in worlds that are still busy."""
    i = wp.tid()
    world = bodies.world[i]
    if progress.busy[world] == 0:
        return
    change = solve6(unknowns.slope[i], unknowns.g[i])
    u = unknowns.u[i] - change
    unknowns.u[i] = u
    unknowns.change[i] = wp.length(change) / (real(1.0) + wp.length(u))
    if not (unknowns.change[i] <= tolerance):
        wp.atomic_max(progress.moving, world, 1)


@kernel
def lower(any_busy: wp.array[wp.int32]) -> None:
    """No world is busy until one says so."""
    any_busy[0] = 0


@kernel
def decide(progress: Progress, most: int, any_busy: wp.array[wp.int32]) -> None:
    """Is the world done?"""
    w = wp.tid()
    progress.iterations[w] = progress.iterations[w] + 1
    if progress.moving[w] == 0 or progress.iterations[w] >= most:
        progress.busy[w] = 0
    else:
        wp.atomic_max(any_busy, 0, 1)
    progress.moving[w] = 0


@kernel
def account(bodies: Bodies, unknowns: Unknowns, tolerance: real, progress: Progress, diagnostics: Diagnostics) -> None:
    """What the report needs to know."""
    i = wp.tid()
    change = unknowns.change[i]
    diagnostics.integration_error[i] = wp.max(diagnostics.integration_error[i], change)
    diagnostics.iterations[i] = wp.max(diagnostics.iterations[i], progress.iterations[bodies.world[i]])
    if not (change <= tolerance):
        diagnostics.trouble[i] = 1


@sealed
@dataclass(frozen=True)
class ImplicitEuler:
    """First order, damping, stable with stiff forces.

    Args:
        tolerance: Largest change of a velocity in the last Newton iteration, relative to one plus its size.
        max_iterations: Newton iterations a step may take; past that the step is reported as not converged.
    """

    tolerance: float = 1e-10 if epsilon < 1e-10 else 1e-5
    max_iterations: int = 25
    explicit: ClassVar[bool] = False
    order: ClassVar[int] = 1
    forces_at: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        """Check both parameters."""
        checks.positive(self.tolerance, "The tolerance of ImplicitEuler")
        checks.count(self.max_iterations, "The max_iterations of ImplicitEuler")

    def record_forces(self, context: StepContext) -> None:
        """The forces wanted are those at the end; the prediction evaluates them."""

    def record_prediction(self, context: StepContext) -> None:
        """Newton's iteration, then the motion it found."""
        start, clock, end = context.start, context.state.clock, context.predicted
        unknowns, progress = context.scratch(Unknowns), context.scratch(Progress)
        any_busy = wp.zeros(1, dtype=wp.int32, device=context.model.device)
        context.for_bodies(begin, start, unknowns, progress, any_busy)
        with context.program.loop(any_busy):
            for axis in range(-1, 6):
                context.for_bodies(end_motion, start, unknowns, clock, axis, end)
                context.evaluate(Moment(end, clock, 1.0), context.loads)
                context.for_bodies(balance, start, end, context.loads, clock, unknowns, axis)
            context.for_bodies(newton, unknowns, self.tolerance, progress)
            context.program.launch(lower, 1, any_busy)
            context.for_worlds(decide, progress, self.max_iterations, any_busy)
        context.for_bodies(end_motion, start, unknowns, clock, -1, end)
        context.for_bodies(account, unknowns, self.tolerance, progress, context.diagnostics)
