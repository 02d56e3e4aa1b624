"""Scenes as plain data and back: what a scene file holds, and what a state file carries along.

Written are the properties that were computed, not the recipe they came from: mass, centre of mass, inertia and position
of every body, each float in full, so that a scene read back compiles into the same arrays bit for bit.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from rattleback import forces, joints, shapes
from rattleback.core import checks
from rattleback.core.errors import InputError, did_you_mean, listing
from rattleback.io.faults import Faults
from rattleback.io.force_schema import FORCE
from rattleback.io.joint_schema import JOINT
from rattleback.io.scene_schema import (
    APART,
    ENTRIES,
    FORMAT,
    PAIR,
    VERSION,
    BodyEntry,
    MaterialPairEntry,
    SceneEntry,
)
from rattleback.model import Body, Material, Scene
from rattleback.model.filter import predicate_name
from rattleback.model.pairing import Rules

UNMOVED = repr(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
LISTS = ("bodies", "joints", "forces", "exclusions", "allowed", "pairs")
# Fields of a material that files from before rolling friction lack; left out where they are zero.
LATER_FIELDS = ("rolling_friction", "spinning_friction", "surface_velocity")


def to_data(scene: Scene) -> dict[str, Any]:
    """A scene as plain data, checked against the schema it will be read with.

    Raises:
        InputError: Something in the scene cannot be written, such as a force that carries code.
    """
    try:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "name": scene.name,
            "gravity": checks.vector(scene.gravity, "The gravity of the scene").tolist(),
            "bodies": [_body_data(body) for body in scene.bodies],
            "joints": [_joint_data(name, joint) for name, joint in scene.joints.items()],
            "forces": [_force_data(name, force) for name, force in scene.forces.items()],
            **_meetings_data(scene),
            **_pairing_data(scene),
        }
    except RecursionError:
        raise InputError(f"The scene {scene.name!r} has a shape that is nested too deeply to be written.") from None
    faults = Faults("scene", scene.name, ENTRIES)
    with faults.at():
        SceneEntry.model_validate(data)
    if faults:
        raise InputError(f"The scene {scene.name!r} cannot be written; it has {faults.told()}")
    return data


@np.errstate(over="raise", invalid="raise", divide="raise")
def from_data(data: Any, faults: Faults) -> Scene:
    """The scene that plain data describe, entry by entry, so that one fault does not hide the next.

    Raises:
        FileError: The data are of another format or version, or have faults; all of them are named.
    """
    check_format(data, FORMAT, VERSION, faults)
    scene = Scene()
    with faults.at():
        empty: dict[str, list[Any]] = {name: [] for name in LISTS if isinstance(data.get(name), list)}
        top = SceneEntry.model_validate({**data, **empty})
        scene = Scene(top.gravity, top.name)
        scene.combine(**_given(top.combine))
    lists = {name: data[name] if isinstance(data.get(name), list) else [] for name in LISTS}
    for index, entry in enumerate(lists["bodies"]):
        before, named = len(scene), _with_own_name(scene, entry, index, faults)
        with faults.at("bodies", index):
            _add_body(scene, named, index, faults)
        if len(scene) == before:
            _add_stand_in(scene, named)
    for index, entry in enumerate(lists["joints"]):
        with faults.at("joints", index):
            _add_joint(scene, entry, index, faults)
    for name, add in ADD.items():
        for index, entry in enumerate(lists[name]):
            with faults.at(name, index):
                add(scene, entry)
    faults.check()
    return scene


def check_format(data: Any, wanted: str, version: int, faults: Faults) -> None:
    """Refuse data of another format or version before anything else is looked at."""
    if not isinstance(data, dict) or data.get("format") != wanted:
        raise faults.error(f'is not a {wanted} file: it has no "format": "{wanted}".')
    found = data.get("version")
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise faults.error(f"has no version number; this rattleback reads version {version}.")
    if found != version:
        raise faults.error(f"is version {found}; this rattleback reads version {version}.")


def carries_code(part: object) -> bool:
    """Whether a joint or force is not on its menu, so that a file cannot hold it."""
    return type(part) not in (*joints.MENU.values(), *forces.MENU.values())


def _body_data(body: Body) -> dict[str, Any]:
    data: dict[str, Any] = {"name": body.name}
    if body.static:
        data["static"] = True
    if body.shape is not None:
        data["shape"] = shapes.to_data(body.shape)
    own = () if body.static else ("mass", "center_of_mass", "inertia")
    for name in (*own, "position", "orientation", "velocity", "angular_velocity"):
        data[name] = _plain(getattr(body, name))
    data["material"] = _material_data(body.material)
    if body.group:
        data["group"] = body.group
    return {**data, **_collision_data(body)}


def _collision_data(body: Body) -> dict[str, Any]:
    """The colliding shapes of a body and their categories; defaults are left out."""
    data: dict[str, Any] = {}
    if not _collides_as_shown(body):
        data["collision"] = [_collider_data(collider) for collider in body.colliders]
    for field in fields(body):
        if field.name in ("margin", "category", "collides_with", "continuous"):
            value = getattr(body, field.name)
            if value != field.default:
                data[field.name] = _plain(value)
    return data


def _collides_as_shown(body: Body) -> bool:
    """Whether what collides is the shape itself, nothing else, where it is shown."""
    if body.shape is None or len(body.colliders) != 1:
        return body.shape is None and not body.colliders
    only = body.colliders[0]
    if not isinstance(only, shapes.Placed):
        return only is body.shape
    # Compared as text, which tells −0.0 from 0.0.
    return only.shape is body.shape and repr((only.position, only.orientation)) == UNMOVED


def _collider_data(collider: Any) -> dict[str, Any]:
    if not isinstance(collider, shapes.Placed):
        return {"shape": shapes.to_data(collider)}
    place = {name: list(getattr(collider, name)) for name in ("position", "orientation")}
    return {"shape": shapes.to_data(collider.shape), **place}


def _meetings_data(scene: Scene) -> dict[str, Any]:
    """Exclusions and allowances of pairs; left out where there are none."""
    for predicate in scene.predicates:
        raise InputError(
            f"The scene {scene.name!r} has {predicate_name(predicate)!r} in exclude_if, which carries code and cannot "
            "be written to a scene file; name the pairs with scene.exclude(a, b), or leave it out and give it to "
            "exclude_if after loading."
        )
    lists = {"exclusions": False, "allowed": True}
    told = {key: [list(names) for names, meet in scene.meetings.items() if meet is kind] for key, kind in lists.items()}
    return {key: pairs for key, pairs in told.items() if pairs}


def _pairing_data(scene: Scene) -> dict[str, Any]:
    """How materials combine; left out where nothing was said."""
    data: dict[str, Any] = {}
    if scene.rules != Rules():
        data["combine"] = asdict(scene.rules)
    if scene.pairs:
        data["pairs"] = [
            {"first": _material_data(first), "second": _material_data(second), **_without_none(asdict(values))}
            for (first, second), values in scene.pairs.items()
        ]
    return data


def _material_data(material: Material) -> dict[str, Any]:
    values = {field.name: (getattr(material, field.name), field.default) for field in fields(material)}
    # Compared as text, which tells −0.0 from 0.0.
    return {
        name: _plain(value)
        for name, (value, default) in values.items()
        if name not in LATER_FIELDS or repr(value) != repr(default)
    }


def _joint_data(name: str, joint: Any) -> dict[str, Any]:
    """A joint by its kind and fields; what B has in common with A is left out."""
    if carries_code(joint):
        raise InputError(
            f"Joint {name!r} is a {type(joint).__name__}, which is not on the menu and cannot be written to a scene "
            f"file; joints that can: {listing([kind.__name__ for kind in joints.MENU.values()], 30)}. Leave it out and "
            "add it after loading; a state file, sim.save(path), can do without it."
        )
    kind = next(key for key, known in joints.MENU.items() if type(joint) is known)
    given = {field.name: _plain(getattr(joint, field.name)) for field in fields(joint)}
    values = {key: value for key, value in given.items() if value is not None}
    # Compared as text, which tells −0.0 from 0.0.
    shared = [key for key in ("at_b", "axis_b") if key in values and repr(values[key]) == repr(values[key[:-2]])]
    return {"kind": kind, "name": name, **{key: value for key, value in values.items() if key not in shared}}


def _force_data(name: str, force: Any) -> dict[str, Any]:
    """A force by its kind and fields; None and infinity are defaults, and left out."""
    if carries_code(force):
        raise InputError(
            f"Force {name!r} is a {type(force).__name__}, which carries code and cannot be written to a scene file; "
            f"forces that can: {listing([kind.__name__ for kind in forces.MENU.values()])}. Leave it out and add it "
            "after loading; a state file, sim.save(path), can do without it."
        )
    kind = next(key for key, known in forces.MENU.items() if type(force) is known)
    values = {field.name: _plain(getattr(force, field.name)) for field in fields(force)}
    given = {key: value for key, value in values.items() if value not in (None, math.inf)}
    return {"kind": kind, "name": name, **given}


def _plain(value: Any) -> Any:
    """A field as plain data: lists, tables, text, None, and every number a float."""
    if isinstance(value, (tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, forces.Schedule):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else value


def _with_own_name(scene: Scene, entry: Any, index: int, faults: Faults) -> Any:
    """The entry without its name, if an earlier body has that name."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or name not in scene:
        return entry
    faults.add(("bodies", index, "name"), f"is {name!r}, which another body has; every name is used once")
    return {key: value for key, value in entry.items() if key != "name"}


