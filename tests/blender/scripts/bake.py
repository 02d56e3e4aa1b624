"""In Blender: a recording baked onto a scene that was read, and onto nothing.

Arguments: answer, archive, scene, recording.
"""

import json
import sys
from pathlib import Path

import addon
import bpy

answer, archive, file, recording = Path(sys.argv[1]), *sys.argv[2:5]
addon.install(archive, "rattleback")
found = {}
for run in ("read", "nothing"):
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 50, 0, 1
    if run == "read":
        assert bpy.ops.rattleback.import_scene(filepath=file) == {"FINISHED"}
    assert bpy.ops.rattleback.import_recording(filepath=recording, arrows=True) == {"FINISHED"}
    poses = {}
    for frame in range(0, scene.frame_end + 1, 5):
        scene.frame_set(frame)
        for thing in scene.objects:
            poses.setdefault(thing.name, {})[frame] = [list(row) for row in thing.matrix_world]
    scales = {thing.name: thing["metres_per_unit"] for thing in scene.objects if "metres_per_unit" in thing}
    found[run] = {"poses": poses, "end": scene.frame_end, "scales": scales}
answer.write_text(json.dumps(found), encoding="utf-8")
