"""Bodies that friction turns around: a top that rises onto its stem, and a stone that reverses its spin.

The tippe top is a ball with a hollow, cut off above its middle at z = c, and a stem that stands on the bottom of the
hollow, which is a ball as well, a little higher up. Of a ball of radius r around z = s, what is below the cut has

    V = ∫ A dz,   S = ∫ z A dz,   T = ∫ z² A dz,   J_z = ∫ A²/(2π) dz,   J_x = T + ½ J_z,   A = π (r² − (z − s)²)

from s − r to c, per density and about the middle; the hollow is taken from the outer ball, and the stem, a capsule, is
added. The top turns over where  1 − α < J₃/J₁ < 1 + α:  J₃ moment about its axis, J₁ across it through the centre of
mass, α distance of the centre of mass below the middle of the ball, over its radius. Here: 29.4 g, α = 0.194,
J₃/J₁ = 1.013. It touches the ground with the whole ball and the stem, which gets there before the rim would, at 141°,
and is no longer than that takes: a top stays on a long stem only if it is very fast. It is spun about the vertical, not
about its axis, which is tilted by θ: its centre of mass then stays and its ball circles around it; to stop that takes
an acceleration ω² α r sin θ. Where that is more than friction gives, μ g, the ball slides until the top is over, in a
time that goes with 1/μ; spun about its axis, it might come to roll.

The rattleback is the lower half of an ellipsoid with radii a, b, c, of the moments  m/5 (b² + c²), …  about its middle
and its centre of mass at −3/8 c, with two balls on its flat side, one diagonally across from the other. They turn its
principal axes by ½ atan(2 J_xy/(J_xx − J_yy)) about z: here 2.6°.

Reference: Bender, dissertation, §5.5.3, figures 5.13 and 5.14.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths.inertia import combine
from rattleback.maths.rotation import conjugate, quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Capsule, Compound, Ellipsoid, Mesh, Placed, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Part = tuple[float, NDArray[np.float64], NDArray[np.float64]]

# The tippe top: radii of ball and hollow, heights of the middle of the hollow and of the cut, radius of the stem and
# height of its tip [m], all above the middle of the ball; density of wood [kg/m³].
BALL, HOLLOW, HOLLOW_MIDDLE, CUT = 0.03, 0.027, 0.003, 0.024
STEM, TIP, WOOD = 0.006, 0.037, 800.0
# The rattleback: radii of the ellipsoid [m] and mass of its half [kg]; radius of the balls, where on its flat side they
# are, one there and one across [m], and their mass [kg].
RADII, STONE_MASS = (0.1, 0.02, 0.02), 0.1
LOAD_RADIUS, LOAD_PLACE, LOAD_MASS = 0.006, (0.06, -0.01), 0.01
# Smooth ground: frictions add up, so that of the pair is all the body's.
GROUND = Material(friction=0.0)


def tippe_top(friction: float = 0.3, spin: float = 180.0, tilt: float = 0.1) -> Scene:
    """A tippe top, spun fast on its round side; friction raises it onto its stem.

    Args:
        friction: Friction of top and ground together.
        spin: Angular velocity about the vertical [rad/s].
        tilt: Angle of its axis to the vertical [rad], at least 0 and less than π/2.
    """
    surface = Material(friction=checks.not_negative(friction, "The friction of tippe_top"))
    spin = checks.number(spin, "The spin of tippe_top")
    tilt = _tilt(tilt, "tippe_top")
    scene, turn = _on_ground("tippe_top"), quaternion_from_axis_angle((0, 1, 0), tilt)
    mass, center, inertia = combine([_bowl(), _stem()])
    stem = Placed(*_stem_place())
    scene.add_body(
        Compound((Placed(_bowl_surface()), stem)),
        collision=[Placed(Sphere(BALL)), stem],
        mass=mass,
        inertia=inertia,
        center_of_mass=center,
        origin=(0.0, 0.0, BALL),
        orientation=turn,
        angular_velocity=(0.0, 0.0, spin),
        name="top",
        material=surface,
    )
    return scene


def rattleback(spin: float = 5.0, friction: float = 0.6, tilt: float = 0.01) -> Scene:
    """A rattleback, spun against the sense it prefers; it starts to rock, stops and turns the other way.

    Args:
        spin: Angular velocity about the vertical [rad/s]; it prefers a negative one.
        friction: Friction of stone and ground together.
        tilt: Angle by which its long axis is off the horizontal [rad], at least 0 and less than π/2; it rolls at first.
    """
    spin = checks.number(spin, "The spin of rattleback")
    surface = Material(friction=checks.not_negative(friction, "The friction of rattleback"))
    turn = quaternion_from_axis_angle((0, 1, 0), _tilt(tilt, "rattleback"))
    scene, whole, load = _on_ground("rattleback"), Ellipsoid(*RADII), Sphere(LOAD_RADIUS)
    mass, center, inertia = combine([_half_ellipsoid(), *_loads()])
    # The lowest point of the ellipsoid, in its own frame, is on the ground and at rest.
    lowest = whole.support(rotate(conjugate(turn), (0.0, 0.0, -1.0)))
    turning = np.array([0.0, 0.0, spin])
    scene.add_body(
        Compound((Placed(_half_ellipsoid_surface()), *(Placed(load, position=tuple(at)) for _, at, _ in _loads()))),
        collision=whole,
        mass=mass,
        inertia=inertia,
        center_of_mass=center,
        origin=(0.0, 0.0, -rotate(turn, lowest)[2]),
        orientation=turn,
        velocity=np.cross(turning, rotate(turn, center - lowest)),
        angular_velocity=turning,
        name="stone",
        material=surface,
    )
    return scene


def _on_ground(name: str) -> Scene:
    scene = Scene(name=name)
    scene.add_static(Plane(), name="ground", material=GROUND)
    return scene


def _tilt(value: float, scene: str) -> float:
    tilt = checks.not_negative(value, f"The tilt of {scene}")
    if tilt >= 0.5 * math.pi:
        raise InputError(f"The tilt of {scene} is {value!r}; it must be less than π/2, where it lies on its side.")
    return tilt


def _cut_ball(radius: float, middle: float) -> NDArray[np.float64]:
    """Volume, first and second moment along z, and moment about z of a ball cut off at ``CUT`` (4,)."""
    z = np.polynomial.Polynomial([0.0, 1.0])
    area = math.pi * (radius**2 - (z - middle) ** 2)
    sums = [term.integ() for term in (area, z * area, z**2 * area, area**2 / (2.0 * math.pi))]
    return np.array([term(CUT) - term(middle - radius) for term in sums])


def _bowl() -> Part:
    """Mass, centre of mass and inertia of the hollow ball."""
    volume, first, second, about = _cut_ball(BALL, 0.0) - _cut_ball(HOLLOW, HOLLOW_MIDDLE)
    height = first / volume
    across = second + 0.5 * about - volume * height**2
    return WOOD * volume, np.array([0.0, 0.0, height]), WOOD * np.diag([across, across, about])


def _stem_place() -> tuple[Capsule, tuple[float, float, float]]:
    """The stem, from the bottom of the hollow to its tip, and where its middle is."""
    bottom = HOLLOW_MIDDLE - HOLLOW
    return Capsule(STEM, TIP - bottom), (0.0, 0.0, 0.5 * (TIP + bottom))


def _stem() -> Part:
    """Mass, centre of mass and inertia of the stem."""
    shape, place = _stem_place()
    own = shape.mass_properties(WOOD)
    return own.mass, np.array(place), own.inertia


def _half_ellipsoid() -> Part:
    """Mass, centre of mass and inertia of the stone without its balls."""
    x, y, z = np.square(RADII) / 5.0
    drop = 0.375 * RADII[2]
    moments = np.array([y + z - drop**2, x + z - drop**2, x + y])
    return STONE_MASS, np.array([0.0, 0.0, -drop]), STONE_MASS * np.diag(moments)


def _loads() -> list[Part]:
    """Mass, place and inertia of the two balls."""
    (x, y), own = LOAD_PLACE, 0.4 * LOAD_MASS * LOAD_RADIUS**2 * np.eye(3)
    return [(LOAD_MASS, np.array([side * x, side * y, LOAD_RADIUS]), own) for side in (1.0, -1.0)]


def _bowl_surface() -> Mesh:
    """The hollow ball to be shown: up its outside, over the rim, and down its inside."""
    outside = _arc(BALL, math.acos(-CUT / BALL))
    inside = _arc(HOLLOW, math.acos((HOLLOW_MIDDLE - CUT) / HOLLOW))
    inside[:, 1] += HOLLOW_MIDDLE
    return _revolved(np.concatenate([outside, inside[::-1]]), (1.0, 1.0, 1.0))


def _half_ellipsoid_surface() -> Mesh:
    """The stone to be shown."""
    return _revolved(np.concatenate([_arc(1.0, 0.5 * math.pi), [(0.0, 0.0)]]), RADII)


def _arc(radius: float, angle: float, points: int = 13) -> NDArray[np.float64]:
    """Points (r, z) on a circle around the origin, from its lowest one on (points, 2)."""
    turned = np.linspace(0.0, angle, points)
    return radius * np.stack([np.sin(turned), -np.cos(turned)], axis=1)


def _revolved(profile: NDArray[np.float64], scale: ArrayLike, segments: int = 32) -> Mesh:
    """A profile (points, 2) of distances from the z axis and heights, turned about it; its ends are on the axis."""
    around = 2.0 * math.pi * np.arange(segments) / segments
    rings = np.stack([np.outer(profile[1:-1, 0], np.cos(around)), np.outer(profile[1:-1, 0], np.sin(around))], axis=-1)
    heights = np.broadcast_to(profile[1:-1, 1, None, None], (*rings.shape[:2], 1))
    ends = [(0.0, 0.0, profile[0, 1]), (0.0, 0.0, profile[-1, 1])]
    points = np.concatenate([np.concatenate([rings, heights], axis=-1).reshape(-1, 3), ends])
    k = np.arange(segments)
    after, last = (k + 1) % segments, segments * (len(profile) - 3)
    low, high = len(points) - 2, len(points) - 1
    triangles = [np.stack([np.full(segments, low), after, k], axis=1)]
    triangles += [np.stack([last + k, last + after, np.full(segments, high)], axis=1)]
    for ring in range(0, last, segments):
        corners = (ring + k, ring + after, ring + segments + after, ring + segments + k)
        triangles += [np.stack([corners[i] for i in trio], axis=1) for trio in ((0, 1, 2), (0, 2, 3))]
    return Mesh(points * np.asarray(scale), np.concatenate(triangles))
