"""The step context: what a recipe, an integrator and the forces share while they record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Clock, Loads, Motion, State

# What ``Diagnostics.trouble`` says of a body whose forces and joints have not settled.
UNSETTLED = wp.constant(2)


@group(axis="bodies")
class Diagnostics:
    """What an integrator says of its own work: of one prediction, or the worst over the steps of a call."""

    integration_error: real = field("1", "error of the integrator's own step, in its own measure")
    iterations: wp.int32 = field("1", "iterations of an implicit method or sub-steps of an adaptive one")
    trouble: wp.int32 = field("1", "1 where the integrator could not meet its tolerance, 2 where forces did not settle")


@wp.func
def move(source: Motion, target: Motion, i: int) -> None:
    """The motion of one body becomes another."""
    target.position[i] = source.position[i]
    target.orientation[i] = source.orientation[i]
    target.velocity[i] = source.velocity[i]
    target.angular_velocity[i] = source.angular_velocity[i]


@kernel
def copy_motion(bodies: Bodies, source: Motion, target: Motion, lanes: int) -> None:
    """The motion of every body becomes another."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        move(source, target, i)


@kernel
def copy_velocities(bodies: Bodies, source: Motion, target: Motion, lanes: int) -> None:
    """The velocities of one motion become those of another."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        target.velocity[i] = source.velocity[i]
        target.angular_velocity[i] = source.angular_velocity[i]


@dataclass(frozen=True)
class Moment:
    """A moment forces can be evaluated at: a motion, and a fraction of the clock's step after its time."""

    motion: Motion
    clock: Clock
    fraction: float = 0.0


@dataclass(frozen=True)
class StepContext:
    """Everything one step touches.

    Attributes:
        program: Where launches are recorded.
        model: The model.
        state: The state at the start of the step.
        start: The motion the prediction starts from: that of the state, with the velocities joints have corrected.
        predicted: The motion at its end, written by the integrator.
        loads: Forces and torques of the step.
        evaluate: Records the launches that write the loads of a moment into a Loads group.
        velocity_dependent: Whether any force depends on a velocity that is the integrator's to find.
        motion_dependent: Whether any force depends on velocity or pose.
        diagnostics: What the integrator says of its last prediction.
        worst: The worst of that over the predictions that were taken over, since the call began.
        proposed: Sub-step an adaptive integrator proposes to each world [s]; the clock takes it over with the step.
        stop: Raised by a step that went wrong: number of bodies minus the row of the first bad one.
        substeps: In how many sub-steps a whole step is done.
    """

    program: Program
    model: Model
    state: State
    start: Motion
    predicted: Motion
    loads: Loads
    evaluate: Callable[[Moment, Loads], None]
    velocity_dependent: bool
    motion_dependent: bool
    diagnostics: Diagnostics
    worst: Diagnostics
    proposed: Any
    stop: Any
    substeps: int = 1

    @property
    def now(self) -> Moment:
        """The start of the step."""
        return Moment(self.start, self.state.clock)

    def for_bodies(self, kernel: Any, *inputs: Any) -> None:
        """Record a launch with one thread per body; the kernel's first argument is the model's bodies."""
        self.program.launch(kernel, self.model.count, self.model.bodies, *inputs)

    def share_bodies(self, kernel: Any, *inputs: Any) -> None:
        """Record a kernel whose threads share the bodies, as ``Program.share`` says; they are its first argument."""
        self.program.share(kernel, self.model.count, self.model.bodies, *inputs)

    def for_worlds(self, kernel: Any, *inputs: Any) -> None:
        """Record a launch with one thread per world."""
        self.program.launch(kernel, self.model.worlds, *inputs)

    def scratch(self, kind: Any) -> Any:
        """A zeroed array group of the model's size, for intermediate results."""
        counts = {"bodies": self.model.count, "worlds": self.model.worlds}
        return arrays.allocate(kind, counts, self.model.device)
