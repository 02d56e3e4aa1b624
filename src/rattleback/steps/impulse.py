"""One time step, as a table of contents.

    forces      the loads, where the integrator wants them
    predict     where every body would be at the end of the step
    advance     check that the prediction is finite, take it over, move the clock

Collision finding belongs between forces and prediction, joints and contacts between prediction and advance.

Reference: Bender, dissertation, section 3.1.2.
"""

from dataclasses import dataclass

import warp as wp

from rattleback.core.protocols import Integrator
from rattleback.model.bench import Bench
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion


@wp.kernel(enable_backward=False)
def find_fault(bodies: Bodies, predicted: Motion, stop: wp.array[wp.int32]) -> None:
    """Raise the stop flag for a body that is not finite; the first one gives the largest number."""
    i = wp.tid()
    ok = wp.isfinite(predicted.position[i]) and wp.isfinite(predicted.velocity[i])
    ok = ok and wp.isfinite(predicted.orientation[i]) and wp.isfinite(predicted.angular_velocity[i])
    if not ok:
        wp.atomic_max(stop, 0, bodies.world.shape[0] - i)


@wp.kernel(enable_backward=False)
def take_over(bodies: Bodies, predicted: Motion, motion: Motion, stop: wp.array[wp.int32]) -> None:
    """The prediction becomes the state, unless a body of it is not finite."""
    i = wp.tid()
    if stop[0] == 0:
        motion.position[i] = predicted.position[i]
        motion.orientation[i] = predicted.orientation[i]
        motion.velocity[i] = predicted.velocity[i]
        motion.angular_velocity[i] = predicted.angular_velocity[i]


@wp.kernel(enable_backward=False)
def move_clock(clock: Clock, stop: wp.array[wp.int32]) -> None:
    """Time goes on by one step."""
    w = wp.tid()
    if stop[0] == 0:
        clock.time[w] = clock.time[w] + clock.time_step[w]
        clock.steps[w] = clock.steps[w] + wp.int64(1)


@dataclass(frozen=True)
class ImpulseStep:
    """The recipe of the impulse-based method."""

    integrator: Integrator

    def record(self, bench: Bench) -> None:
        """Record one step."""
        stage = bench.program.stage
        with stage("forces"):
            self.integrator.record_forces(bench)
        with stage("predict"):
            self.integrator.record_prediction(bench)
        with stage("advance"):
            bench.for_bodies(find_fault, bench.predicted, bench.stop)
            bench.for_bodies(take_over, bench.predicted, bench.state.motion, bench.stop)
            bench.for_worlds(move_clock, bench.state.clock, bench.stop)