def _add_body(scene: Scene, entry: Any, index: int, faults: Faults) -> None:
    options = _given(BodyEntry.model_validate(entry))
    static, data = options.pop("static", False), options.pop("shape", None)
    shape, found = None, len(faults)
    if data is not None:
        with faults.at("bodies", index, "shape"):
            shape = shapes.from_data(data)
    if "material" in options:
        with faults.at("bodies", index, "material"):
            options["material"] = Material(**options["material"])
    if "collision" in options:
        options["collision"] = _colliders(options["collision"], index, faults)
    if len(faults) == found:
        (scene.add_static if static else scene.add_body)(shape, **options)


def _colliders(entries: list[dict[str, Any]], index: int, faults: Faults) -> list[Any]:
    """The collision shapes of the body at an index."""
    found = []
    for number, entry in enumerate(entries):
        with faults.at("bodies", index, "collision", number):
            shape = shapes.from_data(entry["shape"])
            place = {name: value for name, value in entry.items() if name != "shape" and value is not None}
            found.append(shapes.Placed(shape, **place) if place else shape)
    return found


def _add_stand_in(scene: Scene, entry: Any) -> None:
    """Keep the place and the name of a faulty body, so that what comes after it is judged on its own."""
    given = entry if isinstance(entry, dict) else {}
    names = {key: given[key] for key in ("name", "group") if isinstance(given.get(key), str) and given[key]}
    try:
        scene.add_body(shapes.Sphere(1.0), **names)
    except InputError:
        scene.add_body(shapes.Sphere(1.0))


