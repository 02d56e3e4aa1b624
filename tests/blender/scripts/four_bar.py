"""In Blender: model a four-bar by the operators, simulate it, say where everything is.

Arguments: answer, archive, program.
"""

import json
import math
import sys
from pathlib import Path

import addon
import bpy

answer, archive, program = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
addon.install(archive, program)
scene = bpy.context.scene
scene.render.fps, scene.frame_start, scene.frame_end = 25, 1, 51
scene.rattleback.steps = 40
scene.rattleback.arrows = True
scene.rattleback.options = "--joints direct --position-tolerance 1e-9 --velocity-tolerance 1e-9 --contacts none"


def bar(name, start, end):
    """A bar in the plane y = 0 from one hinge to the other."""
    (x0, z0), (x1, z1) = start, end
    angle = -math.atan2(z1 - z0, x1 - x0)
    size = (math.hypot(x1 - x0, z1 - z0), 0.06, 0.08)
    return addon.body(name, size, (0.5 * (x0 + x1), 0.0, 0.5 * (z0 + z1)), (0.0, angle, 0.0))


crank = bar("crank", (0.0, 0.0), (0.0, 0.4))
coupler = bar("coupler", (0.0, 0.4), (1.0, 0.9))
rocker = bar("rocker", (1.0, 0.9), (1.2, 0.0))
hinges = [
    addon.joint("revolute", crank, at=(0, 0, 0), turn=(-math.pi / 2, 0, 0)),
    addon.joint("revolute", crank, coupler, at=(0, 0, 0.4), turn=(-math.pi / 2, 0, 0)),
    addon.joint("revolute", coupler, rocker, at=(1, 0, 0.9), turn=(-math.pi / 2, 0, 0)),
    addon.joint("revolute", rocker, at=(1.2, 0, 0), turn=(-math.pi / 2, 0, 0)),
]
for thing, name in zip(hinges, ("ground A", "A", "B", "ground B"), strict=True):
    thing.name = name
crank.rattleback.body.use_mass, crank.rattleback.body.mass = True, 2.0
hinges[0].rattleback.use_motor = True
hinges[0].rattleback.motor.control, hinges[0].rattleback.motor.target = "velocity", 3.0
hinges[0].rattleback.motor.gain = 200.0
assert bpy.ops.rattleback.export_scene(filepath=str(answer.with_name("four_bar.rb.json"))) == {"FINISHED"}
assert bpy.ops.rattleback.simulate() == {"FINISHED"}
found = {}
for frame in range(1, 52):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in scene.objects:
        matrix = thing.evaluated_get(graph).matrix_world
        found.setdefault(thing.name, {})[frame] = [list(row) for row in matrix]
curves = {thing.name: len(thing.animation_data.action.layers) for thing in scene.objects if thing.animation_data}
symbols = {thing.name: [thing.type, len(thing.data.vertices)] for thing in hinges}
bpy.ops.wm.save_as_mainfile(filepath=str(answer.with_name("four_bar.blend")))
assert bpy.ops.rattleback.clear_motion() == {"FINISHED"}
left = [thing.name for thing in scene.objects if thing.animation_data and thing.animation_data.action]
answer.write_text(json.dumps({"poses": found, "curves": curves, "symbols": symbols, "left": left}), encoding="utf-8")
