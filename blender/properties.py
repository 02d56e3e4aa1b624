# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of objects and scenes, made from the tables of attributes."""

from typing import Any

import bpy

from . import symbols
from .attributes import GROUPS, JOINTS, Field

ROLES = (
    ("none", "None", "Not part of the simulation"),
    ("body", "Body", "A rigid body"),
    ("collision", "Collision object", "Collides for the body it belongs to"),
    ("show", "Show only", "Moves with the body it belongs to, and nothing else"),
    ("joint", "Joint", "Joins two bodies, or a body and the world"),
    ("spring", "Spring", "A damped spring between two points"),
    ("end", "Second point", "The point on B of a joint or spring"),
)
RULES = ("product", "sum", "min", "max", "mean")


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _property(field: Field) -> Any:
    """The property of a field."""
    told: dict[str, Any] = {"name": _title(field.name), "description": field.about, "default": field.default}
    if field.kind == "flag":
        return bpy.props.BoolProperty(**told)
    if field.kind == "text":
        return bpy.props.StringProperty(**told)
    if field.kind == "choice":
        items = [(choice, _title(choice), "") for choice in field.choices]
        return bpy.props.EnumProperty(items=items, **told)
    if field.kind == "switches":
        return bpy.props.BoolVectorProperty(size=len(field.default), **told)
    if field.kind in ("pair", "vector"):
        return bpy.props.FloatVectorProperty(size=len(field.default), precision=4, **told)
    lowest = {"min": 0.0} if field.kind == "positive" else {}
    return bpy.props.FloatProperty(precision=4, **lowest, **told)


def _annotations(fields: tuple[Field, ...]) -> dict[str, Any]:
    """The properties of fields, each optional one with its switch."""
    found: dict[str, Any] = {}
    for field in fields:
        if field.optional:
            told = {"name": f"Give {_title(field.name).lower()}", "description": field.about}
            found[f"use_{field.name}"] = bpy.props.BoolProperty(**told)
        found[field.name] = _property(field)
    return found


def _group(name: str) -> type:
    """The class of a group of settings."""
    made = {"__annotations__": _annotations(GROUPS[name]), "__module__": __name__, "__doc__": f"Settings of a {name}."}
    return type(f"Rattleback{name.capitalize()}", (bpy.types.PropertyGroup,), made)


SETTINGS = {name: _group(name) for name in GROUPS}


def _change_symbol(settings: Any, context: Any) -> None:
    """Another kind of joint has another symbol."""
    thing = settings.id_data
    if settings.role == "joint" and thing.type == "MESH":
        thing.data = symbols.mesh(settings.kind)


class RattlebackObject(bpy.types.PropertyGroup):
    """What an object is to the simulation."""

    role: bpy.props.EnumProperty(items=ROLES, name="Type", description="What the object is to the simulation")
    kind: bpy.props.EnumProperty(
        items=[(kind, _title(kind), "") for kind in JOINTS], name="Joint", update=_change_symbol
    )
    owner: bpy.props.PointerProperty(type=bpy.types.Object, name="Body", description="The body it belongs to")
    a: bpy.props.PointerProperty(type=bpy.types.Object, name="Body A", description="Empty for the world")
    b: bpy.props.PointerProperty(type=bpy.types.Object, name="Body B", description="Empty for the world")
    end: bpy.props.PointerProperty(type=bpy.types.Object, name="Second point", description="The point on B")
    body: bpy.props.PointerProperty(type=SETTINGS["body"])
    material: bpy.props.PointerProperty(type=SETTINGS["material"])
    joint: bpy.props.PointerProperty(type=SETTINGS["joint"])
    use_motor: bpy.props.BoolProperty(name="Motor", description="A servo with a PID controller drives the joint")
    motor: bpy.props.PointerProperty(type=SETTINGS["motor"])
    use_torsion: bpy.props.BoolProperty(name="Torsion spring", description="A spring about the axis of the joint")
    torsion: bpy.props.PointerProperty(type=SETTINGS["torsion"])
    spring: bpy.props.PointerProperty(type=SETTINGS["spring"])
    collide: bpy.props.BoolProperty(name="Bodies collide", description="Although they are joined", default=False)
    baked: bpy.props.BoolProperty(name="Baked", description="Its motion comes from a simulation")


class RattlebackScene(bpy.types.PropertyGroup):
    """How a scene is simulated."""

    steps: bpy.props.IntProperty(
        name="Steps per frame", description="Steps of the simulation from one frame to the next", default=10, min=1
    )
    friction_rule: bpy.props.EnumProperty(
        items=[(rule, _title(rule), "") for rule in RULES],
        name="Friction",
        description="How the coefficients of two bodies become one",
        default="sum",
    )
    restitution_rule: bpy.props.EnumProperty(
        items=[(rule, _title(rule), "") for rule in RULES],
        name="Restitution",
        description="How the coefficients of two bodies become one",
        default="product",
    )
    options: bpy.props.StringProperty(
        name="More options", description="Options of `rattleback run`, such as --joints direct --substeps 2"
    )
    arrows: bpy.props.BoolProperty(name="Velocity arrows", description="Bake arrows for velocities", default=False)


CLASSES = (*SETTINGS.values(), RattlebackObject, RattlebackScene)


def register() -> None:
    """Make the properties known to Blender."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.rattleback = bpy.props.PointerProperty(type=RattlebackObject)
    bpy.types.Scene.rattleback = bpy.props.PointerProperty(type=RattlebackScene)


def unregister() -> None:
    """Take them back."""
    del bpy.types.Scene.rattleback
    del bpy.types.Object.rattleback
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
