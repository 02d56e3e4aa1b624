"""Which colour each body has, in pictures and on the page: a few bodies differ; of many, those alike have one colour.

Bodies of one colour are lighter or darker by their names, so that neighbours can be told apart, and a body keeps its
colour when another one goes.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.recording.style import PALETTE

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from rattleback.model.body import Body

# Bodies of one colour are as much lighter or darker than it; few shades let files hold a solid and its colour once.
SHADES = (0.84, 0.92, 1.0, 1.08, 1.16)


class Paints(NamedTuple):
    """Colours of bodies.

    Attributes:
        number: Which of PALETTE each body has; zero for static ones, which have none (bodies,).
        shade: How much lighter or darker it is, as written in sRGB (bodies,).
    """

    number: NDArray[np.int64]
    shade: NDArray[np.float64]


def paints(bodies: Sequence[Body], known: dict[Hashable, int] | None = None) -> Paints:
    """The colours of the bodies of a scene.

    Args:
        bodies: The bodies.
        known: Numbers given so far, by body or by what bodies look like, which stay; new ones are added.
    """
    given = {} if known is None else known
    moving = [(row, body) for row, body in enumerate(bodies) if not body.static]
    # Whether they are few was settled when the scene was opened, lest one body more gives all other colours.
    few = any(body.name in given for _, body in moving) if given else len(moving) <= len(PALETTE)
    keys = [body.name if few else kind(body) for _, body in moving]
    taken = {given[key] for key in keys if key in given}
    for key in keys:
        if key not in given:
            free = (number for number in range(len(PALETTE)) if number not in taken)
            given[key] = next(free, len(given) % len(PALETTE))
            taken.add(given[key])
    number, shade = np.zeros(len(bodies), dtype=np.int64), np.ones(len(bodies))
    for (row, body), key in zip(moving, keys, strict=True):
        number[row] = given[key]
        shade[row] = 1.0 if few else SHADES[zlib.crc32(body.name.encode()) % len(SHADES)]
    return Paints(number, shade)


def kind(body: Body) -> Hashable:
    """Equal for bodies that look alike."""
    return type(body.shape), 0.0 if body.shape is None else float(f"{body.shape.bounding_radius():.6g}")
