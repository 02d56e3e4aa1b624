"""A take as animated glTF: a node for every body, with keys at the times of the frames; what was recorded beside it.

    x' = M x,    q' = (M q_xyz, q_w),    M (x, y, z) = (x, z, −y)

glTF has y up. Everything is turned by M, places, turns and the vertices of meshes alike, so that a program with z up
that undoes it, as Blender does, has the frames of the bodies as they were in the simulation. Keys lie k/fps seconds
from the start of the film. Numbers that were recorded are nodes that move along x; vectors and all else are accessors
that the ``extras`` of the scene name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback._version import __version__
from rattleback.core.gltf_document import VERTICES, Document
from rattleback.recording.look import light
from rattleback.recording.motion.layout import (
    ARROWS,
    ASPECT,
    Arrow,
    Pose,
    arrows_of,
    camera_of,
    joint_points,
    lens,
    reach_of,
)
from rattleback.recording.motion.solids import Piece, Solids, arrow, solids_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rattleback.recording.motion.take import Take, Track

ROUGH = 0.55


class Gltf:
    """A take on its way into a glTF document.

    Args:
        take: The take.
        joints: Whether joints are marked and their points written.
        arrows: Whether velocities and forces that were recorded are drawn as arrows.
    """

    def __init__(self, take: Take, joints: bool, arrows: bool) -> None:
        self.take, self.reach = take, reach_of(take)
        self.document = Document(f"rattleback {__version__}")
        self._times = self.document.numbers(np.arange(take.frames) / take.fps, bounds=True)
        self._top: list[int] = []
        self._motion: dict[str, list[Any]] = {"channels": [], "samplers": []}
        self._meshes: dict[Any, int] = {}
        self._pieces: dict[Hashable, dict[str, Any]] = {}
        self._materials: dict[tuple[float, ...], int] = {}
        bodies = self._bodies(solids_of(take.scene, self.reach, joints))
        if joints:
            self._joint_points(bodies)
        for entry in arrows_of(take, self.reach) if arrows else ():
            self._arrow(entry)
        self._camera()
        self._finish(self._quantities())

    def _bodies(self, solids: Solids) -> list[int]:
        """A node for each body with its first solid; further ones are its children."""
        found, take = [], self.take
        for row, body in enumerate(take.scene.bodies):
            pose = Pose(take.origin[:, row], take.orientation[:, row])
            extras = {"static": body.static, **({} if body.static else {"mass": body.mass})}
            index = self._node(body.name, pose, {"extras": {"rattleback": extras}})
            self._top.append(index)
            found.append(index)
        for solid in solids.solids:
            mesh = self._mesh(solid.mesh, solids.meshes[solid.mesh], solids.colours[solid.colour])
            owner = self.document.json["nodes"][found[solid.body]]
            if "mesh" in owner:
                children = owner.setdefault("children", [])
                name = f"{owner['name']}.mark_{len(children) + 1}"
                children.append(self.document.add("nodes", {"name": name, "mesh": mesh}))
            else:
                owner["mesh"] = mesh
        return found

    def _joint_points(self, bodies: list[int]) -> None:
        for point in joint_points(self.take.scene):
            index = self._node(point.name, point.pose, {})
            if point.body < 0:
                self._top.append(index)
            else:
                self.document.json["nodes"][bodies[point.body]].setdefault("children", []).append(index)

    def _arrow(self, entry: Arrow) -> None:
        mesh = self._mesh("arrow", arrow(), light(ARROWS[entry.quantity]))
        extras = {"metres_per_unit": entry.scale, "quantity": entry.quantity}
        index = self._node(entry.name, entry.pose, {"mesh": mesh, "extras": {"rattleback": extras}})
        length = np.repeat(entry.length[:, None], 3, axis=1)
        self.document.json["nodes"][index]["scale"] = length[0].tolist()
        self._move(index, "scale", length)
        self._top.append(index)

    def _camera(self) -> None:
        """The camera of pictures. It looks along its own −z here too, so only the world is turned by M."""
        camera, (eye, (x, y, z, w)) = camera_of(self.take)
        near = max(1e-3, 0.01 * (camera.distance or 1.0))
        sight = {"yfov": lens(camera), "aspectRatio": ASPECT, "znear": near, "zfar": 1e5 * near}
        seen = self.document.add("cameras", {"type": "perspective", "name": "camera", "perspective": sight})
        # The product with the quarter turn about x that M is.
        turned = np.sqrt(0.5) * np.array([x - w, y + z, z - y, w + x])
        entry = {"name": "camera", "translation": _up(eye).tolist(), "rotation": turned.tolist(), "camera": seen}
        self._top.append(self.document.add("nodes", entry))

    def _quantities(self) -> list[dict[str, Any]]:
        """What was recorded: an accessor for each vector or number, and a moving node for each number."""
        found, nodes = [], []
        for track in self.take.tracks:
            entry: dict[str, Any] = {"name": track.label, "unit": track.unit}
            if track.values.shape[1] == 1 and not track.owner:
                nodes.append(self._number(track))
                entry["node"] = nodes[-1]
            entry["accessor"] = self.document.numbers(track.values)
            found.append(entry)
        if nodes:
            self._top.append(
                self.document.add("nodes", {"name": "recorded", "scale": [0.0, 0.0, 0.0], "children": nodes})
            )
        return found

    def _number(self, track: Track) -> int:
        """A node whose place along x is a number; it lies under one of size zero, so that nothing is seen of it."""
        place = np.zeros((self.take.frames, 3))
        place[:, 0] = track.values[:, 0]
        index = self.document.add("nodes", {"name": track.label, "translation": place[0].tolist()})
        self._move(index, "translation", place)
        return index

    def _finish(self, quantities: list[dict[str, Any]]) -> None:
        take, json = self.take, self.document.json
        told = {
            "fps": take.fps,
            "frames": take.frames,
            "speed": take.speed,
            "start": take.start,
            "position_error": take.position_error,
            "orientation_error": take.orientation_error,
            "quantities": quantities,
        }
        if self._motion["channels"]:
            json["animations"] = [{"name": "motion", **self._motion}]
        json |= {"scene": 0, "scenes": [{"name": take.scene.name, "nodes": self._top, "extras": {"rattleback": told}}]}

    def _node(self, name: str, pose: Pose, more: dict[str, Any]) -> int:
        """A node at a pose; where it has one for each frame, one that moves."""
        place, turn = _up(np.atleast_2d(pose.position)), _turned(np.atleast_2d(pose.orientation))
        entry = {"name": name, "translation": place[0].tolist(), "rotation": turn[0].tolist(), **more}
        index = self.document.add("nodes", entry)
        if len(place) == self.take.frames:
            self._move(index, "translation", place)
            self._move(index, "rotation", turn)
        return index

    def _move(self, node: int, path: str, values: Any) -> None:
        """Keys for every frame, where anything changes."""
        if not np.ptp(values, axis=0).any():
            return
        sampler = {"input": self._times, "output": self.document.numbers(values), "interpolation": "LINEAR"}
        self._motion["samplers"].append(sampler)
        target = {"node": node, "path": path}
        self._motion["channels"].append({"sampler": len(self._motion["samplers"]) - 1, "target": target})

    def _mesh(self, name: Hashable, piece: Piece, colour: Any) -> int:
        """A mesh in a colour; meshes that are alike share their vertices."""
        shade = tuple(np.round(colour, 6).tolist())
        if (name, shade) not in self._meshes:
            if name not in self._pieces:
                self._pieces[name] = {
                    "attributes": {
                        "POSITION": self.document.numbers(_up(piece.vertices), VERTICES, bounds=True),
                        "NORMAL": self.document.numbers(_up(piece.normals), VERTICES),
                    },
                    "indices": self.document.indices(piece.triangles),
                }
            primitive = {**self._pieces[name], "material": self._material(shade)}
            self._meshes[name, shade] = self.document.add("meshes", {"primitives": [primitive]})
        return self._meshes[name, shade]

    def _material(self, shade: tuple[float, ...]) -> int:
        if shade not in self._materials:
            paint = {"baseColorFactor": [*shade, 1.0], "metallicFactor": 0.0, "roughnessFactor": ROUGH}
            entry = {"name": f"colour {len(self._materials) + 1}", "pbrMetallicRoughness": paint}
            self._materials[shade] = self.document.add("materials", entry)
        return self._materials[shade]


def _up(vectors: Any) -> Any:
    """Vectors with y up, (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(vectors), -1, 0)
    return np.stack([x, z, -y], axis=-1)


def _turned(quaternions: Any) -> Any:
    """Quaternions with y up, (..., 4)."""
    x, y, z, w = np.moveaxis(np.asarray(quaternions), -1, 0)
    return np.stack([x, z, -y, w], axis=-1)
