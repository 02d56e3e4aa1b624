"""The minimum of an energy over the dihedrals: L-BFGS with a line search that never goes up.

    q ← q + α d,   d = −H g,   E(q + α d) ≤ E(q) + 10⁻⁴ α g·d

g gradient, H the inverse Hessian as the last ten steps tell it. No dihedral turns by more than 0.3 rad in a step, so
that a far-off guess does not throw atoms through each other.

    d from the two-loop recursion; steepest descent where it does not point down
    α halved until the energy has fallen enough;  remember the step where it curves upwards
    stop when the largest entry of g is within the tolerance

Cost: about one energy a step. Use it: for the nearest minimum. Not for the deepest one, which it does not look for.
Reference: Nocedal and Wright, "Numerical Optimization", 2nd ed. 2006, algorithm 7.4 and 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.core import checks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.molecules.energy.field import TVH

    Floats = NDArray[np.float64]

MEMORY, LARGEST, ENOUGH, HALVINGS = 10, 0.3, 1e-4, 40


class Minimum(NamedTuple):
    """Where a minimisation ended.

    Attributes:
        q: Dihedrals (coordinates,) [rad].
        energies: Energy at the start and after each step (steps + 1,) [kcal/mol]; it never rises.
        slope: The largest derivative that is left [kcal/mol/rad].
        converged: Whether that is within the tolerance.
        reason: Why it ended, in a sentence.
    """

    q: Floats
    energies: Floats
    slope: float
    converged: bool
    reason: str


def minimise(field: TVH, start: ArrayLike | None = None, steps: int = 1000, tolerance: float = 0.01) -> Minimum:
    """Go down to the nearest minimum of a field.

    Args:
        field: The energy, such as ``rb.molecules.TVH(protein)``; its protein is not turned, ``protein.q = found.q``
            does that.
        start: Dihedrals to start from (coordinates,) [rad]; as the protein is now if left out.
        steps: Most steps.
        tolerance: Largest derivative that counts as none [kcal/mol/rad].
    """
    most, wanted = checks.count(steps, "The steps of minimise"), checks.positive(tolerance, "The tolerance of minimise")
    count = len(field.protein.q)
    q = checks.array(field.protein.q if start is None else start, (count,), "The start of minimise")
    energy, gradient = field.both(q)
    energies, memory = [energy], _Memory()
    reason = f"It took all {most} steps."
    for _ in range(most):
        if np.abs(gradient).max(initial=0.0) <= wanted:
            reason = "It is at a minimum."
            break
        way = memory.direction(gradient)
        found = _line_search(field, (q, energy, gradient), way)
        if found is None and memory.pairs:
            memory = _Memory()
            found = _line_search(field, (q, energy, gradient), memory.direction(gradient))
        if found is None:
            reason = "No step downhill can be told from rounding."
            break
        memory.learn(found[0] - q, found[2] - gradient)
        q, energy, gradient = found
        energies.append(energy)
    slope = float(np.abs(gradient).max(initial=0.0))
    return Minimum(q, np.array(energies), slope, slope <= wanted, reason)


class _Memory:
    """The last steps and how the gradient changed along them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Floats, Floats]] = []

    def direction(self, gradient: Floats) -> Floats:
        """−H g by the two-loop recursion."""
        way, factors = -gradient, []
        for step, change in reversed(self.pairs):
            factor = float(step @ way) / float(step @ change)
            way = way - factor * change
            factors.append(factor)
        if self.pairs:
            step, change = self.pairs[-1]
            way = way * (float(step @ change) / float(change @ change))
        for (step, change), factor in zip(self.pairs, reversed(factors), strict=True):
            way = way + (factor - float(change @ way) / float(step @ change)) * step
        if float(way @ gradient) >= 0.0:
            self.pairs.clear()
            way = -gradient
        return way * min(1.0, LARGEST / float(np.abs(way).max()))

    def learn(self, step: Floats, change: Floats) -> None:
        """Keep a step along which the energy curves upwards."""
        if float(step @ change) > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.pairs = [*self.pairs, (step, change)][-MEMORY:]


def _line_search(field: TVH, here: tuple[Floats, float, Floats], way: Floats) -> tuple[Floats, float, Floats] | None:
    """The first of α = 1, ½, ¼ … where the energy has fallen enough; None where there is none."""
    q, energy, gradient = here
    fall = float(gradient @ way)
    alpha = 1.0
    for _ in range(HALVINGS):
        tried = q + alpha * way
        value, slope = field.both(tried)
        if value <= energy + ENOUGH * alpha * fall and value < energy:
            return tried, value, slope
        alpha *= 0.5
    return None
