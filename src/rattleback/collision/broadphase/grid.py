"""Uniform cells: a collider is looked up in the cells that its box is in, and one more towards lower ones.

    cell(x) = ⌊x / s⌋        boxes overlap  ⇒  cell(lower(i)) − 1 ≤ cell(lower(j)) ≤ cell(upper(i)) along every axis

s edge of a cell, larger than every box but a few. Each step:

1. The extents of the boxes are counted by size; s is the least that all but ``wide`` of them fit into.
2. Each collider goes to the cell of its lower corner. Cells are kept in a table by a hash of y, z and the world, to
   which x is added: neighbours along x lie side by side.
3. A counting sort puts the colliders of a cell together.
4. Each collider is tested against those of a higher row in runs of cells, and against the wide and the big ones; big
   ones are tested against all.

The cost is linear in the number of colliders as long as their sizes are alike; for sizes over decades the tree is
better. Nothing is carried over from step to step.

Reference: Bender, dissertation, §2.2.2, grids; Teschner et al. (2003), Optimized spatial hashing.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.broadphase.listing import Crowd, Listing, crowd, drivers, is_partner, put, put_all, put_big
from rattleback.collision.broadphase.pairs import Pairs, may_meet
from rattleback.collision.geometry.bvh import overlap
from rattleback.collision.geometry.colliders import Places
from rattleback.core.checks import count as checked_count
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.sums import Sum

# Sizes are counted in sixteenths of a doubling over SIZES / 16 doublings; what is smaller counts as the smallest.
SIZES = wp.constant(256)
# Part of a cell that a box may fill, so that rounding never moves a neighbour two cells away; cells beyond the
# outermost count as that one.
FILL = wp.constant(real(31.0 / 32.0))
OUTERMOST = wp.constant(real(2.0**17))
# Bits of a 32-bit float below the first four of its fraction, and the number of 1.0 when they are dropped.
DROPPED, ONE = wp.constant(19), wp.constant(127 * 16)
# Primes from the hash of Teschner et al.
PRIME_Y, PRIME_Z, PRIME_WORLD = (wp.constant(wp.uint32(prime)) for prime in (19349663, 83492791, 73856093))
WIDE = wp.constant(-1)
# So many cells are tested however few colliders there are.
FEW = wp.constant(27)


@wp.struct
class Cells:
    """The table of cells and the colliders in them."""

    largest: real
    wide: wp.int32
    table: wp.int32
    many: wp.array[wp.int32]
    edge: wp.array[real]
    cell: wp.array[wp.vec3i]
    key: wp.array[wp.int32]
    start: wp.array[wp.int32]
    cursor: wp.array[wp.int32]
    entry: wp.array[wp.int32]
    lower: wp.array[vec3]
    upper: wp.array[vec3]
    strays: wp.array[wp.int32]
    stray_count: wp.array[wp.int32]


@wp.func
def size_class(cells: Cells, extent: real) -> int:
    """Class of an extent: 0 for the smallest, the last for all beyond the largest."""
    bits = wp.cast(wp.float32(extent / cells.largest), wp.int32)
    return wp.clamp((bits >> DROPPED) - ONE + SIZES - 1, 0, SIZES - 1)


@wp.func
def hashed(cells: Cells, x: int, y: int, z: int, world: int) -> int:
    """Place of a cell in the table: cells along a line parallel to x follow each other."""
    line = (wp.uint32(y) * PRIME_Y) ^ (wp.uint32(z) * PRIME_Z) ^ (wp.uint32(world) * PRIME_WORLD)
    return int((line + wp.uint32(x)) & wp.uint32(cells.table - 1))


@wp.func
def cell_of(x: real) -> int:
    """Number of a cell along one axis from a coordinate in cells."""
    return int(wp.floor(wp.clamp(x, -OUTERMOST, OUTERMOST)))


@wp.func
def cell_at(cells: Cells, x: vec3) -> wp.vec3i:
    """The cell of a point."""
    p = x / cells.edge[0]
    return wp.vec3i(cell_of(p[0]), cell_of(p[1]), cell_of(p[2]))


@wp.func
def extent(places: Places, i: int) -> real:
    """Longest edge of a box."""
    return wp.max(places.upper[i] - places.lower[i])


@kernel
def clear(cells: Cells) -> None:
    """Empty the table."""
    k = wp.tid()
    cells.start[k] = 0
    if k < SIZES:
        cells.many[k] = 0
    if k == 0:
        cells.stray_count[0] = 0


@kernel
def measure(crowd: Crowd, cells: Cells) -> None:
    """Count the colliders of every size."""
    i = wp.tid()
    if crowd.is_big[i % crowd.each] == 0:
        wp.atomic_add(cells.many, size_class(cells, extent(crowd.places, i)), 1)


@kernel
def choose(cells: Cells) -> None:
    """Take the smallest cells that all but a few colliders fit into."""
    k = SIZES - 1
    outside = cells.many[k]
    while k > 1 and outside + cells.many[k - 1] <= cells.wide:
        k = k - 1
        outside = outside + cells.many[k]
    bits = (k - SIZES + 1 + ONE) << DROPPED
    cells.edge[0] = real(wp.cast(bits, wp.float32)) * cells.largest / FILL


@kernel
def locate(crowd: Crowd, cells: Cells) -> None:
    """Find the cell of every collider."""
    i = wp.tid()
    cells.key[i] = WIDE
    if crowd.is_big[i % crowd.each] != 0:
        return
    s = cells.edge[0]
    if not (extent(crowd.places, i) <= FILL * s):
        cells.strays[wp.atomic_add(cells.stray_count, 0, 1)] = i
        return
    here = cell_at(cells, crowd.places.lower[i])
    cells.cell[i] = here
    key = hashed(cells, here[0], here[1], here[2], i // crowd.each)
    cells.key[i] = key
    wp.atomic_add(cells.start, key, 1)


@kernel
def begin(cells: Cells) -> None:
    """Set the place of the first collider of every cell."""
    k = wp.tid()
    cells.cursor[k] = cells.start[k]


@kernel
def gather(crowd: Crowd, cells: Cells) -> None:
    """Put the colliders of a cell and their boxes together; in which order does not matter, since rows are sorted."""
    i = wp.tid()
    if cells.key[i] != WIDE:
        k = wp.atomic_add(cells.cursor, cells.key[i], 1)
        cells.entry[k] = i
        cells.lower[k] = crowd.places.lower[i]
        cells.upper[k] = crowd.places.upper[i]


@wp.func
def put_line(crowd: Crowd, cells: Cells, a: int, cell: wp.vec3i, last: int, pairs: Pairs, at: int, room: int) -> int:
    """Write the colliders of a higher row that one overlaps in the cells from one to ``last`` along x."""
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    first = hashed(cells, cell[0], cell[1], cell[2], a // crowd.each)
    end = first + last - cell[0] + 1
    # Past the end of the table, a run continues at its beginning.
    over = wp.max(end - cells.table, 0)
    to = at
    for part in range(2):
        if part == 0 or over > 0:
            left = wp.where(part == 0, first, 0)
            right = wp.where(part == 0, end - over, over)
            for k in range(cells.start[left], cells.start[right]):
                b = cells.entry[k]
                if b > a and overlap(lower, upper, cells.lower[k], cells.upper[k]):
                    # Other lines of cells may lie in the same part of the table.
                    there = cells.cell[b]
                    same = there[1] == cell[1] and there[2] == cell[2] and there[0] >= cell[0] and there[0] <= last
                    if same and may_meet(crowd.colliders, crowd.exclusions, crowd.each_body, a, b):
                        to = put(pairs, to, room, b)
    return to


@wp.func
def row(crowd: Crowd, cells: Cells, a: int, pairs: Pairs, at: int, room: int) -> int:
    """The colliders of a higher row that collider a overlaps."""
    if crowd.is_big[a % crowd.each] != 0:
        return put_all(crowd, a, pairs, at, room)
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    low = cell_at(cells, lower) - wp.vec3i(1, 1, 1)
    high = cell_at(cells, upper)
    # A box over more cells than there are colliders is tested as a big one.
    many = real(high[0] - low[0] + 1) * real(high[1] - low[1] + 1) * real(high[2] - low[2] + 1)
    if many > real(wp.max(crowd.each, FEW)):
        return put_all(crowd, a, pairs, at, room)
    to = put_big(crowd, a, pairs, at, room)
    for k in range(cells.stray_count[0]):
        b = cells.strays[k]
        if is_partner(crowd, lower, upper, a, b):
            to = put(pairs, to, room, b)
    for z in range(low[2], high[2] + 1):
        for y in range(low[1], high[1] + 1):
            to = put_line(crowd, cells, a, wp.vec3i(low[0], y, z), high[0], pairs, to, room)
    return to


KERNELS = drivers(row, Cells)


@sealed
@dataclass(frozen=True)
class Grid:
    """Looks for partners in the cells around.

    Args:
        wide: Most colliders, of all worlds, that may be larger than a cell; each is tested against all others.
    """

    wide: int = 16

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "wide", checked_count(self.wide, "wide of Grid", least=0, most=2**30))

    def bind(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> "BoundGrid":
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their places.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """
        return BoundGrid(self, geometry, crowd(geometry, places, each_body), pairs)


