"""All the forces of a scene together: what a step evaluates, in the order the scene names them."""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core.errors import RattlebackError
from rattleback.core.stages import Program
from rattleback.forces.gravity import Gravity
from rattleback.model.bench import Moment
from rattleback.model.model import Model
from rattleback.model.state import Loads


@wp.kernel(enable_backward=False)
def start_from(applied: Loads, loads: Loads) -> None:
    """The loads the user wrote into the state come first."""
    i = wp.tid()
    loads.force[i] = applied.force[i]
    loads.torque[i] = applied.torque[i]


class ForceField:
    """The compiled forces of a model.

    Args:
        model: The model whose scene holds gravity and the force modules.
        applied: The loads the user writes between steps.
    """

    def __init__(self, model: Model, applied: Loads) -> None:
        scene = model.scene
        modules: dict[str, Any] = {}
        if scene.gravity.any() and len(model.dynamic):
            modules["gravity of the scene"] = Gravity(tuple(scene.gravity))
        modules.update(scene.forces)
        self.model, self.applied = model, applied
        self.velocity_dependent = any(force.depends_on_velocity for force in modules.values())
        self.motion_dependent = self.velocity_dependent or any(force.depends_on_pose for force in modules.values())
        self.compiled = [_compile(name, force, model) for name, force in modules.items()]

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Record the launches that write the loads of a moment."""
        program.launch(start_from, self.model.count, self.applied, loads)
        for force in self.compiled:
            force.record(program, moment, loads)

    def potential(self, position: np.ndarray) -> np.ndarray:
        """Potential energy of each world for positions (worlds, bodies, 3) [J]."""
        total = np.zeros(len(position))
        for force in self.compiled:
            total = total + force.potential(position)
        return total


def _compile(name: str, force: Any, model: Model) -> Any:
    try:
        return force.compile(model)
    except RattlebackError as error:
        raise type(error)(f"Force {name!r}: {error}") from None
