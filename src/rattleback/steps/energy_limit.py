"""The energy limit: joints, limits of joints and contacts may not add energy.

    gain = T' − T − W − ½ m c²,      d' = max(0, d e^(−h/τ) + gain)            limited where   gain > 0  and  d' > D
    D = 0.02 max(T + W, P) + m (½ (g h)² + g δ + u²),    P' = max(T, P e^(−h/τ))

T, T' kinetic energy of a mechanism at the beginning and the end of a step, W work of forces, springs and motors, see
``energy_work``, d its debt: energy that its joints and contacts have added lately and not removed again. D is the debt
that accurate steps have now and then, P the largest T lately, m mass, c how fast joints close that the user has put
apart, g h what gravity does in a step, δ and u the tolerances of positions and velocities, τ a second. A body without
joints is judged the same way in every step for itself.

What touches shares its energy, so what is in debt is judged with its island: moving bodies that touch or are joined.
An island that has gained loses the excess: all velocities are scaled, against those of its centre of mass where it
leans on nothing. That keeps the conditions of its joints, which are linear in the velocities. Where corrections have
diverged, the velocities of the prediction are taken instead. Islands that static bodies or belts drive are skipped;
a joint with rates of its own does at most the work of its impulse.

    step begins: T;   it is taken: W;   its velocities are done: d, by mechanism; where one has d > D: islands, scale
Cost: three looks at every body of a mechanism; islands, one world a thread, only where a mechanism is in debt.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays, host_read
from rattleback.core.kernel import kernel
from rattleback.core.node import together
from rattleback.core.precision import real, vec3
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.mechanisms import kinetic_energy
from rattleback.steps.energy_audit import EnergyAudit, make_energy_audit
from rattleback.steps.energy_floor import Floor, Sizes, make_floor
from rattleback.steps.energy_islands import ZERO, Ledger, join_contacts, join_joints, root_of
from rattleback.steps.energy_springs import add_springs
from rattleback.steps.energy_work import note_before, note_loads, note_way, note_work
from rattleback.steps.torn_mechanisms import DRIVEN, Measured, hold_back, hold_loose, note_gaps, note_written

if TYPE_CHECKING:
    from collections.abc import Callable

# Part of the kinetic energy that constraints may add for a while, and how long that is held against them [s]: steps of
# an accurate run add and take less than a hundredth.
SHARE = wp.constant(real(0.02))
WHILE = wp.constant(real(1.0))
# Where so little would be left of the velocities, corrections have diverged: their directions mean nothing.
LOST = wp.constant(real(0.03))


@kernel
def begin_hold(ledger: Ledger) -> None:
    """No mechanism is held back."""
    ledger.any_held[0] = 0


@kernel
def begin_balance(ledger: Ledger) -> None:
    """No mechanism of a world is known to be in debt."""
    ledger.over[wp.tid()] = 0
    ledger.any_over[0] = 0


@wp.func
def add_drive(bodies: Bodies, measured: Measured, ledger: Ledger, mass: real, j: int) -> None:
    """A joint with rates of its own does at most its impulse times its speed as work, at one of its bodies.

    Where impulses have diverged that is nonsense: at most it gives a mass the speed with which it may be thrown.
    """
    joints = measured.joints
    speed = ZERO
    spin = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rate = measured.definitions.rate[r]
        if measured.definitions.is_length[r] == 1:
            speed += rate * rate
        else:
            spin += rate * rate
    i = joints.body_b[j]
    if i < 0 or bodies.mass[wp.max(i, 0)] == ZERO:
        i = joints.body_a[j]
    work = wp.sqrt(speed) * wp.length(measured.reactions.impulse[j])
    work += wp.sqrt(spin) * wp.length(measured.reactions.couple[j])
    ledger.work[i] = ledger.work[i] + wp.min(work, real(0.5) * mass * DRIVEN * DRIVEN * (speed + spin))


@kernel
def balance(
    bodies: Bodies,
    measured: Measured,
    motion: Motion,
    clock: Clock,
    remembered: JointState,
    ledger: Ledger,
    floor: Floor,
    stop: wp.array[wp.int32],
) -> None:
    """The debt of a mechanism at the end of a step; where it is too large, its island is to be looked at.

    A step whose contacts do not fit their buffer, with a stop below zero, is at its end where nothing resolves them.
    """
    if stop[0] > 0 or (stop[0] < 0 and floor.resolves == 1):
        return
    m = wp.tid()
    mechanisms = measured.mechanisms
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        if measured.joints.drives[mechanisms.joint[k]] == 1:
            add_drive(bodies, measured, ledger, mechanisms.mass[m], mechanisms.joint[k])
        if measured.sprung == 1:
            add_springs(bodies, measured, motion, ledger, mechanisms.joint[k])
    first = mechanisms.body[mechanisms.first[m]]
    before = real(0.0)
    work = real(0.0)
    now = real(0.0)
    mass = real(0.0)
    missed = real(0.0)
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        i = mechanisms.body[k]
        before += ledger.before[i]
        work += ledger.work[i]
        now += kinetic_energy(bodies, motion, i)
        mass += bodies.mass[i]
        missed += ledger.missed[i]
    j = mechanisms.joint[mechanisms.first_joint[m]]
    w = bodies.world[first]
    h = real(clock.time_step[w])
    fade = wp.exp(-h / WHILE)
    debt = fade * remembered.debt[j]
    peak = wp.max(before, fade * remembered.peak[j])
    most = SHARE * wp.max(before + work, peak)
    most += mass * (floor.energy[w] + real(0.5) * (floor.gravity[w] * h) * (floor.gravity[w] * h))
    close = wp.min(remembered.gap[j] / h, floor.speed)
    gain = now - before - work - real(0.5) * mass * close * close
    if floor.first_order == 1:
        gain -= missed
    remembered.peak[j] = peak
    if gain > ZERO and debt + gain > most:
        left = wp.max(most - debt, ZERO)
        for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
            i = mechanisms.body[k]
            ledger.head[i] = first
            ledger.allowed[i] = wp.where(i == first, left, left * bodies.mass[i] / mass)
        ledger.over[w] = 1
        ledger.any_over[0] = 1
        remembered.debt[j] = wp.max(debt, most)
    else:
        remembered.debt[j] = wp.max(debt + gain, ZERO)


@kernel
def balance_loose(bodies: Bodies, motion: Motion, ledger: Ledger, floor: Floor, stop: wp.array[wp.int32]) -> None:
    """The same for a body without joints, which remembers no debt."""
    i = wp.tid()
    if stop[0] > 0 or (stop[0] < 0 and floor.resolves == 1) or ledger.loose[i] == 0 or bodies.mass[i] == ZERO:
        return
    due = ledger.before[i] + ledger.work[i]
    most = SHARE * wp.max(due, ledger.before[i]) + bodies.mass[i] * floor.energy[bodies.world[i]] + ledger.missed[i]
    if kinetic_energy(bodies, motion, i) > due + most:
        ledger.head[i] = i
        ledger.allowed[i] = most
        ledger.over[bodies.world[i]] = 1
        ledger.any_over[0] = 1


@wp.func
def add_up(bodies: Bodies, motion: Motion, predicted: Motion, ledger: Ledger, first: int, end: int) -> None:
    """Energy of every island of a world, and what it may have, at its first body."""
    for i in range(first, end):
        ledger.due[i] = ZERO
        ledger.kinetic[i] = ZERO
        ledger.flown[i] = ZERO
        ledger.mass[i] = ZERO
        ledger.momentum[i] = vec3()
        ledger.judged[i] = 0
    for i in range(first, end):
        if bodies.mass[i] == ZERO:
            continue
        r = root_of(ledger, i)
        now = kinetic_energy(bodies, motion, i)
        ledger.due[r] = ledger.due[r] + ledger.before[i] + ledger.work[i]
        ledger.kinetic[r] = ledger.kinetic[r] + now
        ledger.flown[r] = ledger.flown[r] + kinetic_energy(bodies, predicted, i)
        ledger.mass[r] = ledger.mass[r] + bodies.mass[i]
        ledger.momentum[r] = ledger.momentum[r] + bodies.mass[i] * motion.velocity[i]
        if ledger.allowed[i] >= ZERO:
            ledger.judged[r] = 1
            # Where joints are broken, what is apart from the first body has its part by mass.
            if i == ledger.head[i] or root_of(ledger, ledger.head[i]) != r:
                ledger.due[r] = ledger.due[r] + ledger.allowed[i]


@wp.func
def judge(ledger: Ledger, i: int) -> real:
    """Factor of the velocities of the island that begins at a body."""
    if ledger.judged[i] == 0 or ledger.driven[i] == 1 or ledger.kinetic[i] <= ledger.due[i]:
        return real(1.0)
    drift = ZERO
    if ledger.leans[i] == 0:
        drift = real(0.5) * wp.length_sq(ledger.momentum[i]) / ledger.mass[i]
    if ledger.due[i] <= drift:
        return ZERO
    return wp.sqrt((ledger.due[i] - drift) / (ledger.kinetic[i] - drift))


@kernel
def limit(bodies: Bodies, motion: Motion, predicted: Motion, ledger: Ledger) -> None:
    """Islands of a world lose the gain beyond their limit."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    count = bodies.world.shape[0] // ledger.over.shape[0]
    add_up(bodies, motion, predicted, ledger, w * count, (w + 1) * count)
    worst = int(-1)
    for i in range(w * count, (w + 1) * count):
        if ledger.parent[i] == i:
            ledger.scale[i] = judge(ledger, i)
            excess = ledger.kinetic[i] - ledger.due[i]
            if ledger.scale[i] < real(1.0) and not (excess <= ledger.most[w]):
                ledger.most[w] = excess
                worst = i
    gained = ZERO
    for i in range(w * count, (w + 1) * count):
        r = root_of(ledger, i)
        s = ledger.scale[r]
        if bodies.mass[i] == ZERO or s == real(1.0):
            continue
        own = kinetic_energy(bodies, motion, i) - ledger.before[i] - ledger.work[i]
        if r == worst and not (own <= gained):
            gained = own
            ledger.body[w] = i
        drift = vec3()
        if ledger.leans[r] == 0:
            drift = ledger.momentum[r] / ledger.mass[r]
        if s < LOST and ledger.flown[r] <= ledger.due[r]:
            motion.velocity[i] = predicted.velocity[i]
            motion.angular_velocity[i] = predicted.angular_velocity[i]
        else:
            motion.velocity[i] = drift + s * (motion.velocity[i] - drift)
            motion.angular_velocity[i] = s * motion.angular_velocity[i]