class BoundGrid:
    """The grid of the colliders of a model."""

    def __init__(self, method: Grid, geometry: Any, crowd: Crowd, pairs: Pairs) -> None:
        self.crowd, self.count = crowd, geometry.count
        self.cells = _cells(method, geometry)
        self.listing = Listing(KERNELS, crowd, self.cells, pairs)

    def record(self, program: Any) -> None:
        """Record the launches that write the list."""
        cells, count = self.cells, self.count
        program.launch(clear, max(cells.table + 1, SIZES), cells)
        program.launch(measure, count, self.crowd, cells)
        program.launch(choose, 1, cells)
        program.launch(locate, count, self.crowd, cells)
        Sum(cells.start, cells.table, program.device).record(program)
        program.launch(begin, cells.table, cells)
        program.launch(gather, count, self.crowd, cells)
        self.listing.record(program)

    def write_to(self, pairs: Pairs) -> None:
        """Write another list from now on; then record again."""
        self.listing.pairs = pairs

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer of its own, the array that counts what is needed, and what there is."""
        return {}

    def grow(self) -> None:
        """Enlarge the buffers that were too small; then record again."""


def _cells(method: Grid, geometry: Any) -> Cells:
    """An empty table with at least four times as many cells as colliders."""
    count, device = geometry.count, geometry.device
    reach = geometry.colliders.reach.numpy()
    finite = reach[reach > 0.0]
    cells = Cells()
    # Boxes are wider than their colliders; larger ones than this are wide whatever happens.
    cells.largest = real(8.0 * float(finite.max(initial=0.0)) or 1.0)
    cells.wide = method.wide
    cells.table = max(int(SIZES), 1 << (4 * count - 1).bit_length())
    for name, length in {"many": int(SIZES), "start": cells.table + 1, "cursor": cells.table, "stray_count": 1}.items():
        setattr(cells, name, wp.zeros(length, dtype=wp.int32, device=device))
    for name in ("key", "entry", "strays"):
        setattr(cells, name, wp.zeros(count, dtype=wp.int32, device=device))
    cells.edge = wp.zeros(1, dtype=real, device=device)
    cells.cell = wp.zeros(count, dtype=wp.vec3i, device=device)
    cells.lower, cells.upper = (wp.zeros(count, dtype=vec3, device=device) for _ in range(2))
    return cells
