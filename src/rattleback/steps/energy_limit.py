"""The energy limit: joints, stops and contacts take energy or leave it, and may not add to it.

    gain = T' − T − W,      d' = max(0, d e^(−h/τ) + gain)            limited where   gain > 0  and  d' > D
    D = 0.02 max(T + W, P) + m (g δ + u²),    P' = max(T, P e^(−h/τ))

T, T' kinetic energy of a mechanism at the beginning and the end of a step, W what forces, springs and motors change it
by, d its debt: what its joints and contacts have added lately and not taken again. D is what accurate steps need now
and then, P the largest T lately, m mass, g gravity, δ and u the tolerances of positions and velocities, τ a second.

What touches shares its energy, so a mechanism in debt is judged with its island: moving bodies that touch or are joined.
An island that has gained loses the excess: all velocities are scaled, against those of its centre of mass where it
leans on nothing. That keeps the conditions of its joints, which are linear in the velocities. Islands that something
drives are let be: velocity joints, static bodies that move, belts.

    step begins: T;   it is taken: W;   its velocities are done: d, by mechanism; where one has d > D: islands, scale
Cost: three looks at every body of a mechanism; islands, one world a thread, only where a mechanism is in debt.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays, glance
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.bench import Bench
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, JointState, Loads, Motion
from rattleback.model.surfaces import Surfaces
from rattleback.problem.joint_rows import Joints
from rattleback.problem.mechanisms import Mechanisms, kinetic_energy

if TYPE_CHECKING:
    from collections.abc import Callable

ZERO = wp.constant(real(0.0))
# Part of the kinetic energy that constraints may add for a while, and how long that is held against them [s]: steps of
# an accurate run add and take less than a hundredth.
SHARE = wp.constant(real(0.02))
WHILE = wp.constant(real(1.0))
# How far the work of forces may be from force times way, as integrators evaluate forces within the step.
MARGIN = wp.constant(real(2.0))


@group(axis="bodies")
class Ledger:
    """What happens to the energy in a step, and the islands in which it is judged."""

    before: real = field("J", "kinetic energy at the beginning of the step")
    work: real = field("J", "what forces change it by")
    allowed: real = field("J", "what a mechanism in debt may gain, at its first body; else below zero")
    parent: wp.int32 = field("1", "row of another body of its island, at last of the first one")
    gain: real = field("J", "what the island has gained, at its first body")
    allowance: real = field("J", "what it may gain")
    kinetic: real = field("J", "its kinetic energy")
    mass: real = field("kg", "its mass")
    momentum: vec3 = field("N s", "its momentum")
    leans: wp.int32 = field("1", "1 where it touches or is joined to something that does not move")
    driven: wp.int32 = field("1", "1 where something drives it")
    judged: wp.int32 = field("1", "1 where a mechanism of it is in debt")
    scale: real = field("1", "what its velocities are multiplied by")
    over: wp.int32 = field("1", "1 where a mechanism of a world is in debt", axis="worlds")
    most: real = field("J", "largest excess taken from an island in a step of the call", axis="worlds")
    body: wp.int32 = field("1", "body of that island which had gained most", axis="worlds")
    any_over: wp.int32 = field("1", "1 where a mechanism of any world is in debt", axis="flags")


@wp.struct
class Floor:
    """Energy that tolerances stand for, per mass: g δ + u² [J/kg]."""

    energy: real


@kernel
def note_before(bodies: Bodies, motion: Motion, ledger: Ledger, lanes: int) -> None:
    """A step begins."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        ledger.before[i] = kinetic_energy(bodies, motion, i)
        ledger.allowed[i] = real(-1.0)


