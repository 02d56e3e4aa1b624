"""Ready models: planar arms, SCARA, PUMA 560, arms of six and seven axes, a snake, a hand.

Angles of limits are given in degrees, as data sheets do. Every function takes ``on``, the device of its tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.kinematics.link import HERE, Link, Mimic
from rattleback.kinematics.tree import Tree

ALONG_X = (0.0, 0.0, 0.0, 1.0)
RIGHT = np.pi / 2.0


def planar_2r(first: float = 1.0, second: float = 1.0, limits: Any = None, on: str = "cpu") -> Tree:
    """Two bars in the plane z = 0, each turned about z; the tip is the end of the second.

    Args:
        first: Length of the first bar [m].
        second: Length of the second [m].
        limits: Least and greatest angle of each joint (2, 2) [rad]; None for none.
        on: Device.
    """
    rows = [(0.0, 0.0, 0.0, 0.0), (checks.positive(first, "The first length"), 0.0, 0.0, 0.0)]
    tool = ((checks.positive(second, "The second length"), 0.0, 0.0), ALONG_X)
    return Tree.from_dh(rows, limits=limits, tool=tool, name="planar_2r", on=on)


def planar_3r(lengths: Any = (1.0, 0.8, 0.5), limits: Any = None, on: str = "cpu") -> Tree:
    """Three bars in the plane z = 0, each turned about z, so that its tip has a place and a direction in the plane.

    Args:
        lengths: Lengths of the bars (3,) [m].
        limits: Least and greatest angle of each joint (3, 2) [rad]; None for none.
        on: Device.
    """
    bars = checks.vector(lengths, "The lengths of planar_3r").tolist()
    rows = [(a, 0.0, 0.0, 0.0) for a in (0.0, *bars[:2])]
    return Tree.from_dh(rows, limits=limits, tool=((bars[2], 0.0, 0.0), ALONG_X), name="planar_3r", on=on)


def scara(on: str = "cpu") -> Tree:
    """A SCARA: two turns in the plane, a turn of the tool, and a slide downwards, whose variable grows downwards."""
    rows = [(0.0, 0.0, 0.4, 0.0), (0.325, 0.0, 0.0, 0.0), (0.225, np.pi, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)]
    limits = [*_degrees((-140, 140), (-150, 150)), (0.0, 0.2), *_degrees((-360, 360))]
    kinds = ("revolute", "revolute", "prismatic", "revolute")
    return Tree.from_dh(rows, limits=limits, kinds=kinds, name="scara", on=on)


def puma560(on: str = "cpu") -> Tree:
    """The PUMA 560, in the standard form; the tip is the wrist's centre.

    References: lengths and twists, Corke and Armstrong-Hélouvry, "A search for consensus among model parameters
    reported for the PUMA 560 robot", IEEE ICRA 1994, pp. 1608-1613, with d₃ = 0.15005 m; limits, Wang and Chen, IEEE
    Transactions on Robotics and Automation 7(4), 1991.
    """
    rows = [
        (0.0, RIGHT, 0.0, 0.0),
        (0.4318, 0.0, 0.0, 0.0),
        (0.0203, -RIGHT, 0.15005, 0.0),
        (0.0, RIGHT, 0.4318, 0.0),
        (0.0, -RIGHT, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
    ]
    limits = _degrees((-160, 160), (-45, 225), (-225, 45), (-110, 170), (-100, 100), (-266, 266))
    return Tree.from_dh(rows, "standard", limits, name="puma560", on=on)


def six_axis(on: str = "cpu") -> Tree:
    """An arm of six axes with a shoulder offset and a spherical wrist, of the size of a small welding robot."""
    rows = [
        (0.0, 0.0, 0.45, 0.0),
        (0.15, -RIGHT, 0.0, -RIGHT),
        (0.60, 0.0, 0.0, 0.0),
        (0.12, -RIGHT, 0.62, 0.0),
        (0.0, RIGHT, 0.0, 0.0),
        (0.0, -RIGHT, 0.10, 0.0),
    ]
    limits = _degrees((-170, 170), (-90, 130), (-170, 75), (-185, 185), (-120, 120), (-350, 350))
    return Tree.from_dh(rows, limits=limits, name="six_axis", on=on)


def seven_axis(on: str = "cpu") -> Tree:
    """An arm of seven axes that cross in shoulder, elbow and wrist, of the proportions of KUKA's LBR iiwa 7 R800."""
    twists = (0.0, -RIGHT, RIGHT, RIGHT, -RIGHT, -RIGHT, RIGHT)
    offsets = (0.34, 0.0, 0.40, 0.0, 0.40, 0.0, 0.126)
    rows = [(0.0, twist, offset, 0.0) for twist, offset in zip(twists, offsets, strict=True)]
    limits = _degrees(*[(-limit, limit) for limit in (170, 120, 170, 120, 170, 120, 175)])
    return Tree.from_dh(rows, limits=limits, name="seven_axis", on=on)


