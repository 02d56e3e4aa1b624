"""What scripts in Blender share: install the extension as a user would, in an empty scene."""

import bpy

MODULE = "bl_ext.user_default.rattleback_modelling"


def install(archive: str, program: str) -> None:
    """Install the extension from its archive, enable it and tell it where the program is."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    done = bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    assert done == {"FINISHED"}, done
    assert MODULE in bpy.context.preferences.addons, list(bpy.context.preferences.addons.keys())
    bpy.context.preferences.addons[MODULE].preferences.program = program


def body(name, size, place, turn=(0.0, 0.0, 0.0), kind="cube", static=False):
    """A mesh made into a body by the operator, as a user would."""
    if kind == "cube":
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place, rotation=turn)
    else:
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, segments=32, ring_count=16, location=place, rotation=turn)
    thing = bpy.context.active_object
    thing.name, thing.scale = name, size
    bpy.context.view_layer.update()
    select(thing)
    assert bpy.ops.rattleback.make_bodies(static=static) == {"FINISHED"}
    return thing


def select(*things):
    """Select objects, the last one active."""
    for thing in bpy.context.view_layer.objects:
        thing.select_set(False)
    for thing in things:
        thing.select_set(True)
    bpy.context.view_layer.objects.active = things[-1]


def joint(kind, *bodies, at, turn=(0.0, 0.0, 0.0)):
    """A joint made by the operator between selected bodies, then moved and turned as a user would."""
    select(*bodies)
    assert bpy.ops.rattleback.add_joint(kind=kind) == {"FINISHED"}
    made = bpy.context.active_object
    made.location, made.rotation_euler = at, turn
    bpy.context.view_layer.update()
    return made


def spring(*bodies, points):
    """A spring made by the operator, its ends moved."""
    select(*bodies)
    assert bpy.ops.rattleback.add_spring() == {"FINISHED"}
    made = bpy.context.active_object
    made.location, made.rattleback.end.location = points
    bpy.context.view_layer.update()
    return made
