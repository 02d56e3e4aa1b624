"""Paint: what the page is told, for bodies in its light to look as they should.

    v = I E c / e        u = (v² + a v + b) / (f v² + g v + h)        o = O u

c paint, E light on it, o colour on the screen as an amount of light; I, e, O and the curve are those of three.js, which
makes colours of light as film does. That bends hues and washes them out, and here it is taken back. The page of viser
1.1.1 takes the colours of instances for amounts of light, not for sRGB.

Reference: S. Hill's fit of the Academy Color Encoding System, as in three.js, ``ACESFilmicToneMapping``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The faces one sees get about this much light, in the middle of those towards the lamp and those away from it.
LIT = 0.62
EXPOSURE = 0.6
INTO = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
OUT = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
# Factors of v², v and 1, above and below the line.
ABOVE, BELOW = (1.0, 0.0245786, -0.000090537), (0.983729, 0.4329510, 0.238081)


def painted(colours: NDArray[Any]) -> NDArray[np.uint8]:
    """What the page is told (..., 3), for colours that are to be seen, written in sRGB (..., 3)."""
    seen = np.clip(np.asarray(colours, dtype=np.float64) / 255.0, 0.0, 1.0)
    light = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    u = np.clip(light @ np.linalg.inv(OUT).T, 0.0, 1.0)
    a, b, c = (above - u * below for above, below in zip(ABOVE, BELOW, strict=True))
    v = (-b + np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
    paint = v @ np.linalg.inv(INTO).T * EXPOSURE / LIT
    return np.asarray(np.round(255.0 * np.clip(paint, 0.0, 1.0)), dtype=np.uint8)


def painted_mesh(colour: Any) -> tuple[int, int, int]:
    """What the page is told for a mesh that is no batch, whose colour (3,) it takes for sRGB."""
    light = painted(np.asarray(colour)) / 255.0
    red, green, blue = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)
    return round(255.0 * float(red)), round(255.0 * float(green)), round(255.0 * float(blue))
