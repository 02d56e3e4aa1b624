"""The order of a block elimination as arrays: what each column takes from those before it, and which may go at once.

Every list is that of one world. A block (i, j) takes Y_ik A_jkᵀ from every column k before j that has both i and j
below its diagonal. Columns of the same level take nothing from each other.
"""

from itertools import accumulate
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.maths.block_sparse import Pattern
from rattleback.problem.delassus import Delassus
from rattleback.problem.joint_rows import JointRows


@group(axis="columns")
class Elimination:
    """Columns in the order of elimination, their blocks, and where these take from."""

    diagonal: wp.int32 = field("1", "block on the diagonal of a column")
    count: wp.int32 = field("1", "number of its blocks below the diagonal, which follow that one")
    first_before: wp.int32 = field("1", "first of the blocks of earlier columns in the row of this one")
    befores: wp.int32 = field("1", "their number")
    before: wp.int32 = field("1", "such a block", axis="befores")
    scheduled: wp.int32 = field("1", "columns level by level")
    row: wp.int32 = field("1", "joint of a block's rows", axis="blocks")
    column: wp.int32 = field("1", "joint of its columns", axis="blocks")
    at: wp.int32 = field("1", "where its entries start", axis="blocks")
    first_source: wp.int32 = field("1", "first product it takes", axis="blocks")
    sources: wp.int32 = field("1", "number of them", axis="blocks")
    left: wp.int32 = field("1", "block of Y_ik of a product", axis="sources")
    right: wp.int32 = field("1", "block of A_jk of it", axis="sources")
    through: wp.int32 = field("1", "joint k of it", axis="sources")
    first: wp.int32 = field("1", "first column of an independent part", axis="chains")
    length: wp.int32 = field("1", "number of its columns", axis="chains")
    inverted: wp.int32 = field("1", "1 where a joint's diagonal block is kept as its inverse", axis="joints")
    dropped: wp.int32 = field("1", "rows of a joint left out because others imply them", axis="joints")


def levels(pattern: Pattern) -> list[tuple[int, int]]:
    """First column and number of columns of every level, in the order of ``scheduled``."""
    count = np.bincount(_level_of(pattern))
    return list(zip((np.cumsum(count) - count).tolist(), count.tolist(), strict=True))


def _level_of(pattern: Pattern) -> list[int]:
    """How many columns in a row have to be done before each one."""
    level = dict.fromkeys(pattern.order, 0)
    for joint, column in zip(pattern.order, pattern.columns, strict=True):
        for k in column:
            above = pattern.blocks[k][0]
            level[above] = max(level[above], level[joint] + 1)
    return [level[joint] for joint in pattern.order]


def make_elimination(problem: JointRows, delassus: Delassus) -> Elimination:
    """The lists of an elimination, on the model's device."""
    pattern, worlds = delassus.pattern, problem.model.worlds
    starts = delassus.starts.tolist()
    lists: dict[str, Any] = {
        "row": [i for i, _ in pattern.blocks],
        "column": [j for _, j in pattern.blocks],
        "at": starts,
        "length": pattern.chains,
        "first": _starts(pattern.chains),
        "count": [len(column) for column in pattern.columns],
        "scheduled": np.argsort(_level_of(pattern), kind="stable"),
        "dropped": np.zeros(len(problem.names) * worlds),
        "inverted": np.zeros(len(problem.names) * worlds),
        **_rows(pattern),
        **_sources(pattern),
    }
    lists["diagonal"] = _starts([n + 1 for n in lists["count"]])
    axes = ("columns", "befores", "blocks", "sources", "chains", "joints")
    of = {"columns": "count", "befores": "before", "blocks": "row", "sources": "left", "chains": "first"}
    counts = {axis: len(lists[of.get(axis, "dropped")]) for axis in axes}
    made = arrays.allocate(Elimination, counts, problem.model.device)
    arrays.write(made, {name: np.asarray(values, dtype=np.int32) for name, values in lists.items()}, "the elimination")
    return made


def _starts(lengths: list[int]) -> list[int]:
    return [0, *accumulate(lengths)][:-1]


def _rows(pattern: Pattern) -> dict[str, list[int]]:
    """For every column the blocks in its row, to the left of its diagonal."""
    found: dict[int, list[int]] = {joint: [] for joint in pattern.order}
    for column in pattern.columns:
        for k in column:
            found[pattern.blocks[k][0]].append(k)
    rows = [found[joint] for joint in pattern.order]
    befores = [len(row) for row in rows]
    return {"before": [k for row in rows for k in row], "befores": befores, "first_before": _starts(befores)}


def _sources(pattern: Pattern) -> dict[str, list[int]]:
    """For every block the products it takes."""
    number = {pair: k for k, pair in enumerate(pattern.blocks)}
    found: list[list[tuple[int, int, int]]] = [[] for _ in pattern.blocks]
    for joint, column in zip(pattern.order, pattern.columns, strict=True):
        for place, k in enumerate(column):
            for m in column[: place + 1]:
                goal = number[(pattern.blocks[k][0], pattern.blocks[m][0])]
                found[goal].append((k, m, joint))
    sources = [len(products) for products in found]
    flat = [product for products in found for product in products]
    named = {name: [product[place] for product in flat] for place, name in enumerate(("left", "right", "through"))}
    return {**named, "sources": sources, "first_source": _starts(sources)}