@dataclass(frozen=True)
class EnergyLimit:
    """Records the energy limit in the steps of a model with joints.

    Attributes:
        context: Where the step is recorded.
        measured: The joints, and what they connect.
        status: How their loops go.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        ledger: What happens to the energy.
        floor: What a step may leave.
        audit: What tells the gain that is left.
    """

    context: StepContext
    measured: Any
    status: Any
    touching: tuple[Any, int] | None
    ledger: Any
    floor: Any
    audit: EnergyAudit

    def _for_mechanisms(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, len(self.measured.mechanisms.first), *inputs)

    def record_written(self) -> None:
        """Record, in the prologue, how far apart the user has put joints."""
        state = self.context.state
        with self.context.program.when(self.status.any_written):
            self._for_mechanisms(note_written, self.measured, state.motion, state.joints, self.status)

    def record_start(self) -> None:
        """Record the energies and the gaps at the beginning of a step."""
        context, state = self.context, self.context.state
        context.share_bodies(note_before, state.motion, self.ledger)
        self._for_mechanisms(note_gaps, self.measured, state.motion, state.joints, self.floor)

    def record_loads(self) -> None:
        """Record what loads do in the first prediction."""
        context = self.context
        context.share_bodies(note_loads, context.start, context.predicted, self.ledger)

    def record_work(self) -> None:
        """Record what forces did in the prediction."""
        context, state = self.context, self.context.state
        motions = (state.motion, context.start, context.predicted)
        context.share_bodies(note_work, *motions, context.loads, state.clock, self.ledger)
        self.audit.record_work()

    def record_hold(self) -> None:
        """Record that mechanisms which corrections have thrown away go on without forces; the way of all is known."""
        context, state, ledger = self.context, self.context.state, self.ledger
        given = (context.model.bodies, self.measured, state.motion, context.predicted)
        context.program.launch(begin_hold, 1, ledger)
        self._for_mechanisms(hold_back, *given, ledger, self.audit.sums, self.floor)
        if self.touching is not None:
            thrown = (state.motion, context.predicted, ledger, self.audit.sums, self.floor)
            context.for_bodies(hold_loose, *thrown)
        context.share_bodies(note_way, state.motion, context.predicted, state.clock, ledger)

    def when_held(self) -> Any:
        """What is recorded inside happens where a mechanism is held back."""
        return self.context.program.when(self.ledger.any_held)

    def record_end(self) -> None:
        """Record the limit at the end of a step, when its velocities are done."""
        context, ledger, motion, state = self.context, self.ledger, self.context.state.motion, self.context.state
        context.for_worlds(begin_balance, ledger)
        moving, worlds = (context.model.bodies, motion), context.model.worlds
        given = (context.model.bodies, self.measured, motion, state.clock, state.joints, ledger)
        self._for_mechanisms(balance, *given, self.floor, context.stop)
        if self.touching is not None:
            context.for_bodies(balance_loose, motion, ledger, self.floor, context.stop)
        with context.program.when(ledger.any_over):
            joints = self.measured.joints
            context.program.launch(join_joints, worlds, *moving, joints, ledger, len(joints.body_a) // worlds)
            if self.touching is not None:
                contacts, each = self.touching
                context.program.launch(join_contacts, worlds, *moving, contacts, context.model.surfaces, ledger, each)
            context.program.launch(limit, worlds, *moving, context.predicted, ledger)
        self.audit.record_end()

    @cached_property
    def forget(self) -> "Callable[[], None]":
        """To be called when a call begins: no energy has been removed or gained yet."""
        return together([host_read.clearing(self.ledger.most), self.audit.forget])

    def take_over(self, old: "EnergyLimit") -> None:
        """Continue with what another one of the same model has seen."""
        arrays.copy_into(self.ledger, old.ledger)
        self.audit.take_over(old.audit)

    @property
    def fell_short(self) -> tuple[Any, Any]:
        """Above zero where energy was taken in a step of the call, or gained."""
        return self.ledger.most, self.audit.gains.beyond

    def summary(self) -> dict[str, Any]:
        """What the report says: how much energy was taken, and from where, and how much is left too much."""
        most, said = self.ledger.most.numpy(), self.audit.summary()
        world = int(most.argmax())
        said["energy_limited"] = float(most[world])
        if most[world] > 0.0:
            name, number = self.context.model.locate(int(self.ledger.body.numpy()[world]))
            where = f" of world {number}" if self.context.model.batched else ""
            taken = (
                f"Joints, stops and contacts of body {name!r}{where} and what it touches would have added "
                f"{most[world]:.3g} J to the energy in a step; velocities were lowered by as much. "
                "A shorter time_step helps, or joints that do not contradict each other."
            )
            said["reason"] = f"{taken} {said.get('reason', '')}".strip()
        return said


def make_energy_limit(context: StepContext, preview: Any, touching: tuple[Any, int] | None, sizes: Sizes) -> Any:
    """The energy limit of a model with joints.

    Args:
        context: Where the step is recorded.
        preview: How its joints are held.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        sizes: What a step may leave.
    """
    model, measured = context.model, Measured()
    floor = make_floor(sizes, model, preview.limits, touching is not None)
    counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
    ledger = arrays.allocate(Ledger, counts, model.device)
    held = np.isin(np.arange(model.count) % len(model.names), preview.problem.pairs)
    ledger.loose.assign((~held).astype(np.int32))
    problem = preview.problem
    measured.joints, measured.definitions = problem.fixed, problem.definitions
    measured.mechanisms, measured.reactions, measured.rows = preview.mechanisms, preview.reactions, problem.rows
    measured.sprung = int(preview.yielding.some)
    audit = make_energy_audit(context, preview.mechanisms, ledger, floor)
    return EnergyLimit(context, measured, preview.status, touching, ledger, floor, audit)
