"""A scene and its forest by names: what an articulation refuses, limits, and numbers for each rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.joints.soft import is_soft
from rattleback.joints.stop import stops_of
from rattleback.model.scene import Scene
from rattleback.reduced.moves import SAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.reduced.forest import Layout

    Floats = NDArray[np.float64]


def checked_scene(scene: Any) -> Scene:
    """A copy of a scene that has bodies to move, all of whose joints hang on bodies that move or stand still."""
    if not isinstance(scene, Scene):
        raise InputError(
            f"Articulation got {scene!r}, which has no masses; it needs a Scene, whose bodies have masses and inertias."
        )
    if not any(not body.static for body in scene.bodies):
        raise InputError(f"Scene {scene.name!r} has no body that moves; add one with scene.add_body(rb.Sphere(0.1)).")
    for name, joint in scene.joints.items():
        if is_soft(joint):
            raise InputError(
                f"Joint {name!r} is soft, a force between bodies; articulated bodies have joints that hold. Leave its "
                "stiffness out, or leave it out of the scene."
            )
        for side in {joint.a, joint.b} - {scene.world.name}:
            body = scene[side]
            if body.static and (body.velocity.any() or body.angular_velocity.any()):
                raise InputError(
                    f"Joint {name!r} hangs on {side!r}, a static body that is driven at a velocity; the ground of "
                    "articulated bodies must stand still."
                )
    return scene.copy()


def starting(layout: Layout) -> Floats:
    """The coordinates at which nothing has moved or turned."""
    q = np.zeros(len(layout.coordinates))
    for move, _, first, _ in layout.moves:
        if move.coordinates == len(SAME):
            q[first : first + len(SAME)] = SAME
    return q


def stops_by_coordinate(scene: Scene, layout: Layout) -> tuple[Floats, Floats]:
    """Least and greatest value of each coordinate."""
    lower, upper = np.full((2, len(layout.coordinates)), np.inf) * [[-1.0], [1.0]]
    for move, label, first, _ in layout.moves:
        for stop in stops_of(scene.joints[label]) if label in scene.joints else ():
            if move.names == (stop.freedom,):
                lower[first], upper[first] = stop.lower, stop.upper
    return lower, upper


def places(layout: Layout, name: str) -> tuple[slice, slice]:
    """Places of a joint, or of a body that floats, in q and in v."""
    own = [(move, q, v) for move, label, q, v in layout.moves if label == name]
    if not own:
        labels = list(dict.fromkeys(label for _, label, _, _ in layout.moves))
        hint = f" It is one of the joints that were cut: {listing(layout.cut)}." if name in layout.cut else ""
        raise UnknownName(
            f"There is no joint or floating body {name!r} with coordinates; there are {listing(labels)}."
            f"{hint or did_you_mean(name, labels)}"
        )
    last, q, v = own[-1]
    return slice(own[0][1], q + last.coordinates), slice(own[0][2], v + len(last.names))


def of_joints(scene: Scene, layout: Layout, name: str) -> Floats:
    """A field of the joints of a scene for each rate; zero where a joint has none."""
    found = np.zeros(len(layout.rates))
    for move, label, _, first in layout.moves:
        found[first : first + len(move.names)] = getattr(scene.joints.get(label), name, 0.0)
    return found


def per_rate(layout: Layout, value: Any, what: str, own: Floats) -> Floats:
    """A number of zero or more for each rate, given by rate, by joint or all at once; ``own`` where none is given."""
    count = len(layout.rates)
    if value is None:
        return own
    if isinstance(value, Mapping):
        found = own.copy()
        for name, entry in value.items():
            where = layout.rates.index(name) if name in layout.rates else places(layout, name)[1]
            found[where] = checks.not_negative(entry, f"{what} of {name!r}")
        return found
    if isinstance(value, (int, float)):
        return np.full(count, checks.not_negative(value, what))
    found = checks.array(value, (count,), what)
    if found.min(initial=0.0) < 0.0:
        raise InputError(
            f"{what} of rate {layout.rates[int(found.argmin())]!r} is {found.min():g}; it must be zero or more."
        )
    return found
