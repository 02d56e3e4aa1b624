"""Jacobi: all manifolds at once, each against the velocities of the last sweep, with its share of the change.

    p ← p + (p* − p) / n,      p* impulses that solve manifold k alone,   n the most manifolds that a body of k has

Without the divisor n every body would be stopped once by each of its contacts. With it the sum of all changes never
overshoots, as A ≤ diag(n K): the manifolds of a body together change it by at most their mean.

    for every manifold, in any order:   p* point by point, at the present velocities
    for every manifold:                 apply (p* − p) / n to its bodies

Cost: about that of a sweep of ``pgs``, and n times as many sweeps or more; all of it in parallel on a GPU. Use it to
compare, and where the order of contacts must not matter.

Reference: Tonge, Benevolenski, Voroshilov (2012), Mass splitting for jitter-free parallel rigid body simulation.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import warp as wp

from rattleback.core import arrays, checks
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel, lone_kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.by_law import twist_solver
from rattleback.solvers.contacts.kernels.laws import LAWS
from rattleback.solvers.contacts.kernels.twist import apply_twist, make_twist
from rattleback.solvers.contacts.problem.colouring import Colouring
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, twist_of
from rattleback.solvers.contacts.problem.status import SolverStatus
from rattleback.solvers.contacts.solvers.iteration import iterate


@group(axis="contacts")
class Changes:
    """The changes of a sweep."""

    former: vec3 = field("N s", "impulse of a point before the sweep")
    normal_impulse: vec3 = field("N s, N m s, N m s", "normal part of the wrench that a manifold adds")
    tangent_impulse: vec3 = field("N s, N s, N m s", "tangential part of it")
    applies: wp.int32 = field("1", "1 where a manifold has a change in this sweep")
    meetings: wp.int32 = field("1", "manifolds of a body that take part", axis="bodies")


@kernel
def count_meetings(bodies: Bodies, system: ContactSystem, active: Active, changes: Changes) -> None:
    """How many manifolds a body has, on one thread."""
    for i in range(bodies.world.shape[0]):
        changes.meetings[i] = 0
    for n in range(active.count[0]):
        for side in range(2):
            k = active.listed[n]
            i = wp.where(side == 0, system.manifolds.body_a[k], system.manifolds.body_b[k])
            if bodies.inverse_mass[i] > real(0.0):
                changes.meetings[i] = changes.meetings[i] + 1


@cache
def change_finder(solve_twist: Any) -> Any:
    """The kernel that finds the change of every manifold, of what finds the wrench of one."""

    @lone_kernel
    def find_changes(
        graph: Graph,
        system: ContactSystem,
        active: Active,
        motion: Motion,
        status: SolverStatus,
        changes: Changes,
        lanes: int,
    ) -> None:
        """Change of every manifold that takes part in an active world at the present velocities, divided by n."""
        for k in range(wp.tid(), graph.total[0], lanes):
            w = system.manifolds.world[k]
            changes.applies[k] = status.busy[w] * active.marked[k]
            if changes.applies[k] == 0:
                continue
            first = system.manifolds.first[k]
            for c in range(first, first + system.manifolds.count[k]):
                changes.former[c] = system.points.impulse[c]
            couple = system.manifolds.resisting_moment[k]
            u, omega = twist_of(system.manifolds, motion, k)
            twist = make_twist(u + system.manifolds.bias[k], omega + system.manifolds.angular_bias[k])
            twist = solve_twist(system.manifolds, system.points, k, twist)
            a = changes.meetings[system.manifolds.body_a[k]]
            share = real(1.0) / real(wp.max(wp.max(a, changes.meetings[system.manifolds.body_b[k]]), 1))
            for c in range(first, first + system.manifolds.count[k]):
                former = changes.former[c]
                system.points.impulse[c] = former + share * (system.points.impulse[c] - former)
            system.manifolds.resisting_moment[k] = couple + share * (system.manifolds.resisting_moment[k] - couple)
            changes.normal_impulse[k] = share * twist.normal_impulse
            changes.tangent_impulse[k] = share * twist.tangent_impulse
            wp.atomic_max(status.normal_residual, w, twist.normal_residual)
            wp.atomic_max(status.tangential_residual, w, wp.sqrt(twist.tangential_residual_squared))

    return find_changes


@wp.func
def apply_change(bodies: Bodies, system: ContactSystem, motion: Motion, changes: Changes, k: int) -> None:
    """Apply the change of a manifold."""
    twist = make_twist(vec3(), vec3())
    twist.normal_impulse = changes.normal_impulse[k]
    twist.tangent_impulse = changes.tangent_impulse[k]
    apply_twist(bodies, system, motion, k, twist)


@kernel
def apply_in_order(bodies: Bodies, system: ContactSystem, graph: Graph, motion: Motion, changes: Changes) -> None:
    """Apply the changes of all manifolds, on one thread."""
    for k in range(graph.total[0]):
        if changes.applies[k] == 1:
            apply_change(bodies, system, motion, changes, k)


@kernel
def apply_colour(
    bodies: Bodies,
    system: ContactSystem,
    colouring: Colouring,
    motion: Motion,
    changes: Changes,
    colour: int,
    threads: int,
) -> None:
    """Apply the changes of the manifolds of a colour, in parallel."""
    place = colouring.first[colour] + wp.tid()
    while place < colouring.first[colour + 1]:
        k = colouring.order[place]
        if changes.applies[k] == 1:
            apply_change(bodies, system, motion, changes, k)
        place += threads


@sealed
@dataclass(frozen=True)
class Jacobi:
    """All manifolds at once.

    Attributes:
        sweeps: Most sweeps of one problem.
    """

    sweeps: int = 200

    laws: ClassVar[tuple[str, ...]] = LAWS

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of Jacobi")

    def bind(self, problem: ContactProblem) -> "BoundJacobi":
        """The solver of a problem."""
        return BoundJacobi(problem)


class BoundJacobi:
    """Records the sweeps; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, problem: ContactProblem) -> None:
        self.problem, bodies = problem, problem.bodies
        counts = {"contacts": problem.room, "bodies": len(bodies.world)}
        self.changes = arrays.allocate(Changes, counts, bodies.world.device)

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        problem, part = self.problem, (self.problem.system, self.problem.active)
        problem.program.launch(count_meetings, 1, problem.bodies, *part, self.changes)
        law = "coulomb" if goal.posed == "positions" else problem.law
        finder = change_finder(twist_solver(law))
        iterate(problem, lambda: self._sweep(motion, finder), motion, goal, which, response)

    def _sweep(self, motion: Motion, finder: Any) -> None:
        problem, changes = self.problem, self.changes
        given = (problem.graph, problem.system, problem.active, motion, problem.status, changes)
        problem.for_manifolds(finder, *given)
        if problem.colour_driver is None:
            problem.program.launch(apply_in_order, 1, problem.bodies, problem.system, problem.graph, motion, changes)
        else:
            problem.colour_driver.by_colour(apply_colour, motion, changes)
