"""A picture of a simulation as it stands, for the strip above the panels of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.experiments.result import Picture
from rattleback.maths.rotation import rotate
from rattleback.recording.picture import solid_of
from rattleback.recording.stage import Stage
from rattleback.recording.tessellation import Surface, placed, tessellate
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rattleback.simulation import Simulation

# Where the camera looks from: about z from the x axis, and down [rad].
AZIMUTH, ELEVATION = np.radians(-60.0), np.radians(15.0)
# Colours of bodies, in turns, so that one is seen apart from the next.
PLAIN = np.array([(0.45, 0.62, 0.80), (0.55, 0.70, 0.85), (0.38, 0.55, 0.74)])
# Parts that a turn around a body has.
FINENESS = 24


def snapshot(
    simulation: Simulation,
    colours: Mapping[str, tuple[float, float, float]] | None = None,
    without: Collection[str] = (),
) -> Picture:
    """What a simulation looks like now; planes, which have no end, are left out.

    Args:
        simulation: What to look at.
        colours: Red, green and blue from 0 to 1 of the bodies that are not to look like all others, by name.
        without: Names of bodies that are left out, since they would hide others.
    """
    stage = Stage(float(AZIMUTH), float(ELEVATION))
    for number, body in enumerate(simulation.scene.bodies):
        if isinstance(body.shape, Plane) or body.name in without:
            continue
        shape, view = solid_of(body), simulation[body.name]
        own = tessellate(shape, FINENESS)
        origin = view.position - rotate(view.orientation, body.center_of_mass)
        surface = Surface(placed(own, view.orientation, origin), own.triangles)
        stage.add_solid(surface, (colours or {}).get(body.name, PLAIN[number % len(PLAIN)]), shape.bounding_radius())
    return Picture(f"{simulation.time:.2f} s", stage)
