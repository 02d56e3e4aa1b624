"""Editing a scene: a body, joint or force with something changed, and what still needs one that is to go.

What is not mentioned stays: a body whose mass is changed keeps the form of its inertia, one with another shape its mass
and the place of its frame, a joint whose axis is changed has the same one on B if it had before.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.maths.rotation import rotate
from rattleback.model.body import Body, BodyOptions, StaticOptions, make_body, make_static
from rattleback.model.material import Material

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rattleback.model.scene import Scene

PLACE = ("position", "origin")
# What a joint has on A, and on B where that is not the same.
TWINS = {"at": "at_b", "axis": "axis_b"}
FRAMES = ("frame_a", "frame_b")
# What a scene answers to those that write to what it lists.
INSTEAD = {
    **{f"{part}s": f"There are add_{part}, change_{part} and remove_{part}." for part in ("joint", "force")},
    "bodies": "There are add_body, change_body and remove_body.",
    "rules": "There is combine().",
    "pairs": "There is pair().",
}
# Options that change nothing else, and what checks them.
PLAIN: dict[str, Callable[[Any, str], Any]] = {
    "mass": checks.positive,
    "material": lambda value, what: _material(value, what),
    "velocity": checks.vector,
    "angular_velocity": checks.vector,
    "margin": lambda value, what: checks.not_negative(value, what) + 0.0,
}


def changed_body(body: Body, changes: Mapping[str, Any]) -> Body:
    """A body with other options of ``add_body`` or ``add_static``, or another ``shape``; every fault names it."""
    known = [name for name in (StaticOptions if body.static else BodyOptions).__annotations__ if name != "name"]
    checks.options(changes, ["shape", *known], f"change_body for body {body.name!r}")
    if changes.keys() <= PLAIN.keys():
        return _plainly_changed(body, changes)
    given = {name: value for name, value in changes.items() if name != "shape"}
    shape = changes.get("shape", body.shape)
    kept: dict[str, Any] = {} if any(name in given for name in PLACE) else {"position": body.position}
    for name in ("orientation", "velocity", "angular_velocity", "material", "margin", "category", "collides_with"):
        kept[name] = getattr(body, name)
    kept |= {"group": body.group} if body.group else {}
    # What collides is the shape, unless something else was said.
    if "shape" not in changes or body.colliders != _colliders(body):
        kept["collision"] = list(body.colliders)
    if body.static:
        return make_static(body.name, shape, {**kept, **given})
    kept |= {"continuous": body.continuous, **_mass(body, changes)}
    made = make_body(body.name, shape, {**kept, **given})
    if "position" not in kept or np.array_equal(made.center_of_mass, body.center_of_mass):
        return made
    return replace(made, position=body.origin + rotate(made.orientation, made.center_of_mass))


def _plainly_changed(body: Body, changes: Mapping[str, Any]) -> Body:
    """A body with other options on which nothing else depends but the inertia on the mass."""
    given = {name: PLAIN[name](value, f"The {name} of body {body.name!r}") for name, value in changes.items()}
    if "mass" in given:
        given["inertia"] = body.inertia * (given["mass"] / body.mass)
    return replace(body, **given)


def _material(value: Any, what: str) -> Any:
    checks.instance(value, Material, what, "rb.Material(friction=0.4)")
    return value


def _colliders(body: Body) -> tuple[Any, ...]:
    """What collides of a body of which nothing else was said than its shape."""
    return () if body.shape is None else make_static(body.name, body.shape, {}).colliders


def _mass(body: Body, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The options for the mass of a body that its changes leave open."""
    if "density" in changes:
        return {}
    if "inertia" in changes:
        return {"mass": body.mass, "center_of_mass": body.center_of_mass}
    if "shape" in changes:
        return {"mass": body.mass}
    mass = checks.positive(changes.get("mass", body.mass), f"The mass of body {body.name!r}")
    return {"inertia": body.inertia * (mass / body.mass), "center_of_mass": body.center_of_mass, "mass": mass}


def changed_joint(joint: Any, name: str, changes: Mapping[str, Any]) -> Any:
    """A joint with other values in some of its fields."""
    _check_fields(joint, changes, f"change_joint for joint {name!r}", "replace_joint")
    if any(side in changes for side in FRAMES):
        dropped = dict.fromkeys((*TWINS, *TWINS.values()))
    else:
        placed = any(field in changes for pair in TWINS.items() for field in pair)
        dropped = dict.fromkeys(FRAMES) if placed else {}
        dropped |= {b: None for a, b in TWINS.items() if a in changes and getattr(joint, a) == getattr(joint, b)}
    return replace(joint, **{**dropped, **changes})


def changed_force(force: Any, name: str, changes: Mapping[str, Any]) -> Any:
    """A force with other values in some of its fields."""
    _check_fields(force, changes, f"change_force for force {name!r}", "replace_force")
    return replace(force, **changes)


def _check_fields(thing: Any, changes: Mapping[str, Any], what: str, instead: str) -> None:
    if not is_dataclass(thing):
        raise InputError(f"{what} cannot tell what a {type(thing).__name__} has; use scene.{instead}.")
    checks.options(changes, [field.name for field in fields(thing) if field.init], what)


