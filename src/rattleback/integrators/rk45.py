"""Embedded Runge–Kutta step of order five with error control: as many sub-steps as the user's bound asks for.

    y₁ − y₁* = h Σ_s (b_s − b_s*) k_s,   h_new = 0.9 h (ε / |y₁ − y₁*|)^(1/5)

y₁, y₁* the results of order five and four from the same six stages, ε the bound. A sub-step whose error is above
the bound is done again with h_new; otherwise h_new is the next one's length. Each world has its own sub-steps;
their length is part of the state, so a restored simulation goes on bit for bit.

    repeat until every world has reached the end of the step:
        six stages and the error of each body; the largest of a world decides
        accepted: go on from there; rejected: shrink
Cost: six force evaluations a sub-step. Use it when the bound matters more than the time; not with stiff forces.

Reference: Bender, dissertation, B.1.4 with table B.1; Cash and Karp, ACM Trans. Math. Softw. 16 (1990).
"""

from dataclasses import dataclass
from typing import ClassVar

import warp as wp

from rattleback.core import checks
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.core.sealed import sealed
from rattleback.integrators.runge_kutta import (
    Rates,
    Tableau,
    advance_along,
    coefficients,
    new_rates,
    record_stages,
)
from rattleback.model.model import Bodies
from rattleback.model.sleep import Sleep
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext, copy_motion, move

