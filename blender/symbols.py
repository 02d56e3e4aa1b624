# SPDX-License-Identifier: GPL-3.0-or-later
"""Symbols of joints and springs: small meshes, one for each kind, about as large as a unit cube, with the axis along z.

A symbol is put together from rods, balls, rings and blocks; the table says of which.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import bmesh
import bpy
from mathutils import Matrix, Quaternion, Vector

ROD, SIDES = 0.045, 12
Z = Vector((0.0, 0.0, 1.0))


def _rod(mesh: Any, start: Any, end: Any, radius: float = ROD, tip: float | None = None) -> None:
    """A rod between two points; with a tip radius, a cone."""
    a, b = Vector(start), Vector(end)
    turn = Z.rotation_difference(b - a).to_matrix().to_4x4()
    place = Matrix.Translation(0.5 * (a + b)) @ turn
    last = radius if tip is None else tip
    bmesh.ops.create_cone(
        mesh, cap_ends=True, segments=SIDES, radius1=radius, radius2=last, depth=(b - a).length, matrix=place
    )


def _arrow(mesh: Any, start: Any, end: Any) -> None:
    a, b = Vector(start), Vector(end)
    neck = b - 0.25 * (b - a).normalized()
    _rod(mesh, a, neck)
    _rod(mesh, neck, b, 2.5 * ROD, 0.0)


def _ball(mesh: Any, at: Any, radius: float) -> None:
    bmesh.ops.create_icosphere(mesh, subdivisions=2, radius=radius, matrix=Matrix.Translation(Vector(at)))


def _block(mesh: Any, at: Any, size: Any) -> None:
    matrix = Matrix.Translation(Vector(at)) @ Matrix.Diagonal((*size, 1.0))
    bmesh.ops.create_cube(mesh, size=1.0, matrix=matrix)


def _path(mesh: Any, points: list[Any], radius: float = 0.5 * ROD) -> None:
    for start, end in pairwise(points):
        _rod(mesh, start, end, radius)


def _ring(mesh: Any, radius: float, at: Any = (0, 0, 0), axis: Any = Z, part: float = 1.0) -> None:
    turn = Z.rotation_difference(Vector(axis)) if Vector(axis) != -Z else Quaternion((0, 1, 0, 0))
    angles = [2.0 * math.pi * part * k / 24 for k in range(25)]
    _path(mesh, [Vector(at) + turn @ Vector((radius * math.cos(a), radius * math.sin(a), 0)) for a in angles])


def _wheel(mesh: Any, at: Any, radius: float) -> None:
    """A toothed wheel about z."""
    _ring(mesh, radius, at)
    for k in range(12):
        a = math.pi * k / 6
        _block(mesh, Vector(at) + 1.1 * radius * Vector((math.cos(a), math.sin(a), 0)), (0.08, 0.08, 0.08))


def _coil(mesh: Any, radius: float, low: float, high: float, turns: float) -> None:
    points = []
    for k in range(int(24 * turns) + 1):
        angle = 2.0 * math.pi * k / 24
        points.append((radius * math.cos(angle), radius * math.sin(angle), low + (high - low) * k / (24 * turns)))
    _path(mesh, points)


def _draw_ball(mesh: Any) -> None:
    _ball(mesh, (0, 0, 0), 0.26)
    for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        _ring(mesh, 0.4, axis=axis)


def _draw_revolute(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.5), (0, 0, 0.5), 2 * ROD)
    for z in (-0.3, 0.3):
        _ring(mesh, 0.28, (0, 0, z))
    _ring(mesh, 0.42, part=0.7)


def _draw_prismatic(mesh: Any) -> None:
    _block(mesh, (0, 0, 0), (0.36, 0.36, 0.4))
    _block(mesh, (0, 0, 0), (0.14, 0.14, 1.0))


def _draw_cylindrical(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.5), (0, 0, 0.5), 2 * ROD)
    _rod(mesh, (0, 0, -0.2), (0, 0, 0.2), 0.22)
    _arrow(mesh, (0.35, 0, -0.3), (0.35, 0, 0.4))


def _draw_universal(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.42), (0, 0, 0.42), 1.6 * ROD)
    _rod(mesh, (-0.42, 0, 0), (0.42, 0, 0), 1.6 * ROD)
    _ball(mesh, (0, 0, 0), 0.16)
    _ring(mesh, 0.42, axis=(1, 0, 0), part=0.5)
    _ring(mesh, 0.42, axis=(0, 0, 1), part=0.5)


def _draw_fixed(mesh: Any) -> None:
    _block(mesh, (0, 0, 0), (0.42, 0.42, 0.42))
    for x, y in ((1, 1), (1, -1)):
        _rod(mesh, (-0.42 * x, -0.42 * y, 0), (0.42 * x, 0.42 * y, 0))


def _draw_planar(mesh: Any) -> None:
    _block(mesh, (0, 0, 0), (0.9, 0.9, 0.04))
    _arrow(mesh, (0, 0, 0), (0, 0, 0.5))


def _draw_screw(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.5), (0, 0, 0.5), 1.5 * ROD)
    _coil(mesh, 0.16, -0.45, 0.45, 5)


def _draw_rod(mesh: Any) -> None:
    _ball(mesh, (0, 0, 0), 0.2)
    _rod(mesh, (0, 0, 0), (0, 0, 0.5))


def _draw_line(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.5), (0, 0, 0.5))
    _ball(mesh, (0, 0, 0), 0.16)


def _draw_plane(mesh: Any) -> None:
    _block(mesh, (0, 0, 0), (0.9, 0.9, 0.03))
    _ball(mesh, (0, 0, 0.1), 0.16)


def _draw_axes(mesh: Any) -> None:
    for end in ((0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)):
        _arrow(mesh, (0, 0, 0), end)


def _draw_parallel(mesh: Any) -> None:
    for x in (-0.15, 0.15):
        _arrow(mesh, (x, 0, -0.45), (x, 0, 0.45))


def _draw_crossed(mesh: Any) -> None:
    _arrow(mesh, (0, 0, -0.45), (0, 0, 0.45))
    _arrow(mesh, (-0.45, 0, 0), (0.45, 0, 0))


def _draw_far_line(mesh: Any) -> None:
    _rod(mesh, (0, 0, -0.5), (0, 0, 0.5))
    _rod(mesh, (0, 0, 0), (0.4, 0, 0), 0.5 * ROD)
    _ball(mesh, (0.4, 0, 0), 0.13)


def _draw_far_plane(mesh: Any) -> None:
    _block(mesh, (0, 0, 0), (0.9, 0.9, 0.03))
    _rod(mesh, (0, 0, 0), (0, 0, 0.4), 0.5 * ROD)
    _ball(mesh, (0, 0, 0.4), 0.13)


def _draw_gear(mesh: Any) -> None:
    _wheel(mesh, (0, 0, 0), 0.32)
    _rod(mesh, (0, 0, -0.3), (0, 0, 0.3))


def _draw_rack(mesh: Any) -> None:
    _wheel(mesh, (0, 0, 0), 0.28)
    _rod(mesh, (0, 0, -0.2), (0, 0, 0.2))
    _block(mesh, (0, -0.4, 0), (1.0, 0.1, 0.12))


def _draw_velocity(mesh: Any) -> None:
    _arrow(mesh, (0, 0, -0.4), (0, 0, 0.5))
    _ring(mesh, 0.3, part=0.8)
    _ball(mesh, (0, 0, -0.4), 0.1)


def _draw_spring(mesh: Any) -> None:
    _coil(mesh, 0.16, 0.1, 0.9, 8)
    _path(mesh, [(0, 0, 0), (0, 0, 0.1), (0.16, 0, 0.1)])
    _path(mesh, [(0.16, 0, 0.9), (0, 0, 0.9), (0, 0, 1.0)])


def _draw_arrow(mesh: Any) -> None:
    _rod(mesh, (0, 0, 0), (0, 0, 0.75), 0.02)
    _rod(mesh, (0, 0, 0.75), (0, 0, 1.0), 0.06, 0.0)


MAKERS = {
    "ball": _draw_ball,
    "revolute": _draw_revolute,
    "prismatic": _draw_prismatic,
    "cylindrical": _draw_cylindrical,
    "universal": _draw_universal,
    "fixed": _draw_fixed,
    "planar": _draw_planar,
    "screw": _draw_screw,
    "distance": _draw_rod,
    "distance_to_line": _draw_far_line,
    "distance_to_plane": _draw_far_plane,
    "point_on_line": _draw_line,
    "point_on_plane": _draw_plane,
    "fixed_orientation": _draw_axes,
    "common_direction": _draw_parallel,
    "double_rotation": _draw_crossed,
    "gear": _draw_gear,
    "rack": _draw_rack,
    "velocity_joint": _draw_velocity,
    "spring": _draw_spring,
    "arrow": _draw_arrow,
}
COLOURS = {"spring": (0.85, 0.55, 0.1, 1.0), "arrow": (0.02, 0.35, 0.28, 1.0)}
OF_JOINTS = (0.05, 0.25, 0.6, 1.0)


def mesh(kind: str) -> Any:
    """The mesh of a symbol; made once in a file."""
    name = f"rattleback {kind}"
    found = bpy.data.meshes.get(name)
    if found is None:
        found = bpy.data.meshes.new(name)
        form = bmesh.new()
        MAKERS[kind](form)
        form.to_mesh(found)
        form.free()
        found.materials.append(_paint(kind))
        found.use_fake_user = True
    return found


def _paint(kind: str) -> Any:
    """The colour of a symbol."""
    what = kind if kind in COLOURS else "joint"
    name = f"rattleback {what}"
    found = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        found.diffuse_color = COLOURS.get(what, OF_JOINTS)
        found.use_nodes = True
        found.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = found.diffuse_color
    return found
