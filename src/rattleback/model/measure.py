"""Energy and momentum of a state, world by world.

    T = ½ Σ m v² + ½ Σ ω · J ω,   p = Σ m v,   L = Σ (x × m v + J ω)

m mass, x, v position and velocity of the centre of mass, ω angular velocity, J inertia in the world frame.
Static bodies do not count. Angular momentum is about the world's origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rattleback.maths.rotation import rotate
from rattleback.model.model import Model
from rattleback.model.state import State


@dataclass(frozen=True)
class Energy:
    """Energies; numbers, or one entry per world when worlds were asked for [J]."""

    kinetic: Any
    potential: Any
    translational: Any
    rotational: Any

    @property
    def total(self) -> Any:
        """Kinetic plus potential energy [J]."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Momentum:
    """Linear [kg m/s] and angular [kg m²/s] momentum, shape (3,), or (worlds, 3) when worlds were asked for."""

    linear: np.ndarray
    angular: np.ndarray


def worlds_first(model: Model, array: np.ndarray) -> np.ndarray:
    """An array of the user's view with a world axis in any case, in double precision."""
    return np.asarray(array, dtype=np.float64).reshape(model.worlds, len(model.names), -1)


def kinetic_energy(model: Model, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Translational and rotational energy of each body, shape (worlds, bodies) [J]."""
    v = worlds_first(model, state.picture("velocity"))
    w = worlds_first(model, state.picture("angular_velocity"))
    translational = 0.5 * model.mass * (v * v).sum(axis=-1)
    rotational = 0.5 * (w * spin_momentum(model, state)).sum(axis=-1)
    return translational, rotational


def spin_momentum(model: Model, state: State) -> np.ndarray:
    """Angular momentum of each body about its own centre of mass, shape (worlds, bodies, 3) [kg m²/s]."""
    q = worlds_first(model, state.picture("orientation"))
    w = worlds_first(model, state.picture("angular_velocity"))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    back = q * np.array([-1.0, -1.0, -1.0, 1.0])
    local = np.einsum("bij,wbj->wbi", model.inertia, rotate(back, w))
    return rotate(q, local)


def momentum(model: Model, state: State) -> Momentum:
    """Linear and angular momentum of each world."""
    x, v = (worlds_first(model, state.picture(name)) for name in ("position", "velocity"))
    p = model.mass[:, None] * v
    angular = (np.cross(x, p) + spin_momentum(model, state)).sum(axis=1)
    return Momentum(_shown(model, p.sum(axis=1)), _shown(model, angular))


def energy(model: Model, state: State, potential: np.ndarray) -> Energy:
    """The energies of each world, given its potential energy [J]."""
    translational, rotational = (part.sum(axis=1) for part in kinetic_energy(model, state))
    parts = (translational + rotational, potential, translational, rotational)
    return Energy(*(_shown(model, part) for part in parts))


def _shown(model: Model, values: np.ndarray) -> Any:
    if model.batched:
        return values
    return values[0] if values.ndim > 1 else float(values[0])
