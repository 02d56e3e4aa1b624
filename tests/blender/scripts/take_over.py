"""In Blender: its own rigid bodies and constraints of every type, taken over and written.

Arguments: answer, archive.
"""

import json
import sys
from pathlib import Path

import addon
import bpy

answer, archive = Path(sys.argv[1]), sys.argv[2]
addon.install(archive, "rattleback")
scene = bpy.context.scene


def rigid(name, place, **settings):
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=place)
    thing = bpy.context.active_object
    thing.name = name
    bpy.ops.rigidbody.object_add()
    for key, value in settings.items():
        setattr(thing.rigid_body, key, value)
    return thing


anchor = rigid("anchor", (0, 0, 5), type="PASSIVE", friction=0.25)
rigid("damped", (8, 8, 5), linear_damping=0.5, collision_shape="SPHERE", use_margin=True, collision_margin=0.0625)
kinds = ("FIXED", "POINT", "HINGE", "SLIDER", "PISTON", "MOTOR", "GENERIC", "GENERIC_SPRING")
for number, kind in enumerate(kinds):
    hung = rigid(f"on {kind}", (number, 0, 4), mass=2.0 + number, friction=0.75, restitution=0.5)
    bpy.ops.object.empty_add(location=(number, 0, 4.5), rotation=(0.0, 0.0, 0.5))
    empty = bpy.context.active_object
    empty.name = kind
    bpy.ops.rigidbody.constraint_add(type=kind)
    theirs = empty.rigid_body_constraint
    theirs.object1, theirs.object2, theirs.disable_collisions = anchor, hung, kind != "POINT"
    if kind == "HINGE":
        theirs.use_limit_ang_z, theirs.limit_ang_z_lower, theirs.limit_ang_z_upper = True, -0.5, 0.75
        theirs.use_breaking, theirs.breaking_threshold = True, 2.0
    if kind == "SLIDER":
        theirs.use_limit_lin_x, theirs.limit_lin_x_lower, theirs.limit_lin_x_upper = True, -0.25, 0.5
    if kind == "MOTOR":
        theirs.use_motor_ang, theirs.motor_ang_target_velocity = True, 3.0
    if kind == "GENERIC":
        for axis in "xyz":
            for what in ("lin", "ang"):
                if (what, axis) != ("ang", "z"):
                    setattr(theirs, f"use_limit_{what}_{axis}", True)
                    setattr(theirs, f"limit_{what}_{axis}_lower", 0.0)
                    setattr(theirs, f"limit_{what}_{axis}_upper", 0.0)
bpy.context.view_layer.update()
assert bpy.ops.rattleback.take_over() == {"FINISHED"}
enabled = scene.rigidbody_world.enabled
assert bpy.ops.rattleback.export_scene(filepath=str(answer.with_name("taken.rb.json"))) == {"FINISHED"}
answer.write_text(json.dumps({"enabled": enabled}), encoding="utf-8")
