"""How a picture looks: which colours, how many times it is drawn, where the sun stands, whether joints are marked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from rattleback.core import checks
from rattleback.recording.body_colours import paints
from rattleback.recording.style import PALETTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.recording.camera import Camera
    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

COLOURS = ("body", "palette", "speed")
STATIC, MARK = "#9aa3ab", "#3a424b"
# From rest to the fastest: slate, teal, ochre, brick.
SPEEDS = ("#33507a", "#2a9d8f", "#e0b04a", "#c8452d")
# The sun stands to the left of the camera and behind it, high up [rad].
SUN_ASIDE, SUN_ELEVATION = math.radians(-62.0), math.radians(48.0)
MOST_SAMPLES = 4096
# Light goes with about this power of what is written in sRGB.
GAMMA = 2.2


class LookOptions(TypedDict, total=False):
    """Keyword options of ``rb.render`` and ``rb.film``."""

    colour: str
    fastest: float | None
    samples: int
    sun: Any
    joints: bool
    floor: bool


@dataclass(frozen=True)
class Appearance:
    """How a picture looks.

    Args:
        colour: ``"body"``, each body its own, static ones grey, and bodies from a robot file as the file has them;
            ``"palette"``, the same without the file; or ``"speed"``, from blue at rest to red.
        fastest: The speed that is red [m/s]; None for the largest there is.
        samples: How many times it is drawn, with soft shadows and smooth edges as the average; 1 is quick.
        sun: Direction towards the sun (3,); None for the left of the camera, high up.
        joints: Whether joints are marked.
        floor: Whether a scene without a plane gets a floor that shadows fall on, below all its bodies. Scenes without
            gravity never do.
    """

    colour: str = "body"
    fastest: float | None = None
    samples: int = 48
    sun: Any = None
    joints: bool = True
    floor: bool = True

    def __post_init__(self) -> None:
        """Check what was given."""
        checks.one_of(self.colour, COLOURS, "The colour of a picture")
        checks.count(self.samples, "The samples of a picture", most=MOST_SAMPLES)
        checks.flag(self.joints, "The joints of a picture")
        checks.flag(self.floor, "The floor of a picture")
        if self.fastest is not None:
            checks.positive(self.fastest, "The fastest of a picture")
        if self.sun is not None:
            object.__setattr__(self, "sun", tuple(checks.direction(self.sun, "The sun of a picture").tolist()))

    def with_options(self, options: Any, what: str) -> Appearance:
        """The same look with some things changed."""
        checks.options(options, LookOptions.__annotations__, what)
        return replace(self, **options)

    def towards_sun(self, camera: Camera) -> Floats:
        """Direction towards the sun (3,)."""
        if self.sun is not None:
            return np.array(self.sun)
        azimuth = (camera.azimuth or 0.0) + SUN_ASIDE
        flat = math.cos(SUN_ELEVATION)
        return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(SUN_ELEVATION)])

    def colours(self, snapshot: Snapshot, fastest: float) -> Floats:
        """Colours of the bodies and, after them, of the marks of joints, as light, shape (bodies + 1, 3)."""
        static = np.array([body.static for body in snapshot.scene.bodies], dtype=bool)
        order = np.cumsum(~static) - 1
        if self.colour != "speed":
            number, shade = paints(snapshot.scene.bodies)
            found = np.array([light(colour) for colour in PALETTE])[number] * (shade**GAMMA)[:, None]
        else:
            scale = np.linspace(0.0, 1.0, len(SPEEDS))
            stops = np.array([light(colour) for colour in SPEEDS])
            part = np.clip(snapshot.speed / (fastest or 1.0), 0.0, 1.0)
            found = np.stack([np.interp(part, scale, stops[:, channel]) for channel in range(3)], axis=1)
            # Neighbours of the same speed can still be told apart.
            found *= 0.91 + 0.02 * _scattered(order, 10)[:, None]
        found[static] = light(STATIC)
        if self.colour == "body" and snapshot.scene.robot is not None:
            for name, colour in snapshot.scene.robot.colours.items():
                found[snapshot.scene.index(name)] = as_light(np.array(colour[:3]))
        return np.concatenate([found, [light(MARK)]])


def _scattered(order: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Colours in order at first; then scattered, so that rows and columns do not show as stripes."""
    mixed = order.astype(np.uint64)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        mixed = ((mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return np.where(order < count, order, (mixed % np.uint64(count)).astype(np.int64))


def light(colour: str) -> Floats:
    """A colour written as sRGB, ``"#c8553d"``, as amounts of light (3,)."""
    return as_light(np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0)


def as_light(written: Floats) -> Floats:
    """Parts of a colour in sRGB, 0 to 1, as amounts of light."""
    amount: Floats = np.where(written <= 0.04045, written / 12.92, ((written + 0.055) / 1.055) ** 2.4)
    return amount
