"""A throng: a figure a hundred times, each elsewhere in its clips.

    figure i at time t is in frame (n_i + ⌊φ N⌋) mod N        n_i = i mod N, shuffled over the field

φ phase, N frames of a round, a thirtieth of a second each. All frames are skinned at once and sent once, each a mesh;
then a figure is an instance of the mesh of its frame, and a frame of the page sends places alone: 12 bytes a figure.
All go equally fast, so those in one frame stay together, and no mesh ever gets more or fewer instances; where a mesh
has one to spare, it is far below the ground.

Cost: sending N meshes when weights, method or look change, some megabytes; after that the same for a figure of fifty
vertices and of fifty thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.server import send_props

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.figure.playback import Playback
    from rattleback.viewer.figure.skins import Look

    Floats = NDArray[np.float64]

# Frames of a second, most frames, and most bytes of all meshes.
RATE, MOST_FRAMES, MOST_BYTES = 30.0, 90, 24_000_000
# Distance of figures in their widths, and how far they are off a square lattice.
APART, ASTRAY = 1.25, 0.22
# How much lighter or darker figures are, and where spare ones are [m].
SHADES, AWAY = 0.18, (0.0, 0.0, -1e4)


class Throng:
    """Many figures on the page.

    Attributes:
        homes: Where they stand at first (figures, 3) [m].
        frames: N.
        bytes: What the meshes are together [bytes].

    Args:
        scene: Scene of the page.
        playback: Their clips.
        look: What they look like.
        count: How many.
        width: Width of the room that a figure takes [m].
    """

    def __init__(self, scene: Any, playback: Playback, look: Look, count: int, width: float) -> None:
        self._scene, self._playback, self._look = scene, playback, look
        self.homes, self.field = lattice(count, APART * width)
        self._order = np.random.default_rng(0).permutation(count)
        self.frames, self.bytes, self._rounds = 1, 0, 0.0
        self._nodes: list[list[Any]] = []
        self._last = (0.0, -1)

    def bake(self, method: str) -> None:
        """Skin all frames of a round, and put the figures into them."""
        whole = sum(12 * (len(skin.points) + len(skin.faces)) for skin in self._look.skins)
        wished = round(RATE * self._playback.duration)
        self.frames = int(max(1, min(wished, MOST_FRAMES, MOST_BYTES // max(1, whole))))
        self.bytes, self._last = self.frames * whole, (self._playback.phase, -1)
        poses = self._playback.in_place(np.arange(self.frames) / self.frames)
        known = self._nodes and len(self._nodes[0]) == self.frames
        if not known:
            self._remove_nodes()
        for number, skin in enumerate(self._look.skins):
            points = skin.vertices(poses, method).astype(np.float32)
            if known:
                for node, vertices in zip(self._nodes[number], points, strict=True):
                    send_props(node, vertices=vertices)
            else:
                meshes = [self._mesh(f"/throng/{number}/{k}", points[k], skin, k) for k in range(self.frames)]
                self._nodes.append(meshes)
        self.show()

    def show(self) -> int:
        """Move them to where they are at the phase of the clips; returns how many bytes that sends."""
        phase, tick = self._playback.phase, int(self._playback.phase * self.frames + 1e-9) % self.frames
        before, last = self._last
        if last == tick and before == phase:
            return 0
        # Nothing goes on by half a round between two frames of the page, so it began anew.
        self._rounds += float(phase < before - 0.5)
        self._last, sent = (phase, tick), 0
        places = self._places(phase)
        for nodes in self._nodes:
            for k, node in enumerate(nodes):
                values = self._slots(places, (k - tick) % self.frames).astype(np.float32)
                send_props(node, batched_positions=values)
                sent += values.nbytes
        return sent

    def remove(self) -> None:
        """Take them off the page."""
        self._remove_nodes()

    def _places(self, phase: float) -> Floats:
        """Where the figures are (figures, 3) [m]; those that leave the field come in again on the other side."""
        if not self._playback.travels:
            return self.homes
        ahead = np.zeros(len(self.homes))
        ahead[self._order] = (np.arange(len(ahead)) % self.frames) / self.frames
        way = self.homes + self._playback.way(self._rounds + phase + ahead) - self._playback.way(ahead)
        way[:, :2] = np.mod(way[:, :2] + 0.5 * self.field, self.field) - 0.5 * self.field
        return way

    def _slots(self, places: Floats, group: int) -> Floats:
        """Places of the figures that are so many frames ahead, as many for each group (slots, 3) [m]."""
        here = self._order[group :: self.frames]
        spare = -(-len(self._order) // self.frames) - len(here)
        return np.concatenate([places[here], np.tile(AWAY, (spare, 1))])

    def _mesh(self, name: str, points: Any, skin: Any, frame: int) -> Any:
        places = self._slots(self.homes, frame)
        shades = np.linspace(1.0 - SHADES, 1.0 + SHADES, len(places)) if len(places) > 1 else np.ones(1)
        colours = np.clip(255.0 * np.asarray(skin.color) * shades[:, None], 0.0, 255.0)
        return self._scene.add_batched_meshes_simple(
            name, points, skin.faces, np.tile((1.0, 0.0, 0.0, 0.0), (len(places), 1)), places,
            batched_colors=painted(colours), lod="off", side="double", receive_shadow=False,
        )  # fmt: skip

    def _remove_nodes(self) -> None:
        for nodes in self._nodes:
            for node in nodes:
                node.remove()
        self._nodes = []


def lattice(count: int, apart: float) -> tuple[Floats, float]:
    """Places on a field around the origin (count, 3) [m], a little astray, and the width of the field [m]."""
    side = int(np.ceil(np.sqrt(count)))
    row, column = np.divmod(np.arange(count), side)
    rows = -(-count // side)
    random = np.random.default_rng(1)
    places = np.stack([row - 0.5 * (rows - 1), column - 0.5 * (side - 1)], axis=1)
    places = apart * (places + random.uniform(-ASTRAY, ASTRAY, places.shape))
    return np.concatenate([places, np.zeros((count, 1))], axis=1), apart * side
