# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene file as Blender objects: bodies with meshes of their shapes, joints, springs, collision objects.

Reading what was written gives the same bodies, joints, motors and springs; forces on bodies other than springs and the
tables of pairs have no objects and are told.
"""

from __future__ import annotations

import json
from typing import Any

import bmesh
import bpy
from mathutils import Matrix, Quaternion, Vector

from .attributes import GROUPS, JOINTS, file_name
from .modelling import belong, new_joint, new_spring

SEGMENTS = 32
PLANE = 10.0
Z = Vector((0.0, 0.0, 1.0))


def read_scene(scene: Any, path: str) -> list[str]:
    """Add what a scene file holds to a Blender scene; returns what is left out, in sentences.

    Raises:
        ValueError: The file is no scene file.
    """
    data = _data(path)
    lost: list[str] = []
    bodies = {entry["name"]: _body(scene, entry) for entry in data.get("bodies", []) if "name" in entry}
    unnamed = sum("name" not in entry for entry in data.get("bodies", []))
    if unnamed:
        lost.append(f"{unnamed} bodies have no name and are left out.")
    bpy.context.view_layer.update()
    for entry in data.get("joints", []):
        _joint(scene, entry, bodies, lost)
    for entry in data.get("forces", []):
        _force(scene, entry, bodies, lost)
    for pair in data.get("allowed", []):
        _allow(scene, pair, lost)
    if "gravity" in data:
        scene.gravity = data["gravity"]
    for name in ("friction", "restitution"):
        if rule := data.get("combine", {}).get(name):
            setattr(scene.rattleback, f"{name}_rule", rule)
    lost += [f"The {name} of the file are left out." for name in ("exclusions", "pairs") if data.get(name)]
    return lost


def fill(group: str, settings: Any, entry: dict[str, Any]) -> None:
    """Settings from what a file says; what it does not say is switched off where it can be."""
    for field in GROUPS[group]:
        value = entry.get(field.name)
        if field.optional:
            setattr(settings, f"use_{field.name}", value is not None)
        if value is not None and field.kind in ("number", "positive", "pair", "vector", "flag", "choice", "text"):
            setattr(settings, field.name, value)


def _data(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"The scene file {path!r} cannot be read: {error}") from None
    if not isinstance(data, dict) or data.get("format") != "rattleback-scene":
        raise ValueError(f"{path!r} is no scene file of rattleback.")
    return data


def _body(scene: Any, entry: dict[str, Any]) -> Any:
    thing = bpy.data.objects.new(entry["name"], _mesh(entry.get("shape"), entry["name"]))
    scene.collection.objects.link(thing)
    thing.rotation_mode = "QUATERNION"
    turn = _quaternion(entry.get("orientation"))
    thing.rotation_quaternion = turn
    arm = turn @ Vector(entry.get("center_of_mass") or (0, 0, 0)) if not entry.get("static") else Vector()
    thing.location = entry["origin"] if entry.get("origin") else Vector(entry.get("position") or (0, 0, 0)) - arm
    settings = thing.rattleback
    settings.role = "body"
    plain = {
        name: value for name, value in entry.items() if name not in ("shape", "category", "collides_with", "inertia")
    }
    inertia = entry.get("inertia")
    if inertia and isinstance(inertia[0], list):
        plain["inertia"] = [inertia[k][k] for k in range(3)]
        plain["products"] = [inertia[0][1], inertia[0][2], inertia[1][2]]
    elif inertia:
        plain["inertia"] = inertia
    fill("body", settings.body, plain)
    kind = (entry.get("shape") or {}).get("kind", "none")
    settings.body.shape = {"compound": "auto", "height_field": "mesh"}.get(kind, kind)
    settings.body.category = ", ".join(entry.get("category") or ["default"])
    settings.body.collides_with = ", ".join(entry.get("collides_with") or [])
    settings.body.collides = entry.get("collision") != []
    fill("material", settings.material, entry.get("material") or {})
    for number, part in enumerate(entry.get("collision") or []):
        _collision(scene, thing, number, part)
    return thing


def _collision(scene: Any, body: Any, number: int, part: dict[str, Any]) -> None:
    name = f"{body.name} collision {number + 1}"
    thing = bpy.data.objects.new(name, _mesh(part["shape"], name))
    scene.collection.objects.link(thing)
    bpy.context.view_layer.update()
    turn = _quaternion(part.get("orientation"))
    local = Matrix.LocRotScale(Vector(part.get("position") or (0, 0, 0)), turn, None)
    thing.matrix_world = body.matrix_world @ local
    bpy.context.view_layer.update()
    kind = part["shape"]["kind"]
    thing.rattleback.body.shape = {"compound": "auto", "height_field": "mesh"}.get(kind, kind)
    belong(thing, body, "collision")


def _joint(scene: Any, entry: dict[str, Any], bodies: dict[str, Any], lost: list[str]) -> None:
    kind, name = entry["kind"], entry.get("name", entry["kind"])
    if kind not in JOINTS:
        lost.append(f"Joint {name!r} of kind {kind!r} is not known here and is left out.")
        return
    place, axis, across = entry.get("at") or (0, 0, 0), entry.get("axis") or Z, entry.get("axis_b")
    if entry.get("frame_a"):
        place, axis, across = _from_frame(entry, bodies)
    thing = new_joint(scene, kind, (bodies.get(entry["a"]), bodies.get(entry["b"])), place)
    thing.name = name
    thing.rotation_mode = "QUATERNION"
    thing.rotation_quaternion = _framed(Vector(axis), across)
    plain = dict(entry)
    for which in ("linear", "angular"):
        if rates := entry.get(which):
            setattr(thing.rattleback.joint, f"{which}_axes", [rate is not None for rate in rates])
            plain[which] = [rate or 0.0 for rate in rates]
    if file_name(kind, "row_damping") == "damping" and "damping" in plain:
        plain["row_damping"] = plain.pop("damping")
    for which in ("stiffness", "row_damping"):
        if isinstance(plain.get(which), dict):
            lost.append(f"Joint {name!r} has {which} row by row, which is not known here; its rows hold.")
            plain.pop(which)
    for which in ("limits", "turn_limits", "limits_b", "twist"):
        if entry.get(which):
            low, high = entry[which]
            plain[which] = [-1e6 if low is None else low, 1e6 if high is None else high]
    fill("joint", thing.rattleback.joint, plain)
    if thing.rattleback.end is not None and entry.get("at_b"):
        thing.rattleback.end.location = entry["at_b"]


def _from_frame(entry: dict[str, Any], bodies: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Point, axis and second axis in the world of a joint that is placed in its bodies."""
    (point, turn), body = entry["frame_a"], bodies.get(entry["a"])
    world = body.matrix_world if body is not None else Matrix()
    axes = world.to_3x3() @ _quaternion(turn).to_matrix()
    return world @ Vector(point), axes.col[2], axes.col[0]


