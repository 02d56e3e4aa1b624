"""The pattern of an implicit step: bodies and hard joints as nodes of 6 × 6 blocks, and the order of their elimination.

    A = L U,   nodes eliminated in order, the neighbours of a node joined to each other

Two bodies are neighbours where a soft joint is between them, a hard joint and a body where it holds that. A hard joint
has no block of its own on the diagonal, so it waits until its bodies are gone: then it has what is left of J H⁻¹ Jᵀ,
where rows that others imply show. Of the nodes that may go, the one that joins the fewest others anew goes first; on a
tree the number of blocks grows with that of bodies and joints.

Reference: Baraff, Linear-time dynamics using Lagrange multipliers, 1996; George and Liu, Computer Solution of Large
Sparse Positive Definite Systems, chapter 5.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.maths.small_solve import mat66, vec6
from rattleback.problem.joint_rows import JointRows

# Blocks of a joint: of its bodies by each other, of the joint by its bodies, and of those by the joint.
PLACES = ("aa", "ab", "ba", "bb", "ja", "jb", "aj", "bj", "jj")


@group(axis="joints")
class Places:
    """Where the blocks of a joint of one world are; −1 where it has none."""

    aa: wp.int32 = field("1", "block of A by itself")
    ab: wp.int32 = field("1", "block of A by B")
    ba: wp.int32 = field("1", "block of B by A")
    bb: wp.int32 = field("1", "block of B by itself")
    ja: wp.int32 = field("1", "block of the joint by A")
    jb: wp.int32 = field("1", "block of the joint by B")
    aj: wp.int32 = field("1", "block of A by the joint")
    bj: wp.int32 = field("1", "block of B by the joint")
    jj: wp.int32 = field("1", "block of the joint by itself")
    node: wp.int32 = field("1", "node of the joint")


@group(axis="nodes")
class Order:
    """The elimination, for one world: nodes by their place, and the products that each makes."""

    diagonal: wp.int32 = field("1", "block on the diagonal of the node that goes in this place")
    joint: wp.int32 = field("1", "joint of the node; −1 for a body")
    first: wp.int32 = field("1", "its first neighbour that goes later")
    count: wp.int32 = field("1", "number of those")
    first_product: wp.int32 = field("1", "its first product")
    products: wp.int32 = field("1", "number of its products")
    later: wp.int32 = field("1", "place of the neighbour", axis="neighbours")
    lower: wp.int32 = field("1", "block of the neighbour by the node", axis="neighbours")
    upper: wp.int32 = field("1", "block of the node by the neighbour", axis="neighbours")
    left: wp.int32 = field("1", "block below the diagonal", axis="products")
    right: wp.int32 = field("1", "block right of it", axis="products")
    target: wp.int32 = field("1", "block their product is taken from", axis="products")


@group(axis="nodes")
class Unknowns:
    """The system of all worlds: blocks, right-hand side, solution."""

    value: mat66 = field("kg, kg m, kg m²", "block; of the factors once they are made", axis="blocks")
    right: vec6 = field("N s, N m s, m or rad", "right-hand side, then solution")


@dataclass(frozen=True)
class Layout:
    """The pattern of one world.

    Attributes:
        places: Where the blocks of the joints are.
        bodies: Node of each body, in its place of elimination; −1 for one that nothing moves (bodies,).
        diagonal: Block on the diagonal of each body, −1 the same (bodies,).
        order: The elimination.
        nodes: Number of nodes.
        blocks: Number of blocks.
        fill: Number of blocks that are zero before the elimination.
    """

    places: Any
    bodies: Any
    diagonal: Any
    order: Any
    nodes: int
    blocks: int
    fill: int


def make_layout(problem: JointRows, hard: np.ndarray) -> Layout:
    """The pattern of a model.

    Args:
        problem: Its joints as rows.
        hard: Number of rows of each joint that hold (joints of one world,).
    """
    model, count = problem.model, len(problem.model.names)
    moving = set(np.flatnonzero(model.bodies.inverse_mass.numpy()[:count] > 0.0).tolist())
    pairs = [tuple(body if body in moving else -1 for body in pair) for pair in problem.pairs.tolist()]
    edges = _edges(pairs, hard, count)
    nodes = sorted(moving | {count + j for j in np.flatnonzero(hard).tolist() if max(pairs[j]) >= 0})
    order, below = _eliminate(nodes, edges, {node for node in nodes if node >= count}, moving)
    place = {node: k for k, node in enumerate(order)}
    block = {(node, node): k for k, node in enumerate(order)}
    for node in order:
        for other in below[node]:
            for pair in ((other, node), (node, other)):
                block.setdefault(pair, len(block))
    found = _places(pairs, hard, count, block, place)
    device = model.device
    places: Any = arrays.allocate(Places, {"joints": len(pairs)}, device)
    arrays.write(places, {name: np.array(column, dtype=np.int32) for name, column in found.items()}, "the places")
    bodies = wp.array([place.get(i, -1) for i in range(count)], dtype=wp.int32, device=device)
    diagonal = wp.array([block.get((i, i), -1) for i in range(count)], dtype=wp.int32, device=device)
    original = {(i, j) for i, j in edges}
    fill = len(block) - len(order) - 2 * len(original)
    elimination = _order(order, below, block, place, count, device)
    return Layout(places, bodies, diagonal, elimination, len(order), len(block), fill)


def _edges(pairs: list[tuple[int, ...]], hard: np.ndarray, count: int) -> set[tuple[int, int]]:
    """Neighbours: two bodies of any joint, since the forces of hard rows turn with them, and hard joints with both."""
    found = {(min(pair), max(pair)) for pair in pairs if min(pair) >= 0}
    held = np.flatnonzero(hard).tolist()
    return found | {(body, count + j) for j in held for body in pairs[j] if body >= 0}


def _eliminate(
    nodes: list[int], edges: set[tuple[int, int]], waiting: set[int], moving: set[int]
) -> tuple[list[int], dict[int, list[int]]]:
    """The order, and the neighbours of each node that go after it."""
    around: dict[int, set[int]] = {node: set() for node in nodes}
    for i, j in edges:
        around[i].add(j)
        around[j].add(i)
    held = {node: around[node] & moving for node in waiting}
    order, below, free = [], {}, {node for node in nodes if node not in waiting}

    def key(node: int) -> tuple[int, int, int]:
        missing = sum(len(around[node] - around[other]) - 1 for other in around[node]) // 2
        return missing, len(around[node]), node

    keys = {node: key(node) for node in free}
    while keys:
        node = min(keys, key=keys.__getitem__)
        del keys[node]
        order.append(node)
        below[node] = sorted(around[node])
        touched = set(below[node])
        for other in below[node]:
            around[other] |= around[node] - {other}
            around[other].discard(node)
            touched |= around[other]
        released = {other for other in touched & waiting if not held[other] & keys.keys()}
        waiting -= released
        for other in (touched & keys.keys()) | released:
            keys[other] = key(other)
    return order, below


def _places(
    pairs: list[tuple[int, ...]],
    hard: np.ndarray,
    count: int,
    block: dict[tuple[int, int], int],
    place: dict[int, int],
) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {name: [] for name in (*PLACES, "node")}
    for j, (a, b) in enumerate(pairs):
        node = count + j if hard[j] and max(a, b) >= 0 else -1
        ends = {"a": a, "b": b, "j": node}
        for name in PLACES:
            pair = (ends[name[0]], ends[name[1]])
            found[name].append(block[pair] if min(pair) >= 0 else -1)
        found["node"].append(place.get(node, -1))
    return found


def _order(
    order: list[int],
    below: dict[int, list[int]],
    block: dict[tuple[int, int], int],
    place: dict[int, int],
    count: int,
    device: Any,
) -> Any:
    columns: dict[str, list[int]] = {name: [] for name in arrays.fields(Order)}
    for node in order:
        columns["diagonal"].append(block[node, node])
        columns["joint"].append(node - count if node >= count else -1)
        columns["first"].append(len(columns["later"]))
        columns["count"].append(len(below[node]))
        columns["first_product"].append(len(columns["target"]))
        columns["products"].append(len(below[node]) ** 2)
        for i in below[node]:
            columns["later"].append(place[i])
            columns["lower"].append(block[i, node])
            columns["upper"].append(block[node, i])
            for k in below[node]:
                columns["left"].append(block[i, node])
                columns["right"].append(block[node, k])
                columns["target"].append(block[i, k])
    sizes = {"nodes": len(order), "neighbours": len(columns["later"]), "products": len(columns["target"])}
    made: Any = arrays.allocate(Order, sizes, device)
    arrays.write(made, {name: np.array(column, dtype=np.int32) for name, column in columns.items()}, "the order")
    return made
