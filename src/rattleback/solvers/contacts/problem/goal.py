"""The goal of a solution: its tolerance, its budget, and finer residuals at rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp


@dataclass(frozen=True)
class Goal:
    """The goal of a solution.

    Attributes:
        tolerance: Largest residual in every world [m/s], an array of the device.
        sweeps: Most sweeps.
        finer: The motion whose speeds say which worlds hardly move and are solved to a finer residual; None for none.
        marked: Whether manifolds whose bodies nothing has pushed are skipped from the first sweep on.
        posed: When the problem is posed: ``"start"`` or ``"end"`` of a step, ``"impact"``, or ``"positions"``, where
            velocities stand for displacements: sticking points then have a friction without limit, under every law.
    """

    tolerance: Any
    sweeps: int
    finer: Any = None
    marked: bool = False
    posed: str = "end"


def part_of(values: Any, part: float) -> Any:
    """A part of the numbers of every world, as another array of the device."""
    found = part * values.numpy().astype(np.float64)
    return wp.array(found, dtype=values.dtype, device=values.device)