def _force(scene: Any, entry: dict[str, Any], bodies: dict[str, Any], lost: list[str]) -> None:
    kind, joint = entry["kind"], scene.objects.get(entry.get("joint", ""))
    if kind == "spring":
        points = entry["at"], entry.get("at_b") or entry["at"]
        thing = new_spring(scene, (bodies.get(entry["a"]), bodies.get(entry["b"])), points)
        thing.name = entry.get("name", "spring")
        fill("spring", thing.rattleback.spring, entry)
    elif kind == "torsion_spring" and joint is not None:
        joint.rattleback.use_torsion = True
        fill("torsion", joint.rattleback.torsion, entry)
    elif kind == "servo" and joint is not None:
        joint.rattleback.use_motor = True
        plain = dict(entry)
        if isinstance(target := entry.get("target"), dict):
            plain.pop("target")
            plain["between"] = target.get("kind", "linear")
            pairs = zip(target["times"], target["values"], strict=True)
            plain["schedule"] = ", ".join(f"{time!r}: {value!r}" for time, value in pairs)
        fill("motor", joint.rattleback.motor, plain)
    elif kind != "gravity":
        lost.append(f"Force {entry.get('name', kind)!r} of kind {kind!r} has no object and is left out.")


def _allow(scene: Any, pair: list[str], lost: list[str]) -> None:
    """Let two bodies collide although a joint joins them."""
    for thing in scene.objects:
        settings = thing.rattleback
        if settings.role == "joint" and {getattr(body, "name", "") for body in (settings.a, settings.b)} == set(pair):
            settings.collide = True
            return
    lost.append(f"{pair[0]!r} and {pair[1]!r} have no joint that lets them collide; that is left out.")


