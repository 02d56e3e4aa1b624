"""Contacts that lie ahead: solids that would touch within the coming step are contacts before they overlap.

    reach    d + |w_a − w_b| + min(|w_a|, |w_b|) + θ_a + θ_b + β_a + β_b     what a narrow phase has to look at
    ahead    d < s < d + α      α = α_v + γ_a + γ_b
    region   the largest of  d,  ½ d + 3/2 α_v + γ_a + γ_b  and, where they are ahead,  d + s

h step, v velocity of a body, w = h v, θ how far points of a collider go by turning, β its blow (see ``boxes_ahead``),
d contact distance, s separation of two solids. α is how much nearer their points may come:
α_v by their velocities, γ by the jolts of what strikes them before the step begins (see ``jolts_ahead``). A jolt may
stop one that went with the other; so the reach counts the way of the slower one, too. The points of a region have their
true separations, by which those who resolve contacts let them come closer. What is stopped at one end comes faster at
the other, a rod half as much again. Regions go farther by one of a few classes, d (2ᵏ − 1) for class k; that of what
moves and touches is one at least, as regions that lie ahead have more points, and what moves sinks in at a corner that
has none. Where the reach is d + ¼ d or less nothing is looked for: what touches then was
found before it came that near, and a heap at rest has the contacts it would have without.

Where contacts are found after every n-th step only, h is n steps for velocities and jolts, and half of n + 1 for blows,
which come somewhere between. What is thrown farther than jolts say may overlap what it was far from by as many steps of
its way, until that is found.

Once the velocities of a state fit its contacts they are not the ones with which these were found. Contacts that are
found again then, as those of a copied state are, are the ones it remembers: boxes are widened to them, the solids they
are of are looked at however far apart they are, regions have the class they had, which their points carry beside their
names, and of the points on surfaces those remembered are kept. So a copied state has the contacts of the one it comes
from, bit for bit.

Limits: the normal is that of now, so a solid that passes close by an edge may be taken to touch it; how velocities
change within the step is not known, and d has to make up for ½ g h².

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

# Part of the contact distance by which more is looked at than can matter, against rounding.
SPARE = wp.constant(real(0.01))
# Part of the contact distance that solids may come nearer without anything to look for: those farther apart stay so.
SLOW = wp.constant(real(0.25))
# Part of the contact distance by which a region in motion goes less far, and of α by which farther.
AT_REST, IN_MOTION = wp.constant(real(0.5)), wp.constant(real(1.5))
# Classes of regions there are.
CLASSES = wp.constant(63)


@wp.func
def remembered_class(memory: ContactMemory, a: int, b: int, part: int) -> int:
    """Class of the region of two solids that is remembered; −1 where they have no contact."""
    for k in range(known_from(memory, a, b), known_from(memory, a, b + 1)):
        if memory.part[k] == part:
            return memory.feature[k] // FEATURE_IDS
    return -1


@wp.func
def turning(inputs: SpeculativeInput, i: int, other: int) -> real:
    """How far a collider comes towards another by turning, at most."""
    turn = inputs.margins.turn[i]
    if turn < real(0.0):
        away = inputs.places.position[other] - inputs.places.position[i]
        reach = wp.length(away) + wp.length(inputs.colliders.position[i]) + inputs.colliders.reach[other]
        return -turn * reach
    return turn


@kernel
def set_search_margins(items: Items, inputs: SpeculativeInput, lanes: int) -> None:
    """How much farther apart than the contact distance two solids may be and still touch in the step."""
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
    """How much farther than the contact distance the region of two solids goes; negative where they do not touch."""
    if s > inputs.max_gap and s >= inputs.max_gap + nearer + impacts:
        return real(-1.0)
    far = IN_MOTION * nearer + impacts - AT_REST * inputs.max_gap
    return wp.max(far, wp.where(s > inputs.max_gap, s, real(0.0)))


@kernel
def set_margins(items: Items, found: Found, inputs: SpeculativeInput, lanes: int) -> None:
    """How much farther than the contact distance the regions of solids go."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[m]
        b = items.b[m]
        margin_class = int(0)
        beyond = real(0.0)
        if is_settled(inputs, a):
            margin_class = wp.max(remembered_class(inputs.memory, a, b, items.part[m]), 0)
            for _ in range(margin_class):
                beyond = real(2.0) * beyond + inputs.unit
        elif is_near(items, found, inputs, m):
            impacts = impact_travel_of(inputs, a) + impact_travel_of(inputs, b)
            more = margin_of(inputs, found.separation[m], items.approach[m], impacts)
            while more >= beyond and margin_class < CLASSES:
                beyond = real(2.0) * beyond + inputs.unit
                margin_class += 1
        items.margin_class[m] = margin_class
        items.speculative_margin[m] = beyond


@wp.func
def keep_points(items: Items, inputs: SpeculativeInput, most: int, manifolds: Manifolds, m: int) -> None:
    """Of the points on a triangle, keep those that are remembered, if any are of its pair and contacts are known."""
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
    """Of the points on surfaces, keep those that are remembered."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.part[m] >= 0:
            keep_points(items, inputs, most, manifolds, m)


class SpeculativeContacts:
    """What a finder does to find contacts that lie ahead.

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
        self.inputs.hulls = geometry.hulls
        self.inputs.motion, self.inputs.clock = motion, clock
        self.inputs.max_gap, self.inputs.unit = distance, unit
        self.inputs.steps = self.inputs.impact_steps = 1.0
        self.margins = arrays.allocate(SpeculativeMargins, {"colliders": geometry.count, "one": 1}, geometry.device)
        self.inputs.margins = self.margins
        self.geometry, self._meshes = geometry, int(MESH) in geometry.kinds

    def set_horizon(self, every: int) -> None:
        """Look so far ahead as contacts that are found after every so many steps need."""
        self.inputs.steps, self.inputs.impact_steps = float(every), 0.5 * (every + 1)

    def remember(self, memory: ContactMemory) -> None:
        """Use this memory and new lists from now on; then record again."""
        self.inputs.memory = memory
        self.margins.held_upper.fill_(-float(FAR))

    def record_boxes(self, program: Any) -> None:
        """Record what widens the boxes, after the colliders were placed."""
        program.share(clear_impacts, self.geometry.count, self.inputs)
        rows = len(self.inputs.memory.collider)
        program.share(find_contact_impacts, rows, self.inputs)
        program.share(spread_contact_impacts, rows, self.inputs)
        program.share(stretch_boxes, self.geometry.count, self.inputs)
        program.launch(restore_boxes, 1, self.inputs)

    def record_reach(self, program: Any, items: Items) -> None:
        """Record what says how far apart solids may be to be looked at."""
        program.share(set_search_margins, len(items.a), items, self.inputs)

    def record_margins(self, program: Any, items: Items, found: Found) -> None:
        """Record what says which of them will touch, and how far their regions go, from their answers."""
        record_chained_impacts(program, self.inputs, items, found)
        program.share(set_margins, len(items.a), items, found, self.inputs)

    def record_points(self, program: Any, items: Items, most: int, manifolds: Manifolds) -> None:
        """Record what keeps the points on surfaces that are remembered; these are not thinned out again."""
        if self._meshes:
            program.share(keep_remembered_points, len(items.a), items, self.inputs, most, manifolds)
