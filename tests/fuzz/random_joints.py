"""Random joints of the whole menu: closed at the start, or apart, with limits that hold there."""

import dataclasses
from typing import Any

import numpy as np

import rattleback as rb
from fuzz.random_parts import Rng, across, chance, direction, log_uniform
from rattleback.maths import rotation

CLOSED = (rb.Ball, rb.PointOnLine, rb.PointOnPlane, rb.FixedOrientation, rb.CommonDirection, rb.Revolute)
CLOSED += (rb.Revolute, rb.Revolute, rb.Ball, rb.Cylindrical, rb.Prismatic, rb.Fixed, rb.Planar)
SPANNING = (rb.Distance, rb.DistanceToLine, rb.DistanceToPlane)
OTHERS = (rb.DoubleRotation, rb.Universal, rb.Universal, rb.Screw, rb.Gear, rb.Rack, rb.VelocityJoint)
KINDS = (*CLOSED, *SPANNING, *OTHERS)


def draw_joint(rng: Rng, a: Any, b: Any, size: float, apart: bool) -> Any:
    """A joint between two bodies; without A, to the world.

    Args:
        rng: Where the numbers come from.
        a: A body of a scene, or None.
        b: Another one.
        size: How large they are [m].
        apart: Whether its anchors are apart and its axes turned against each other, where that can be said.
    """
    kind = KINDS[rng.integers(len(KINDS))]
    here = b.position + 0.5 * size * direction(rng) if a is None else a.position
    names = ("world" if a is None else a.name, b.name)
    axis = direction(rng) if chance(rng, 0.5) else np.eye(3)[rng.integers(3)]
    if kind in SPANNING:
        return kind(*names, at=here, at_b=b.position + 0.2 * size * direction(rng), axis=axis)
    at = 0.5 * (here + b.position) if kind in CLOSED or kind not in (rb.Gear, rb.Rack) else here
    place: dict[str, Any] = {"at": at, "axis": axis}
    if apart:
        place["at_b"] = at + size * log_uniform(rng, 0.01, 1.0) * direction(rng)
    if kind in CLOSED:
        if apart and chance(rng, 0.5):
            turn = rotation.quaternion_from_axis_angle(across(rng, axis), log_uniform(rng, 0.01, 1.0))
            place["axis_b"] = rotation.rotate(turn, axis)
        return kind(*names, **place)
    return _other(rng, kind, names, {**place, "far": b.position, "size": size})


def _other(rng: Rng, kind: Any, names: tuple[str, str], place: dict[str, Any]) -> Any:
    """A joint with needs of its own."""
    far, size = place.pop("far"), place.pop("size")
    axis = place["axis"]
    if kind in (rb.DoubleRotation, rb.Universal):
        return kind(*names, **place, axis_b=across(rng, axis))
    if kind is rb.Screw:
        return rb.Screw(*names, **place, pitch=float(rng.choice([-1, 1])) * size * log_uniform(rng, 0.1, 3.0))
    if kind is rb.Gear:
        axis = across(rng, far - place["at"])
        return rb.Gear(*names, at=place["at"], at_b=far, axis=axis, ratio=log_uniform(rng, 0.3, 3.0))
    if kind is rb.Rack:
        return rb.Rack(*names, at=place["at"], axis=axis, axis_b=across(rng, axis), radius=0.3 * size)
    rates = [None if chance(rng, 0.5) else rng.choice([0.0, rng.normal()]) for _ in range(6)]
    rates[rng.integers(6)] = float(rng.choice([0.0, rng.normal()]))
    linear, angular = [None if r is None else r * size for r in rates[:3]], rates[3:]
    damping = {"linear_damping": 10.0, "angular_damping": 10.0 * size**2} if chance(rng, 0.2) else {}
    return rb.VelocityJoint(*names, at=place["at"], axis=axis, linear=linear, angular=angular, **damping)


def draw_limits(rng: Rng, joint: Any, size: float) -> Any:
    """The joint with limits about where it starts; as it is where it has none."""
    fields = {field.name for field in dataclasses.fields(joint)} & {"limits", "limits_b", "turn_limits"}
    if not fields:
        return joint
    slides = isinstance(joint, (rb.Prismatic, rb.Cylindrical))
    start = float(np.subtract(joint.at_b, joint.at) @ np.array(joint.axis)) if slides else 0.0
    changes: dict[str, Any] = {"restitution": float(rng.choice([0.0, rng.uniform(0, 1)]))}
    for name in sorted(fields):
        along = slides and name == "limits"
        reach = size if along else 1.5
        low, high = (reach * log_uniform(rng, 0.01, 1.0) for _ in range(2))
        pair: list[Any] = [(start if along else 0.0) - low, (start if along else 0.0) + high]
        if chance(rng, 0.2) and not isinstance(joint, rb.Universal):
            pair[rng.integers(2)] = None
        changes[name] = tuple(pair)
    return dataclasses.replace(joint, **changes)
