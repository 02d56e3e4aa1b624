"""Gravity between bodies: every two of the chosen ones attract each other by Newton's law.

    F_i = Σ_j G m_i m_j d / (|d|² + s²)^{3/2},  d = x_j − x_i,   V = −Σ_{i<j} G m_i m_j / (|d|² + s²)^{1/2}

G constant of gravitation, m masses, x centres of mass, s softening length that bounds the force when bodies
pass through each other (Plummer). Cost: n² pairs a step, summed in a fixed order.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import by_world
from rattleback.forces.selection import device_rows, names
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment


@kernel
def add_attraction(
    bodies: Bodies, motion: Motion, rows: wp.array[wp.int32], each: int, laws: wp.array[wp.vec2d], loads: Loads
) -> None:
    """Sum over the other chosen bodies of the same world; law = (G, s)."""
    t = wp.tid()
    i = rows[t]
    law = laws[bodies.world[i]]
    first = (t / each) * each
    x = motion.position[i]
    pull = vec3()
    for k in range(first, first + each):
        j = rows[k]
        if j != i:
            d = motion.position[j] - x
            r2 = wp.dot(d, d) + real(law[1] * law[1])
            pull += (real(law[0]) * bodies.mass[j] / (r2 * wp.sqrt(r2))) * d
    loads.force[i] = loads.force[i] + bodies.mass[i] * pull


@sealed
@dataclass(frozen=True)
class Attraction:
    """Gravity between bodies.

    Args:
        constant: Constant of gravitation [m³/(kg s²)].
        softening: Length below which the force stops growing [m].
        bodies: Names, groups or bodies that attract each other; None for all that move.
    """

    constant: float = 6.6743e-11
    softening: float = 0.0
    bodies: Any = None
    depends_on_velocity: ClassVar[bool] = False
    depends_on_pose: ClassVar[bool] = True
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters and keep the bodies as names."""
        object.__setattr__(self, "constant", checks.number(self.constant, "The constant of Attraction"))
        object.__setattr__(self, "softening", checks.not_negative(self.softening, "The softening of Attraction"))
        object.__setattr__(self, "bodies", names(self.bodies, "Attraction"))

    def compile(self, model: Model) -> "CompiledAttraction":
        """Bind to a model."""
        return CompiledAttraction(self, model)


class CompiledAttraction:
    """Attraction bound to a model."""

    def __init__(self, force: Attraction, model: Model) -> None:
        self.model, self.force = model, force
        self.chosen = model.select(force.bodies, "Attraction")
        self.rows = device_rows(model, force.bodies, "Attraction")
        self.numbers = by_world(model, force, ("constant", "softening"))
        laws = np.stack([self.numbers["constant"], self.numbers["softening"]], axis=1)
        self.laws = wp.array(laws, dtype=wp.vec2d, device=model.device)

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the pull of the others on every chosen body."""
        given = (self.model.bodies, moment.motion, self.rows, len(self.chosen), self.laws, loads)
        program.launch(add_attraction, len(self.rows), *given)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """V over all pairs of each world [J]."""
        x, m = position[:, self.chosen], self.model.mass[:, self.chosen]
        constant, softening = (self.numbers[name][:, None] for name in ("constant", "softening"))
        first, second = np.triu_indices(len(self.chosen), 1)
        distance = np.hypot(np.linalg.norm(x[:, first] - x[:, second], axis=-1), softening)
        return -constant[:, 0] * (m[:, first] * m[:, second] / distance).sum(axis=1)
