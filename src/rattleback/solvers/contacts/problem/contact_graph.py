"""The contact graph: levels of bodies above the ground, and the order in which manifolds are solved.

A body that touches something static has level 1, one that touches that level 2, and so on. Manifolds are solved from
the ground up: the level of a manifold is that of its lower body. Where bodies of one level touch, their manifolds have
that level, so the cycles of the graph within a level are solved together. Manifolds that the ground does not reach
come last. Manifolds of one level are in the order of the contacts.

Cost: O(contacts), on one thread; nothing where the same solids touch as in the last step.

Reference: Bender, dissertation, §5.2.3.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.solvers.contacts.problem.manifolds import Manifolds

# Level of bodies that no static body supports, and the largest number of levels; higher ones share the last.
UNSUPPORTED = wp.constant(1 << 30)
LEVELS = 1024


@group(axis="contacts")
class Graph:
    """Bodies and manifolds as a graph; manifolds in the order of the contacts."""

    contact: wp.int32 = field("1", "row of the first contact of a manifold")
    size: wp.int32 = field("1", "number of its contacts")
    height: wp.int32 = field("1", "level of a manifold: that of the lower of its bodies")
    solve_row: wp.int32 = field("1", "row of a manifold in the order they are solved")
    next_end: wp.int32 = field(
        "1", "next end in the list of a body; manifold k has end 2k at A, 2k + 1 at B", axis="ends"
    )
    head: wp.int32 = field("1", "first end in the list of a body", axis="bodies")
    level: wp.int32 = field("1", "levels above the ground of a body; 0 for a static one", axis="bodies")
    queue: wp.int32 = field("1", "bodies in the order their levels are found", axis="bodies")
    first_manifold: wp.int32 = field(
        "1", "first manifold of a level in the order they are solved", axis="levels_and_one"
    )
    first_point: wp.int32 = field("1", "first point of a level", axis="levels_and_one")
    total: wp.int32 = field("1", "number of manifolds", axis="one")
    gather_count: wp.int32 = field("1", "how often manifolds were gathered", axis="one")
    reused: wp.int32 = field("1", "1 where the graph is still that of the contacts", axis="one")
    last_compared: wp.int32 = field("1", "number of the detection it was last compared with", axis="one")
    levels: wp.int32 = field("1", "number of levels of manifolds, with that of loose ones", axis="one")


@wp.func
def begins_manifold(contacts: Contacts, c: int) -> bool:
    """Whether a contact is the first of its manifold."""
    if c == 0 or contacts.part[c] != contacts.part[wp.max(c - 1, 0)]:
        return True
    return contacts.collider_a[c] != contacts.collider_a[c - 1] or contacts.collider_b[c] != contacts.collider_b[c - 1]


@kernel
def gather_manifolds(contacts: Contacts, graph: Graph, stop: wp.array[wp.int32]) -> None:
    """Find out where the manifolds begin, on one thread; none where the contacts did not fit.

    Where all contacts are of the same solids as those that the graph is of, it is kept.
    """
    follows = graph.last_compared[0] + 1 == contacts.times[0] and stop[0] == 0
    graph.last_compared[0] = wp.where(stop[0] == 0, contacts.times[0], -1)
    graph.reused[0] = wp.where(follows, contacts.alike[0], 0)
    if graph.reused[0] == 1:
        return
    count = int(0)
    if stop[0] == 0:
        size = int(0)
        part = int(-1)
        collider_a = int(-1)
        collider_b = int(-1)
        for c in range(contacts.needed[0]):
            off = (
                (contacts.part[c] ^ part)
                | (contacts.collider_a[c] ^ collider_a)
                | (contacts.collider_b[c] ^ collider_b)
            )
            part = contacts.part[c]
            collider_a = contacts.collider_a[c]
            collider_b = contacts.collider_b[c]
            # Branchless: stored again for every contact of the manifold, as the branch is unpredictable.
            count += wp.where(off == 0, 0, 1)
            size = wp.where(off == 0, size + 1, 1)
            graph.contact[count - 1] = c - size + 1
            graph.size[count - 1] = size
    graph.total[0] = count
    graph.gather_count[0] = graph.gather_count[0] + 1


@wp.func
def queue_neighbours(contacts: Contacts, graph: Graph, body: int, queued: int) -> int:
    """Give the neighbours of a body without a level the next one, and queue them."""
    end = graph.head[body]
    while end >= 0:
        c = graph.contact[end // 2]
        other = wp.where(end % 2 == 0, contacts.body_b[c], contacts.body_a[c])
        if graph.level[other] == UNSUPPORTED:
            graph.level[other] = graph.level[body] + 1
            graph.queue[queued] = other
            queued += 1
        end = graph.next_end[end]
    return queued


@kernel
def find_levels(bodies: Bodies, contacts: Contacts, graph: Graph) -> None:
    """Levels of the bodies above the ground, on one thread: those that touch something static first."""
    if graph.reused[0] == 1:
        return
    for i in range(bodies.world.shape[0]):
        graph.head[i] = -1
        graph.level[i] = wp.where(bodies.inverse_mass[i] == real(0.0), 0, UNSUPPORTED)
    queued = int(0)
    for k in range(graph.total[0]):
        a = contacts.body_a[graph.contact[k]]
        b = contacts.body_b[graph.contact[k]]
        graph.next_end[2 * k] = graph.head[a]
        graph.head[a] = 2 * k
        graph.next_end[2 * k + 1] = graph.head[b]
        graph.head[b] = 2 * k + 1
        upper = wp.where(graph.level[a] == 0, b, a)
        if (graph.level[a] == 0 or graph.level[b] == 0) and graph.level[upper] == UNSUPPORTED:
            graph.level[upper] = 1
            graph.queue[queued] = upper
            queued += 1
    done = int(0)
    highest = int(0)
    while done < queued:
        highest = graph.level[graph.queue[done]]
        queued = queue_neighbours(contacts, graph, graph.queue[done], queued)
        done += 1
    graph.levels[0] = wp.min(highest + 2, graph.first_manifold.shape[0] - 1)


@wp.func
def find_starts(contacts: Contacts, graph: Graph) -> None:
    """Level of every manifold, and where the manifolds and points of each begin."""
    levels = graph.levels[0]
    for level in range(levels + 1):
        graph.first_manifold[level] = 0
        graph.first_point[level] = 0
    for k in range(graph.total[0]):
        c = graph.contact[k]
        level = wp.min(wp.min(graph.level[contacts.body_a[c]], graph.level[contacts.body_b[c]]), levels - 1)
        graph.height[k] = level
        graph.first_manifold[level + 1] = graph.first_manifold[level + 1] + 1
        graph.first_point[level + 1] = graph.first_point[level + 1] + graph.size[k]
    for level in range(levels):
        graph.first_manifold[level + 1] = graph.first_manifold[level + 1] + graph.first_manifold[level]
        graph.first_point[level + 1] = graph.first_point[level + 1] + graph.first_point[level]


@wp.func
def find_supported_body(graph: Graph, a: int, b: int) -> int:
    """Which of two bodies that touch stands on the other, one level higher; -1 where neither does."""
    higher = graph.level[a] - graph.level[b]
    return wp.where(higher == 1, a, wp.where(higher == -1, b, -1))


@kernel
def order_manifolds(bodies: Bodies, contacts: Contacts, graph: Graph, manifolds: Manifolds) -> None:
    """Lay the manifolds out by level, those of one level in the order of the contacts, on one thread."""
    if graph.reused[0] == 1:
        return
    find_starts(contacts, graph)
    for k in range(graph.total[0]):
        level = graph.height[k]
        place = graph.first_manifold[level]
        c = graph.contact[k]
        size = graph.size[k]
        graph.solve_row[k] = place
        manifolds.contact[place] = c
        manifolds.first[place] = graph.first_point[level]
        manifolds.count[place] = size
        a = contacts.body_a[c]
        b = contacts.body_b[c]
        manifolds.body_a[place] = a
        manifolds.body_b[place] = b
        manifolds.supported_body[place] = find_supported_body(graph, a, b)
        manifolds.world[place] = bodies.world[a]
        graph.first_manifold[level] = place + 1
        graph.first_point[level] = graph.first_point[level] + size
    # Each level now points to the end of itself: to the beginning of the next.
    end = graph.levels[0]
    for back in range(end):
        graph.first_manifold[end - back] = graph.first_manifold[end - back - 1]
    graph.first_manifold[0] = 0
