"""Time stepping: contacts are solved once a step, where impulses solve them at either end of it.

    v⁺ = v + h M⁻¹ f + M⁻¹ Jᵀ p,      0 ≤ p_n  ⟂  u_n + Φ / h ≥ 0,      |p_t| ≤ μ p_n against the slip

v⁺ mean velocities over the step, u those of A against B at a point, Φ its distance. A point that touches is stopped or
separates, one that does not touch yet may come closer by its distance. Collisions rebound at the end of the step, as
they do by impulses; so what is solved here rests, slides or lands.

    start of the step   ½ h F, then what is missing to p
    end of the step     ½ h F again, no more than p; what stands is stopped; collisions
    F ← ½ F + p / h

F is the load of a point. One half acts before the step and one half after it, so that a body at rest neither sinks nor
keeps a speed, and one that slides follows the exact parabola. What p is beside the load put velocities right that were
off at the end of the last step. Were F all of 2 p / h, the next end would be off by as much the other way, for ever; so
it is the mean of that and what it was. F grows in a step at most by what changes a velocity by the speed from which
bodies rebound: what is more was a blow, and does not go on.

Cost: half of the sweeps of impulses, and a fifth to a quarter less in all where much moves. Use it there, and with
short steps. At the end of a step no sweeps make velocities fit: they do where loads stay what they were. Few sweeps
leave overlaps, and to move bodies apart lifts them. Where a joint holds anything that touches, both ends are solved, as
by impulses.

Reference: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics; Stewart, Trinkle (1996), An
implicit time-stepping scheme; the halves are derived here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.model.state import Clock
from rattleback.solvers.contacts.account import note_pushes
from rattleback.solvers.contacts.contact_graph import Graph
from rattleback.solvers.contacts.impulse import ContactImpulses, Impulse
from rattleback.solvers.contacts.impulse_sums import keep_impulse
from rattleback.solvers.contacts.patch import Pressing, world
from rattleback.solvers.contacts.resting import ContactLimits, Footing, sticks
from rattleback.solvers.contacts.rounds import Rounds, note_rounds
from rattleback.solvers.contacts.sweeper import Turn
from rattleback.solvers.contacts.ties import Ties
from rattleback.solvers.contacts.twist import TINY
from rattleback.solvers.contacts.ways import HALF, ZERO, keep_remainders

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.model.contacts import Contacts


@wp.func
def part(some: real, whole: real) -> real:
    """The part that some is of a whole; none where there is nothing."""
    return wp.where(whole > ZERO, some / wp.max(whole, TINY), ZERO)


@kernel
def end_start(
    graph: Graph, pressing: Pressing, limits: ContactLimits, clock: Clock, which: wp.array[wp.int32], lanes: int
) -> None:
    """The impulses at the start are found: the loads of wanted worlds from now on, and what their points end with."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[pressing.patches.world[k]] == 0:
            continue
        h = real(clock.time_step[pressing.patches.world[k]])
        more = limits.rebound / pressing.patches.rise[k][0, 0]
        all_pushed = ZERO
        all_kept = ZERO
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            p = pressing.points.impulse[c]
            half = HALF * h * pressing.points.load[c]
            grown = wp.min(p[0], half[0] + HALF * more)
            kept = wp.min(p[0], half[0])
            pressing.points.acted[c] = p
            pressing.points.load[c] = (real(1.0) / h) * (half + part(grown, p[0]) * p)
            # What slides rubs as it did just now; what sticks as its load has it, which does not swing.
            pressing.points.impulse[c] = part(kept, p[0]) * p
            pressing.points.sticks[c] = 0
            if sticks(p, pressing.patches.grip[k]):
                pressing.points.impulse[c] = part(kept, half[0]) * half
                pressing.points.sticks[c] = 1
            all_pushed += p[0]
            all_kept += kept
        pressing.patches.couple[k] = part(all_kept, all_pushed) * pressing.patches.couple[k]


@kernel
def keep_loads(ground: Footing, graph: Graph, pressing: Pressing, which: wp.array[wp.int32], lanes: int) -> None:
    """What the points of the worlds that are wanted remember, by the rows of the contacts found last.

    Contacts that were carried along are in the rows they were in, and so is what is remembered of them.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[pressing.patches.world[k]] == 0:
            continue
        keep_remainders(ground.memory, pressing, k)
        for i in range(pressing.patches.count[k]):
            keep_impulse(ground.contacts, ground.memory, pressing, k, i)
        if ground.contacts.carried[0] == 1:
            continue
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        for i in range(pressing.patches.count[k]):
            c = pressing.patches.first[k] + i
            row = pressing.patches.contact[k] + i
            ground.memory.load[row] = world(n, t, pressing.points.load[c])
            ground.memory.slip[row] = pressing.points.slip[c]


@sealed
@dataclass(frozen=True)
class TimeStepping(Impulse):
    """Contacts by impulses that are solved once a step; the same settings as ``Impulse``."""

    def bind(
        self, bench: Bench, contacts: Contacts, tolerances: tuple[float, float], distance: float
    ) -> SteppedContacts:
        """The method on a model; see ``Impulse.bind``."""
        return SteppedContacts(self, bench, contacts, self.limits(bench, tolerances, distance))


class SteppedContacts(ContactImpulses):
    """Contacts by time stepping in the steps of a model; see ``ContactImpulses``."""

    def __init__(self, method: Impulse, bench: Bench, contacts: Contacts, limits: ContactLimits) -> None:
        super().__init__(method, bench, contacts, limits)
        self.solved = arrays.allocate(Rounds, {"worlds": bench.model.worlds, "flags": 1}, bench.model.device)

    def _calm_sweeps(self) -> None:
        """On one thread sweeps go on where hardly anything moves."""
        if self.bench.model.device.is_cpu:
            self.sweeper.state = self.bench.state.motion

    @property
    def _loads_end(self) -> bool:
        """Whether points may push with half of their load at the end of the step, as those with joints do."""
        return bool(self.bench.model.scene.joints)

    def _end_start(self) -> None:
        ties = self.footing.ties if self.exchange is not None else None
        self._where_loose(ties, self._end_loose_start)
        self._where_tied(ties, self._keep_loads)

    def _end_loose_start(self, which: Any) -> None:
        self._for_patches(end_start, self.graph, self.pressing, self.limits, self.bench.state.clock, which)
        self.sweeper.push(self.bench.predicted, which)
        self.footing.stop(self.bench.predicted, which)
        self._for_patches(note_pushes, self.graph, self.pressing, which)
        self._note_solved(which)

    def _note_solved(self, which: Any) -> None:
        self.bench.for_worlds(note_rounds, self.rounds, which, self.solved)

    def _end(self, correct: Turn | None, some: Ties | None) -> None:
        """Record collisions at the velocities of the state; where joints hold what touches, all that impulses do."""
        which = self.due.which
        self._where_loose(some, partial(self.impacts.record_unloaded, correct), which)
        if correct is not None:
            self._where_tied(some, partial(self._end_tied, correct))

    def _end_tied(self, correct: Turn, which: Any) -> None:
        self._begin_end(correct, which)
        self._exchange((self._stop, correct), which)
        self._note_solved(which)

    def _keep(self, some: Ties) -> None:
        """Record what the points remember."""
        kept = (self.ground, self.graph, self.pressing)
        ties = None if self.exchange is None else some
        self._where_loose(ties, lambda which: self._for_patches(keep_loads, *kept, which), self.due.which)
        self._where_tied(ties, self._keep_points)
