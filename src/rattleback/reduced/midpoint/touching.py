"""How the touching bodies of trees answer to each other: the blocks of M⁻¹ that a contact problem needs.

    R_ij = J_i (Sᵀ M S)⁻¹ J_jᵀ,    (v, ω)_i ← (v, ω)_i + R_ij (f, m)_j

J_i the Jacobian of the centre of mass of body i by the rates of its tree; S, M as in ``fitting``; f, m impulse and
angular impulse on body j. With these blocks a sweep over contacts answers through the trees at once, and the trees are
swept again only when a solution is found.

    list the bodies that touch, and the links that lead to them
    for each such body, six unit impulses at once:  inwards to the root, what freedoms do not take;
    outwards, along the links that lead to bodies that come before it in the tree;  R_ji = R_ijᵀ
Cost: for each touching body a pass of 6 × 6 blocks over its path and over half of the links of the others. Use it for
few touching bodies; beyond ``MOST`` of a world contacts are answered to by one substitution a sweep.

Reference: Featherstone, Rigid Body Dynamics Algorithms, §7.3; Wensing, Featherstone, Orin, A reduced-order recursive
algorithm for the computation of the operational-space inertia matrix, 2012.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real, vec3
from rattleback.core.stages import Program
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.placing import BALL_LINK, FREE_LINK
from rattleback.reduced.midpoint.sweeps import is_single, own_way

# Most touching bodies of a world.
MOST = 24


@group(axis="places")
class Touching:
    """The touching bodies of every world, at most ``room`` of each, and how they answer to each other."""

    body: wp.int32 = field("1", "row of a body, in the order of links")
    link: wp.int32 = field("1", "link of its world that ends in it")
    push: vec3 = field("N s", "impulse on it by the solution")
    twist: vec3 = field("N m s", "angular impulse on it by the solution")
    start: vec3 = field("m/s", "its velocity before")
    spin: vec3 = field("rad/s", "its angular velocity before")
    way_push: mat33 = field("1/kg", "velocity of the second body of a pair by an impulse on the first", axis="pairs")
    way_twist: mat33 = field("1/(kg m)", "velocity by an angular impulse", axis="pairs")
    turn_push: mat33 = field("1/(kg m)", "angular velocity by an impulse", axis="pairs")
    turn_twist: mat33 = field("1/(kg m²)", "angular velocity by an angular impulse", axis="pairs")
    place: wp.int32 = field("1", "place of a body of a tree in its world; −1 apart, −2 in no tree", axis="bodies")
    count: wp.int32 = field("1", "touching bodies of trees; −1 where there is no room for them", axis="worlds")
    fresh: wp.int32 = field("1", "1 or more where the blocks are those of contacts and factor", axis="worlds")


@group(axis="links")
class Spread:
    """Six unit impulses at once on their way through the trees, as the columns of matrices."""

    needed: wp.int32 = field("1", "1 where a link leads to a touching body")
    passed: wp.int32 = field("1", "the last touching body whose impulses it has passed on, counted from one")
    line_push: vec3 = field("1 or m", "what its one freedom takes of unit impulses")
    line_twist: vec3 = field("1 or 0", "of unit angular impulses")
    want_push: mat33 = field("m", "what its three freedoms take of unit impulses")
    want_twist: mat33 = field("1", "of unit angular impulses")
    turn_push: mat33 = field("1/(kg m)", "angular velocity by unit impulses")
    turn_twist: mat33 = field("1/(kg m²)", "by unit angular impulses")
    way_push: mat33 = field("1/kg", "velocity at its joint by unit impulses")
    way_twist: mat33 = field("1/(kg m)", "by unit angular impulses")


@wp.func
def room_of(touching: Touching) -> int:
    """Most touching bodies of a world."""
    return touching.body.shape[0] // touching.count.shape[0]


@wp.struct
class Columns:
    """Six wrenches, or six twists: by unit impulses and by unit angular impulses."""

    turn_push: mat33
    turn_twist: mat33
    way_push: mat33
    way_twist: mat33


@wp.func
def take_up(trees: Trees, spread: Spread, link: int, k: int, p: Columns) -> Columns:
    """What the freedoms of a link take of six wrenches, which is stored, and what is left of them."""
    step = trees.step
    kind = trees.links.kind[link]
    if is_single(kind):
        s = step.s_turn[k]
        y = own_way(trees, link, k)
        by_push = s * p.turn_push + y * p.way_push
        by_twist = s * p.turn_twist + y * p.way_twist
        spread.line_push[k] = by_push
        spread.line_twist[k] = by_twist
        a = step.give[k] * step.u_turn[k]
        b = step.give[k] * step.u_way[k]
        p.turn_push -= wp.outer(a, by_push)
        p.turn_twist -= wp.outer(a, by_twist)
        p.way_push -= wp.outer(b, by_push)
        p.way_twist -= wp.outer(b, by_twist)
    elif kind == BALL_LINK:
        spread.want_push[k] = p.turn_push
        spread.want_twist[k] = p.turn_twist
        across = step.block_way[k] * step.inverse[k]
        p.way_push -= across * p.turn_push
        p.way_twist -= across * p.turn_twist
        p.turn_push = mat33()
        p.turn_twist = mat33()
    return p


@wp.func
def root_answer(trees: Trees, link: int, k: int, p: Columns) -> Columns:
    """The six twists of what carries a tree: what moves freely takes all that is left, what is held does not move."""
    found = Columns()
    if trees.links.kind[link] == FREE_LINK:
        step = trees.step
        across = step.block_turn[k]
        back = wp.transpose(across)
        found.turn_push = step.inverse[k] * p.turn_push - across * p.way_push
        found.turn_twist = step.inverse[k] * p.turn_twist - across * p.way_twist
        found.way_push = step.block_way[k] * p.way_push - back * p.turn_push
        found.way_twist = step.block_way[k] * p.way_twist - back * p.turn_twist
    return found


@wp.func
def pass_in(trees: Trees, spread: Spread, link: int, w: int, mark: int) -> Columns:
    """Unit impulses on the body of a link, inwards to the root of its tree, and the six twists there."""
    step = trees.step
    first = w * int(trees.count)
    at = int(link)
    k = int(first + link)
    p = Columns()
    p.turn_push = wp.skew(step.frame[k] * trees.links.body_way[k])
    p.turn_twist = wp.identity(n=3, dtype=real)
    p.way_push = wp.identity(n=3, dtype=real)
    while trees.links.parent[at] >= 0:
        spread.passed[k] = mark
        p = take_up(trees, spread, at, k, p)
        far = wp.skew(step.x[k] - step.x[first + trees.links.parent[at]])
        p.turn_push += far * p.way_push
        p.turn_twist += far * p.way_twist
        at = trees.links.parent[at]
        k = first + at
    spread.passed[k] = mark
    if trees.links.kind[at] != FREE_LINK:
        p = take_up(trees, spread, at, k, p)
    return root_answer(trees, at, k, p)


@wp.func
def carry_out(trees: Trees, spread: Spread, link: int, k: int, mark: int) -> Columns:
    """The six twists of a link, of those of its parent."""
    step = trees.step
    kind = trees.links.kind[link]
    p = trees.links.parent[link]
    a = Columns()
    if p >= 0:
        m = k - link + p
        a.turn_push = spread.turn_push[m]
        a.turn_twist = spread.turn_twist[m]
        far = wp.skew(step.x[k] - step.x[m])
        a.way_push = spread.way_push[m] - far * a.turn_push
        a.way_twist = spread.way_twist[m] - far * a.turn_twist
    on_way = spread.passed[k] == mark
    if is_single(kind):
        s = step.s_turn[k]
        y = own_way(trees, link, k)
        by_push = -(step.u_turn[k] * a.turn_push + step.u_way[k] * a.way_push)
        by_twist = -(step.u_turn[k] * a.turn_twist + step.u_way[k] * a.way_twist)
        if on_way:
            by_push += spread.line_push[k]
            by_twist += spread.line_twist[k]
        by_push *= step.give[k]
        by_twist *= step.give[k]
        a.turn_push += wp.outer(s, by_push)
        a.turn_twist += wp.outer(s, by_twist)
        a.way_push += wp.outer(y, by_push)
        a.way_twist += wp.outer(y, by_twist)
    elif kind == BALL_LINK:
        back = wp.transpose(step.block_way[k])
        of_push = -(step.block_turn[k] * a.turn_push + back * a.way_push)
        of_twist = -(step.block_turn[k] * a.turn_twist + back * a.way_twist)
        if on_way:
            of_push += spread.want_push[k]
            of_twist += spread.want_twist[k]
        a.turn_push += step.inverse[k] * of_push
        a.turn_twist += step.inverse[k] * of_twist
    return a


@wp.func
def store_pair(touching: Touching, one: int, two: int, a: Columns, c: mat33) -> None:
    """The answer of a body with its centre of mass at an arm from the joint of its link, and of the pair reversed."""
    a.way_push -= c * a.turn_push
    a.way_twist -= c * a.turn_twist
    touching.way_push[one] = a.way_push
    touching.way_twist[one] = a.way_twist
    touching.turn_push[one] = a.turn_push
    touching.turn_twist[one] = a.turn_twist
    if two != one:
        touching.way_push[two] = wp.transpose(a.way_push)
        touching.way_twist[two] = wp.transpose(a.turn_push)
        touching.turn_push[two] = wp.transpose(a.way_twist)
        touching.turn_twist[two] = wp.transpose(a.turn_twist)


@wp.func
def answer_to(trees: Trees, spread: Spread, touching: Touching, w: int, j: int) -> None:
    """How the touching bodies up to the one at place j answer to impulses on that."""
    room = room_of(touching)
    first = w * int(trees.count)
    last = touching.link[w * room + j]
    root = trees.links.root[last]
    at_root = pass_in(trees, spread, last, w, j + 1)
    i = int(0)
    for link in range(last + 1):
        k = first + link
        if spread.needed[k] == 0:
            continue
        here = trees.links.root[link] == root
        a = Columns()
        if here:
            if link == root and trees.links.kind[link] == FREE_LINK:
                a = at_root
            else:
                a = carry_out(trees, spread, link, k, j + 1)
            spread.turn_push[k] = a.turn_push
            spread.turn_twist[k] = a.turn_twist
            spread.way_push[k] = a.way_push
            spread.way_twist[k] = a.way_twist
        if i <= j and touching.link[w * room + i] == link:
            one = (w * room + j) * room + i
            two = (w * room + i) * room + j
            store_pair(touching, one, two, a, wp.skew(trees.step.frame[k] * trees.links.body_way[k]))
            i += 1


@wp.func
def list_touching(trees: Trees, spread: Spread, touching: Touching, w: int) -> int:
    """The touching bodies of a world in the order of links, and the links that lead to them; their number."""
    room = room_of(touching)
    first = w * int(trees.count)
    n = int(0)
    for link in range(int(trees.count)):
        spread.needed[first + link] = 0
        spread.passed[first + link] = 0
        body = trees.links.body[link]
        if body < 0:
            continue
        i = w * int(trees.body_count) + body
        if touching.place[i] < 0:
            continue
        if n == room:
            return -1
        touching.place[i] = n
        touching.body[w * room + n] = i
        touching.link[w * room + n] = link
        n += 1
        at = int(link)
        while at >= 0 and spread.needed[first + wp.max(at, 0)] == 0:
            spread.needed[first + at] = 1
            at = trees.links.parent[at]
    return n


@kernel
def answer_touching(trees: Trees, spread: Spread, touching: Touching, which: wp.array[wp.int32]) -> None:
    """How the touching bodies of a world answer to each other, where that is not known."""
    w = wp.tid()
    if which[w] == 0 or touching.fresh[w] > 0:
        return
    touching.fresh[w] = 1
    n = list_touching(trees, spread, touching, w)
    touching.count[w] = n
    for j in range(n):
        answer_to(trees, spread, touching, w, j)


@kernel
def forget_answers(touching: Touching, which: wp.array[wp.int32]) -> None:
    """The factor is another, in the worlds where ``which`` is 1."""
    if which[wp.tid()] == 1:
        touching.fresh[wp.tid()] = 0


class TouchingAnswers:
    """Records how touching bodies of trees answer to each other.

    Attributes:
        touching: What is known of them.
        room: Most touching bodies of a world.

    Args:
        trees: The trees, with their factor.
        bodies: Bodies of a world that trees move.
        worlds: Number of worlds.
    """

    def __init__(self, trees: Trees, bodies: Collection[int], worlds: int) -> None:
        device, self.trees, self.room = trees.links.kind.device, trees, min(len(bodies), MOST)
        places, count = self.room * worlds, int(trees.body_count)
        counts = {
            "places": places,
            "pairs": places * self.room,
            "bodies": count * worlds,
            "worlds": worlds,
            "contacts": 4096,
        }
        self.touching: Any = arrays.allocate(Touching, counts, device)
        self.spread: Any = arrays.allocate(Spread, {"links": int(trees.count) * worlds}, device)
        place = np.array([-1 if i in bodies else -2 for i in range(count)], dtype=np.int32)
        self.touching.place.assign(np.tile(place, worlds))

    def record(self, program: Program, which: Any) -> None:
        """Record that the answers are found in the worlds where ``which`` is 1, if they are not known."""
        program.launch(answer_touching, len(which), self.trees, self.spread, self.touching, which)

    def record_forget(self, program: Program, which: Any) -> None:
        """Record that the factor is another, in the worlds where ``which`` is 1."""
        program.launch(forget_answers, len(which), self.touching, which)
