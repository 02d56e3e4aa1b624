"""Joints that break: after every step what each has carried is compared with its limits.

    F = P / h,   τ = C / h;      broken from the next step on where  |F| > F_max  or  |τ| > τ_max

P impulse of the joint on B in the step, C angular impulse about the anchor of B, h length of the step: means over the
step, of all that the joint has done, its stops included. All joints of a step break together. The rows of a broken
joint are zeros, which every joint method leaves out, so that no pattern changes.

Where a world is torn (see ``corrections``) its joints are being pulled together, which is no load, and none breaks.
Where a buffer for contacts was too small the step is looked at once its rest has been made up for.

    after the velocities are corrected: look; in worlds where a joint broke, rows and matrix are made anew
Cost: nothing where no joint has a limit; else one kernel over the joints a step.
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.breaks import Breaks, can_break
from rattleback.model.sleep import Sleep
from rattleback.model.state import Clock
from rattleback.model.step_context import StepContext
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import JointRows, Joints

ZERO = wp.constant(real(0.0))


@group(axis="worlds")
class Watch:
    """What the look at the joints of a world says."""

    begun: wp.int64 = field("1", "steps taken when the step began")
    fresh: wp.int32 = field("1", "1 where rows and matrix must be made anew")
    any_fresh: wp.int32 = field("1", "1 where any world needs new rows", axis="flags")


@wp.struct
class Record:
    """Where it is written down that a joint has broken."""

    breaks: Breaks
    watch: Watch
    clock: Clock
    sleep: Sleep
    sleeps: wp.int32


@kernel
def begin(watch: Watch, clock: Clock) -> None:
    """A step begins."""
    w = wp.tid()
    watch.begun[w] = clock.steps[w]


@wp.func
def exceeds(value: real, limit: real) -> bool:
    """Whether a load is above its limit, where there is one."""
    return limit > ZERO and value > limit


@wp.func
def note(joints: Joints, record: Record, j: int, force: real, torque: real) -> None:
    """A joint has broken; its bodies are not at rest."""
    w = joints.world[j]
    record.breaks.broken[j] = 1
    record.breaks.time[j] = record.clock.time[w]
    record.breaks.force[j] = force
    record.breaks.torque[j] = torque
    record.watch.fresh[w] = 1
    record.watch.any_fresh[0] = 1
    if record.sleeps == 1:
        if joints.body_a[j] >= 0:
            record.sleep.since[joints.body_a[j]] = record.clock.time[w]
        if joints.body_b[j] >= 0:
            record.sleep.since[joints.body_b[j]] = record.clock.time[w]


@wp.func
def compare(joints: Joints, reactions: Reactions, record: Record, j: int, h: real) -> None:
    """A whole joint that carried more than it can breaks."""
    if record.breaks.broken[j] != 0:
        return
    force = wp.length(reactions.impulse[j]) / h
    torque = wp.length(reactions.couple[j]) / h
    if exceeds(force, record.breaks.force_limit[j]) or exceeds(torque, record.breaks.torque_limit[j]):
        note(joints, record, j, force, torque)


@kernel
def look(joints: Joints, reactions: Reactions, status: JointStatus, record: Record) -> None:
    """Which joints break at the end of a step.

    A step that was not taken, since something in it was not finite or a buffer too small, breaks nothing.
    """
    j = wp.tid()
    w = joints.world[j]
    if status.torn[w] == 1 or record.clock.steps[w] == record.watch.begun[w]:
        return
    compare(joints, reactions, record, j, status.time_step[w])


@kernel
def join(watch: Watch, which: wp.array[wp.int32], any_of_them: wp.array[wp.int32]) -> None:
    """Worlds that need new rows for another reason do so, too."""
    w = wp.tid()
    if which[w] == 1:
        watch.fresh[w] = 1
    if any_of_them[0] == 1:
        watch.any_fresh[0] = 1


@kernel
def made_anew(watch: Watch) -> None:
    """Rows and matrix are those of the joints that are whole."""
    watch.fresh[wp.tid()] = 0
    watch.any_fresh[0] = 0


class JointBreaks:
    """The breaking of the joints of a simulation; where none can break, nothing is recorded.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        reactions: What they did in the last step.
        status: How the loops of the joints went.
        sleeps: Whether bodies may fall asleep.

    Attributes:
        watch: What the look at the joints says.
    """

    def __init__(
        self, context: StepContext, problem: JointRows, reactions: Reactions, status: JointStatus, sleeps: bool
    ) -> None:
        self.context, self.problem, self.reactions, self.status = context, problem, reactions, status
        self.can = can_break(context.model.scene)
        counts = {"worlds": context.model.worlds, "flags": 1}
        self.watch: Any = arrays.allocate(Watch, counts, context.model.device)
        self.record: Any = Record()
        self.record.breaks, self.record.watch = context.state.breaks, self.watch
        self.record.clock, self.record.sleep = context.state.clock, context.state.sleep
        self.record.sleeps = int(sleeps)

    def record_start(self) -> None:
        """Record that a step begins."""
        if self.can:
            self.context.for_worlds(begin, self.watch, self.context.state.clock)

    def record_end(self, which: Any, any_of_them: Any) -> tuple[Any, Any]:
        """Record the look at the end of a step.

        Args:
            which: Worlds whose rows must be made anew for another reason.
            any_of_them: Whether there are any.

        Returns:
            Worlds whose rows must be made anew, and whether there are any.
        """
        if not self.can:
            return which, any_of_them
        context, given = self.context, (self.problem.joints, self.reactions)
        context.program.launch(look, self.problem.joint_count, *given, self.status, self.record)
        context.for_worlds(join, self.watch, which, any_of_them)
        return self.watch.fresh, self.watch.any_fresh

    def record_made_anew(self) -> None:
        """Record that the rows and the matrix fit the joints that are whole."""
        if self.can:
            self.context.for_worlds(made_anew, self.watch)
