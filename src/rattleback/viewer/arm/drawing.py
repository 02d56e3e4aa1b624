"""An arm on the page: sticks between its joints, or a look of its own, and what its joints turn about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.kinematics.look import sticks
from rattleback.maths import rotation
from rattleback.viewer.drawing.batches import SIGNS_OF_TURN, Piece, pieces
from rattleback.viewer.drawing.crowd import Crowd, Member
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.drawing.turns import along, wxyz

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.kinematics.look import Look
    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]

# Colours of links by turns, of joints, of what slides, of the base and of tools.
LINKS = ((232, 236, 241), (205, 214, 224))
TURNING, SLIDING, BASE, TOOL = (61, 90, 128), (42, 157, 143), (92, 102, 114), (200, 85, 61)
# Thickness of sticks: in half lengths of the arm, and in lengths of a usual link at most.
THICK, STUBBY = 0.055, 0.24
# The mark of a joint in thicknesses: its radius, and how long it is.
DRUM, HEIGHT = 1.35, 3.0
# A first link that rises so far, in half lengths of the arm, is a post; without one, the base is lifted so far, in
# extents.
POST, LIFT = 0.2, 0.6
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


class Part(NamedTuple):
    """A piece of the arm, the row it is fastened to, and its colour; the last row is the base."""

    piece: Piece
    row: int
    colour: tuple[int, int, int]


def thickness(tree: Tree) -> float:
    """Radius of the sticks of an arm [m]."""
    ends = [link.place.position for link in tree.links] + [frame.position for _, frame in tree.tools.values()]
    lengths = [length for length in np.linalg.norm(ends, axis=1) if length > 1e-9]
    usual = STUBBY * float(np.median(lengths)) if lengths else np.inf
    return min(THICK * tree.size, usual)


def base_height(tree: Tree) -> float:
    """How high above the ground the base is drawn [m]: none where the arm stands on a post of its own."""
    roots = [link.place.position[2] for link in tree.links if not link.parent]
    return 0.0 if max(roots) > POST * tree.size else LIFT * extent(tree)


def extent(tree: Tree) -> float:
    """How large an arm looks [m]: as far as it comes from its base in the middle of the limits, its size at most."""
    places = np.concatenate([tree.frames(tree.middle)[:, :3, 3], [tree.forward(tree.middle)[:3, 3]]])
    reach = float(np.linalg.norm(places - np.array(tree.base.position), axis=1).max())
    return min(tree.size, reach) if reach > 1e-9 else tree.size


def parts_of(tree: Tree, look: Look | None = None) -> list[Part]:
    """All pieces of an arm.

    Args:
        tree: The arm.
        look: What its links look like; sticks if left out.
    """
    radius = thickness(tree)
    shapes = (sticks(tree, radius) if look is None else look).shapes
    found = list(_foot(tree, radius))
    for row, link in enumerate(tree.links):
        for entry in shapes.get(link.name, ()):
            for piece in pieces(entry.shape, np.array(entry.position), np.array(entry.orientation)):
                if piece.key not in SIGNS_OF_TURN:
                    found.append(Part(piece, row, LINKS[row % 2]))
        if look is None:
            found.extend(_mark(link, row, radius))
    for name, frame in tree.tools.values():
        ball = Piece("ball", None, (1.25 * radius,) * 3, np.array(frame.position), UPRIGHT)
        found.append(Part(ball, tree.link(name), TOOL))
    return found


class Arm:
    """An arm on the page.

    Args:
        scene: Scene of the page.
        tree: The arm.
        q: Where it stands (coordinates,).
        look: What its links look like; sticks if left out.
    """

    def __init__(self, scene: Any, tree: Tree, q: Floats, look: Look | None = None) -> None:
        self.tree, self._parts = tree, parts_of(tree, look)
        members = [Member(part.piece, part.row) for part in self._parts]
        colours = np.array([part.colour for part in self._parts], dtype=np.uint8)
        self.crowd = Crowd(scene, "arm", members, self._poses(q), colours)

    def place(self, q: Floats) -> None:
        """Move it to a configuration (coordinates,)."""
        self.crowd.place(*self._poses(q))

    def remove(self) -> None:
        """Take it off the page."""
        for batch in self.crowd.batches:
            batch.handle.remove()

    def _poses(self, q: Floats) -> tuple[Floats, Floats]:
        """Places (links + 1, 3) [m] and orientations (links + 1, 4) of the links and, last, of the base."""
        frames, base = self.tree.frames(q), self.tree.base
        place = np.concatenate([frames[:, :3, 3], [base.position]])
        return place, np.concatenate([rotation.quaternion_from_matrix(frames[:, :3, :3]), [base.orientation]])


class Ellipsoid:
    """How fast the tip moves in each direction when the coordinates change at rates of length one.

    Half axes: singular values of the upper half of the Jacobian, times as long as makes the largest in the middle of
    the limits this part of the arm.

    Args:
        scene: Scene of the page.
        tree: The arm.
    """

    PART, COLOUR = 0.16, (217, 164, 65)

    def __init__(self, scene: Any, tree: Tree) -> None:
        from rattleback.recording.tessellation import tessellate
        from rattleback.shapes import Sphere

        self._tree, mesh = tree, tessellate(Sphere(1.0), 32)
        fastest = float(np.linalg.norm(tree.jacobian(tree.middle)[:3], 2))
        self.seconds = self.PART * extent(tree) / fastest if fastest > 0.0 else 0.0
        self.handle = scene.add_batched_meshes_simple(
            "/ellipsoid",
            mesh.vertices,
            mesh.triangles,
            np.array([[1.0, 0.0, 0.0, 0.0]]),
            np.zeros((1, 3)),
            batched_scales=np.ones((1, 3)),
            batched_colors=painted(np.array(self.COLOUR)),
            batched_opacities=np.array([0.3]),
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )

    def place(self, q: Floats, tool: str) -> None:
        """Move it to a tool of a configuration (coordinates,)."""
        axes, values, _ = np.linalg.svd(self._tree.jacobian(q, tool)[:3])
        axes[:, 2] *= np.linalg.det(axes)
        full = np.zeros(3)
        full[: len(values)] = values
        self.handle.batched_wxyzs = wxyz(rotation.quaternion_from_matrix(axes))[None]
        self.handle.batched_positions = self._tree.forward(q, tool)[None, :3, 3]
        self.handle.batched_scales = np.maximum(self.seconds * full, 2e-3 * self._tree.size)[None]


def _mark(link: Any, row: int, radius: float) -> Iterator[Part]:
    """A drum about the axis of a hinge, a block where a link slides."""
    if link.joint == "fixed":
        return
    turn, size = along(np.array([link.axis]))[0], (DRUM * radius, DRUM * radius, HEIGHT * radius)
    if link.joint == "revolute":
        yield Part(Piece("cylinder", None, size, np.zeros(3), turn), row, TURNING)
    else:
        block, way = (2.2 * radius,) * 3, _way(link)
        yield Part(Piece("box", None, block, np.zeros(3), turn), row, SLIDING)
        rod = (0.6 * radius, 0.6 * radius, way)
        yield Part(Piece("cylinder", None, rod, -0.5 * way * np.array(link.axis), turn), row, SLIDING)


def _way(link: Any) -> float:
    """How long the rod of a link that slides is: as far as it comes from its joint [m]."""
    ends = [abs(limit) for limit in link.limits or () if np.isfinite(limit)]
    return max([1e-6, *ends])


def _foot(tree: Tree, radius: float) -> Iterator[Part]:
    """A disc at the base, and a post from it to each link that stands on it."""
    base, depth = len(tree.links), base_height(tree)
    if depth > 0.0:
        post = Piece("cylinder", None, (1.6 * radius, 1.6 * radius, depth), np.array([0, 0, -0.5 * depth]), UPRIGHT)
        yield Part(post, base, BASE)
    disc = (3.2 * radius, 3.2 * radius, 0.8 * radius)
    yield Part(Piece("cylinder", None, disc, np.array([0.0, 0.0, 0.4 * radius - depth]), UPRIGHT), base, BASE)
    for link in tree.links:
        end = np.array(link.place.position)
        length = float(np.linalg.norm(end))
        if not link.parent and length > 1e-9:
            turn = along(end[None] / length)[0]
            yield Part(Piece("cylinder", None, (1.3 * radius, 1.3 * radius, length), 0.5 * end, turn), base, BASE)
