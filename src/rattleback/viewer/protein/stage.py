"""What is on the page beside its controls: the protein in one of its styles, and the residue that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.tessellation import tessellate
from rattleback.shapes import Cylinder, Sphere
from rattleback.viewer.drawing.batches import creased
from rattleback.viewer.drawing.paint import painted, painted_mesh
from rattleback.viewer.drawing.surroundings import light, paint_sky
from rattleback.viewer.drawing.turns import along, wxyz

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.drawing import Drawing, Solid
    from rattleback.molecules.protein import Protein
    from rattleback.viewer.host import Host

    Floats = NDArray[np.float64]

# Flat pieces around a ball, for at most so many balls and sticks.
ROUNDNESS = ((600, 20), (3000, 12), (2**62, 8))
CHOSEN, CHOSEN_BALL, CHOSEN_STICK = (42, 157, 143), 0.55, 0.30
# A ray that passes farther from an atom than that misses it [Å].
REACH = 1.4
ROOM = 3.0


class Stage:
    """A protein on the page.

    Attributes:
        style: How it is drawn.

    Args:
        host: What serves the page.
        protein: The protein.
        style: ``"ribbon"``, ``"trace"`` or ``"sticks"``.
    """

    def __init__(self, host: Host, protein: Protein, style: str) -> None:
        self._scene, self._protein, self.style = host.server.scene, protein, style
        self._handles: dict[str, Any] = {}
        paint_sky(self._scene)
        light(self._scene)
        places = protein.drawing("sticks").balls.start
        middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
        away = np.linalg.norm(places - middle, axis=1, keepdims=True)
        seen = middle + (places - middle) * (1.0 + ROOM / np.maximum(away, ROOM))
        host.lookout.look_at(seen, float(np.linalg.norm(np.ptp(seen, axis=0))))

    def show(self, chosen: int) -> None:
        """Draw the protein as it is now, and the atoms of a residue on top of it."""
        drawing = self._protein.drawing(self.style)
        made = self._bands(drawing) | self._solids("balls", drawing.balls) | self._solids("sticks", drawing.sticks)
        made |= self._choice(chosen)
        for name in self._handles.keys() - made.keys():
            self._handles[name].remove()
        self._handles = made

    def pick(self, origin: Floats, direction: Floats) -> int | None:
        """Row of the amino acid that a ray meets first; None where it meets none."""
        protein = self._protein
        rows = {group: row for row, group in enumerate(protein.rows)}
        atoms = np.flatnonzero(np.isin(protein.atoms.residue, protein.rows))
        ways = protein.positions[atoms] - origin
        along_ray = ways @ direction / np.linalg.norm(direction)
        beside = np.linalg.norm(np.cross(ways, direction), axis=1) / np.linalg.norm(direction)
        met = (beside < REACH) & (along_ray > 0.0)
        if not met.any():
            return None
        nearest = atoms[met][int(np.argmin(along_ray[met] + 2.0 * beside[met]))]
        return rows[int(protein.atoms.residue[nearest])]

    def _bands(self, drawing: Drawing) -> dict[str, Any]:
        """Ribbons, one mesh for each colour."""
        colours = dict.fromkeys(band[2] for band in drawing.bands)
        found = {}
        for colour in colours:
            own = [band for band in drawing.bands if band[2] == colour]
            offsets = np.cumsum([0, *(len(band[0]) for band in own)])
            points = np.concatenate([band[0] for band in own])
            triangles = np.concatenate([band[1] + offset for band, offset in zip(own, offsets, strict=False)])
            name = f"/ribbon/{colour[1:]}"
            found[name] = self._scene.add_mesh_simple(
                name, points, triangles, color=painted_mesh(_bytes(colour)), side="double"
            )
        return found

    def _solids(self, kind: str, solid: Solid) -> dict[str, Any]:
        """Balls or sticks, one batch."""
        if not len(solid.radius):
            return {}
        colours = np.array([_bytes(colour) for colour in solid.colour.tolist()], dtype=np.uint8)
        return self._batch(kind, (solid.start, solid.end), solid.radius, colours)

    def _choice(self, chosen: int) -> dict[str, Any]:
        """Balls and sticks of the chosen residue, thicker than the others."""
        drawing, residue = self._protein.drawing("sticks"), self._protein.residues[chosen]
        found: dict[str, Any] = {}
        for kind, radius in (("balls", CHOSEN_BALL), ("sticks", CHOSEN_STICK)):
            solid = getattr(drawing, kind)
            own = (solid.atom >= residue.start) & (solid.atom < residue.stop)
            count = int(own.sum())
            ends, colours = (solid.start[own], solid.end[own]), np.tile(np.array(CHOSEN, dtype=np.uint8), (count, 1))
            found |= self._batch(f"chosen_{kind}", ends, np.full(count, radius), colours)
        return found

    def _batch(self, kind: str, ends: tuple[Floats, Floats], radius: Floats, colours: Any) -> dict[str, Any]:
        start, end = ends
        count = len(start)
        segments = next(pieces for limit, pieces in ROUNDNESS if count <= limit)
        length = np.linalg.norm(end - start, axis=1)
        if kind.endswith("balls"):
            mesh, scale = tessellate(Sphere(1.0), segments), np.stack([radius] * 3, axis=1)
            turn = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))
        else:
            mesh, scale = creased(tessellate(Cylinder(1.0, 1.0), segments)), np.stack([radius, radius, length], axis=1)
            turn = along((end - start) / np.maximum(length, 1e-9)[:, None])
        name = f"/{kind}"
        handle = self._scene.add_batched_meshes_simple(
            name, mesh.vertices, mesh.triangles, wxyz(turn), 0.5 * (start + end),
            batched_scales=scale, batched_colors=painted(colours), lod="off",
        )  # fmt: skip
        return {name: handle}


def _bytes(colour: str) -> tuple[int, int, int]:
    """A colour as red, green and blue from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
