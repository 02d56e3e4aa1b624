"""Continuous bodies: a body that must not pass through others within a step stops at its first contact.

    x = x₀ + f (x₁ − x₀)      q = e^(f ω) q₀      v = v₀ + f (v₁ − v₀)      f_b = min { f of the contacts of body b }

x₀, q₀ and x₁, q₁ poses at the start and at the predicted end of a step, ω the shortest turn between them, f the part of
the step a body goes. Candidates are the pairs whose boxes, swept over both poses, overlap; conservative advancement
finds the first contact of each. A pair farther apart than the contact distance at the start stops where it touches; a
nearer one may come closer by the contact distance, so that resting and sliding continue. The velocities are those of
the moment when the body stops, so that a fall gives no more than its height; the contact is detected then, and the
solver changes them.

A body that stops earlier than others expected may be hit where it now rests. So the pairs of all bodies that have
stopped are tested again, up to where they stop, until nothing changes: in the end no continuous body passes another,
though one may stop for another that has stopped before and never comes. The time that is lost is made up by the next
step.

Cost: a broad phase on swept boxes, one advancement for each pair, and again for those of bodies that have stopped.
When not: for bodies that go less than their own size in a step.

Reference: Mirtich (1996), §2.3; Bender, dissertation, §2.2.4.
"""

import dataclasses
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision import broadphase
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.ccd.conservative_advancement import FREE, ROUNDS, AdvanceLimits, advance
from rattleback.collision.ccd.rigid_motion import moved, part_of, turn_between, turned
from rattleback.collision.ccd.swept_aabb import SweptColliders, motion_of, record_widening, sweep_boxes
from rattleback.collision.finder import GROWTH, raise_when_full, room_before
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import MESH, load
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.midphase import record_split
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real
from rattleback.model.state import Motion

# Part of the size of the smaller solid by which a contact may be missed.
TOLERANCE = wp.constant(real(max(1e-9, 64.0 * epsilon)))
# An item without a contact; and the part of a step that is not worth looking again for.
NEVER = wp.constant(real(2.0))
SAME = wp.constant(real(4096.0 * epsilon))


@group(axis="bodies")
class Halts:
    """How far every body went, and what stopped it."""

    fraction: real = field("1", "part of the predicted motion it makes; 1 where nothing stops it")
    other: wp.int32 = field("1", "collider it met, of the highest row where there are several; -1 for none")


@group(axis="bodies")
class Passes:
    """What one pass over the pairs leaves for the next."""

    least: real = field("1", "least part of the motion found in this pass")
    changed: wp.int32 = field("1", "1 where it became less in the last pass")
    moment: real = field("1", "part of the motion at which an item has its contact", axis="items")
    going: wp.int32 = field("1", "1 while another pass is wanted", axis="one")
    done: wp.int32 = field("1", "number of passes", axis="one")


@kernel
def open_passes(hits: Halts, passes: Passes) -> None:
    """Every body goes all the way until something stops it."""
    b = wp.tid()
    hits.fraction[b] = real(1.0)
    hits.other[b] = -1
    passes.least[b] = real(1.0)
    passes.changed[b] = 1
    if b == 0:
        passes.going[0] = 1
        passes.done[0] = 0


@wp.func
def first_contact(swept: SweptColliders, a: int, b: int, part: int, f_a: real, f_b: real) -> real:
    """When two colliders meet whose bodies go these parts of their ways and then rest; NEVER if they do not."""
    origin = swept.places.position[a]
    solid_a = load(swept.colliders, swept.places, a, part, origin)
    solid_b = load(swept.colliders, swept.places, b, part, origin)
    motion_a = motion_of(swept, a, origin)
    motion_b = motion_of(swept, b, origin)
    size = wp.max(swept.colliders.reach[a], swept.colliders.reach[b])
    if swept.colliders.reach[a] >= real(0.0) and swept.colliders.reach[b] >= real(0.0):
        size = wp.min(swept.colliders.reach[a], swept.colliders.reach[b])
    limits = AdvanceLimits()
    limits.near = swept.distance
    limits.tolerance = TOLERANCE * size
    limits.most = ROUNDS
    begin = real(0.0)
    end = wp.min(f_a, f_b)
    # Both move until the first of them rests, then the other one alone.
    for _ in range(2):
        if end > begin:
            low_a = wp.min(begin, f_a)
            low_b = wp.min(begin, f_b)
            moving_a = part_of(motion_a, low_a, wp.min(end, f_a))
            moving_b = part_of(motion_b, low_b, wp.min(end, f_b))
            from_a = moved(solid_a, motion_a, low_a)
            from_b = moved(solid_b, motion_b, low_b)
            impact = advance(from_a, from_b, moving_a, moving_b, swept.hulls, limits)
            if impact.contact != FREE:
                return begin + impact.fraction * (end - begin)
            limits.target = impact.target
            limits.near = real(-1.0)
        begin = end
        end = wp.max(f_a, f_b)
    return NEVER


