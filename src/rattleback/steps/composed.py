"""Composition: a step made of unequal symmetric ones, some of them backward, whose errors cancel.

    Φ_H ≈ φ_{γ_s H} ∘ … ∘ φ_{γ_2 H} ∘ φ_{γ_1 H},     Σ γ = 1,  Σ γ³ = 0, …     error ≈ |y_{H/2,H/2} − y_H|/(2^p − 1)

φ a symmetric step, γ its parts, the same read from either end; H length of the step, p order. The result is that of two
compositions of half the step, which one of the whole step is compared with. It is symmetric itself, so that in motions
that repeat, errors of the energy do not add up.

| order | parts | from |
|---|---|---|
| 4 | 5 | Suzuki |
| 6 | 9 | Kahan and Li |
| 8 | 17 | Kahan and Li |
| 10 | 35 | Sofroniou and Spaletta |

Cost: three times the parts, each of them as in ``extrapolated``, whose constants are smaller. Use it for many turns of
one motion at a fixed step; it is refused where that is.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, V.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.steps.symmetric.scheme import COMPOSED_ORDERS, Scheme, check_order, composition


@sealed
@dataclass(frozen=True)
class Composed:
    """Steps of order 4, 6, 8 or 10 by composition.

    Args:
        order: The order.
        tolerance: Largest error of a sub-step, relative to one plus the size of the quantity [m, rad, m/s, rad/s]; None
            for one sub-step a step, whose error is reported.
        max_substeps: Sub-steps a step may take; past that the rest is done in one, and reported.
    """

    order: int = 6
    tolerance: float | None = None
    max_substeps: int = 10_000

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_order(self.order, COMPOSED_ORDERS, "Composed")
        if self.tolerance is not None:
            checks.positive(self.tolerance, "The tolerance of Composed")
        checks.count(self.max_substeps, "The max_substeps of Composed")

    def scheme(self) -> Scheme:
        """The runs and their weights."""
        return composition(self.order)
