# SPDX-License-Identifier: GPL-3.0-or-later
"""Modelling: what makes objects into bodies, collision objects, joints and springs."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Quaternion, Vector

from . import symbols
from .attributes import TWO_ENDED

# Size of a symbol beside that of the smaller body it joins, and without bodies [m].
OF_BODY, ALONE = 0.45, 0.3
Z = Vector((0.0, 0.0, 1.0))


def middle(thing: Any) -> Vector:
    """Middle of the box around an object, in the world."""
    corners = [thing.matrix_world @ Vector(corner) for corner in thing.bound_box]
    return sum(corners, Vector()) / 8.0


def size_of(bodies: list[Any]) -> float:
    """Size of a symbol between bodies [m]."""
    sizes = [max(body.dimensions) for body in bodies if max(body.dimensions) > 0.0]
    return OF_BODY * min(sizes) if sizes else ALONE


def place_of(bodies: list[Any]) -> Vector:
    """Where a joint between bodies is put at first: between their middles, or at the one body there is."""
    return sum((middle(body) for body in bodies), Vector()) / len(bodies) if bodies else Vector()


def _symbol(scene: Any, name: str, kind: str, place: Any, size: float) -> Any:
    thing = bpy.data.objects.new(name, symbols.mesh(kind))
    scene.collection.objects.link(thing)
    thing.location, thing.scale = place, (size, size, size)
    thing.show_in_front, thing.hide_render = True, True
    return thing


def _second(scene: Any, first: Any, place: Any, size: float) -> Any:
    """The object for the point on B."""
    found = bpy.data.objects.new(f"{first.name} end", None)
    scene.collection.objects.link(found)
    found.location, found.empty_display_type, found.empty_display_size = place, "SPHERE", 0.25 * size
    found.rattleback.role = "end"
    first.rattleback.end = found
    return found


def new_joint(scene: Any, kind: str, bodies: tuple[Any, Any], place: Any = None) -> Any:
    """A joint between two bodies; None stands for the world.

    Args:
        scene: The Blender scene.
        kind: Which joint, as scene files call it.
        bodies: Body A and body B.
        place: Where it is [m]; None for between them.
    """
    there = [body for body in bodies if body is not None]
    where, size = (place_of(there) if place is None else Vector(place)), size_of(there)
    thing = _symbol(scene, f"{kind.replace('_', ' ').removesuffix(' joint')} joint", kind, where, size)
    settings = thing.rattleback
    settings.role, settings.a, settings.b = "joint", bodies[0], bodies[1]
    settings.kind = kind
    if kind in TWO_ENDED:
        _second(scene, thing, middle(bodies[1]) if bodies[1] is not None else where, size)
    return thing


def new_spring(scene: Any, bodies: tuple[Any, Any], points: Any = None) -> Any:
    """A spring between two bodies; its symbol reaches from the one point to the other.

    Args:
        scene: The Blender scene.
        bodies: Body A and body B; None for the world.
        points: The two points [m]; None for the middles of the bodies.
    """
    there = [middle(body) if body is not None else Vector() for body in bodies]
    first, second = (Vector(point) for point in (points or there))
    length = max((second - first).length, 1e-3)
    thing = _symbol(scene, "spring", "spring", first, length)
    thing.rotation_mode = "QUATERNION"
    thing.rotation_quaternion = Z.rotation_difference(second - first) if length > 1e-3 else Quaternion()
    settings = thing.rattleback
    settings.role, settings.a, settings.b = "spring", bodies[0], bodies[1]
    _second(scene, thing, second, 0.3 * length)
    return thing


def belong(part: Any, body: Any, role: str) -> None:
    """Make an object a part of a body that moves with it."""
    part.rattleback.role, part.rattleback.owner = role, body
    world = part.matrix_world.copy()
    part.parent = body
    part.matrix_world = world
    if role == "collision":
        part.display_type, part.hide_render = "WIRE", True


class RATTLEBACK_OT_make_bodies(bpy.types.Operator):
    """Make the selected objects bodies"""

    bl_idname = "rattleback.make_bodies"
    bl_label = "Make bodies"
    bl_options = {"REGISTER", "UNDO"}

    static: bpy.props.BoolProperty(name="Static", description="Nothing can push them")

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether something is selected."""
        return bool(context.selected_objects)

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        for thing in context.selected_objects:
            thing.rattleback.role = "body"
            thing.rattleback.body.static = self.static
        return {"FINISHED"}


