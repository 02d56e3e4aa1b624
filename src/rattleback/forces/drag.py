"""Drag of a medium: linear and quadratic in the velocity relative to it, and linear in the angular velocity.

    F = −(c₁ + c₂ |u|) u,   u = v − wind,   τ = −c_r ω

c₁ linear, c₂ quadratic (½ ρ C_d A for a body of cross-section A in a medium of density ρ), c_r rotational
coefficient. Cost: one thread a body.
"""

import math
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
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment


@kernel
def add_drag(
    bodies: Bodies, motion: Motion, rows: wp.array[wp.int32], media: wp.array[vec3], winds: wp.array[vec3], loads: Loads
) -> None:
    """Coefficients are (c₁, c₂, c_r)."""
    i = rows[wp.tid()]
    coefficients = media[bodies.world[i]]
    u = motion.velocity[i] - winds[bodies.world[i]]
    loads.force[i] = loads.force[i] - (coefficients[0] + coefficients[1] * wp.length(u)) * u
    loads.torque[i] = loads.torque[i] - coefficients[2] * motion.angular_velocity[i]


@sealed
@dataclass(frozen=True)
class Drag:
    """Drag of a medium.

    Args:
        linear: Coefficient of the velocity [N s/m].
        quadratic: Coefficient of the velocity squared [N s²/m²].
        angular: Coefficient of the angular velocity [N m s].
        wind: Velocity of the medium (3,) [m/s].
        bodies: Names, groups or bodies it acts on; None for all that move.
    """

    linear: float = 0.0
    quadratic: float = 0.0
    angular: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bodies: Any = None
    depends_on_velocity: ClassVar[bool] = True
    depends_on_pose: ClassVar[bool] = False
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the coefficients and keep the bodies as names."""
        for name in ("linear", "quadratic", "angular"):
            value = checks.not_negative(getattr(self, name), f"The {name} coefficient of Drag")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "wind", tuple(checks.vector(self.wind, "The wind of Drag").tolist()))
        object.__setattr__(self, "bodies", names(self.bodies, "Drag"))

    def compile(self, model: Model) -> "CompiledDrag":
        """Bind to a model."""
        return CompiledDrag(self, model)


class CompiledDrag:
    """Drag bound to a model."""

    def __init__(self, force: Drag, model: Model) -> None:
        self.model, self.force, self.rows = model, force, device_rows(model, force.bodies, "Drag")
        self.numbers = by_world(model, force, ("linear", "quadratic", "angular", "wind"))
        media = np.stack([self.numbers[name] for name in ("linear", "quadratic", "angular")], axis=1)
        self.media, self.winds = (
            wp.array(column, dtype=vec3, device=model.device) for column in (media, self.numbers["wind"])
        )

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the drag of every chosen body."""
        given = (self.model.bodies, moment.motion, self.rows, self.media, self.winds, loads)
        program.launch(add_drag, len(self.rows), *given)

    def rates(self) -> tuple[float, float]:
        """ω², which is none, and r [1/s] at the velocities of the scene, see ``stiff_forces``."""
        most, force = 0.0, self.force
        for row in set(self.rows.numpy() % len(self.model.names)):
            # Does not overflow, however fast the body is.
            against = math.dist(self.model.scene.bodies[row].velocity, force.wind)
            push = force.linear + 2.0 * force.quadratic * against
            bodies = self.model.bodies
            twist = float(np.linalg.eigvalsh(bodies.inverse_inertia.numpy()[row].astype(np.float64)).max())
            most = max(most, push * float(bodies.inverse_mass.numpy()[row]), force.angular * twist)
        return 0.0, most

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """Drag has no potential."""
        return np.zeros(len(position))
