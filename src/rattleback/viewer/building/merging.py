"""Merging: one body of two, with the shapes of both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.maths.rotation import conjugate, multiply, rotate
from rattleback.shapes import Compound, Placed
from rattleback.viewer.building.making import remove_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene
    from rattleback.viewer.building.present import Present

    Floats = NDArray[np.float64]
    Pose = tuple[Floats, Floats]


def merge(scene: Scene, present: Present, a: str, b: str) -> str:
    """Make one body of two as they are now, under the name of the first; what hung on the second goes with it."""
    first, second = scene[a], scene[b]
    if a == b or first.shape is None or second.shape is None:
        raise InputError(f"The bodies {a!r} and {b!r} cannot be merged: it takes two bodies with a shape each.")
    frame = _frame(first, *present.pose(a))
    parts = [*_parts(first, frame, frame), *_parts(second, _frame(second, *present.pose(b)), frame)]
    mass = first.mass + second.mass
    remove_all(scene, b)
    shape = Compound(tuple(parts))
    scene.change_body(a, shape=shape, **({} if first.static else {"density": mass / shape.volume()}))
    return a


def _frame(body: Body, place: Floats, turn: Floats) -> Pose:
    """Origin of the frame of a body (3,) [m] and its turn (4,)."""
    return place - rotate(turn, body.center_of_mass), turn


def _parts(body: Body, frame: Pose, other: Pose) -> list[Placed]:
    """The shapes of a body with this frame, in another one."""
    back = conjugate(other[1])
    shape: Any = body.shape
    own = shape.parts if isinstance(shape, Compound) else (Placed(shape),)
    return [
        replace(
            part,
            position=rotate(back, frame[0] + rotate(frame[1], np.array(part.position)) - other[0]).tolist(),
            orientation=multiply(multiply(back, frame[1]), np.array(part.orientation)).tolist(),
        )
        for part in own
    ]