@kernel
def note_work(
    bodies: Bodies, start: Motion, end: Motion, loads: Loads, clock: Clock, ledger: Ledger, lanes: int
) -> None:
    """A step is taken: what forces did, at most force times way, whatever an integrator makes of fast rotations."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        way = wp.length(start.velocity[i]) + wp.length(end.velocity[i])
        turn = wp.length(start.angular_velocity[i]) + wp.length(end.angular_velocity[i])
        most = wp.length(loads.force[i]) * way + wp.length(loads.torque[i]) * turn
        most *= real(0.5) * MARGIN * real(clock.time_step[bodies.world[i]])
        work = kinetic_energy(bodies, end, i) - kinetic_energy(bodies, start, i)
        ledger.work[i] = wp.clamp(work, -most, most)


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
    """The debt of a mechanism at the end of a step; where it is too large, its island is to be looked at."""
    if stop[0] != 0:
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
    peak = wp.max(before, fade * remembered.peak[j])
    debt = fade * remembered.debt[j]
    most = SHARE * wp.max(before + work, peak) + mass * floor.energy
    gain = now - before - work
    remembered.peak[j] = peak
    if gain > ZERO and debt + gain > most:
        ledger.allowed[first] = wp.max(most - debt, ZERO)
        ledger.over[w] = 1
        ledger.any_over[0] = 1
        remembered.debt[j] = wp.max(debt, most)
    else:
        remembered.debt[j] = wp.max(debt + gain, ZERO)


@wp.func
def root_of(ledger: Ledger, i: int) -> int:
    """The first body of an island so far, with shorter ways to it."""
    k = i
    while ledger.parent[k] != k:
        ledger.parent[k] = ledger.parent[ledger.parent[k]]
        k = ledger.parent[k]
    return k


@wp.func
def lean(motion: Motion, ledger: Ledger, i: int, other: int) -> None:
    """A moving body leans on one that forces do not move, or on the world, −1."""
    r = root_of(ledger, i)
    ledger.leans[r] = 1
    if other >= 0 and wp.length_sq(motion.velocity[other]) + wp.length_sq(motion.angular_velocity[other]) > ZERO:
        ledger.driven[r] = 1


@wp.func
def connect(bodies: Bodies, motion: Motion, ledger: Ledger, a: int, b: int) -> None:
    """Two bodies touch or are joined; −1 stands for the world."""
    free_a = a >= 0
    free_b = b >= 0
    if a >= 0:
        free_a = bodies.mass[a] > ZERO
    if b >= 0:
        free_b = bodies.mass[b] > ZERO
    if free_a and free_b:
        p = root_of(ledger, a)
        q = root_of(ledger, b)
        first = wp.min(p, q)
        other = wp.max(p, q)
        ledger.parent[other] = first
        ledger.leans[first] = wp.max(ledger.leans[first], ledger.leans[other])
        ledger.driven[first] = wp.max(ledger.driven[first], ledger.driven[other])
    elif free_a:
        lean(motion, ledger, a, b)
    elif free_b:
        lean(motion, ledger, b, a)


@wp.func
def drive(ledger: Ledger, bodies: Bodies, i: int) -> None:
    """Something drives a body."""
    if i >= 0:
        if bodies.mass[i] > ZERO:
            ledger.driven[root_of(ledger, i)] = 1


@kernel
def join_joints(bodies: Bodies, motion: Motion, joints: Joints, ledger: Ledger, each: int) -> None:
    """Islands of jointed bodies, one world a thread; it has so many joints."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    count = bodies.world.shape[0] // ledger.over.shape[0]
    for i in range(w * count, (w + 1) * count):
        ledger.parent[i] = i
        ledger.leans[i] = 0
        ledger.driven[i] = 0
    for j in range(w * each, (w + 1) * each):
        if joints.broken[j] == 0:
            connect(bodies, motion, ledger, joints.body_a[j], joints.body_b[j])
            if joints.drives[j] == 1:
                drive(ledger, bodies, joints.body_a[j])
                drive(ledger, bodies, joints.body_b[j])


