"""Trees and loose bodies as the integrator of a step: ``context.start`` to ``context.predicted``.

    loads    of the middle of the step; where they depend on the motion, found anew until they settle
    trees    the implicit midpoint rule in their coordinates, see ``tree_step``
    loose    bodies without joints go as the integrator of the simulation moves them; driven ones at their velocity

Cost: one launch a step for the trees of all worlds, one for driven bodies, those of the integrator where others move.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.node import together
from rattleback.core.stages import recorded
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment
from rattleback.reduced.midpoint import beside, carried, fitting, rounds, tree_gains, tree_step
from rattleback.reduced.midpoint.links import Predicted, Steering, Trees, TreeStep
from rattleback.reduced.midpoint.rounds import Rounds
from rattleback.reduced.midpoint.rows import TreeRows
from rattleback.reduced.midpoint.through_trees import Through
from rattleback.reduced.midpoint.touching import TouchingAnswers
from rattleback.reduced.midpoint.tree_step import Goal

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.model.step_context import StepContext
    from rattleback.problem.joint_rows import JointRows
    from rattleback.reduced.midpoint.forest import LinkedTrees

# Part of the tolerance of velocities to which a step settles.
PART = 0.1


class TreeMotion:
    """The motion of the trees of a model, and of its other bodies.

    Attributes:
        trees: The trees for kernels.
        order: Order of the method.
        tolerance: Error of the rates that a step may leave.

    Args:
        found: The trees.
        problem: The joints.
        context: What the step works on.
        movers: The integrator of bodies that are in no tree, and the servos that the trees solve.
        limits: Tolerance of velocities [m/s, rad/s], and most rounds of a step.
    """

    order: ClassVar[int] = 2
    explicit: ClassVar[bool] = False

    def __init__(
        self,
        found: LinkedTrees,
        problem: JointRows,
        context: StepContext,
        movers: tuple[Any, Any],
        limits: tuple[float, int],
    ) -> None:
        model = context.model
        self.found, self.problem, self.tolerance, (self.loose, self.tree_servos) = found, problem, limits[0], movers
        self.servos = arrays.allocate(Steering, {"links": found.count * model.worlds}, model.device)
        signs = self.tree_servos.signs(found)
        self.steered = bool(signs)
        self.servos.sign.assign(np.tile([signs.get(k, 1.0) for k in range(found.count)], model.worlds))
        self.trees = self.make_trees(context)
        left = [i for i in range(len(model.names)) if i not in found.bodies]
        self.alone = bool(model.static[left].all())
        rows = [w * len(model.names) + i for w in range(model.worlds) for i in left]
        self._left = wp.array(rows, dtype=wp.int32, device=model.device)
        self._beside = replace(context, predicted=context.scratch(Motion))
        self.goal = Goal()
        self.goal.tolerance, self.goal.most = PART * limits[0], limits[1]
        self.goal.again = int(context.start is not context.state.motion)
        self._middle, self._loads = context.scratch(Motion), (context.scratch(Loads), context.scratch(Loads))
        sizes = {"worlds": model.worlds, "flags": 1}
        self._rounds = arrays.allocate(Rounds, sizes, model.device)

    def make_trees(self, context: StepContext) -> Trees:
        """The trees with room of their own for what a step knows of them."""
        model, trees = context.model, Trees()
        trees.links, trees.joints, trees.remembered = self.found.links, self.problem.joints, context.state.joints
        trees.memory = context.state.trees
        trees.step = arrays.allocate(TreeStep, {"links": self.found.count * model.worlds}, model.device)
        trees.predicted = arrays.allocate(Predicted, {"worlds": model.worlds}, model.device)
        trees.count, trees.first_floating = self.found.count, self.found.first_floating
        trees.servos, trees.stepping, trees.carried = self.servos, 1, int((self.found.links.base.numpy() >= 0).any())
        drives = (self.found.links.armature.numpy(), self.found.links.friction.numpy())
        trees.driven = int(any(drive.any() for drive in drives) or self.steered)
        trees.guesses = int(not trees.driven)
        trees.joint_count, trees.body_count = len(self.problem.names), len(model.names)
        return trees

    def record_forces(self, context: StepContext) -> None:
        """The loads of the middle of the step."""
        clock = context.state.clock
        self.tree_servos.record_start(context.program, clock, self.servos, self.found.count)
        if not self.alone:
            self.loose.record_forces(context)
        if not (context.motion_dependent and self.found.count):
            self.record_anew(context)
            if self.alone:
                context.evaluate(Moment(context.start, clock, 0.5), context.loads)
            return
        if self.alone:
            self._record_driven(context, 0.5, self._middle)
        else:
            self.loose.record_prediction(self._beside)
            context.for_bodies(rounds.place_loose, context.start, self._beside.predicted, self._middle)
        context.for_worlds(rounds.begin_rounds, self.trees, context.start, clock, self._rounds)
        with context.program.loop(self._rounds.any_busy, may_stop=True):
            context.for_worlds(rounds.place_middle, self.trees, clock, self._middle, self._rounds)
            context.evaluate(Moment(self._middle, clock, 0.5), context.loads)
            given = (*self._loads, context.loads, self._rounds, self.trees.body_count)
            context.for_worlds(rounds.blend, *given)
            context.for_worlds(rounds.settle, self.trees, clock, context.loads, self.goal, self._rounds)

    def record_anew(self, context: StepContext) -> None:
        """Record that the step is tried once more, with other lengths: predictions do not go on from the last."""
        if self.goal.again and self.found.count:
            context.for_worlds(rounds.forget_rates, self.trees)

    def record_prediction(self, context: StepContext) -> None:
        """The motion of all bodies."""
        if self.alone:
            self._record_driven(context, 1.0, context.predicted)
        else:
            self.loose.record_prediction(self._beside)
            moved = (self._left, self._beside.predicted, context.predicted)
            context.program.share(beside.copy_left, len(self._left), *moved)
        if not self.found.count:
            return
        given = (self.trees, context.start, context.loads, context.state.clock, self.goal)
        context.for_worlds(tree_step.step_trees, *given, context.predicted, context.diagnostics)
        if context.motion_dependent:
            context.for_worlds(rounds.note_unsettled, self.trees, self.goal, self._rounds, context.diagnostics)

    def _record_driven(self, context: StepContext, part: float, end: Motion) -> None:
        """Record where bodies that nothing can push are after a part of the step."""
        if len(self._left):
            context.share_bodies(beside.drive, self._left, context.start, context.state.clock, part, end)

    def record_gains(self, context: StepContext) -> None:
        """What the rates have gained in the step that is taken, for the next."""
        if self.trees.guesses:
            context.for_worlds(tree_gains.remember_gains, self.trees, context.stop)

    def record_fit(self, context: StepContext) -> None:
        """Velocities that were written fit the trees from now on."""
        trees = self.make_trees(context)
        trees.stepping = 0
        given = (trees, context.state.contacts, context.state.motion, fitting.SLACK * self.tolerance)
        context.for_worlds(fitting.fit_written, *given)

    def reason(self, where: str, error: float) -> str:
        """Why a step of trees is not settled.

        Args:
            where: The last body of them.
            error: What is left of its rates [m/s, rad/s].
        """
        return (
            f"The trees of joints up to body {where} did not settle: their rates still change by {error:.3g} m/s or "
            f"rad/s, above {float(self.goal.tolerance):.3g}; a shorter time_step helps, or Reduced(max_rounds=...)."
        )

    def carried(self, context: StepContext, preview: Any) -> Callable[[], None]:
        """A call that finds what joints have carried in the last step, where the step itself does not."""
        worlds, device = context.model.worlds, context.model.device
        given = (context.state.clock, preview.status, preview.reactions, self.trees.joint_count)
        begin = recorded(carried.begin_step, worlds, given, device)
        carry = recorded(carried.carry_step, worlds, (self.trees, preview.status, preview.reactions), device)
        return together([begin, carry])

    def make_rows(self, context: StepContext) -> TreeRows:
        """What solves the rows that trees do not hold."""
        trees, rough = self.make_trees(context), self.found.links.friction.numpy().any()
        free = self.make_trees(context) if rough else trees
        # What impulses take of friction and servos is seen by the rounds of a step.
        trees.step.kept, trees.stepping, free.stepping = self.trees.step.kept, 0, 0
        given = (context.model.bodies, context.state.clock, (trees, free, self.trees), float(self.goal.tolerance))
        return TreeRows(Through(*given, self._answers(context, trees)))

    def _answers(self, context: StepContext, trees: Trees) -> TouchingAnswers | None:
        """How touching bodies answer; drives, friction and servos answer to every sweep anew, and colours go alone."""
        model = context.model
        if not model.device.is_cpu or not self.found.count or trees.driven:
            return None
        return TouchingAnswers(trees, self.found.bodies, model.worlds)
