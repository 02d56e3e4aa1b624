"""Extrapolation: runs of 1, 2, 3, … symmetric steps over one step, combined so that the powers of their error cancel.

    y ≈ Σ_n w_n y_n,   w_n = Π_{m ≠ n} n²/(n² − m²),   n = 1 … p/2        error ≈ |Σ_n w_n y_n − Σ_{n ≥ 2} w′_n y_n|

y_n result of n symmetric steps of length H/n, H length of the step, p order; w′ weights of the same sum without the
first run, whose order is p − 2. A symmetric step has an error in even powers of its length alone, so that each run more
gives two orders more, with joints as well.

    for n = 1 … p/2: from the same start, n symmetric steps
    combine positions, velocities and angular momenta, orientations as logarithms; project on the joints
    with a tolerance: accept or reject, and choose the length of the next sub-step by the error
Cost: 3, 3, 6, 10 or 15 symmetric steps for order 2, 4, 6, 8 or 10, each three to five rounds of Newton's method for
the joints and one evaluation of the forces. Order two takes a run of one for the sake of the estimate. Use it for
smooth motion to many digits; not with contacts, limits or breaking joints, which are refused.

Reference: Bender, dissertation, §3.4; Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, II.9 and
II.14; Gragg 1965.
"""

from __future__ import annotations

from dataclasses import dataclass

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.steps.symmetric.scheme import ORDERS, Scheme, check_order, extrapolation


@sealed
@dataclass(frozen=True)
class Extrapolated:
    """Steps of order 2, 4, 6, 8 or 10 by extrapolation.

    Args:
        order: The order.
        tolerance: Largest error of a sub-step, relative to one plus the size of the quantity [m, rad, m/s, rad/s]; None
            for one sub-step a step, whose error is reported.
        max_substeps: Sub-steps a step may take; past that the rest is done in one, and reported.
    """

    order: int = 8
    tolerance: float | None = None
    max_substeps: int = 10_000

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_order(self.order, ORDERS, "Extrapolated")
        if self.tolerance is not None:
            checks.positive(self.tolerance, "The tolerance of Extrapolated")
        checks.count(self.max_substeps, "The max_substeps of Extrapolated")

    def scheme(self) -> Scheme:
        """The runs and their weights."""
        return extrapolation(self.order)
