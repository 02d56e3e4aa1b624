"""A simulation near its present state as a linear system, for control.

    d/dt (δ, ε) = A (δ, ε) + B u

δ deviation of the coordinates as a step in the rates, ε of the rates, u of the efforts in ``sim.joints.torque``.
Gravity, written efforts and applied loads act; contacts, limits and other forces of the scene are no part of it.

Cost: an articulation of the scene, some milliseconds, and one evaluation of its derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, listing
from rattleback.dynamics.articulation import Articulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def linearized(sim: Any) -> tuple[Floats, Floats]:
    """A (2 nv, 2 nv) and B (2 nv, coordinates) of a simulation; with a leading axis of worlds where there are any.

    Args:
        sim: The simulation.
    """
    if sim.model.scenes.varied:
        # Every world has masses, places of joints and gravity of its own.
        found = [_linearized(sim.world(number)) for number in range(sim.model.worlds)]
        return np.stack([A for A, _ in found]), np.stack([B for _, B in found])
    return _linearized(sim)


def _linearized(sim: Any) -> tuple[Floats, Floats]:
    """The same where all worlds have the same scene."""
    scene, robot = sim.scene, Articulation(sim.scene)
    if robot.cut_joints:
        raise InputError(
            f"A simulation with the joints {listing(robot.cut_joints)}, which close loops or couple others, cannot be "
            "linearised: its coordinates are not free. Linearise a scene without them."
        )
    if others := list(scene.forces):
        raise InputError(
            f"A simulation with the forces {listing(others)} cannot be linearised: derivatives are known of gravity, "
            "written torques and applied loads. Linearise a scene without them."
        )
    if rough := [name for name, joint in scene.joints.items() if getattr(joint, "friction", 0.0) > 0.0]:
        raise InputError(
            f"A simulation with the friction of joint {listing(rough)} cannot be linearised: it has no derivative "
            "where a joint rests. Linearise a scene without it."
        )
    (q, v), chosen = robot.coordinates_of(sim), _rates_of(sim, robot)
    tau = np.zeros(v.shape)
    tau[..., chosen] = sim.joints.torque
    rows = [sim.model.index(name) for name in robot.bodies]
    loads = [np.asarray(getattr(sim.state, f"applied_{kind}"), dtype=np.float64) for kind in ("force", "torque")]
    A, B = robot.linearize(q, v, tau, np.concatenate(loads, axis=-1)[..., rows, :])
    return A, B[..., chosen]


def _rates_of(sim: Any, robot: Articulation) -> list[int]:
    """Places of the driven coordinates of a simulation among the rates of an articulation."""
    names = []
    for found in sim.joints.coordinates:
        joint = list(sim.scene.joints)[found.joint]
        names.append(joint if joint in robot.rates else f"{joint}.{found.freedom}")
    return [robot.rates.index(name) for name in names]
