# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion as F-curves: bodies, the joints on them, arrows for velocities and forces.

    frame = first + t · fps

Every sample becomes a key, with straight lines between. A joint's symbol keeps its place on body A, or on B where A is
the world. An arrow has the direction and, by one scale for each quantity, the length of its vector.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import anim_utils

from . import symbols
from .recordings import Recording, product, smooth, turned

ARROWS = ("velocity", "reaction_force")
# The longest arrow beside the size of all that is there.
LONGEST = 0.3
LINEAR = 1


def bake(scene: Any, recording: Recording, arrows: bool) -> list[str]:
    """Give the objects of a scene the motion of a recording; returns what could not be done, in sentences.

    Args:
        scene: The Blender scene.
        recording: The recording.
        arrows: Whether velocities and forces become arrows.
    """
    said: list[str] = []
    start = _starts(scene)
    frames = scene.frame_start + (recording.time - recording.time[0]) * scene.render.fps / scene.render.fps_base
    moved: dict[str, tuple[Any, Any]] = {}
    for name in recording.bodies():
        body = scene.objects.get(name) or _stand_in(scene, name)
        turn = smooth(recording.get(name, "orientation"))
        place = _origins(recording, body, name, turn, said)
        _free(body)
        _curves(body, frames, place, turn)
        moved[name] = place, turn
    if scene.rigidbody_world is not None and scene.rigidbody_world.enabled:
        said.append(
            "Blender's own rigid bodies are on and may move what was baked; take them over, or switch them off."
        )
    if not moved:
        said.append("The recording has no orientations of bodies; record origin and orientation.")
    for joint in scene.objects:
        if joint.rattleback.role in ("joint", "spring", "end"):
            _follow(joint, frames, moved, start)
    if arrows:
        _bake_arrows(scene, recording, frames, moved)
    scene.frame_end = max(scene.frame_end, int(np.floor(frames[-1] + 1e-6)))
    return said


def clear(scene: Any) -> int:
    """Take away all motion that was baked, and the arrows; returns from how many objects."""
    baked = [thing for thing in scene.objects if thing.rattleback.baked]
    for thing in baked:
        thing.animation_data_clear()
        thing.rattleback.baked = False
        if thing.data is not None and thing.data.name == "rattleback arrow":
            bpy.data.objects.remove(thing)
    return len(baked)


def _starts(scene: Any) -> dict[str, Any]:
    """Where all objects are at the first frame."""
    scene.frame_set(scene.frame_start)
    bpy.context.view_layer.update()
    return {thing.name: thing.matrix_world.copy() for thing in scene.objects}


def _stand_in(scene: Any, name: str) -> Any:
    """An empty for a body that is not in the scene."""
    found = bpy.data.objects.new(name, None)
    scene.collection.objects.link(found)
    found.empty_display_type, found.empty_display_size = "ARROWS", 0.1
    return found


def _origins(recording: Recording, body: Any, name: str, turn: Any, said: list[str]) -> Any:
    """Origins of a body's frame (samples, 3) [m]."""
    origin = recording.get(name, "origin")
    if origin is not None:
        return origin
    center = recording.get(name, "position")
    if center is None:
        said.append(f"The recording has no places of {name!r}; it only turns. Record origin and orientation.")
        return np.tile(np.array(body.matrix_world.translation), (len(turn), 1))
    back = turn[:1] * np.array([-1.0, -1.0, -1.0, 1.0])
    arm = turned(back, center[:1] - np.array(body.matrix_world.translation))[0]
    return center - turned(turn, arm)


def _free(thing: Any) -> None:
    """Take an object from its parent, where it is."""
    if thing.parent is not None:
        world = thing.matrix_world.copy()
        thing.parent = None
        thing.matrix_world = world


