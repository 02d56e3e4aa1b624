"""One time step of trees that nothing touches, as a table of contents.

    fit        velocities that were written to those the joints allow, in the first step of a call
    forces     the loads in the middle of the step
    trees      coordinates, mean rates, poses and velocities at the end; bodies without joints go by the integrator
    advance    check that all is finite, take the prediction over, move the clock, count angles over full turns

Where joints have rows left, such as those that close loops or hit limits, or where bodies touch, the recipe is
``impulse``, with the trees in the place of the integrator. Here there is nothing but what small mechanisms need: few
launches.

Reference: see ``reduced.midpoint.tree_step``.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import Diagnostics, StepContext, move
from rattleback.problem import joint_errors
from rattleback.steps.impulse import find_fault, forget, is_at_fault, move_clock, note_worst, remember, take_over


@kernel
def advance_at_once(
    bodies: Bodies,
    predicted: Motion,
    motion: Motion,
    diagnostics: Diagnostics,
    worst: Diagnostics,
    clock: Clock,
    stop: wp.array[wp.int32],
) -> None:
    """What ``find_fault``, ``take_over``, ``remember`` and ``move_clock`` do, in one thread."""
    count = bodies.world.shape[0]
    for i in range(count):
        if stop[0] == 0 and is_at_fault(predicted, i):
            stop[0] = count - i
    if stop[0] == 0:
        for i in range(count):
            note_worst(diagnostics, worst, i)
            move(predicted, motion, i)
        for w in range(clock.time.shape[0]):
            clock.time[w] = clock.time[w] + clock.time_step[w]
            clock.steps[w] = clock.steps[w] + wp.int64(1)
            clock.substep[w] = wp.float64(0.0)


@dataclass(frozen=True)
class ReducedStep:
    """The recipe of trees without contacts.

    Attributes:
        motion: How trees and other bodies move, a ``reduced.midpoint.tree_motion.TreeMotion``.
    """

    motion: Any

    def record(self, context: StepContext) -> None:
        """Record one step."""
        program = context.program
        with program.prologue():
            self.motion.record_fit(context)
        with program.stage("forces"):
            self.motion.record_forces(context)
        with program.stage("trees"):
            if not self.motion.alone:
                context.share_bodies(forget, context.diagnostics)
            self.motion.record_prediction(context)
        with program.stage("advance"):
            self._record_advance(context)
            self.motion.record_gains(context)
            joints, state = self.motion.problem.joints, context.state
            joint_errors.record_turns(program, joints, state.motion, state.joints)

    def _record_advance(self, context: StepContext) -> None:
        motion, clock = context.state.motion, context.state.clock
        if context.model.device.is_cpu and self.motion.alone:
            given = (context.diagnostics, context.worst, clock, context.stop)
            context.program.launch(advance_at_once, 1, context.model.bodies, context.predicted, motion, *given)
            return
        context.share_bodies(remember, context.diagnostics, context.worst)
        context.share_bodies(find_fault, context.predicted, context.stop)
        context.share_bodies(take_over, context.predicted, motion, context.stop)
        context.for_worlds(move_clock, clock, context.proposed, context.stop)
