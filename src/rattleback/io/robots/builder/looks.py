"""Looks of a robot as its file has them: colours of bodies, and cameras for pictures.

A body has one colour, that of the first of its shapes that is shown and has any. Cameras of pictures stand upright, so
that the roll of a camera of the file is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rattleback.io.robots.builder.joints import Attached
    from rattleback.io.robots.description import Colour

    Floats = NDArray[np.float64]

# A camera of a picture never looks quite straight down or up [rad].
STEEPEST = np.radians(89.8)


def colours(attached: Attached) -> dict[str, Colour]:
    """Red, green, blue and opacity, 0 to 1 as in sRGB, of the bodies whose shapes have any; by name of the body."""
    links = attached.description.links
    members = {attached.names[part.name]: part.members for part in attached.bodies.parts.values() if part.name != WORLD}
    still = {body: (link,) for link, body in attached.still.items()}
    told: dict[str, Iterable[str]] = {**members, **still}
    found = {}
    for body, names in told.items():
        shapes = [one for link in names for one in links[link].geometries]
        ordered = [*(one for one in shapes if one.seen), *(one for one in shapes if not one.seen)]
        colour = next((one.colour for one in ordered if one.colour is not None), None)
        if colour is not None:
            found[body] = colour
    return found


def camera(frame: Floats, field_of_view: float, middle: Floats) -> dict[str, Any]:
    """What a ``Camera`` takes to stand at a frame that looks along −z.

    Args:
        frame: The frame of the camera in the world (4, 4).
        field_of_view: Angle from below to above [rad].
        middle: What it is probably there to show (3,) [m].
    """
    eye, toward = frame[:3, 3], frame[:3, 2]
    distance = max(float(toward @ (eye - middle)), 0.1)
    return {
        "azimuth": float(np.arctan2(toward[1], toward[0])),
        "elevation": float(np.clip(np.arcsin(np.clip(toward[2], -1.0, 1.0)), -STEEPEST, STEEPEST)),
        "distance": distance,
        "target": tuple((eye - distance * toward).tolist()),
        "field_of_view": field_of_view,
    }
