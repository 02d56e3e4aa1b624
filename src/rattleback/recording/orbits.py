"""Orbits: how far bodies get that attract each other, by going along with them as points for some of their periods.

    a = G Σ_{i<j} m_i m_j / (2 |E|)        T = 2π √(a³ / (G M))

E < 0 energy without that of their common motion, M mass of all, G constant of gravitation; for two bodies, a is the
semi-major axis of their orbit and T its period, for more of them about what they have. Bodies that are not bound to
each other are followed while they get as far again as they are now. The classical method of Runge and Kutta, with
steps that are short where two are near each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.forces import Attraction

    Floats = NDArray[np.float64]

# Periods gone along with, and bodies at most.
PERIODS, MOST_BODIES = 1.6, 64
# A step is this part of the time in which the two nearest would fall together, and this part of all; no more steps.
PART_OF_FALL, PART, MOST_STEPS = 0.1, 0.01, 2000
# No body is taken to get farther from the common centre than this many a.
FARTHEST = 2.5


def orbits(force: Attraction, mass: Floats, position: Floats, velocity: Floats) -> tuple[Floats, Floats]:
    """Lower and upper corners of boxes that the centres of mass go through (bodies, 3) [m].

    Args:
        force: What they attract each other by.
        mass: Their masses (bodies,) [kg].
        position: Where they are (bodies, 3) [m].
        velocity: Their velocities (bodies, 3) [m/s].
    """
    if not 1 < len(mass) <= MOST_BODIES:
        return position, position
    drift, centre = (mass @ rows / mass.sum() for rows in (velocity, position))
    x, v = position - centre, velocity - drift
    left, size = _scales(force, mass, x, v)
    longest, low, high = PART * left, x.copy(), x.copy()
    for _ in range(MOST_STEPS):
        if left <= 0.0:
            break
        step = min(left, longest, _step(force, mass, x))
        left -= step
        k1, l1 = v, _pull(force, mass, x)
        k2, l2 = v + 0.5 * step * l1, _pull(force, mass, x + 0.5 * step * k1)
        k3, l3 = v + 0.5 * step * l2, _pull(force, mass, x + 0.5 * step * k2)
        k4, l4 = v + step * l3, _pull(force, mass, x + step * k3)
        x, v = x + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), v + step / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
        # Two that meet are flung away by a step that is too long for that.
        inside = np.clip(x, -FARTHEST * size, FARTHEST * size)
        low, high = np.minimum(low, inside), np.maximum(high, inside)
    return low + centre, high + centre


def _step(force: Attraction, mass: Floats, x: Floats) -> float:
    """How long a step may be [s]."""
    i, j = np.triu_indices(len(mass), 1)
    square = np.sum((x[i] - x[j]) ** 2, axis=1) + force.softening**2
    pull = abs(force.constant) * (mass[i] + mass[j])
    fall = np.sqrt(np.divide(square**1.5, pull, out=np.full(len(pull), np.inf), where=pull > 0.0))
    return max(PART_OF_FALL * float(fall.min()), 1e-300)


def _scales(force: Attraction, mass: Floats, x: Floats, v: Floats) -> tuple[float, float]:
    """How long to go along with bodies [s], and how large their orbits are [m]."""
    i, j = np.triu_indices(len(mass), 1)
    apart = np.sqrt(np.sum((x[i] - x[j]) ** 2, axis=1) + force.softening**2)
    pairs = force.constant * mass[i] * mass[j]
    speed, extent = float(np.linalg.norm(v, axis=1).max()), float(apart.max())
    with np.errstate(divide="ignore"):
        energy = 0.5 * float(mass @ np.sum(v * v, axis=1)) - float(np.sum(pairs / apart))
    if energy >= 0.0 or not math.isfinite(energy):
        return extent / speed if speed > 0.0 and math.isfinite(energy) else 0.0, extent
    size = max(float(pairs.sum()) / (-2.0 * energy), 0.5 * extent)
    return PERIODS * 2.0 * math.pi * math.sqrt(size**3 / (force.constant * float(mass.sum()))), size


def _pull(force: Attraction, mass: Floats, x: Floats) -> Floats:
    """Accelerations (bodies, 3) [m/s²]."""
    way = x[None] - x[:, None]
    square = np.sum(way * way, axis=-1) + force.softening**2
    np.fill_diagonal(square, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = force.constant * np.einsum("j,ijk->ik", mass, way / (square * np.sqrt(square))[..., None])
    return np.where(np.isfinite(found), found, 0.0)
