"""Energy and momentum of a state, world by world.

    T = ½ Σ m v² + ½ Σ ω · J ω,   p = Σ m v,   L = Σ (x × m v + J ω)

m mass, x, v position and velocity of the centre of mass, ω angular velocity, J inertia in the world frame.
Static bodies do not count. Angular momentum is about the world's origin. Every sum is in double precision.

Cost: one launch finds all of a body's, once a moment; the host adds them up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.mirror import Mirror
from rattleback.core.precision import double_quat, double_vec3, vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import recorded
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Motion, State


@sealed
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


@sealed
@dataclass(frozen=True)
class Momentum:
    """Linear [kg m/s] and angular [kg m²/s] momentum, shape (3,), or (worlds, 3) when worlds were asked for."""

    linear: np.ndarray
    angular: np.ndarray


def worlds_first(model: Model, array: np.ndarray) -> np.ndarray:
    """An array of the user's view with a world axis in any case, in double precision."""
    return np.asarray(array, dtype=np.float64).reshape(model.worlds, len(model.names), -1)


@group(axis="bodies")
class Parts:
    """What each body adds."""

    translational: wp.float64 = field("J", "½ m v²")
    rotational: wp.float64 = field("J", "½ ω · J ω")
    linear: double_vec3 = field("kg m/s", "m v")
    angular: double_vec3 = field("kg m²/s", "x × m v + J ω")
    spin: double_vec3 = field("kg m²/s", "J ω")


@wp.func
def widened(v: vec3) -> double_vec3:
    """A vector in double precision."""
    return double_vec3(wp.float64(v[0]), wp.float64(v[1]), wp.float64(v[2]))


@kernel
def measure(bodies: Bodies, motion: Motion, parts: Parts) -> None:
    """What one body adds to energy and momentum."""
    i = wp.tid()
    half = wp.float64(0.5)
    v = widened(motion.velocity[i])
    w = widened(motion.angular_velocity[i])
    p = wp.float64(bodies.mass[i]) * v
    r = motion.orientation[i]
    q = wp.normalize(double_quat(wp.float64(r[0]), wp.float64(r[1]), wp.float64(r[2]), wp.float64(r[3])))
    local = wp.quat_rotate_inv(q, w)
    j = bodies.inertia[i]
    own = double_vec3(wp.float64(0.0), wp.float64(0.0), wp.float64(0.0))
    for k in range(3):
        row = vec3(j[k, 0], j[k, 1], j[k, 2])
        own[k] = wp.dot(widened(row), local)
    spin = wp.quat_rotate(q, own)
    parts.translational[i] = half * wp.dot(p, v)
    parts.rotational[i] = half * wp.dot(local, own)
    parts.linear[i] = p
    parts.spin[i] = spin
    parts.angular[i] = wp.cross(widened(motion.position[i]), p) + spin


class Measures:
    """Energy and momentum of a simulation.

    Args:
        model: The model.
        state: The state they are of.
    """

    def __init__(self, model: Model, state: State) -> None:
        self._model, self._state, self._moment = model, state, -1
        self._shape = (model.worlds, len(model.names))

    @cached_property
    def _parts(self) -> tuple[Callable[[], None], dict[str, Mirror]]:
        """What measures, and what it finds; made when it is first asked for."""
        model = self._model
        parts = arrays.allocate(Parts, {"bodies": model.count}, model.device)
        launch = recorded(measure, model.count, (model.bodies, self._state.motion, parts), model.device)
        return launch, {name: Mirror(array) for name, array in arrays.each(parts)}

    def of_bodies(self, name: str) -> np.ndarray:
        """What each body adds, by the names of ``Parts``, shape (worlds, bodies, ...); for a look at once."""
        self._state.send()
        launch, found = self._parts
        if self._moment != self._state.moment:
            launch()
            self._moment = self._state.moment
        part = found[name].look()
        return part.reshape(self._shape + part.shape[1:])

    def momentum(self) -> Momentum:
        """Linear and angular momentum of each world."""
        return Momentum(*(_shown(self._model, self.of_bodies(name).sum(axis=1)) for name in ("linear", "angular")))

    def energy(
        self,
        potential: Callable[[np.ndarray, np.ndarray], np.ndarray],
        drives: dict[str, np.ndarray] | None = None,
    ) -> Energy:
        """The energies of each world.

        Args:
            potential: The potential energy of each world [J], from shapes (worlds, bodies, 3) and (worlds, bodies, 4).
            drives: Kinetic energies of drives that are no bodies, by ``"translational"`` and ``"rotational"``.
        """
        names = ("translational", "rotational")
        translational, rotational = (self.of_bodies(name).sum(axis=1) for name in names)
        if drives is not None:
            translational, rotational = translational + drives[names[0]], rotational + drives[names[1]]
        place, turn = (worlds_first(self._model, self._state.now(name)) for name in ("position", "orientation"))
        parts = (translational + rotational, potential(place, turn), translational, rotational)
        return Energy(*(_shown(self._model, part) for part in parts))


def _shown(model: Model, values: np.ndarray) -> Any:
    if model.batched:
        return values
    return values[0] if values.ndim > 1 else float(values[0])
