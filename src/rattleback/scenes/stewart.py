"""A Stewart platform whose linear motors lead it around a circle.

    l_i(t) = |p(t) + R b_i − a_i|,   p(t) = (r cos φ, r sin φ, H),   R unturned,   φ̇ rises smoothly from 0 to 2π/T

a_i, b_i anchors of leg i on the base and on the platform, r radius of the circle, H height, T time of a round. A leg is
a barrel on a universal joint at a_i and a rod that slides in it and carries the platform at b_i on a ball joint; the
motor is a servo on the slide.

    freedoms = 6 · 13 − 6 · (4 + 5 + 3) = 6, one for each leg; no condition is redundant

What the motors feel is the inertia in the coordinates of the legs, Λ = J⁻ᵀ M J⁻¹ + m_rod I, with J the Jacobian of the
legs at home and M that of the platform. The gain K = ω² λ, the rate time 2/ω with λ the least eigenvalue of Λ make the
quickest motion critically damped at the frequency ω; all others are slower. The time step must stay well below 1/(2 ω).

Reference: Merlet, Parallel Robots (2006), chapters 3 and 5.
"""

from __future__ import annotations

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.forces import Schedule, Servo
from rattleback.joints import Ball, Prismatic, Universal
from rattleback.joints.joint import turn_to
from rattleback.kinematics.pose import make_pose
from rattleback.kinematics.stewart import Stewart
from rattleback.model import Scene
from rattleback.shapes import Cylinder

PLATFORM_MASS, BARREL_MASS, ROD_MASS = 20.0, 4.0, 2.0
THICKNESS, BARREL_RADIUS, ROD_RADIUS = 0.06, 0.04, 0.02
# Parts of a leg at the start: the barrel reaches from the base, the rod from the platform, and they overlap.
BARREL_PART, ROD_PART = 0.6, 0.65
# Of the quickest motion of the platform on its motors [rad/s]; and the time a motor takes to forget its load [s].
BANDWIDTH, RESET_TIME = 100.0, 0.1
# Targets are given this often [s]: between two of them a round of two seconds differs from a line by 3 µm.
SPACING = 0.005
ROUNDS = 3.0


def stewart(radius: float = 0.1, period: float = 2.0) -> Scene:
    """A Stewart platform that six linear motors lead around a horizontal circle, from rest.

    Args:
        radius: Radius of the circle [m], less than 0.5.
        period: Time of a round [s]; it takes the first round to get up to speed.
    """
    radius = checks.not_negative(radius, "The radius of stewart")
    if radius >= 0.5:
        raise InputError(f"The radius of stewart is {radius!r}; it must be less than 0.5, as far as the legs reach.")
    period = checks.positive(period, "The period of stewart")
    machine, scene = Stewart.symmetric(), Scene(name="stewart")
    start = circle(0.0, radius, period)
    scene.add_body(
        Cylinder(machine.size, THICKNESS),
        mass=PLATFORM_MASS,
        inertia=moments_of(machine),
        name="platform",
        position=start,
        collision=None,
    )
    for k in range(6):
        _add_leg(scene, k, machine, start)
    times = np.arange(0.0, ROUNDS * period + SPACING, SPACING)
    _add_motors(scene, machine, times, circle(times, radius, period))
    return scene


def moments_of(machine: Stewart) -> np.ndarray:
    """Moments of inertia of the platform, a thin disc (3,) [kg m²]."""
    return 0.25 * PLATFORM_MASS * machine.size**2 * np.array([1.0, 1.0, 2.0])


def circle(time: object, radius: float, period: float) -> np.ndarray:
    """Where the platform should be at times (...), (..., 3) [m].

    In the first round the angle is 2π · s³ (1 − s/2), s = t/T: at rest, and without a jump of its second derivative
    there, at the start; as fast as ever, without a jump of the first and second, at the end of it; then it is even.
    """
    s = np.asarray(time, dtype=np.float64) / period
    early = np.minimum(s, 1.0)
    angle = 2.0 * np.pi * (early**3 * (1.0 - 0.5 * early) + np.maximum(s - 1.0, 0.0))
    height = np.ones_like(angle)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1)


def felt_inertia(machine: Stewart) -> float:
    """Least mass that the motors feel at home in any of the six motions [kg]."""
    inverse = np.linalg.inv(machine.jacobian(machine.home))
    mass = np.diag([PLATFORM_MASS] * 3 + moments_of(machine).tolist())
    return float(np.linalg.eigvalsh(inverse.T @ mass @ inverse).min()) + ROD_MASS


def _add_motors(scene: Scene, machine: Stewart, times: np.ndarray, places: np.ndarray) -> None:
    """A servo on the slide of each leg, that makes it as long as the platform's place takes at every time."""
    lengths = machine.inverse(make_pose(places))
    gain = BANDWIDTH**2 * felt_inertia(machine)
    for k in range(6):
        motor = Servo(
            f"slide_{k}",
            target=Schedule(times, lengths[:, k] - lengths[0, k]),
            control="position",
            gain=gain,
            reset_time=RESET_TIME,
            rate_time=2.0 / BANDWIDTH,
        )
        scene.add_force(motor, name=f"motor_{k}")


def _add_leg(scene: Scene, k: int, machine: Stewart, place: np.ndarray) -> None:
    """Barrel, rod, their three joints, from an anchor of the base to one of the platform."""
    foot, head = machine.base[k], place + machine.platform[k]
    length = float(np.linalg.norm(head - foot))
    along = (head - foot) / length
    turn = turn_to(along)
    sizes = {"barrel": (BARREL_MASS, BARREL_RADIUS, BARREL_PART), "rod": (ROD_MASS, ROD_RADIUS, ROD_PART)}
    for name, (mass, radius, part) in sizes.items():
        middle = foot + 0.5 * part * length * along if name == "barrel" else head - 0.5 * part * length * along
        shape = Cylinder(radius, part * length)
        scene.add_body(shape, mass=mass, name=f"{name}_{k}", position=middle, orientation=turn, collision=None)
    # The axes of the universal joint: one lies across the leg in the base, the other across both.
    first = np.cross(along, (0.0, 0.0, 1.0))
    first /= np.linalg.norm(first)
    cross = Universal(scene.world, f"barrel_{k}", at=foot, axis=first, axis_b=np.cross(along, first))
    scene.add_joint(cross, name=f"foot_{k}")
    scene.add_joint(Prismatic(f"barrel_{k}", f"rod_{k}", at=head, axis=along), name=f"slide_{k}")
    scene.add_joint(Ball(f"rod_{k}", "platform", at=head), name=f"head_{k}")
