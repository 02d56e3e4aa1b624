"""A force written as a Python function, called once per evaluation with the arrays of all its bodies.

Convenient and slow: the step is interrupted for the call, and on CUDA the arrays travel to the host and back.
The same law as a Warp function (``WarpForce``) runs inside the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.forces.selection import names

if TYPE_CHECKING:
    from rattleback.core.stages import Program
    from rattleback.model.model import Model
    from rattleback.model.state import Loads
    from rattleback.model.step_context import Moment


@sealed
@dataclass(frozen=True)
class ForcePicture:
    """What a Python force sees: arrays over its bodies, with a leading world axis when worlds were asked for.

    Attributes:
        names: Names of the bodies.
        position: Centres of mass (..., bodies, 3) [m].
        orientation: Quaternions (..., bodies, 4).
        velocity: Velocities (..., bodies, 3) [m/s].
        angular_velocity: Angular velocities (..., bodies, 3) [rad/s].
        mass: Masses (bodies,) [kg].
    """

    names: tuple[str, ...]
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    mass: np.ndarray


@sealed
@dataclass(frozen=True)
class PythonForce:
    """A force as a Python function.

    Args:
        function: Called as ``function(time, bodies)``; returns forces of the shape of ``bodies.position`` [N], or
            a pair (forces, torques) [N, N m].
        bodies: Names, groups or bodies it acts on; None for all that move.
        potential: Optional; called as ``potential(bodies)`` with positions only, returns the potential energy [J].
    """

    function: Callable[[float, ForcePicture], Any]
    bodies: Any = None
    potential: Callable[[np.ndarray], Any] | None = None
    depends_on_velocity: ClassVar[bool] = True
    depends_on_pose: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the function and keep the bodies as names."""
        if not callable(self.function):
            raise InputError(f"PythonForce got {self.function!r}; it needs a function of (time, bodies).")
        object.__setattr__(self, "bodies", names(self.bodies, self.label))

    @property
    def label(self) -> str:
        """What error messages call it."""
        return f"PythonForce {getattr(self.function, '__name__', 'function')!r}"

    def compile(self, model: Model) -> CompiledPythonForce:
        """Bind to a model."""
        return CompiledPythonForce(self, model)


class CompiledPythonForce:
    """A Python force bound to a model."""

    def __init__(self, force: PythonForce, model: Model) -> None:
        self.force, self.model = force, model
        self.chosen = model.select(force.bodies, force.label)
        self.rows = model.rows(self.chosen)
        self.names = tuple(model.names[i] for i in self.chosen)
        mass = model.mass[:, self.chosen]
        self.mass = mass if model.scenes.varied else mass[0]

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Record the call; it reads the motion and adds to the loads."""
        program.call(lambda: self._apply(moment, loads))

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """The user's potential of each world [J], or zero."""
        if self.force.potential is None:
            return np.zeros(len(position))
        return np.array([float(self.force.potential(x)) for x in position[:, self.chosen]])

    def _apply(self, moment: Moment, loads: Loads) -> None:
        clock: Any = moment.clock
        time = float(clock.time.numpy()[0] + moment.fraction * clock.time_step.numpy()[0])
        picture = self._picture(moment.motion)
        result = self.force.function(time, picture)
        parts = result if isinstance(result, tuple) else (result,)
        for array, part in zip((loads.force, loads.torque), parts, strict=False):
            total = array.numpy().copy()
            total[self.rows] += self._checked(part, picture.position.shape)
            array.assign(total)

    def _picture(self, motion: Any) -> ForcePicture:
        shape = self.rows.shape if self.model.batched else self.rows.shape[1:]
        shown = {name: array.numpy()[self.rows].reshape(*shape, -1) for name, array in arrays.each(motion)}
        return ForcePicture(self.names, mass=self.mass, **shown)

    def _checked(self, part: Any, shape: tuple[int, ...]) -> np.ndarray:
        try:
            values = np.broadcast_to(np.asarray(part, dtype=float), shape)
        except (TypeError, ValueError):
            got = getattr(part, "shape", repr(part))
            raise InputError(f"{self.force.label} returned {got}; it must return an array of shape {shape}.") from None
        if not np.isfinite(values).all():
            raise InputError(f"{self.force.label} returned a value that is not finite.")
        return values.reshape(*self.rows.shape, 3)
