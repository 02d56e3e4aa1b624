"""Jacobi: all manifolds at once, each against the velocities of the last sweep, with its share of the change.

    p ← p + (p* − p) / n,      p* impulses that manifold k wants for itself,   n the most manifolds that a body of k has

Without the share n every body would be stopped once by each of its contacts. With it the sum of all changes never
overshoots, as A ≤ diag(n K): what the manifolds of a body do together is at most their mean.

    for every manifold, in any order:   p* point by point, at the velocities of now
    for every manifold:                 apply (p* − p) / n to its bodies

Cost: about that of a sweep of ``pgs``, and n times as many sweeps or more; all of it side by side on a GPU. Use it to
compare, and where the order of contacts must not matter.

Reference: Tonge, Benevolenski, Voroshilov (2012), Mass splitting for jitter-free parallel rigid body simulation.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core import arrays, checks
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.point import solve_twist_by_points
from rattleback.solvers.contacts.kernels.twist import apply_twist, make_twist
from rattleback.solvers.contacts.problem.colouring import Colours
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import Pressing, twist_of
from rattleback.solvers.contacts.problem.status import Rounds
from rattleback.solvers.contacts.solvers.iteration import iterate


@group(axis="contacts")
class Changes:
    """What a sweep wants to change."""

    former: vec3 = field("N s", "impulse of a point before the sweep")
    push: vec3 = field("N s, N m s, N m s", "normal part of the wrench that a manifold adds")
    rub: vec3 = field("N s, N s, N m s", "tangential part of it")
    applies: wp.int32 = field("1", "1 where a manifold has a change in this sweep")
    meetings: wp.int32 = field("1", "manifolds of a body that take part", axis="bodies")


@kernel
def count_meetings(bodies: Bodies, pressing: Pressing, active: Active, changes: Changes) -> None:
    """How many manifolds a body has, on one thread."""
    for i in range(bodies.world.shape[0]):
        changes.meetings[i] = 0
    for n in range(active.count[0]):
        for side in range(2):
            k = active.listed[n]
            i = wp.where(side == 0, pressing.patches.body_a[k], pressing.patches.body_b[k])
            if bodies.inverse_mass[i] > real(0.0):
                changes.meetings[i] = changes.meetings[i] + 1


@kernel
def find_changes(
    graph: Graph, pressing: Pressing, active: Active, motion: Motion, rounds: Rounds, changes: Changes, lanes: int
) -> None:
    """What every manifold that takes part in a busy world wants at the velocities of now, and its share of that."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = pressing.patches.world[k]
        changes.applies[k] = rounds.busy[w] * active.marked[k]
        if changes.applies[k] == 0:
            continue
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            changes.former[c] = pressing.points.impulse[c]
        couple = pressing.patches.couple[k]
        u, omega = twist_of(pressing.patches, motion, k)
        twist = make_twist(u + pressing.patches.drive[k], omega + pressing.patches.spin[k])
        twist = solve_twist_by_points(pressing.patches, pressing.points, k, twist)
        a = changes.meetings[pressing.patches.body_a[k]]
        share = real(1.0) / real(wp.max(wp.max(a, changes.meetings[pressing.patches.body_b[k]]), 1))
        for c in range(first, first + pressing.patches.count[k]):
            former = changes.former[c]
            pressing.points.impulse[c] = former + share * (pressing.points.impulse[c] - former)
        pressing.patches.couple[k] = couple + share * (pressing.patches.couple[k] - couple)
        changes.push[k] = share * twist.push
        changes.rub[k] = share * twist.rub
        wp.atomic_max(rounds.along, w, twist.along)
        wp.atomic_max(rounds.across, w, wp.sqrt(twist.across))


@wp.func
def apply_change(bodies: Bodies, pressing: Pressing, motion: Motion, changes: Changes, k: int) -> None:
    """Apply what a manifold adds."""
    twist = make_twist(vec3(), vec3())
    twist.push = changes.push[k]
    twist.rub = changes.rub[k]
    apply_twist(bodies, pressing, motion, k, twist)


@kernel
def apply_in_order(bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, changes: Changes) -> None:
    """Apply the changes of all manifolds, on one thread."""
    for k in range(graph.total[0]):
        if changes.applies[k] == 1:
            apply_change(bodies, pressing, motion, changes, k)


@kernel
def apply_colour(
    bodies: Bodies, pressing: Pressing, colours: Colours, motion: Motion, changes: Changes, colour: int, threads: int
) -> None:
    """Apply the changes of the manifolds of a colour, side by side."""
    place = colours.first[colour] + wp.tid()
    while place < colours.first[colour + 1]:
        k = colours.order[place]
        if changes.applies[k] == 1:
            apply_change(bodies, pressing, motion, changes, k)
        place += threads


@sealed
@dataclass(frozen=True)
class Jacobi:
    """All manifolds at once.

    Attributes:
        sweeps: Most sweeps of one problem.
    """

    sweeps: int = 200

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
        problem, part = self.problem, (self.problem.pressing, self.problem.active)
        problem.program.launch(count_meetings, 1, problem.bodies, *part, self.changes)
        iterate(problem, lambda: self._sweep(motion), motion, goal, which, response)

    def _sweep(self, motion: Motion) -> None:
        problem, changes = self.problem, self.changes
        given = (problem.graph, problem.pressing, problem.active, motion, problem.status, changes)
        problem.for_manifolds(find_changes, *given)
        if problem.palette is None:
            problem.program.launch(apply_in_order, 1, problem.bodies, problem.pressing, problem.graph, motion, changes)
        else:
            problem.palette.by_colour(apply_colour, motion, changes)
