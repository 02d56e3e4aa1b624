"""A ragdoll that falls down stairs: joints with limits and contacts together.

It stands along z, looks along x and has its left side along y; angles of joints are zero where it stands straight.
About y, a leg or an arm that swings forward turns by a negative angle, and a trunk that bows by a positive one.

| joints | kind | limits |
|---|---|---|
| waist, neck, hips | universal | bowing, then leaning to the side |
| shoulders | ball | none |
| elbows, knees, ankles | revolute | bending one way |

Parts that a joint holds together do not collide with each other; all others do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.joints import Ball, Revolute, Universal
from rattleback.maths.rotation import conjugate, quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Capsule, Plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

SURFACE = Material(friction=0.4)
# A step: how far it goes on, how high it is and how wide [m]; length of the landing above the stairs [m].
TREAD, RISE, WIDTH, LANDING = 0.3, 0.18, 2.4, 1.5
FORWARD, LEFT = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


class Part(NamedTuple):
    """A part of the ragdoll: its shape, its mass [kg] and where its middle is when it stands straight [m]."""

    shape: Any
    mass: float
    place: tuple[float, float, float]


class Link(NamedTuple):
    """A joint of the ragdoll: the two parts, where it is [m], and how far it may turn about y and about x [rad]."""

    a: str
    b: str
    place: tuple[float, float, float]
    bend: tuple[float, float] | None = None
    lean: tuple[float, float] | None = None


TRUNK = {
    "pelvis": Part(Box(0.18, 0.30, 0.18), 12.0, (0.0, 0.0, 0.95)),
    "chest": Part(Box(0.20, 0.34, 0.40), 22.0, (0.0, 0.0, 1.27)),
    "head": Part(Capsule(0.09, 0.24), 5.0, (0.0, 0.0, 1.64)),
}
# Those of the left side; the right side is their mirror image.
LIMBS = {
    "upper_arm": Part(Capsule(0.045, 0.32), 2.0, (0.0, 0.235, 1.27)),
    "forearm": Part(Capsule(0.04, 0.30), 1.5, (0.0, 0.235, 0.95)),
    "thigh": Part(Capsule(0.07, 0.42), 8.0, (0.0, 0.085, 0.64)),
    "shin": Part(Capsule(0.055, 0.34), 3.5, (0.0, 0.085, 0.25)),
    "foot": Part(Box(0.24, 0.09, 0.06), 1.0, (0.06, 0.085, 0.03)),
}
SPINE = {
    "waist": Link("pelvis", "chest", (0.0, 0.0, 1.055), (-0.4, 1.2), (-0.5, 0.5)),
    "neck": Link("chest", "head", (0.0, 0.0, 1.495), (-0.7, 0.7), (-0.5, 0.5)),
}
LIMB_LINKS = {
    "shoulder": Link("chest", "upper_arm", (0.0, 0.235, 1.385)),
    "elbow": Link("upper_arm", "forearm", (0.0, 0.235, 1.105), (-2.4, 0.05)),
    "hip": Link("pelvis", "thigh", (0.0, 0.085, 0.855), (-2.0, 0.4), (-0.3, 0.9)),
    "knee": Link("thigh", "shin", (0.0, 0.085, 0.425), (-0.05, 2.4)),
    "ankle": Link("shin", "foot", (0.0, 0.085, 0.07), (-0.6, 0.8)),
}


def ragdoll_on_stairs(steps: int = 12, tilt: float = 0.6, height: float = 0.3, speed: float = 1.0) -> Scene:
    """A ragdoll of 13 parts and 71 kg that falls forward down a flight of stairs.

    Args:
        steps: Number of steps down from the landing to the ground.
        tilt: Angle by which it leans forward at the start [rad].
        height: How far its lowest point is above the landing at the start [m].
        speed: Its speed at the start, forward [m/s].
    """
    steps = checks.count(steps, "The steps of ragdoll_on_stairs")
    turn = quaternion_from_axis_angle(LEFT, checks.number(tilt, "The tilt of ragdoll_on_stairs"))
    height = checks.not_negative(height, "The height of ragdoll_on_stairs")
    velocity = checks.number(speed, "The speed of ragdoll_on_stairs") * FORWARD
    scene = Scene(name="ragdoll_on_stairs")
    _add_stairs(scene, steps)
    _add_ragdoll(scene, _start(steps, turn, height), turn, velocity)
    return scene


def twenty_ragdolls(count: int = 20) -> Scene:
    """Ragdolls that fall down a flight of twelve stairs, four at a time, and pile up at its foot.

    Args:
        count: Number of ragdolls; they lean as that of ragdoll_on_stairs does, every four of them 1.9 m above the last.
    """
    count = checks.count(count, "The count of twenty_ragdolls")
    turn, scene = quaternion_from_axis_angle(LEFT, 0.6), Scene(name="twenty_ragdolls")
    _add_stairs(scene, 12)
    start = _start(12, turn, 0.3)
    for k in range(count):
        place = start + np.array([0.54 * (k % 4) - 0.6, 0.6 * (k % 3 - 1), 1.9 * (k // 4)])
        _add_ragdoll(scene, place, turn, FORWARD, f"_{k + 1}")
    return scene


def _parts() -> dict[str, Part]:
    """The parts of a ragdoll by name."""
    sides = (("left", 1.0), ("right", -1.0))
    limbs = {f"{side}_{name}": _part_on(part, sign) for side, sign in sides for name, part in LIMBS.items()}
    return {**TRUNK, **limbs}


def _links() -> dict[str, Link]:
    """The joints of a ragdoll by name."""
    sides = (("left", 1.0), ("right", -1.0))
    limbs = {f"{side}_{name}": _link_on(link, side, sign) for side, sign in sides for name, link in LIMB_LINKS.items()}
    return {**SPINE, **limbs}


def _start(steps: int, turn: NDArray[np.float64], height: float) -> NDArray[np.float64]:
    """Where the point between the feet is at the start, with the lowest point of all so far above the landing (3,)."""
    down = rotate(conjugate(turn), (0.0, 0.0, -1.0))
    deepest = max(float((part.shape.support(down) + part.place) @ down) for part in _parts().values())
    return np.array([0.0, 0.0, RISE * steps + height + deepest])


def _add_ragdoll(
    scene: Scene, start: NDArray[np.float64], turn: NDArray[np.float64], velocity: NDArray[np.float64], mark: str = ""
) -> None:
    """Add a ragdoll at a place, turned, moving; the mark ends the names of its parts, joints and group."""
    for name, part in _parts().items():
        place = start + rotate(turn, part.place)
        options: Any = {"group": f"ragdoll{mark}", "material": SURFACE, "velocity": velocity, "orientation": turn}
        scene.add_body(part.shape, mass=part.mass, name=name + mark, position=place, **options)
    for name, link in _links().items():
        named = link._replace(a=link.a + mark, b=link.b + mark)
        scene.add_joint(_joint(named, start + rotate(turn, link.place), turn), name=name + mark)


def _part_on(part: Part, sign: float) -> Part:
    x, y, z = part.place
    return part._replace(place=(x, sign * y, z))


def _link_on(link: Link, side: str, sign: float) -> Link:
    """A joint of the left side on either side; to lean outward is a positive angle on the left."""
    x, y, z = link.place
    a = link.a if link.a in TRUNK else f"{side}_{link.a}"
    lean = link.lean if link.lean is None or sign > 0.0 else (-link.lean[1], -link.lean[0])
    return Link(a, f"{side}_{link.b}", (x, sign * y, z), link.bend, lean)


def _joint(link: Link, at: NDArray[np.float64], turn: NDArray[np.float64]) -> Ball | Revolute | Universal:
    """The joint at a place in the world, with the ragdoll turned."""
    if link.bend is None:
        return Ball(link.a, link.b, at=at)
    if link.lean is None:
        return Revolute(link.a, link.b, at=at, axis=LEFT, limits=link.bend)
    axis_b = rotate(turn, FORWARD)
    return Universal(link.a, link.b, at=at, axis=LEFT, axis_b=axis_b, limits=link.bend, limits_b=link.lean)


def _add_stairs(scene: Scene, steps: int) -> None:
    """A landing and the steps down from it along x, each of them reaching down to the ground."""
    scene.add_static(Plane(), name="ground", material=SURFACE)
    for k in range(steps):
        length, top = (LANDING if k == 0 else TREAD), RISE * (steps - k)
        middle = -0.5 * LANDING if k == 0 else TREAD * (k - 0.5)
        scene.add_static(
            Box(length, WIDTH, top),
            name="landing" if k == 0 else f"step_{k}",
            material=SURFACE,
            position=(middle, 0.0, 0.5 * top),
        )