def _quaternion(entry: Any) -> Quaternion:
    x, y, z, w = entry or (0.0, 0.0, 0.0, 1.0)
    return Quaternion((w, x, y, z))


def _framed(axis: Vector, across: Any) -> Quaternion:
    """The turn with z along an axis and, where a second one is given at right angles, x along that."""
    z = axis.normalized()
    x = Vector(across) - Vector(across).dot(z) * z if across is not None else Vector()
    if x.length < 1e-6:
        return Z.rotation_difference(z)
    x.normalize()
    return Matrix((x, z.cross(x), z)).transposed().to_quaternion()


def _mesh(shape: dict[str, Any] | None, name: str) -> Any:
    """A mesh of a shape; None for none."""
    if shape is None:
        return None
    form = bmesh.new()
    _add(form, shape, Matrix())
    found = bpy.data.meshes.new(name)
    form.to_mesh(found)
    form.free()
    return found


def _add(form: Any, shape: dict[str, Any], place: Matrix) -> None:
    """Add a shape to a mesh."""
    kind = shape["kind"]
    if kind == "compound":
        for part in shape["parts"]:
            local = Matrix.LocRotScale(
                Vector(part.get("position") or (0, 0, 0)), _quaternion(part.get("orientation")), None
            )
            _add(form, part["shape"], place @ local)
    elif kind in ("mesh", "convex_hull", "height_field"):
        _add_triangles(form, shape, place)
    elif kind == "plane":
        turn = Z.rotation_difference(Vector(shape.get("normal") or Z)).to_matrix().to_4x4()
        bmesh.ops.create_grid(form, x_segments=1, y_segments=1, size=0.5 * PLANE, matrix=place @ turn)
    else:
        _add_solid(form, shape, place)


def _add_solid(form: Any, shape: dict[str, Any], place: Matrix) -> None:
    kind, radius = shape["kind"], shape.get("radius", 0.0)
    if kind == "box":
        size = Matrix.Diagonal((shape["x"], shape["y"], shape["z"], 1.0))
        bmesh.ops.create_cube(form, size=1.0, matrix=place @ size)
    elif kind in ("sphere", "ellipsoid"):
        size = Matrix.Diagonal((*(shape.get(axis, radius) for axis in "xyz"), 1.0))
        bmesh.ops.create_uvsphere(form, u_segments=SEGMENTS, v_segments=SEGMENTS // 2, radius=1.0, matrix=place @ size)
    elif kind in ("cylinder", "cone"):
        top, depth = (radius, shape["length"]) if kind == "cylinder" else (0.0, shape["height"])
        bmesh.ops.create_cone(
            form, cap_ends=True, segments=SEGMENTS, radius1=radius, radius2=top, depth=depth, matrix=place
        )
    elif kind == "capsule":
        made = bmesh.ops.create_uvsphere(form, u_segments=SEGMENTS, v_segments=SEGMENTS // 2, radius=radius)
        half = 0.5 * shape["length"] - radius
        for vertex in made["verts"]:
            vertex.co.z += half if vertex.co.z > 0.0 else -half
            vertex.co = place @ vertex.co


def _add_triangles(form: Any, shape: dict[str, Any], place: Matrix) -> None:
    if shape["kind"] == "height_field":
        points, faces = _field(shape)
    else:
        points = shape["points"] if shape["kind"] == "convex_hull" else shape["vertices"]
        faces = shape.get("triangles", [])
    corners = [form.verts.new(place @ Vector(point)) for point in points]
    if shape["kind"] == "convex_hull":
        bmesh.ops.convex_hull(form, input=corners)
    for face in faces:
        form.faces.new([corners[index] for index in face])


def _field(shape: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    heights, (dx, dy) = shape["heights"], shape["spacing"]
    nx, ny = len(heights), len(heights[0])
    points = [(dx * (i - (nx - 1) / 2), dy * (j - (ny - 1) / 2), heights[i][j]) for i in range(nx) for j in range(ny)]
    corners = [
        (i * ny + j, (i + 1) * ny + j, (i + 1) * ny + j + 1, i * ny + j + 1)
        for i in range(nx - 1)
        for j in range(ny - 1)
    ]
    return points, corners
