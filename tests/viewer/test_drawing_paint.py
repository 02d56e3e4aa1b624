import numpy as np

from rattleback.viewer.drawing.colours import PALETTE_RGB
from rattleback.viewer.drawing.paint import LIT, painted


def developed(paint):
    """What three.js shows of paint in a light of LIT, pixel by pixel as its shader says, in sRGB (3,)."""
    r, g, b = (LIT / 0.6 * amount / 255.0 for amount in map(float, paint))
    x = [0.59719 * r + 0.35458 * g + 0.04823 * b, 0.076 * r + 0.90834 * g + 0.01566 * b]
    x.append(0.0284 * r + 0.13383 * g + 0.83777 * b)
    r, g, b = ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.432951) + 0.238081) for v in x)
    x = [1.60475 * r - 0.53108 * g - 0.07367 * b, -0.10208 * r + 1.10813 * g - 0.00605 * b]
    x.append(-0.00327 * r - 0.07276 * g + 1.07602 * b)
    shown = [min(max(v, 0.0), 1.0) for v in x]
    return [255.0 * (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1.0 / 2.4) - 0.055) for v in shown]


def test_bodies_are_seen_in_the_colours_of_the_palette():
    off = [np.abs(np.array(developed(painted(colour))) - colour).max() for colour in PALETTE_RGB]
    # Dark amounts of light have few of the 256 steps; what is brighter than any paint, as sky, is a little darker.
    assert sum(value < 6.0 for value in off) >= len(PALETTE_RGB) - 1
    assert max(off) < 16.0


def test_greys_stay_grey_and_black_and_white_are_no_trouble():
    greys = np.repeat(np.arange(0, 256, 15)[:, None], 3, axis=1)
    paint = painted(greys).astype(int)
    assert np.ptp(paint, axis=1).max() <= 2
    assert np.all(np.diff(paint[:, 0]) >= 0)
