"""Graph colouring: manifolds of one colour share no moving body, so that all of them can be solved in parallel.

    while manifolds are left, for colour 0, 1, …:
        every manifold without a colour bids for its bodies; the highest bid at both gets the colour; a few rounds of
        that

Bids are hashed numbers of the manifolds, so that a row of neighbours does not get one colour a round. Colours depend on
those numbers alone, which count the manifolds of a world, so a world has the colours that it has alone. Manifolds left
after the last colour are solved in order, on one thread. Few bodies have more manifolds than the usual colours; further
colours are launched only where they are needed, a few at a time.

Cost: O(manifolds) for each colour, in parallel; as many colours as a body has manifolds at most, and a few more.

Reference: Luby (1986), maximal independent sets; Jones, Plassmann (1993).
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sums import Sum
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import apply_impulses
from rattleback.solvers.contacts.problem.contact_graph import Graph, begins_manifold
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, Manifolds

# Colours there are, those that usually do, and how many more are taken at a time; rounds of bidding for each.
MAX_COLOURS, USUAL_COLOURS, COLOURS_PER_STEP = 24, 8, 4
BID_ROUNDS = 3
# Threads that share the manifolds of a colour: half as many for each after the first four, which have most of them.
THREADS, MIN_THREADS, FULL_COLOURS = 1 << 15, 1 << 12, 4
UNCOLOURED = wp.constant(-1)


@group(axis="contacts")
class Colouring:
    """The colours of manifolds."""

    colour: wp.int32 = field("1", "colour of a manifold; -1 for none")
    number: wp.int32 = field("1", "number of a manifold in its world")
    order: wp.int32 = field("1", "the manifolds, colour by colour; those without come last")
    start: wp.int32 = field("1", "number of the manifold a contact begins, once added up", axis="contacts_and_one")
    bid: wp.int32 = field("1", "highest bid for a body", axis="bodies")
    last_colour: wp.int32 = field("1", "last colour of a body, and one", axis="bodies")
    first: wp.int32 = field("1", "first manifold of a colour in the order, once added up", axis="colours")
    filled: wp.int32 = field("1", "manifolds of a colour put in order so far", axis="colours")
    more_needed: wp.int32 = field("1", "1 where the usual colours, and so many more, are not enough", axis="steps")


@kernel
def mark_manifold_starts(contacts: Contacts, colouring: Colouring, stop: wp.array[wp.int32]) -> None:
    """Mark contacts that begin a manifold; none where the contacts did not fit."""
    c = wp.tid()
    colouring.start[c] = 0
    if stop[0] == 0 and c < contacts.needed[0] and begins_manifold(contacts, c):
        colouring.start[c] = 1


@kernel
def lay_out_manifolds(
    bodies: Bodies, contacts: Contacts, colouring: Colouring, graph: Graph, manifolds: Manifolds, worlds: int
) -> None:
    """The manifolds in the order of the contacts, world by world."""
    c = wp.tid()
    if c == 0:
        graph.total[0] = colouring.start[colouring.start.shape[0] - 1]
    k = colouring.start[c]
    if colouring.start[c + 1] == k:
        return
    count = int(1)
    while c + count < contacts.needed[0] and colouring.start[c + count + 1] == k + 1:
        count += 1
    manifolds.first[k] = c
    manifolds.contact[k] = c
    manifolds.count[k] = count
    manifolds.body_a[k] = contacts.body_a[c]
    manifolds.body_b[k] = contacts.body_b[c]
    w = bodies.world[contacts.body_a[c]]
    each = (contacts.first.shape[0] - 1) // worlds
    manifolds.world[k] = w
    colouring.number[k] = k - colouring.start[contacts.first[w * each]]
    colouring.colour[k] = UNCOLOURED


@kernel
def reset_colours(colouring: Colouring) -> None:
    """No body has a colour yet."""
    i = wp.tid()
    if i < colouring.bid.shape[0]:
        colouring.bid[i] = -1
        colouring.last_colour[i] = 0
    if i < colouring.first.shape[0]:
        colouring.first[i] = 0
        colouring.filled[i] = 0
    if i < colouring.more_needed.shape[0]:
        colouring.more_needed[i] = 0


@wp.func
def hash_number(k: int) -> int:
    """A number hashed to one that is as good as random, different for every k."""
    x = wp.uint32(k)
    x = (x ^ (x >> wp.uint32(16))) * wp.uint32(0x45D9F3B)
    x = (x ^ (x >> wp.uint32(16))) * wp.uint32(0x45D9F3B)
    return int((x ^ (x >> wp.uint32(16))) & wp.uint32(0x7FFFFFFF))


@wp.func
def is_free(bodies: Bodies, colouring: Colouring, i: int, colour: int) -> bool:
    """Whether a body may take part in a colour."""
    return bodies.inverse_mass[i] == real(0.0) or colouring.last_colour[i] != colour + 1


@kernel
def bid_for_bodies(bodies: Bodies, graph: Graph, manifolds: Manifolds, colouring: Colouring, colour: int) -> None:
    """Every manifold without a colour whose bodies are free bids for them."""
    k = wp.tid()
    if k >= graph.total[0] or colouring.colour[k] != UNCOLOURED:
        return
    a = manifolds.body_a[k]
    b = manifolds.body_b[k]
    if is_free(bodies, colouring, a, colour) and is_free(bodies, colouring, b, colour):
        value = hash_number(colouring.number[k])
        if bodies.inverse_mass[a] > real(0.0):
            wp.atomic_max(colouring.bid, a, value)
        if bodies.inverse_mass[b] > real(0.0):
            wp.atomic_max(colouring.bid, b, value)


@kernel
def award_colour(bodies: Bodies, graph: Graph, manifolds: Manifolds, colouring: Colouring, colour: int) -> None:
    """The highest bid at both bodies gets the colour."""
    k = wp.tid()
    if k >= graph.total[0] or colouring.colour[k] != UNCOLOURED:
        return
    a = manifolds.body_a[k]
    b = manifolds.body_b[k]
    value = hash_number(colouring.number[k])
    wins_a = bodies.inverse_mass[a] == real(0.0) or colouring.bid[a] == value
    wins_b = bodies.inverse_mass[b] == real(0.0) or colouring.bid[b] == value
    if wins_a and wins_b and is_free(bodies, colouring, a, colour) and is_free(bodies, colouring, b, colour):
        colouring.colour[k] = colour
        if bodies.inverse_mass[a] > real(0.0):
            colouring.last_colour[a] = colour + 1
        if bodies.inverse_mass[b] > real(0.0):
            colouring.last_colour[b] = colour + 1


@kernel
def clear_bids(colouring: Colouring) -> None:
    """The next round of bidding begins."""
    colouring.bid[wp.tid()] = -1


@kernel
def find_uncoloured(graph: Graph, colouring: Colouring, step: int) -> None:
    """Whether any manifold is without a colour."""
    k = wp.tid()
    if k < graph.total[0] and colouring.colour[k] == UNCOLOURED:
        colouring.more_needed[step] = 1


@kernel
def count_colours(graph: Graph, colouring: Colouring) -> None:
    """Number of manifolds of every colour; the last place counts those without."""
    k = wp.tid()
    if k < graph.total[0]:
        last = colouring.first.shape[0] - 2
        wp.atomic_add(colouring.first, wp.where(colouring.colour[k] == UNCOLOURED, last, colouring.colour[k]), 1)


@kernel
def fill_order(graph: Graph, colouring: Colouring) -> None:
    """Put every manifold in a place of its colour; the order within a colour has no effect."""
    k = wp.tid()
    if k < graph.total[0]:
        last = colouring.first.shape[0] - 2
        colour = wp.where(colouring.colour[k] == UNCOLOURED, last, colouring.colour[k])
        colouring.order[colouring.first[colour] + wp.atomic_add(colouring.filled, colour, 1)] = k


@kernel
def apply_colour(
    bodies: Bodies,
    system: ContactSystem,
    colouring: Colouring,
    motion: Motion,
    wanted: wp.array[wp.int32],
    colour: int,
    threads: int,
) -> None:
    """Apply the impulses of the manifolds of a colour in selected worlds, in parallel."""
    place = colouring.first[colour] + wp.tid()
    while place < colouring.first[colour + 1]:
        k = colouring.order[place]
        if wanted[system.manifolds.world[k]] == 1:
            apply_impulses(bodies, system, motion, k)
        place += threads


class ColourDriver:
    """Records the colouring of manifolds, and kernels that go colour by colour.

    Args:
        program: Where to record.
        bodies: The bodies.
        system: The manifolds.
        graph: Their number.
        colouring: Their colours.
        worlds: Number of worlds.
    """

    def __init__(
        self, program: Any, bodies: Bodies, system: ContactSystem, graph: Graph, colouring: Colouring, worlds: int
    ) -> None:
        self.program, self.bodies, self.system, self.graph, self.colouring = program, bodies, system, graph, colouring
        self.room, self.worlds = len(colouring.colour), worlds
        device = colouring.colour.device
        self.more_needed = [colouring.more_needed[step : step + 1] for step in range(len(colouring.more_needed))]
        self.starts, self.sizes = Sum(colouring.start, self.room, device), Sum(colouring.first, MAX_COLOURS + 1, device)

    def record_manifolds(self, contacts: Contacts, stop: Any) -> None:
        """Record what makes manifolds of contacts and gives them colours."""
        launch, bodies, graph, colouring = self.program.launch, self.bodies, self.graph, self.colouring
        launch(mark_manifold_starts, self.room, contacts, colouring, stop)
        self.starts.record(self.program)
        launch(lay_out_manifolds, self.room, bodies, contacts, colouring, graph, self.system.manifolds, self.worlds)
        launch(reset_colours, max(len(bodies.world), MAX_COLOURS + 2), colouring)
        self._bid(range(USUAL_COLOURS))
        self._bid_for_more(0)
        launch(count_colours, self.room, graph, colouring)
        self.sizes.record(self.program)
        launch(fill_order, self.room, graph, colouring)

    def _bid(self, those: range) -> None:
        """Record the bidding for some colours."""
        given = (self.bodies, self.graph, self.system.manifolds, self.colouring)
        for colour in those:
            for _ in range(BID_ROUNDS):
                self.program.launch(bid_for_bodies, self.room, *given, colour)
                self.program.launch(award_colour, self.room, *given, colour)
                self.program.launch(clear_bids, len(self.bodies.world), self.colouring)

    def _bid_for_more(self, step: int) -> None:
        """Record the bidding for more colours where those so far are not enough."""
        if step < len(self.more_needed):
            self.program.launch(find_uncoloured, self.room, self.graph, self.colouring, step)
            with self.program.when(self.more_needed[step]):
                self._bid(range(USUAL_COLOURS + COLOURS_PER_STEP * step, USUAL_COLOURS + COLOURS_PER_STEP * (step + 1)))
                self._bid_for_more(step + 1)

    def apply_impulses(self, motion: Motion, wanted: Any) -> None:
        """Record the application of the impulses of manifolds in selected worlds."""
        self.by_colour(apply_colour, motion, wanted)

    def by_colour(self, kernel: Any, *rest: Any, first: Any = None) -> None:
        """Record a kernel for every colour there is, and on one thread for the manifolds without.

        Args:
            kernel: The kernel; its arguments are the bodies, the manifolds, their colours, the rest, and which colour.
            rest: The rest.
            first: What it has in place of the bodies.
        """
        given = (self.bodies if first is None else first, self.system, self.colouring, *rest)
        self._launch(kernel, given, range(USUAL_COLOURS))
        self._launch_more(kernel, given, 0)

    def _launch_more(self, kernel: Any, given: tuple[Any, ...], step: int) -> None:
        """Record a kernel for more colours where those so far are not enough."""
        if step == len(self.more_needed):
            self.program.launch(kernel, 1, *given, MAX_COLOURS, 1)
            return
        with self.program.when(self.more_needed[step]):
            self._launch(
                kernel,
                given,
                range(USUAL_COLOURS + COLOURS_PER_STEP * step, USUAL_COLOURS + COLOURS_PER_STEP * (step + 1)),
            )
            self._launch_more(kernel, given, step + 1)

    def _launch(self, kernel: Any, given: tuple[Any, ...], those: range) -> None:
        for colour in those:
            threads = min(self.room, max(MIN_THREADS, THREADS >> max(0, colour + 1 - FULL_COLOURS)))
            self.program.launch(kernel, threads, *given, colour, threads)


def make_colour_driver(context: Any, system: ContactSystem, graph: Graph, counts: dict[str, int]) -> ColourDriver:
    """The driver by colour of a model.

    Args:
        context: What the step works on.
        system: The manifolds.
        graph: Their number.
        counts: Rows along the axes of groups of bodies and contacts.
    """
    counts = {**counts, "contacts_and_one": counts["contacts"] + 1, "colours": MAX_COLOURS + 2}
    counts["steps"] = (MAX_COLOURS - USUAL_COLOURS) // COLOURS_PER_STEP
    colouring = arrays.allocate(Colouring, counts, context.model.device)
    return ColourDriver(context.program, context.model.bodies, system, graph, colouring, context.model.worlds)