def check_name(name: Any, known: Mapping[str, Any], what: str) -> str:
    """The name of a joint or force that is there."""
    if not isinstance(name, str) or name not in known:
        names = list(known)
        raise UnknownName(f"There is no {what} {name!r}.{did_you_mean(name, names)} There are {listing(names)}.")
    return name


def check_unneeded(scene: Scene, name: str, what: str) -> None:
    """Refuse to let a body or joint go that something else holds on to."""
    needing = [*_joints_of(scene, name), *_forces_of(scene, name)] if what == "body" else list(_drives(scene, name))
    if needing:
        raise InputError(f"The {what} {name!r} cannot be removed: {listing(needing)} would be left without it.")


def _joints_of(scene: Scene, body: str) -> Iterator[str]:
    return (name for name, joint in scene.joints.items() if body in (joint.a, joint.b))


def _forces_of(scene: Scene, body: str) -> Iterator[str]:
    """The forces that name a body, or the group of which it is the last."""
    own = {body} | {group for group, members in scene.groups.items() if [b.name for b in members] == [body]}
    for name, force in scene.forces.items():
        if own & {*(getattr(force, "bodies", None) or ()), getattr(force, "a", None), getattr(force, "b", None)}:
            yield name


def _drives(scene: Scene, joint: str) -> Iterator[str]:
    return (name for name, force in scene.forces.items() if getattr(force, "joint", None) == joint)


def check_joint(joint: Any, what: str) -> None:
    """Refuse what is not a joint."""
    if not callable(getattr(joint, "rows", None)) or isinstance(joint, type):
        raise InputError(f"{what} got {joint!r}; it must be a joint, such as rb.Ball(a, b, at=(0, 0, 0)).")


def known_joint(joint: Any, joints: Mapping[str, Any], former: list[tuple[Any, str]]) -> str | None:
    """Name of a joint, from its name, from itself, or from what it replaced; None where there is none."""
    if isinstance(joint, str):
        return joint if joint in joints else None
    known = [*((own, name) for name, own in joints.items()), *former]
    return next((name for own, name in known if own is joint), None)


def check_ends(scene: Scene, joint: Any, label: str) -> None:
    """Refuse a joint whose bodies are not there, or cannot move."""
    world = scene.world.name
    for body in (joint.a, joint.b):
        if body != world and body not in scene:
            known = [*(own.name for own in scene.bodies), world]
            raise UnknownName(f"Joint {label!r} holds {body!r}, which is not in the scene.{did_you_mean(body, known)}")
    if all(body == world or scene[body].static for body in (joint.a, joint.b)):
        raise InputError(f"Joint {label!r} holds {joint.a!r} and {joint.b!r}, neither of which can move.")


def body_or_group(scene: Scene, entry: Any, what: str) -> str:
    """The name of a body or a group, from itself or from what ``add_body`` returned."""
    name = getattr(entry, "name", entry)
    if isinstance(name, str) and (name in scene or name in scene.groups):
        return name
    known = [*(body.name for body in scene.bodies), *scene.groups]
    raise UnknownName(f"{what} got {name!r}, which is not a body or group of the scene.{did_you_mean(name, known)}")


def check_force(force: Any, what: str) -> None:
    """Refuse what is not a force module."""
    if not callable(getattr(force, "compile", None)) or isinstance(force, type):
        raise InputError(f"{what} got {force!r}; it must be a force module, such as rb.Drag(linear=0.1).")


def placed_force(scene: Scene, force: Any, label: str) -> Any:
    """A force as a scene keeps it, after a look at whether its bodies are there."""
    for body in getattr(force, "bodies", None) or ():
        if body not in scene and body not in scene.groups:
            known = [*(own.name for own in scene.bodies), *scene.groups]
            raise UnknownName(
                f"Force {label!r} acts on {body!r}, which is not in the scene.{did_you_mean(body, known)}"
            )
    return force.placed_in(scene, label) if callable(getattr(force, "placed_in", None)) else force


def join_group(scene: Scene, body: Body) -> None:
    """Add a body to its group, if it has one."""
    if not body.group:
        return
    if body.group in scene or body.group in scene.joints:
        what = "a body" if body.group in scene else "a joint"
        raise InputError(f"The group of body {body.name!r} is called {body.group!r}, as {what} is; choose another.")
    scene.groups.setdefault(body.group, []).append(body)


def leave_group(scene: Scene, body: Body) -> None:
    """Take a body out of its group, and the group away where nothing is left in it."""
    if body.group:
        scene.groups[body.group] = [known for known in scene.groups[body.group] if known.name != body.name]
        if not scene.groups[body.group]:
            del scene.groups[body.group]


def new_name(shape: Any, options: Mapping[str, Any], count: int, taken: Callable[[str], bool]) -> str:
    """The name of a body that is added to so many others: the one it is given, or one after its shape."""
    if "name" not in options:
        return numbered("body" if shape is None else type(shape).__name__.lower(), count + 1, taken)
    name = checks.text(options["name"], "The name of a body")
    if taken(name):
        raise InputError(f"The scene already uses the name {name!r}; a body needs one of its own.")
    return name


def numbered(stem: str, number: int, taken: Callable[[str], bool]) -> str:
    """The first name of the form stem_number that is free."""
    while taken(f"{stem}_{number}"):
        number += 1
    return f"{stem}_{number}"
