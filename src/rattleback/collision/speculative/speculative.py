"""Speculative contacts: pairs that may touch within the coming step get contact points before their surfaces touch.

    search margin       d + |w_a − w_b| + min(|w_a|, |w_b|) + θ_a + θ_b + β_a + β_b     pairs are tested up to it
    speculative         d < s < d + α      α = α_v + γ_a + γ_b
    margin of points    the largest of  d,  ½ d + 3/2 α_v + γ_a + γ_b  and, where s > d,  d + s

h step, v velocity of a body, w = h v, θ how far points of a collider move by rotation, β its impact travel (``boxes``),
d contact distance, s gap of two solids. α is how much nearer their points may come: α_v by their velocities, γ by
impacts that happen first (``chained_impacts``). An impact may stop one of two bodies that move together, so the search
margin counts the travel of the slower one too. Points keep their true gaps; solvers let them close by these. A body
that is stopped at one end comes faster at the other, a rod half as much again. Margins of points come in classes,
d (2ᵏ − 1) for class k. A pair in motion that touches has class 1 at least: speculative manifolds have more points, and
a moving solid would sink in at a corner without one. Below a search margin of d + ¼ d there is none: the pair was
detected before it came that near, and a heap at rest has the contacts it would have without margins.

With ``contact_every=n``, h is n steps for velocities and impacts ahead, and half of n + 1 for impacts at contacts,
which happen somewhere between. A body that an impact moves farther than γ may penetrate a body that was far away until
the next detection.

A settled state has velocities that fit its contacts, not those of the detection. Where it is detected again, as in a
copied state, its contacts are those in the contact memory: boxes are stretched to their colliders, their pairs are
tested at any gap, margins have the class stored with their feature ids, and of points on surfaces those in the memory
are kept. So a copied state has the contacts of the original, bit for bit.

Limits: the normal is that of the start of the step, so a solid that passes close to an edge may touch it ("ghost
contact"). Accelerations within the step are not known; d has to cover ½ g h².

Reference: derived here; compare Catto (2013), Continuous collision, speculative contacts.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Places, SpeculativeMargins
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.manifold.clip import Manifolds
from rattleback.collision.manifold.limits import FEATURE_IDS
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.speculative.boxes import (
    FAR,
    SpeculativeInput,
    clear_impacts,
    find_contact_impacts,
    is_settled,
    restore_boxes,
    spread_contact_impacts,
    stretch_boxes,
)
from rattleback.collision.speculative.chained_impacts import impact_travel_of, is_near, record_chained_impacts
from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.contact_memory import ContactMemory, known_from
from rattleback.model.state import Clock, Motion

# Part of the contact distance by which search margins are wider, against rounding.
SPARE = wp.constant(real(0.01))
# Part of the contact distance that solids may come nearer without a margin: those farther apart stay so.
SLOW = wp.constant(real(0.25))
# Parts of the contact distance and of α in the margin of the points of a pair in motion.
AT_REST, IN_MOTION = wp.constant(real(0.5)), wp.constant(real(1.5))
# Number of classes of margins.
CLASSES = wp.constant(63)


@wp.func
def remembered_class(memory: ContactMemory, a: int, b: int, part: int) -> int:
    """Class of the margin of two solids in the contact memory; −1 where they have no contact."""
    for k in range(known_from(memory, a, b), known_from(memory, a, b + 1)):
        if memory.part[k] == part:
            return memory.feature[k] // FEATURE_IDS
    return -1


@wp.func
def turning(inputs: SpeculativeInput, i: int, other: int) -> real:
    """How far a collider comes towards another by rotation, at most."""
    turn = inputs.margins.turn[i]
    if turn < real(0.0):
        away = inputs.places.position[other] - inputs.places.position[i]
        reach = wp.length(away) + wp.length(inputs.colliders.position[i]) + inputs.colliders.reach[other]
        return -turn * reach
    return turn


@kernel
def set_search_margins(items: Items, inputs: SpeculativeInput, lanes: int) -> None:
    """Set the gap beyond the contact distance up to which two solids are tested."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[m]
        b = items.b[m]
        if is_settled(inputs, a):
            items.speculative_margin[m] = wp.where(
                remembered_class(inputs.memory, a, b, items.part[m]) >= 0, FAR, real(0.0)
            )
            continue
        nearer = wp.length(inputs.margins.travel[a] - inputs.margins.travel[b])
        nearer += turning(inputs, a, b) + turning(inputs, b, a)
        nearer += wp.min(wp.length(inputs.margins.travel[a]), wp.length(inputs.margins.travel[b]))
        items.speculative_margin[m] = wp.where(
            nearer > SLOW * inputs.max_gap, nearer + SPARE * inputs.max_gap, real(0.0)
        )


@wp.func
def margin_of(inputs: SpeculativeInput, s: real, nearer: real, impacts: real) -> real:
    """How far beyond the contact distance points of two solids go; negative where they cannot touch."""
    if s > inputs.max_gap and s >= inputs.max_gap + nearer + impacts:
        return real(-1.0)
    far = IN_MOTION * nearer + impacts - AT_REST * inputs.max_gap
    return wp.max(far, wp.where(s > inputs.max_gap, s, real(0.0)))


