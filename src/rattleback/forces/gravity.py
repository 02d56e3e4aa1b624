"""Uniform gravity: every chosen body is accelerated alike.

    F = m g,   V = −m g · x

m mass, g acceleration, x centre of mass, V potential energy. Cost: one thread a body.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.precision import vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import by_world
from rattleback.forces.selection import device_rows, names
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Loads
from rattleback.model.step_context import Moment


@kernel
def add_gravity(bodies: Bodies, rows: wp.array[wp.int32], g: wp.array[vec3], loads: Loads, lanes: int) -> None:
    """F += m g."""
    for k in range(wp.tid(), rows.shape[0], lanes):
        i = rows[k]
        loads.force[i] = loads.force[i] + bodies.mass[i] * g[bodies.world[i]]


@sealed
@dataclass(frozen=True)
class Gravity:
    """Uniform gravity.

    Args:
        acceleration: Acceleration of free fall (3,) [m/s²].
        bodies: Names, groups or bodies it acts on; None for all that move.
    """

    acceleration: tuple[float, float, float] = (0.0, 0.0, -9.81)
    bodies: Any = None
    depends_on_velocity: ClassVar[bool] = False
    depends_on_pose: ClassVar[bool] = False
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the acceleration and keep the bodies as names."""
        g = checks.vector(self.acceleration, "The acceleration of Gravity")
        object.__setattr__(self, "acceleration", tuple(g.tolist()))
        object.__setattr__(self, "bodies", names(self.bodies, "Gravity"))

    def compile(self, model: Model) -> "CompiledGravity":
        """Bind to a model."""
        return CompiledGravity(self, model, by_world(model, self, ("acceleration",))["acceleration"])


class CompiledGravity:
    """Gravity bound to a model.

    Args:
        force: The force.
        model: The model.
        acceleration: Its acceleration in every world (worlds, 3) [m/s²].
    """

    def __init__(self, force: Gravity, model: Model, acceleration: np.ndarray) -> None:
        self.model, self.acceleration = model, acceleration
        self.g = wp.array(acceleration, dtype=vec3, device=model.device)
        self.chosen = model.select(force.bodies, "Gravity")
        self.rows = device_rows(model, force.bodies, "Gravity")

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the weight of every chosen body."""
        program.share(add_gravity, len(self.rows), self.model.bodies, self.rows, self.g, loads)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """V = −Σ m g · x of each world [J]."""
        height = np.einsum("wbi,wi->wb", position[:, self.chosen], self.acceleration)
        return -(height * self.model.mass[:, self.chosen]).sum(axis=1)