CASH_KARP = Tableau(
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (3 / 10, -9 / 10, 6 / 5),
        (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
        (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
    ),
    (37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771),
    (0.0, 1 / 5, 3 / 10, 3 / 5, 1.0, 7 / 8),
)
FOURTH_ORDER = (2825 / 27648, 0.0, 18575 / 48384, 13525 / 55296, 277 / 14336, 1 / 4)
# A sub-step shorter than this part of the step is accepted whatever its error, and reported.
SHORTEST = wp.constant(wp.float64(1e-7))
# Stands for an error that is not finite.
LOST = wp.constant(real(1e30))


@group(axis="worlds")
class Control:
    """Where each world stands inside the step."""

    remaining: wp.float64 = field("s", "time left to the end of the step")
    wish: wp.float64 = field("s", "sub-step the error asks for")
    error: real = field("1", "largest error of the sub-step over its bodies, in units of the bound")
    accepted: wp.int32 = field("1", "1 when the last sub-step was accepted")
    forced: wp.int32 = field("1", "1 when it was accepted although above the bound")
    substeps: wp.int32 = field("1", "sub-steps tried in this step")
    awake: wp.int32 = field("1", "1 where a body moves or may begin to; sleeping bodies are held where they are")


@kernel
def begin(clock: Clock, sub: Clock, control: Control, busy: wp.array[wp.int32]) -> None:
    """Start of the step: the whole of it remains."""
    w = wp.tid()
    h = clock.time_step[w]
    wish = clock.substep[w]
    if wish <= wp.float64(0.0):
        wish = h
    control.remaining[w] = h
    control.wish[w] = wish
    control.error[w] = real(0.0)
    control.substeps[w] = 0
    control.awake[w] = 0
    sub.time[w] = clock.time[w]
    sub.time_step[w] = wp.min(wish, h)
    busy[0] = 1


@kernel
def measure(
    bodies: Bodies,
    trial: Motion,
    sub: Clock,
    sleep: Sleep,
    rates: Rates,
    spread: wp.array[real],
    control: Control,
) -> None:
    """Largest error of the bodies of a world that are awake.

    A maximum does not depend on the order it is taken in, so bits stay the same.
    """
    i = wp.tid()
    world = bodies.world[i]
    if sleep.asleep[i] != 0:
        return
    moves = wp.length_sq(trial.velocity[i]) + wp.length_sq(trial.angular_velocity[i]) > real(0.0)
    if bodies.mass[i] > real(0.0) or moves:
        control.awake[world] = 1
    n = bodies.world.shape[0]
    h = real(sub.time_step[world])
    dx = vec3()
    dq = quat()
    dv = vec3()
    dw = vec3()
    for s in range(spread.shape[0]):
        f = h * spread[s]
        dx += f * rates.position[s * n + i]
        dq += f * rates.orientation[s * n + i]
        dv += f * rates.velocity[s * n + i]
        dw += f * rates.angular_velocity[s * n + i]
    one = real(1.0)
    error = wp.length(dx) / (one + wp.length(trial.position[i]))
    error = wp.max(error, real(2.0) * wp.length(dq))
    error = wp.max(error, wp.length(dv) / (one + wp.length(trial.velocity[i])))
    error = wp.max(error, wp.length(dw) / (one + wp.length(trial.angular_velocity[i])))
    if not wp.isfinite(error):
        error = LOST
    wp.atomic_max(control.error, world, error)


@kernel
def lower(busy: wp.array[wp.int32]) -> None:
    """No world is busy until one says so."""
    busy[0] = 0


@kernel
def decide(
    clock: Clock, sub: Clock, control: Control, bound: real, power: real, most: int, busy: wp.array[wp.int32]
) -> None:
    """Accept or reject the sub-step of a world and choose the next; its length goes with the error to this power."""
    w = wp.tid()
    h = sub.time_step[w]
    if control.remaining[w] <= wp.float64(0.0):
        control.accepted[w] = 0
        return
    ratio = control.error[w] / bound
    grow = real(5.0)
    if ratio > real(0.0):
        grow = wp.clamp(real(0.9) * wp.pow(ratio, -power), real(0.2), real(5.0))
    control.substeps[w] = control.substeps[w] + 1
    last = control.substeps[w] >= most or h <= SHORTEST * clock.time_step[w]
    control.forced[w] = wp.where(ratio > real(1.0) and last, 1, 0)
    control.accepted[w] = wp.where(ratio <= real(1.0) or last, 1, 0)
    wish = h * wp.float64(grow)
    if control.accepted[w] == 1:
        if h < control.wish[w]:
            wish = wp.max(wish, control.wish[w])
        sub.time[w] = sub.time[w] + h
        # A motion that is not finite, however short the sub-step, is not followed to the end of the step.
        done = h >= control.remaining[w] or control.error[w] >= LOST
        control.remaining[w] = wp.where(done, wp.float64(0.0), control.remaining[w] - h)
    control.wish[w] = wish
    next = wp.min(wish, control.remaining[w])
    if control.substeps[w] >= most:
        next = control.remaining[w]
    sub.time_step[w] = next
    if control.remaining[w] > wp.float64(0.0):
        wp.atomic_max(busy, 0, 1)


@kernel
def settle(bodies: Bodies, trial: Motion, current: Motion, control: Control, diagnostics: Diagnostics) -> None:
    """Go on from an accepted sub-step."""
    i = wp.tid()
    w = bodies.world[i]
    if control.accepted[w] == 0:
        return
    move(trial, current, i)
    diagnostics.integration_error[i] = wp.max(diagnostics.integration_error[i], control.error[w])
    diagnostics.iterations[i] = wp.max(diagnostics.iterations[i], control.substeps[w])
    diagnostics.trouble[i] = wp.max(diagnostics.trouble[i], control.forced[w])


@kernel
def propose(clock: Clock, control: Control, proposed: wp.array[wp.float64]) -> None:
    """The error of the last sub-step is dealt with; the next step may start with the length it asks for.

    A world that sleeps keeps the length it had, as it does alone, where nothing is predicted for it.
    """
    w = wp.tid()
    control.error[w] = real(0.0)
    proposed[w] = wp.where(control.awake[w] == 1, control.wish[w], clock.substep[w])


@sealed
@dataclass(frozen=True)
class RK45:
    """Order five with adaptive sub-steps.

    Args:
        error: Largest local error of a sub-step, relative to one plus the size of the quantity
            [m, rad, m/s, rad/s]; infinity for one sub-step per step.
        max_substeps: Sub-steps one step may take; past that the rest is done in one, and reported.
    """

    error: float = 1e-9
    max_substeps: int = 10_000
    explicit: ClassVar[bool] = False
    order: ClassVar[int] = 5

    def __post_init__(self) -> None:
        """Check both parameters."""
        if checks.number_or_infinite(self.error, "The error of RK45") <= 0.0:
            raise InputError(f"The error of RK45 is {self.error!r}; it must be greater than zero.")
        checks.count(self.max_substeps, "The max_substeps of RK45")

    @property
    def tolerance(self) -> float:
        """The bound on the local error."""
        return self.error

    def record_forces(self, context: StepContext) -> None:
        """Every sub-step evaluates its own forces."""

    def record_prediction(self, context: StepContext) -> None:
        """Sub-steps until the end of the step is reached in every world."""
        clock, sub, control = context.state.clock, context.scratch(Clock), context.scratch(Control)
        current, trial = context.predicted, context.scratch(Motion)
        busy = wp.zeros(1, dtype=wp.int32, device=context.model.device)
        rates = new_rates(context, CASH_KARP)
        weights = coefficients(context, CASH_KARP.b)
        spread = coefficients(context, tuple(b - e for b, e in zip(CASH_KARP.b, FOURTH_ORDER, strict=True)))
        context.for_worlds(begin, clock, sub, control, busy)
        context.share_bodies(copy_motion, context.start, current)
        with context.program.loop(busy):
            record_stages(context, CASH_KARP, Moment(current, sub), rates, given=False)
            context.for_bodies(advance_along, current, sub, rates, weights, trial)
            context.for_bodies(measure, trial, sub, context.state.sleep, rates, spread, control)
            context.program.launch(lower, 1, busy)
            context.for_worlds(decide, clock, sub, control, self.error, 0.2, self.max_substeps, busy)
            context.for_bodies(settle, trial, current, control, context.diagnostics)
            context.for_worlds(propose, clock, control, context.proposed)