def snake(segments: int = 20, length: float = 0.1, limit: float = np.pi / 3.0, on: str = "cpu") -> Tree:
    """A snake along x whose segments turn by turns about z and y.

    Args:
        segments: How many.
        length: Length of each [m].
        limit: How far each turns to either side [rad].
        on: Device.
    """
    count, length = checks.count(segments, "The number of segments"), checks.positive(length, "The length of a segment")
    links = [
        Link(
            f"segment{i + 1}",
            f"segment{i}" if i else "",
            place=((length if i else 0.0, 0.0, 0.0), ALONG_X),
            axis=(0.0, 0.0, 1.0) if i % 2 == 0 else (0.0, 1.0, 0.0),
            limits=(-limit, limit),
        )
        for i in range(count)
    ]
    return Tree(links, {"tip": (links[-1].name, ((length, 0.0, 0.0), ALONG_X))}, name="snake", on=on)


def hand(on: str = "cpu") -> Tree:
    """A right hand, palm down, fingers along x: each spreads, bends at the knuckle, and curls its outer joints at once.

    A tool is at the end of each finger, ``"thumb"``, ``"index"``, ``"middle"``, ``"ring"`` and ``"little"``; the tip is
    that of the index finger.
    """
    roots = {"thumb": (0.03, 0.035, 0.0), "index": (0.09, 0.03, 0.0), "middle": (0.095, 0.01, 0.0)}
    roots |= {"ring": (0.09, -0.01, 0.0), "little": (0.08, -0.03, 0.0)}
    bones = {"thumb": (0.045, 0.03, 0.025), "index": (0.045, 0.025, 0.02), "middle": (0.05, 0.03, 0.02)}
    bones |= {"ring": (0.046, 0.028, 0.02), "little": (0.036, 0.02, 0.018)}
    links = [Link("palm", joint="fixed")]
    for name, root in roots.items():
        links += _finger(name, root, bones[name])
    ends = {name: (f"{name}_end", ((bones[name][2], 0.0, 0.0), ALONG_X)) for name in roots}
    return Tree(links, {"tip": ends["index"], **ends}, name="hand", on=on)


def _finger(name: str, root: tuple[float, ...], bones: tuple[float, ...]) -> list[Link]:
    """Links of a finger; bending is about y, downwards where it is above zero."""
    aside = np.radians(50.0) if name == "thumb" else 0.0
    turn = (0.0, 0.0, float(np.sin(aside / 2.0)), float(np.cos(aside / 2.0)))
    spread, bend, curl = np.radians([[-20.0, 20.0], [-20.0, 90.0], [0.0, 100.0]]).tolist()
    y = (0.0, 1.0, 0.0)
    return [
        Link(f"{name}_spread", "palm", place=(root, turn), limits=spread),
        Link(f"{name}_root", f"{name}_spread", place=HERE, axis=y, limits=bend),
        Link(f"{name}_middle", f"{name}_root", place=((bones[0], 0.0, 0.0), ALONG_X), axis=y, limits=curl),
        Link(
            f"{name}_end",
            f"{name}_middle",
            place=((bones[1], 0.0, 0.0), ALONG_X),
            axis=y,
            mimic=Mimic(f"{name}_middle", 2.0 / 3.0),
        ),
    ]


def _degrees(*pairs: tuple[float, float]) -> list[tuple[float, ...]]:
    return [tuple(np.radians(pair).tolist()) for pair in pairs]
