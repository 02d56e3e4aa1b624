"""Walks through trees of boxes, nearest box first, for rays and for points.

    at an inner node: go to the nearer child, and note in a bit that the other one waits
    done with a node: climb until a bit is set, go to the sibling k ^ 1

The bits of one integer are all the memory a walk needs, since a node's number says where its parent and its sibling
are. ``far`` may shrink between two leaves; boxes beyond it are passed over.

Reference: Laine (2010), Restart trail for stackless BVH traversal (the bits).
"""

import warp as wp

from rattleback.collision.geometry.bvh import Tree
from rattleback.collision.geometry.world_poses import FAR
from rattleback.core.precision import epsilon, real, vec3

# Parts by which the far end of a ray's stay in a box is lengthened, so that rounding loses no box.
LONGER = wp.constant(real(1.0 + 8.0 * epsilon))


@wp.struct
class Probe:
    """What is looked for: the boxes, wider by so much on every side, a ray meets, or those nearest to a point."""

    is_ray: wp.int32
    wider: real
    origin: vec3
    direction: vec3
    inverse: vec3


@wp.struct
class Walk:
    """Where a walk is: the node, 0 before the start and after the end, and a bit for each level above it."""

    node: wp.int32
    waiting: wp.int32


@wp.func
def ray_probe(origin: vec3, direction: vec3) -> Probe:
    """A ray."""
    probe = Probe()
    probe.is_ray = 1
    probe.wider = real(0.0)
    probe.origin = origin
    probe.direction = direction
    for k in range(3):
        side = wp.where(direction[k] < real(0.0), real(-1.0), real(1.0))
        # A finite number even along the walls of a box: zero times infinity would be none.
        probe.inverse[k] = side / wp.max(wp.abs(direction[k]), real(1.0) / FAR)
    return probe


@wp.func
def point_probe(point: vec3) -> Probe:
    """A point; boxes need not be wider for it, as shells are subtracted from its distances."""
    probe = Probe()
    probe.origin = point
    return probe


@wp.func
def nearness(tree: Tree, row: int, probe: Probe) -> real:
    """Where the ray enters the box of a node, or how far the point is from it; FAR where it misses or is empty."""
    lower = tree.lower[row]
    upper = tree.upper[row]
    o = probe.origin
    if lower[0] > upper[0]:
        return FAR
    if probe.is_ray == 0:
        out = vec3(real(0.0), real(0.0), real(0.0))
        for k in range(3):
            out[k] = wp.max(wp.max(lower[k] - o[k], o[k] - upper[k]), real(0.0))
        return wp.length(out)
    enter = real(0.0)
    leave = FAR
    for k in range(3):
        p = (lower[k] - probe.wider - o[k]) * probe.inverse[k]
        q = (upper[k] + probe.wider - o[k]) * probe.inverse[k]
        enter = wp.max(enter, wp.min(p, q))
        leave = wp.min(leave, wp.max(p, q) * LONGER)
    return wp.where(enter <= leave, enter, FAR)


@wp.func
def climb(tree: Tree, root: int, walk: Walk, probe: Probe, far: real) -> Walk:
    """The next node that waits and is not beyond ``far``."""
    out = Walk()
    node = walk.node
    waiting = walk.waiting
    while waiting != 0:
        while (waiting & 1) == 0:
            node = node >> 1
            waiting = waiting >> 1
        node = node ^ 1
        waiting = waiting ^ 1
        if nearness(tree, root + node, probe) <= far:
            out.node = node
            out.waiting = waiting
            return out
    return out


@wp.func
def next_near(tree: Tree, root: int, leaves: int, walk: Walk, probe: Probe, far: real) -> Walk:
    """The walk at the next leaf whose box is not beyond ``far``; its node is 0 if there is none.

    Args:
        tree: The tree.
        root: Row of its node 0.
        leaves: Number of its leaves.
        walk: Where the walk is; all zeros to begin.
        probe: What is looked for.
        far: Distance of interest [m], less than FAR.
    """
    at = Walk()
    at.node = walk.node
    at.waiting = walk.waiting
    if at.node == 0:
        if nearness(tree, root + 1, probe) > far:
            return at
        at.node = 1
    else:
        at = climb(tree, root, at, probe, far)
    while at.node > 0 and at.node < leaves:
        left = nearness(tree, root + 2 * at.node, probe)
        right = nearness(tree, root + 2 * at.node + 1, probe)
        if left > far and right > far:
            at = climb(tree, root, at, probe, far)
        else:
            at.waiting = 2 * at.waiting + wp.where(left <= far and right <= far, 1, 0)
            at.node = 2 * at.node + wp.where(right < left, 1, 0)
    return at