@kernel
def join_contacts(
    bodies: Bodies, motion: Motion, contacts: Contacts, surfaces: Surfaces, ledger: Ledger, each: int
) -> None:
    """Join what touches, one world a thread; it has so many colliders."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    for c in range(contacts.first[w * each], contacts.first[(w + 1) * each]):
        a = contacts.body_a[c]
        b = contacts.body_b[c]
        connect(bodies, motion, ledger, a, b)
        if wp.length_sq(surfaces.velocity[a]) + wp.length_sq(surfaces.velocity[b]) > ZERO:
            drive(ledger, bodies, a)
            drive(ledger, bodies, b)


@wp.func
def add_up(bodies: Bodies, motion: Motion, ledger: Ledger, first: int, end: int) -> None:
    """What the islands of a world have and have gained, at the first body of each."""
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
            ledger.allowance[r] = ledger.allowance[r] + ledger.allowed[i]
            ledger.judged[r] = 1


@wp.func
def judge(ledger: Ledger, i: int) -> real:
    """What the velocities of the island that begins at a body are multiplied by."""
    excess = ledger.gain[i] - ledger.allowance[i]
    if ledger.judged[i] == 0 or ledger.driven[i] == 1 or excess <= ZERO:
        return real(1.0)
    energy = ledger.kinetic[i]
    if ledger.leans[i] == 0:
        energy -= real(0.5) * wp.length_sq(ledger.momentum[i]) / ledger.mass[i]
    return wp.sqrt(wp.max(real(1.0) - excess / wp.max(energy, excess), ZERO))


@kernel
def limit(bodies: Bodies, motion: Motion, ledger: Ledger) -> None:
    """Islands of a world lose what they have gained beyond what they may."""
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
        motion.velocity[i] = drift + s * (motion.velocity[i] - drift)
        motion.angular_velocity[i] = s * motion.angular_velocity[i]


@dataclass(frozen=True)
class EnergyLimit:
    """Records the energy limit in the steps of a model with joints.

    Attributes:
        bench: Where the step is recorded.
        joints: The joints.
        mechanisms: What they connect.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        ledger: What happens to the energy.
        floor: Energy that tolerances stand for.
    """

    bench: Bench
    joints: Any
    mechanisms: Any
    touching: tuple[Any, int] | None
    ledger: Any
    floor: Any

    def record_start(self) -> None:
        """Record the energies at the beginning of a step."""
        self.bench.share_bodies(note_before, self.bench.state.motion, self.ledger)

    def record_work(self) -> None:
        """Record what forces did, before the prediction is taken over."""
        bench = self.bench
        bench.share_bodies(note_work, bench.start, bench.predicted, bench.loads, bench.state.clock, self.ledger)

    def record_end(self) -> None:
        """Record the limit at the end of a step, when its velocities are done."""
        bench, ledger, motion, state = self.bench, self.ledger, self.bench.state.motion, self.bench.state
        bench.for_worlds(begin_balance, ledger)
        given = (bench.model.bodies, self.mechanisms, motion, state.clock, state.joints, ledger, self.floor, bench.stop)
        bench.program.launch(balance, len(self.mechanisms.first), *given)
        with bench.program.when(ledger.any_over):
            moving, worlds = (bench.model.bodies, motion), bench.model.worlds
            each = len(self.joints.body_a) // worlds
            bench.program.launch(join_joints, worlds, *moving, self.joints, ledger, each)
            if self.touching is not None:
                contacts, each = self.touching
                bench.program.launch(join_contacts, worlds, *moving, contacts, bench.model.surfaces, ledger, each)
            bench.program.launch(limit, worlds, *moving, ledger)

    @cached_property
    def forget(self) -> "Callable[[], None]":
        """To be called when a call begins: no energy has been taken yet."""
        return glance.clearing(self.ledger.most)

    def take_over(self, old: "EnergyLimit") -> None:
        """Go on with what another one of the same model has seen."""
        for name in ("before", "work", "most", "body"):
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
            name, number = self.bench.model.locate(int(self.ledger.body.numpy()[world]))
            where = f" of world {number}" if self.bench.model.batched else ""
            said["reason"] = (
                f"Joints, stops and contacts of body {name!r}{where} and what it touches would have added "
                f"{most[world]:.3g} J to the energy in a step; velocities were lowered by as much. "
                "A shorter time_step helps, or joints that do not contradict each other."
            )
        return said


def make_energy_limit(bench: Bench, preview: Any, touching: tuple[Any, int] | None, sizes: tuple[float, float]) -> Any:
    """The energy limit of a model with joints.

    Args:
        bench: Where the step is recorded.
        preview: How its joints are held.
        touching: Contacts, and the number of colliders of a world; None without contacts.
        sizes: How far positions [m] and velocities [m/s] may be off.
    """
    model, floor = bench.model, Floor()
    counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
    ledger = arrays.allocate(Ledger, counts, model.device)
    length, speed = sizes
    floor.energy = math.hypot(*model.scene.gravity) * length + speed * speed
    return EnergyLimit(bench, preview.problem.joints, preview.mechanisms, touching, ledger, floor)
