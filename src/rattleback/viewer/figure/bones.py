"""The skeleton of a figure on the page: a spindle for each bone, a ball for each joint, and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.tessellation import Surface, tessellate
from rattleback.shapes import Sphere
from rattleback.viewer.drawing.colours import CHOSEN
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.drawing.turns import along, wxyz
from rattleback.viewer.server import send_props

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

BONE, JOINT = (224, 168, 64), (61, 90, 128)
# Radius of a joint in sizes of the figure, and in usual lengths of a bone at most; thickness of a bone in its length,
# and in radii of a joint at most.
BALL, STUBBY, THICK, THICKEST = 0.009, 0.2, 0.1, 2.2
# Where a bone is thickest, in its length.
WAIST = 0.18


class Bones:
    """A skeleton on the page.

    Attributes:
        places: Where its joints are (joints, 3) [m].
        radius: Radius of the balls [m].

    Args:
        scene: Scene of the page.
        skeleton: The skeleton, in metres.
    """

    def __init__(self, scene: Any, skeleton: Skeleton) -> None:
        self._scene, self.skeleton = scene, skeleton
        self.places = skeleton.matrices(skeleton.rest)[:, :3, 3]
        self._children = np.flatnonzero(skeleton.parents >= 0)
        self._parents = skeleton.parents[self._children]
        lengths = np.linalg.norm(self.places[self._children] - self.places[self._parents], axis=1)
        size, usual = float(np.ptp(self.places, axis=0).max()), lengths[lengths > 1e-9]
        self.radius = min(BALL * size, STUBBY * float(np.median(usual))) if len(usual) else 0.01
        self._nodes: list[Any] = []
        self._names: dict[int, Any] = {}
        self.visible, self._chosen = False, -1

    def show(self, places: Floats) -> int:
        """Move it so that its joints are at places (joints, 3) [m]; returns how many bytes that sends."""
        self.places = places
        for joint, label in self._names.items():
            label.position = places[joint]
        if not self.visible:
            return 0
        turn, middle, scale = self._bones()
        bones = {"batched_positions": middle, "batched_wxyzs": turn, "batched_scales": scale}
        sent = [{name: values.astype(np.float32) for name, values in bones.items()} if len(middle) else {}]
        sent.append({"batched_positions": places.astype(np.float32)})
        for node, values in zip(self._nodes, [one for one in sent if one], strict=True):
            send_props(node, **values)
        return sum(array.nbytes for values in sent for array in values.values())

    def reveal(self, visible: bool) -> None:
        """Show it, or not."""
        if visible == self.visible:
            return
        self.visible = visible
        for node in self._nodes:
            node.remove()
        self._nodes = self._made() if visible else []
        self.choose(self._chosen)

    def choose(self, joint: int) -> None:
        """Have a joint stand out; −1 for none."""
        self._chosen = joint
        if self._nodes:
            colours = np.tile(np.array(JOINT, dtype=np.uint8), (len(self.places), 1))
            if joint >= 0:
                colours[joint] = CHOSEN
            self._nodes[-1].batched_colors = painted(colours)

    def name(self, joints: set[int]) -> None:
        """Write the names of these joints beside them, and of no others."""
        for joint in self._names.keys() - joints:
            self._names.pop(joint).remove()
        for joint in sorted(joints - self._names.keys()):
            self._names[joint] = self._scene.add_label(
                f"/joint_name/{joint}",
                self.skeleton.names[joint],
                position=self.places[joint],
                anchor="center-left",
            )

    def pick(self, origin: Floats, direction: Floats) -> int | None:
        """The joint that a ray meets first, within two radii; None where it meets none."""
        unit = direction / np.linalg.norm(direction)
        ways = self.places - origin
        away = ways @ unit
        beside = np.linalg.norm(ways - away[:, None] * unit, axis=1)
        met = (beside < 2.0 * self.radius) & (away > 0.0)
        return int(np.flatnonzero(met)[np.argmin(beside[met])]) if met.any() else None

    def remove(self) -> None:
        """Take it off the page."""
        self.reveal(False)
        self.name(set())

    def _bones(self) -> tuple[Floats, Floats, Floats]:
        """Turns, w first, places and scales of the bones."""
        start, way = self.places[self._parents], self.places[self._children] - self.places[self._parents]
        length = np.linalg.norm(way, axis=1)
        turn = along(np.where(length[:, None] > 1e-9, way / np.maximum(length, 1e-9)[:, None], (0.0, 0.0, 1.0)))
        thick = np.minimum(THICK * length, THICKEST * self.radius)
        return wxyz(turn), start, np.maximum(np.stack([thick, thick, length], axis=1), 1e-6)

    def _made(self) -> list[Any]:
        """Its nodes: bones, if it has any, and joints."""
        turn, place, scale = self._bones()
        mesh, ball, made = spindle(), tessellate(Sphere(1.0), 12), []
        options: dict[str, Any] = {"lod": "off", "cast_shadow": False, "receive_shadow": False}
        if len(place):
            colours = painted(np.tile(np.array(BONE), (len(place), 1)))
            made.append(
                self._scene.add_batched_meshes_simple(
                    "/bones", mesh.vertices, mesh.triangles, turn, place,
                    batched_scales=scale, batched_colors=colours, flat_shading=True, **options,
                )
            )  # fmt: skip
        count = len(self.places)
        made.append(
            self._scene.add_batched_meshes_simple(
                "/joints", ball.vertices, ball.triangles, np.tile((1.0, 0.0, 0.0, 0.0), (count, 1)), self.places,
                batched_scales=np.full((count, 3), self.radius),
                batched_colors=painted(np.tile(np.array(JOINT), (count, 1))), **options,
            )
        )  # fmt: skip
        return made


def spindle() -> Surface:
    """A bone of length one along z, thickest near its start, where its radius is one."""
    around = [(1.0, 0.0, WAIST), (0.0, 1.0, WAIST), (-1.0, 0.0, WAIST), (0.0, -1.0, WAIST)]
    points = np.array([(0.0, 0.0, 0.0), *around, (0.0, 0.0, 1.0)])
    faces = [face for k in range(4) for face in ((0, 1 + (k + 1) % 4, 1 + k), (5, 1 + k, 1 + (k + 1) % 4))]
    return Surface(points, np.array(faces))
