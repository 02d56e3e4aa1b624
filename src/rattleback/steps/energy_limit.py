"""The energy limit: joints, limits of joints and contacts may not add energy.

    gain = T' − T − W − ½ m c²,      d' = max(0, d e^(−h/τ) + gain)            limited where   gain > 0  and  d' > D
    D = 0.02 max(T + W, P) + m (g δ + u²),    P' = max(T, P e^(−h/τ))

T, T' kinetic energy of a mechanism at the beginning and the end of a step, W work of forces, springs and motors,
Δp·Δx/h, d its debt: energy that its joints and contacts have added lately and not removed again. D is the debt that
accurate steps have now and then, P the largest T lately, m mass, c how fast joints close that the user has put apart,
δ and u the tolerances of positions and velocities, τ a second.

What touches shares its energy, so a mechanism in debt is judged with its island: moving bodies that touch or are
joined.
An island that has gained loses the excess: all velocities are scaled, against those of its centre of mass where it
leans on nothing. That keeps the conditions of its joints, which are linear in the velocities. Where corrections have
diverged, the velocities of the prediction are taken instead. Islands that something
drives are skipped: velocity joints, static bodies that move, belts.

    step begins: T;   it is taken: W;   its velocities are done: d, by mechanism; where one has d > D: islands, scale
Cost: three looks at every body of a mechanism; islands, one world a thread, only where a mechanism is in debt.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.constraints.row import error_of
from rattleback.core import arrays, host_read
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import quat_from_rotation_vector, rotate, rotate_back, rotation_vector_from_quat
from rattleback.model.contact_memory import SETTLED, ContactMemory
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.corrections import Reactions
from rattleback.problem.joint_rows import Joints, RowDefinitions, counted_frames_of, definition_of, is_folded, unfolded
from rattleback.problem.mechanisms import Mechanisms, kinetic_energy
from rattleback.steps.energy_islands import ZERO, Ledger, join_contacts, join_joints, root_of

if TYPE_CHECKING:
    from collections.abc import Callable

# Part of the kinetic energy that constraints may add for a while, and how long that is held against them [s]: steps of
# an accurate run add and take less than a hundredth.
SHARE = wp.constant(real(0.02))
WHILE = wp.constant(real(1.0))
# Angle in a step up to which two orientations tell how far a body turned [rad].
COUNTED = wp.constant(real(2.0))
# Where so little would be left of the velocities, corrections have diverged: their directions mean nothing.
LOST = wp.constant(real(0.03))


@wp.struct
class Floor:
    """Energy per mass that tolerances stand for, g δ + u² [J/kg]; δ of joints; closing speed; whether contacts push."""

    energy: real
    gap: real
    speed: real
    resolves: wp.int32


@kernel
def note_before(bodies: Bodies, motion: Motion, ledger: Ledger, lanes: int) -> None:
    """A step begins."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        ledger.before[i] = kinetic_energy(bodies, motion, i)
        ledger.allowed[i] = real(-1.0)


@wp.func
def angular_momentum(bodies: Bodies, motion: Motion, i: int) -> vec3:
    """Angular momentum of a body about its centre of mass."""
    q = motion.orientation[i]
    return rotate(q, bodies.inertia[i] * rotate_back(q, motion.angular_velocity[i]))


@wp.func
def error_at(joints: Joints, definitions: RowDefinitions, motion: Motion, remembered: JointState, j: int) -> real:
    """Error of a joint at a motion, angles as lengths."""
    if joints.broken[j] != 0:
        return ZERO
    frames = counted_frames_of(joints, motion, remembered, j)
    local = rotate_back(frames.turn_a, frames.way)
    square = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if definitions.is_velocity[r] == 0:
            definition = definition_of(definitions, r)
            e = error_of(definition, frames, local)
            if is_folded(joints, definition, frames, j):
                e = unfolded(definition, frames, e)
            square += e * e
    return wp.sqrt(square)


@kernel
def note_gaps(
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    memory: ContactMemory,
    remembered: JointState,
    mechanisms: Mechanisms,
    floor: Floor,
) -> None:
    """A step begins: how far the joints of a mechanism are apart, and how much of that the user has made."""
    m = wp.tid()
    gap = ZERO
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        gap = wp.max(gap, error_at(joints, definitions, motion, remembered, mechanisms.joint[k]))
    mechanisms.gap[m] = gap
    j = mechanisms.joint[mechanisms.first_joint[m]]
    made = gap
    if memory.pending[joints.world[j]] == SETTLED:
        made = wp.min(gap, remembered.gap[j])
    remembered.gap[j] = wp.where(gap > floor.gap, made, ZERO)


