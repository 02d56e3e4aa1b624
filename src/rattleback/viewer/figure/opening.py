"""What is shown of a file: the figure in metres with z up, its looks, and how much room it takes.

Files seldom say their unit. One metre a unit is taken, or a centimetre, where that makes a figure between half a metre
and four metres tall; else the figure is made 1.75 m tall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.characters.skin import Skin
from rattleback.characters.tubes import tube_skin
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.figure import Figure
    from rattleback.viewer.figure.playback import Playback

    Floats = NDArray[np.float64]

UNITS, LEAST, MOST, USUAL = (1.0, 0.01), 0.5, 4.0, 1.75
ALL, TUBES = "all", "tubes"
# Radius of tubes in sizes of the figure, and in lengths of the bone at most.
THICK, STUBBY = 0.018, 0.22
TUBE_COLOUR = (0.62, 0.66, 0.71)
# Poses of a clip that are looked at for how much room it takes.
SAMPLES = 12


class Room(NamedTuple):
    """Room that a figure takes: corners of its box (3,) [m] and its height [m]."""

    low: Floats
    high: Floats

    @property
    def size(self) -> float:
        """Diagonal of the box [m]."""
        return float(np.linalg.norm(self.high - self.low))

    @property
    def corners(self) -> Floats:
        """Corners of the box (8, 3) [m]."""
        cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        return self.low + cube * (self.high - self.low)


def staged(figure: Figure, unit: float | None = None, height: float | None = None, up: str = "y") -> Figure:
    """A figure as its page shows it, in metres with z up.

    Args:
        figure: The figure, in the axes and the unit of its file.
        unit: Metres a unit of the file; guessed if left out.
        height: Its height at rest instead [m].
        up: Upward axis of the file, ``"y"`` or ``"z"``.
    """
    if unit is not None or height is not None:
        return figure.in_world(unit=unit, height=height, up=up)
    plain = figure.in_world(unit=1.0, up=up)
    tall = float(np.ptp(_points(plain)[:, 2]))
    fitting = [one for one in UNITS if LEAST <= one * tall <= MOST]
    if fitting:
        return plain if fitting[0] == 1.0 else figure.in_world(unit=fitting[0], up=up)
    try:
        return figure.in_world(height=USUAL, up=up)
    except InputError:  # it is flat, or a point
        wide = float(np.ptp(_points(plain), axis=0).max())
        return figure.in_world(unit=USUAL / wide, up=up) if wide > 0.0 else plain


def looks_of(figure: Figure) -> dict[str, list[Skin]]:
    """What a figure can look like, by name: all its skins, each of them, and tubes around its bones."""
    found = {ALL: list(figure.skins.values())} if len(figure.skins) > 1 else {}
    found |= {name: [skin] for name, skin in figure.skins.items()}
    skeleton = figure.skeleton
    places = skeleton.matrices(skeleton.rest)[:, :3, 3]
    longest = dict.fromkeys(skeleton.names, 0.0)
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            name = skeleton.names[parent]
            longest[name] = max(longest[name], float(np.linalg.norm(places[j] - places[parent])))
    size = float(np.ptp(places, axis=0).max())
    if any(length > 1e-9 for length in longest.values()):
        radii = {name: max(1e-9, min(THICK * size, STUBBY * length)) for name, length in longest.items()}
        found[TUBES if TUBES not in found else f"{TUBES} around bones"] = [
            tube_skin(skeleton, radii, name=TUBES, color=TUBE_COLOUR)
        ]
    return found


def room_of(playback: Playback, skins: list[Skin]) -> Room:
    """Room that a figure takes in the clips it plays, or at rest."""
    poses = playback.pose(np.linspace(0.0, 1.0, SAMPLES))
    frames = playback.skeleton.matrices(poses)[..., :3, 3].reshape(-1, 3)
    points = np.concatenate([frames, *(skin.vertices(poses).reshape(-1, 3) for skin in skins)])
    return Room(points.min(axis=0), points.max(axis=0))


def _points(figure: Figure) -> Floats:
    """Joints and vertices at rest (points, 3)."""
    rest = figure.skeleton.rest
    skins = [skin.vertices(rest) for skin in figure.skins.values()]
    return np.concatenate([figure.skeleton.matrices(rest)[:, :3, 3], *skins])
