"""Bodies that strike: balls that bounce, balls in a row on arms, rods whose tip meets the ground at an angle.

    bounces:    height after k bounces  h e²ᵏ,   all of them last  √(2h/g) (1 + e)/(1 − e)
    painleve:   the tip of a rod that is pushed before it jams where  μ ≥ (1 + 3 cos² θ)/(3 sin θ cos θ)

h height of the fall, e restitution of the pair, g gravity, μ friction of the pair, θ angle of the rod to the ground.
Frictions of two bodies add up and restitutions are multiplied: the ground has 0 and 1, so the pair has the body's.

The rods are slender, with the moment m l²/12 about their middle, and touch the ground with nothing but their tip; so
they collide as needles. Where the tip of two rods strikes the ground, a law that prescribes the speed of the rebound
(Newton) may create energy once friction turns the slip around.

Reference: Bender, dissertation, §5.5.3, figure 5.12 and table 5.3 (cradle); P. Painlevé, 1895 (painleve);
T. R. Kane's puzzle of 1984 (double_pendulum_impact: equal rods at 20° and 30°, the lower one turning twice as fast).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.joints import Revolute
from rattleback.maths.rotation import quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Capsule, Compound, ConvexHull, Placed, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rattleback.model.body import Body, BodyOptions

GRAVITY = 9.81
# Takes nothing away from what the other body says: frictions add up and restitutions are multiplied.
NEUTRAL = Material(friction=0.0, restitution=1.0)
OUT_OF_PLANE = (0.0, 1.0, 0.0)
# Radius of the balls on arms, how far below the pivot those of the cradle hang, and thickness of the arms to show [m].
BALL, ARM, ARM_RADIUS = 1.0, 5.0, 0.05
BOUNCING_RADIUS = 0.1
# Length of the rod of painleve [m]; the rods of the double pendulum have half of it.
ROD = 2.0
# Angles of the rods of the double pendulum to the vertical [rad], and how fast they turn beside the upper one.
ROD_ANGLES, ROD_SPINS = (math.radians(20.0), math.radians(30.0)), (1.0, 2.0)


def cradle(lifted: int = 1, balls: int = 5, angle: float = 0.25 * math.pi) -> Scene:
    """Newton's cradle: elastic balls in a row on arms, some of them lifted.

    The balls have a radius of 1 m and 1 kg, and hang 5 m below their hinges; the arms have no mass and touch nothing.

    Args:
        lifted: How many are lifted, at least 1 and fewer than there are.
        balls: Number of balls, at least 2.
        angle: Angle by which they are lifted, to the side of −x [rad]; more than zero, at most π/2.
    """
    balls = checks.count(balls, "The balls of cradle", least=2)
    lifted = checks.count(lifted, "The lifted of cradle", most=balls - 1)
    angle = checks.positive(angle, "The angle of cradle")
    if angle > 0.5 * math.pi:
        raise InputError(f"The angle of cradle is {angle!r}; it must be at most π/2, where the arms are level.")
    scene = Scene(name="cradle")
    for k in range(balls):
        pivot = (BALL * (2 * k - balls + 1), 0.0, ARM)
        options: BodyOptions = {"name": f"ball_{k + 1}", "mass": 1.0, "material": NEUTRAL}
        hang_ball(scene, pivot, ARM, OUT_OF_PLANE, angle if k < lifted else 0.0, options)
    return scene


def hang_ball(
    scene: Scene, pivot: ArrayLike, length: float, axis: ArrayLike, angle: float, options: BodyOptions
) -> Body:
    """A ball of 1 m radius on a hinge to the world, with an arm for show that neither weighs nor touches anything.

    Args:
        scene: The scene it is added to.
        pivot: Place of the hinge (3,) [m].
        length: Distance of the middle of the ball from the hinge [m].
        axis: Axis of the hinge (3,).
        angle: Angle by which it is turned about the axis from where it hangs at rest [rad].
        options: Name, mass and material of the ball.
    """
    turn = quaternion_from_axis_angle(axis, angle)
    arm = Placed(Capsule(ARM_RADIUS, length), position=(0.0, 0.0, 0.5 * length))
    placed: BodyOptions = {
        "collision": Sphere(BALL),
        "inertia": np.full(3, 0.4 * options["mass"] * BALL**2),
        "center_of_mass": (0.0, 0.0, 0.0),
        "position": np.asarray(pivot) + rotate(turn, (0.0, 0.0, -length)),
        "orientation": turn,
    }
    ball = scene.add_body(Compound((Placed(Sphere(BALL)), arm)), **(placed | options))
    scene.add_joint(Revolute(scene.world, ball, at=pivot, axis=axis), name=f"hinge_of_{ball.name}")
    return ball


def bounces(restitution: float = 0.8, height: float = 1.0) -> Scene:
    """A ball let go above level ground that bounces.

    Args:
        restitution: Restitution of ball and ground together, 0 to 1.
        height: How far its lowest point is above the ground [m].
    """
    surface = Material(friction=0.0, restitution=_restitution(restitution, "bounces"))
    height = checks.positive(height, "The height of bounces")
    scene, place = _on_ground("bounces"), (0.0, 0.0, height + BOUNCING_RADIUS)
    scene.add_body(Sphere(BOUNCING_RADIUS), mass=1.0, name="ball", material=surface, position=place)
    return scene


def bounces_last(restitution: float, height: float = 1.0) -> float:
    """When a ball let go at a height [m] has bounced for the last time [s]; infinite where nothing is lost."""
    fall = math.sqrt(2.0 * height / GRAVITY)
    return math.inf if restitution == 1.0 else fall * (1.0 + restitution) / (1.0 - restitution)


def painleve(friction: float = 1.5, angle: float = math.atan(2.0), speed: float = 1.0) -> Scene:
    """Painlevé's rod: it leans back over its tip, which slides on the ground; with much friction no force can hold it.

    A slender rod of 2 m and 1 kg in the plane y = 0; its middle is behind its tip.

    Args:
        friction: Friction of rod and ground together.
        angle: Angle of the rod to the ground [rad], more than 0 and less than π/2.
        speed: Speed of the rod along x, the way its tip points [m/s].
    """
    surface = Material(friction=checks.not_negative(friction, "The friction of painleve"))
    angle = checks.positive(angle, "The angle of painleve")
    if angle >= 0.5 * math.pi:
        raise InputError(f"The angle of painleve is {angle!r}; it must be less than π/2, where the rod is upright.")
    velocity = (checks.number(speed, "The speed of painleve"), 0.0, 0.0)
    scene = _on_ground("painleve")
    middle = 0.5 * ROD * np.array([-math.cos(angle), 0.0, math.sin(angle)])
    _add_rod(scene, ROD, middle, angle - 0.5 * math.pi, {"name": "rod", "material": surface, "velocity": velocity})
    return scene


def jamming_friction(angle: float) -> float:
    """Least friction for which the rod of ``painleve`` at an angle to the ground [rad] jams."""
    return (1.0 + 3.0 * math.cos(angle) ** 2) / (3.0 * math.sin(angle) * math.cos(angle))


def double_pendulum_impact(friction: float = 0.5, restitution: float = 0.5, spin: float = 1.0) -> Scene:
    """Two rods that hang from each other, at the moment when the tip of the lower one strikes the ground at an angle.

    The rods have 1 m and 1 kg; they lean by 20° and 30° and turn back to the vertical in the plane y = 0.

    Args:
        friction: Friction of rod and ground together.
        restitution: Restitution of rod and ground together, 0 to 1.
        spin: Angular velocity of the upper rod [rad/s]; the lower one turns twice as fast.
    """
    friction = checks.not_negative(friction, "The friction of double_pendulum_impact")
    restitution = _restitution(restitution, "double_pendulum_impact")
    spin = checks.positive(spin, "The spin of double_pendulum_impact")
    scene, length, surface = (
        _on_ground("double_pendulum_impact"),
        0.5 * ROD,
        Material(friction=friction, restitution=restitution),
    )
    top = np.array([0.0, 0.0, length * sum(math.cos(angle) for angle in ROD_ANGLES)])
    velocity, above = np.zeros(3), scene.world.name
    for name, angle, ratio in zip(("upper", "lower"), ROD_ANGLES, ROD_SPINS, strict=True):
        way = length * np.array([math.sin(angle), 0.0, -math.cos(angle)])
        turning = np.array([0.0, ratio * spin, 0.0])
        swing = np.cross(turning, way)
        options: BodyOptions = {"name": name, "material": surface, "angular_velocity": turning}
        rod = _add_rod(scene, length, top + 0.5 * way, -angle, {**options, "velocity": velocity + 0.5 * swing})
        scene.add_joint(Revolute(above, rod, at=top, axis=OUT_OF_PLANE), name=f"hinge_of_{name}")
        top, velocity, above = top + way, velocity + swing, name
    return scene


def _on_ground(name: str) -> Scene:
    """A scene with level ground that has no say in friction and restitution."""
    scene = Scene(name=name)
    scene.add_static(Plane(), name="ground", material=NEUTRAL)
    return scene


def _add_rod(scene: Scene, length: float, middle: ArrayLike, angle: float, options: BodyOptions) -> Body:
    """A slender rod of 1 kg along z of its frame, turned about y; it is a needle with a tip at either end."""
    half, thick = 0.5 * length, 0.01 * length
    around = [(thick, 0, 0), (0, thick, 0), (-thick, 0, 0), (0, -thick, 0)]
    needle = ConvexHull([(0, 0, -half), *around, (0, 0, half)])
    # A slender rod has no moment about its own axis; nothing in a plane turns about it, so any small one will do.
    moments = length**2 * np.array([1.0 / 12.0, 1.0 / 12.0, 1e-3])
    turn = quaternion_from_axis_angle(OUT_OF_PLANE, angle)
    placed: BodyOptions = {"mass": 1.0, "inertia": moments, "position": middle, "orientation": turn}
    return scene.add_body(needle, **(placed | options))


def _restitution(value: float, scene: str) -> float:
    restitution = checks.not_negative(value, f"The restitution of {scene}")
    if restitution > 1.0:
        raise InputError(f"The restitution of {scene} is {value!r}; it must be between 0 and 1.")
    return restitution
