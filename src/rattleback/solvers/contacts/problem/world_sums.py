"""Sums of vectors of the manifolds of each world, in an order that does not depend on other worlds.

In order, on one thread, worlds add up as the list of manifolds has them. By colour, on a GPU, the manifolds of a world
are neighbours: chunks of ``CHUNK`` of them are summed first, counted from the first one of the world, then the chunks.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import vec3
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.manifolds import ContactSystem
from rattleback.solvers.contacts.problem.status import SolverStatus

CHUNK = wp.constant(64)


@kernel
def sum_in_order(
    system: ContactSystem, active: Active, status: SolverStatus, terms: wp.array[vec3], sums: wp.array[vec3]
) -> None:
    """Sums of active worlds, on one thread."""
    for w in range(sums.shape[0]):
        sums[w] = vec3()
    for n in range(active.count[0]):
        k = active.listed[n]
        w = system.manifolds.world[k]
        if status.busy[w] == 1:
            sums[w] = sums[w] + terms[k]


@kernel
def clear_ranges(first: wp.array[wp.int32], end: wp.array[wp.int32]) -> None:
    """No world has a manifold."""
    first[wp.tid()] = 0
    end[wp.tid()] = 0


@kernel
def find_ranges(
    graph: Graph, system: ContactSystem, first: wp.array[wp.int32], end: wp.array[wp.int32], lanes: int
) -> None:
    """Which manifolds a world has."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        if k == 0 or system.manifolds.world[wp.max(k - 1, 0)] != w:
            first[w] = k
        if k + 1 == graph.total[0] or system.manifolds.world[wp.min(k + 1, graph.total[0] - 1)] != w:
            end[w] = k + 1


@kernel
def sum_chunks(
    graph: Graph,
    system: ContactSystem,
    active: Active,
    first: wp.array[wp.int32],
    end: wp.array[wp.int32],
    terms: wp.array[vec3],
    chunks: wp.array[vec3],
    lanes: int,
) -> None:
    """Sums of chunks, in parallel."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        if (k - first[w]) % CHUNK == 0:
            total = vec3()
            for i in range(k, wp.min(k + CHUNK, end[w])):
                if active.marked[i] == 1:
                    total += terms[i]
            chunks[k] = total


@kernel
def sum_worlds(
    first: wp.array[wp.int32], end: wp.array[wp.int32], chunks: wp.array[vec3], sums: wp.array[vec3]
) -> None:
    """Sums of the chunks of each world."""
    w = wp.tid()
    total = vec3()
    k = first[w]
    while k < end[w]:
        total += chunks[k]
        k += CHUNK
    sums[w] = total


class WorldSums:
    """Records sums over the manifolds that take part, for every active world.

    Args:
        problem: The contact problem.
        pairs: Terms of the manifolds, and where their sums go.
    """

    def __init__(self, problem: ContactProblem, pairs: tuple[tuple[Any, Any], ...]) -> None:
        self.problem, self.pairs = problem, pairs
        device = problem.bodies.world.device
        self.first, self.end = (wp.zeros(problem.worlds, dtype=wp.int32, device=device) for _ in range(2))
        self.chunks = wp.zeros(problem.room, dtype=vec3, device=device)

    def record_ranges(self) -> None:
        """Record which manifolds a world has."""
        problem = self.problem
        if problem.colour_driver is not None:
            problem.program.launch(clear_ranges, problem.worlds, self.first, self.end)
            problem.for_manifolds(find_ranges, problem.graph, problem.system, self.first, self.end)

    def record(self) -> None:
        """Record the sums."""
        problem, program = self.problem, self.problem.program
        for terms, sums in self.pairs:
            if problem.colour_driver is None:
                program.launch(sum_in_order, 1, problem.system, problem.active, problem.status, terms, sums)
            else:
                ranges = (self.first, self.end)
                given = (problem.graph, problem.system, problem.active, *ranges, terms, self.chunks)
                problem.for_manifolds(sum_chunks, *given)
                program.launch(sum_worlds, problem.worlds, *ranges, self.chunks, sums)
