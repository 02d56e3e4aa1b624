"""The energy audit: what a world has gained at the end of a step that no force, spring or motor has given it.

    gain = Σ (T' − T − W),      not converged where   gain > D   or   G e^(−h/τ) + gain > 2 D₀
    D = min(0.02 max(P, T, T'), 4 θ² max(P, T, T') + 4 B) + min(1, 4 θ²) ½ m (g h)² + m (g δ + u²) + √(2 m T) u
        + 0.02 Σ |W| + m₀ g s + 0.02 C + R₁ + ε Σ |E|

T, T' kinetic energy of a body at either end of the step, W work of loads on the way it really went, so that weight that
is lifted by position corrections or joints that close counts as a gain. θ largest angle by which a body turns in the
step, and two of them against each other by twice that; B kinetic energies times the squares of the sines by which paths
turn; P the largest energy of motion of the world lately; m
mass of all bodies, g gravity, δ and u the tolerances of positions and velocities. Where the user has put joints apart,
they may lift what hangs on them, m₀, by four times their gap, s, at most as fast as joints close, and leave a part of
the energy C that their way would have at its mean speed. R₁ what integrators of first order may miss of W, ε rounding.
G is what was gained lately, and not told or lost again, D₀ are the first five terms at the largest angles, τ a second.
The gain itself is told from half of that on, with θ² in place of 4 θ², and without what gravity does in a step.

The gain is what is there after the energy limit has taken what it takes. Worlds in which a static body or a surface
moves are not audited: those may do any work. A joint with rates of its own may do what its impulse allows.

    step is done: sums over the bodies; one thread a world compares
Cost: one look at every body.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays, host_read
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.joint_memory import JointState
from rattleback.model.step_context import StepContext
from rattleback.problem.mechanisms import Mechanisms
from rattleback.steps.energy_floor import Floor
from rattleback.steps.energy_islands import ZERO
from rattleback.steps.energy_sums import LANES, Sums, sum_free, sum_gains

if TYPE_CHECKING:
    from collections.abc import Callable

# The part of the kinetic energy that bodies which turn fast may gain in a step, and of the work of forces.
TURNED = wp.constant(real(0.02))
# The square of how many times the angle of one body two of them may turn against each other.
FOLD = wp.constant(real(4.0))
# How many times farther than a joint that closes its bodies may be lifted.
LEVERAGE = wp.constant(real(4.0))
# Part of what accurate steps gain from which on a gain is told.
TOLD = wp.constant(real(0.5))
# How many times the most that is allowed in a step all steps together may gain, and how long that is remembered [s].
OFTEN, WHILE = wp.constant(real(2.0)), wp.constant(real(1.0))


@group(axis="worlds")
class Gains:
    """The step of the call whose gain is farthest beyond what is allowed."""

    beyond: real = field("J", "how far; zero where none is")
    most: real = field("J", "its gain")
    allowed: real = field("J", "what it may gain")
    body: wp.int32 = field("1", "the body that has gained most in it")
    beyond_told: real = field("J", "how far the gain of a step is beyond what need not be told; zero where none is")
    gain: real = field("J", "gain of that step")


@kernel
def audit(
    mechanisms: Mechanisms,
    remembered: JointState,
    sums: Sums,
    floor: Floor,
    gains: Gains,
    stop: wp.array[wp.int32],
) -> None:
    """Compare the gain of a world with what is allowed."""
    if stop[0] > 0 or (stop[0] < 0 and floor.resolves == 1):
        return
    w = wp.tid()
    gain = ZERO
    before = ZERO
    kinetic = ZERO
    missed = ZERO
    worked = ZERO
    size = ZERO
    mass = ZERO
    gone = ZERO
    turn = ZERO
    bent = ZERO
    most = ZERO
    body = int(-1)
    for k in range(w * LANES, (w + 1) * LANES):
        if sums.moved[k] == 1:
            return
        gain += sums.gain[k]
        before += sums.before[k]
        kinetic += sums.kinetic[k]
        missed += sums.missed[k]
        worked += sums.worked[k]
        size += sums.size[k]
        mass += sums.mass[k]
        gone += sums.gone[k]
        turn = wp.max(turn, sums.turn[k])
        bent += sums.bent[k]
        if sums.body[k] >= 0 and (body < 0 or sums.most[k] > most):
            most = sums.most[k]
            body = sums.body[k]
    h = sums.time_step[w]
    lift = ZERO
    closing = ZERO
    each = mechanisms.first.shape[0] // sums.time_step.shape[0]
    for m in range(w * each, (w + 1) * each):
        j = mechanisms.joint[mechanisms.first_joint[m]]
        lift += mechanisms.mass[m] * floor.gravity[w] * wp.min(LEVERAGE * remembered.gap[j], h * floor.speed)
        if remembered.gap[j] > ZERO:
            closing = wp.min(real(0.5) * mass * floor.speed * floor.speed, gone)
    fading = wp.exp(-h / WHILE)
    most = wp.max(wp.max(before, kinetic), fading * remembered.highest[w])
    remembered.highest[w] = wp.max(kinetic, fading * remembered.highest[w])
    granted = lift + wp.where(floor.first_order == 1, missed, ZERO)
    creep = wp.sqrt(real(2.0) * mass * wp.max(before, kinetic)) * floor.creep[w]
    noise = mass * floor.lift[w] + creep + TURNED * worked + floor.rounding * size
    fade = fading * remembered.surplus[w]
    lately = wp.max(fade + gain - granted, ZERO)
    angle = turn * turn
    fall = real(0.5) * mass * (floor.gravity[w] * h) * (floor.gravity[w] * h)
    left = wp.max(OFTEN * (TURNED * (most + closing) + noise) - fade, ZERO)
    told = TOLD * (granted + wp.min(wp.min(TURNED * most, angle * most + bent) + TURNED * closing + noise, left))
    share = wp.min(TURNED * most, FOLD * (angle * most + bent)) + wp.min(real(1.0), FOLD * angle) * fall
    share += TURNED * closing + noise
    allowed = granted + wp.min(share, left + OFTEN * fall)
    # What is beyond is said, and no part of what is added up.
    remembered.surplus[w] = wp.where(gain > allowed, fade, lately)
    if gain - told > gains.beyond_told[w]:
        gains.beyond_told[w] = gain - told
        gains.gain[w] = gain
    if gain - allowed > gains.beyond[w]:
        gains.beyond[w] = gain - allowed
        gains.most[w] = gain
        gains.allowed[w] = allowed
        gains.body[w] = body


@dataclass(frozen=True)
class EnergyAudit:
    """Records the energy audit in the steps of a model with joints.

    Attributes:
        context: Where the step is recorded.
        mechanisms: What the joints connect.
        ledger: What happens to the energy.
        sums: Sums over the bodies of a world.
        floor: What a step may leave.
        gains: What was found.
    """

    context: StepContext
    mechanisms: Any
    ledger: Any
    sums: Any
    floor: Any
    gains: Any

    def record_work(self) -> None:
        """Record the sums of a step that is predicted."""
        context, state = self.context, self.context.state
        given = (context.model.bodies, state.motion, context.model.surfaces, state.clock, self.ledger, self.sums)
        context.program.launch(sum_free, len(self.sums.free), *given)

    def record_end(self) -> None:
        """Record the audit of a step that is done."""
        context, state = self.context, self.context.state
        given = (context.model.bodies, state.motion, self.ledger, self.sums)
        context.program.launch(sum_gains, len(self.sums.free), *given)
        context.for_worlds(audit, self.mechanisms, state.joints, self.sums, self.floor, self.gains, context.stop)

    @cached_property
    def forget(self) -> "Callable[[], None]":
        """To be called when a call begins: nothing was gained yet."""
        return host_read.clearing(self.gains.beyond, self.gains.beyond_told)

    def take_over(self, old: "EnergyAudit") -> None:
        """Continue with what another one of the same model has seen."""
        arrays.copy_into(self.gains, old.gains)
        arrays.copy_into(self.sums, old.sums)

    def summary(self) -> dict[str, Any]:
        """What the report says: how much energy was gained, and where."""
        gains: Any = self.gains
        beyond, told = gains.beyond.numpy(), gains.beyond_told.numpy()
        world, other = int(beyond.argmax()), int(told.argmax())
        gained = float(gains.gain.numpy()[other]) if told[other] > 0.0 else 0.0
        if not beyond[world] > 0.0:
            return {"energy_gained": gained}
        gain, allowed = float(gains.most.numpy()[world]), float(gains.allowed.numpy()[world])
        name, number = self.context.model.locate(int(self.gains.body.numpy()[world]))
        where = f" of world {number}" if self.context.model.batched else ""
        return {
            "energy_gained": max(gain, gained),
            "reason": (
                f"Joints, contacts and their corrections added {gain:.3g} J to the energy in a step, more than the "
                f"{allowed:.3g} J that tolerances allow, most of it at body {name!r}{where}; a shorter time_step "
                "helps, or joints that do not contradict each other."
            ),
        }


def make_energy_audit(context: StepContext, mechanisms: Any, ledger: Any, floor: Any) -> EnergyAudit:
    """The energy audit of a model with joints.

    Args:
        context: Where the step is recorded.
        mechanisms: What the joints connect.
        ledger: What happens to the energy.
        floor: What a step may leave.
    """
    model = context.model
    counts = {"worlds": model.worlds, "parts": model.worlds * int(LANES)}
    sums, gains = (arrays.allocate(kind, counts, model.device) for kind in (Sums, Gains))
    return EnergyAudit(context, mechanisms, ledger, sums, floor, gains)
