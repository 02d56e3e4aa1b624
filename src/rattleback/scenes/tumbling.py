"""Free rotation: bodies that turn over and over because they spin about their middle axis.

    J ω̇ + ω × J ω = 0,   rate of growth beside the middle axis  λ = ω √((J₂ − J₁)(J₃ − J₂) / (J₁ J₃))

J inertia with principal moments J₁ < J₂ < J₃, ω angular velocity, both in the body's frame. A spin about the middle
axis is unstable: the body turns over when a disturbance, growing as e^{λt}, has become as large as the spin, and then
again and again. Half the disturbance puts the first turn off by ln(2)/λ.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.core import checks
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Scene
from rattleback.shapes import Box, Compound, Cylinder, Placed


def tumbling(
    count: int = 5, spin: float = 6.0, disturbance: float = 0.02, drift: float = 0.36, spacing: float = 0.7
) -> Scene:
    """T-handles and cards that spin about their middle axis and turn over again and again, weightless.

    They drift side by side along x, so that pictures of different moments lie beside each other.

    Args:
        count: Number of bodies; handles and cards by turns.
        spin: Angular velocity about the middle axis [rad/s].
        disturbance: Tilt of the spin of the first body off its middle axis [rad]; that of each further one is half.
        drift: Velocity along x [m/s].
        spacing: Distance from body to body, along y [m].
    """
    count = checks.count(count, "The count of tumbling")
    spin = checks.positive(spin, "The spin of tumbling")
    disturbance = checks.positive(disturbance, "The disturbance of tumbling")
    velocity = (checks.number(drift, "The drift of tumbling"), 0.0, 0.0)
    spacing = checks.positive(spacing, "The spacing of tumbling")
    scene = Scene(gravity=(0, 0, 0), name="tumbling")
    for index in range(count):
        tilt = disturbance * 0.5**index
        handle = index % 2 == 0
        scene.add_body(
            t_handle() if handle else Box(0.26, 0.4, 0.06),
            name=f"{'handle' if handle else 'card'}_{index + 1}",
            position=(0.0, spacing * (index - 0.5 * (count - 1)), 0.0),
            velocity=velocity,
            angular_velocity=(spin * math.cos(tilt), spin * math.sin(tilt), 0.0),
            collision=None,
        )
    return scene


def t_handle(bar: float = 0.4, stem: float = 0.2, radius: float = 0.035) -> Compound:
    """A T of two cylinders: the stem along x, which is its middle axis, the bar along y.

    Args:
        bar: Length of the bar [m].
        stem: Length of the stem, from the bar's surface on [m].
        radius: Radius of the bar [m]; that of the stem is four fifths of it.
    """
    along_y = quaternion_from_axis_angle((1, 0, 0), 0.5 * math.pi)
    along_x = quaternion_from_axis_angle((0, 1, 0), 0.5 * math.pi)
    # A stem of 0.8 times the bar's radius sits flush when it reaches in to 0.6 of it, as 0.6² + 0.8² = 1.
    thickness, root = 0.8 * radius, 0.6 * radius
    length = radius + stem - root
    return Compound(
        (
            Placed(Cylinder(radius, bar), orientation=tuple(along_y.tolist())),
            Placed(
                Cylinder(thickness, length), position=(root + 0.5 * length, 0, 0), orientation=tuple(along_x.tolist())
            ),
        )
    )


def torque_free(tilt: float = 0.01, spin: float = 1.0) -> Scene:
    """One body with moments 1, 2 and 3 kg m² that spins about its middle axis; its motion is known in closed form.

    Args:
        tilt: Angular velocity about the axis of the smallest moment [rad/s].
        spin: Angular velocity about the middle axis [rad/s].
    """
    rates = [checks.number(tilt, "The tilt of torque_free"), checks.number(spin, "The spin of torque_free"), 0.0]
    scene = Scene(gravity=(0, 0, 0), name="torque_free")
    scene.add_body(mass=1.0, inertia=np.array([1.0, 2.0, 3.0]), angular_velocity=rates, name="body", collision=None)
    return scene
