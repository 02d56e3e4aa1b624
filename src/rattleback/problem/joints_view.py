"""All joints of a running simulation at once: their free coordinates, rates and written efforts as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.coordinates import Coordinate
    from rattleback.problem.joint_coordinates import JointCoordinates


@sealed
class JointsView:
    """The joints of a running simulation, with one entry for each free coordinate, in the order of the scene.

    A joint that turns about one axis has its angle, one that slides along one its position, a ``Cylindrical`` both, a
    ``Ball`` none. With worlds, a world axis comes first. All are measured at once, whoever asks; what was read holds
    until the next step.

    Attributes:
        names: Names of the coordinates: those of the joints; of a joint with two, as ``"rod.position"``.

    Args:
        coordinates: The free coordinates of the simulation.
    """

    _kind = "the view of all joints"

    def __init__(self, coordinates: JointCoordinates) -> None:
        self.names = tuple(found.name for found in coordinates.coordinates)
        self._coordinates = coordinates

    @property
    def position(self) -> NDArray[np.float64]:
        """Angles [rad] and positions [m] (coordinates,), read-only; angles are counted on over full turns."""
        return self._shown(self._coordinates.now()[0])

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Their rates (coordinates,) [rad/s or m/s], read-only."""
        return self._shown(self._coordinates.now()[1])

    @property
    def torque(self) -> NDArray[Any]:
        """Torques [N m] about and forces [N] along the axes on B (coordinates,), in every step until written again.

        Write into the array, or assign one: ``sim.joints.torque[2] = 5``, ``sim.joints.torque = u``.
        """
        return self._coordinates.state.picture("torque")

    @torque.setter
    def torque(self, value: Any) -> None:
        self._coordinates.state.write("torque", ..., value, "The torque written to sim.joints")

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """What the entries are: name, place of the joint in the scene, and freedom."""
        return tuple(self._coordinates.coordinates)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<joints with the free coordinates {listing(self.names)}>"

    def _shown(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values if len(self._coordinates.state.shape) > 1 else values[0]

    def _advice(self, name: str) -> str:
        same = {"angle": "position", "force": "torque", "effort": "torque", "position": "", "velocity": ""}
        if name in ("position", "velocity"):
            return (
                "Bodies are moved, not joints: write position and velocity of bodies, or drive joints by their torque."
            )
        return f"Its {same[name]} has the entries of all joints." if name in same else ""