def _add_joint(scene: Scene, entry: Any, index: int, faults: Faults) -> None:
    options = _given(JOINT.validate_python(entry))
    name, kind = options.pop("name", None), options.pop("kind")
    found, world = len(faults), scene.world.name
    for side in ("a", "b"):
        if (body := options[side]) not in scene and body != world:
            hint = did_you_mean(body, [*(known.name for known in scene.bodies), world])
            faults.add(("joints", index, side), f"is {body!r}, which is not a body of the scene.{hint}")
    if name in scene or name in scene.groups or name in scene.joints or name == world:
        faults.add(("joints", index, "name"), f"is {name!r}, which the scene uses already; every name is used once")
    joint = joints.MENU[kind](**options)
    if len(faults) == found:
        scene.add_joint(joint, name)


def _add_force(scene: Scene, entry: Any) -> None:
    options = _given(FORCE.validate_python(entry))
    name, kind = options.pop("name", None), options.pop("kind")
    if isinstance(target := options.get("target"), dict):
        options["target"] = forces.Schedule(**target)
    elif isinstance(target, list):
        options["target"] = [forces.Schedule(**part) if isinstance(part, dict) else part for part in target]
    scene.add_force(forces.MENU[kind](**options), name)


def _exclude(scene: Scene, entry: Any) -> None:
    scene.exclude(*APART.validate_python(entry, strict=True))


def _allow(scene: Scene, entry: Any) -> None:
    scene.allow(*PAIR.validate_python(entry, strict=True))


def _add_pair(scene: Scene, entry: Any) -> None:
    values = _given(MaterialPairEntry.model_validate(entry))
    first, second = (Material(**values.pop(place)) for place in ("first", "second"))
    scene.pair(first, second, **values)


# The lists that are read entry by entry when the bodies and joints are there.
ADD: dict[str, Callable[[Scene, Any], None]] = {
    "forces": _add_force,
    "exclusions": _exclude,
    "allowed": _allow,
    "pairs": _add_pair,
}


def _given(entry: Any) -> dict[str, Any]:
    """What the file gives; null counts as left out."""
    return {} if entry is None else _without_none(entry.model_dump(exclude_unset=True))


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
