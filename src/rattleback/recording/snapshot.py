"""A snapshot of a simulation, as a picture needs it: how every body of the first world lies and how fast it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.maths.rotation import rotate
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model import Scene

    Floats = NDArray[np.float64]


class Snapshot(NamedTuple):
    """How the bodies of one world lie and how fast they are.

    Attributes:
        scene: The scene they belong to.
        origin: Origins of the bodies' frames, shape (bodies, 3) [m].
        orientation: Quaternions (x, y, z, w), shape (bodies, 4).
        speed: Speeds of the centres of mass, shape (bodies,) [m/s].
    """

    scene: Scene
    origin: Floats
    orientation: Floats
    speed: Floats


class Moment(NamedTuple):
    """How the bodies of one world move, beside how they lie.

    Attributes:
        scene: The scene they belong to.
        position: Centres of mass, shape (bodies, 3) [m].
        orientation: Quaternions (x, y, z, w), shape (bodies, 4).
        velocity: Velocities of the centres of mass, shape (bodies, 3) [m/s].
        angular_velocity: Angular velocities, shape (bodies, 3) [rad/s].
    """

    scene: Scene
    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats


def snapshot_of(simulation: Simulation) -> Snapshot:
    """The simulation as it is now; of several worlds, the first."""
    scene, place, turn, velocity, _ = moment_of(simulation)
    centers = np.array([body.center_of_mass for body in scene.bodies]).reshape(-1, 3)
    return Snapshot(scene, place - rotate(turn, centers), turn, np.linalg.norm(velocity, axis=-1))


def moment_of(simulation: Simulation) -> Moment:
    """How the simulation moves now; of several worlds, the first."""
    checks.instance(simulation, Simulation, "What a picture shows", "rb.Simulation(scene)")
    state = simulation.state
    found = (
        np.array(array if simulation.worlds is None else array[0], dtype=np.float64)
        for array in (state.position, state.orientation, state.velocity, state.angular_velocity)
    )
    return Moment(simulation.scene, *found)
