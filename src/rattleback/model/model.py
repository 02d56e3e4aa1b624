"""The model: a scene frozen into arrays, replicated into as many worlds as asked for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.model.surfaces import Kinds, PairRules, Surfaces
from rattleback.model.worlds.scenes import WorldScenes


@group(axis="bodies")
class Bodies:
    """What does not change about a body."""

    world: wp.int32 = field("1", "index of the world it lives in")
    mass: real = field("kg", "mass; zero for a static body")
    inverse_mass: real = field("1/kg", "inverse mass; zero for a static body")
    inertia: mat33 = field("kg m²", "inertia about the centre of mass, axes of the body's frame")
    inverse_inertia: mat33 = field("1/(kg m²)", "its inverse; zero for a static body")
    moments: vec3 = field("kg m²", "principal moments of the inertia")
    ratios: vec3 = field("1", "(J_z − J_y) / J_x and so on of the principal moments; zero for a static body")
    axes: quat = field("1", "orientation of the principal axes in the body's frame")
    center_of_mass: vec3 = field("m", "centre of mass in the body's frame")


@dataclass(frozen=True)
class Model:
    """A scene as arrays. Body b of world w is row ``w * len(names) + b``.

    Attributes:
        scenes: The scenes of its worlds.
        names: Names of the bodies of one world, in the order they were added.
        batched: Whether the user asked for worlds and sees a leading world axis.
        dynamic: Indices of the bodies of one world that are not static.
        bodies: The arrays.
        surfaces: Coefficients of the surfaces of the bodies; writing a material of a body changes them in place.
        rules: How two surfaces that touch combine, and the table of pairs of materials.
        kinds: Rows of materials in those tables.
        device: Where the arrays live.
    """

    scenes: WorldScenes
    names: tuple[str, ...]
    batched: bool
    dynamic: np.ndarray
    bodies: Bodies
    surfaces: Surfaces
    rules: PairRules
    kinds: Kinds
    device: Any

    @property
    def scene(self) -> Any:
        """The scene of the first world, with the names and the structure that all worlds have."""
        return self.scenes.first

    @property
    def worlds(self) -> int:
        """Number of worlds."""
        return self.scenes.count

    @property
    def count(self) -> int:
        """Number of bodies in all worlds."""
        return len(self.names) * self.worlds

    @cached_property
    def static(self) -> np.ndarray:
        """Which bodies of one world are static (bodies,)."""
        return np.array([body.static for body in self.scene.bodies])

    @cached_property
    def mass(self) -> np.ndarray:
        """Masses of the bodies (worlds, bodies) [kg]."""
        return self.of_bodies(lambda body: body.mass)

    @property
    def gravity(self) -> np.ndarray:
        """Size of the acceleration of gravity in every world (worlds,) [m/s²]."""
        return self.scenes.each(lambda scene: math.hypot(*scene.gravity))

    def of_bodies(self, of: Callable[[Any], Any]) -> np.ndarray:
        """What the scenes say of their bodies, from what they say of one (worlds, bodies, ...)."""
        found = self.scenes.bodies()
        column = found.spread([of(body) for body in found.items])
        return column.reshape(self.worlds, len(self.names), *column.shape[1:])

    @cached_property
    def has_loose_bodies(self) -> bool:
        """Whether a body moves that has no joint."""
        held = {name for joint in self.scene.joints.values() for name in (joint.a, joint.b)}
        return any(self.names[i] not in held for i in self.dynamic)

    @cached_property
    def bodies_can_meet(self) -> bool:
        """Whether there are two bodies that may touch, one of which moves."""
        solid = [body for body in self.scene.bodies if body.colliders]
        return len(solid) > 1 and not all(body.static for body in solid)

    def by_world(self, column: np.ndarray) -> np.ndarray:
        """An array of rows as (worlds, rows of a world, ...), of the first world alone where all have the same."""
        worlds = len(self.scenes.scenes)
        flat = column.reshape(self.worlds, -1, *column.shape[1:])
        return flat[:worlds]

    def world_numbers(self, values: Any) -> Any:
        """A number for every world, or one for all, as an array of the device."""
        found = np.broadcast_to(np.asarray(values, dtype=np.float64), self.worlds)
        return wp.array(np.ascontiguousarray(found), dtype=real, device=self.device)

    def index(self, body: Any) -> int:
        """Index of a body in its world, from its name or the object ``add_body`` returned."""
        return int(self.scene.index(body))

    def select(self, bodies: tuple[str, ...] | None, what: str) -> np.ndarray:
        """Indices of the bodies named, by name or group, in one world; all that move for None."""
        if bodies is None:
            return self.dynamic
        groups = self.scene.groups
        names = [name for entry in bodies for name in ([b.name for b in groups[entry]] if entry in groups else [entry])]
        chosen: dict[int, str] = {}
        for name in names:
            index = self.index(name)
            if self.scene.bodies[index].static:
                raise InputError(f"{what} acts on {name!r}, which is static; nothing can push it.")
            if index in chosen:
                raise InputError(f"{what} names {name!r} twice.")
            chosen[index] = name
        return np.array(list(chosen), dtype=np.int64)

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Rows of the chosen bodies in every world, shape (worlds, chosen)."""
        return np.arange(self.worlds)[:, None] * len(self.names) + chosen[None, :]

    def locate(self, row: int) -> tuple[str, int]:
        """Name and world of the body in a row."""
        world, body = divmod(row, len(self.names))
        return self.names[body], world
