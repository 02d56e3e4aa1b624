"""A spatial slider-crank: a crank turns in a vertical plane and drives a slider across it by a rod in space.

    B = A + r (0, −sin φ, cos φ),   C = (x, 0, 0),   |C − B| = l,   e ⊥ (1, 0, 0)

A centre of the crank, B its ball joint with the rod, C the universal joint of rod and slider, r = 0.08 m, l = 0.3 m,
φ angle of the crank from upright, e axis of the universal joint in the rod. The crank's centre of mass is at A. It has
one freedom; gravity alone never stops it, as it starts with the rod at its highest.

Reference: multibody benchmark library, spatial rigid slider-crank mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.joints import Ball, Prismatic, Revolute, Universal
from rattleback.maths.rotation import quaternion_from_matrix
from rattleback.model import Scene
from rattleback.shapes import Box

if TYPE_CHECKING:
    from rattleback.model.body import Body

CRANK, ROD = 0.08, 0.3
CENTRE = np.array([0.0, 0.1, 0.12])
CRANK_MASS, ROD_MASS, SLIDER_MASS = 0.12, 0.5, 2.0
# Moments about the centres of mass; x of the crank is its axis, x of the rod lies along it.
CRANK_MOMENTS = (1e-4, 1e-4, 1e-5)
ROD_MOMENTS = (4e-4, 4e-3, 4e-3)
SLIDER_MOMENTS = (1e-4, 1e-4, 1e-4)
ALONG = np.array([1.0, 0.0, 0.0])


def slider_crank(spin: float = 6.0) -> Scene:
    """A spatial slider-crank whose crank starts upright and turns on under gravity.

    Args:
        spin: Angular velocity of the crank at the start [rad/s].
    """
    spin = checks.number(spin, "The spin of slider_crank")
    scene = Scene(name="slider_crank")
    tip = CENTRE + np.array([0.0, 0.0, CRANK])
    end = np.array([np.sqrt(ROD**2 - tip @ tip), 0.0, 0.0])
    crank = scene.add_body(
        Box(0.02, 0.02, 2.0 * CRANK),
        mass=CRANK_MASS,
        inertia=CRANK_MOMENTS,
        name="crank",
        position=CENTRE,
        angular_velocity=spin * ALONG,
        collision=None,
    )
    rod, across = _add_rod(scene, tip, end, spin)
    # The tip does not move along x at the start, so the middle of the rod moves half as fast as its end.
    speed = 2.0 * rod.velocity[0] * ALONG
    block = Box(0.06, 0.04, 0.04)
    slider = scene.add_body(
        block, mass=SLIDER_MASS, inertia=SLIDER_MOMENTS, name="slider", position=end, velocity=speed, collision=None
    )
    scene.add_joint(Revolute(scene.world, crank, at=CENTRE, axis=ALONG), name="bearing")
    scene.add_joint(Ball(crank, rod, at=tip), name="pin")
    scene.add_joint(Universal(slider, rod, at=end, axis=ALONG, axis_b=across), name="cross")
    scene.add_joint(Prismatic(scene.world, slider, at=end, axis=ALONG), name="guide")
    return scene


def _add_rod(scene: Scene, tip: np.ndarray, end: np.ndarray, spin: float) -> tuple[Body, np.ndarray]:
    """The rod from the crank's tip to the slider, moving with both, and the axis of its universal joint."""
    unit = (end - tip) / ROD
    cross = np.cross(unit, ALONG)
    across = cross / np.linalg.norm(cross)
    tip_velocity = np.array([0.0, -spin * CRANK, 0.0])
    end_velocity = (unit @ tip_velocity) / unit[0] * ALONG
    rate = (end_velocity - tip_velocity) / ROD
    # The axis lies along u × x at all times; how fast it turns about the rod is how fast the rod turns about itself.
    roll = (np.cross(rate, ALONG) @ np.cross(unit, across)) / np.linalg.norm(cross)
    rod = scene.add_body(
        Box(ROD, 0.015, 0.015),
        mass=ROD_MASS,
        inertia=ROD_MOMENTS,
        name="rod",
        position=0.5 * (tip + end),
        orientation=quaternion_from_matrix(np.stack([unit, across, np.cross(unit, across)], axis=1)),
        velocity=0.5 * (tip_velocity + end_velocity),
        angular_velocity=np.cross(unit, rate) + roll * unit,
        collision=None,
    )
    return rod, across
