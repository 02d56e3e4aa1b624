"""Schemes: into which parts a step is divided, how often, and how the results are put together.

    y(t + H) ≈ Σ_r w_r y_r,      error ≈ |Σ_r d_r y_r|,      y_r = Φ_{γ_s H} ∘ … ∘ Φ_{γ_1 H} y(t)

Φ a symmetric step of order two, whose error has even powers of the step alone; H the step, γ the parts of run r, w
weights that sum up to 1, d those of the error estimate, which sum up to 0.

Extrapolation takes runs of n = 1, 2, …, k equal parts; its weights cancel the powers H², H⁴, … H^(2k−2):

    w_n = Π_{m ≠ n} n² / (n² − m²)

| order | weights |
|---|---|
| 4 | −1/3, 4/3 |
| 6 | 1/24, −16/15, 81/40 |
| 8 | −1/360, 16/45, −729/280, 1024/315 |
| 10 | 1/8640, −64/945, 6561/4480, −16384/2835, 390625/72576 |

Composition takes unequal parts, some of them backward, whose errors cancel in a single run. Its error is that of two
halves beside one whole.

Reference: Bender, dissertation, §3.4, which prints the weights up to order 6; Hairer, Lubich, Wanner, Geometric
Numerical Integration, V.3; Suzuki 1990; Kahan and Li, Math. Comp. 66 (1997); Sofroniou and Spaletta, J. Symb. Comp.
(2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from rattleback.core.errors import InputError

ORDERS = (2, 4, 6, 8, 10)
COMPOSED_ORDERS = (4, 6, 8, 10)
# The first half of the parts of each composition; the middle one makes the sum 1, the others follow mirrored.
HALVES: dict[int, tuple[float, ...]] = {
    4: (1.0 / (4.0 - 4.0 ** (1.0 / 3.0)),) * 2,
    6: (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023),
    8: (
        0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641, 0.15884190655515560090,
        -0.39590389413323757734, 0.18453964097831570709, 0.25837438768632204729, 0.29501172360931029887,
    ),
    10: (
        0.07879572252168641926, 0.31309610341510852776, 0.02791838323507806611, -0.22959284159390709415,
        0.13096206107716486317, -0.26973340565451071434, 0.07497334315589143567, 0.11199342399981020489,
        0.36613344954622675119, -0.39910563013603589788, 0.10308739852747107732, 0.41143087395589023782,
        -0.00486636058313526176, -0.39203335370863990645, 0.05194250296244964704, 0.05066509075992449634,
        0.04967437063972987905,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Scheme:
    """How a step is made of symmetric ones.

    Attributes:
        order: Order of the result.
        runs: Parts of the step, one after the other, of every run; each run has the whole step as its sum.
        weights: Weight of every run in the result.
        difference: Weight of every run in the error estimate.
    """

    order: int
    runs: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    difference: tuple[float, ...]

    @property
    def parts(self) -> int:
        """Symmetric steps in one step."""
        return sum(map(len, self.runs))

    @property
    def power(self) -> int:
        """Power of the step that the error estimate goes with."""
        return self.order - 1 if self.order > 2 and self.weights[0] else self.order + 1


def check_order(order: object, orders: tuple[int, ...], what: str) -> None:
    """Refuse an order there is no scheme for."""
    if type(order) is not int or order not in orders:
        raise InputError(f"The order of {what} is {order!r}; it may be {', '.join(map(str, orders))}.")


def richardson(numbers: tuple[int, ...]) -> list[Fraction]:
    """Weights that cancel the even powers of the step, for runs of these numbers of equal parts."""
    return [math.prod((Fraction(n * n, n * n - m * m) for m in numbers if m != n), start=Fraction(1)) for n in numbers]


def extrapolation(order: int) -> Scheme:
    """Runs of 1, 2, …, order/2 parts; for order two the second of two runs, so that there is an estimate."""
    numbers = tuple(range(1, max(order // 2, 2) + 1))
    best, fewer = richardson(numbers), [Fraction(0), *richardson(numbers[1:])]
    weights = best if order > 2 else fewer
    estimate = [float(one - other) for one, other in zip(best, fewer, strict=True)]
    runs = tuple((1.0 / n,) * n for n in numbers)
    return Scheme(order, runs, tuple(map(float, weights)), tuple(estimate))


def composition(order: int) -> Scheme:
    """One step, and two of half the length, which are the result."""
    half = HALVES[order]
    parts = (*half, 1.0 - 2.0 * math.fsum(half), *half[::-1])
    estimate = 1.0 / (2.0**order - 1.0)
    return Scheme(order, (parts, tuple(0.5 * part for part in parts) * 2), (0.0, 1.0), (-estimate, estimate))
