"""How far a contact solver goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Goal:
    """How far a solver goes.

    Attributes:
        tolerance: Largest residual [m/s].
        sweeps: Most sweeps.
        finer: The motion whose speeds say which worlds hardly move and are solved to a finer residual; None for none.
        marked: Whether manifolds whose bodies nothing has pushed are passed over from the first sweep on.
    """

    tolerance: float
    sweeps: int
    finer: Any = None
    marked: bool = False