@kernel
def set_margins(items: Items, found: Found, inputs: SpeculativeInput, lanes: int) -> None:
    """Set how far beyond the contact distance the points of solids go, by classes."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[m]
        b = items.b[m]
        margin_class = int(0)
        beyond = real(0.0)
        if is_settled(inputs, a):
            margin_class = wp.max(remembered_class(inputs.memory, a, b, items.part[m]), 0)
            for _ in range(margin_class):
                beyond = real(2.0) * beyond + inputs.base_margin
        elif is_near(items, found, inputs, m):
            impacts = impact_travel_of(inputs, a) + impact_travel_of(inputs, b)
            more = margin_of(inputs, found.separation[m], items.approach[m], impacts)
            while more >= beyond and margin_class < CLASSES:
                beyond = real(2.0) * beyond + inputs.base_margin
                margin_class += 1
        items.margin_class[m] = margin_class
        items.speculative_margin[m] = beyond


@wp.func
def keep_points(items: Items, inputs: SpeculativeInput, most: int, manifolds: Manifolds, m: int) -> None:
    """Of the points on a triangle of a settled world, keep those in the memory, if any are of its pair."""
    memory = inputs.memory
    first = int(0)
    end = int(0)
    if is_settled(inputs, items.a[m]):
        first = known_from(memory, items.a[m], items.b[m])
        end = known_from(memory, items.a[m], items.b[m] + 1)
    chosen = wp.where(first < end, 1, 0)
    if m == items.first[items.pair[m]]:
        items.chosen[items.pair[m]] = chosen
    if chosen == 0:
        return
    kept = int(0)
    for s in range(m * most, m * most + manifolds.points[m]):
        there = bool(False)
        for k in range(first, end):
            same = memory.part[k] == items.part[m] and memory.feature[k] % FEATURE_IDS == manifolds.feature[s]
            there = there or same
        if there:
            manifolds.point[m * most + kept] = manifolds.point[s]
            manifolds.separation[m * most + kept] = manifolds.separation[s]
            manifolds.feature[m * most + kept] = manifolds.feature[s]
            kept = kept + 1
    manifolds.points[m] = kept


@kernel
def keep_remembered_points(items: Items, inputs: SpeculativeInput, most: int, manifolds: Manifolds, lanes: int) -> None:
    """Of the points on surfaces, keep those in the contact memory."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.part[m] >= 0:
            keep_points(items, inputs, most, manifolds, m)


class SpeculativeContacts:
    """What a finder does to find speculative contacts.

    Args:
        geometry: The colliders.
        places: Where they are.
        motion: How their bodies move.
        clock: How long the coming step is.
        distance: Contact distance [m].
        unit: The same, or the usual one where that is zero [m].
    """

    def __init__(
        self, geometry: Geometry, places: Places, motion: Motion, clock: Clock, distance: float, unit: float
    ) -> None:
        self.inputs = SpeculativeInput()
        self.inputs.bodies, self.inputs.colliders, self.inputs.places = geometry.bodies, geometry.colliders, places
        self.inputs.hulls, self.inputs.materials, self.inputs.rules = geometry.hulls, geometry.materials, geometry.rules
        self.inputs.motion, self.inputs.clock = motion, clock
        self.inputs.max_gap, self.inputs.base_margin = distance, unit
        self.inputs.steps = self.inputs.impact_steps = 1.0
        self.margins = arrays.allocate(SpeculativeMargins, {"colliders": geometry.count, "one": 1}, geometry.device)
        self.inputs.margins = self.margins
        self.geometry, self._meshes = geometry, int(MESH) in geometry.kinds

    def set_horizon(self, every: int) -> None:
        """Set the margins for contacts that are detected every so many steps."""
        self.inputs.steps, self.inputs.impact_steps = float(every), 0.5 * (every + 1)

    def remember(self, memory: ContactMemory) -> None:
        """Use this contact memory and new lists from now on; then record again."""
        self.inputs.memory = memory
        self.margins.held_upper.fill_(-float(FAR))

    def record_boxes(self, program: Any) -> None:
        """Record what stretches the boxes, after the colliders were placed."""
        program.share(clear_impacts, self.geometry.count, self.inputs)
        rows = len(self.inputs.memory.collider)
        program.share(find_contact_impacts, rows, self.inputs)
        program.share(spread_contact_impacts, rows, self.inputs)
        program.share(stretch_boxes, self.geometry.count, self.inputs)
        program.launch(restore_boxes, 1, self.inputs)

    def record_reach(self, program: Any, items: Items) -> None:
        """Record what sets the search margins."""
        program.share(set_search_margins, len(items.a), items, self.inputs)

    def record_margins(self, program: Any, items: Items, found: Found) -> None:
        """Record what sets the margins of points, from the results of the narrow phase."""
        record_chained_impacts(program, self.inputs, items, found)
        program.share(set_margins, len(items.a), items, found, self.inputs)

    def record_points(self, program: Any, items: Items, most: int, manifolds: Manifolds) -> None:
        """Record what keeps the points on surfaces that are in the memory; these are not reduced again."""
        if self._meshes:
            program.share(keep_remembered_points, len(items.a), items, self.inputs, most, manifolds)