@kernel
def note_work(
    bodies: Bodies, before: Motion, start: Motion, end: Motion, clock: Clock, ledger: Ledger, lanes: int
) -> None:
    """A step is taken: work of forces is the momentum they gave times the way, which joints and contacts share."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        if bodies.mass[i] == ZERO:
            continue
        h = real(clock.time_step[bodies.world[i]])
        push = bodies.mass[i] * (end.velocity[i] - start.velocity[i])
        turn = angular_momentum(bodies, end, i) - angular_momentum(bodies, start, i)
        rate = real(0.5) * (start.angular_velocity[i] + end.angular_velocity[i])
        if h * wp.length(rate) < COUNTED:
            rate = rotation_vector_from_quat(end.orientation[i] * wp.quat_inverse(before.orientation[i])) / h
        ledger.work[i] = wp.dot(push, end.position[i] - before.position[i]) / h + wp.dot(turn, rate)


@kernel
def hold_back(
    bodies: Bodies,
    joints: Joints,
    definitions: RowDefinitions,
    mechanisms: Mechanisms,
    before: Motion,
    end: Motion,
    clock: Clock,
    remembered: JointState,
    ledger: Ledger,
    floor: Floor,
) -> None:
    """Joints that corrections have torn apart: their mechanism goes on as fast as it was, without forces."""
    m = wp.tid()
    h = real(clock.time_step[bodies.world[mechanisms.body[mechanisms.first[m]]]])
    most = mechanisms.gap[m] + h * floor.speed
    error = ZERO
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        error = wp.max(error, error_at(joints, definitions, end, remembered, mechanisms.joint[k]))
    if error <= most:
        return
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        i = mechanisms.body[k]
        if bodies.mass[i] == ZERO:
            continue
        w = before.angular_velocity[i]
        end.position[i] = before.position[i] + h * before.velocity[i]
        end.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w) * before.orientation[i])
        end.velocity[i] = before.velocity[i]
        end.angular_velocity[i] = w
        ledger.work[i] = ZERO


@kernel
def begin_balance(ledger: Ledger) -> None:
    """No mechanism of a world is known to be in debt."""
    ledger.over[wp.tid()] = 0
    ledger.any_over[0] = 0


@wp.func
def add_drive(
    bodies: Bodies, joints: Joints, definitions: RowDefinitions, reactions: Reactions, ledger: Ledger, j: int
) -> None:
    """A joint with rates of its own does no more work than its impulse times its speed; it goes to one of its bodies."""
    speed = ZERO
    spin = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rate = definitions.rate[r]
        if definitions.is_length[r] == 1:
            speed += rate * rate
        else:
            spin += rate * rate
    i = joints.body_b[j]
    if i < 0 or bodies.mass[wp.max(i, 0)] == ZERO:
        i = joints.body_a[j]
    work = wp.sqrt(speed) * wp.length(reactions.impulse[j]) + wp.sqrt(spin) * wp.length(reactions.couple[j])
    ledger.work[i] = ledger.work[i] + work


@kernel
def balance(
    bodies: Bodies,
    joints: Joints,
    definitions: RowDefinitions,
    reactions: Reactions,
    mechanisms: Mechanisms,
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
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        if joints.drives[mechanisms.joint[k]] == 1:
            add_drive(bodies, joints, definitions, reactions, ledger, mechanisms.joint[k])
    first = mechanisms.body[mechanisms.first[m]]
    before = real(0.0)
    work = real(0.0)
    now = real(0.0)
    mass = real(0.0)
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        i = mechanisms.body[k]
        before += ledger.before[i]
        work += ledger.work[i]
        now += kinetic_energy(bodies, motion, i)
        mass += bodies.mass[i]
    j = mechanisms.joint[mechanisms.first_joint[m]]
    w = bodies.world[first]
    fade = wp.exp(-real(clock.time_step[w]) / WHILE)
    debt = fade * remembered.debt[j]
    peak = wp.max(before, fade * remembered.peak[j])
    most = SHARE * wp.max(before + work, peak)
    most += mass * floor.energy
    close = wp.min(remembered.gap[j] / real(clock.time_step[w]), floor.speed)
    gain = now - before - work - real(0.5) * mass * close * close
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
        joints: The joints.
        definitions: Their rows.
        reactions: Their impulses.
        mechanisms: What they connect.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        ledger: What happens to the energy.
        floor: Energy that tolerances stand for.
    """

    context: StepContext
    joints: Any
    definitions: Any
    reactions: Any
    mechanisms: Any
    touching: tuple[Any, int] | None
    ledger: Any
    floor: Any

    def record_start(self) -> None:
        """Record the energies and the gaps at the beginning of a step."""
        context, state = self.context, self.context.state
        context.share_bodies(note_before, state.motion, self.ledger)
        given = (self.joints, self.definitions, state.motion, state.contacts, state.joints, self.mechanisms)
        context.program.launch(note_gaps, len(self.mechanisms.first), *given, self.floor)

    def record_work(self) -> None:
        """Record what forces did in the prediction."""
        context, state = self.context, self.context.state
        context.share_bodies(note_work, state.motion, context.start, context.predicted, state.clock, self.ledger)

    def record_hold(self) -> None:
        """Record that mechanisms which corrections have torn apart go on without forces."""
        context, state = self.context, self.context.state
        given = (context.model.bodies, self.joints, self.definitions, self.mechanisms, state.motion, context.predicted)
        context.program.launch(
            hold_back, len(self.mechanisms.first), *given, state.clock, state.joints, self.ledger, self.floor
        )

    def record_end(self) -> None:
        """Record the limit at the end of a step, when its velocities are done."""
        context, ledger, motion, state = self.context, self.ledger, self.context.state.motion, self.context.state
        context.for_worlds(begin_balance, ledger)
        given = (
            context.model.bodies,
            self.joints,
            self.definitions,
            self.reactions,
            self.mechanisms,
            motion,
            state.clock,
            state.joints,
            ledger,
            self.floor,
            context.stop,
        )
        context.program.launch(balance, len(self.mechanisms.first), *given)
        with context.program.when(ledger.any_over):
            moving, worlds = (context.model.bodies, motion), context.model.worlds
            each = len(self.joints.body_a) // worlds
            context.program.launch(join_joints, worlds, *moving, self.joints, ledger, each)
            if self.touching is not None:
                contacts, each = self.touching
                context.program.launch(join_contacts, worlds, *moving, contacts, context.model.surfaces, ledger, each)
            context.program.launch(limit, worlds, *moving, context.predicted, ledger)

    @cached_property
    def forget(self) -> "Callable[[], None]":
        """To be called when a call begins: no energy has been removed yet."""
        return host_read.clearing(self.ledger.most)

    def take_over(self, old: "EnergyLimit") -> None:
        """Continue with what another one of the same model has seen."""
        for name in ("before", "work", "allowed", "most", "body"):
            wp.copy(getattr(self.ledger, name), getattr(old.ledger, name))

    @property
    def fell_short(self) -> Any:
        """Above zero where energy was taken in a step of the call."""
        return self.ledger.most

    def summary(self) -> dict[str, Any]:
        """What the report says: how much energy was taken, and from where."""
        most = self.ledger.most.numpy()
        world = int(most.argmax())
        said: dict[str, Any] = {"energy_limited": float(most[world])}
        if most[world] > 0.0:
            name, number = self.context.model.locate(int(self.ledger.body.numpy()[world]))
            where = f" of world {number}" if self.context.model.batched else ""
            said["reason"] = (
                f"Joints, stops and contacts of body {name!r}{where} and what it touches would have added "
                f"{most[world]:.3g} J to the energy in a step; velocities were lowered by as much. "
                "A shorter time_step helps, or joints that do not contradict each other."
            )
        return said


def make_energy_limit(
    context: StepContext, preview: Any, touching: tuple[Any, int] | None, sizes: tuple[float, float]
) -> Any:
    """The energy limit of a model with joints.

    Args:
        context: Where the step is recorded.
        preview: How its joints are held.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        sizes: How far positions [m] and velocities [m/s] may be off.
    """
    model, floor = context.model, Floor()
    counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
    ledger = arrays.allocate(Ledger, counts, model.device)
    length, speed = sizes
    floor.gap = preview.limits.position
    floor.speed, floor.resolves = preview.limits.speed, int(touching is not None)
    floor.energy = math.hypot(*model.scene.gravity) * length + speed * speed
    problem = preview.problem
    return EnergyLimit(
        context, problem.fixed, problem.definitions, preview.reactions, preview.mechanisms, touching, ledger, floor
    )
