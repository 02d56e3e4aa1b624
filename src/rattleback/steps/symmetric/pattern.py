"""The pattern of the equations of joints: their order of elimination, what it fills in, and which joints share a body.

    joints i, j are coupled where they share a body that moves;  eliminating one couples all it is coupled to

The joint with the fewest neighbours goes next, so that leaves of trees come before what they hang on: chains and trees
fill in nothing, and loops little. The rows of a joint follow each other. All worlds have the same pattern.

Reference: Golub and Van Loan, Matrix Computations, §11.1.9 (minimum degree).
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.problem.delassus import AA, AB, BA, BB
from rattleback.problem.joint_rows import JointRows


@group(axis="rows")
class Pattern:
    """The equations of a world: their order of elimination, what it fills in, and which joints share a body."""

    place: wp.int32 = field("1", "equation of a row")
    row: wp.int32 = field("1", "row of an equation")
    first: wp.int32 = field("1", "first of the later equations that one is coupled to")
    count: wp.int32 = field("1", "number of these")
    later: wp.int32 = field("1", "later equations", axis="couplings")
    one: wp.int32 = field("1", "joint of a pair that shares a body", axis="pairs")
    other: wp.int32 = field("1", "the other joint", axis="pairs")
    shared: wp.int32 = field("1", "which ends they share, as bits", axis="pairs")


def make_pattern(problem: JointRows) -> Any:
    """The pattern of one world."""
    bits = _shared_ends(problem)
    one, other = np.nonzero(bits)
    columns = _elimination(_eliminated(bits > 0), problem.counts)
    columns |= {"one": one, "other": other, "shared": bits[one, other]}
    sizes = {"rows": len(columns["row"]), "couplings": len(columns["later"]), "pairs": len(one)}
    found = arrays.allocate(Pattern, sizes, problem.model.device)
    arrays.write(found, {name: column.astype(np.int32) for name, column in columns.items()}, "the pattern")
    return found


def _shared_ends(problem: JointRows) -> np.ndarray:
    """Which ends of two joints are the same body that moves, as bits (joints, joints)."""
    model, count = problem.model, len(problem.names)
    ends = [problem.joints.body_a.numpy()[:count], problem.joints.body_b.numpy()[:count]]
    masses = np.append(model.bodies.inverse_mass.numpy()[: len(model.names)], 0.0)
    a, b = (np.where((end >= 0) & (masses[end] > 0.0), end, -1) for end in ends)
    found = np.zeros((count, count), dtype=np.int64)
    for bit, one, other in ((AA, a, a), (AB, a, b), (BA, b, a), (BB, b, b)):
        found += bit * ((one[:, None] == other[None]) & (one[:, None] >= 0))
    return found


def _eliminated(shares: np.ndarray) -> list[tuple[int, list[int]]]:
    """The joints in the order of elimination, fewest neighbours first, each with the later ones it is coupled to."""
    neighbours = {j: set(np.flatnonzero(line).tolist()) - {j} for j, line in enumerate(shares)}
    found = []
    while neighbours:
        j = min(neighbours, key=lambda k: (len(neighbours[k]), k))
        near = neighbours.pop(j)
        for i in near:
            neighbours[i] = (neighbours[i] | near) - {i, j}
        found.append((j, sorted(near)))
    return found


def _elimination(order: list[tuple[int, list[int]]], counts: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a pattern that say in which order rows are eliminated, and what each is coupled to."""
    first, none = np.cumsum(counts) - counts, np.zeros(0, dtype=np.int64)
    rows = np.concatenate([none, *(first[j] + np.arange(counts[j]) for j, _ in order)])
    place, lists = np.argsort(rows), []
    for j, coupled in order:
        own = place[first[j] : first[j] + counts[j]]
        others = np.concatenate([none, *(place[first[i] : first[i] + counts[i]] for i in coupled)])
        lists += [np.sort(np.concatenate([own[k + 1 :], others])) for k in range(len(own))]
    sizes = np.array([len(entries) for entries in lists], dtype=np.int64)
    later = np.concatenate([none, *lists])
    return {"place": place, "row": rows, "first": np.cumsum(sizes) - sizes, "count": sizes, "later": later}
