"""In Blender: a model with everything there is, written, read back into an empty scene and written again.

Arguments: answer, archive. What was written lies beside the answer as first.rb.json and second.rb.json.
"""

import json
import math
import sys
import types
from pathlib import Path

import addon
import bpy

answer, archive = Path(sys.argv[1]), sys.argv[2]
addon.install(archive, "rattleback")
package = sys.modules[addon.MODULE]
scene = bpy.context.scene


def fill(group, settings, left_out=()):
    """Something else than the default for every field."""
    for field in package.attributes.GROUPS[group]:
        if field.optional:
            setattr(settings, f"use_{field.name}", field.name not in left_out)
        if field.name in left_out:
            continue
        if field.kind in ("number", "positive"):
            setattr(settings, field.name, 0.25 if field.name == "restitution" else 0.75)
        elif field.kind in ("pair", "vector"):
            setattr(settings, field.name, (0.5, 0.75, 0.625)[: len(field.default)])
        elif field.kind == "flag":
            setattr(settings, field.name, not field.default)


def box(name, place):
    return addon.body(name, (0.5, 0.25, 0.125), place)


bodies = [box(f"body {k}", (2.0 * k, 0.0, 1.0)) for k in range(2)]
fill("body", bodies[0].rattleback.body, ("static", "collides", "density"))
bodies[0].rattleback.body.group, bodies[0].rattleback.body.category = "all", "one, two"
bodies[0].rattleback.body.collides_with = "two, three"
# An inertia that a body can have.
bodies[0].rattleback.body.inertia, bodies[0].rattleback.body.products = (1.0, 1.25, 1.5), (0.125, 0.0625, 0.0)
fill("material", bodies[0].rattleback.material)
bodies[0].rattleback.material.dynamic_friction = 0.5
shapes = ("sphere", "capsule", "cylinder", "cone", "ellipsoid", "convex_hull", "mesh")
for number, kind in enumerate(shapes):
    thing = addon.body(f"shape {kind}", (0.5, 0.5, 1.0), (2.0 * number, 4.0, 1.0), kind="sphere")
    thing.rattleback.body.shape = kind
floor = addon.body("floor", (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), static=True)
floor.rattleback.body.shape = "plane"
hull = box("hull", (0.25, 0.0, 1.125))
addon.select(hull, bodies[1])
bpy.ops.rattleback.assign(role="collision")
trim = box("trim", (2.0, 0.0, 1.25))
addon.select(trim, bodies[1])
bpy.ops.rattleback.assign(role="show")
for number, kind in enumerate(package.attributes.JOINTS):
    turn = (0.25 * math.pi, 0.0, 0.5) if kind not in ("gear", "rack") else (0.0, 0.0, 0.0)
    made = addon.joint(kind, *bodies, at=(1.0, 0.25 * number, 1.0), turn=turn)
    made.name = f"joint {kind}"
    made.rattleback.collide = kind == "fixed"
    fill("joint", made.rattleback.joint, ("radii", "length"))
    made.rattleback.joint.limits = made.rattleback.joint.limits_b = made.rattleback.joint.turn_limits = (-0.5, 0.25)
    made.rattleback.joint.angular_axes = (True, False, True)
    if made.rattleback.end is not None:
        made.rattleback.end.location = (1.0, 0.25 * number + 1.0, 1.0)
    if kind == "revolute":
        made.rattleback.use_motor = made.rattleback.use_torsion = True
        fill("motor", made.rattleback.motor)
        fill("torsion", made.rattleback.torsion)
        made.rattleback.motor.schedule = "0: 0, 1.5: 3.25"
        made.rattleback.motor.between = "cubic"
spring = addon.spring(*bodies, points=((0.0, 0.0, 2.0), (2.0, 0.0, 2.5)))
fill("spring", spring.rattleback.spring)


class Layout:
    """Stands in for a layout of Blender, which has none without a window; takes only properties that are there."""

    def __init__(self):
        self.names = []

    def prop(self, settings, name, **_):
        assert name in settings.bl_rna.properties, name
        self.names.append(name)

    def operator(self, name, **_):
        group, _, inner = name.partition(".")
        # An operator that is not there has no type.
        return getattr(getattr(bpy.ops, group), inner).get_rna_type() and self

    def operator_menu_enum(self, name, _):
        self.operator(name)

    def row(self, **_):
        return self

    def label(self, **_):
        pass

    column = box = row


def drawn(panel, thing):
    """Names of the properties that a panel shows for an object."""
    layout = Layout()
    context = types.SimpleNamespace(object=thing, scene=scene)
    inner = types.SimpleNamespace(layout=layout)
    inner._joint = lambda *given: panel._joint(inner, *given)
    panel.draw(inner, context)
    return layout.names


panels = sys.modules[f"{addon.MODULE}.panels"]
shown = {thing.name: drawn(panels.RATTLEBACK_PT_object, thing) for thing in scene.objects}
shown["sidebar"] = drawn(panels.RATTLEBACK_PT_model, None)
first, second = answer.with_name("first.rb.json"), answer.with_name("second.rb.json")
assert bpy.ops.rattleback.export_scene(filepath=str(first)) == {"FINISHED"}
parts = {trim.name: trim.parent.name, hull.name: hull.parent.name}
bpy.ops.wm.read_homefile(use_empty=True)
assert bpy.ops.rattleback.import_scene(filepath=str(first)) == {"FINISHED"}
bpy.context.scene.name = "Scene"
assert bpy.ops.rattleback.export_scene(filepath=str(second)) == {"FINISHED"}
symbols = {thing.name: thing.data.name for thing in bpy.context.scene.objects if thing.rattleback.role == "joint"}
one = next(thing for thing in bpy.context.scene.objects if thing.name == "joint ball")
one.rattleback.kind = "screw"
refused = {}
for name, call in {
    "scene": lambda: bpy.ops.rattleback.import_scene(filepath=str(answer.with_name("none.rb.json"))),
    "recording": lambda: bpy.ops.rattleback.import_recording(filepath=str(first)),
    "program": bpy.ops.rattleback.simulate,
}.items():
    if name == "program":
        bpy.context.preferences.addons[addon.MODULE].preferences.program = "no-such-program"
    try:
        call()
    except RuntimeError as error:
        refused[name] = str(error)
assert bpy.ops.preferences.addon_disable(module=addon.MODULE) == {"FINISHED"}
assert not hasattr(bpy.types.Object, "rattleback")
assert not hasattr(bpy.types, "RATTLEBACK_OT_simulate")
said = {"symbols": symbols, "changed": one.data.name, "refused": refused, "parts": parts, "shown": shown}
answer.write_text(json.dumps(said), encoding="utf-8")
