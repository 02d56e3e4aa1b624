"""Gauss–Seidel sweeps: one correction of a manifold, two drivers.

    for every manifold that takes part, in order:  correct the velocities of its two bodies

In order, on one thread, as the contact graph has them; after the first sweep those are passed over whose bodies nothing
has pushed since they were solved. By colour, side by side, where manifolds of one colour share no body. The correction
is a ``@wp.func`` (bodies, pressing, motion, k) that returns the residual of manifold k along the normal and across.

Reference: Bender, dissertation, §5.2.1; Luby (1986) for the colours.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core.kernel import lone_kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.problem.colouring import Colours
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import Pressing
from rattleback.solvers.contacts.problem.status import Rounds, goal, note_residual

# Part of the goal up to which a change does not matter to the neighbours of a manifold.
LITTLE = wp.constant(real(0.01))


@wp.func
def note_push(bodies: Bodies, pressing: Pressing, i: int, turn: int) -> None:
    """A body was pushed; nothing pushes static ones."""
    if bodies.inverse_mass[i] > real(0.0):
        pressing.weights.pushed[i] = turn


@wp.func
def next_turn(bodies: Bodies, pressing: Pressing, rounds: Rounds) -> int:
    """Number of the sweep that begins; before the first nothing has been pushed."""
    turn = rounds.turn[0] + 1
    rounds.turn[0] = turn
    if turn == 1:
        for i in range(bodies.world.shape[0]):
            pressing.weights.pushed[i] = 0
    return turn


@wp.func
def is_quiet(pressing: Pressing, k: int) -> bool:
    """Whether neither body of a manifold has been pushed since it was solved."""
    seen = pressing.patches.swept[k]
    pushed = pressing.weights.pushed
    return pushed[pressing.patches.body_a[k]] < seen and pushed[pressing.patches.body_b[k]] < seen


@dataclass(frozen=True)
class Drivers:
    """The kernels of a sweep: in order, backwards, and by colour."""

    forth: Any
    back: Any
    by_colour: Any


def drivers(solve: Any) -> Drivers:
    """The kernels that sweep with a correction of one manifold.

    Args:
        solve: A ``@wp.func`` (bodies, pressing, motion, k), see above.
    """

    @wp.func
    def solve_and_note(
        bodies: Bodies, pressing: Pressing, motion: Motion, rounds: Rounds, k: int, turn: int, tolerance: real
    ) -> real:
        w = pressing.patches.world[k]
        along, across = solve(bodies, pressing, motion, k)
        note_residual(rounds, w, along, across)
        pressing.patches.swept[k] = turn
        worst = wp.max(along, across)
        if not worst <= LITTLE * goal(rounds, w, tolerance):
            note_push(bodies, pressing, pressing.patches.body_a[k], turn)
            note_push(bodies, pressing, pressing.patches.body_b[k], turn)
        return worst

    @lone_kernel
    def sweep_forth(
        bodies: Bodies, pressing: Pressing, active: Active, motion: Motion, rounds: Rounds, tolerance: real
    ) -> None:
        turn = next_turn(bodies, pressing, rounds)
        for n in range(active.count[0]):
            k = active.listed[n]
            w = pressing.patches.world[k]
            if rounds.busy[w] == 1 and (turn == 1 or not is_quiet(pressing, k)):
                worst = solve_and_note(bodies, pressing, motion, rounds, k, turn, tolerance)
                if pressing.patches.jointed[k] == 1:
                    rounds.jointed[w] = wp.max(rounds.jointed[w], worst)

    @lone_kernel
    def sweep_back(
        bodies: Bodies, pressing: Pressing, active: Active, motion: Motion, rounds: Rounds, tolerance: real
    ) -> None:
        turn = next_turn(bodies, pressing, rounds)
        for w in range(rounds.sweeps.shape[0]):
            rounds.sweeps[w] = rounds.sweeps[w] + rounds.busy[w]
        count = active.count[0]
        for n in range(count):
            k = active.listed[count - 1 - n]
            if rounds.busy[pressing.patches.world[k]] == 1 and not is_quiet(pressing, k):
                solve_and_note(bodies, pressing, motion, rounds, k, turn, tolerance)

    @lone_kernel
    def sweep_colour(
        bodies: Bodies,
        pressing: Pressing,
        colours: Colours,
        active: Active,
        motion: Motion,
        rounds: Rounds,
        colour: int,
        threads: int,
    ) -> None:
        place = colours.first[colour] + wp.tid()
        while place < colours.first[colour + 1]:
            k = colours.order[place]
            w = pressing.patches.world[k]
            if rounds.busy[w] == 1 and active.marked[k] == 1:
                along, across = solve(bodies, pressing, motion, k)
                if along > rounds.along[w]:
                    wp.atomic_max(rounds.along, w, along)
                if across > rounds.across[w]:
                    wp.atomic_max(rounds.across, w, across)
            place += threads

    return Drivers(sweep_forth, sweep_back, sweep_colour)


class Sweeps:
    """Records sweeps over a problem.

    Args:
        problem: The problem.
        kernels: What ``drivers`` made of the correction of a manifold.
    """

    def __init__(self, problem: ContactProblem, kernels: Drivers) -> None:
        self.problem, self.kernels = problem, kernels

    def record(self, motion: Motion, goal: Goal, backwards: bool = False) -> None:
        """Record one sweep over the manifolds that take part in busy worlds.

        Args:
            motion: Whose velocities are corrected.
            goal: How far the solver goes.
            backwards: Whether in the opposite order, without a residual; only in order.
        """
        problem = self.problem
        if problem.palette is not None:
            problem.palette.by_colour(self.kernels.by_colour, problem.active, motion, problem.status)
            return
        kernel = self.kernels.back if backwards else self.kernels.forth
        given = (problem.bodies, problem.pressing, problem.active, motion, problem.status)
        problem.program.launch(kernel, 1, *given, goal.tolerance)
