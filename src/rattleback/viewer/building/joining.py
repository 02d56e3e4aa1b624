"""Joining: joints and forces between bodies as they are now, with what was not said filled in from the bodies."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.forces import MENU as FORCES
from rattleback.joints import MENU as JOINTS
from rattleback.viewer.building.present import start_now
from rattleback.viewer.interaction.grab import mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.model.scene import Scene
    from rattleback.viewer.building.present import Present

# Joints that have a point on each body, and those with an axis on each.
TWO_POINTS = ("distance", "distance_to_line", "distance_to_plane", "gear", "rack")
TWO_AXES = ("universal", "double_rotation", "rack")
ON_JOINTS = ("torsion_spring", "servo", "implicit_spring", "implicit_pd")
UP = (0.0, 0.0, 1.0)
# A spring swings what hangs on it this fast [rad/s].
LIVELY = 10.0


def join(scene: Scene, present: Present, kind: str, ends: tuple[str, str], told: Mapping[str, Any]) -> str:
    """Add a joint between two bodies; returns its name.

    Args:
        scene: The scene, which is changed.
        present: Where the bodies are.
        kind: Its kind, as in the menu of joints.
        ends: Names of the bodies; the world is one.
        told: ``name``, and any of its fields, meant as the bodies are now; where these are not where they start, the
            scene starts now from then on.
    """
    given = {"axis": UP, **told}
    name = given.pop("name", None)
    if not all(map(present.is_at_start, ends)):
        start_now(scene, present)
    if kind in TWO_POINTS:
        given = {"at": _place(present, ends[0]), "at_b": _place(present, ends[1]), **given}
    else:
        given.setdefault("at", between(present, ends))
    if kind in TWO_AXES:
        given.setdefault("axis_b", across(given["axis"]))
    scene.add_joint(JOINTS[kind](*ends, **given), name)
    return list(scene.joints)[-1]


def add_force(scene: Scene, present: Present, kind: str, on: Mapping[str, str], told: Mapping[str, Any]) -> str:
    """Add a force; returns its name.

    Args:
        scene: The scene, which is changed.
        present: Where the bodies are.
        kind: Its kind, as in the menu of forces.
        on: Names of bodies ``a`` and ``b`` and of a ``joint``, as far as they are chosen.
        told: ``name``, and any of its fields; points are meant as the bodies are now.
    """
    given, known = dict(told), {field.name for field in fields(FORCES[kind])}
    name = given.pop("name", None)
    own = _own_fields(scene, present, kind, on, given)
    rest = {key: value for key, value in given.items() if key in known or key not in ("at", "axis")}
    scene.add_force(FORCES[kind](**{**own, **rest}), name)
    return list(scene.forces)[-1]


def between(present: Present, ends: tuple[str, str]) -> tuple[float, ...]:
    """Midway between two bodies; at the body where the other end is the world (3,) [m]."""
    places = [present.pose(name)[0] for name in ends if name != present.scene.world.name]
    return tuple(np.mean(places, axis=0).tolist())


def across(axis: Any) -> tuple[float, ...]:
    """A direction across another one (3,)."""
    way = np.asarray(axis, np.float64)
    found = np.cross(way, np.eye(3)[int(np.abs(way).argmin())])
    return tuple((found / np.linalg.norm(found) + 0.0).tolist())


def _place(present: Present, name: str) -> tuple[float, ...]:
    """Where a body is now (3,) [m]."""
    return tuple(present.pose(name)[0].tolist())


def _own_fields(scene: Scene, present: Present, kind: str, on: Mapping[str, str], given: dict[str, Any]) -> Any:
    """What a force acts on, and how strongly at first; points are taken out of what was given."""
    a, b, joint = (on.get(key, "") for key in ("a", "b", "joint"))
    if kind == "spring":
        return {"a": a, "b": b, **_spring_ends(present, (a, b), given), "stiffness": _stiffness(scene, a, b)}
    if kind in ON_JOINTS:
        if joint not in scene.joints:
            raise InputError(f"A {kind} acts on a joint; choose one under Joint, or add one first.")
        held = scene.joints[joint]
        return {"joint": joint, "gain" if kind == "servo" else "stiffness": _stiffness(scene, held.a, held.b)}
    if kind == "implicit_hand":
        place = _place(present, b)
        return {"joints": _arm(scene, b), "body": b, "target": place, "stiffness": _stiffness(scene, b, b)}
    chosen = tuple(end for end in dict.fromkeys((a, b)) if end in scene and not scene[end].static)
    return {"bodies": chosen or None}


def _arm(scene: Scene, body: str) -> tuple[str, ...]:
    """The joints of all that hangs on a body."""
    there = {known.name for known in mechanism(scene, body)} if body in scene else set()
    return tuple(name for name, joint in scene.joints.items() if there & {joint.a, joint.b})


def _spring_ends(present: Present, ends: tuple[str, str], given: dict[str, Any]) -> dict[str, Any]:
    """Points of a spring where they are at the start: by default the centres of mass, and above B on the world."""
    (a, b), world = ends, present.scene.world.name
    points = []
    for end, other, key in ((a, b, "at"), (b, a, "at_b")):
        above = present.pose(other)[0] + UP if end == world else present.pose(end)[0]
        points.append(present.point_at_start(end, given.pop(key, above)))
    return {"at": points[0], "at_b": points[1]}


def _stiffness(scene: Scene, a: str, b: str) -> float:
    """A stiffness that suits two bodies, of one digit [N/m, N m/rad]."""
    masses = [scene[name].mass for name in (a, b) if name in scene and not scene[name].static]
    return float(f"{LIVELY**2 * min(masses, default=1.0):.1g}")
