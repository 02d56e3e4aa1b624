"""Time of impact of a step: a step that ends with new penetration is shortened until the bodies just touch.

    g(f) = min { gap of the pairs after the part f of the step }          find f: |g(f)| ≤ tolerance
    bisect          f = ½ (l + h)
    interpolate     f = l + (h − l) g(l) / (g(l) − g(h))          g(l) > 0 > g(h)

l, h parts of the step known to end apart and penetrating. A pair is new if it is not among the contacts at the start of
the step, so that no solver keeps it apart. A pair that touches may meet in other points: with a contact solver, it
counts as soon as it would penetrate by the contact distance more than before. Where g ends up deeper than the
tolerance, the step is predicted again with the part of its length that is tried next, world by world, until g is within
it. When the same end of the bracket stays twice, its g is halved (the Illinois rule), so that neither end stays for
ever.

Per round: one prediction, one detection, and one more distance for each world. Interpolation converges superlinearly,
bisection by half a round. After ``max_rounds`` the longest part known to be free is taken, or the shortest that was
tried where none is. Less than 1e-4 of the step is not tried: penetration even then comes from joints or position
correction, and no shorter step helps. A body that has passed another within the step leaves no penetration: see
``continuous``. With many contacts to come the steps become short; the contact distance is cheaper.

The public option is ``contact_time=``.

Reference: Bender, dissertation, §4.1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.ccd.conservative_advancement import closest_of
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import load
from rattleback.collision.geometry.world_poses import pose
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays, checks
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import first_from
from rattleback.model.contacts import Contacts
from rattleback.model.state import Clock, Motion

KINDS = ("bisect", "interpolate")
# What a world does: nothing any more, search for the time of impact, or predict once more, to the part decided upon.
DONE = wp.constant(0)
SEARCHING = wp.constant(1)
SETTLING = wp.constant(2)
NO_ITEM = wp.constant(int(np.iinfo(np.int32).max))
# Part of the contact distance that is the tolerance where none is given.
TOLERANCE = 0.1
# Farther than any bodies overlap [m].
FAR = 1e6
# Bodies that overlap after this part of a step are put there by something else than their motion.
LEAST = wp.constant(wp.float64(1e-4))


@group(axis="worlds")
class Search:
    """The search for the time of impact of every world; parts are of the nominal step."""

    nominal: wp.float64 = field("s", "length of the step before it is shortened")
    trial: wp.float64 = field("1", "part that is predicted next; in the end, the part to be taken")
    low: wp.float64 = field("1", "largest part known to end free")
    high: wp.float64 = field("1", "smallest part known to end with an overlap")
    low_gap: real = field("m", "separation at the lower part")
    high_gap: real = field("m", "separation at the higher part")
    gap: real = field("m", "least separation of a pair at the trial; the largest number where none is known")
    item: wp.int32 = field("1", "its item; the largest number for none")
    collider_a: wp.int32 = field("1", "first collider of the pair the search follows; -1 before there is one")
    collider_b: wp.int32 = field("1", "its second collider")
    part: wp.int32 = field("1", "its triangle")
    side: wp.int32 = field("1", "end of the bracket that was moved last: -1 lower, 1 higher, 0 none yet")
    state: wp.int32 = field("1", "0 done, 1 searching, 2 settling")
    rounds: wp.int32 = field("1", "predictions judged in this step")
    going: wp.int32 = field("1", "1 while a world has to predict again", axis="one")


@wp.struct
class StepEnds:
    """Where the bodies are at the start and at the predicted end, and the colliders there."""

    colliders: Colliders
    hulls: Hulls
    places: Places
    start: Motion
    predicted: Motion


@wp.struct
class Margins:
    """Contact distance, tolerance, and how much deeper than before pairs that touch may overlap [m]."""

    distance: real
    tolerance: real
    beyond: real


@kernel
def begin_search(clock: Clock, search: Search) -> None:
    """The whole step is tried first."""
    w = wp.tid()
    search.nominal[w] = clock.time_step[w]
    search.trial[w] = wp.float64(1.0)
    search.low[w] = wp.float64(0.0)
    search.high[w] = wp.float64(1.0)
    search.low_gap[w] = real(0.0)
    search.high_gap[w] = real(0.0)
    search.collider_a[w] = -1
    search.side[w] = 0
    search.state[w] = SEARCHING
    search.rounds[w] = 0
    if w == 0:
        search.going[0] = 1


@kernel
def clear_gaps(search: Search) -> None:
    """Nothing is known of this trial yet."""
    w = wp.tid()
    search.gap[w] = LARGE
    search.item[w] = NO_ITEM
    if w == 0:
        search.going[0] = 0


@wp.func
def slack_of(contacts: Contacts, a: int, b: int, beyond: real) -> real:
    """By how much two colliders may overlap: not at all if they are new, else so much more than before."""
    slack = real(0.0)
    end = contacts.first[a + 1]
    first = first_from(contacts.collider_b, contacts.first[a], end, b)
    for k in range(first, first_from(contacts.collider_b, first, end, b + 1)):
        slack = wp.max(slack, beyond + wp.max(-contacts.separation[k], real(0.0)))
    return slack


@kernel
def find_gaps(
    colliders: Colliders, contacts: Contacts, items: Items, found: Found, margins: Margins, search: Search
) -> None:
    """The least separation of a pair in every world, beside what it may overlap."""
    i = wp.tid()
    if i >= items.needed[0]:
        return
    w = colliders.world[items.a[i]]
    # Of a pair farther apart than the contact distance only a lower bound is known.
    if search.state[w] == SEARCHING and found.separation[i] <= margins.distance:
        slack = slack_of(contacts, items.a[i], items.b[i], margins.beyond)
        wp.atomic_min(search.gap, w, found.separation[i] + slack)


@kernel
def name_gaps(
    colliders: Colliders, contacts: Contacts, items: Items, found: Found, margins: Margins, search: Search
) -> None:
    """The first item of that separation."""
    i = wp.tid()
    if i >= items.needed[0]:
        return
    w = colliders.world[items.a[i]]
    if search.state[w] == SEARCHING and found.separation[i] <= margins.distance:
        gap = found.separation[i] + slack_of(contacts, items.a[i], items.b[i], margins.beyond)
        if gap == search.gap[w]:
            wp.atomic_min(search.item, w, i)


@kernel
def follow(ends: StepEnds, contacts: Contacts, items: Items, margins: Margins, search: Search) -> None:
    """Measure the pair that overlaps most where the narrow phase does not: at the start, and at a free trial."""
    w = wp.tid()
    if search.state[w] != SEARCHING:
        return
    inside = search.gap[w] < -margins.tolerance
    if inside:
        i = search.item[w]
        same = search.collider_a[w] == items.a[i] and search.collider_b[w] == items.b[i]
        search.collider_a[w] = items.a[i]
        search.collider_b[w] = items.b[i]
        search.part[w] = items.part[i]
        if same or search.low[w] > wp.float64(0.0):
            return
    a = search.collider_a[w]
    b = search.collider_b[w]
    if a < 0:
        return
    if inside:
        pose(ends.colliders, ends.start, ends.places, a)
        pose(ends.colliders, ends.start, ends.places, b)
    else:
        pose(ends.colliders, ends.predicted, ends.places, a)
        pose(ends.colliders, ends.predicted, ends.places, b)
    origin = ends.places.position[a]
    solid_a = load(ends.colliders, ends.places, a, search.part[w], origin)
    solid_b = load(ends.colliders, ends.places, b, search.part[w], origin)
    separation = closest_of(solid_a, solid_b, ends.hulls, vec3(), LARGE).separation
    separation += slack_of(contacts, a, b, margins.beyond)
    if inside:
        search.low_gap[w] = separation
        search.side[w] = 0
    else:
        search.gap[w] = wp.min(search.gap[w], separation)


@wp.func
def next_trial(search: Search, w: int, by_depth: int) -> wp.float64:
    """The part to try next, inside the bracket."""
    low = search.low[w]
    high = search.high[w]
    middle = wp.float64(0.5) * (low + high)
    above = wp.float64(search.low_gap[w])
    below = wp.float64(search.high_gap[w])
    if by_depth == 0 or not (above > wp.float64(0.0)):
        return middle
    trial = low + (high - low) * (above / (above - below))
    if trial <= low or trial >= high:
        return middle
    return trial


@kernel
def judge_trials(
    search: Search, clock: Clock, tolerance: real, most: int, by_depth: int, stop: wp.array[wp.int32]
) -> None:
    """Narrow the bracket by what the trial has shown, and choose the next one, or be done."""
    w = wp.tid()
    state = search.state[w]
    search.state[w] = DONE
    if state != SEARCHING or stop[0] != 0:
        return
    gap = search.gap[w]
    trial = search.trial[w]
    search.rounds[w] = search.rounds[w] + 1
    if gap < -tolerance:
        if search.side[w] == 1:
            search.low_gap[w] = real(0.5) * search.low_gap[w]
        search.side[w] = wp.where(search.rounds[w] == 1, 0, 1)
        search.high[w] = trial
        search.high_gap[w] = gap
    elif gap <= tolerance or trial >= wp.float64(1.0):
        return
    else:
        if search.side[w] == -1:
            search.high_gap[w] = real(0.5) * search.high_gap[w]
        search.side[w] = -1
        search.low[w] = trial
        search.low_gap[w] = gap
    search.state[w] = SEARCHING
    then = wp.max(next_trial(search, w, by_depth), LEAST)
    if search.rounds[w] >= most or search.high[w] <= LEAST:
        search.state[w] = SETTLING
        then = wp.where(search.low[w] > wp.float64(0.0), search.low[w], search.high[w])
    search.trial[w] = then
    clock.time_step[w] = then * search.nominal[w]
    wp.atomic_max(search.going, 0, 1)


@kernel
def restore_steps(search: Search, clock: Clock) -> None:
    """The next step is as long as this one was to be."""
    w = wp.tid()
    clock.time_step[w] = search.nominal[w]


@dataclass(frozen=True)
class ContactTime:
    """How the time of impact is found.

    Attributes:
        kind: ``"bisect"`` or ``"interpolate"``.
        tolerance: Largest gap or penetration at the time of impact [m]; None for a tenth of the contact distance.
        max_rounds: Most predictions of one step that are judged.
    """

    kind: str = "interpolate"
    tolerance: float | None = None
    max_rounds: int = 50

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.one_of(self.kind, KINDS, "The kind of ContactTime")
        if self.tolerance is not None:
            checks.positive(self.tolerance, "The tolerance of ContactTime")
        checks.count(self.max_rounds, "max_rounds of ContactTime")

    def bind(
        self,
        geometry: Geometry,
        clock: Clock,
        start: Motion,
        predicted: Motion,
        distance: float,
        resolved: bool = False,
    ) -> "BoundContactTime":
        """The method on a model.

        Args:
            geometry: The colliders.
            clock: The clock with the steps to shorten.
            start: Where the bodies are at the start of the step.
            predicted: Where they are at its end, as far as it is tried.
            distance: Contact distance [m].
            resolved: Whether pairs that touch are kept apart, so that it matters where they meet again.
        """
        tolerance = TOLERANCE * distance if self.tolerance is None else float(self.tolerance)
        if tolerance > distance or tolerance <= 0.0:
            raise InputError(
                f"The tolerance of the contact time is {tolerance:g} m and the contact distance {distance:g} m; what "
                "stops within the tolerance must be in contact then, so choose 0 < tolerance ≤ contact_distance."
            )
        ends = StepEnds()
        ends.colliders, ends.hulls, ends.start, ends.predicted = geometry.colliders, geometry.hulls, start, predicted
        ends.places = arrays.allocate(Places, {"colliders": geometry.count}, geometry.device)
        margins = Margins()
        margins.distance, margins.tolerance, margins.beyond = distance, tolerance, distance if resolved else FAR
        return BoundContactTime(self, ends, clock, margins)


class BoundContactTime:
    """The search for the time of impact in the worlds of a model.

    Record ``begin``; then in a loop on ``search.going`` a prediction with the clock's steps, what finds separations at
    its end, and ``judge``; when the step is taken, ``restore``, also where it failed.

    Attributes:
        search: Its arrays; ``trial`` is the part of the step that was taken, ``rounds`` the predictions judged.
        tolerance: Largest gap or penetration at the time of impact [m].
    """

    def __init__(self, method: ContactTime, ends: StepEnds, clock: Clock, margins: Any) -> None:
        self.method, self.ends, self.clock, self.margins = method, ends, clock, margins
        self.tolerance = float(margins.tolerance)
        self.worlds = int(clock.time_step.shape[0])
        self.search = arrays.allocate(Search, {"worlds": self.worlds, "one": 1}, clock.time_step.device)

    def begin(self, program: Any) -> None:
        """Record the beginning of the search: the whole step is tried first."""
        program.launch(begin_search, self.worlds, self.clock, self.search)

    def judge(self, program: Any, contacts: Contacts, items: Items, found: Found, stop: Any) -> None:
        """Record what follows from the separations at the end of a trial.

        Args:
            program: Where to record.
            contacts: Those at the start of the step.
            items: The items tested, at the predicted poses.
            found: The answers.
            stop: One-entry array; where it is not zero, the search ends.
        """
        colliders, search = self.ends.colliders, self.search
        many, by_depth = int(items.a.shape[0]), int(self.method.kind == "interpolate")
        program.launch(clear_gaps, self.worlds, search)
        program.launch(find_gaps, many, colliders, contacts, items, found, self.margins, search)
        program.launch(name_gaps, many, colliders, contacts, items, found, self.margins, search)
        if by_depth:
            program.launch(follow, self.worlds, self.ends, contacts, items, self.margins, search)
        rules = (self.tolerance, self.method.max_rounds, by_depth)
        program.launch(judge_trials, self.worlds, search, self.clock, *rules, stop)

    def restore(self, program: Any) -> None:
        """Record the return to the nominal step."""
        program.launch(restore_steps, self.worlds, self.search, self.clock)