def _follow(thing: Any, frames: Any, moved: dict[str, tuple[Any, Any]], start: dict[str, Any]) -> None:
    """Let the symbol of a joint, or its second point, move with its body."""
    settings = thing.rattleback
    if settings.role == "end":
        owners = [one.rattleback.b for one in bpy.data.objects if one.rattleback.end == thing]
    else:
        owners = [settings.a, settings.b]
    body = next((one for one in owners if one is not None and one.name in moved), None)
    if body is None:
        return
    local = start[body.name].to_3x3().normalized().to_4x4()
    local.translation = start[body.name].translation
    there, turn, _ = (local.inverted() @ start[thing.name]).decompose()
    place, turns = moved[body.name]
    own = np.array([turn.x, turn.y, turn.z, turn.w])
    _free(thing)
    _curves(thing, frames, place + turned(turns, np.array(there)), smooth(product(turns, own)))


def _bake_arrows(scene: Any, recording: Recording, frames: Any, moved: dict[str, tuple[Any, Any]]) -> None:
    reach = max((float(np.ptp(place, axis=0).max()) for place, _ in moved.values()), default=0.0)
    sizes = [max(scene.objects[name].dimensions) for name in moved]
    reach = max(reach, *sizes, 0.1) if sizes else max(reach, 0.1)
    for quantity in ARROWS:
        shown = {owner: track for (owner, name), track in recording.tracks.items() if name == quantity}
        longest = max((float(np.linalg.norm(track, axis=1).max()) for track in shown.values()), default=0.0)
        for owner, track in shown.items() if longest > 0.0 else ():
            foot = _foot(scene, recording, owner, moved)
            length = np.linalg.norm(track, axis=1)
            if foot is None or not length.max() > 1e-6 * longest:
                continue
            arrow = _arrow(scene, f"{owner} {quantity}")
            arrow["metres_per_unit"] = LONGEST * reach / longest
            size = np.repeat((LONGEST * reach / longest * length)[:, None], 3, axis=1)
            _curves(arrow, frames, foot, _along(track), size)


def _foot(scene: Any, recording: Recording, owner: str, moved: dict[str, tuple[Any, Any]]) -> Any:
    """Where an arrow begins (samples, 3): at the centre of mass, or at the joint; None if that is not known."""
    if owner in moved:
        center = recording.get(owner, "position")
        return moved[owner][0] if center is None else center
    joint = scene.objects.get(owner)
    if joint is None or joint.rattleback.role != "joint":
        return None
    body = next(
        (one for one in (joint.rattleback.b, joint.rattleback.a) if one is not None and one.name in moved), None
    )
    if body is None:
        return None
    place, turn = moved[body.name]
    back = turn[:1] * np.array([-1.0, -1.0, -1.0, 1.0])
    scene.frame_set(scene.frame_start)
    arm = turned(back, np.array(joint.matrix_world.translation)[None] - place[:1])[0]
    return place + turned(turn, arm)


def _arrow(scene: Any, name: str) -> Any:
    found = scene.objects.get(name)
    if found is None:
        found = bpy.data.objects.new(name, symbols.mesh("arrow"))
        scene.collection.objects.link(found)
    return found


def _along(vectors: Any) -> Any:
    """Turns that bring z onto vectors (samples, 3)."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    x, y, z = np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0]).T
    turn = np.stack([-y, x, np.zeros_like(x), 1.0 + z], axis=1)
    turn[z < -1.0 + 1e-9] = (1.0, 0.0, 0.0, 0.0)
    return smooth(turn / np.linalg.norm(turn, axis=1, keepdims=True))


def _curves(thing: Any, frames: Any, place: Any, turn: Any, size: Any = None) -> None:
    """Keys for place, turn and size of an object; what it had before is replaced."""
    thing.animation_data_clear()
    thing.rotation_mode = "QUATERNION"
    action = bpy.data.actions.new(f"{thing.name} motion")
    data = thing.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new(id_type="OBJECT", name=thing.name)
    bag = anim_utils.action_ensure_channelbag_for_slot(action, data.action_slot)
    tables = {"location": place, "rotation_quaternion": turn[:, [3, 0, 1, 2]]}
    if size is not None:
        tables["scale"] = size
    for path, table in tables.items():
        for index in range(table.shape[1]):
            curve = bag.fcurves.new(path, index=index)
            curve.keyframe_points.add(len(frames))
            curve.keyframe_points.foreach_set("co", np.column_stack([frames, table[:, index]]).ravel())
            curve.keyframe_points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.int32))
            curve.update()
    thing.rattleback.baked = True
