"""Dense symmetric systems of any size, factored panel by panel, many at once.

    A = L D Lᵀ,   Y = L D kept below the diagonal,   A positive semidefinite, m × m

A pivot that elimination has brought down to its ``least`` belongs to an equation that the others imply; it is left out
and its unknown is zero.

    for each panel of 32 columns: factor its own block; then the rows below it; then A_ij −= Σ Y_ik D_k⁻¹ Y_jk beyond
Cost: m³/6 multiplications and m² numbers for each system. The part beyond the panel, nearly all of it, is done by a
thread for each entry.

Reference: Golub and Van Loan, Matrix Computations, §4.2 (blocked Cholesky).
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.stages import Program

PANEL = 32


@group(axis="unknowns")
class DenseSystems:
    """Systems of the same size, one after the other."""

    value: real = field("1", "entry of a matrix, row by row; of its factor once that is made", axis="entries")
    inverse: real = field("1", "inverse pivot of an unknown; zero where it is left out")
    least: real = field("1", "smallest pivot it may have")
    dropped: wp.int32 = field("1", "1 where it is left out though its equation is not empty")
    x: real = field("1", "right-hand side, then solution")
    partial: real = field("1", "sum that the last substitution makes")


@kernel
def factor_panel(systems: DenseSystems, size: int, first: int, which: wp.array[wp.int32]) -> None:
    """The block on the diagonal of a panel."""
    s = wp.tid()
    if which[s] == 0:
        return
    base = s * size * size
    end = wp.min(first + PANEL, size)
    for k in range(first, end):
        pivot = systems.value[base + k * size + k]
        least = systems.least[s * size + k]
        inverse = real(0.0)
        dropped = int(0)
        if pivot > least:
            inverse = real(1.0) / pivot
        elif least > real(0.0):
            dropped = 1
        systems.inverse[s * size + k] = inverse
        systems.dropped[s * size + k] = dropped
        for i in range(k + 1, end):
            f = systems.value[base + i * size + k] * inverse
            for j in range(k + 1, i + 1):
                at = base + i * size + j
                systems.value[at] = systems.value[at] - f * systems.value[base + j * size + k]


@kernel
def factor_below(systems: DenseSystems, size: int, first: int, which: wp.array[wp.int32]) -> None:
    """One row below a panel."""
    end = wp.min(first + PANEL, size)
    rows = size - end
    s = wp.tid() // rows
    if which[s] == 0:
        return
    base = s * size * size
    row = base + (end + wp.tid() % rows) * size
    for k in range(first, end):
        y = systems.value[row + k]
        for q in range(first, k):
            y -= systems.value[row + q] * systems.inverse[s * size + q] * systems.value[base + k * size + q]
        systems.value[row + k] = y


@kernel
def reduce_beyond(systems: DenseSystems, size: int, first: int, which: wp.array[wp.int32]) -> None:
    """One entry beyond a panel."""
    end = wp.min(first + PANEL, size)
    rows = size - end
    s = wp.tid() // (rows * rows)
    i = end + (wp.tid() // rows) % rows
    j = end + wp.tid() % rows
    if j > i or which[s] == 0:
        return
    left = s * size * size + i * size
    right = s * size * size + j * size
    total = real(0.0)
    for k in range(first, end):
        total += systems.value[left + k] * systems.inverse[s * size + k] * systems.value[right + k]
    systems.value[left + j] = systems.value[left + j] - total


@kernel
def substitute(systems: DenseSystems, size: int, which: wp.array[wp.int32]) -> None:
    """The solution of one system, in the place of its right-hand side; both ways along the rows of the factor."""
    s = wp.tid()
    if which[s] == 0:
        return
    own = s * size
    for i in range(size):
        row = (own + i) * size
        total = systems.x[own + i]
        for j in range(i):
            total -= systems.value[row + j] * systems.x[own + j]
        # D⁻¹ at once, as the rows hold L D.
        systems.x[own + i] = total * systems.inverse[own + i]
        systems.partial[own + i] = real(0.0)
    for back in range(size):
        i = size - 1 - back
        row = (own + i) * size
        x = systems.x[own + i] - systems.inverse[own + i] * systems.partial[own + i]
        systems.x[own + i] = x
        for j in range(i):
            systems.partial[own + j] = systems.partial[own + j] + systems.value[row + j] * x


@dataclass(frozen=True)
class DenseFactor:
    """The factors of dense systems.

    Attributes:
        systems: The systems.
        size: Unknowns of each.
        count: Number of systems.
    """

    systems: Any
    size: int
    count: int

    def record_factor(self, program: Program, which: Any) -> None:
        """Record the factorisation of the systems where ``which`` is 1; their lower triangles have been written."""
        given = (self.systems, self.size)
        for first in range(0, self.size, PANEL):
            rows = max(self.size - first - PANEL, 0)
            program.launch(factor_panel, self.count, *given, first, which)
            program.launch(factor_below, self.count * rows, *given, first, which)
            program.launch(reduce_beyond, self.count * rows * rows, *given, first, which)

    def record_solution(self, program: Program, which: Any) -> None:
        """Record the solutions ``x`` of the systems where ``which`` is 1."""
        program.launch(substitute, self.count, self.systems, self.size, which)


def make_dense_factor(size: int, count: int, device: Any) -> DenseFactor:
    """Room for systems of one size.

    Args:
        size: Unknowns of each.
        count: Number of systems.
        device: Warp device.
    """
    counts = {"unknowns": size * count, "entries": size * size * count}
    return DenseFactor(arrays.allocate(DenseSystems, counts, device), size, count)
