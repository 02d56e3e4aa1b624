"""A look of a figure on the page: one mesh for each skin, whose vertices are sent in every frame.

Vertices that files give twice, as at seams of textures, are one here, so that the page shades across them. To show how
much vertices follow a joint, a mesh is cut along bands of weight, each a mesh of its colour.

Bones that the page itself blends, as meshes with bones of viser 1.1.1, are linear, rigid and of four weights a vertex:
neither dual quaternions nor scales. A frame of 5,000 vertices costs 1.2 ms and 55 kB, one of 26 such bones, with two
messages each, 2.5 ms and 1.3 kB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.skin import Skin
from rattleback.viewer.drawing.colours import graded
from rattleback.viewer.drawing.paint import painted_mesh
from rattleback.viewer.drawing.pick import meets
from rattleback.viewer.server import send_props

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.characters.pose import Pose

    Floats = NDArray[np.float64]

# Bands of weight, and the colour of what does not follow the joint at all.
BANDS, UNTOUCHED = 8, (196, 202, 210)
# How much of a skin is seen while its bones are shown.
GLASS = 0.3


class Piece:
    """Part of a skin in one colour: its node, the numbers of its vertices, None for all."""

    def __init__(self, handle: Any, rows: NDArray[np.int64] | None) -> None:
        self.handle, self.rows = handle, rows


class Look:
    """Skins of a figure on the page.

    Attributes:
        skins: The skins, without double vertices.
        pieces: What is on the page, a list for each skin.
        last: Vertices of each skin in the last frame (vertices, 3) [m].

    Args:
        scene: Scene of the page.
        skins: The skins.
    """

    def __init__(self, scene: Any, skins: Sequence[Skin]) -> None:
        self._scene, self.skins = scene, [welded(skin) for skin in skins]
        self.pieces: list[list[Piece]] = [[] for _ in self.skins]
        self.last = [skin.vertices(skin.skeleton.rest) for skin in self.skins]
        self._glass = False
        self.colour(None)

    @property
    def handles(self) -> list[Any]:
        """Its nodes."""
        return [piece.handle for pieces in self.pieces for piece in pieces]

    def colour(self, joint: int | None) -> None:
        """Colour it by how much it follows a joint; in its own colours for None."""
        for handle in self.handles:
            handle.remove()
        for number, skin in enumerate(self.skins):
            own = tuple(int(round(255.0 * part)) for part in np.clip(skin.color, 0.0, 1.0))
            parts: list[tuple[Any, Any, Any]] = [(skin.faces, None, own)]
            if joint is not None:
                parts = [(*compact(skin.faces[rows]), colour) for rows, colour in bands(skin, joint)]
            self.pieces[number] = [
                Piece(self._mesh(f"/figure/{number}/{k}", number, faces, rows, colour), rows)
                for k, (faces, rows, colour) in enumerate(parts)
            ]

    def show(self, pose: Pose, method: str) -> int:
        """Move it into a pose; returns how many bytes that sends."""
        sent = 0
        for number, skin in enumerate(self.skins):
            self.last[number] = points = skin.vertices(pose, method)
            for piece in self.pieces[number]:
                vertices = (points if piece.rows is None else points[piece.rows]).astype(np.float32)
                send_props(piece.handle, vertices=vertices)
                sent += vertices.nbytes
        return sent

    def glass(self, wished: bool) -> None:
        """Have it seen through, or not."""
        self._glass = wished
        for handle in self.handles:
            handle.opacity = GLASS if wished else None

    def pick(self, origin: Floats, direction: Floats) -> tuple[float, int] | None:
        """How far along a ray it is met, in lengths of its direction, and the joint it follows most there."""
        found: tuple[float, int] | None = None
        for skin, points in zip(self.skins, self.last, strict=True):
            away = meets(points[skin.faces], origin, direction)
            if len(away) and np.isfinite(least := float(away.min())) and (found is None or least < found[0]):
                place = origin + least * direction
                corners = skin.faces[int(away.argmin())]
                vertex = corners[np.linalg.norm(points[corners] - place, axis=1).argmin()]
                found = least, int(skin.joints[vertex, skin.weights[vertex].argmax()])
        return found

    def remove(self) -> None:
        """Take it off the page."""
        for handle in self.handles:
            handle.remove()

    def _mesh(self, name: str, number: int, faces: Any, rows: Any, colour: Any) -> Any:
        points = self.last[number] if rows is None else self.last[number][rows]
        return self._scene.add_mesh_simple(
            name,
            points.astype(np.float32),
            faces,
            color=painted_mesh(colour),
            side="double",
            opacity=GLASS if self._glass else None,
            receive_shadow=False,
        )


def welded(skin: Skin) -> Skin:
    """A skin without vertices that are the same in all but their number, and without faces that have no area."""
    whole = np.concatenate([skin.points, skin.joints, skin.weights], axis=1)
    _, first, number = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[skin.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    options: dict[str, Any] = {"joints": skin.joints[first], "weights": skin.weights[first], "bind": skin.bind}
    return Skin(skin.skeleton, skin.points[first], faces, **options, color=skin.color, name=skin.name)


def influence(skin: Skin, joint: int) -> Floats:
    """How much each vertex follows a joint (vertices,)."""
    return np.asarray(np.where(skin.joints == joint, skin.weights, 0.0).sum(axis=1))


def bands(skin: Skin, joint: int) -> list[tuple[NDArray[np.bool_], tuple[int, int, int]]]:
    """Faces of a skin by how much they follow a joint, with the colour of each band."""
    share = influence(skin, joint)[skin.faces].mean(axis=1)
    band = np.clip(np.ceil(share * BANDS - 1e-9).astype(int), 0, BANDS)
    colours = {0: UNTOUCHED}
    for k in range(1, BANDS + 1):
        red, green, blue = graded(np.array([(k - 0.5) / BANDS]))[0].tolist()
        colours[k] = (red, green, blue)
    return [(band == k, colours[int(k)]) for k in np.unique(band)]


def compact(faces: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Faces that count only the vertices they have, and the numbers of these."""
    rows, numbers = np.unique(faces, return_inverse=True)
    return numbers.reshape(faces.shape), rows
