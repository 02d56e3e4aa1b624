"""A crowd: pieces fastened to bodies, as few batches of instances; only what has moved is sent.

    p = x + R(q) s        r = q ∘ t

p, r place and turn of a piece; x, q centre of mass and orientation of its body; s, t place and turn in the body, from
its centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.batches import Piece, mesh_of
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.drawing.pick import distances
from rattleback.viewer.drawing.turns import product, turned, wxyz
from rattleback.viewer.server import send_poses

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from rattleback.recording.tessellation import Surface
    from rattleback.viewer.frame import Picture

    Floats = NDArray[np.float64]


# In a scene no wider than this [m], shadows on bodies would be blotches: the page knows them to a few centimetres.
SMALL = 2.0


@dataclass(frozen=True)
class Member:
    """A piece of a crowd.

    Attributes:
        piece: What it looks like and where it is in its body, from the centre of mass.
        row: Its body.
        apart: Members that differ in this are never in one batch.
    """

    piece: Piece
    row: int
    apart: Hashable = ""


@dataclass(frozen=True)
class Batch:
    """Instances of one mesh.

    Attributes:
        handle: What the page calls it.
        members: Which members of the crowd they are (instances,).
        mesh: The mesh.
        scale: Its scales (instances, 3).
    """

    handle: Any
    members: NDArray[np.int64]
    mesh: Surface
    scale: Floats


class Crowd:
    """Pieces fastened to bodies.

    Attributes:
        batches: What is on the page.
        rows: Body of each member (members,).

    Args:
        scene: Scene of the page.
        name: What its nodes are called.
        members: The pieces.
        pose: Places (bodies, 3) [m] and orientations (bodies, 4) of the bodies now.
        colours: Colours the members are seen in (members, 3).
    """

    def __init__(
        self, scene: Any, name: str, members: Sequence[Member], pose: tuple[Floats, Floats], colours: NDArray[np.uint8]
    ) -> None:
        self.rows = np.array([member.row for member in members], dtype=np.int64)
        self._place = np.array([member.piece.position for member in members]).reshape(-1, 3)
        self._turn = np.array([member.piece.orientation for member in members]).reshape(-1, 4)
        self._last, self._visible, self._shown = pose, True, np.ones(len(pose[0]), dtype=np.bool_)
        groups: dict[tuple[Hashable, Hashable], list[int]] = {}
        for number, member in enumerate(members):
            groups.setdefault((member.apart, member.piece.key), []).append(number)
        place, turn = self._poses(np.arange(len(members)), *pose)
        self.batches: list[Batch] = []
        for number, group in enumerate(groups.values()):
            chosen, piece = np.array(group), members[group[0]].piece
            mesh, scale = mesh_of(piece, len(group)), np.array([members[k].piece.scale for k in group])
            handle = scene.add_batched_meshes_simple(
                f"/{name}/{number}",
                mesh.vertices,
                mesh.triangles,
                batched_wxyzs=turn[chosen],
                batched_positions=place[chosen],
                batched_scales=scale,
                batched_colors=painted(colours[chosen]),
                lod="off",
                side="front" if isinstance(piece.key, str) else "double",
                receive_shadow=float(np.ptp(pose[0], axis=0).max(initial=0.0)) > SMALL,
            )
            self.batches.append(Batch(handle, chosen, mesh, scale))

    @property
    def visible(self) -> bool:
        """Whether it is shown; what is not shown is not moved either."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        if visible != self._visible:
            self._visible = visible
            for batch in self.batches:
                batch.handle.visible = visible

    def show_bodies(self, shown: NDArray[np.bool_]) -> None:
        """Show the pieces of some bodies only (bodies,)."""
        changed, self._shown = shown != self._shown, shown
        for batch in self.batches:
            rows = self.rows[batch.members]
            if np.any(changed[rows]):
                batch.handle.batched_scales = (batch.scale * shown[rows][:, None]).astype(np.float32)

    def place(self, position: Floats, orientation: Floats) -> None:
        """Send the places of the batches of which a body has moved."""
        was, self._last = self._last, (position, orientation)
        moved = np.any(position != was[0], axis=1) | np.any(orientation != was[1], axis=1)
        batches = [batch for batch in self.batches if np.any(moved[self.rows[batch.members]])] if moved.any() else []
        if not batches:
            return
        place, turn = self._poses(np.concatenate([batch.members for batch in batches]), position, orientation)
        start = 0
        for batch in batches:
            end = start + len(batch.members)
            send_poses(batch.handle, place[start:end], turn[start:end])
            start = end

    def pick(self, origin: Floats, direction: Floats) -> int | None:
        """The body that a ray from a point (3,) [m] in a direction (3,) meets first; None where it meets none."""
        found = self.meet(origin, direction)
        return None if found is None else found[0]

    def meet(self, origin: Floats, direction: Floats) -> tuple[int, float] | None:
        """The body that a ray from a point (3,) [m] meets first, and how far away in lengths of its direction (3,)."""
        first, nearest = None, np.inf
        for batch in self.batches if self._visible else ():
            place, turn = self._poses(batch.members, *self._last)
            pose = place, np.roll(turn, -1, axis=-1), batch.scale
            away = distances(batch.mesh, pose, (origin, direction))
            away[~self._shown[self.rows[batch.members]]] = np.inf
            if (least := float(away.min(initial=np.inf))) < nearest:
                first, nearest = int(self.rows[batch.members[int(away.argmin())]]), least
        return None if first is None else (first, nearest)

    def colour(self, colours: NDArray[np.uint8]) -> None:
        """Give the members these colours (members, 3)."""
        for batch in self.batches:
            batch.handle.batched_colors = painted(colours[batch.members])

    def remove(self) -> None:
        """Take it off the page."""
        for batch in self.batches:
            batch.handle.remove()

    def _poses(self, members: NDArray[np.int64], position: Floats, orientation: Floats) -> tuple[Floats, Floats]:
        """Places of members (members, 3) [m] and their turns, w first (members, 4)."""
        rows = self.rows[members]
        turn = orientation[rows]
        place = position[rows] + turned(turn, self._place[members])
        return place, wxyz(product(turn, self._turn[members]))


def joined(pictures: Sequence[Picture], offsets: Floats) -> tuple[Floats, Floats]:
    """Places and orientations of the bodies of all pictures, side by side (bodies, 3) [m], (bodies, 4)."""
    if len(pictures) == 1:
        return pictures[0].position, pictures[0].orientation
    places = [picture.position + offset for picture, offset in zip(pictures, offsets, strict=True)]
    return np.concatenate(places), np.concatenate([picture.orientation for picture in pictures])
