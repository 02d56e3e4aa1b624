"""Sums of counts in plain kernels: where each row of a list begins.

    values[k] ← Σ values[i], i < k        values[count] ← Σ values[i], all i

In order on a CPU. On CUDA, blocks are added up side by side, their totals likewise level by level, and every entry is
raised by what lies before its block. Whole numbers: the result does not depend on the order.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel

# Entries one thread adds up in order.
BLOCK = wp.constant(64)


@kernel
def add_up_serially(values: wp.array[wp.int32], count: int) -> None:
    """Replace counts by the sum of those before, in order; entry ``count`` becomes the sum of all."""
    total = int(0)
    for k in range(count):
        value = values[k]
        values[k] = total
        total = total + value
    values[count] = total


@kernel
def add_up_blocks(values: wp.array[wp.int32], count: int, blocks: wp.array[wp.int32]) -> None:
    """Replace counts by the sum of those before in their block."""
    block = wp.tid()
    total = int(0)
    for k in range(block * BLOCK, wp.min(block * BLOCK + BLOCK, count)):
        value = values[k]
        values[k] = total
        total = total + value
    blocks[block] = total


@kernel
def raise_blocks(values: wp.array[wp.int32], count: int, blocks: wp.array[wp.int32], many: int) -> None:
    """Add the sum of all blocks before to every entry; entry ``count`` becomes the sum of all."""
    k = wp.tid()
    if k == count:
        values[k] = blocks[many]
    else:
        values[k] = values[k] + blocks[k // BLOCK]


class Sum:
    """Sums of counts: ``values[k]`` becomes Σ values[i], i < k, and ``values[count]`` the sum of all.

    Args:
        values: The counts, with one more entry.
        count: Their number.
        device: Warp device; on CUDA, levels of blocks are added up, since one thread would take too long.
    """

    def __init__(self, values: Any, count: int, device: Any) -> None:
        self.values, self.count = values, count
        self.levels: list[tuple[Any, int, Any, int]] = []
        while not device.is_cpu and count > int(BLOCK):
            many = -(-count // int(BLOCK))
            blocks = wp.zeros(many + 1, dtype=wp.int32, device=values.device)
            self.levels.append((values, count, blocks, many))
            values, count = blocks, many
        self.top = (values, count)

    def record(self, program: Any) -> None:
        """Record the launches."""
        for values, count, blocks, many in self.levels:
            program.launch(add_up_blocks, many, values, count, blocks)
        program.launch(add_up_serially, 1, *self.top)
        for values, count, blocks, many in reversed(self.levels):
            program.launch(raise_blocks, count + 1, values, count, blocks, many)
