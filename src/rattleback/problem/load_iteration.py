"""Loads at velocities that depend on the loads: found before bodies move, where a prediction would throw them far.

    x = x* + L (F(x) − F₀),     L F = y(σ h M⁻¹ F)

x change of the mean velocities ū of the step against its start, x* the one found with the loads F₀, h the step, σ the
part of it by which loads act on ū, y what joints leave of a change of the velocities of free bodies, see
``joint_response``. With damping C, L F(x) is −L C x, a symmetric operator in the metric of the kinetic energy. So with
its residual ρ for the gradient the iteration is one of steepest descent, and Barzilai's and Borwein's length of a step
needs no other evaluation:

    x ← x + θ ρ,   θ = −⟨Δx, Δρ⟩ / ⟨Δρ, Δρ⟩,   ⟨a, b⟩ = aᵀ M b

It is left out where free bodies would answer to the change of the loads by less than half of r = x* − x: the mechanism
answers by less, y being a projection in this metric, and the preview loop then converges by itself. At the start of a
step it is left out where the loads do not turn free bodies by more than ``WILD``. What is found joints answer to with
impulses at the start of the step, so that the next prediction stays near.

Cost: a force evaluation beside each of the preview loop; where it is needed, a force evaluation and a substitution in
the factor of the joints a round, two or three as a rule, and one a mode of stiff damping.

Reference: Barzilai, Borwein, Two-point step size gradient methods, 1988.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment, StepContext
from rattleback.problem.joint_response import JointResponse
from rattleback.problem.load_changes import (
    BLOCK,
    Change,
    Held,
    IterationStatus,
    Trials,
    begin_bodies,
    begin_worlds,
    find_wild,
    product,
    try_wanted,
    weigh,
)

if TYPE_CHECKING:
    from rattleback.problem.preview import Preview

# Square of the part of r that may be left, and the most rounds.
CLOSE = wp.constant(real(1e-4))
MOST_ROUNDS = wp.constant(50)


@kernel
def begin_iteration(iteration: IterationStatus) -> None:
    """The iteration of the worlds that need care begins."""
    w = wp.tid()
    iteration.busy[w] = iteration.careful[w]
    iteration.count[w] = 0
    iteration.part[w] = real(1.0)
    iteration.any_busy[0] = 1


@kernel
def compare(
    bodies: Bodies, before: Motion, trials: Trials, change: Change, iteration: IterationStatus, held: Held
) -> None:
    """⟨ρ, ρ⟩, ⟨Δx, Δρ⟩ and ⟨Δρ, Δρ⟩ of a block; ρ = x* + y − x takes the place of y."""
    t = wp.tid()
    world = t // held.blocks
    if iteration.busy[world] == 0:
        return
    k = (t % held.blocks) * BLOCK
    square = real(0.0)
    mixed = real(0.0)
    changed = real(0.0)
    for e in range(k, wp.min(k + BLOCK, int(held.each))):
        i = held.row[world * held.each + e]
        v = trials.wanted_velocity[i] + change.motion.velocity[i] - trials.velocity[i]
        s = trials.wanted_spin[i] + change.motion.angular_velocity[i] - trials.spin[i]
        change.motion.velocity[i] = v
        change.motion.angular_velocity[i] = s
        dv = v - trials.rest_velocity[i]
        ds = s - trials.rest_spin[i]
        gone = trials.velocity[i] - trials.last_velocity[i]
        turned = trials.spin[i] - trials.last_spin[i]
        square += product(bodies, before, i, v, s, v, s)
        mixed += product(bodies, before, i, gone, turned, dv, ds)
        changed += product(bodies, before, i, dv, ds, dv, ds)
    iteration.first[t] = square
    iteration.second[t] = mixed
    iteration.third[t] = changed


@kernel
def lower(iteration: IterationStatus) -> None:
    """No world is known to be active."""
    iteration.any_busy[0] = 0


@kernel
def find_part(blocks: int, iteration: IterationStatus) -> None:
    """θ of the next round, or none where ρ is small."""
    w = wp.tid()
    if iteration.busy[w] == 0:
        return
    square = real(0.0)
    mixed = real(0.0)
    changed = real(0.0)
    for b in range(w * blocks, w * blocks + blocks):
        square += iteration.first[b]
        mixed += iteration.second[b]
        changed += iteration.third[b]
    if iteration.reference[w] == real(0.0):
        # Nothing has been tried yet: x* and F₀ are zero.
        iteration.reference[w] = square
    elif mixed < real(0.0):
        iteration.part[w] = -mixed / changed
    else:
        iteration.part[w] = real(0.5) * iteration.part[w]
    iteration.count[w] = iteration.count[w] + 1
    if not (square > CLOSE * iteration.reference[w]) or iteration.count[w] > MOST_ROUNDS:
        iteration.busy[w] = 0
    else:
        iteration.any_busy[0] = 1


@kernel
def next_trial(bodies: Bodies, trials: Trials, change: Change, iteration: IterationStatus, held: Held) -> None:
    """X ← x + θ ρ in active worlds."""
    i = held.row[wp.tid()]
    w = bodies.world[i]
    if iteration.busy[w] == 1:
        v = change.motion.velocity[i]
        s = change.motion.angular_velocity[i]
        trials.last_velocity[i] = trials.velocity[i]
        trials.last_spin[i] = trials.spin[i]
        trials.rest_velocity[i] = v
        trials.rest_spin[i] = s
        trials.velocity[i] = trials.velocity[i] + iteration.part[w] * v
        trials.spin[i] = trials.spin[i] + iteration.part[w] * s


class LoadIteration:
    """Records how the loads that jointed bodies see are found.

    Attributes:
        trials: The changes of the velocities.

    Args:
        context: Where the step is recorded.
        preview: The preview loop of the joints.
        integrator: What moves the bodies: it says σ, and whether it leaves the loads of the step in the step context.
    """

    def __init__(self, context: StepContext, preview: "Preview", integrator: Any) -> None:
        self.context, self.preview, self.integrator = context, preview, integrator
        self.response = response = JointResponse(preview)
        model, self.held = context.model, Held()
        self.held.row, self.held.each = response.held, len(response.held) // model.worlds
        self.held.blocks, self.held.part = -(-self.held.each // int(BLOCK)), integrator_part(integrator)
        counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
        counts["blocks"] = self.held.blocks * model.worlds
        self.trials: Any = arrays.allocate(Trials, counts, model.device)
        self.status: Any = arrays.allocate(IterationStatus, counts, model.device)
        self.lends = bool(getattr(integrator, "leaves_loads", False))
        self.change = Change()
        self.change.known, self.change.motion = context.scratch(Loads), context.scratch(Motion)
        self.change.loads = context.loads if self.lends else context.scratch(Loads)

    def record_start(self) -> None:
        """Record the loads at the state, and where they would rotate free bodies far, the response of the joints."""
        context, status = self.context, self.preview.status
        self._share(begin_bodies, self.trials, self.change.known)
        context.for_worlds(begin_worlds, self.trials, self.status)
        self._evaluate()
        self._share(
            find_wild, context.model.bodies, context.state.motion, status, self.trials, self.change, self.status
        )
        self.record_rounds()

    def record_trial(self) -> None:
        """Record the loads at x*, in the worlds that are open, and what free bodies would do about their change."""
        context, status = self.context, self.preview.status
        given = (status, self.trials, self.change, self.status, self.preview.limits.velocity)
        self._share(try_wanted, context.model.bodies, *given)
        self._evaluate()
        self._for_blocks(weigh, status, self.trials, self.change, self.status)

    def record_rounds(self) -> None:
        """Record how x is found in the worlds that need care, what joints answer, and the forces of the prediction."""
        context, iteration, status = self.context, self.status, self.preview.status
        with context.program.when(iteration.any_careful):
            context.for_worlds(begin_iteration, iteration)
            with context.program.loop(iteration.any_busy):
                self.response.leave(self.change.motion, iteration.busy)
                self._for_blocks(compare, self.trials, self.change, iteration)
                context.program.launch(lower, 1, iteration)
                context.for_worlds(find_part, self.held.blocks, iteration)
                given = (context.model.bodies, self.trials, self.change, iteration, self.held)
                context.program.launch(next_trial, len(self.held.row), *given)
                self._evaluate()
                self._for_blocks(weigh, status, self.trials, self.change, iteration)
            self.response.push(self.change.motion, context.start, iteration.careful)
            if self.lends:
                self.integrator.record_forces(context)
        if not self.lends:
            self.integrator.record_forces(context)

    def _evaluate(self) -> None:
        """The loads at a trial."""
        context = self.context
        if self.lends:
            self.integrator.record_forces(context)
        else:
            context.evaluate(Moment(context.state.motion, context.state.clock, self.held.part), self.change.loads)

    def _share(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.share(kernel, len(self.held.row), *inputs, self.held)

    def _for_blocks(self, kernel: Any, *inputs: Any) -> None:
        blocks = self.held.blocks * self.context.model.worlds
        self.context.program.launch(
            kernel, blocks, self.context.model.bodies, self.context.state.motion, *inputs, self.held
        )


def integrator_part(integrator: Any) -> float:
    """Part of the step by which an integrator lets loads act on the mean velocities; zero if it takes them before."""
    return float(getattr(integrator, "forces_at", 0.5))
