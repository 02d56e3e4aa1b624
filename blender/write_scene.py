# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene file from the objects of a Blender scene: bodies, joints with their motors, springs.

The frame of a body is that of its object. A joint lies at the origin of its object, with the object's z axis as its
axis; where it has two axes, the second is the x axis, and where it has two ends, the other one is an object of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .attributes import COMMON, CROSSED, JOINTS, TWO_ENDED, file_name, schedule, values
from .geometry import Faults, shape

WORLD = "world"


def scene_data(scene: Any, faults: Faults) -> dict[str, Any]:
    """The scene as the plain data of a scene file.

    Args:
        scene: The Blender scene.
        faults: Takes what could not be written as it is.
    """
    of_role: dict[str, list[Any]] = {}
    for thing in sorted(scene.objects, key=lambda thing: thing.name):
        of_role.setdefault(thing.rattleback.role, []).append(thing)
    bodies = of_role.get("body", [])
    joints = of_role.get("joint", [])
    forces = [force for joint in joints for force in _drives(joint, faults)]
    forces += [_spring(spring) for spring in of_role.get("spring", [])]
    gravity = list(scene.gravity) if scene.use_gravity else [0.0, 0.0, 0.0]
    return {
        "format": "rattleback-scene",
        "version": 1,
        "name": scene.name,
        "gravity": gravity,
        "bodies": [_body(body, of_role.get("collision", []), faults) for body in bodies],
        "joints": [_joint(joint, faults) for joint in joints],
        "forces": forces,
        "allowed": [[joint.rattleback.a.name, joint.rattleback.b.name] for joint in joints if _collide(joint)],
        "combine": {
            "friction": scene.rattleback.friction_rule,
            "restitution": scene.rattleback.restitution_rule,
        },
    }


def pose(thing: Any) -> tuple[list[float], list[float]]:
    """Origin (3,) [m] and orientation x, y, z, w of an object in the world."""
    place, turn, _ = thing.matrix_world.decompose()
    return list(place), _unit([turn.x, turn.y, turn.z, turn.w])


def _body(thing: Any, collision: list[Any], faults: Faults) -> dict[str, Any]:
    told = values("body", thing.rattleback.body)
    static, wanted = told.pop("static"), told.pop("shape")
    own = shape(thing, wanted, static, faults)
    origin, orientation = pose(thing)
    found: dict[str, Any] = {"name": thing.name, "static": static, "orientation": orientation}
    found["position" if static else "origin"] = origin
    if own is not None:
        found["shape"] = own
    if not static:
        found |= _mass(thing, told, own is not None, faults) | {"continuous": told["continuous"]}
    found |= {name: told[name] for name in ("velocity", "angular_velocity", "margin")}
    found |= {"material": values("material", thing.rattleback.material), "category": _names(told["category"])}
    if told["group"]:
        found["group"] = told["group"]
    if told["collides_with"]:
        found["collides_with"] = _names(told["collides_with"])
    colliders = [_collider(thing, part, static, faults) for part in collision if part.rattleback.owner == thing]
    if colliders or not told["collides"]:
        found["collision"] = [part for part in colliders if part] if told["collides"] else []
    return found


def _mass(thing: Any, told: dict[str, Any], has_shape: bool, faults: Faults) -> dict[str, Any]:
    """Mass properties as far as they are given."""
    if "inertia" in told:
        found = {"mass": told.get("mass", 1.0), "inertia": told["inertia"]}
        if "products" in told:
            (a, b, c), (xy, xz, yz) = told["inertia"], told["products"]
            found["inertia"] = [[a, xy, xz], [xy, b, yz], [xz, yz, c]]
        return found | ({"center_of_mass": told["center_of_mass"]} if "center_of_mass" in told else {})
    if "center_of_mass" in told or "products" in told:
        faults.append(f"{thing.name!r} gives a centre of mass or products without moments of inertia; left out.")
    if not has_shape:
        faults.append(f"{thing.name!r} has no shape and no moments of inertia; it gets those of a ball of 0.1 m.")
        mass = told.get("mass", 1.0)
        return {"mass": mass, "inertia": [0.004 * mass] * 3}
    return {
        name: told[name] for name in ("mass", "density") if name in told and not (name == "density" and "mass" in told)
    }


def _collider(body: Any, part: Any, static: bool, faults: Faults) -> dict[str, Any] | None:
    """A collision object in the frame of its body."""
    found = shape(part, part.rattleback.body.shape, static, faults)
    if found is None:
        return None
    if found["kind"] == "plane":
        return {"shape": found}
    place, turn, _ = body.matrix_world.decompose()
    there, turned, _ = part.matrix_world.decompose()
    back = turn.inverted()
    local = back @ turned
    return {
        "shape": found,
        "position": list(back @ (there - place)),
        "orientation": _unit([local.x, local.y, local.z, local.w]),
    }


def _joint(thing: Any, faults: Faults) -> dict[str, Any]:
    settings = thing.rattleback
    told = values("joint", settings.joint, (*JOINTS[settings.kind], *COMMON))
    told = {file_name(settings.kind, name): value for name, value in told.items()}
    for name in ("linear", "angular"):
        kept = told.pop(f"{name}_axes", (True, True, True))
        if name in told:
            told[name] = [rate if keep else None for rate, keep in zip(told[name], kept, strict=True)]
    found = {"kind": settings.kind, "name": thing.name, "a": _side(settings.a), "b": _side(settings.b), **told}
    place, axes = thing.matrix_world.translation, thing.matrix_world.to_3x3().normalized()
    found |= {"at": list(place), "axis": list(axes.col[2])}
    if settings.kind in CROSSED:
        found["axis_b"] = list(axes.col[0])
    if settings.kind in TWO_ENDED:
        if settings.end is None:
            faults.append(f"Joint {thing.name!r} has no second point; both of its points are at its origin.")
        else:
            found["at_b"] = list(settings.end.matrix_world.translation)
            if settings.kind == "gear":
                found["axis_b"] = list(settings.end.matrix_world.to_3x3().normalized().col[2])
    return found


def _drives(thing: Any, faults: Faults) -> list[dict[str, Any]]:
    """The motor and the torsion spring of a joint."""
    settings, found = thing.rattleback, []
    if settings.use_motor:
        told = values("motor", settings.motor)
        text, between = told.pop("schedule"), told.pop("between")
        if text:
            try:
                times, targets = schedule(text)
            except ValueError as error:
                faults.append(f"{thing.name!r}: {error}")
            else:
                told["target"] = {"kind": between, "times": times, "values": targets}
        found.append({"kind": "servo", "name": f"{thing.name} motor", "joint": thing.name, **told})
    if settings.use_torsion:
        told = values("torsion", settings.torsion)
        found.append({"kind": "torsion_spring", "name": f"{thing.name} spring", "joint": thing.name, **told})
    return found


def _spring(thing: Any) -> dict[str, Any]:
    settings = thing.rattleback
    found = {"kind": "spring", "name": thing.name, "a": _side(settings.a), "b": _side(settings.b)}
    found |= {"at": list(thing.matrix_world.translation), **values("spring", settings.spring)}
    if settings.end is not None:
        found["at_b"] = list(settings.end.matrix_world.translation)
    return found


def _collide(joint: Any) -> bool:
    settings = joint.rattleback
    return bool(settings.collide and settings.a is not None and settings.b is not None)


def _side(body: Any) -> str:
    return WORLD if body is None else body.name


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] or ["default"]


def _unit(quaternion: list[float]) -> list[float]:
    array = np.array(quaternion)
    return (array / np.linalg.norm(array)).tolist()
