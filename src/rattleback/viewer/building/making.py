"""Making bodies: added, copied, taken away, held still or let go.

Every function changes the scene that it is given, which is a copy, and returns the name of what it added.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.model.body import make_body, make_static
from rattleback.model.editing import check_ends, numbered, placed_force
from rattleback.shapes import MENU as SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.model.scene import Scene
    from rattleback.viewer.building.present import Present


def add_body(scene: Scene, kind: str, sizes: Any, options: Mapping[str, Any], static: bool) -> str:
    """Add a body of a shape by the name of its kind and its sizes."""
    shape = SHAPES[kind](*sizes)
    return str((scene.add_static if static else scene.add_body)(shape, **options).name)


def duplicate(scene: Scene, name: str, present: Present) -> str:
    """Add a body like another one beside it; without its joints."""
    body = scene[name]
    stem, _, number = name.rpartition("_")
    stem = stem if stem and number.isdigit() else name
    place, turn = present.pose(name)
    low, high = _bounds(body)
    made = replace(
        body,
        name=numbered(stem, 2, scene._taken),
        position=place + np.array((1.25 * (high - low), 0.0, 0.0)),
        orientation=np.array(turn),
    )
    return str(scene._add(made).name)


def remove_all(scene: Scene, name: str) -> None:
    """Take a body away with the joints and forces that hang on it."""
    gone = [label for label, joint in scene.joints.items() if name in (joint.a, joint.b)]
    lost = {"a": {name}, "b": {name}, "body": {name}, "joint": set(gone)}
    for label, force in [*scene.forces.items()]:
        bodies, joints = getattr(force, "bodies", None) or (), getattr(force, "joints", None) or ()
        if any(getattr(force, side, None) in names for side, names in lost.items()) or set(joints) & set(gone):
            scene.remove_force(label)
        elif name in bodies:
            rest = tuple(other for other in bodies if other != name)
            scene.replace_force(label, replace(force, bodies=rest)) if rest else scene.remove_force(label)
    for label in gone:
        scene.remove_joint(label)
    scene.remove_body(name)


def set_static(scene: Scene, name: str, static: bool) -> None:
    """Hold a body still, or let it move; a body that is let go has the density of water, unless its mass was known."""
    body = scene[name]
    if body.static == static:
        return
    kept = ("position", "orientation", "velocity", "angular_velocity", "material", "margin", "category")
    options: Any = {key: getattr(body, key) for key in (*kept, "collides_with")}
    options |= {"collision": list(body.colliders) or None} | ({"group": body.group} if body.group else {})
    if static:
        options["position"] = body.origin
        options |= {"velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)}
    made = (make_static if static else make_body)(name, body.shape, options)
    scene.renew({scene.index(name): made}, {}, {})
    for label, joint in scene.joints.items():
        check_ends(scene, joint, label)
    for label, force in scene.forces.items():
        placed_force(scene, force, label)


def _bounds(body: Any) -> tuple[float, float]:
    """How far the shape of a body reaches along x, before it is turned [m]."""
    if body.shape is None:
        return 0.0, 0.5
    low, high = body.shape.bounds()
    return (float(low[0]), float(high[0])) if np.all(np.isfinite((low, high))) else (0.0, 0.0)
