"""Sleep in the steps of a simulation: which islands fall asleep, which wake, and skipping the sleeping ones.

    at the start of a step   islands wake whose loads have changed; islands fall asleep that have come to rest
    in the step              sleeping bodies stay where they are; where nothing is awake, only the clock advances
    contacts                 are not detected between bodies that rest; one between a sleeping body and one that moves
                             wakes the island, and contacts are detected again

A load has changed that would make a free body faster than slow within the half second after which it may sleep:
|ΔF| / m and |J⁻¹ Δτ| s above v₀ / 0.5 s, see ``solvers.contacts.sleeping.islands``. A write from outside
wakes at once, see ``model.sleep``. An island that wakes at the end of a step gets the half of its load that acts after
the contacts of its start, so that the forces of its contacts hold it still.

Reference: Bender, dissertation, §7.2.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.spin import angular_velocity
from rattleback.model.contact_memory import ADVANCED, SETTLED, WRITTEN, ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.sleep import Sleep, Waker, forget_sleep, with_room
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment, StepContext, move
from rattleback.solvers.contacts.sleeping import islands as island
from rattleback.solvers.contacts.sleeping import sleeping_contacts as putting_aside
from rattleback.solvers.contacts.sleeping.islands import DELAY, IslandJoints, Islands, is_still, size_of, slow_speed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.collision.stages import ContactStages
    from rattleback.forces.field import ForceField
    from rattleback.problem.preview import Preview

HALF = wp.constant(real(0.5))
PATIENCE = wp.constant(real(DELAY))


@kernel
def begin_count(islands: Islands) -> None:
    """Nothing is awake and nothing sleeps."""
    islands.awake[0] = 0
    islands.sleeping[0] = 0


@kernel
def count(bodies: Bodies, motion: Motion, sleep: Sleep, islands: Islands) -> None:
    """Whether anything is awake, static bodies that move included, and whether anything sleeps."""
    i = wp.tid()
    if sleep.asleep[i] != 0:
        islands.sleeping[0] = 1
    elif bodies.mass[i] > real(0.0) or not is_still(motion, i):
        islands.awake[0] = 1


@kernel
def lay_still(
    owner: wp.array[wp.int32], bodies: Bodies, motion: Motion, sleep: Sleep, still: wp.array[wp.int32]
) -> None:
    """Colliders of sleeping bodies and of static ones that do not move are still."""
    c = wp.tid()
    i = owner[c]
    rests = sleep.asleep[i] != 0 or (bodies.mass[i] == real(0.0) and is_still(motion, i))
    still[c] = wp.where(rests, 1, 0)


@kernel
def find_touched(contacts: Contacts, sleep: Sleep, islands: Islands) -> None:
    """Sleeping islands that something touches have to wake."""
    c = wp.tid()
    if c >= wp.min(contacts.needed[0], contacts.part.shape[0]):
        return
    a = sleep.asleep[contacts.body_a[c]]
    b = sleep.asleep[contacts.body_b[c]]
    if (a == 0) != (b == 0):
        islands.wanted[wp.max(a, b) - 1] = 1
        islands.waking[0] = 1


@kernel
def find_pushed(
    bodies: Bodies, motion: Motion, loads: Loads, sleep: Sleep, islands: Islands, gravity: wp.array[real]
) -> None:
    """Sleeping islands whose loads have changed have to wake."""
    i = wp.tid()
    if sleep.asleep[i] == 0:
        return
    size = size_of(bodies, i)
    push = bodies.inverse_mass[i] * (loads.force[i] - sleep.force[i])
    turn = angular_velocity(motion.orientation[i], loads.torque[i] - sleep.torque[i], bodies.inverse_inertia[i])
    if not (PATIENCE * wp.max(wp.length(push), size * wp.length(turn)) <= slow_speed(size, gravity[bodies.world[i]])):
        islands.wanted[sleep.asleep[i] - 1] = 1
        islands.waking[0] = 1


@kernel
def wake(
    bodies: Bodies,
    motion: Motion,
    clock: Clock,
    memory: ContactMemory,
    taken: wp.array[wp.float64],
    sleep: Sleep,
    islands: Islands,
) -> None:
    """Wake the islands that have to; at the end of a step, apply half of the load over it."""
    i = wp.tid()
    if sleep.asleep[i] == 0 or islands.wanted[wp.max(sleep.asleep[i] - 1, 0)] == 0:
        return
    w = bodies.world[i]
    if memory.pending[w] == ADVANCED:
        h = HALF * real(taken[w])
        motion.velocity[i] = h * bodies.inverse_mass[i] * sleep.force[i]
        turn = angular_velocity(motion.orientation[i], h * sleep.torque[i], bodies.inverse_inertia[i])
        motion.angular_velocity[i] = turn
    sleep.asleep[i] = 0
    sleep.since[i] = clock.time[w]
    sleep.force[i] = vec3()
    sleep.torque[i] = vec3()


@kernel
def end_waking(bodies: Bodies, islands: Islands, memory: ContactMemory) -> None:
    """No island has to wake any more; contacts of woken ones are not detected yet, and velocities have to fit them."""
    i = wp.tid()
    w = bodies.world[i]
    if islands.wanted[i] == 1 and memory.pending[w] == SETTLED:
        memory.pending[w] = WRITTEN
    islands.wanted[i] = 0
    if i == 0:
        islands.waking[0] = 0
        islands.woken[0] = 1


@kernel
def stay(bodies: Bodies, motion: Motion, sleep: Sleep, predicted: Motion) -> None:
    """Sleeping bodies stay where they are."""
    i = wp.tid()
    if sleep.asleep[i] != 0:
        move(motion, predicted, i)


class Sleeping:
    """Sleep in the steps of a model.

    Args:
        context: What the step works on.
        forces: The forces of the scene.
        contacts: How contacts are found; None where they are not.
        joints: How joints are held; None without joints.
        taken: Length of the step that was predicted last, of every world [s]; None where contacts are not resolved.

    Attributes:
        islands: The islands, and which fall asleep or wake.
        kept: Contacts of sleeping bodies.
        waker: Wakes bodies that are touched from outside.
    """

    def __init__(
        self,
        context: StepContext,
        forces: "ForceField",
        contacts: "ContactStages | None",
        joints: "Preview | None",
        taken: Any,
    ) -> None:
        self.context, self.forces, self.contacts, model = context, forces, contacts, context.model
        self.gravity = model.world_numbers(np.where(model.gravity > 0.0, model.gravity, 1.0))
        counts = {"bodies": model.count, "flags": 1}
        self.islands: Any = arrays.allocate(Islands, counts, model.device)
        self.loads = arrays.allocate(Loads, counts, model.device)
        self.memory = context.state.contacts if contacts is None else contacts.memory
        self.taken = wp.zeros(model.worlds, dtype=wp.float64, device=model.device) if taken is None else taken
        room = 0 if contacts is None else len(contacts.finder.contacts.part)
        context.state.sleeping_contacts = with_room(context.state.sleeping_contacts, room)
        self.kept = context.state.sleeping_contacts
        self.joined = None if joints is None else _joined(joints.problem)
        pairs = np.zeros((0, 2), dtype=np.int64)
        if self.joined is not None:
            pairs = np.stack([self.joined.a.numpy(), self.joined.b.numpy()], axis=1)
        between = np.flatnonzero((pairs >= 0).all(axis=1))
        self.waker = Waker(pairs[between], between)

    def record_opening(self) -> None:
        """Record, before the steps of a call, what makes everything agree with the sleeping bodies of the state."""
        context, state = self.context, self.context.state
        self._count()
        given = (context.model.bodies, state.sleep, self.kept, self.islands)
        with context.program.when(self.islands.awake):
            context.program.share(putting_aside.find_woken, len(self.kept.part), *given)

    def record_start(self, find: "Callable[[], None]", sort: "Callable[[], None]", fit: "Callable[[], None]") -> None:
        """Record waking and falling asleep at the start of a step.

        Args:
            find: Records what finds contacts and prepares them.
            sort: Records what prepares contacts that are there.
            fit: Records what makes velocities fit contacts.
        """
        program, islands = self.context.program, self.islands
        if not self.forces.steady:
            with program.when(islands.sleeping):
                self._record_changed_loads(find, fit)
        with program.when(islands.awake):
            self._record_watch()
            with program.when(islands.ready):
                self._record_islands()
            with program.when(islands.falling):
                self._record_falling(sort)

    def _record_changed_loads(self, find: "Callable[[], None]", fit: "Callable[[], None]") -> None:
        context, state = self.context, self.context.state
        self._evaluate()
        context.for_bodies(find_pushed, state.motion, self.loads, state.sleep, self.islands, self.gravity)
        with context.program.when(self.islands.waking):
            self._record_waking()
            find()
            fit()

    def _evaluate(self) -> None:
        """The loads at the state."""
        self.forces.record_starts(self.context.program)
        moment = Moment(self.context.state.motion, self.context.state.clock)
        self.forces.record(self.context.program, moment, self.loads)

    def _record_watch(self) -> None:
        context, state = self.context, self.context.state
        context.program.launch(island.begin_rest_tracking, 1, self.islands)
        every = 1 if self.contacts is None else self.contacts.every
        context.for_bodies(island.track_rest, state.motion, state.clock, state.sleep, self.islands, self.gravity, every)

    def _record_islands(self) -> None:
        context, state, islands, model = self.context, self.context.state, self.islands, self.context.model
        context.for_bodies(island.begin_islands, state.clock, state.sleep, islands)
        moving = (model.bodies, state.motion)
        if self.contacts is not None:
            each = self.contacts.finder.geometry.each
            context.for_worlds(island.join_contacts, *moving, self.contacts.finder.contacts, islands, each)
        if self.joined is not None:
            each = len(self.joined.a) // model.worlds
            context.for_worlds(island.join_joints, *moving, self.joined, islands, each)
        context.for_worlds(island.close_islands, islands, len(model.names))
        context.for_bodies(island.fall_asleep, state.motion, state.sleep, islands)

    def _record_falling(self, sort: "Callable[[], None]") -> None:
        context, state = self.context, self.context.state
        self._evaluate()
        context.program.launch(island.store_loads, context.model.count, self.loads, state.sleep, self.islands)
        if self.contacts is not None:
            given = (context.model.bodies, self.contacts.finder.contacts, self.memory, state.sleep, self.kept)
            context.program.launch(putting_aside.remove_sleeping, 1, *given)
            sort()
        self._count()

    def record_contacts(self, find: "Callable[[], None]", sort: "Callable[[], None]") -> None:
        """Record what finds contacts, wakes what they touch, finds those of the woken, and prepares them all.

        Args:
            find: Records what finds contacts.
            sort: Records what prepares them.
        """
        if self.contacts is None:
            return
        context, islands, found = self.context, self.islands, self.contacts.finder.contacts
        program, bodies, sleep, room = context.program, context.model.bodies, context.state.sleep, len(found.part)
        find()
        with program.when(islands.sleeping):
            program.launch(find_touched, room, found, sleep, islands)
            with program.loop(islands.waking):
                self._record_waking()
                find()
                program.launch(find_touched, room, found, sleep, islands)
        program.launch(putting_aside.stop_when_full, 1, bodies, found, sleep, self.kept, islands, context.stop)
        with program.when(islands.woken):
            program.launch(
                putting_aside.restore_woken, len(self.kept.part), bodies, found, self.memory, sleep, self.kept
            )
        sort()
        with program.when(islands.woken):
            program.launch(putting_aside.clear_restored, room, found, self.memory)
            program.launch(putting_aside.drop_woken, 1, bodies, sleep, self.kept, islands, context.stop)

    def _record_waking(self) -> None:
        context, state = self.context, self.context.state
        given = (state.motion, state.clock, self.memory, self.taken, state.sleep, self.islands)
        context.for_bodies(wake, *given)
        context.for_bodies(end_waking, self.islands, self.memory)
        if self.contacts is not None:
            self.contacts.record_stale(context.program)
        self._count()

    def record_stay(self) -> None:
        """Record that sleeping bodies do not move in the prediction."""
        state = self.context.state
        self.context.for_bodies(stay, state.motion, state.sleep, self.context.predicted)

    def _count(self) -> None:
        for counting, dim, inputs in self._counting():
            self.context.program.launch(counting, dim, *inputs)

    def align(self) -> None:
        """Between steps: let contacts be found between all that are awake."""
        for counting, dim, inputs in self._counting():
            if dim > 0:
                wp.launch(counting, dim, inputs=list(inputs), device=self.context.model.device)

    def _counting(self) -> list[tuple[Any, int, tuple[Any, ...]]]:
        state, bodies, islands = self.context.state, self.context.model.bodies, self.islands
        given = (bodies, state.motion, state.sleep)
        launches: list[tuple[Any, int, tuple[Any, ...]]] = [
            (begin_count, 1, (islands,)),
            (count, self.context.model.count, (*given, islands)),
        ]
        if self.contacts is not None and self.contacts.finder.still is not None:
            finder = self.contacts.finder
            launches.append((lay_still, finder.geometry.count, (finder.geometry.colliders.body, *given, finder.still)))
        return launches

    def end(self) -> None:
        """Other methods take over: everything wakes."""
        state = self.context.state
        if state.waker is None:
            forget_sleep(state)
        state.wake()

    def room_wanted(self) -> int:
        """How many contacts there are, of those that are awake and asleep; reads the device."""
        if self.contacts is None:
            return 0
        return int(self.contacts.finder.contacts.needed.numpy()[0]) + int(self.kept.count.numpy()[0])


def _joined(problem: Any) -> IslandJoints:
    """The two bodies of every joint, and which of them have a rate of their own."""
    joined, joints = IslandJoints(), problem.joints
    joined.a, joined.b, joined.broken, joined.drives = joints.body_a, joints.body_b, joints.broken, joints.drives
    return joined
