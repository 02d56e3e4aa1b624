"""Velocities of jointed bodies in a step, as forces that depend on them are to see them: such as the joints allow.

    ū = u₀ + x,    u(s) = u₀ + s/σ x,  0 ≤ s ≤ 1

u₀ velocities at the start of the step, ū mean velocities over the predicted step, by the way it goes, with all that
the joints have done so far: they agree with the joints as far as these hold at the end. σ is a half, and u(1) the
velocity at the end, or 1 with an integrator that moves by that. The velocities of free flight will not do: a free body
under the damping of its joint answers with its own inertia, which is not that of the mechanism, and gives a method of
order one. With u(s) the order is two, or that of the integrator. Where bodies are light for their damping, all forces
of the step see ū: between loads that differ they would turn far.

    after every correction of the preview loop: ū anew, forces that see it, prediction with them
    until what the forces change by that, of the velocities of free bodies or of ū, is within ``velocity_tolerance``
The forces then are those of the motion of the step itself, so that damping acts as in an implicit method: of the
midpoint, or of the end with an integrator that moves by the velocity at the end. The iteration contracts by h c/(2 m),
c damping, m mass of the mechanism as the damper feels it; where it might not, ``load_iteration`` goes ahead of it.

Cost: a few more corrections, force evaluations and predictions, where a force depends on velocity and joints hold.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotation_vector_from_quat
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import UNSETTLED, Diagnostics, Moment, StepContext, move
from rattleback.problem.corrections import FAR, Flight, JointStatus, Limits, Links, part_of
from rattleback.problem.load_changes import WILD, Held, IterationStatus, Trials, ratio_of_answer
from rattleback.problem.load_iteration import LoadIteration

if TYPE_CHECKING:
    from rattleback.problem.preview import Preview

# Turn in a step from which on it is not told by orientations [rad].
FAR_TURN = wp.constant(real(0.5))
# Squares of the parts of a change of ū by which free bodies would answer to that of the loads: where loads are found
# before bodies move, and where all of a step are the same.
MUCH = wp.constant(real(0.25))
MORE = wp.constant(real(0.0025))
# The least part of the way to ū that is gone where changes grow.
LEAST_SHARE = wp.constant(real(1.0 / 1024.0))


@group(axis="worlds")
class Progress:
    """How the forces of each world settle, and how far they are from it."""

    left: real = field("m/s or rad/s", "bound on what the last evaluation of the forces has changed in a velocity")
    before: real = field("m/s or rad/s", "the same of the one before")


@group(axis="bodies")
class Flown:
    """What a prediction says of the mean velocities, beside those it starts with."""

    velocity: vec3 = field("m/s", "of the mean velocity")
    spin: vec3 = field("rad/s", "of the mean angular velocity")


@kernel
def begin(progress: Progress) -> None:
    """A step begins: nothing has changed yet."""
    w = wp.tid()
    progress.left[w] = real(0.0)
    progress.before[w] = FAR


@wp.struct
class Instant:
    """A moment inside a step: a motion, and a fraction of a clock's step after its time."""

    motion: Motion
    clock: Clock
    fraction: wp.float64


@kernel
def see(
    bodies: Bodies,
    links: Links,
    before: Motion,
    clock: Clock,
    instant: Instant,
    trials: Trials,
    seen: Motion,
    part: real,
) -> None:
    """The motion of an instant with u(s) of the bodies that joints hold."""
    i = wp.tid()
    move(instant.motion, seen, i)
    if links.count[i] > 0:
        w = bodies.world[i]
        s = real(1.0)
        if trials.even[w] == 0:
            gone = instant.clock.time[w] - clock.time[w] + instant.fraction * instant.clock.time_step[w]
            s = real(gone / clock.time_step[w]) / part
        seen.velocity[i] = before.velocity[i] + s * trials.velocity[i]
        seen.angular_velocity[i] = before.angular_velocity[i] + s * trials.spin[i]


@kernel
def note_flight(bodies: Bodies, flight: Flight, status: JointStatus, flown: Flown, held: Held, lanes: int) -> None:
    """Mean velocity over the predicted step, beside the one it starts with.

    What turns far has a mean angular velocity of its own making: an orientation does not tell how far that was.
    """
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        h = status.time_step[bodies.world[i]]
        w = flight.start.angular_velocity[i]
        flown.velocity[i] = (flight.end.position[i] - flight.start.position[i]) / h - flight.start.velocity[i]
        flown.spin[i] = held.part * (flight.end.angular_velocity[i] - w)
        if h * wp.length(flight.before.angular_velocity[i]) < FAR_TURN:
            turn = flight.end.orientation[i] * wp.quat_inverse(flight.start.orientation[i])
            flown.spin[i] = rotation_vector_from_quat(turn) / h - w


