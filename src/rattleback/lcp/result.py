"""What came out of a solver: impulses, velocities, the residual reached, and why the solver ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Result:
    """Impulses of a contact problem and how good they are.

    Attributes:
        impulse: Impulses r [N s], shape (rows,): the best that the method has seen.
        velocity: Velocities u = W r + C r + q [m/s], shape (rows,).
        residual: Largest error of a row or contact [m/s], computed from the impulses alone.
        relative_residual: The residual of Siconos, relative to ‖q‖.
        converged: Whether the residual is within the tolerance.
        reason: Why the method ended, as a sentence.
        iterations: Iterations done (pivots of a pivoting method).
        seconds: CPU time [s].
        history: Iterations, CPU time [s] and residual [m/s] of every look, shape (looks, 3).
        method: Name of the method, and of those it called.
        law: Name of the law.
    """

    impulse: NDArray[np.float64]
    velocity: NDArray[np.float64]
    residual: float
    relative_residual: float
    converged: bool
    reason: str
    iterations: int
    seconds: float
    history: NDArray[np.float64]
    method: str
    law: str
