"""Andrews' squeezing mechanism: seven bodies in a plane on ten hinges, driven by a torque against a spring.

    F = r (cos β, sin β),   E = F − d (cos(β + Θ), sin(β + Θ)) = B + s (sin γ, −cos γ)
      = A + zt (cos δ, sin δ) + e (sin(Φ + δ), −cos(Φ + δ)) = A + u (sin ε, −cos ε) + zf (cos(Ω + ε), sin(Ω + ε))

β, Θ, γ, Φ, δ, Ω, ε its angles; O, A, B fixed points, E where four bodies meet. It has one freedom and nine conditions
too many, since all axes are parallel. Bodies weigh some grams and turn with more than a thousand radians a second.

Reference: Schiehlen, Multibody systems handbook, 1990; Hairer and Wanner, Solving Ordinary Differential Equations II,
VII.7, with the parameters and the start taken here.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from rattleback.forces import Spring, Wrench
from rattleback.joints import Revolute
from rattleback.model import Scene

# Angles at the start [rad].
BETA, GAMMA, PHI = -0.0617138900142764496, 0.455279819163070380, 0.222668390165885885
DELTA, EPSILON = 0.487364979543842550, 1.23054744454982119
# Fixed points [m]; that of the spring is C.
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
MOMENTS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
STIFFNESS, LENGTH, TORQUE = 4530.0, 0.07785, 0.033


def andrews() -> Scene:
    """Andrews' squeezing mechanism, at rest until its torque turns the crank; a hard test of accuracy."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), name="andrews")
    places, points = _places(), _points()
    bodies = [
        scene.add_body(mass=mass, inertia=(moment,) * 3, position=(*place, 0.0), name=f"K{number}")
        for number, (mass, moment, place) in enumerate(zip(MASSES, MOMENTS, places, strict=True), 1)
    ]
    k1, k2, k3, k4, k5, k6, k7 = bodies
    world = scene.world
    hinges = {"O": (world, k1), "F": (k1, k2), "E3": (k2, k3), "E4": (k2, k4), "E6": (k2, k6)}
    hinges |= {"B": (world, k3), "G": (k4, k5), "A5": (world, k5), "A7": (world, k7), "H": (k6, k7)}
    for name, (one, other) in hinges.items():
        at = (*points[name[0]], 0.0)
        scene.add_joint(Revolute(one, other, at=at, axis=(0.0, 0.0, 1.0)), name=name)
    end, fixed = (*points["D"], 0.0), (*C, 0.0)
    spring = Spring(k3, world, at=end, at_b=fixed, stiffness=STIFFNESS, length=LENGTH)
    scene.add_force(spring, name="spring")
    scene.add_force(Wrench(k1, torque=(0.0, 0.0, TORQUE)), name="motor")
    return scene


def _turned(angle: float, x: float, y: float) -> np.ndarray:
    """A vector of the plane, turned."""
    return np.array([cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y])


def _points() -> dict[str, np.ndarray]:
    """Where the hinges are at the start, and the end D of the spring."""
    crank = _turned(BETA, 0.007, 0.0)
    return {
        "O": np.zeros(2),
        "A": A,
        "B": B,
        "F": crank,
        "E": crank + _turned(BETA, -0.028, 0.0),
        "D": B + _turned(GAMMA, 0.02, -0.018),
        "G": A + _turned(DELTA, 0.04, 0.0),
        "H": A + _turned(EPSILON, 0.0, -0.04),
    }


def _places() -> list[np.ndarray]:
    """Where the centres of mass are at the start."""
    points = _points()
    return [
        _turned(BETA, 0.00092, 0.0),
        points["F"] + _turned(BETA, -0.0115, 0.0),
        B + _turned(GAMMA, 0.01043, -0.01874),
        points["G"] + _turned(PHI + DELTA, 0.0, -0.00579),
        A + _turned(DELTA, 0.02308, 0.00916),
        points["H"] + _turned(EPSILON - PHI, 0.00579, 0.0),
        A + _turned(EPSILON, -0.00449, -0.01228),
    ]
