"""Orbits: bodies that attract each other by Newton's law, with the constant of gravitation set to one.

    ẍᵢ = Σⱼ mⱼ (xⱼ − xᵢ) / |xⱼ − xᵢ|³

xᵢ centres of mass, mⱼ masses. Two bodies of total mass 1 and semi-major axis a follow Kepler's equation
E − e sin E = t / a^{3/2}, e eccentricity. The three-body orbit in the shape of an eight is that of Chenciner and
Montgomery, Annals of Mathematics 152 (2000), 881-901, with the initial values given there, found by Simó.
"""

from __future__ import annotations

import math

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.forces import Attraction
from rattleback.model import Scene
from rattleback.shapes import Sphere

# Initial values of the figure eight and its period for G = m = 1.
EIGHT_POSITION = (0.97000436, -0.24308753, 0.0)
EIGHT_VELOCITY = (-0.93240737, -0.86473146, 0.0)
EIGHT_PERIOD = 6.32591398


def orbits(offset: float = 0.0, radius: float = 0.06) -> Scene:
    """Three equal bodies that chase each other along one curve in the shape of an eight.

    Args:
        offset: Distance along z that the first body starts off the plane of the orbit [m]; small ones do no harm.
        radius: Radius of the balls, to be seen by [m].
    """
    height = checks.number(offset, "The offset of orbits")
    ball = Sphere(checks.positive(radius, "The radius of orbits"))
    x, y, _ = EIGHT_POSITION
    half = tuple(-0.5 * v for v in EIGHT_VELOCITY)
    scene = Scene(gravity=(0, 0, 0), name="orbits")
    scene.add_body(ball, mass=1.0, name="first", position=(x, y, height), velocity=half, collision=None)
    scene.add_body(ball, mass=1.0, name="second", position=(-x, -y, 0.0), velocity=half, collision=None)
    scene.add_body(ball, mass=1.0, name="third", velocity=EIGHT_VELOCITY, collision=None)
    scene.add_force(Attraction(constant=1.0), name="attraction")
    return scene


def kepler(eccentricity: float = 0.6, mass_ratio: float = 0.25, radius: float = 0.06) -> Scene:
    """Two bodies on Kepler ellipses about their common centre of mass, from where they are closest.

    The relative orbit has the semi-major axis 1 m and the total mass is 1 kg, so that the period is 2π s.

    Args:
        eccentricity: Eccentricity of the orbit, from 0 to below 1.
        mass_ratio: Mass of the planet over the total mass, between 0 and 1.
        radius: Radius of the star's ball, to be seen by [m]; the planet's goes with the cube root of its mass.
    """
    e = checks.not_negative(eccentricity, "The eccentricity of kepler")
    share = checks.positive(mass_ratio, "The mass_ratio of kepler")
    for what, value in (("eccentricity", e), ("mass_ratio", share)):
        if value >= 1.0:
            raise InputError(f"The {what} of kepler is {value!r}; it must be less than 1.")
    star = checks.positive(radius, "The radius of kepler")
    distance, speed = 1.0 - e, math.sqrt((1.0 + e) / (1.0 - e))
    scene = Scene(gravity=(0, 0, 0), name="kepler")
    for name, mass, side in (("star", 1.0 - share, -share), ("planet", share, 1.0 - share)):
        size = star * (mass / (1.0 - share)) ** (1.0 / 3.0)
        scene.add_body(
            Sphere(size),
            mass=mass,
            name=name,
            position=(side * distance, 0, 0),
            velocity=(0, side * speed, 0),
            collision=None,
        )
    scene.add_force(Attraction(constant=1.0), name="attraction")
    return scene