@kernel
def meet(swept: SweptColliders, items: Items, hits: Halts, passes: Passes) -> None:
    """Find the first contact of every item whose bodies may have one they did not have in the last pass."""
    i = wp.tid()
    if i >= items.needed[0]:
        return
    if passes.done[0] == 0:
        passes.moment[i] = NEVER
    a = items.a[i]
    b = items.b[i]
    body_a = swept.colliders.body[a]
    body_b = swept.colliders.body[b]
    if passes.changed[body_a] + passes.changed[body_b] == 0:
        return
    moment = first_contact(swept, a, b, items.part[i], hits.fraction[body_a], hits.fraction[body_b])
    passes.moment[i] = wp.min(passes.moment[i], moment)
    if swept.colliders.movable[a] == 1:
        wp.atomic_min(passes.least, body_a, moment)
    if swept.colliders.movable[b] == 1:
        wp.atomic_min(passes.least, body_b, moment)


@kernel
def close_pass(passes: Passes) -> None:
    """One more pass is done."""
    passes.going[0] = 0
    passes.done[0] = passes.done[0] + 1


@kernel
def shorten(hits: Halts, passes: Passes) -> None:
    """Every body goes as far as the pass has found; another pass is wanted where one goes less far than before."""
    b = wp.tid()
    least = passes.least[b]
    passes.changed[b] = wp.where(least < hits.fraction[b] - SAME, 1, 0)
    hits.fraction[b] = wp.min(hits.fraction[b], least)
    # What stops a body depends only on what stopped others before it, so there are no more passes than bodies.
    if passes.changed[b] == 1 and passes.done[0] <= hits.fraction.shape[0]:
        wp.atomic_max(passes.going, 0, 1)


@kernel
def name_others(swept: SweptColliders, items: Items, hits: Halts, passes: Passes) -> None:
    """Say which collider stopped every body."""
    i = wp.tid()
    if i >= items.needed[0]:
        return
    moment = passes.moment[i]
    if moment >= real(1.0):
        return
    a = items.a[i]
    b = items.b[i]
    body_a = swept.colliders.body[a]
    body_b = swept.colliders.body[b]
    if swept.colliders.movable[a] == 1 and moment == hits.fraction[body_a]:
        wp.atomic_max(hits.other, body_a, b)
    if swept.colliders.movable[b] == 1 and moment == hits.fraction[body_b]:
        wp.atomic_max(hits.other, body_b, a)


@kernel
def stop_bodies(swept: SweptColliders, hits: Halts) -> None:
    """Put every body that was stopped where it stops."""
    b = wp.tid()
    f = hits.fraction[b]
    if f < real(1.0):
        x = swept.start.position[b]
        q = swept.start.orientation[b]
        turn = turn_between(q, swept.end.orientation[b])
        swept.end.position[b] = x + f * (swept.end.position[b] - x)
        swept.end.orientation[b] = wp.normalize(turned(turn, f) * q)
        v = swept.start.velocity[b]
        w = swept.start.angular_velocity[b]
        swept.end.velocity[b] = v + f * (swept.end.velocity[b] - v)
        swept.end.angular_velocity[b] = w + f * (swept.end.angular_velocity[b] - w)


