"""One time step, as a table of contents.

    forces      the loads, where the integrator wants them
    predict     where every body would be at the end of the step
    joints      impulses at the start that make the joints hold at the end, predicting again each time
    advance     stop fast bodies at what they hit, check that all is finite, take the prediction over, move the clock
    velocities  impulses at the end that make the velocities agree with the joints
    contacts    where the bodies touch now

With a contact time, prediction and joints are repeated with shorter steps until bodies that meet just touch.
The rows of the joints and their factor, and the contacts, at the end of one step serve the next, which starts from the
same poses; the first step of a call finds them made by the prologue.

Reference: Bender, dissertation, section 3.1.2 and §3.3.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.core.protocols import Integrator
from rattleback.model.bench import Bench, Diagnostics, move
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.problem.preview import Preview


@wp.kernel(enable_backward=False)
def find_fault(bodies: Bodies, predicted: Motion, stop: wp.array[wp.int32]) -> None:
    """Raise the stop flag for a body that is not finite; the first one gives the largest number."""
    i = wp.tid()
    q = predicted.orientation[i]
    # A sum is finite only if all its terms are.
    v = predicted.position[i] + predicted.velocity[i] + predicted.angular_velocity[i] + vec3(q[0], q[1], q[2])
    if not wp.isfinite(v[0] + v[1] + v[2] + q[3]):
        wp.atomic_max(stop, 0, bodies.world.shape[0] - i)


@wp.kernel(enable_backward=False)
def forget(bodies: Bodies, diagnostics: Diagnostics) -> None:
    """A prediction begins: the integrator has said nothing of it yet."""
    i = wp.tid()
    diagnostics.integration_error[i] = real(0.0)
    diagnostics.iterations[i] = 0
    diagnostics.trouble[i] = 0


@wp.kernel(enable_backward=False)
def remember(bodies: Bodies, diagnostics: Diagnostics, worst: Diagnostics) -> None:
    """What the integrator said of the prediction that is taken over."""
    i = wp.tid()
    worst.integration_error[i] = wp.max(worst.integration_error[i], diagnostics.integration_error[i])
    worst.iterations[i] = wp.max(worst.iterations[i], diagnostics.iterations[i])
    worst.trouble[i] = wp.max(worst.trouble[i], diagnostics.trouble[i])


@wp.kernel(enable_backward=False)
def take_over(bodies: Bodies, predicted: Motion, motion: Motion, stop: wp.array[wp.int32]) -> None:
    """The prediction becomes the state, unless a body of it is not finite."""
    i = wp.tid()
    if stop[0] == 0:
        move(predicted, motion, i)


@wp.kernel(enable_backward=False)
def move_clock(clock: Clock, proposed: wp.array[wp.float64], stop: wp.array[wp.int32]) -> None:
    """Time goes on by one step."""
    w = wp.tid()
    if stop[0] == 0:
        clock.time[w] = clock.time[w] + clock.time_step[w]
        clock.steps[w] = clock.steps[w] + wp.int64(1)
        clock.substep[w] = proposed[w]


@dataclass(frozen=True)
class ImpulseStep:
    """The recipe of the impulse-based method.

    Attributes:
        integrator: How free bodies move.
        joints: How joints are held; None without joints.
        contacts: What is done about contacts, a ``collision.stages.ContactStages``; None for nothing.
    """

    integrator: Integrator
    joints: Preview | None = None
    contacts: Any = None

    def record(self, bench: Bench) -> None:
        """Record one step."""
        program, joints, contacts = bench.program, self.joints, self.contacts
        with program.prologue():
            if joints is not None:
                joints.record_prologue()
            if contacts is not None:
                contacts.record_contacts(program, bench.stop)
        with program.stage("forces"):
            self._start()
            self.integrator.record_forces(bench)
        if contacts is not None and contacts.shortens:
            with program.stage("contact time"):
                contacts.record_search(program, bench.stop, lambda: self._try(bench))
        else:
            self._predict_and_hold(bench)
        with program.stage("advance"):
            if contacts is not None:
                contacts.record_stops(program, bench.stop)
            self._advance(bench)
        if joints is not None:
            with program.stage("velocities"):
                joints.record_velocities()
        if contacts is not None:
            with program.stage("contacts"):
                contacts.record_contacts(program, bench.stop)

    def _start(self) -> None:
        if self.joints is not None:
            self.joints.record_start()

    def _predict_and_hold(self, bench: Bench) -> None:
        with bench.program.stage("predict"):
            self._predict(bench)
        if self.joints is not None:
            with bench.program.stage("joints"):
                self.joints.record_positions(lambda: self._predict(bench))

    def _try(self, bench: Bench) -> None:
        """A step of another length, from the same start."""
        self._start()
        self._predict(bench)
        if self.joints is not None:
            self.joints.record_positions(lambda: self._predict(bench))

    def _predict(self, bench: Bench) -> None:
        bench.for_bodies(forget, bench.diagnostics)
        self.integrator.record_prediction(bench)

    def _advance(self, bench: Bench) -> None:
        bench.for_bodies(remember, bench.diagnostics, bench.worst)
        bench.for_bodies(find_fault, bench.predicted, bench.stop)
        bench.for_bodies(take_over, bench.predicted, bench.state.motion, bench.stop)
        bench.for_worlds(move_clock, bench.state.clock, bench.proposed, bench.stop)
        if self.contacts is not None:
            self.contacts.record_end(bench.program)
