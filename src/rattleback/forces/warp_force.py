"""A force written as a Warp function: it is compiled into the step and costs no more than a built-in one.

    import warp as wp
    from rattleback.types import Bodies, Motion, vec3, real

    @wp.func
    def spring(t: wp.float64, i: int, bodies: Bodies, motion: Motion):
        return -real(40.0) * motion.position[i], vec3()

The function gets the time, the row of a body and all arrays; it returns force [N] and torque [N m] on that body.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core.device import load_kernels
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.selection import device_rows, names
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment


def kernel_for(function: Any) -> Any:
    """A kernel that adds what a Warp function returns."""

    @wp.kernel(enable_backward=False, module="unique")
    def add_user_force(
        bodies: Bodies,
        motion: Motion,
        clock: Clock,
        fraction: wp.float64,
        rows: wp.array[wp.int32],
        loads: Loads,
    ) -> None:
        i = rows[wp.tid()]
        world = bodies.world[i]
        t = clock.time[world] + fraction * clock.time_step[world]
        force, torque = function(t, i, bodies, motion)
        loads.force[i] = loads.force[i] + force
        loads.torque[i] = loads.torque[i] + torque

    return add_user_force


@sealed
@dataclass(frozen=True)
class WarpForce:
    """A force as a Warp function.

    Args:
        function: A ``@wp.func`` of (time, row, Bodies, Motion) that returns force and torque.
        bodies: Names, groups or bodies it acts on; None for all that move.
        depends_on_velocity: Whether it reads velocities; if not, the default integrator needs one evaluation less.
        potential: Optional; called with positions (bodies, 3) in Python, returns the potential energy [J].
    """

    function: Any
    bodies: Any = None
    depends_on_velocity: bool = True
    potential: Callable[[np.ndarray], Any] | None = None
    depends_on_pose: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the function and keep the bodies as names."""
        if not isinstance(self.function, wp.Function):
            raise InputError(
                f"WarpForce got {self.function!r}; it needs a function decorated with @wp.func. "
                "For a plain Python function use rb.PythonForce."
            )
        object.__setattr__(self, "bodies", names(self.bodies, self.label))

    @property
    def label(self) -> str:
        """What error messages call it."""
        return f"WarpForce {self.function.key!r}"

    def compile(self, model: Model) -> "CompiledWarpForce":
        """Bind to a model."""
        return CompiledWarpForce(self, model)


class CompiledWarpForce:
    """A Warp force bound to a model."""

    def __init__(self, force: WarpForce, model: Model) -> None:
        self.force, self.model = force, model
        self.chosen = model.select(force.bodies, force.label)
        self.rows = device_rows(model, force.bodies, force.label)
        self.kernel = kernel_for(force.function)
        try:
            load_kernels([self.kernel.module], model.device)
        except Exception as error:  # whatever Warp finds wrong with the user's function
            fault = str(error).splitlines()[-1].lstrip("; ")
            raise InputError(f"{force.label} cannot be compiled: {fault}") from error

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add what the function returns to every chosen body."""
        bodies, rows = self.model.bodies, self.rows
        program.launch(self.kernel, len(rows), bodies, moment.motion, moment.clock, moment.fraction, rows, loads)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """The user's potential of each world [J], or zero."""
        if self.force.potential is None:
            return np.zeros(len(position))
        return np.array([float(self.force.potential(x)) for x in position[:, self.chosen]])
