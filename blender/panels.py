# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: in the sidebar what makes and simulates a model, in the properties of an object every attribute of it."""

from typing import Any

import bpy

from .attributes import BODY, COMMON, JOINT, JOINTS, MATERIAL, MOTOR, SPRING, TORSION, Field


def draw_fields(layout: Any, settings: Any, fields: tuple[Field, ...]) -> None:
    """A line for each field; one that may be left out with its switch."""
    for field in fields:
        if not field.optional:
            layout.prop(settings, field.name)
            continue
        row = layout.row(align=True)
        row.prop(settings, f"use_{field.name}", text="")
        inner = row.row()
        inner.active = getattr(settings, f"use_{field.name}")
        inner.prop(settings, field.name)


class RATTLEBACK_PT_object(bpy.types.Panel):
    """What an object is to the simulation."""

    bl_label = "Rattleback"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether there is an object."""
        return context.object is not None

    def draw(self, context: Any) -> None:
        """Draw it."""
        layout, settings = self.layout, context.object.rattleback
        layout.use_property_split = True
        layout.prop(settings, "role")
        if settings.role == "body":
            draw_fields(layout, settings.body, BODY)
            layout.label(text="Material")
            draw_fields(layout, settings.material, MATERIAL)
        elif settings.role in ("collision", "show"):
            layout.prop(settings, "owner")
            if settings.role == "collision":
                layout.prop(settings.body, "shape")
        elif settings.role == "joint":
            self._joint(layout, settings)
        elif settings.role == "spring":
            for name in ("a", "b", "end"):
                layout.prop(settings, name)
            draw_fields(layout, settings.spring, SPRING)

    def _joint(self, layout: Any, settings: Any) -> None:
        for name in ("kind", "a", "b", "end", "collide"):
            layout.prop(settings, name)
        wanted = (*JOINTS[settings.kind], *COMMON)
        draw_fields(layout, settings.joint, tuple(field for field in JOINT if field.name in wanted))
        for switch, group, fields in (("use_motor", "motor", MOTOR), ("use_torsion", "torsion", TORSION)):
            layout.prop(settings, switch)
            if getattr(settings, switch):
                draw_fields(layout.box(), getattr(settings, group), fields)


class RATTLEBACK_PT_model(bpy.types.Panel):
    """What makes and simulates a model."""

    bl_label = "Rattleback"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Rattleback"

    def draw(self, context: Any) -> None:
        """Draw it."""
        layout, settings = self.layout, context.scene.rattleback
        column = layout.column(align=True)
        column.operator("rattleback.make_bodies").static = False
        column.operator("rattleback.make_bodies", text="Make static bodies").static = True
        column.operator("rattleback.assign", text="Assign collision objects").role = "collision"
        column.operator("rattleback.assign", text="Assign for show only").role = "show"
        column.operator("rattleback.take_over")
        layout.operator_menu_enum("rattleback.add_joint", "kind")
        layout.operator("rattleback.add_spring")
        box = layout.box()
        for name in ("steps", "friction_rule", "restitution_rule", "arrows", "options"):
            box.prop(settings, name)
        box.operator("rattleback.simulate", icon="PLAY")
        box.operator("rattleback.clear_motion")
        column = layout.column(align=True)
        for name in ("import_recording", "import_scene", "export_scene"):
            column.operator(f"rattleback.{name}")


class RattlebackPreferences(bpy.types.AddonPreferences):
    """Where the program is."""

    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program",
        description="The program rattleback with its path, such as /opt/rattleback/bin/rattleback",
        default="rattleback",
    )

    def draw(self, context: Any) -> None:
        """Draw it."""
        self.layout.prop(self, "program")


CLASSES = (RATTLEBACK_PT_object, RATTLEBACK_PT_model, RattlebackPreferences)
