"""The energy limit: joints, limits of joints and contacts may not add energy.

    gain = T' − T − W − ½ m c²,      d' = max(0, d e^(−h/τ) + gain)            limited where   gain > 0  and  d' > D
    D = 0.02 max(T + W, P) + m (½ (g h)² + g δ + u²),    P' = max(T, P e^(−h/τ))

T, T' kinetic energy of a mechanism at the beginning and the end of a step, W what forces, springs and motors change it
by, d its debt: energy that its joints and contacts have added lately and not removed again. D is the debt that accurate
steps have now and then, P the largest T lately, m mass, c how fast joints
close that are apart, g h what gravity does in a step, δ and u the tolerances of positions and velocities, τ a second.

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

from rattleback.core import arrays, host_read
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate, rotate_back
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.mechanisms import Mechanisms, kinetic_energy
from rattleback.steps.energy_islands import ZERO, Ledger, join_contacts, join_joints, root_of

if TYPE_CHECKING:
    from collections.abc import Callable

# Part of the kinetic energy that constraints may add for a while, and how long that is held against them [s]: steps of
# an accurate run add and take less than a hundredth.
SHARE = wp.constant(real(0.02))
WHILE = wp.constant(real(1.0))
# Where so little would be left of the velocities, corrections have diverged: their directions mean nothing.
LOST = wp.constant(real(0.03))


@wp.struct
class Floor:
    """Energy per mass that tolerances stand for, g δ + u² [J/kg]; gravity; closing speed; whether contacts push."""

    energy: real
    gravity: real
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


@kernel
def note_work(bodies: Bodies, start: Motion, end: Motion, ledger: Ledger, damped: int, lanes: int) -> None:
    """A step is taken: work of forces, which is at most the momentum they gave times the speed.

    Rotations without a torque keep their energy, whatever an integrator makes of fast ones.
    """
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        push = bodies.mass[i] * wp.length(end.velocity[i] - start.velocity[i])
        turn = wp.length(angular_momentum(bodies, end, i) - angular_momentum(bodies, start, i))
        most = push * wp.max(wp.length(start.velocity[i]), wp.length(end.velocity[i]))
        most += turn * wp.max(wp.length(start.angular_velocity[i]), wp.length(end.angular_velocity[i]))
        work = kinetic_energy(bodies, end, i) - kinetic_energy(bodies, start, i)
        # What damping takes from a body within the step its joints give back, so that only the bound is known.
        ledger.work[i] = wp.where(damped == 1, most, wp.clamp(work, -most, most))


@kernel
def begin_balance(ledger: Ledger) -> None:
    """No mechanism of a world is known to be in debt."""
    ledger.over[wp.tid()] = 0
    ledger.any_over[0] = 0


@kernel
def balance(
    bodies: Bodies,
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
    h = real(clock.time_step[w])
    fall = floor.gravity * h
    close = wp.min(mechanisms.gap[m] / h, floor.speed)
    peak = wp.max(before, fade * remembered.peak[j])
    most = SHARE * wp.max(before + work, peak)
    most += mass * (real(0.5) * fall * fall + floor.energy)
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
def add_up(bodies: Bodies, motion: Motion, ledger: Ledger, first: int, end: int) -> None:
    """Energy, gain and limit of every island of a world, at its first body."""
    for i in range(first, end):
        ledger.gain[i] = ZERO
        ledger.allowance[i] = ZERO
        ledger.kinetic[i] = ZERO
        ledger.mass[i] = ZERO
        ledger.momentum[i] = vec3()
        ledger.judged[i] = 0
    for i in range(first, end):
        if bodies.mass[i] == ZERO:
            continue
        r = root_of(ledger, i)
        now = kinetic_energy(bodies, motion, i)
        ledger.gain[r] = ledger.gain[r] + now - ledger.before[i] - ledger.work[i]
        ledger.kinetic[r] = ledger.kinetic[r] + now
        ledger.mass[r] = ledger.mass[r] + bodies.mass[i]
        ledger.momentum[r] = ledger.momentum[r] + bodies.mass[i] * motion.velocity[i]
        if ledger.allowed[i] >= ZERO:
            ledger.judged[r] = 1
            # Where joints are broken, what is apart from the first body has its part by mass.
            if i == ledger.head[i] or root_of(ledger, ledger.head[i]) != r:
                ledger.allowance[r] = ledger.allowance[r] + ledger.allowed[i]


@wp.func
def judge(ledger: Ledger, i: int) -> real:
    """Factor of the velocities of the island that begins at a body."""
    excess = ledger.gain[i] - ledger.allowance[i]
    if ledger.judged[i] == 0 or ledger.driven[i] == 1 or excess <= ZERO:
        return real(1.0)
    energy = ledger.kinetic[i]
    if ledger.leans[i] == 0:
        energy -= real(0.5) * wp.length_sq(ledger.momentum[i]) / ledger.mass[i]
    return wp.sqrt(wp.max(real(1.0) - excess / wp.max(energy, excess), ZERO))


@kernel
def limit(bodies: Bodies, motion: Motion, predicted: Motion, ledger: Ledger) -> None:
    """Islands of a world lose the gain beyond their limit."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    count = bodies.world.shape[0] // ledger.over.shape[0]
    add_up(bodies, motion, ledger, w * count, (w + 1) * count)
    worst = int(-1)
    for i in range(w * count, (w + 1) * count):
        if ledger.parent[i] == i:
            ledger.scale[i] = judge(ledger, i)
            excess = ledger.gain[i] - ledger.allowance[i]
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
        if s < LOST:
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
        mechanisms: What they connect.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        ledger: What happens to the energy.
        floor: Energy that tolerances stand for.
        damped: Whether forces depend on velocity.
    """

    context: StepContext
    joints: Any
    mechanisms: Any
    touching: tuple[Any, int] | None
    ledger: Any
    floor: Any
    damped: bool

    def record_start(self) -> None:
        """Record the energies at the beginning of a step."""
        self.context.share_bodies(note_before, self.context.state.motion, self.ledger)

    def record_work(self) -> None:
        """Record what forces did, before the prediction is taken over."""
        context = self.context
        context.share_bodies(note_work, context.start, context.predicted, self.ledger, int(self.damped))

    def record_end(self) -> None:
        """Record the limit at the end of a step, when its velocities are done."""
        context, ledger, motion, state = self.context, self.ledger, self.context.state.motion, self.context.state
        context.for_worlds(begin_balance, ledger)
        given = (
            context.model.bodies,
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
    context: StepContext, preview: Any, touching: tuple[Any, int] | None, sizes: tuple[float, float], damped: bool
) -> Any:
    """The energy limit of a model with joints.

    Args:
        context: Where the step is recorded.
        preview: How its joints are held.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        sizes: How far positions [m] and velocities [m/s] may be off.
        damped: Whether forces depend on velocity.
    """
    model, floor = context.model, Floor()
    counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
    ledger = arrays.allocate(Ledger, counts, model.device)
    length, speed = sizes
    floor.speed, floor.resolves = preview.limits.speed, int(touching is not None)
    floor.gravity = math.hypot(*model.scene.gravity)
    floor.energy = floor.gravity * length + speed * speed
    return EnergyLimit(context, preview.problem.joints, preview.mechanisms, touching, ledger, floor, damped)