class Continuous:
    """Halts the continuous bodies of a model at their first contact within a step.

    Args:
        model: The model.
        geometry: Its colliders.
        start: Where the bodies are at the start of the step.
        predicted: Where they would be at its end; continuous bodies that meet something are moved back.
        distance: Contact distance [m].
        method: A broad phase; None for the usual one.

    Attributes:
        hits: How far every body went, and what stopped it.
        active: Whether any body is continuous; else nothing is recorded.
    """

    def __init__(
        self, model: Any, geometry: Geometry, start: Motion, predicted: Motion, distance: float, method: Any = None
    ) -> None:
        self.each_body, self.count = len(model.names), int(model.count)
        self.geometry, self.method = _continuous_only(model, geometry), method
        self.active = bool(self.geometry.colliders.movable.numpy().any())
        self.hits = arrays.allocate(Halts, {"bodies": self.count}, geometry.device)
        self.hits.fraction.fill_(1.0)
        self.hits.other.fill_(-1)
        self.room = dict.fromkeys(("pairs", "items"), room_before(geometry.count))
        self.swept = SweptColliders()
        self.swept.colliders, self.swept.hulls = self.geometry.colliders, geometry.hulls
        self.swept.start, self.swept.end, self.swept.distance = start, start, distance
        self.swept.places = arrays.allocate(Places, {"colliders": geometry.count}, geometry.device)
        self.shift = wp.zeros(model.worlds, dtype=real, device=geometry.device)
        self.broad: Any = None
        if self.active:
            # Some broad phases begin from where the colliders are.
            wp.launch(sweep_boxes, geometry.count, inputs=[self.swept], device=geometry.device)
            self._allocate()
        self.swept.end = predicted

    def record(self, program: Any, stop: Any) -> None:
        """Record the launches that stop bodies at their first contact.

        Args:
            program: Where to record.
            stop: One-entry array; set to −1 where a buffer was too small.
        """
        if not self.active:
            return
        swept, hits, passes, items = self.swept, self.hits, self.passes, self.items
        many = self.room["items"]
        program.launch(sweep_boxes, self.geometry.count, swept)
        self.broad.record(program)
        if int(MESH) in self.geometry.kinds:
            record_widening(program, swept, self.shift)
        record_split(program, self.geometry, swept.places, self.pairs, items)
        for needed, room in self.buffers().values():
            program.launch(raise_when_full, 1, needed, room, stop)
        program.launch(open_passes, self.count, hits, passes)
        with program.loop(passes.going):
            program.launch(meet, many, swept, items, hits, passes)
            program.launch(close_pass, 1, passes)
            program.launch(shorten, self.count, hits, passes)
        program.launch(name_others, many, swept, items, hits, passes)
        program.launch(stop_bodies, self.count, swept, hits)

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer, the array that counts what is needed, and what there is."""
        if not self.active:
            return {}
        own = {"pairs": self.pairs.needed, "items": self.items.needed}
        return {name: (needed, self.room[name]) for name, needed in own.items()} | self.broad.buffers()

    def grow(self) -> None:
        """Enlarge the buffers that were too small; everything must be recorded again."""
        if not self.active:
            return
        self.broad.grow()
        for name, (needed, room) in self.buffers().items():
            wanted = int(needed.numpy()[0])
            if name in self.room and wanted > room:
                self.room[name] = int(GROWTH * wanted) + 16
        self.room["items"] = max(self.room.values())
        self._allocate()

    def _allocate(self) -> None:
        counts = {**self.room, "one": 1, "colliders_and_one": self.geometry.count + 1, "bodies": self.count}
        counts["pairs_and_one"] = self.room["pairs"] + 1
        self.pairs = arrays.allocate(Pairs, counts, self.geometry.device)
        self.items = arrays.allocate(Items, counts, self.geometry.device)
        self.passes = arrays.allocate(Passes, counts, self.geometry.device)
        if self.broad is None:
            method = self.method or broadphase.default(self.geometry)
            self.broad = method.bind(self.geometry, self.swept.places, self.pairs, self.each_body)
        else:
            self.broad.write_to(self.pairs)


def _continuous_only(model: Any, geometry: Geometry) -> Geometry:
    """The colliders with only those of continuous bodies movable: so no other two make a pair."""
    colliders = arrays.clone(geometry.colliders)
    flags = np.array([body.continuous and not body.static for body in model.scene.bodies], dtype=bool)
    body = geometry.colliders.body.numpy() % max(1, len(flags))
    colliders.movable.assign(flags[body].astype(np.int32) if len(body) else np.zeros(0, dtype=np.int32))
    return dataclasses.replace(geometry, colliders=colliders)
