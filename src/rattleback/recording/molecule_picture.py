"""Pictures of molecules: balls, sticks and ribbons, in the light of all pictures, an ångström drawn as a metre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import InputError
from rattleback.maths.rotation import quaternion_from_matrix
from rattleback.model import Scene
from rattleback.recording.look import MARK, Appearance, LookOptions, light
from rattleback.recording.renderer import Renderer, check_size
from rattleback.recording.snapshot import Snapshot
from rattleback.recording.still import STILL, check_camera, check_place
from rattleback.shapes import Compound, Cylinder, Mesh, Placed, Sphere

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from rattleback.recording.camera import Camera

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Painted(Appearance):
    """A look in which each body has a colour of its own.

    Args:
        paints: Colours of the bodies, ``"#c8553d"``.
    """

    paints: tuple[str, ...] = ()

    def colours(self, snapshot: Snapshot, fastest: float) -> Floats:
        """Colours of the bodies and, after them, of the marks of joints, as light (bodies + 1, 3)."""
        return np.array([light(paint) for paint in (*self.paints, MARK)])


def render_molecule(
    protein: Any,
    path: str | os.PathLike[str],
    style: str = "ribbon",
    *,
    size: tuple[int, int] = (1280, 720),
    camera: Camera | None = None,
    **look: Unpack[LookOptions],
) -> None:
    """Write a picture of a molecule as it is now, turned so that its broad side is seen.

    Args:
        protein: The molecule, with a method ``drawing(style)``.
        path: Where to, a name that ends with ``.png``.
        style: ``"ribbon"``, ``"trace"`` or ``"sticks"``.
        size: Width and height [pixels].
        camera: Where it is seen from; what it leaves out is chosen so that all is in the picture.
        **look: As for ``rb.render``: ``samples``, ``sun`` and so on.
    """
    target = check_place(path, (".png",), "a picture")
    if not callable(getattr(protein, "drawing", None)):
        raise InputError(f"{protein!r} cannot be drawn as a molecule; give a protein, such as rb.molecules.load(path).")
    scene, paints, points = scene_of(protein.drawing(style))
    chosen = STILL.with_options(look, "render_molecule")
    painted = Painted(**{**vars(chosen), "joints": False, "floor": False, "paints": paints})
    still = np.tile((0.0, 0.0, 0.0, 1.0), (len(scene.bodies), 1))
    snapshot = Snapshot(scene, np.zeros((len(scene.bodies), 3)), still, np.zeros(len(scene.bodies)))
    width, height = check_size(size)
    placed = check_camera(camera).framing(points, width / height)
    with Renderer((width, height), painted) as renderer:
        drawn = renderer.draw(snapshot, renderer.aim(placed, [snapshot]))
    from PIL import Image

    picture = Image.fromarray(drawn)
    whole_file.write(target, lambda stream: picture.save(stream, format="png"), "picture")


def scene_of(drawing: Any) -> tuple[Scene, tuple[str, ...], Floats]:
    """A scene of static bodies, one for each colour; their colours, and points all over them (points, 3) [Å].

    Args:
        drawing: ``balls`` and ``sticks`` with start, end, radius and colour; ``bands`` of points, triangles, colour.
    """
    points = np.concatenate([drawing.balls.start, drawing.sticks.start, *(band[0] for band in drawing.bands)])
    if not len(points):
        raise InputError("There is nothing of the molecule to draw in this style; try style='sticks'.")
    turn, middle = _broadside(points)
    parts: dict[str, list[Any]] = {}
    for solid in (drawing.balls, drawing.sticks):
        starts, ends = (solid.start - middle) @ turn.T, (solid.end - middle) @ turn.T
        for start, end, radius, colour in zip(starts, ends, solid.radius.tolist(), solid.colour.tolist(), strict=True):
            parts.setdefault(colour, []).append(_piece(start, end, radius))
    scene, paints = Scene(name="molecule", gravity=(0.0, 0.0, 0.0)), []
    for colour, pieces in parts.items():
        scene.add_static(Compound(tuple(pieces)))
        paints.append(colour)
    for vertices, triangles, colour in drawing.bands:
        scene.add_static(Mesh((vertices - middle) @ turn.T, triangles))
        paints.append(colour)
    return scene, tuple(paints), (points - middle) @ turn.T


def _piece(start: Floats, end: Floats, radius: float) -> Placed:
    """A ball where the ends are one, a stick otherwise."""
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return Placed(Sphere(radius), position=tuple(start.tolist()))
    z = (end - start) / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    turn = quaternion_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    place = tuple((0.5 * (start + end)).tolist())
    return Placed(Cylinder(radius, length), position=place, orientation=tuple(turn.tolist()))


def _broadside(points: Floats) -> tuple[Floats, Floats]:
    """The turn that lays the longest side along x and the second along z (3, 3), and the middle (3,)."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    turn = np.stack([axes[0], np.cross(axes[1], axes[0]), axes[1]])
    return turn, middle
