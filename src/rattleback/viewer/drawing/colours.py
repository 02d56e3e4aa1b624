"""Colours of bodies: by body, by material, by speed or by the contact forces they feel.

Quantities go from calm blue to hot red. The end of the scale is the largest one of the last seconds, so that it does
not jump; a few contact forces far beyond all others are as red as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.recording.body_colours import paints
from rattleback.recording.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from rattleback.model import Scene
    from rattleback.model.body import Body
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

MODES = ("Body", "Material", "Speed", "Contact force")
STILL = (168, 174, 182)
# No colour of the palette, however light or dark, comes near this one.
CHOSEN = (255, 0, 200)
# From calm to hot.
SCALE = np.array([(48, 75, 120), (42, 157, 143), (233, 196, 106), (231, 111, 81), (200, 30, 40)], dtype=np.float64)
# The end of the scale falls by this much from frame to frame, until something larger comes.
FADING = 0.99
# The scale of contact forces ends at so many times the one that is not among this part of those largest.
BEYOND, FEW = 3.0, 0.1


def bar() -> str:
    """The scale from calm to hot, as a background of HTML."""
    steps = ",".join(f"rgb({r:.0f},{g:.0f},{b:.0f})" for r, g, b in SCALE)
    return f"linear-gradient(to right,{steps})"


def from_hex(text: str) -> tuple[int, int, int]:
    """The parts of a colour, red, green and blue."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


PALETTE_RGB = np.array([from_hex(text) for text in PALETTE], dtype=np.uint8)


def graded(part: Floats) -> NDArray[np.uint8]:
    """Colours for numbers from 0, calm, to 1, hot (numbers, 3)."""
    steps = np.linspace(0.0, 1.0, len(SCALE))
    return np.stack([np.interp(part, steps, channel) for channel in SCALE.T], axis=1).astype(np.uint8)


def by_body(scene: Scene, known: dict[Hashable, int]) -> NDArray[np.uint8]:
    """Colours of the bodies of a scene (bodies, 3), those of a robot file as the file has them.

    Args:
        scene: The scene.
        known: Numbers of the colours given so far, which stay; new ones are added.
    """
    found, robot = chosen_colours(scene.bodies, known), vars(scene)["robot"]
    for name, colour in robot.colours.items() if robot is not None else ():
        found[scene.index(name)] = np.clip(255.0 * np.array(colour[:3]), 0.0, 255.0)
    return found


def chosen_colours(bodies: Sequence[Body], known: dict[Hashable, int]) -> NDArray[np.uint8]:
    """Colours of bodies that have none of their own, as pictures have them; ``known`` as above."""
    number, shade = paints(bodies, known)
    found = PALETTE_RGB[number].astype(np.float64) * shade[:, None]
    found[[body.static for body in bodies]] = STILL
    return np.clip(found, 0.0, 255.0).astype(np.uint8)


class Colours:
    """Chooses the colours of all bodies.

    Attributes:
        mode: One of MODES.
        largest: The end of the scale [m/s or N].
        passed: Whether something is beyond it.

    Args:
        window: The page; what is chosen there stands out.
    """

    def __init__(self, window: Window) -> None:
        self.mode = MODES[0]
        self._window = window
        self._static = np.zeros(0, dtype=np.bool_)
        self._names: list[str] = []
        self._fixed: dict[str, NDArray[np.uint8]] = {}
        self._known: tuple[str, dict[Hashable, int]] = ("", {})
        self.largest, self.passed = 0.0, False
        self._last: tuple[str, str] | None = None

    @property
    def known(self) -> dict[Hashable, int]:
        """Numbers of the colours given in this scene, by body or shape."""
        return self._known[1]

    def renew(self, frame: Frame) -> None:
        """Colours by body and by material of another scene."""
        bodies = [body for picture in frame.pictures for body in picture.scene.bodies]
        self._static = np.array([body.static for body in bodies], dtype=np.bool_)
        self._names = [body.name for body in bodies]
        if self._known[0] != frame.picture.scene.name:
            self._known = frame.picture.scene.name, {}
        materials = {body.material: None for body in bodies}
        which = {material: number for number, material in enumerate(materials)}
        kinds = np.array([which[body.material] for body in bodies], dtype=np.int64)
        self._fixed = {
            "Body": np.concatenate([by_body(picture.scene, self.known) for picture in frame.pictures]),
            "Material": PALETTE_RGB[kinds % len(PALETTE_RGB)],
        }
        self.largest, self._last = 0.0, None

    def of(self, frame: Frame) -> NDArray[np.uint8]:
        """The colours now, one row a body of all pictures (bodies, 3)."""
        if self.mode in self._fixed:
            colours = self._fixed[self.mode].copy()
        else:
            values = np.concatenate([self._values(picture) for picture in frame.pictures])
            end = self._end(values)
            self.largest = max(end, FADING * self.largest)
            self.passed = bool(np.any(values > self.largest))
            colours = graded(values / self.largest if self.largest > 0.0 else values)
            colours[self._static] = STILL
        if self._window.selected:
            chosen = np.array([name == self._window.selected for name in self._names], dtype=np.bool_)
            colours[chosen] = CHOSEN
        return colours

    def changed(self, frame: Frame) -> NDArray[np.uint8] | None:
        """The colours now, or None where they are as they were."""
        now = (self.mode, self._window.selected)
        if self.mode in self._fixed and now == self._last:
            return None
        self._last = now
        return self.of(frame)

    def _end(self, values: Floats) -> float:
        """Where the scale ends now [m/s or N]."""
        largest, there = float(values.max(initial=0.0)), values[values > 0.0]
        if self.mode != "Contact force" or len(there) == 0:
            return largest
        return min(largest, BEYOND * float(np.quantile(there, 1.0 - FEW, method="lower")))

    def _values(self, picture: Picture) -> Floats:
        """Speed [m/s] or contact force [N] of each body."""
        if self.mode == "Speed":
            return np.asarray(np.linalg.norm(picture.velocity, axis=1))
        total = np.zeros(len(picture.position))
        if picture.contacts is not None and len(picture.contacts):
            size = np.linalg.norm(picture.contacts.force, axis=1)
            for side in (picture.contacts.body_a, picture.contacts.body_b):
                np.add.at(total, side, size)
        return total
