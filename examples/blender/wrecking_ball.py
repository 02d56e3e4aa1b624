"""In Blender as a module: a wrecking ball modelled with the add-on, simulated by rattleback, rendered with Cycles.

    .venv-blender/bin/python examples/blender/wrecking_ball.py dist/rattleback_modelling.zip rattleback out/wrecking.png

The arguments are the archive of the add-on, the program and the picture; the Blender file is written beside it. The
bricks are rigid bodies of Blender's own, which are taken over; the ball hangs on a chain of links with ball joints and
collides by a collision object of its own.
"""

import math
import sys
from pathlib import Path

import bpy
from mathutils import Vector

MODULE = "bl_ext.user_default.rattleback_modelling"
LINKS, ROWS, COLUMNS = 6, 6, 5
BRICK = (0.5, 0.25, 0.2)
HOOK = Vector((0.0, 0.0, 2.6))
FRAMES, SHOWN = 50, 30
COLOURS = {
    "brick": (0.42, 0.12, 0.06),
    "ball": (0.05, 0.055, 0.065),
    "link": (0.2, 0.21, 0.22),
    "ground": (0.33, 0.34, 0.32),
}


def install(archive, program):
    """Install the extension in an empty scene and tell it where the program is."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    bpy.context.preferences.addons[MODULE].preferences.program = program


def select(*things):
    """Select objects, the last one active."""
    for thing in bpy.context.view_layer.objects:
        thing.select_set(False)
    for thing in things:
        thing.select_set(True)
    bpy.context.view_layer.objects.active = things[-1]


def paint(thing, name, roughness=0.6):
    """Give an object a colour."""
    material = bpy.data.materials.get(name)
    if material is None:
        material = bpy.data.materials.new(name)
        surface = material.node_tree.nodes["Principled BSDF"]
        surface.inputs["Base Color"].default_value = (*COLOURS[name], 1.0)
        surface.inputs["Roughness"].default_value = roughness
    thing.data.materials.append(material)


def add_wall():
    """Bricks as rigid bodies of Blender's own, in a running bond."""
    x, y, z = BRICK
    for row in range(ROWS):
        shift = 0.5 * (row % 2)
        for column in range(COLUMNS):
            bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.75, (column + shift - 2.0) * x, (row + 0.5) * z))
            brick = bpy.context.active_object
            brick.name, brick.scale = f"brick {row} {column}", (y, x - 0.004, z)
            bpy.ops.rigidbody.object_add()
            brick.rigid_body.mass, brick.rigid_body.friction = 8.0, 0.7
            paint(brick, "brick", 0.8)


def add_ground():
    """A plane that stands."""
    bpy.ops.mesh.primitive_plane_add(size=40.0)
    ground = bpy.context.active_object
    ground.name = "ground"
    paint(ground, "ground", 0.9)
    bpy.ops.rattleback.make_bodies(static=True)
    ground.rattleback.body.shape = "plane"
    ground.rattleback.material.friction = 0.8


def add_ball(direction, length):
    """A ball whose collision object is a sphere of its own."""
    place = HOOK + (length + 0.3) * direction
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.3, location=place)
    ball = bpy.context.active_object
    ball.name = "ball"
    bpy.ops.object.shade_smooth()
    paint(ball, "ball", 0.25)
    bpy.ops.rattleback.make_bodies()
    ball.rattleback.body.shape = "sphere"
    ball.rattleback.body.use_mass, ball.rattleback.body.mass = True, 150.0
    ball.rattleback.body.continuous = True
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.3, location=place)
    hull = bpy.context.active_object
    hull.name, hull.rattleback.body.shape = "ball collision", "sphere"
    select(hull, ball)
    bpy.ops.rattleback.assign(role="collision")
    return ball


def add_chain():
    """Links from the hook to the ball, drawn aside, each joined to the next by a ball joint."""
    direction = Vector((-math.sin(1.15), 0.0, -math.cos(1.15)))
    length = 0.28
    turn = direction.to_track_quat("Z", "Y")
    before = None
    for number in range(LINKS):
        bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.03, depth=0.95 * length)
        link = bpy.context.active_object
        link.name = f"link {number + 1}"
        link.location = HOOK + (number + 0.5) * length * direction
        link.rotation_mode, link.rotation_quaternion = "QUATERNION", turn
        paint(link, "link", 0.35)
        bpy.ops.rattleback.make_bodies()
        link.rattleback.body.shape, link.rattleback.body.collides = "cylinder", False
        link.rattleback.body.density = 7800.0
        link.rattleback.body.use_density = True
        join(before, link, HOOK + number * length * direction)
        before = link
    join(before, add_ball(direction, LINKS * length), HOOK + LINKS * length * direction)


def join(first, second, place):
    """A ball joint at a place; with the world where there is no first body."""
    bpy.context.view_layer.update()
    select(*([first] if first is not None else []), second)
    bpy.ops.rattleback.add_joint(kind="ball")
    bpy.context.active_object.location = place


def stage(scene):
    """Camera, sun and sky."""
    eye = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    eye.location = (-3.8, -6.0, 2.4)
    eye.rotation_euler = (Vector((0.6, 0.0, 1.0)) - eye.location).to_track_quat("-Z", "Y").to_euler()
    eye.data.lens = 50
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.rotation_euler, sun.data.energy, sun.data.angle = (0.75, -0.2, -0.9), 4.5, 0.03
    for thing in (eye, sun):
        scene.collection.objects.link(thing)
    scene.camera, scene.world = eye, bpy.data.worlds.new("sky")
    sky = scene.world.node_tree.nodes["Background"].inputs
    sky["Color"].default_value, sky["Strength"].default_value = (0.55, 0.68, 0.85, 1.0), 0.45


def render(scene, picture):
    """One frame, small, with few samples."""
    scene.frame_set(SHOWN)
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 48, False
    scene.render.resolution_x, scene.render.resolution_y = 640, 400
    scene.view_settings.view_transform = "AgX"
    scene.render.filepath = str(picture.resolve())
    bpy.ops.render.render(write_still=True)


def main(archive, program, picture):
    """All of it."""
    install(str(Path(archive).resolve()), program)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 25, 1, FRAMES
    scene.rattleback.steps = 10
    add_ground()
    add_wall()
    add_chain()
    bpy.ops.rattleback.take_over()
    if bpy.ops.rattleback.simulate() != {"FINISHED"}:
        sys.exit("The simulation failed.")
    stage(scene)
    place = Path(picture)
    place.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(place.with_suffix(".blend").resolve()))
    render(scene, place)


if __name__ == "__main__":
    main(*sys.argv[1:4])