class RATTLEBACK_OT_assign(bpy.types.Operator):
    """Let the other selected objects belong to the active body"""

    bl_idname = "rattleback.assign"
    bl_label = "Assign to the active body"
    bl_options = {"REGISTER", "UNDO"}

    role: bpy.props.EnumProperty(
        items=(("collision", "Collision object", "Collides for the body"), ("show", "Show only", "Only moves with it"))
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether a body is active and something else selected."""
        body = context.active_object
        return body is not None and body.rattleback.role == "body" and len(context.selected_objects) > 1

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        for thing in context.selected_objects:
            if thing != context.active_object:
                belong(thing, context.active_object, self.role)
        return {"FINISHED"}


def chosen_bodies(context: Any) -> list[Any]:
    """The selected bodies, the active one last, which is body B."""
    found = [thing for thing in context.selected_objects if thing.rattleback.role == "body"]
    return sorted(found, key=lambda thing: thing == context.active_object)


class _Between:
    """What joints and springs have in common: one or two bodies are selected."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether one or two bodies are selected."""
        return 1 <= len(chosen_bodies(context)) <= 2

    def bodies(self, context: Any) -> tuple[Any, Any]:
        """Body A, or None for the world, and body B."""
        found = chosen_bodies(context)
        return (found[0], found[1]) if len(found) == 2 else (None, found[0])

    def show(self, context: Any, made: Any) -> set[str]:
        """Select what was made, so that it can be moved."""
        for thing in context.selected_objects:
            thing.select_set(False)
        made.select_set(True)
        context.view_layer.objects.active = made
        return {"FINISHED"}


class RATTLEBACK_OT_add_joint(_Between, bpy.types.Operator):
    """Join the two selected bodies, or the selected one and the world"""

    bl_idname = "rattleback.add_joint"
    bl_label = "Add joint"

    kind: bpy.props.EnumProperty(
        items=[
            (kind, kind.replace("_", " ").capitalize(), "")
            for kind in symbols.MAKERS
            if kind not in ("spring", "arrow")
        ]
    )
    at_cursor: bpy.props.BoolProperty(name="At the 3D cursor", description="Else between the bodies")

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        place = context.scene.cursor.location if self.at_cursor else None
        return self.show(context, new_joint(context.scene, self.kind, self.bodies(context), place))


class RATTLEBACK_OT_add_spring(_Between, bpy.types.Operator):
    """Put a damped spring between the two selected bodies, or the selected one and the world"""

    bl_idname = "rattleback.add_spring"
    bl_label = "Add spring"

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        return self.show(context, new_spring(context.scene, self.bodies(context)))


class RATTLEBACK_OT_take_over(bpy.types.Operator):
    """Take over the rigid bodies and constraints of Blender's own simulation"""

    bl_idname = "rattleback.take_over"
    bl_label = "Take over rigid bodies"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Do it and tell what is lost."""
        from .take_over import take_over

        context.view_layer.update()
        for sentence in take_over(context.scene):
            self.report({"WARNING"}, sentence)
        return {"FINISHED"}


CLASSES = (
    RATTLEBACK_OT_make_bodies,
    RATTLEBACK_OT_assign,
    RATTLEBACK_OT_add_joint,
    RATTLEBACK_OT_add_spring,
    RATTLEBACK_OT_take_over,
)
