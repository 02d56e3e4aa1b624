"""What actions do: efforts of joints, targets of servos and forces on bodies, each one number between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]


class Actuator(Protocol):
    """What an action drives; it needs ``low``, ``high`` and ``bind``."""

    @property
    def low(self) -> float:
        """Smallest action."""
        ...

    @property
    def high(self) -> float:
        """Largest action."""
        ...

    def bind(self, simulation: Simulation) -> Callable[[Floats], None]:
        """A function that takes the actions of all worlds (worlds,) and writes them into the simulation."""
        ...


@sealed
@dataclass(frozen=True)
class Effort:
    """A torque [N m] about or a force [N] along the axis of a joint: ``scale`` times the action.

    Attributes:
        joint: Name of the coordinate, as in ``sim.joints.names``.
        low: Smallest action.
        high: Largest action.
        scale: Torque or force of an action of 1 [N m or N].
    """

    joint: str
    low: float = -1.0
    high: float = 1.0
    scale: float = 1.0

    def bind(self, simulation: Simulation) -> Callable[[Floats], None]:
        """What writes the efforts."""
        names = simulation.joints.names
        if self.joint not in names:
            raise UnknownName(
                f"Effort({self.joint!r}) drives no free coordinate of a joint.{did_you_mean(self.joint, names)} "
                f"There are {listing(names)}."
            )
        place, mirror = names.index(self.joint), simulation.state.mirror("efforts", "effort")
        rows = np.arange(simulation.worlds or 1) * len(names) + place
        return lambda actions: mirror.put(self.scale * actions, rows)


@sealed
@dataclass(frozen=True)
class Target:
    """The target of a servo [rad, m, rad/s or m/s]: ``middle`` plus ``scale`` times the action.

    Attributes:
        servo: Name of the servo among the forces of the scene.
        low: Smallest action.
        high: Largest action.
        scale: How far an action of 1 is from the middle.
        middle: Target of an action of 0.
    """

    servo: str
    low: float = -1.0
    high: float = 1.0
    scale: float = 1.0
    middle: float = 0.0

    def bind(self, simulation: Simulation) -> Callable[[Floats], None]:
        """What writes the targets."""
        servo = simulation.servo(self.servo)

        def write(actions: Floats) -> None:
            servo.target = self.middle + self.scale * actions

        return write


@sealed
@dataclass(frozen=True)
class Push:
    """A force through the centre of mass of a body [N]: ``scale`` times the action, along a direction of the world.

    Attributes:
        body: Name of the body.
        direction: Direction (3,).
        low: Smallest action.
        high: Largest action.
        scale: Force of an action of 1 [N].
    """

    body: str
    direction: ArrayLike
    low: float = -1.0
    high: float = 1.0
    scale: float = 1.0

    def bind(self, simulation: Simulation) -> Callable[[Floats], None]:
        """What writes the forces; those of several on one body add up."""
        along = self.scale * checks.direction(self.direction, f"The direction of the push on {self.body!r}")
        model = simulation.model
        rows = np.arange(model.worlds) * len(model.names) + model.index(self.body)
        mirror = simulation.state.mirror("applied", "force")
        return lambda actions: mirror.put(mirror.look()[rows] + actions[:, None] * along, rows)


class Actuators:
    """All that actions drive.

    Attributes:
        low: Smallest actions (actions,).
        high: Largest actions (actions,).

    Args:
        actuators: One for each number of an action.
        simulation: What they drive.
    """

    def __init__(self, actuators: Sequence[Actuator], simulation: Simulation) -> None:
        self.low, self.high = (np.array([getattr(one, side) for one in actuators]) for side in ("low", "high"))
        if bad := [one for one in actuators if not -np.inf < one.low < one.high < np.inf]:
            raise InputError(f"The actuator {bad[0]!r} has no room between its bounds; low must be below high.")
        if any(isinstance(one, Effort) for one in actuators):
            # The torques become part of the step, which from then on looks at what is written.
            simulation.joints.torque = 1.0
            simulation.capture()
            simulation.joints.torque = 0.0
            simulation.state.send()
        self._writers = [one.bind(simulation) for one in actuators]
        pushed = any(isinstance(one, Push) for one in actuators)
        self._forces: Any = simulation.state.mirror("applied", "force") if pushed else None
        self._shape = (simulation.worlds or 1, len(actuators))

    def clipped(self, actions: ArrayLike) -> Floats:
        """Actions of all worlds (worlds, actions), within their bounds."""
        given = np.asarray(actions, dtype=np.float64)
        if given.shape != self._shape:
            raise InputError(f"The actions have shape {given.shape}; they must be {self._shape}, one row a world.")
        if not np.isfinite(given).all():
            world = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise InputError(f"The action of world {world} is {given[world].tolist()}; it must be finite.")
        return np.clip(given, self.low, self.high)

    def write(self, actions: Floats) -> None:
        """Write actions of all worlds into the simulation."""
        if self._forces is not None:
            self._forces.put(0.0)
        for place, write in enumerate(self._writers):
            write(actions[:, place])
