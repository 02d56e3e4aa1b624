"""Gauss–Seidel sweeps: one correction of a manifold, two drivers.

    for every manifold that takes part, in order:  correct the velocities of its two bodies

In order, on one thread, from the ground up; after the first sweep a manifold is skipped whose bodies nothing has
pushed since its last correction. By colour, in parallel, where manifolds of one colour share no body. The correction
is a ``@wp.func`` (bodies, system, motion, k) that returns the residual of manifold k along the normal and across.

Reference: Bender, dissertation, §5.2.1; Luby (1986) for the colours.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import warp as wp

from rattleback.core.kernel import lone_kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.problem.colouring import Colouring
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import ContactSystem
from rattleback.solvers.contacts.problem.status import SolverStatus, target_residual, update_residual

# Part of the goal up to which a change does not count for the neighbours of a manifold.
FINE_CHANGE = wp.constant(real(0.01))


@wp.func
def mark_pushed(bodies: Bodies, system: ContactSystem, i: int, sweep: int) -> None:
    """Store that a body was pushed; static ones are not."""
    if bodies.inverse_mass[i] > real(0.0):
        system.inertias.last_push[i] = sweep


@wp.func
def next_sweep_number(bodies: Bodies, system: ContactSystem, status: SolverStatus) -> int:
    """Number of the sweep that begins; before the first one no body has been pushed."""
    sweep = status.sweep[0] + 1
    status.sweep[0] = sweep
    if sweep == 1:
        for i in range(bodies.world.shape[0]):
            system.inertias.last_push[i] = 0
    return sweep


@wp.func
def is_unchanged(system: ContactSystem, k: int) -> bool:
    """Whether neither body of a manifold has been pushed since its last correction."""
    seen = system.manifolds.last_sweep[k]
    pushed = system.inertias.last_push
    return pushed[system.manifolds.body_a[k]] < seen and pushed[system.manifolds.body_b[k]] < seen


@dataclass(frozen=True)
class Drivers:
    """The kernels of a sweep: in order, backwards, and by colour."""

    forward: Any
    backward: Any
    by_colour: Any


@cache
def drivers(solve: Any) -> Drivers:
    """The kernels that sweep with a correction of one manifold.

    Args:
        solve: A ``@wp.func`` (bodies, system, motion, k), see above.
    """

    @wp.func
    def solve_and_note(
        bodies: Bodies, system: ContactSystem, motion: Motion, status: SolverStatus, k: int, sweep: int, tolerance: real
    ) -> real:
        w = system.manifolds.world[k]
        normal, tangential = solve(bodies, system, motion, k)
        update_residual(status, w, normal, tangential)
        system.manifolds.last_sweep[k] = sweep
        worst = wp.max(normal, tangential)
        if not worst <= FINE_CHANGE * target_residual(status, w, tolerance):
            mark_pushed(bodies, system, system.manifolds.body_a[k], sweep)
            mark_pushed(bodies, system, system.manifolds.body_b[k], sweep)
        return worst

    @lone_kernel
    def sweep_forward(
        bodies: Bodies,
        system: ContactSystem,
        active: Active,
        motion: Motion,
        status: SolverStatus,
        tolerance: wp.array[real],
    ) -> None:
        sweep = next_sweep_number(bodies, system, status)
        for n in range(active.count[0]):
            k = active.listed[n]
            w = system.manifolds.world[k]
            if status.busy[w] == 1 and (sweep == 1 or not is_unchanged(system, k)):
                worst = solve_and_note(bodies, system, motion, status, k, sweep, tolerance[w])
                if system.manifolds.jointed[k] == 1:
                    status.jointed_residual[w] = wp.max(status.jointed_residual[w], worst)

    @lone_kernel
    def sweep_backward(
        bodies: Bodies,
        system: ContactSystem,
        active: Active,
        motion: Motion,
        status: SolverStatus,
        tolerance: wp.array[real],
    ) -> None:
        sweep = next_sweep_number(bodies, system, status)
        for world in range(status.sweeps.shape[0]):
            status.sweeps[world] = status.sweeps[world] + status.busy[world]
        count = active.count[0]
        for n in range(count):
            k = active.listed[count - 1 - n]
            w = system.manifolds.world[k]
            if status.busy[w] == 1 and not is_unchanged(system, k):
                solve_and_note(bodies, system, motion, status, k, sweep, tolerance[w])

    @lone_kernel
    def sweep_colour(
        bodies: Bodies,
        system: ContactSystem,
        colouring: Colouring,
        active: Active,
        motion: Motion,
        status: SolverStatus,
        colour: int,
        threads: int,
    ) -> None:
        place = colouring.first[colour] + wp.tid()
        while place < colouring.first[colour + 1]:
            k = colouring.order[place]
            w = system.manifolds.world[k]
            if status.busy[w] == 1 and active.marked[k] == 1:
                normal, tangential = solve(bodies, system, motion, k)
                if normal > status.normal_residual[w]:
                    wp.atomic_max(status.normal_residual, w, normal)
                if tangential > status.tangential_residual[w]:
                    wp.atomic_max(status.tangential_residual, w, tangential)
            place += threads

    return Drivers(sweep_forward, sweep_backward, sweep_colour)


class Sweeps:
    """Records sweeps over a problem.

    Args:
        problem: The problem.
        kernels: What ``drivers`` made of the correction of a manifold.
        of_positions: The same for problems of positions, under Coulomb's law; None for that of the others.
    """

    def __init__(self, problem: ContactProblem, kernels: Drivers, of_positions: Drivers | None = None) -> None:
        self.problem, self.kernels, self.of_positions = problem, kernels, of_positions or kernels

    def record(self, motion: Motion, goal: Goal, backwards: bool = False) -> None:
        """Record one sweep over the manifolds that take part in active worlds.

        Args:
            motion: The velocities to correct.
            goal: Tolerance and most sweeps.
            backwards: Whether in the opposite order, without a residual; only in order.
        """
        problem, kernels = self.problem, self.of_positions if goal.posed == "positions" else self.kernels
        if problem.colour_driver is not None:
            problem.colour_driver.by_colour(kernels.by_colour, problem.active, motion, problem.status)
            return
        kernel = kernels.backward if backwards else kernels.forward
        given = (problem.bodies, problem.system, problem.active, motion, problem.status)
        problem.program.launch(kernel, 1, *given, goal.tolerance)
