"""Patches in colours: those of one colour share no body that moves, so that all of them can be solved at once.

    while patches are left, for colour 0, 1, …:
        every patch without a colour bids for its bodies; the highest bid at both gets the colour; a few rounds of that

Bids are scrambled numbers of the patches, so that a chain of neighbours does not wait for each other. Which patches get
which colour depends on their numbers alone, which count the patches of their world, so that a world has the colours
that it has alone. What is left after the last colour is solved in order, on one thread. Few
bodies have so many patches that the usual colours do not do; colours that nobody needs are left out, a few at a time.

Cost: O(patches) for each colour, side by side; as many colours as the busiest body has patches, and a few more.

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
from rattleback.solvers.contacts.kernels.block import push_patch
from rattleback.solvers.contacts.problem.contact_graph import Graph, begins
from rattleback.solvers.contacts.problem.manifolds import Patches, Pressing

# Colours there are, those that usually do, and how many more are taken at a time; rounds of bidding for each.
COLOURS, USUAL, MORE = 24, 8, 4
BIDDING = 3
# Threads that share the patches of a colour: half as many for each after the first four, which have most of them.
THREADS, FEWEST, FULL = 1 << 15, 1 << 12, 4
WHITE = wp.constant(-1)


@group(axis="contacts")
class Colours:
    """The colours of patches."""

    colour: wp.int32 = field("1", "colour of a patch; -1 for none")
    number: wp.int32 = field("1", "number of a patch in its world")
    order: wp.int32 = field("1", "the patches, colour by colour; those without come last")
    start: wp.int32 = field("1", "number of the patch a contact begins, once added up", axis="contacts_and_one")
    bid: wp.int32 = field("1", "highest bid for a body", axis="bodies")
    taken: wp.int32 = field("1", "last colour of a body, and one", axis="bodies")
    first: wp.int32 = field("1", "first patch of a colour in the order, once added up", axis="colours")
    filled: wp.int32 = field("1", "patches of a colour put in order so far", axis="colours")
    more: wp.int32 = field("1", "1 where the usual colours do not do, and so many more", axis="steps")


@kernel
def note_beginnings(contacts: Contacts, colours: Colours, stop: wp.array[wp.int32]) -> None:
    """Which contacts begin a patch; none where the contacts did not fit."""
    c = wp.tid()
    colours.start[c] = 0
    if stop[0] == 0 and c < contacts.needed[0] and begins(contacts, c):
        colours.start[c] = 1


@kernel
def lay_out(bodies: Bodies, contacts: Contacts, colours: Colours, graph: Graph, patches: Patches, worlds: int) -> None:
    """The patches in the order of the contacts, world by world."""
    c = wp.tid()
    if c == 0:
        graph.total[0] = colours.start[colours.start.shape[0] - 1]
    k = colours.start[c]
    if colours.start[c + 1] == k:
        return
    count = int(1)
    while c + count < contacts.needed[0] and colours.start[c + count + 1] == k + 1:
        count += 1
    patches.first[k] = c
    patches.contact[k] = c
    patches.count[k] = count
    patches.body_a[k] = contacts.body_a[c]
    patches.body_b[k] = contacts.body_b[c]
    w = bodies.world[contacts.body_a[c]]
    each = (contacts.first.shape[0] - 1) // worlds
    patches.world[k] = w
    colours.number[k] = k - colours.start[contacts.first[w * each]]
    colours.colour[k] = WHITE


@kernel
def wipe(colours: Colours) -> None:
    """No body has a colour yet."""
    i = wp.tid()
    if i < colours.bid.shape[0]:
        colours.bid[i] = -1
        colours.taken[i] = 0
    if i < colours.first.shape[0]:
        colours.first[i] = 0
        colours.filled[i] = 0
    if i < colours.more.shape[0]:
        colours.more[i] = 0


@wp.func
def scrambled(k: int) -> int:
    """A number that looks as if drawn by lot, different for every k."""
    x = wp.uint32(k)
    x = (x ^ (x >> wp.uint32(16))) * wp.uint32(0x45D9F3B)
    x = (x ^ (x >> wp.uint32(16))) * wp.uint32(0x45D9F3B)
    return int((x ^ (x >> wp.uint32(16))) & wp.uint32(0x7FFFFFFF))


@wp.func
def is_free(bodies: Bodies, colours: Colours, i: int, colour: int) -> bool:
    """Whether a body may take part in a colour."""
    return bodies.inverse_mass[i] == real(0.0) or colours.taken[i] != colour + 1


@kernel
def bid(bodies: Bodies, graph: Graph, patches: Patches, colours: Colours, colour: int) -> None:
    """Every patch without a colour whose bodies are free bids for them."""
    k = wp.tid()
    if k >= graph.total[0] or colours.colour[k] != WHITE:
        return
    a = patches.body_a[k]
    b = patches.body_b[k]
    if is_free(bodies, colours, a, colour) and is_free(bodies, colours, b, colour):
        value = scrambled(colours.number[k])
        if bodies.inverse_mass[a] > real(0.0):
            wp.atomic_max(colours.bid, a, value)
        if bodies.inverse_mass[b] > real(0.0):
            wp.atomic_max(colours.bid, b, value)


@kernel
def award(bodies: Bodies, graph: Graph, patches: Patches, colours: Colours, colour: int) -> None:
    """The highest bid at both bodies gets the colour."""
    k = wp.tid()
    if k >= graph.total[0] or colours.colour[k] != WHITE:
        return
    a = patches.body_a[k]
    b = patches.body_b[k]
    value = scrambled(colours.number[k])
    wins_a = bodies.inverse_mass[a] == real(0.0) or colours.bid[a] == value
    wins_b = bodies.inverse_mass[b] == real(0.0) or colours.bid[b] == value
    if wins_a and wins_b and is_free(bodies, colours, a, colour) and is_free(bodies, colours, b, colour):
        colours.colour[k] = colour
        if bodies.inverse_mass[a] > real(0.0):
            colours.taken[a] = colour + 1
        if bodies.inverse_mass[b] > real(0.0):
            colours.taken[b] = colour + 1


@kernel
def forget_bids(colours: Colours) -> None:
    """The next round of bidding begins."""
    colours.bid[wp.tid()] = -1


@kernel
def look_for_white(graph: Graph, colours: Colours, step: int) -> None:
    """Whether any patch is without a colour."""
    k = wp.tid()
    if k < graph.total[0] and colours.colour[k] == WHITE:
        colours.more[step] = 1


@kernel
def count_colours(graph: Graph, colours: Colours) -> None:
    """Number of patches of every colour; the last place counts those without."""
    k = wp.tid()
    if k < graph.total[0]:
        last = colours.first.shape[0] - 2
        wp.atomic_add(colours.first, wp.where(colours.colour[k] == WHITE, last, colours.colour[k]), 1)


@kernel
def fill_order(graph: Graph, colours: Colours) -> None:
    """Put every patch in a place of its colour; which of them is of no account."""
    k = wp.tid()
    if k < graph.total[0]:
        last = colours.first.shape[0] - 2
        colour = wp.where(colours.colour[k] == WHITE, last, colours.colour[k])
        colours.order[colours.first[colour] + wp.atomic_add(colours.filled, colour, 1)] = k


@kernel
def push_colour(
    bodies: Bodies,
    pressing: Pressing,
    colours: Colours,
    motion: Motion,
    wanted: wp.array[wp.int32],
    colour: int,
    threads: int,
) -> None:
    """Apply the impulses of the patches of a colour in wanted worlds, side by side."""
    place = colours.first[colour] + wp.tid()
    while place < colours.first[colour + 1]:
        k = colours.order[place]
        if wanted[pressing.patches.world[k]] == 1:
            push_patch(bodies, pressing, motion, k)
        place += threads


class Palette:
    """Records the colours of patches, and what is done colour by colour.

    Args:
        program: Where to record.
        bodies: The bodies.
        pressing: The patches.
        graph: Their number.
        colours: Their colours.
        worlds: Number of worlds.
    """

    def __init__(
        self, program: Any, bodies: Bodies, pressing: Pressing, graph: Graph, colours: Colours, worlds: int
    ) -> None:
        self.program, self.bodies, self.pressing, self.graph, self.colours = program, bodies, pressing, graph, colours
        self.room, self.worlds = len(colours.colour), worlds
        device = colours.colour.device
        self.more = [colours.more[step : step + 1] for step in range(len(colours.more))]
        self.beginnings, self.sizes = Sum(colours.start, self.room, device), Sum(colours.first, COLOURS + 1, device)

    def record_patches(self, contacts: Contacts, stop: Any) -> None:
        """Record what makes patches of contacts and gives them colours."""
        launch, bodies, graph, colours = self.program.launch, self.bodies, self.graph, self.colours
        launch(note_beginnings, self.room, contacts, colours, stop)
        self.beginnings.record(self.program)
        launch(lay_out, self.room, bodies, contacts, colours, graph, self.pressing.patches, self.worlds)
        launch(wipe, max(len(bodies.world), COLOURS + 2), colours)
        self._bid(range(USUAL))
        self._bid_for_more(0)
        launch(count_colours, self.room, graph, colours)
        self.sizes.record(self.program)
        launch(fill_order, self.room, graph, colours)

    def _bid(self, those: range) -> None:
        """Record what gives away some colours."""
        given = (self.bodies, self.graph, self.pressing.patches, self.colours)
        for colour in those:
            for _ in range(BIDDING):
                self.program.launch(bid, self.room, *given, colour)
                self.program.launch(award, self.room, *given, colour)
                self.program.launch(forget_bids, len(self.bodies.world), self.colours)

    def _bid_for_more(self, step: int) -> None:
        """Record what gives away more colours where those so far do not do."""
        if step < len(self.more):
            self.program.launch(look_for_white, self.room, self.graph, self.colours, step)
            with self.program.when(self.more[step]):
                self._bid(range(USUAL + MORE * step, USUAL + MORE * (step + 1)))
                self._bid_for_more(step + 1)

    def push(self, motion: Motion, wanted: Any) -> None:
        """Record what applies the impulses that the patches of wanted worlds have."""
        self.by_colour(push_colour, motion, wanted)

    def by_colour(self, kernel: Any, *rest: Any, first: Any = None) -> None:
        """Record a kernel for every colour there is, and on one thread for the patches without.

        Args:
            kernel: The kernel; its arguments are the bodies, the patches, their colours, the rest, and which colour.
            rest: The rest.
            first: What it has in place of the bodies.
        """
        given = (self.bodies if first is None else first, self.pressing, self.colours, *rest)
        self._launch(kernel, given, range(USUAL))
        self._go_on(kernel, given, 0)

    def _go_on(self, kernel: Any, given: tuple[Any, ...], step: int) -> None:
        """Record a kernel for more colours where those so far do not do."""
        if step == len(self.more):
            self.program.launch(kernel, 1, *given, COLOURS, 1)
            return
        with self.program.when(self.more[step]):
            self._launch(kernel, given, range(USUAL + MORE * step, USUAL + MORE * (step + 1)))
            self._go_on(kernel, given, step + 1)

    def _launch(self, kernel: Any, given: tuple[Any, ...], those: range) -> None:
        for colour in those:
            threads = min(self.room, max(FEWEST, THREADS >> max(0, colour + 1 - FULL)))
            self.program.launch(kernel, threads, *given, colour, threads)


def make_palette(bench: Any, pressing: Pressing, graph: Graph, counts: dict[str, int]) -> Palette:
    """The palette of a model.

    Args:
        bench: What the step works on.
        pressing: The patches.
        graph: Their number.
        counts: Rows along the axes of groups of bodies and contacts.
    """
    counts = {**counts, "contacts_and_one": counts["contacts"] + 1, "colours": COLOURS + 2}
    counts["steps"] = (COLOURS - USUAL) // MORE
    colours = arrays.allocate(Colours, counts, bench.model.device)
    return Palette(bench.program, bench.model.bodies, pressing, graph, colours, bench.model.worlds)