@kernel
def find_changes(
    bodies: Bodies,
    flight: Flight,
    status: JointStatus,
    flown: Flown,
    trials: Trials,
    held: Held,
    lanes: int,
) -> None:
    """ū of the last prediction with what the joints have done since; the largest change of a world decides.

    Bodies of a world that starts anew, being stiff, are to turn by the ū they have: free bodies would turn far.
    """
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        w = bodies.world[i]
        if status.busy[w] == 1:
            v = flown.velocity[i] + flight.start.velocity[i] - flight.before.velocity[i]
            s = flown.spin[i] + flight.start.angular_velocity[i] - flight.before.angular_velocity[i]
            trials.wanted_velocity[i] = v
            trials.wanted_spin[i] = s
            r = wp.max(wp.length(v - trials.velocity[i]), wp.length(s - trials.spin[i]))
            wp.atomic_max(trials.changing, w, wp.min(r, FAR))
        elif status.stiff[w] == 1 and status.iterations[w] == 1:
            flight.start.angular_velocity[i] = flight.before.angular_velocity[i] + trials.spin[i] - flown.spin[i]


@kernel
def judge(
    progress: Progress, status: JointStatus, limits: Limits, trials: Trials, iteration: IterationStatus, blocks: int
) -> None:
    """Whether the forces are settled; if not, another correction is made, whose error may be larger.

    They wait where joints have made a part of a correction only, and go a part of the way where they change more.
    """
    w = wp.tid()
    iteration.careful[w] = 0
    if status.busy[w] == 0:
        return
    left = trials.changing[w]
    if left > limits.velocity:
        left = wp.min(left, iteration.answer[w])
    ratio = ratio_of_answer(iteration, w, blocks)
    much = ratio > MUCH or status.time_step[w] * iteration.answer[w] > WILD
    whole = part_of(status, w) == real(1.0)
    trials.changing[w] = real(0.0)
    progress.left[w] = left
    if whole and left <= limits.velocity:
        return
    if whole:
        if left > progress.before[w]:
            trials.share[w] = wp.max(real(0.5) * trials.share[w], LEAST_SHARE)
            much = True
        progress.before[w] = left
        if much or ratio > MORE:
            trials.even[w] = 1
        if much and status.limited[w] == 0:
            iteration.careful[w] = 1
            iteration.any_careful[0] = 1
    # The loop counts the correction that has just been made after this.
    status.least[w] = status.iterations[w] + 2
    status.before[w] = FAR


@kernel
def account(
    bodies: Bodies, progress: Progress, limits: Limits, change: Motion, worst: Diagnostics, held: Held, lanes: int
) -> None:
    """What the report says of the forces on a body: what they have changed last, and whether that is too much."""
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        left = progress.left[bodies.world[i]]
        own = wp.max(wp.length(change.velocity[i]), wp.length(change.angular_velocity[i]))
        worst.integration_error[i] = wp.max(worst.integration_error[i], wp.min(left, own))
        if left > limits.velocity:
            worst.trouble[i] = UNSETTLED


class HeldVelocities:
    """Records what forces are to see of the velocities of jointed bodies.

    Args:
        context: Where the step is recorded.
        preview: The preview loop of the joints.
        integrator: What moves the bodies.
    """

    def __init__(self, context: StepContext, preview: "Preview", integrator: Any) -> None:
        self.context, self.preview = context, preview
        self.iteration = LoadIteration(context, preview, integrator)
        self.progress: Any = arrays.allocate(Progress, {"worlds": context.model.worlds}, context.model.device)
        self.flown, self.seen = context.scratch(Flown), context.scratch(Motion)

    def look(self, moment: Moment) -> Moment:
        """Record the motion that forces are to see at a moment, and return the moment with it."""
        context, instant = self.context, Instant()
        instant.motion, instant.clock, instant.fraction = moment.motion, moment.clock, moment.fraction
        given = (context.state.motion, context.state.clock, instant, self.iteration.trials, self.seen)
        context.for_bodies(see, self.preview.links, *given, self.iteration.held.part)
        return Moment(self.seen, moment.clock, moment.fraction)

    def record_start(self) -> None:
        """Record that a step begins, and the forces it begins with."""
        self.context.for_worlds(begin, self.progress)
        self.iteration.record_start()

    def record_correction(self) -> None:
        """Record what a correction of the joints means for the velocities, and the forces that see them."""
        preview, trials = self.preview, self.iteration.trials
        given = (preview.flight, preview.status, self.flown, trials)
        self._for_held(find_changes, *given)
        self.iteration.record_trial()
        judged = (preview.status, preview.limits, trials, self.iteration.status, self.iteration.held.blocks)
        self.context.for_worlds(judge, self.progress, *judged)
        self.iteration.record_rounds()

    def record_prediction(self) -> None:
        """Record what a prediction, which is there, says of free flight."""
        self._for_held(note_flight, self.preview.flight, self.preview.status, self.flown)

    def record_end(self) -> None:
        """Record what the report says of the step."""
        self._for_held(account, self.progress, self.preview.limits, self.iteration.change.motion, self.context.worst)

    def _for_held(self, kernel: Any, *inputs: Any) -> None:
        held = self.iteration.held
        self.context.program.share(kernel, len(held.row), self.context.model.bodies, *inputs, held)
