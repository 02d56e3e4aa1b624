"""Parameters of a scene by name: what ``object.parameter`` means, and how it is changed.

| object | parameters |
|---|---|
| body, group | options of ``add_body``; fields of its material and of its shape, such as ``friction`` and ``radius`` |
| joint | its fields, such as ``at``, ``axis``, ``limits``; ``angle``, ``position`` and ``velocity`` to start with |
| force | its fields, such as ``stiffness``, ``gain``, ``target`` |
| world | ``gravity`` |

A body of another size keeps its mass unless ``density`` is given beside the size; with another mass alone its inertia
changes in proportion, as ``scene.change_body`` has it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.model.body import BodyOptions, StaticOptions
from rattleback.model.coordinates import start_names
from rattleback.model.material import Material

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.model.scene import Scene

GRAVITY = "gravity"
# Options of a body that are part of the structure of a scene, which all worlds share.
STRUCTURAL = ("name", "group", "category", "collides_with", "continuous")
MATERIAL = tuple(field.name for field in fields(Material))
# Coefficients that follow ``friction`` where only that is said.
FOLLOWING = ("static_friction", "dynamic_friction")
# Fields of joints and forces that say what they act on.
ENDS = ("a", "b", "joint", "joints", "body", "bodies", "control", "freedom", "frame")
# Fields of joints that are in the state, or that the pose at the start goes with.
PLACE_OR_STRENGTH = ("at", "axis", "at_b", "axis_b", "frame_a", "frame_b", "breaking_force", "breaking_torque")
# Shapes of fields that may be None, by how their names end.
OPTIONAL = {"limits": (2,), "at": (3,), "at_b": (3,), "axis_b": (3,)}


def split_name(scene: Scene, entry: str, starts: bool = False) -> tuple[str, str]:
    """Object and parameter of a name such as ``arm.mass``; a wrong one is refused with what there is.

    Args:
        scene: The scene.
        entry: The name; ``gravity`` stands for ``world.gravity``.
        starts: Whether coordinates and rates with which joints start are parameters, too.
    """
    if entry == GRAVITY:
        return scene.world.name, GRAVITY
    owner, dot, parameter = str(entry).rpartition(".")
    known = objects_of(scene)
    if not dot or owner not in known:
        asked = owner if dot else entry
        raise UnknownName(
            f"{entry!r} is asked for, and there is no {asked!r} in the scene; a name is 'object.parameter', such as "
            f"'arm.mass'.{did_you_mean(asked, known)} There are {listing(known)}."
        )
    able = parameters_of(scene, owner) + (start_names(scene.joints[owner]) if starts and owner in scene.joints else [])
    if parameter not in able:
        raise UnknownName(
            f"{entry!r} is asked for, and {owner!r} has no {parameter!r} that may differ from world to world."
            f"{did_you_mean(parameter, able)} It has {listing(able)}."
        )
    return owner, parameter


def objects_of(scene: Scene) -> list[str]:
    """The names of what has parameters."""
    names = [*(body.name for body in scene.bodies), *scene.groups, *scene.joints, *scene.forces, scene.world.name]
    return list(dict.fromkeys(names))


def parameters_of(scene: Scene, owner: str) -> list[str]:
    """The parameters of an object of a scene."""
    if owner == scene.world.name:
        return [GRAVITY]
    if owner in scene or owner in scene.groups:
        bodies = scene.groups[owner] if owner in scene.groups else [scene[owner]]
        found = [_of_body(body) for body in bodies]
        return [name for name in found[0] if all(name in other for other in found)]
    thing = scene.joints[owner] if owner in scene.joints else scene.forces[owner]
    return (
        [field.name for field in fields(thing) if field.init and field.name not in ENDS] if _has_fields(thing) else []
    )


def _has_fields(thing: Any) -> bool:
    return is_dataclass(thing) and not isinstance(thing, type)


def _of_body(body: Any) -> list[str]:
    options = (StaticOptions if body.static else BodyOptions).__annotations__
    sizes = [field.name for field in fields(body.shape) if field.init] if _has_fields(body.shape) else []
    own = [name for name in options if name not in STRUCTURAL]
    return list(dict.fromkeys([*own, "shape", *MATERIAL, *sizes]))


def change(scene: Scene, owner: str, values: Mapping[str, Any]) -> None:
    """Give parameters of an object of a scene other values, all at once.

    Args:
        scene: The scene, which is changed.
        owner: Name of the object.
        values: The new values by parameter.
    """
    if owner == scene.world.name:
        scene.gravity = values[GRAVITY]
    elif owner in scene.groups:
        for body in list(scene.groups[owner]):
            scene.change_body(body.name, **_body_changes(scene[body.name], values))
    elif owner in scene:
        scene.change_body(owner, **_body_changes(scene[owner], values))
    elif owner in scene.joints:
        scene.change_joint(owner, **values)
    else:
        scene.change_force(owner, **values)


def _body_changes(body: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """What ``change_body`` is told: materials and shapes as wholes."""
    options = (StaticOptions if body.static else BodyOptions).__annotations__
    given = {name: value for name, value in values.items() if name in options or name == "shape"}
    rest = {name: value for name, value in values.items() if name not in given}
    surface = {name: value for name, value in rest.items() if name in MATERIAL}
    sizes = {name: value for name, value in rest.items() if name not in MATERIAL}
    if surface:
        given["material"] = _changed_material(given.get("material", body.material), surface)
    if sizes:
        given["shape"] = replace(given.get("shape", body.shape), **sizes)
    return given


def _changed_material(material: Material, values: Mapping[str, Any]) -> Material:
    """A material with other coefficients; friction alone is that of both kinds."""
    follows = dict.fromkeys(FOLLOWING) if "friction" in values else {}
    try:
        return replace(material, **{**follows, **values})
    except TypeError as error:
        raise InputError(f"A material cannot be given {dict(values)!r}: {error}.") from None


def value_of(scene: Scene, owner: str, parameter: str) -> Any:
    """The value of a parameter in a scene; of a group a list of its members'."""
    if owner == scene.world.name:
        return scene.gravity
    if owner in scene.groups:
        return [_of_one(body, parameter) for body in scene.groups[owner]]
    if owner in scene:
        return _of_one(scene[owner], parameter)
    return getattr(scene.joints[owner] if owner in scene.joints else scene.forces[owner], parameter)


def shape_of(scene: Scene, owner: str, parameter: str) -> tuple[int, ...]:
    """Shape of a value of a parameter in one world, also where there is none yet."""
    for ending, shape in OPTIONAL.items():
        if parameter.endswith(ending):
            return shape
    body = scene.groups[owner][0].name if owner in scene.groups else owner
    return np.shape(value_of(scene, body, parameter))


def _of_one(body: Any, parameter: str) -> Any:
    if parameter == "density":
        return body.mass / float(body.shape.mass_properties(1.0).mass)
    if parameter == "collision":
        return body.colliders
    holder = body if hasattr(body, parameter) else body.material if parameter in MATERIAL else body.shape
    return getattr(holder, parameter)


def is_live(scene: Scene, owner: str, parameter: str) -> bool:
    """Whether running worlds take another value in place; else they have to be compiled anew."""
    if owner in scene or owner in scene.groups:
        return parameter in ("mass", "inertia", "material", *MATERIAL)
    return owner not in scene.joints or parameter not in PLACE_OR_STRENGTH
