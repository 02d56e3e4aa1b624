"""Links: what runs between points of two bodies and changes its length, rods and coils."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.recording.tessellation import tessellate
from rattleback.shapes import Cylinder
from rattleback.viewer.drawing.batches import creased
from rattleback.viewer.drawing.marks import SPRING, STEEL, coil
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.drawing.turns import along, turned, wxyz

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TURNS, POINTS = 8, 97


class Link(NamedTuple):
    """Something between points of two bodies.

    Attributes:
        kind: ``"rod"`` or ``"coil"``.
        rows: Bodies of its ends (2,).
        places: The ends in the bodies, from the centres of mass (2, 3) [m].
        radius: Radius [m].
    """

    kind: str
    rows: tuple[int, int]
    places: tuple[Floats, Floats]
    radius: float


class Links:
    """All rods and coils of a page.

    Attributes:
        visible: Whether they are drawn.

    Args:
        scene: Scene of the page.
    """

    def __init__(self, scene: Any) -> None:
        self.visible, self._shown = True, True
        self._scene = scene
        self._links: dict[str, list[Link]] = {"rod": [], "coil": []}
        self._handles: dict[str, Any] = {}
        self._ends: dict[str, tuple[Floats, Floats]] = {}
        self._coil = coil(TURNS, POINTS)

    def renew(self, links: Sequence[Link], pose: tuple[Floats, Floats]) -> None:
        """Draw other ones, with the bodies at these places (bodies, 3) [m] and orientations (bodies, 4)."""
        for handle in self._handles.values():
            handle.remove()
        self._handles, self._ends, self._shown = {}, {}, True
        self._links = {kind: [link for link in links if link.kind == kind] for kind in ("rod", "coil")}
        if self._links["rod"]:
            mesh = creased(tessellate(Cylinder(1.0, 1.0), 12))
            turn, place, scale = self._rods(*self._find("rod", *pose))
            self._handles["rod"] = self._scene.add_batched_meshes_simple(
                "/links/rods", mesh.vertices, mesh.triangles, turn, place,
                batched_scales=scale, batched_colors=painted(np.array(STEEL)), lod="off",
            )  # fmt: skip
        if self._links["coil"]:
            thickness = 0.25 * min(link.radius for link in self._links["coil"])
            points = self._coils(*self._find("coil", *pose))
            self._handles["coil"] = self._scene.add_line_segments("/links/coils", points, SPRING, thickness=thickness)

    def place(self, position: Floats, orientation: Floats) -> None:
        """Send the links of which an end has moved."""
        if self.visible != self._shown:
            self._shown = self.visible
            for handle in self._handles.values():
                handle.visible = self.visible
        for kind, handle in self._handles.items() if self.visible else ():
            ends = self._find(kind, position, orientation)
            if kind in self._ends and all(np.array_equal(*pair) for pair in zip(ends, self._ends[kind], strict=True)):
                continue
            self._ends[kind] = ends
            if kind == "rod":
                handle.batched_wxyzs, handle.batched_positions, handle.batched_scales = self._rods(*ends)
            else:
                handle.points = self._coils(*ends)

    def _find(self, kind: str, position: Floats, orientation: Floats) -> tuple[Floats, Floats]:
        """First and second ends (links, 3) [m]."""
        links, found = self._links[kind], []
        for side in (0, 1):
            rows = np.array([link.rows[side] for link in links])
            found.append(position[rows] + turned(orientation[rows], np.array([link.places[side] for link in links])))
        return found[0], found[1]

    def _rods(self, start: Floats, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Turns, places and scales of cylinders between the ends."""
        length, direction = _split(end - start)
        radius = np.array([link.radius for link in self._links["rod"]])
        return wxyz(along(direction)), 0.5 * (start + end), np.stack([radius, radius, length], axis=1)

    def _coils(self, start: Floats, end: Floats) -> Floats:
        """Pieces of coils between the ends (pieces, 2, 3) [m]."""
        length, direction = _split(end - start)
        radius = np.array([link.radius for link in self._links["coil"]])
        scale = np.stack([radius, radius, length], axis=1)
        local = (scale[:, None] * self._coil).reshape(-1, 3)
        points = turned(np.repeat(along(direction), POINTS, axis=0), local).reshape(-1, POINTS, 3) + start[:, None]
        return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)


def _split(ways: Floats) -> tuple[Floats, Floats]:
    """Lengths [m] and unit directions of ways; upwards where there is none."""
    length = np.linalg.norm(ways, axis=1)
    direction = np.where(length[:, None] > 0.0, ways / np.where(length > 0.0, length, 1.0)[:, None], (0.0, 0.0, 1.0))
    return length, direction
