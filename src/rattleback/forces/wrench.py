"""A given force and torque on bodies, at a point, in world or body axes, for a span of time.

    F, τ + r × F   while t₀ ≤ t < t₁,   r from the centre of mass to the point

In the world frame force, torque and point are those of the world; in the local frame they turn with the body and
the point is given in the body's frame. Without a point the force acts at the centre of mass. Cost: one thread a body.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import structs
from rattleback.forces.selection import device_rows, names
from rattleback.maths.quat import rotate
from rattleback.model.model import Bodies, Model
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment


@wp.struct
class Push:
    """What is applied, where and when."""

    force: vec3
    torque: vec3
    point: vec3
    has_point: wp.int32
    local: wp.int32
    start: wp.float64
    until: wp.float64
    fraction: wp.float64


@kernel
def add_wrench(
    bodies: Bodies, motion: Motion, clock: Clock, rows: wp.array[wp.int32], pushes: wp.array[Push], loads: Loads
) -> None:
    """Inside its span of time, F and τ + r × F."""
    i = rows[wp.tid()]
    world = bodies.world[i]
    push = pushes[world]
    t = clock.time[world] + push.fraction * clock.time_step[world]
    if t < push.start or t >= push.until:
        return
    q = motion.orientation[i]
    f = push.force
    torque = push.torque
    r = vec3()
    if push.local == 1:
        f = rotate(q, f)
        torque = rotate(q, torque)
        r = rotate(q, push.point - bodies.center_of_mass[i])
    else:
        r = push.point - motion.position[i]
    if push.has_point == 1:
        torque += wp.cross(r, f)
    loads.force[i] = loads.force[i] + f
    loads.torque[i] = loads.torque[i] + torque


@sealed
@dataclass(frozen=True)
class Wrench:
    """A given force and torque.

    Args:
        bodies: Names, groups or bodies it acts on; None for all that move.
        force: Force (3,) [N].
        torque: Torque (3,) [N m].
        at: Point the force acts at (3,) [m], in the world or in the body's frame; None for the centre of mass.
        frame: ``"world"`` or ``"local"``.
        start: Time from which it acts [s].
        until: Time at which it ends [s].
    """

    bodies: Any = None
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    at: tuple[float, float, float] | None = None
    frame: str = "world"
    start: float = 0.0
    until: float = math.inf
    depends_on_velocity: ClassVar[bool] = False
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything and keep the bodies as names."""
        for name in ("force", "torque", "at"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(checks.vector(value, f"The {name} of Wrench").tolist()))
        checks.one_of(self.frame, ("world", "local"), "The frame of Wrench")
        checks.number(self.start, "The start of Wrench")
        if checks.number_or_infinite(self.until, "The until of Wrench") <= self.start:
            raise InputError(f"The Wrench ends at {self.until:g} s, before it starts at {self.start:g} s.")
        object.__setattr__(self, "bodies", names(self.bodies, "Wrench"))

    @property
    def depends_on_pose(self) -> bool:
        """Whether it turns with the body or has a lever."""
        return self.frame == "local" or self.at is not None

    def compile(self, model: Model) -> "CompiledWrench":
        """Bind to a model."""
        return CompiledWrench(self, model)


class CompiledWrench:
    """A wrench bound to a model."""

    def __init__(self, force: Wrench, model: Model) -> None:
        self.force, self.model = force, model
        self.rows = device_rows(model, force.bodies, "Wrench")

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add it to every chosen body."""
        versions, fraction = self.model.scenes.versions(self.force), moment.fraction
        pushes = structs(self.model, Push, [_push(version, fraction) for version in versions])
        given = (self.model.bodies, moment.motion, moment.clock, self.rows, pushes, loads)
        program.launch(add_wrench, len(self.rows), *given)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """A wrench counts as work from outside, not as potential energy."""
        return np.zeros(len(position))


def _push(given: Wrench, fraction: float) -> Push:
    """A wrench as kernels know it, at so much of a step."""
    push = Push()
    push.force, push.torque, push.point = vec3(*given.force), vec3(*given.torque), vec3(*(given.at or (0.0,) * 3))
    push.has_point, push.local = int(given.at is not None), int(given.frame == "local")
    push.start, push.until, push.fraction = given.start, given.until, fraction
    return push
