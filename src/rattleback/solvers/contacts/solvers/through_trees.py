"""Gauss–Seidel through trees: every correction of a manifold moves all touching bodies, as their joints let them.

    (v, ω)_i ← (v, ω)_i + Σ_j R_ij (f, m)_j      of every touching body i, for the wrench of a manifold on its bodies j

R_ij how touching bodies of trees answer to each other, see ``reduced.midpoint.touching``; bodies of no tree answer for
themselves. The correction of a manifold is that of the solver, with effective masses K through the trees, so a sweep is
one in the freedoms of the mechanism: a foot meets the inertia of all that stands on it.

    K of every manifold by R_ij, when contacts or poses are new
    sweeps, until every world is within its residual;   velocities before, with all impulses on their bodies as if free:
    the trees answer to that once
Cost: on one thread, 0.02 µs for each touching body, beside what the manifold costs; one substitution a solution.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel, lone_kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.joint_limits import StopRows
from rattleback.reduced.midpoint.touching import Touching, room_of
from rattleback.solvers.contacts.coupling.body_answers import Wrench, push_manifold
from rattleback.solvers.contacts.coupling.masses_through import weigh_through
from rattleback.solvers.contacts.coupling.stops_through import (
    StopAnswers,
    account_stops,
    begin_stops,
    correct_stops,
    extrapolate_stops,
    mark_stops,
    square_of_stops,
)
from rattleback.solvers.contacts.kernels.twist import make_twist
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import (
    ContactSystem,
    Manifolds,
    moment_at,
    twist_of,
)
from rattleback.solvers.contacts.problem.status import (
    SolverStatus,
    begin_sweeps,
    check_world_convergence,
    find_finer_residuals,
    target_residual,
    update_residual,
)

if TYPE_CHECKING:
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal

# Part of the residual that sweeps with a substitution after each aim at. What these leave has a direction, and adds up:
# with all of it a quadruped creeps by 0.5 µm while it comes to rest, with this by 0.05, at no cost once it rests.
PART = wp.constant(real(0.1))
# Fields of manifolds that are their own here.
OWN = (
    "flat",
    "as_block",
    "block_nn",
    "block_tn",
    "block_tt",
    "inverse_nn",
    "inverse_tt",
    "coupling_tn",
    "schur_inverse",
)


@group(axis="contacts")
class Steps:
    """The last changes by sweeps, along which a solution goes on."""

    before: vec3 = field("N s", "impulse of a point before a sweep")
    step: vec3 = field("N s", "its last step")
    square: real = field("N² s²", "square of the changes by a sweep", axis="worlds")
    last_square: real = field("N² s²", "by the sweep before", axis="worlds")
    part: real = field("1", "part of the last step that is added", axis="worlds")
    solved: wp.int32 = field("1", "1 where the solution at hand is of the world", axis="worlds")


@wp.struct
class Sweeping:
    """When a solution ends: residual, most sweeps; where targets allow blocks; room for the rest."""

    tolerance: wp.array[real]
    most: wp.int32
    as_block: wp.array[wp.int32]
    steps: Steps
    stops: StopAnswers


@kernel
def choose_through(
    touching: Touching,
    barred: wp.array[wp.int32],
    which: wp.array[wp.int32],
    through: wp.array[wp.int32],
    others: wp.array[wp.int32],
    any_other: wp.array[wp.int32],
) -> None:
    """Of the wanted worlds those that have room for their touching bodies and are not barred, and the others."""
    any_other[0] = 0
    for w in range(which.shape[0]):
        fits = wp.where(touching.count[w] >= 0 and barred[w] == 0, 1, 0)
        through[w] = which[w] * fits
        others[w] = which[w] * (1 - fits)
        any_other[0] = wp.max(any_other[0], others[w])


@wp.func
def begin_through(touching: Touching, motion: Motion, w: int) -> None:
    """Velocities of the touching bodies of a world before they are pushed."""
    first = w * room_of(touching)
    for p in range(first, first + touching.count[w]):
        i = touching.body[p]
        touching.start[p] = motion.velocity[i]
        touching.spin[p] = motion.angular_velocity[i]
        touching.push[p] = vec3()
        touching.twist[p] = vec3()


@wp.func
def end_through(bodies: Bodies, system: ContactSystem, touching: Touching, motion: Motion, w: int) -> None:
    """Velocities as if touching bodies were free: those before, with all impulses; the trees answer to them."""
    first = w * room_of(touching)
    for p in range(first, first + touching.count[w]):
        i = touching.body[p]
        motion.velocity[i] = touching.start[p] + bodies.inverse_mass[i] * touching.push[p]
        motion.angular_velocity[i] = touching.spin[p] + system.inertias.inverse_inertia[i] * touching.twist[p]


@wp.func
def begin_steps(system: ContactSystem, steps: Steps, k: int) -> None:
    """No step has been made at the points of a manifold."""
    for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
        steps.before[c] = system.points.impulse[c]
        steps.step[c] = vec3()


@wp.func
def begin_world_sweep(status: SolverStatus, steps: Steps, w: int) -> None:
    """A sweep over a world begins."""
    status.normal_residual[w] = real(0.0)
    status.tangential_residual[w] = real(0.0)
    status.jointed_residual[w] = real(0.0)
    steps.last_square[w] = steps.square[w]
    steps.square[w] = real(0.0)


@wp.func
def note_step(system: ContactSystem, steps: Steps, k: int) -> None:
    """Add the squares of the changes of a manifold by a sweep to those of its world."""
    w = system.manifolds.world[k]
    for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
        z = system.points.impulse[c] - steps.before[c]
        steps.square[w] = steps.square[w] + wp.dot(z, z)


@wp.func
def choose_part(status: SolverStatus, steps: Steps, w: int) -> None:
    """β of a world; the directions begin anew where the changes have grown."""
    grown = status.sweeps[w] < 2 or steps.square[w] > steps.last_square[w]
    steps.part[w] = wp.where(grown, real(0.0), steps.square[w] / steps.last_square[w])


@wp.func
def extrapolate(
    bodies: Bodies, system: ContactSystem, touching: Touching, steps: Steps, motion: Motion, k: int
) -> None:
    """A manifold goes on along its step before the last sweep."""
    part = steps.part[system.manifolds.world[k]]
    wrench = Wrench()
    for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
        swept = system.points.impulse[c]
        further = part * steps.step[c]
        steps.step[c] = swept - steps.before[c] + further
        steps.before[c] = swept + further
        system.points.impulse[c] = swept + further
        wrench.f += further
        wrench.m += moment_at(system.points.place[c], further)
    if part > real(0.0):
        push_manifold(bodies, system, touching, motion, k, wrench)


@cache
def driver(solve_twist: Any, satisfied: Any) -> Any:
    """The kernel that solves through trees with a correction of one manifold.

    Args:
        solve_twist: A ``@wp.func`` (manifolds, points, k, twist) that finds its wrench.
        satisfied: The same, whether there is nothing to correct.
    """
    correct = correction(solve_twist, satisfied)

    @lone_kernel
    def solve_through(
        bodies: Bodies,
        system: ContactSystem,
        active: Active,
        motion: Motion,
        status: SolverStatus,
        touching: Touching,
        stops: StopRows,
        sweeping: Sweeping,
    ) -> None:
        steps = sweeping.steps
        worlds = status.busy.shape[0]
        for w in range(worlds):
            if status.busy[w] == 1:
                begin_through(touching, motion, w)
                if stops.status.held[w] == 1:
                    begin_stops(stops, touching, sweeping.stops, w)
            steps.solved[w] = status.busy[w]
        for n in range(active.count[0]):
            k = active.listed[n]
            system.manifolds.as_block[k] = sweeping.as_block[k] * system.manifolds.flat[k]
            begin_steps(system, steps, k)
        while status.any_busy[0] == 1:
            status.any_busy[0] = 0
            status.sweep[0] = status.sweep[0] + 1
            for w in range(worlds):
                if status.busy[w] == 1:
                    begin_world_sweep(status, steps, w)
            for n in range(active.count[0]):
                k = active.listed[n]
                w = system.manifolds.world[k]
                if status.busy[w] == 1:
                    normal, tangential = correct(bodies, system, touching, motion, k)
                    update_residual(status, w, normal, tangential)
                    note_step(system, steps, k)
            for w in range(worlds):
                if status.busy[w] == 1 and stops.status.held[w] == 1:
                    worst = correct_stops(stops, touching, sweeping.stops, motion, w)
                    update_residual(status, w, worst, real(0.0))
                    steps.square[w] = steps.square[w] + square_of_stops(stops, touching, sweeping.stops, w)
                target = PART * target_residual(status, w, sweeping.tolerance[w])
                check_world_convergence(status, w, target, int(sweeping.most), 1)
                choose_part(status, steps, w)
            if status.any_busy[0] == 1:
                for n in range(active.count[0]):
                    k = active.listed[n]
                    if status.busy[system.manifolds.world[k]] == 1:
                        extrapolate(bodies, system, touching, steps, motion, k)
                for w in range(worlds):
                    if status.busy[w] == 1 and stops.status.held[w] == 1:
                        extrapolate_stops(stops, touching, sweeping.stops, motion, w, steps.part[w])
        for w in range(worlds):
            if steps.solved[w] == 1:
                end_through(bodies, system, touching, motion, w)

    return solve_through


def correction(solve_twist: Any, satisfied: Any) -> Any:
    """The correction of a manifold that moves all touching bodies; see ``driver``."""

    @wp.func
    def correct(bodies: Bodies, system: ContactSystem, touching: Touching, motion: Motion, k: int) -> tuple[real, real]:
        manifolds = system.manifolds
        u, w = twist_of(manifolds, motion, k)
        twist = make_twist(u + manifolds.bias[k], w + manifolds.angular_bias[k])
        if satisfied(manifolds, system.points, k, twist):
            return real(0.0), real(0.0)
        twist = solve_twist(manifolds, system.points, k, twist)
        wrench = Wrench()
        wrench.f = vec3(twist.normal_impulse[0], twist.tangent_impulse[0], twist.tangent_impulse[1])
        wrench.m = vec3(twist.tangent_impulse[2], twist.normal_impulse[1], twist.normal_impulse[2])
        push_manifold(bodies, system, touching, motion, k, wrench)
        return twist.normal_residual, wp.sqrt(twist.tangential_residual_squared)

    return correct


class ThroughTrees:
    """Records solutions through trees.

    Args:
        problem: The contact problem.
        correction: What corrects a manifold, and whether it needs it; see ``driver``.
        of_positions: The same for problems of positions.
    """

    def __init__(self, problem: "ContactProblem", correction: tuple[Any, Any], of_positions: tuple[Any, Any]) -> None:
        self.problem, self.kernel, self.of_positions = problem, driver(*correction), driver(*of_positions)
        device, system = problem.bodies.world.device, problem.system
        own = arrays.allocate(Manifolds, {"contacts": 0}, device)
        for name, array in arrays.each(system.manifolds):
            setattr(own, name, wp.zeros_like(array) if name in OWN else array)
        self.system = ContactSystem()
        self.system.manifolds, self.system.points, self.system.inertias = own, system.points, system.inertias
        worlds = problem.worlds
        self.which, self.others, self.none = (wp.zeros(worlds, dtype=wp.int32, device=device) for _ in range(3))
        counts = {"contacts": problem.room, "worlds": worlds}
        self.steps, self.stops = arrays.allocate(Steps, counts, device), StopAnswers()
        self.stops.way, self.stops.turn = (wp.zeros(0, dtype=vec3, device=device) for _ in range(2))
        self.stops.before, self.stops.step = (wp.zeros(0, dtype=real, device=device) for _ in range(2))
        self.any_other = wp.zeros(1, dtype=wp.int32, device=device)

    def record(self, motion: Motion, goal: "Goal", which: Any, response: Any) -> None:
        """Record the solution in those of the worlds where ``which`` is 1 that have room; the others are noted.

        Args:
            motion: The velocities to correct.
            goal: Tolerance and most sweeps.
            which: 1 for every world that is wanted.
            response: What joints answer, with ``answers``.
        """
        problem, program, status = self.problem, self.problem.program, self.problem.status
        stops, holds = response.stops, response.stops.count and goal.posed != "positions"
        if goal.posed == "end":
            # The loads have been put on the bodies as if they were free.
            response.answer_trees(motion, which)
        if holds:
            program.launch(mark_stops, problem.worlds, stops.system, response.answers.touching, which)
        self._choose(response, which, response.hit if goal.posed == "positions" else self.none)
        program.launch(begin_sweeps, problem.worlds, status, self.which, 0)
        if goal.finer is not None:
            program.launch(find_finer_residuals, 1, problem.bodies, goal.finer, status, goal.tolerance)
        swept = (problem.bodies, self.system, problem.active, motion, status, response.answers.touching)
        kernel = self.of_positions if goal.posed == "positions" else self.kernel
        program.launch(kernel, 1, *swept, stops.system, self._sweeping(goal, stops.count * response.answers.room))
        response.answer_trees(motion, self.which)
        if holds:
            program.launch(account_stops, problem.worlds, stops.system, stops.levers, stops.reactions, self.which)

    def _choose(self, response: Any, which: Any, barred: Any) -> None:
        """Record how bodies answer, and which of the wanted worlds are solved by that."""
        problem, program, answers = self.problem, self.problem.program, response.answers
        answers.record(program, which)
        program.launch(weigh_through, 1, problem.bodies, problem.system, self.system, problem.graph, answers.touching)
        program.launch(choose_through, 1, answers.touching, barred, which, self.which, self.others, self.any_other)

    def _sweeping(self, goal: "Goal", count: int) -> Sweeping:
        """When a solution ends, with room for what so many bodies do for stops."""
        if len(self.stops.way) != count:
            device = self.problem.bodies.world.device
            self.stops.way, self.stops.turn = (wp.zeros(count, dtype=vec3, device=device) for _ in range(2))
            self.stops.before, self.stops.step = (wp.zeros(count, dtype=real, device=device) for _ in range(2))
        found = Sweeping()
        found.tolerance, found.most = goal.tolerance, goal.sweeps
        found.as_block, found.steps, found.stops = self.problem.system.manifolds.as_block, self.steps, self.stops
        return found
