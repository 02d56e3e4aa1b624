"""Records sweeps over the patches of a model, with conjugate directions, alone or in exchange with joints."""

from collections.abc import Callable
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.twist import BACK, FORTH, THERE_AND_BACK
from rattleback.solvers.contacts.problem.colouring import Palette
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Pressing
from rattleback.solvers.contacts.problem.status import (
    Rounds,
    begin_exchange,
    begin_rounds,
    find_aims,
    judge,
    judge_exchange,
    judge_plain,
    next_exchange,
    next_sweep,
    push_in_order,
    reopen,
    sweep_back,
    sweep_deep,
    sweep_in_order,
)
from rattleback.solvers.contacts.solvers.conjugate import EARLY, PLAIN, Directions, begin_directions, go_on
from rattleback.solvers.contacts.stages.energy_limiter import Easer
from rattleback.solvers.contacts.stages.shock import propagate

# Records something for the worlds where an array is 1.
Turn = Callable[[Any], None]
# Up to so many sweeps the points of a patch are solved once in each, what overlaps deep is swept on, and rounds of
# collisions have no more.
FEW = 10


class Sweeper:
    """Records sweeps over the patches of a model.

    Args:
        program: Where to record.
        bodies: The bodies.
        pressing: The patches.
        graph: Their number.
        rounds: Who is busy.
        palette: What sweeps colour by colour; None to go in order, on one thread.

    Attributes:
        easer: What eases impulses that create energy; None to leave them.
        state: The motion that says how fast a world moves; None to sweep none to a finer residual than its tolerance.
    """

    def __init__(
        self,
        program: Any,
        bodies: Bodies,
        pressing: Pressing,
        graph: Graph,
        rounds: Rounds,
        palette: Palette | None = None,
    ) -> None:
        self.palette = palette
        self.shocks = False
        self.program, self.bodies, self.pressing, self.graph, self.rounds = program, bodies, pressing, graph, rounds
        self.worlds = len(rounds.busy)
        device = rounds.busy.device
        self.everywhere = wp.full(self.worlds, 1, dtype=wp.int32, device=device)
        counts = {
            "contacts": len(pressing.points.impulse),
            "bodies": len(bodies.world),
            "worlds": self.worlds,
            "flags": 1,
        }
        self.directions = arrays.allocate(Directions, counts, device)
        self.easer: Easer | None = None
        self.state: Motion | None = None

    def push(self, motion: Motion, wanted: Any = None) -> None:
        """Record what applies the impulses that all points have to the velocities of a motion.

        Args:
            motion: Whose velocities.
            wanted: 1 for every world in which that is done; None for all.
        """
        wanted = self.everywhere if wanted is None else wanted
        if self.palette is None:
            self.program.launch(push_in_order, 1, self.bodies, self.pressing, self.graph, motion, wanted)
        else:
            self.palette.push(motion, wanted)

    def push_loads(self, motion: Motion, wanted: Any) -> None:
        """Record the same for loads of the last step at the start of the next, eased where they may be blows."""
        self.push(motion, wanted)
        if self.easer is not None:
            self.easer.ease_start(motion, wanted)

    def exchange(self, turns: tuple[Turn, Turn], tolerance: float, most: int, wanted: Any) -> None:
        """Record contacts and joints in turn, until neither puts the other off.

        Args:
            turns: Records sweeps of the contacts, and what corrects the joints, in the worlds that it is given.
            tolerance: Largest residual the joints may leave at the contacts [m/s].
            most: Most exchanges.
            wanted: 1 for every world in which that is done.
        """
        program, rounds = self.program, self.rounds
        program.launch(begin_exchange, self.worlds, rounds, wanted)
        with program.loop(rounds.any_exchanging, may_stop=True):
            program.launch(next_exchange, 1, rounds)
            for turn in turns:
                turn(rounds.exchanging)
            program.launch(judge_exchange, self.worlds, rounds, tolerance, most)

    def sweep(self, motion: Motion, tolerance: float, most: int, wanted: Any = None) -> None:
        """Record sweeps over a motion until the residual is within a tolerance.

        Args:
            motion: Whose velocities are corrected.
            tolerance: Largest residual [m/s].
            most: Most sweeps.
            wanted: 1 for every world that is to be swept; None for all.
        """
        program, rounds = self.program, self.rounds
        wanted = self.everywhere if wanted is None else wanted
        self.begin(tolerance, wanted, most > 1)
        self._sweep_plainly(motion, tolerance, most)
        if self.plain(most)[1] < most - 1:
            program.launch(reopen, self.worlds, rounds, wanted, tolerance, most)
            with program.when(rounds.any_busy):
                self._sweep_on(motion, tolerance, most)
        swept = (self.bodies, self.pressing, self.graph, motion)
        if self.palette is None and 1 < most <= FEW:
            program.launch(sweep_deep, 1, *swept, wanted)
        if self.easer is not None:
            self.easer.ease_left(motion, wanted, tolerance)
        if self.shocks and most > 1:
            program.launch(propagate, 1, *swept, rounds, wanted, tolerance)

    def sweep_marked(self, motion: Motion, tolerance: float, most: int, wanted: Any) -> None:
        """Record a few plain sweeps over the patches that are not marked as swept, and over those next to them.

        Args:
            motion: Whose velocities are corrected, those of bodies that nobody has pushed yet.
            tolerance: Largest residual [m/s].
            most: Most sweeps.
            wanted: 1 for every world that is to be swept.
        """
        self.program.launch(begin_rounds, self.worlds, self.rounds, wanted, 1)
        self._sweep_plainly(motion, tolerance, most)

    def plain(self, most: int) -> tuple[int, int]:
        """Sweeps of ``most`` that come before conjugate directions, and those where these come early."""
        return (most, most) if self.palette is not None else (min(most, PLAIN), min(most, EARLY))

    def begin(self, tolerance: float, wanted: Any, calms: bool) -> None:
        """Record that sweeps begin.

        Args:
            tolerance: Largest residual [m/s].
            wanted: 1 for every world that is to be swept.
            calms: Whether worlds in which hardly anything moves are swept to a finer one.
        """
        self.program.launch(begin_rounds, self.worlds, self.rounds, wanted, 0)
        if calms and self.state is not None:
            self.program.launch(find_aims, 1, self.bodies, self.state, self.rounds, tolerance)

    def sweep_once(self, motion: Motion, tolerance: float, most: int) -> None:
        """Record one of at most so many sweeps over the busy worlds."""
        self.program.launch(next_sweep, self.worlds, self.rounds)
        if self.palette is None:
            self._in_order(sweep_in_order, motion, tolerance, FORTH if most <= FEW else THERE_AND_BACK)
        else:
            self.palette.sweep(motion, self.rounds)

    def sweep_back(self, motion: Motion, tolerance: float, most: int) -> None:
        """Record one of them the other way, on one thread."""
        self._in_order(sweep_back, motion, tolerance, BACK if most <= FEW else THERE_AND_BACK)

    def _sweep_plainly(self, motion: Motion, tolerance: float, most: int) -> None:
        with self.program.loop(self.rounds.any_busy, may_stop=True):
            self.sweep_once(motion, tolerance, most)
            self.program.launch(judge_plain, self.worlds, self.rounds, tolerance, *self.plain(most))

    def _in_order(self, kernel: Any, motion: Motion, tolerance: float, way: Any) -> None:
        given = (self.bodies, self.pressing, self.graph, motion, self.rounds)
        self.program.launch(kernel, 1, *given, tolerance, int(way))

    def _sweep_on(self, motion: Motion, tolerance: float, most: int) -> None:
        """Sweeps back and forth along conjugate directions; going on takes one each way."""
        program, rounds, swept = self.program, self.rounds, (self.bodies, self.graph, self.pressing, motion)
        program.launch(begin_directions, 1, *swept, self.directions, rounds.turn, self.everywhere)
        with program.loop(rounds.any_busy, may_stop=True):
            self.sweep_once(motion, tolerance, most)
            program.launch(judge, self.worlds, rounds, tolerance, most, 2)
            with program.when(rounds.any_busy):
                self.sweep_back(motion, tolerance, most)
                program.launch(go_on, 1, *swept, rounds, self.directions)
