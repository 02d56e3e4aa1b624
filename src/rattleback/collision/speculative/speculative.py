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

from rattleback.collision.geometry.colliders import Places, Prospects
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.manifold.clip import Regions
from rattleback.collision.manifold.limits import NAMES
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.speculative.boxes import (
    FAR,
    Outlook,
    begin_blows,
    find_blows,
    is_known,
    pass_blows_on,
    recall_boxes,
    widen_boxes,
)
from rattleback.collision.speculative.chained_impacts import is_near, jolt_of, record_jolts
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
def remembered(memory: ContactMemory, a: int, b: int, part: int) -> int:
    """Class of the region of two solids that is remembered; −1 where they have no contact."""
    for k in range(known_from(memory, a, b), known_from(memory, a, b + 1)):
        if memory.part[k] == part:
            return memory.feature[k] // NAMES
    return -1


@wp.func
def turning(outlook: Outlook, i: int, other: int) -> real:
    """How far a collider comes towards another by turning, at most."""
    turn = outlook.prospects.turn[i]
    if turn < real(0.0):
        away = outlook.places.position[other] - outlook.places.position[i]
        reach = wp.length(away) + wp.length(outlook.colliders.position[i]) + outlook.colliders.reach[other]
        return -turn * reach
    return turn


@kernel
def look_farther(items: Items, outlook: Outlook, lanes: int) -> None:
    """How much farther apart than the contact distance two solids may be and still touch in the step."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[m]
        b = items.b[m]
        if is_known(outlook, a):
            items.ahead[m] = wp.where(remembered(outlook.memory, a, b, items.part[m]) >= 0, FAR, real(0.0))
            continue
        nearer = wp.length(outlook.prospects.way[a] - outlook.prospects.way[b])
        nearer += turning(outlook, a, b) + turning(outlook, b, a)
        nearer += wp.min(wp.length(outlook.prospects.way[a]), wp.length(outlook.prospects.way[b]))
        items.ahead[m] = wp.where(nearer > SLOW * outlook.gap, nearer + SPARE * outlook.gap, real(0.0))


@wp.func
def farther(outlook: Outlook, s: real, nearer: real, jolts: real) -> real:
    """How much farther than the contact distance the region of two solids goes; negative where they do not touch."""
    if s > outlook.gap and s >= outlook.gap + nearer + jolts:
        return real(-1.0)
    far = IN_MOTION * nearer + jolts - AT_REST * outlook.gap
    return wp.max(far, wp.where(s > outlook.gap, s, real(0.0)))


@kernel
def find_touching(items: Items, found: Found, outlook: Outlook, lanes: int) -> None:
    """How much farther than the contact distance the regions of solids go."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[m]
        b = items.b[m]
        sight = int(0)
        beyond = real(0.0)
        if is_known(outlook, a):
            sight = wp.max(remembered(outlook.memory, a, b, items.part[m]), 0)
            for _ in range(sight):
                beyond = real(2.0) * beyond + outlook.unit
        elif is_near(items, found, outlook, m):
            jolts = jolt_of(outlook, a) + jolt_of(outlook, b)
            more = farther(outlook, found.separation[m], items.nearer[m], jolts)
            while more >= beyond and sight < CLASSES:
                beyond = real(2.0) * beyond + outlook.unit
                sight += 1
        items.sight[m] = sight
        items.ahead[m] = beyond


@wp.func
def keep_points(items: Items, outlook: Outlook, most: int, regions: Regions, m: int) -> None:
    """Of the points on a triangle, keep those that are remembered, if any are of its pair and contacts are known."""
    memory = outlook.memory
    first = int(0)
    end = int(0)
    if is_known(outlook, items.a[m]):
        first = known_from(memory, items.a[m], items.b[m])
        end = known_from(memory, items.a[m], items.b[m] + 1)
    chosen = wp.where(first < end, 1, 0)
    if m == items.first[items.pair[m]]:
        items.chosen[items.pair[m]] = chosen
    if chosen == 0:
        return
    kept = int(0)
    for s in range(m * most, m * most + regions.points[m]):
        there = bool(False)
        for k in range(first, end):
            same = memory.part[k] == items.part[m] and memory.feature[k] % NAMES == regions.feature[s]
            there = there or same
        if there:
            regions.point[m * most + kept] = regions.point[s]
            regions.separation[m * most + kept] = regions.separation[s]
            regions.feature[m * most + kept] = regions.feature[s]
            kept = kept + 1
    regions.points[m] = kept


@kernel
def keep_remembered(items: Items, outlook: Outlook, most: int, regions: Regions, lanes: int) -> None:
    """Of the points on surfaces, keep those that are remembered."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.part[m] >= 0:
            keep_points(items, outlook, most, regions, m)


class LookAhead:
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
        self.outlook = Outlook()
        self.outlook.bodies, self.outlook.colliders, self.outlook.places = geometry.bodies, geometry.colliders, places
        self.outlook.hulls = geometry.hulls
        self.outlook.motion, self.outlook.clock = motion, clock
        self.outlook.gap, self.outlook.unit = distance, unit
        self.outlook.steps = self.outlook.struck = 1.0
        self.prospects = arrays.allocate(Prospects, {"colliders": geometry.count, "one": 1}, geometry.device)
        self.outlook.prospects = self.prospects
        self.geometry, self._meshes = geometry, int(MESH) in geometry.kinds

    def foresee(self, every: int) -> None:
        """Look so far ahead as contacts that are found after every so many steps need."""
        self.outlook.steps, self.outlook.struck = float(every), 0.5 * (every + 1)

    def remember(self, memory: ContactMemory) -> None:
        """Use this memory and new lists from now on; then record again."""
        self.outlook.memory = memory
        self.prospects.held_upper.fill_(-float(FAR))

    def record_boxes(self, program: Any) -> None:
        """Record what widens the boxes, after the colliders were placed."""
        program.share(begin_blows, self.geometry.count, self.outlook)
        rows = len(self.outlook.memory.collider)
        program.share(find_blows, rows, self.outlook)
        program.share(pass_blows_on, rows, self.outlook)
        program.share(widen_boxes, self.geometry.count, self.outlook)
        program.launch(recall_boxes, 1, self.outlook)

    def record_reach(self, program: Any, items: Items) -> None:
        """Record what says how far apart solids may be to be looked at."""
        program.share(look_farther, len(items.a), items, self.outlook)

    def record_touching(self, program: Any, items: Items, found: Found) -> None:
        """Record what says which of them will touch, and how far their regions go, from their answers."""
        record_jolts(program, self.outlook, items, found)
        program.share(find_touching, len(items.a), items, found, self.outlook)

    def record_points(self, program: Any, items: Items, most: int, regions: Regions) -> None:
        """Record what keeps the points on surfaces that are remembered; these are not thinned out again."""
        if self._meshes:
            program.share(keep_remembered, len(items.a), items, self.outlook, most, regions)
