"""A damped spring between a point of one body and a point of another.

    F = −(D (|d| − l) + c ḋ · n) n   on B,   −F on A,      d = p_B − p_A,   n = d/|d|,      V = ½ D (|d| − l)²

p_A, p_B the points it is fastened to, which move with their bodies; D stiffness, c damping, l length without load. Each
force acts at its point, so that its lever gives a torque; both lie on one line, so that linear and angular momentum are
kept. Where the points meet, n does not exist and the force is zero, the mean over all directions they can part in.

The damping acts along the spring alone. The document adds a damping force for B to a spring force for A and lets it act
across the spring too, where it would brake a swing.

Cost: one thread a world. Stiff springs ask for a time step well below 1/√(D/m), or for ``implicit_euler``.

Reference: Bender, dissertation, §3.2.7.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import by_world, structs
from rattleback.forces.push import push, row_of
from rattleback.forces.selection import body_name
from rattleback.forces.stiff_forces import easing
from rattleback.maths import rotation
from rattleback.maths.quat import rotate
from rattleback.model.model import Model
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment


@wp.struct
class Coil:
    """A spring between two bodies of every world; body −1 is the world, whose anchors are places."""

    body_a: wp.int32
    body_b: wp.int32
    bodies: wp.int32
    anchor_a: vec3
    anchor_b: vec3
    stiffness: real
    damping: real
    length: real


@wp.func
def end_of(motion: Motion, body: int, anchor: vec3) -> tuple[vec3, vec3, vec3]:
    """Lever, place and velocity of one end."""
    if body < 0:
        return vec3(), anchor, vec3()
    lever = rotate(motion.orientation[body], anchor)
    velocity = motion.velocity[body] + wp.cross(motion.angular_velocity[body], lever)
    return lever, motion.position[body] + lever, velocity


@wp.func
def length_and_direction(d: vec3) -> tuple[real, vec3]:
    """|d| and d/|d|, for vectors of any size; zero for the zero vector."""
    largest = wp.max(wp.abs(d[0]), wp.max(wp.abs(d[1]), wp.abs(d[2])))
    if largest == real(0.0):
        return real(0.0), vec3()
    scaled = vec3(d[0] / largest, d[1] / largest, d[2] / largest)
    size = wp.length(scaled)
    return largest * size, scaled / size


@kernel
def add_spring(motion: Motion, coils: wp.array[Coil], loads: Loads) -> None:
    """F at the end on B, −F at the end on A."""
    w = wp.tid()
    coil = coils[w]
    a = row_of(coil.body_a, coil.bodies, w)
    b = row_of(coil.body_b, coil.bodies, w)
    lever_a, place_a, velocity_a = end_of(motion, a, coil.anchor_a)
    lever_b, place_b, velocity_b = end_of(motion, b, coil.anchor_b)
    length, n = length_and_direction(place_b - place_a)
    pull = coil.stiffness * (length - coil.length) + coil.damping * wp.dot(velocity_b - velocity_a, n)
    force = -pull * n
    push(loads, b, force, wp.cross(lever_b, force))
    push(loads, a, -force, -wp.cross(lever_a, force))


@sealed
@dataclass(frozen=True)
class Spring:
    """A damped spring between a point of one body and a point of another.

    Args:
        a: First body: what ``add_body`` returned, its name, or ``scene.world``.
        b: The other body.
        at: Point on A in the world at the start (3,) [m].
        at_b: Point on B, where it is not the same as ``at`` (3,) [m].
        stiffness: Force per metre of elongation [N/m].
        damping: Force per velocity of elongation [N s/m].
        length: Length without load [m]; None for the distance of the points at the start.
    """

    a: Any
    b: Any
    _: KW_ONLY
    at: Any
    at_b: Any = None
    stiffness: float
    damping: float = 0.0
    length: float | None = None
    depends_on_pose: ClassVar[bool] = True
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything, keep the bodies as names and find the length."""
        for side in ("a", "b"):
            object.__setattr__(self, side, body_name(getattr(self, side), f"Body {side} of Spring"))
        if self.a == self.b:
            raise InputError(f"Spring joins {self.a!r} to itself; it needs two bodies.")
        at = tuple(checks.vector(self.at, "The at of Spring").tolist())
        at_b = at if self.at_b is None else tuple(checks.vector(self.at_b, "The at_b of Spring").tolist())
        distance = float(np.linalg.norm(np.subtract(at_b, at)))
        length = distance if self.length is None else checks.not_negative(self.length, "The length of Spring")
        given = {"at": at, "at_b": at_b, "length": length}
        for name in ("stiffness", "damping"):
            given[name] = checks.not_negative(getattr(self, name), f"The {name} of Spring")
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def depends_on_velocity(self) -> bool:
        """Whether it is damped."""
        return self.damping > 0.0

    def placed_in(self, scene: Any, label: str) -> "Spring":
        """The spring as a scene keeps it, after a look at whether its bodies are there and can move."""
        world = scene.world.name
        for body in (self.a, self.b):
            if body != world and body not in scene:
                hint = did_you_mean(body, [*(known.name for known in scene.bodies), world])
                raise UnknownName(f"Force {label!r} acts on {body!r}, which is not a body of the scene.{hint}")
        if all(body == world or scene[body].static for body in (self.a, self.b)):
            raise InputError(f"Force {label!r} joins {self.a!r} and {self.b!r}, neither of which can move.")
        return self

    def compile(self, model: Model) -> "CompiledSpring":
        """Bind to a model."""
        return CompiledSpring(self, model)


