"""The stiff flyball governor: two rods with balls on a shaft that turns freely, tied to a slider by springs.

    d = (½ l cos α, 1 − ½ l sin α − s) from the slider to the middle of a rod,   force K (|d| − ½) + C d|d|/dt

α angle of the rods below the horizontal, s height of the slider, l length of a rod, K, C stiffness and damping of the
springs, which stand in the place of stiff couplers. Slider and rods go fast to where the springs pull them, and slowly
from there: some 10⁴ of the rates are damping.

Reference: multibody benchmark library, problem A05; J. Watt's governor of 1788.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.forces import Spring
from rattleback.joints import Prismatic, Revolute
from rattleback.maths.inertia import combine
from rattleback.maths.rotation import quaternion_from_axis_angle, rotate
from rattleback.model import Scene
from rattleback.shapes import Box

if TYPE_CHECKING:
    from rattleback.model.body import BodyOptions

DENSITY, BALL, THICK = 3000.0, 5.0, 0.01
TOP, OFFSET, ROD, SLIDER = 1.0, 0.05, 1.0, 0.1
ANGLE, HEIGHT = math.radians(30.0), 0.5
UP, ACROSS = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


def governor(spin: float = 2.0 * math.pi, stiffness: float = 8e5, damping: float = 4e4) -> Scene:
    """A flyball governor that is let go while it turns; its springs are stiff and strongly damped.

    Args:
        spin: Angular velocity about the shaft at the start [rad/s].
        stiffness: Stiffness of each spring [N/m].
        damping: Damping of each spring [N s/m].
    """
    turning = checks.number(spin, "The spin of governor") * UP
    scene = Scene(name="governor")
    options: BodyOptions = {"density": DENSITY, "angular_velocity": turning, "collision": None}
    middle: BodyOptions = {"position": 0.5 * TOP * UP, "name": "shaft"}
    shaft = scene.add_body(Box(THICK, THICK, TOP), **(options | middle))
    low: BodyOptions = {"position": HEIGHT * UP, "name": "slider"}
    slider = scene.add_body(Box(SLIDER, SLIDER, SLIDER), **(options | low))
    scene.add_joint(Revolute(scene.world, shaft, at=(0.0, 0.0, 0.0), axis=UP), name="bearing")
    scene.add_joint(Prismatic(shaft, slider, at=HEIGHT * UP, axis=UP), name="guide")
    for name, side in (("left", -1.0), ("right", 1.0)):
        hinge, half_way = _add_rod(scene, name, side, turning)
        scene.add_joint(Revolute(shaft, name, at=hinge, axis=ACROSS), name=f"hinge_{name}")
        end = (side * OFFSET, 0.0, HEIGHT)
        spring = Spring(slider, name, at=end, at_b=half_way, stiffness=stiffness, damping=damping, length=0.5)
        scene.add_force(spring, name=f"spring_{name}")
    return scene


def rod_mass() -> tuple[float, float, np.ndarray]:
    """Mass of a rod with its ball, distance of its centre of mass from the hinge, and moments, x along it."""
    shape = Box(ROD, THICK, THICK)
    own = shape.mass_properties(DENSITY)
    rod = (own.mass, np.array([0.5 * ROD, 0.0, 0.0]), own.inertia)
    mass, centre, inertia = combine([rod, (BALL, np.array([ROD, 0.0, 0.0]), np.zeros((3, 3)))])
    return mass, float(centre[0]), np.diag(inertia)


def _add_rod(scene: Scene, name: str, side: float, turning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add a rod; returns its hinge and its middle."""
    mass, reach, moments = rod_mass()
    turn = quaternion_from_axis_angle(ACROSS, ANGLE if side > 0.0 else math.pi - ANGLE)
    hinge, along = np.array([side * OFFSET, 0.0, TOP]), rotate(turn, (1.0, 0.0, 0.0))
    centre = hinge + reach * along
    scene.add_body(
        Box(ROD, THICK, THICK),
        mass=mass,
        inertia=moments,
        center_of_mass=(reach - 0.5 * ROD, 0.0, 0.0),
        position=centre,
        orientation=turn,
        velocity=np.cross(turning, centre),
        angular_velocity=turning,
        collision=None,
        name=name,
    )
    return hinge, hinge + 0.5 * ROD * along
