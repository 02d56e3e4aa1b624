"""A space: things at their places under a tree of boxes, for repeated queries.

The tree is built once for each selection of categories; a question then costs what lies near it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision.contact_view import ContactView
from rattleback.collision.detection import Detection
from rattleback.collision.finder import Finder
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.queries.pairwise import meet, method_of
from rattleback.collision.queries.placed_colliders import arrange
from rattleback.collision.queries.placement import PlacedEntries, body_entries, joined, read, rows
from rattleback.collision.queries.ray import Hits, cast, one
from rattleback.collision.queries.triangle_scene import scenery_of
from rattleback.collision.queries.vicinity import Points, Vicinity, look_around
from rattleback.core import arrays, checks
from rattleback.core.device import load_kernels
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.precision import numpy_real
from rattleback.core.sealed import sealed
from rattleback.model.body import DEFAULT_CATEGORY, Body
from rattleback.model.compile import compile_scene
from rattleback.model.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.collision.geometry.compile import Geometry
    from rattleback.collision.queries.triangle_scene import Scenery
    from rattleback.model.state import Motion

    Categories = str | Sequence[str] | None

EXAMPLE = 'rb.collision.Space(scene), or {"floor": rb.Plane(), "ball": rb.Placed(rb.Sphere(0.1), position=(0, 0, 1))}'


@sealed
class Space:
    """Things at their places, for queries.

    ``names`` lists the things that collide; the hits of ``ray_cast`` index into it.

    Args:
        things: A scene, at its starting poses; a list of its bodies; or a dictionary of names and placements.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """

    def __init__(self, things: Any, *, device: str = "cpu") -> None:
        self._scene: Scene | None = things if isinstance(things, Scene) else None
        named = _named(things)
        self.names: tuple[str, ...] = tuple(named)
        entries = joined([_single(thing, name) for name, thing in named.items()])
        categories = [thing.category if isinstance(thing, Body) else DEFAULT_CATEGORY for thing in named.values()]
        self._settle(entries, categories, device)

    @classmethod
    def of(cls, sim: Any, world: int = 0, *, device: str | None = None) -> Space:
        """The space of a running simulation, its bodies where they are now.

        Args:
            sim: The simulation; what it does later does not reach the space.
            world: Which world of it.
            device: Where to answer; None for the device of the simulation.
        """
        if not hasattr(sim, "model") or not hasattr(sim, "state"):
            raise InputError(f"Space.of got {sim!r}; it needs a simulation, such as rb.Simulation(scene).")
        checks.count(world, "The world of a space", least=0, most=sim.model.worlds - 1)
        poses = [np.array(getattr(sim.state, name), dtype=np.float64) for name in ("position", "orientation")]
        position, orientation = (pose[world] if sim.model.batched else pose for pose in poses)
        scene = sim.model.scenes.of(world)
        bodies = scene.bodies
        able = [k for k, body in enumerate(bodies) if body.colliders]
        space = cls.__new__(cls)
        space._scene, space.names = scene, tuple(bodies[k].name for k in able)
        entries = body_entries([bodies[k] for k in able], position[able], orientation[able])
        space._settle(entries, [bodies[k].category for k in able], device or sim.device.alias)
        space._poses = (position, orientation)
        return space

    def _settle(self, entries: PlacedEntries, categories: list[tuple[str, ...]], device: str) -> None:
        self._entries, self._categories, self._device = entries, categories, device
        self._arrangement = arrange(entries, device)
        self._sceneries: dict[tuple[bool, ...], Scenery] = {}
        self._poses: tuple[NDArray[Any], NDArray[Any]] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Space of {len(self)} things>"

    def ray_cast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = np.inf,
        *,
        collides_with: Categories = None,
    ) -> Hits:
        """What rays hit first; ``index`` of a hit counts in ``names``. See ``rb.collision.ray_cast``.

        Args:
            origins: Where the rays start [m], shape (rays, 3) or (3,).
            directions: Where they go, of any length but zero, shape (rays, 3) or (3,).
            max_distance: How far they go [m], one number or (rays,).
            collides_with: Names of the categories that count; None for everything.
        """
        return cast(self._arrangement, self._scenery(collides_with), origins, directions, max_distance)

    def nearest(self, points: ArrayLike, *, collides_with: Categories = None) -> Vicinity:
        """What is nearest to points.

        Args:
            points: Points in the world [m], shape (points, 3) or (3,).
            collides_with: Names of the categories that count; None for everything.
        """
        places = rows(points, 3, "The points")
        asked = arrays.allocate(Points, {"points": len(places)}, self._arrangement.device)
        asked.place.assign(places.astype(numpy_real))
        load_kernels([look_around.module], self._arrangement.device)
        inputs = [self._scenery(collides_with), asked]
        wp.launch(look_around, len(places), inputs=inputs, device=self._arrangement.device)
        found = arrays.read(asked)
        there = found["collider"] >= 0
        names = [self.names[k] if ok else "" for k, ok in zip(self._owner(found["collider"]), there, strict=True)]
        distance = np.where(there, found["distance"], np.inf)
        point, normal = (np.where(there[:, None], found[name], np.nan) for name in ("nearest", "normal"))
        if np.ndim(points) == 1:
            return Vicinity(one(distance), names[0], one(point), one(normal))
        return Vicinity(distance, names, point, normal)

    def overlapping(
        self, placement: Any, narrowphase: Any = "closed_forms", *, collides_with: Categories = None
    ) -> Any:
        """Names of the things a placement shares a point with; for many placements, a list for each.

        Args:
            placement: What to put there.
            narrowphase: How to find out, a name from the menu or an object.
            collides_with: Names of the categories that count; None for everything.
        """
        method, asked = method_of(narrowphase), read(placement, "The placement")
        both = arrange(joined([self._entries, asked]), self._device)
        lower, upper = both.places.lower.numpy(), both.places.upper.numpy()
        wanted = np.append(self._wanted(collides_with), np.zeros(len(asked), dtype=bool))
        own = np.flatnonzero(wanted[both.owner])
        low, high = lower[own], upper[own]
        pairs: set[tuple[int, int]] = set()
        for k in np.flatnonzero(both.owner >= len(self)):
            near = own[((low <= upper[k]) & (high >= lower[k])).all(axis=1)]
            pairs.update((int(both.owner[k]), int(i)) for i in both.owner[near])
        listed = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        met = listed[meet(both, listed[:, 0], listed[:, 1], method, 0.0).separation <= 0.0] if len(listed) else listed
        names = [[self.names[i] for i in met[met[:, 0] == len(self) + k, 1]] for k in range(len(asked))]
        return names if asked.many else names[0]

    def pairs(self, within: float = 0.0) -> ContactView:
        """The contacts between all things, as a simulation would find them.

        Of a scene the filters count: joined bodies, exclusions, categories, and pairs of static bodies are left out.
        Of a list or a dictionary, every two things may meet.

        Args:
            within: Surfaces no farther apart than this are in contact [m].
        """
        how = Detection(distance=checks.not_negative(within, "The distance within which things are in contact"))
        model, geometry, motion = self._model()
        finder = Finder(geometry, len(model.names), motion, how)
        finder.find()
        return ContactView(finder, model)

    def _model(self) -> tuple[Any, Geometry, Motion]:
        """What has names, the colliders and the poses; of a scene with its filters."""
        if self._scene is None:
            return self, self._arrangement.geometry, self._arrangement.motion
        model, state = compile_scene(self._scene, None, self._arrangement.device)
        if self._poses is not None:
            state.motion.position.assign(self._poses[0].astype(numpy_real))
            state.motion.orientation.assign(self._poses[1].astype(numpy_real))
        return model, compile_colliders(model), state.motion

    def index(self, name: Any) -> int:
        """Place of a thing in ``names``, by its name or the body itself."""
        label = name.name if isinstance(name, Body) else name
        if label not in self.names:
            raise UnknownName(
                f"The space has nothing named {label!r}.{did_you_mean(label, self.names)} It has {listing(self.names)}."
            )
        return self.names.index(label)

    def _owner(self, colliders: NDArray[Any]) -> NDArray[np.int64]:
        return self._arrangement.owner[colliders]

    def _wanted(self, collides_with: Categories) -> NDArray[np.bool_]:
        """Whether each thing belongs to one of the categories."""
        if collides_with is None:
            return np.ones(len(self), dtype=bool)
        known = sorted({name for own in self._categories for name in own})
        asked = [collides_with] if isinstance(collides_with, str) else list(collides_with)
        for name in asked:
            if name not in known:
                raise UnknownName(
                    f"The space has no category {name!r}.{did_you_mean(name, known)} It has {listing(known)}."
                )
        return np.array([any(name in own for name in asked) for own in self._categories])

    def _scenery(self, collides_with: Categories) -> Scenery:
        wanted = self._wanted(collides_with)
        key = tuple(wanted.tolist())
        if key not in self._sceneries:
            self._sceneries[key] = scenery_of(self._arrangement, wanted[self._arrangement.owner])
        return self._sceneries[key]


def _named(things: Any) -> dict[str, Any]:
    """What is in a space, by name; bodies without colliders are not."""
    if isinstance(things, Mapping):
        named = {checks.text(name, "A name in a space"): thing for name, thing in things.items()}
    elif isinstance(things, Scene) or (isinstance(things, (list, tuple)) and all(isinstance(b, Body) for b in things)):
        bodies = things.bodies if isinstance(things, Scene) else things
        named = {body.name: body for body in bodies if body.colliders}
    else:
        raise InputError(f"Space got {things!r}; it needs a scene, bodies, or names and placements: {EXAMPLE}.")
    if not named:
        raise InputError(f"Space got nothing that collides; it needs {EXAMPLE}.")
    return named


def _single(thing: Any, name: str) -> PlacedEntries:
    entries = read(thing, f"Placement {name!r}")
    if entries.many:
        raise InputError(f"Placement {name!r} of a space is many; give every one a name of its own.")
    return entries
