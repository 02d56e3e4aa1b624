"""The contact problems of a step, which its schemes share: when they are posed, with which targets, in which order.

    at the end of a step      contacts are detected; impacts; the velocity correction of the scheme
    at the start of the next  impulses that keep contacts apart over the whole step
    before it is taken        position correction: a share of the penetration is removed

``ends`` has what a scheme does at either end; the solver is that of the scheme. Load propagation runs before the
solver, the energy limiter after it. Where a joint holds a body that touches something, contacts and joints alternate,
and joints answer to every sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays, host_read
from rattleback.model.contact_memory import Due, MovedLoads, record_due, record_moved_loads, remember
from rattleback.model.state import Motion
from rattleback.solvers.contacts.coupling.alternation import WorldStage, alternate
from rattleback.solvers.contacts.coupling.joint_response import JointResponse
from rattleback.solvers.contacts.coupling.masses_through import mark_touching
from rattleback.solvers.contacts.coupling.softness import Softness
from rattleback.solvers.contacts.coupling.ties import CoupledWorlds
from rattleback.solvers.contacts.problem.contact_graph import find_levels, gather_manifolds, order_manifolds
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem, is_parallel
from rattleback.solvers.contacts.problem.goal import Goal, part_of
from rattleback.solvers.contacts.problem.manifolds import rotate_inertias
from rattleback.solvers.contacts.restitution.impact import Impacts
from rattleback.solvers.contacts.schemes import position_correction, targets
from rattleback.solvers.contacts.schemes.displacements import (
    Departures,
    Displacements,
    Prediction,
    find_displacements,
    take_over_departures,
)
from rattleback.solvers.contacts.schemes.errors import ContactErrors, record_errors, summary
from rattleback.solvers.contacts.schemes.inputs import ContactInputs, ContactLimits
from rattleback.solvers.contacts.stages.energy_limiter import EnergyLimiter
from rattleback.solvers.contacts.stages.impulse_account import Account
from rattleback.solvers.contacts.stages.load_propagation import LoadPropagation

if TYPE_CHECKING:
    from rattleback.model.contacts import Contacts
    from rattleback.model.step_context import StepContext
    from rattleback.problem.joint_answer import JointAnswer

# Share of the excess penetration that is removed in one step, and the largest speed of that [m/s].
CORRECTION_SHARE, MAX_CORRECTION_SPEED = 0.4, 1.0
# Most sweeps of the position correction, in order, by colour, and with joints, and the part of the tolerance to which
# they converge. A small penetration is corrected by less than the tolerance: sweeps that end there let the lower bodies
# of a stack sink.
PROJECTION_SWEEPS, PARALLEL_PROJECTION_SWEEPS, JOINTED_PROJECTION_SWEEPS = 20, 3, 10
PROJECTION_TOLERANCE = 0.1


def make_problem(method: Any, context: StepContext, room: int) -> ContactProblem:
    """The contact problem of a scheme, with room for so many contacts."""
    in_order = getattr(method.solver, "in_order", False)
    return ContactProblem(context, room, in_order, getattr(method, "law", "coulomb"))


class ContactSteps:
    """The contact problems in the steps of a model.

    Attributes:
        problem: The contact problem.
        solver: What solves it.
        ends: What the scheme does at either end of a step.
        worlds: In which worlds joints hold anything that touches.

    Args:
        method: The scheme with its settings.
        ends: Makes what it does at either end of a step, of this.
        given: What the step works on, where contacts are found, and what they aim at.
    """

    def __init__(
        self, method: Any, ends: Callable[[ContactSteps], Any], given: tuple[StepContext, Contacts, ContactLimits]
    ):
        self.method, (self.context, self.contacts, self.limits) = method, given
        context, model, room = self.context, self.context.model, len(self.contacts.part)
        self.problem = make_problem(method, context, room)
        self.solver, self.worlds = method.solver.bind(self.problem), CoupledWorlds(context, self.problem)
        counts = {"contacts": room, "bodies": model.count, "worlds": model.worlds, "flags": 1}
        kinds: tuple[type[Any], ...] = (Motion, ContactErrors, Displacements, MovedLoads, Due, Departures)
        made = (arrays.allocate(kind, counts, model.device) for kind in kinds)
        self.shift, self.errors, displacements, self.moved, self.due, self.departures = made
        self.inputs, self.prediction = ContactInputs(), Prediction()
        self.inputs.contacts, self.inputs.memory = self.contacts, context.state.contacts
        self.inputs.surfaces, self.inputs.rules, self.inputs.limits = model.surfaces, model.rules, self.limits
        self.inputs.bodies, self.inputs.impulses = model.bodies, context.state.impulses
        self.inputs.adds = int(not is_parallel(model.device))
        self.prediction.start = context.start
        self.prediction.end = context.predicted
        self.prediction.displacements = displacements
        self.taken = wp.zeros(model.worlds, dtype=wp.float64, device=model.device)
        self.penetrating, self.any_penetrating = (
            wp.zeros(n, dtype=wp.int32, device=model.device) for n in (model.worlds, 1)
        )
        self._make_stages()
        self.impacts = Impacts(method, context, self.inputs, self.problem, self.solver)
        self.response: JointResponse | None = None
        self.ends = ends(self)

    def _make_stages(self) -> None:
        """The stages around the solver that are switched on; they need the order, so by colour there are none."""
        given, unjointed, method = (self.context, self.problem), self.worlds.unjointed, self.method
        in_order = self.problem.colour_driver is None
        self.load_propagation = (
            LoadPropagation(*given, self.limits, unjointed) if in_order and method.load_propagation else None
        )
        self.energy_limiter = EnergyLimiter(*given, unjointed) if in_order and method.energy_limiter else None
        self.finer = self.context.state.motion if in_order else None
        shocks = getattr(method.solver, "withholds", False)
        self.account = Account(self.context, self.inputs, self.problem, shocks)

    def couple_joints(self, answer: JointAnswer) -> None:
        """Let joints answer to every sweep from now on."""
        softness = Softness(self.problem, answer.preview)
        self.response = self.impacts.response = JointResponse(self.problem, answer, softness)
        self.worlds.jointed = True

    def solve(
        self, motion: Motion, which: Any, most: int | None = None, response: Any = None, posed: str = "end"
    ) -> None:
        """Record the solution of the problem for the velocities of a motion, and the energy limit of unfinished sweeps.

        Args:
            motion: The velocities to correct.
            which: 1 for every world that is solved.
            most: Most sweeps; None for those of the solver.
            response: What joints answer; None where they have nothing that touches.
            posed: ``"start"`` or ``"end"`` of the step.
        """
        goal = Goal(self.limits.speed, most or self.method.solver.sweeps, self.finer, posed=posed)
        self.solver.record(motion, goal, which, response)
        if response is None and self.energy_limiter is not None and self.ends.limits_energy:
            self.energy_limiter.limit_energy_unconverged(motion, which, goal.tolerance)

    def record_manifolds(self) -> None:
        """Record the manifolds of the contacts found."""
        program, context, problem = self.context.program, self.context, self.problem
        bodies, motion, graph = context.model.bodies, context.state.motion, self.problem.graph
        if problem.colour_driver is None:
            program.launch(gather_manifolds, 1, self.contacts, graph, context.stop)
            program.launch(find_levels, 1, bodies, self.contacts, graph)
            program.launch(order_manifolds, 1, bodies, self.contacts, graph, problem.system.manifolds)
        else:
            problem.colour_driver.record_manifolds(self.contacts, context.stop)
        problem.record_all_active()
        context.share_bodies(rotate_inertias, motion, problem.system.inertias)
        given = (bodies, self.inputs, graph, problem.system, motion, self.departures)
        problem.for_manifolds(targets.prepare_manifolds, *given, int(self.ends.loads_end))
        if self.response is not None:
            self.response.softness.harden()
            if self.response.answers is not None:
                program.launch(mark_touching, 1, problem.system, graph, self.response.answers.touching)
        if context.model.scene.joints:
            self.worlds.record_jointed_worlds()

    def record_start(self) -> None:
        """Record the half of the loads that acts at the start of the step, whose motion is there.

        Where joints hold bodies that touch, loads wait until the joints can answer to them: alone, a light foot would
        get the load of the whole body.
        """
        context, problem = self.context, self.problem
        given = (self.inputs, problem.graph, problem.system, context.state.motion, context.state.clock)
        problem.for_manifolds(targets.set_start_loads, *given)
        self.account.begin()
        if self.response is not None:
            self.response.begin_step()
        jointed_worlds = self.worlds.jointed_worlds if self.worlds.jointed else None
        self.worlds.where_free(jointed_worlds, self._apply_loads)
        if self._answers_at_once:
            self.worlds.where_jointed(jointed_worlds, self._load_joints)

    @property
    def _answers_at_once(self) -> bool:
        """Whether joints can answer before the first prediction: trees know how without one."""
        return self.response is not None and self.response.answers is not None

    def _load_joints(self, which: Any) -> None:
        """Apply the loads of the last step, to which joints answer."""
        start, response = self.context.start, self.response
        if response is not None:
            response.joints.note(start, which)
            self.problem.record_push(start, which)
            if self._answers_at_once:
                response.answer_trees(start, which)
            else:
                response.joints.respond(start, which)

    def _apply_loads(self, which: Any) -> None:
        """Apply the loads of the last step, limited where they may be impacts."""
        self.problem.record_push(self.context.start, which)
        if self.energy_limiter is not None and self.ends.limits_energy:
            self.energy_limiter.limit_energy_start(self.context.start, which)

    def record_positions(self, predict: Callable[[], None], hold: WorldStage | None = None) -> None:
        """Record the impulses at the start that keep contacts apart at the end; the first prediction is there.

        Args:
            predict: Records a prediction.
            hold: Records what holds joints over the predicted step, in worlds that it is given; None without joints.
        """
        jointed_worlds = self.worlds.jointed_worlds if hold is not None else None
        self.worlds.where_free(jointed_worlds, partial(self._solve_start, predict, None, None))
        if hold is not None:
            self.worlds.where_jointed(jointed_worlds, lambda which: self._solve_start_jointed(predict, hold, which))
        self.ends.record_start_found(jointed_worlds)
        given = (self.context.state.impulses, self.context.substeps, self.taken, self.departures)
        self.context.for_worlds(targets.record_step_length, self.context.state.clock, *given)

    def _solve_start_jointed(self, predict: Callable[[], None], hold: WorldStage, which: Any) -> None:
        """Record the same where joints hold what touches, which answer to the loads of the last step first."""
        if not self._answers_at_once:
            self._load_joints(which)
            predict()
        if self.response is not None:
            hold = partial(self.response.hold, hold)
        self.alternate((partial(self._solve_start, predict, self.turn, self.response), hold), which)

    def _solve_start(self, predict: Callable[[], None], most: int | None, response: Any, which: Any) -> None:
        context, problem = self.context, self.problem
        given = (self.inputs, problem.graph, problem.system, self.prediction, context.state.clock)
        context.share_bodies(find_displacements, self.prediction, context.state.clock)
        problem.for_manifolds(targets.set_start_targets, *given, which)
        if self.load_propagation is not None:
            self.load_propagation.remove_displacement(self.prediction, which)
        self.solve(context.start, which, most, response, "start")
        predict()

    def alternate(self, stages: tuple[WorldStage, WorldStage], which: Any) -> None:
        """Record contacts and joints in turn."""
        alternate(self.problem, stages, (self.limits.speed, self.method.exchanges), which)

    @property
    def turn(self) -> int:
        """Most sweeps until joints have their turn."""
        return int(min(self.method.sweeps_between, self.method.solver.sweeps))

    def record_projection(self, steps: int) -> None:
        """Record the position correction at the end of the step.

        Args:
            steps: How many steps it is done for at once.
        """
        context, program, problem, limits = self.context, self.context.program, self.problem, self.inputs.limits
        limits.correction_share = 1.0 - (1.0 - CORRECTION_SHARE) ** steps
        limits.correction_speed = MAX_CORRECTION_SPEED * steps
        flags = (self.penetrating, self.any_penetrating)
        context.share_bodies(position_correction.begin_projection, problem.system.inertias, self.shift, *flags)
        given = (self.inputs, problem.graph, problem.system, self.prediction.displacements, context.state.clock)
        context.share_bodies(find_displacements, self.prediction, context.state.clock)
        problem.for_manifolds(position_correction.measure_penetration, *given, *flags)
        with program.when(self.any_penetrating):
            selected = self.worlds.choose(self.penetrating)
            self.worlds.where_free(selected, self._project_free, self.penetrating)
            self.worlds.where_jointed(selected, self._project_jointed)

    def _apply_correction(self, which: Any) -> None:
        context = self.context
        context.share_bodies(position_correction.apply_correction, self.shift, context.predicted, which)

    def _project_free(self, which: Any) -> None:
        most = PROJECTION_SWEEPS if self.problem.colour_driver is None else PARALLEL_PROJECTION_SWEEPS
        goal = Goal(part_of(self.limits.depth, PROJECTION_TOLERANCE), most, marked=True, posed="positions")
        self.solver.record(self.shift, goal, which)
        self._apply_correction(which)

    def _project_jointed(self, which: Any) -> None:
        if self.response is not None:
            goal = Goal(part_of(self.limits.depth, PROJECTION_TOLERANCE), JOINTED_PROJECTION_SWEEPS, posed="positions")
            self.solver.record(self.shift, goal, which, self.response.of_displacements())
            self._apply_correction(which)
            self.response.joints.settle(self.context.predicted, which)

    def record_taken(self) -> None:
        """Record what is stored when the step is taken."""
        problem = self.problem
        given = (
            self.inputs,
            problem.graph,
            problem.system,
            self.prediction.displacements,
            self.departures,
            self.context.stop,
        )
        self.context.share_bodies(find_displacements, self.prediction, self.context.state.clock)
        problem.for_manifolds(targets.store_forces, *given)
        self.account.record_taken(self.departures.afresh)

    def record_velocities(self, correct: WorldStage | None = None) -> None:
        """Record what makes the velocities of the state fit the contacts found, and store them.

        Args:
            correct: Records what makes them fit the joints, in the worlds that it is given; None without joints.
        """
        context, memory, due = self.context, self.inputs.memory, self.due
        record_due(context.program, memory, context.stop, due)
        with context.program.when(due.any_due):
            self.account.record_written(due)
            selected = self.worlds.choose(due.which)
            self.ends.record_end(correct, selected)
            record_moved_loads(context.program, (context.model.bodies, self.contacts, memory, due), self.moved)
            rows = max(len(self.contacts.part), len(memory.first))
            context.program.share(remember, rows, self.contacts, memory, context.stop)
            self.ends.record_memory(selected)
            context.for_worlds(targets.mark_settled, memory, due.which)

    def record_errors(self) -> None:
        """Record the errors of the contacts after the step."""
        context = self.context
        given = (context.model.bodies, self.contacts, self.errors, context.stop)
        ends = (self.ends.solved, self.impacts.points.unresolved)
        record_errors(context.program, context.model.worlds, given, ends, self.limits)

    @cached_property
    def forget(self) -> Callable[[], None]:
        """To be called when a call begins: the worst errors start anew."""
        return host_read.clearing(*(array for _, array in arrays.each(self.errors)))

    def take_over(self, old: ContactSteps) -> None:
        """Continue with the errors and lengths of another one of the same model."""
        arrays.copy_into(self.errors, old.errors)
        wp.copy(self.taken, old.taken)
        take_over_departures(self.departures, old.departures)
        wp.copy(self.impacts.points.unresolved, old.impacts.points.unresolved)

    def summary(self) -> dict[str, Any]:
        """What the report says of the contacts: the worst errors, where, and why they are too large if they are."""
        most, name = self.method.solver.sweeps, "after" if self.account.shocks else "sweeps"
        turn = most if self.response is None else self.turn
        return summary(self.errors, self.context.model, self.limits, (turn, self.method.exchanges, most, name))
