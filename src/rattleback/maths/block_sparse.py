"""Block-sparse symmetric systems: an elimination order, the pattern of the factor, and the dense work on one block.

    A = L D Lᵀ,   A_ij blocks of n_i × n_j,   nodes eliminated in order, neighbours of a node joined to each other

For a tree of joints the order from the leaves to the root makes no new blocks; a loop makes few. A node of a tree whose
neighbours share one body already forms a clique with them, so its elimination joins nothing new.

The dense functions work on blocks stored row by row in a flat array, at an offset.

Reference: Bender, dissertation, section 7.2 and §2.1.3.2; George and Liu, Computer Solution of Large Sparse Positive
Definite Systems, chapter 5 (greedy orders).
"""

import heapq
from collections.abc import Collection
from dataclasses import dataclass

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.small_solve import vec6

# Pivots this many times above their least leave an explicit inverse accurate enough.
SOUND = wp.constant(real(1e3))


@dataclass(frozen=True)
class Pattern:
    """The pattern of a factor.

    Attributes:
        order: Nodes in the order of elimination.
        chains: Number of nodes of each connected part, in that order.
        blocks: Pairs (i, j) of the blocks below and on the diagonal, i eliminated after j, in order of columns.
        columns: For each node in order, the numbers of the blocks below its diagonal.
        fill: Number of blocks that are zero in A and not in L.
    """

    order: list[int]
    chains: list[int]
    blocks: list[tuple[int, int]]
    columns: list[list[int]]
    fill: int


def find_pattern(count: int, edges: set[tuple[int, int]], members: Collection[int] | None = None) -> Pattern:
    """Order of minimum fill, part by part.

    Args:
        count: Number of nodes.
        edges: Pairs of neighbours.
        members: Nodes to be eliminated; the others are left out with all their edges. None for all.
    """
    members = range(count) if members is None else members
    edges = {(i, j) for i, j in edges if i in members and j in members}
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for i, j in edges:
        neighbours[i].add(j)
        neighbours[j].add(i)
    order: list[int] = []
    chains: list[int] = []
    below: dict[int, list[int]] = {}
    seen = [False] * count
    for start in range(count):
        if seen[start] or start not in members:
            continue
        depth = _depths(start, neighbours, seen)
        chains.append(len(depth))
        _eliminate(depth, neighbours, order, below)
    blocks, columns = _blocks(order, below)
    fill = len(blocks) - len(order) - len({tuple(sorted(edge)) for edge in edges})
    return Pattern(order, chains, blocks, columns, fill)


def _blocks(order: list[int], below: dict[int, list[int]]) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """The blocks of a factor column by column, and the numbers of those below the diagonal of each."""
    place = {node: k for k, node in enumerate(order)}
    blocks: list[tuple[int, int]] = []
    columns: list[list[int]] = []
    for node in order:
        blocks.append((node, node))
        later = sorted(below[node], key=place.__getitem__)
        columns.append(list(range(len(blocks), len(blocks) + len(later))))
        blocks.extend((other, node) for other in later)
    return blocks, columns


def _depths(start: int, neighbours: list[set[int]], seen: list[bool]) -> dict[int, int]:
    depth, waiting = {start: 0}, [start]
    seen[start] = True
    for node in waiting:
        for other in sorted(neighbours[node]):
            if not seen[other]:
                seen[other] = True
                depth[other] = depth[node] + 1
                waiting.append(other)
    return depth


def _eliminate(
    depth: dict[int, int], neighbours: list[set[int]], order: list[int], below: dict[int, list[int]]
) -> None:
    """Eliminate one part: always the node that joins the fewest others anew, then the one with fewest neighbours."""

    def key(node: int) -> tuple[int, int, int, int]:
        around = neighbours[node]
        missing = sum(len(around - neighbours[other]) - 1 for other in around) // 2
        return missing, len(around), -depth[node], node

    heap = [key(node) for node in depth]
    heapq.heapify(heap)
    done: set[int] = set()
    while heap:
        entry = heapq.heappop(heap)
        node = entry[-1]
        if node in done or entry != key(node):
            continue
        done.add(node)
        order.append(node)
        around = neighbours[node]
        below[node] = list(around)
        for other in around:
            neighbours[other] |= around - {other}
            neighbours[other].discard(node)
        for touched in around.union(*(neighbours[other] for other in around)):
            heapq.heappush(heap, key(touched))