class CompiledSpring:
    """A spring bound to a model."""

    def __init__(self, force: Spring, model: Model) -> None:
        self.force, self.model = force, model
        world = model.scene.world.name
        self.rows = [-1 if name == world else model.index(name) for name in (force.a, force.b)]
        self.versions = model.scenes.versions(force)
        alike = len(self.versions) == 1 and not model.scenes.varied
        self.numbers = by_world(model, force, ("stiffness", "damping", "length"))
        # The anchors of every world, (worlds, 3) each.
        self.anchors = [
            np.broadcast_to([self._anchor(w, s) for w in range(1 if alike else model.worlds)], (model.worlds, 3))
            for s in range(2)
        ]
        made = [self._coil(w) for w in range(1 if alike else model.worlds)]
        self.coils = structs(model, Coil, made)

    def _anchor(self, world: int, side: int) -> np.ndarray:
        """A point of the world at the start, as a body sees it."""
        force, row = self.versions[min(world, len(self.versions) - 1)], self.rows[side]
        point = np.array((force.at, force.at_b)[side])
        if row < 0:
            return point
        body = self.model.scenes.of(world).bodies[row]
        return rotation.rotate(rotation.conjugate(body.orientation), point - body.position)

    def _coil(self, world: int) -> Coil:
        coil = Coil()
        coil.body_a, coil.body_b, coil.bodies = *self.rows, len(self.model.names)
        coil.anchor_a, coil.anchor_b = (vec3(*anchor[world]) for anchor in self.anchors)
        for name, values in self.numbers.items():
            setattr(coil, name, float(values[world]))
        return coil

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add its pull to both bodies of every world."""
        program.launch(add_spring, self.model.worlds, moment.motion, self.coils, loads)

    def rates(self) -> tuple[float, float]:
        """ω² [1/s²] and r [1/s], see ``stiff_forces``."""
        ends = zip(self.rows, (anchor[0] for anchor in self.anchors), strict=True)
        ease = sum(easing(self.model, row, anchor) for row, anchor in ends)
        return self.force.stiffness * ease, self.force.damping * ease

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """½ D (|d| − l)² of each world [J]."""
        ends = [
            anchor if row < 0 else position[:, row] + rotation.rotate(orientation[:, row], anchor)
            for row, anchor in zip(self.rows, self.anchors, strict=True)
        ]
        stretch = np.linalg.norm(ends[1] - ends[0], axis=-1) - self.numbers["length"]
        return np.asarray(0.5 * self.numbers["stiffness"] * stretch**2)
