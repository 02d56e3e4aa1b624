"""What joints look like: pieces fastened to body A or to body B, in the frames of the joint.

Sizes are in radii of the mark, which fits the thinner of the two bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback import joints

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

INK, STEEL, MOTOR, SPRING = (52, 60, 72), (120, 130, 142), (214, 60, 40), (214, 150, 30)


class Mark(NamedTuple):
    """A piece of a joint.

    Attributes:
        side: Body it is fastened to, ``"a"`` or ``"b"``.
        key: Mesh of size one.
        scale: Size along its axes (3,) [m].
        colour: Red, green, blue.
        along: How far it is from the anchor, along the axes of the frame (3,) [m].
    """

    side: str
    key: str
    scale: tuple[float, float, float]
    colour: tuple[int, int, int] = INK
    along: tuple[float, float, float] = (0.0, 0.0, 0.0)


def marks_of(joint: Any, radius: float) -> list[Mark]:
    """The pieces of a joint with marks of a radius [m]."""
    found = MAKERS[type(joint)](joint, radius) if type(joint) in MAKERS else [_ball("b", radius)]
    return found


def motor(radius: float) -> list[Mark]:
    """A motor: a drum around the axis."""
    return [Mark("a", "cylinder", (1.5 * radius, 1.5 * radius, 1.3 * radius), MOTOR)]


def torsion_spring(radius: float) -> list[Mark]:
    """A spring wound around the axis: a few rings."""
    return [
        Mark("a", "cylinder", (1.25 * radius, 1.25 * radius, 0.22 * radius), SPRING, (0.0, 0.0, k * 0.45 * radius))
        for k in (-1, 0, 1)
    ]


def _ball(side: str, r: float) -> Mark:
    return Mark(side, "ball", (r, r, r))


def _pin(side: str, r: float, length: float = 3.4, thickness: float = 0.6) -> Mark:
    return Mark(side, "cylinder", (thickness * r, thickness * r, length * r))


def _rail(r: float) -> Mark:
    return Mark("a", "box", (0.5 * r, 0.5 * r, 14.0 * r), STEEL)


def _plate(r: float) -> Mark:
    return Mark("a", "box", (9.0 * r, 9.0 * r, 0.15 * r), STEEL)


def _gear(joint: Any, r: float) -> list[Mark]:
    sides = zip("ab", joint.radii, strict=True)
    return [Mark(side, "gear", (size, size, max(0.12 * size, 0.5 * r)), STEEL) for side, size in sides]


def _rack(joint: Any, r: float) -> list[Mark]:
    size = joint.radius
    bar = Mark("b", "box", (0.15 * size, 0.25 * size, 6.0 * size), STEEL)
    return [Mark("a", "gear", (size, size, 0.25 * size), STEEL), bar]


def _screw(joint: Any, r: float) -> list[Mark]:
    threads = [Mark("a", "cylinder", (0.8 * r, 0.8 * r, 0.3 * r), STEEL, (0.0, 0.0, k * 0.8 * r)) for k in range(-5, 6)]
    return [_pin("a", r, 11.0, 0.5), *threads]


MAKERS: dict[type[Any], Callable[[Any, float], list[Mark]]] = {
    joints.Ball: lambda joint, r: [_ball("b", r)],
    joints.Revolute: lambda joint, r: [_pin("b", r)],
    joints.Cylindrical: lambda joint, r: [_pin("a", r, 14.0, 0.4), _pin("b", r, 3.0, 0.8)],
    joints.Prismatic: lambda joint, r: [_rail(r), Mark("b", "box", (1.3 * r, 1.3 * r, 2.6 * r))],
    joints.Universal: lambda joint, r: [_pin("a", r, 3.4, 0.45), _pin("b", r, 3.4, 0.45)],
    joints.DoubleRotation: lambda joint, r: [_pin("a", r, 3.4, 0.45), _pin("b", r, 3.4, 0.45)],
    joints.PointOnLine: lambda joint, r: [_rail(r), _ball("b", 0.8 * r)],
    joints.PointOnPlane: lambda joint, r: [_plate(r), _ball("b", 0.8 * r)],
    joints.Planar: lambda joint, r: [_plate(r), Mark("b", "cylinder", (1.2 * r, 1.2 * r, 0.5 * r))],
    joints.Fixed: lambda joint, r: [Mark("b", "box", (1.5 * r, 1.5 * r, 1.5 * r))],
    joints.FixedOrientation: lambda joint, r: [Mark(side, "box", (r, r, r), STEEL) for side in "ab"],
    joints.CommonDirection: lambda joint, r: [Mark(side, "cone", (0.6 * r, 0.6 * r, 2.0 * r), STEEL) for side in "ab"],
    joints.Distance: lambda joint, r: [_ball("a", 0.5 * r), _ball("b", 0.5 * r)],
    joints.DistanceToLine: lambda joint, r: [_rail(r), _ball("b", 0.6 * r)],
    joints.DistanceToPlane: lambda joint, r: [_plate(r), _ball("b", 0.6 * r)],
    joints.Screw: _screw,
    joints.Gear: _gear,
    joints.Rack: _rack,
    joints.VelocityJoint: lambda joint, r: [Mark("b", "cone", (0.7 * r, 0.7 * r, 2.2 * r), MOTOR)],
}


def coil(turns: int, points: int) -> NDArray[np.float64]:
    """A coil of radius and length one along z, with straight ends (points, 3)."""
    part = np.linspace(0.0, 1.0, points)
    angle = 2.0 * np.pi * turns * np.clip((part - 0.1) / 0.8, 0.0, 1.0)
    radius = np.clip(np.minimum(part, 1.0 - part) / 0.1 - 0.5, 0.0, 1.0)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), part], axis=1)