@wp.func
def swap(values: wp.array[real], i: int, j: int) -> None:
    """Exchange two entries."""
    kept = values[i]
    values[i] = values[j]
    values[j] = kept


@wp.func
def exchange(values: wp.array[real], at: int, n: int, k: int, best: int) -> None:
    """Exchange unknowns k and best > k of a block whose lower triangle is stored and whose first k columns are done."""
    for m in range(k):
        swap(values, at + k * n + m, at + best * n + m)
    swap(values, at + k * n + k, at + best * n + best)
    for m in range(k + 1, best):
        swap(values, at + m * n + k, at + best * n + m)
    for m in range(best + 1, n):
        swap(values, at + m * n + k, at + m * n + best)


@wp.func
def factor_block(
    values: wp.array[real], at: int, n: int, least: wp.array[real], order: wp.array[wp.int32], first: int
) -> int:
    """P A Pᵀ = L D Lᵀ in place, L below the diagonal and D⁻¹ on it; the largest pivot beside its ``least`` comes first.

    A pivot not above its ``least`` is left out and its unknown becomes zero, for its equation says nothing new. Returns
    how many were, without equations that were empty from the start. ``order[first + k]`` is the unknown in place k.
    """
    dropped = int(0)
    for k in range(n):
        order[first + k] = k
    for k in range(n):
        best = int(k)
        for i in range(k + 1, n):
            ahead = values[at + i * n + i] * least[first + order[first + best]]
            if ahead > values[at + best * n + best] * least[first + order[first + i]]:
                best = i
        if best != k:
            exchange(values, at, n, k, best)
            kept = order[first + k]
            order[first + k] = order[first + best]
            order[first + best] = kept
        inverse = real(0.0)
        if values[at + k * n + k] > least[first + order[first + k]]:
            inverse = real(1.0) / values[at + k * n + k]
        elif least[first + order[first + k]] > real(0.0):
            dropped += 1
        values[at + k * n + k] = inverse
        for i in range(k + 1, n):
            s = values[at + i * n + k] * inverse
            for j in range(k + 1, i + 1):
                values[at + i * n + j] = values[at + i * n + j] - s * values[at + j * n + k]
        for i in range(k + 1, n):
            values[at + i * n + k] = values[at + i * n + k] * inverse
    return dropped


@wp.func
def solve_block(values: wp.array[real], at: int, n: int, order: wp.array[wp.int32], first: int, b: vec6) -> vec6:
    """A⁻¹ b with the factor of ``factor_block``."""
    y = vec6()
    for k in range(n):
        y[k] = b[order[first + k]]
    for k in range(n):
        for i in range(k + 1, n):
            y[i] = y[i] - values[at + i * n + k] * y[k]
    for k in range(n):
        y[k] = y[k] * values[at + k * n + k]
    for m in range(n):
        k = n - 1 - m
        for i in range(k + 1, n):
            y[k] = y[k] - values[at + i * n + k] * y[i]
    x = vec6()
    for k in range(n):
        x[order[first + k]] = y[k]
    return x


@wp.func
def multiply_block(values: wp.array[real], at: int, n: int, b: vec6) -> vec6:
    """A b for a block that is kept as it is."""
    x = vec6()
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + values[at + i * n + j] * b[j]
    return x


@wp.func
def inverse33(m: mat33, least: vec3) -> tuple[mat33, bool]:
    """The inverse of a symmetric block by L D Lᵀ, and whether every pivot is far above its ``least``."""
    one = real(1.0)
    i0 = one / m[0, 0]
    l10 = m[1, 0] * i0
    l20 = m[2, 0] * i0
    d1 = m[1, 1] - l10 * m[1, 0]
    i1 = one / d1
    rest = m[2, 1] - l20 * m[1, 0]
    l21 = rest * i1
    d2 = m[2, 2] - l20 * m[2, 0] - l21 * rest
    i2 = one / d2
    sound = m[0, 0] > SOUND * least[0] and d1 > SOUND * least[1] and d2 > SOUND * least[2]
    b = l10 * l21 - l20
    m01 = -b * l21 * i2 - l10 * i1
    m02 = b * i2
    m12 = -l21 * i2
    m00 = i0 + l10 * l10 * i1 + b * m02
    return mat33(m00, m01, m02, m01, i1 - l21 * m12, m12, m02, m12, i2), sound
