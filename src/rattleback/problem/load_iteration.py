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
from rattleback.model.bench import Bench, Moment
from rattleback.model.model import Bodies
from rattleback.model.state import Loads, Motion
from rattleback.problem.joint_response import JointResponse
from rattleback.problem.load_changes import (
    BLOCK,
    Change,
    Held,
    Rounds,
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
def begin_rounds(rounds: Rounds) -> None:
    """The iteration of the worlds that need care begins."""
    w = wp.tid()
    rounds.busy[w] = rounds.careful[w]
    rounds.count[w] = 0
    rounds.part[w] = real(1.0)
    rounds.any_busy[0] = 1


@kernel
def compare(bodies: Bodies, before: Motion, trials: Trials, change: Change, rounds: Rounds, held: Held) -> None:
    """⟨ρ, ρ⟩, ⟨Δx, Δρ⟩ and ⟨Δρ, Δρ⟩ of a block; ρ = x* + y − x takes the place of y."""
    t = wp.tid()
    world = t // held.blocks
    if rounds.busy[world] == 0:
        return
    k = (t % held.blocks) * BLOCK
    square = real(0.0)
    mixed = real(0.0)
    changed = real(0.0)
    for e in range(k, wp.min(k + BLOCK, int(held.each))):
        i = held.row[world * held.each + e]
        v = trials.wanted_velocity[i] + change.ways.velocity[i] - trials.velocity[i]
        s = trials.wanted_spin[i] + change.ways.angular_velocity[i] - trials.spin[i]
        change.ways.velocity[i] = v
        change.ways.angular_velocity[i] = s
        dv = v - trials.rest_velocity[i]
        ds = s - trials.rest_spin[i]
        gone = trials.velocity[i] - trials.last_velocity[i]
        turned = trials.spin[i] - trials.last_spin[i]
        square += product(bodies, before, i, v, s, v, s)
        mixed += product(bodies, before, i, gone, turned, dv, ds)
        changed += product(bodies, before, i, dv, ds, dv, ds)
    rounds.first[t] = square
    rounds.second[t] = mixed
    rounds.third[t] = changed


@kernel
def lower(rounds: Rounds) -> None:
    """No world is busy until one says so."""
    rounds.any_busy[0] = 0


@kernel
def find_part(blocks: int, rounds: Rounds) -> None:
    """θ of the next round, or none where ρ is small."""
    w = wp.tid()
    if rounds.busy[w] == 0:
        return
    square = real(0.0)
    mixed = real(0.0)
    changed = real(0.0)
    for b in range(w * blocks, w * blocks + blocks):
        square += rounds.first[b]
        mixed += rounds.second[b]
        changed += rounds.third[b]
    if rounds.reference[w] == real(0.0):
        # Nothing has been tried yet: x* and F₀ are zero.
        rounds.reference[w] = square
    elif mixed < real(0.0):
        rounds.part[w] = -mixed / changed
    else:
        rounds.part[w] = real(0.5) * rounds.part[w]
    rounds.count[w] = rounds.count[w] + 1
    if not (square > CLOSE * rounds.reference[w]) or rounds.count[w] > MOST_ROUNDS:
        rounds.busy[w] = 0
    else:
        rounds.any_busy[0] = 1


@kernel
def next_trial(bodies: Bodies, trials: Trials, change: Change, rounds: Rounds, held: Held) -> None:
    """X ← x + θ ρ in worlds that are busy."""
    i = held.row[wp.tid()]
    w = bodies.world[i]
    if rounds.busy[w] == 1:
        v = change.ways.velocity[i]
        s = change.ways.angular_velocity[i]
        trials.last_velocity[i] = trials.velocity[i]
        trials.last_spin[i] = trials.spin[i]
        trials.rest_velocity[i] = v
        trials.rest_spin[i] = s
        trials.velocity[i] = trials.velocity[i] + rounds.part[w] * v
        trials.spin[i] = trials.spin[i] + rounds.part[w] * s


class LoadIteration:
    """Records how the loads that jointed bodies see are found.

    Attributes:
        trials: The changes of the velocities.

    Args:
        bench: Where the step is recorded.
        preview: The preview loop of the joints.
        integrator: What moves the bodies: it says σ, and whether it leaves the loads of the step on the bench.
    """

    def __init__(self, bench: Bench, preview: "Preview", integrator: Any) -> None:
        self.bench, self.preview, self.integrator = bench, preview, integrator
        self.response = response = JointResponse(preview)
        model, self.held = bench.model, Held()
        self.held.row, self.held.each = response.held, len(response.held) // model.worlds
        self.held.blocks, self.held.part = -(-self.held.each // int(BLOCK)), integrator_part(integrator)
        counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
        counts["blocks"] = self.held.blocks * model.worlds
        self.trials: Any = arrays.allocate(Trials, counts, model.device)
        self.rounds: Any = arrays.allocate(Rounds, counts, model.device)
        self.lends = bool(getattr(integrator, "leaves_loads", False))
        self.change = Change()
        self.change.known, self.change.ways = bench.scratch(Loads), bench.scratch(Motion)
        self.change.loads = bench.loads if self.lends else bench.scratch(Loads)

    def record_start(self) -> None:
        """Record the loads at the state; where they would throw free bodies far, what joints do about that at once."""
        bench, effort = self.bench, self.preview.effort
        self._share(begin_bodies, self.trials, self.change.known)
        bench.for_worlds(begin_worlds, self.trials, self.rounds)
        self._evaluate()
        self._share(find_wild, bench.model.bodies, bench.state.motion, effort, self.trials, self.change, self.rounds)
        self.record_rounds()

    def record_trial(self) -> None:
        """Record the loads at x*, in the worlds that are open, and what free bodies would do about their change."""
        bench, effort = self.bench, self.preview.effort
        given = (effort, self.trials, self.change, self.rounds, self.preview.limits.velocity)
        self._share(try_wanted, bench.model.bodies, *given)
        self._evaluate()
        self._for_blocks(weigh, effort, self.trials, self.change, self.rounds)

    def record_rounds(self) -> None:
        """Record how x is found in the worlds that need care, what joints answer, and the forces of the prediction."""
        bench, rounds, effort = self.bench, self.rounds, self.preview.effort
        with bench.program.when(rounds.any_careful):
            bench.for_worlds(begin_rounds, rounds)
            with bench.program.loop(rounds.any_busy):
                self.response.leave(self.change.ways, rounds.busy)
                self._for_blocks(compare, self.trials, self.change, rounds)
                bench.program.launch(lower, 1, rounds)
                bench.for_worlds(find_part, self.held.blocks, rounds)
                given = (bench.model.bodies, self.trials, self.change, rounds, self.held)
                bench.program.launch(next_trial, len(self.held.row), *given)
                self._evaluate()
                self._for_blocks(weigh, effort, self.trials, self.change, rounds)
            self.response.push(self.change.ways, bench.start, rounds.careful)
            if self.lends:
                self.integrator.record_forces(bench)
        if not self.lends:
            self.integrator.record_forces(bench)

    def _evaluate(self) -> None:
        """The loads at a trial."""
        bench = self.bench
        if self.lends:
            self.integrator.record_forces(bench)
        else:
            bench.evaluate(Moment(bench.state.motion, bench.state.clock, self.held.part), self.change.loads)

    def _share(self, kernel: Any, *inputs: Any) -> None:
        self.bench.program.share(kernel, len(self.held.row), *inputs, self.held)

    def _for_blocks(self, kernel: Any, *inputs: Any) -> None:
        blocks = self.held.blocks * self.bench.model.worlds
        self.bench.program.launch(kernel, blocks, self.bench.model.bodies, self.bench.state.motion, *inputs, self.held)


def integrator_part(integrator: Any) -> float:
    """Part of the step by which an integrator lets loads act on the mean velocities; zero if it takes them before."""
    return float(getattr(integrator, "forces_at", 0.5))
