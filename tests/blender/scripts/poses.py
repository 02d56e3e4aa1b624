"""In Blender: open a motion and say where the objects are at every tenth frame.

Arguments: answer, file, frames a second.
"""

import json
import sys
from pathlib import Path

import bpy

answer, path, fps = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
bpy.ops.wm.read_factory_settings(use_empty=True)
if path.endswith(".blend"):
    bpy.ops.wm.open_mainfile(filepath=path)
scene = bpy.context.scene
scene.render.fps = fps
if path.endswith((".glb", ".gltf")):
    bpy.ops.import_scene.gltf(filepath=path)
elif not path.endswith(".blend"):
    bpy.ops.wm.usd_import(filepath=path)
found = {}
last = int(max((key for action in bpy.data.actions for key in action.frame_range), default=scene.frame_end))
for frame in range(0, last + 1, 10):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in bpy.data.objects:
        matrix = thing.evaluated_get(graph).matrix_world
        found.setdefault(thing.name, {})[frame] = [list(row) for row in matrix]
answer.write_text(json.dumps({"last": last, "poses": found}), encoding="utf-8")
