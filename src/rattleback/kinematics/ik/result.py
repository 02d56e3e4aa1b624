"""What a method answers, and what the user gets: configurations, and whether, how well and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Answer(NamedTuple):
    """What a method found, before it is judged.

    Attributes:
        q: One configuration a problem (n, coordinates).
        iterations: Steps taken (n,).
        hits: How many tries ended at the best minimum found (n,); 1 for methods with a single try.
        searched: Whether the method looked all over the limits, so that what it missed is likely not there.
        history: E after each step, where the method keeps it (n, steps + 1); nan after the last.
        every: All solutions of a closed form (solutions, coordinates), where there is a single problem.
    """

    q: Floats
    iterations: NDArray[np.int64]
    hits: NDArray[np.int64]
    searched: bool = False
    history: Floats | None = None
    every: Floats | None = None


@sealed
@dataclass(frozen=True)
class Solution:
    """The answer to a problem, or to a batch of them with a leading axis.

    Attributes:
        q: Configurations, always within the limits (..., coordinates).
        reached: Whether every target is within its tolerance, judged by the forward kinematics of q (...).
        residual: Largest length [m] and largest angle [rad] a target is missed by (..., 2).
        reason: Why it is not reached, in words; empty where it is (...).
        iterations: Steps taken (...).
        method: Name of the method.
        history: |e| after each step (..., steps + 1) [m], where the method keeps it; nan after the last.
        every: All solutions that a closed form has (solutions, coordinates), where there is a single problem.
    """

    q: Floats
    reached: Any
    residual: Floats
    reason: Any
    iterations: Any
    method: str
    history: Floats | None = field(default=None, repr=False)
    every: Floats | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Whether all are reached."""
        return bool(np.all(self.reached))
