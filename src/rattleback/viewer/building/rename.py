"""Another name for a body, a joint or a force, wherever it is named."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.model import Scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from rattleback.simulation import Simulation
    from rattleback.viewer.session import Session

MOTION = ("position", "orientation", "velocity", "angular_velocity")
# Fields of joints and forces that name one thing, and several.
ONE, SEVERAL = ("a", "b", "body", "joint"), ("bodies", "joints")


def rename(session: Session, kind: str, name: str, new: str) -> Future[Any]:
    """Have something called otherwise in a session; a body moves on as it did.

    Args:
        session: The session.
        kind: ``"body"``, ``"joint"`` or ``"force"``.
        name: Its name.
        new: The name it gets.
    """
    motions: list[dict[str, Any]] = []

    def edit(scene: Scene) -> Scene:
        sim = next(sim for sim in session.sims if sim.scene is scene)
        view: Any = sim[name] if kind == "body" else None
        motions.append({} if view is None else {field: np.array(getattr(view, field)) for field in MOTION})
        return renamed(scene, kind, name, new)

    def move_on(sim: Simulation) -> None:
        for field, value in motions.pop(0).items():
            setattr(sim[new], field, value)

    return session.rebuild(edit, move_on)


def renamed(scene: Scene, kind: str, name: str, new: str) -> Scene:
    """A scene in which something has another name; order and everything else stay.

    Args:
        scene: The scene, which stays as it is.
        kind: ``"body"``, ``"joint"`` or ``"force"``.
        name: Its name.
        new: The name it gets.
    """
    checks.text(new, f"The new name of {kind} {name!r}")
    taken = scene.forces if kind == "force" else {*(body.name for body in scene.bodies), *scene.joints, *scene.groups}
    if new in taken or (kind != "force" and new == scene.world.name):
        raise InputError(f"The {kind} {name!r} cannot be called {new!r}: something else is. Choose another name.")

    def called(known: str) -> str:
        return new if known == name else known

    made = Scene(scene.gravity, scene.name)
    vars(made).update(rules=scene.rules, robot=scene.robot, import_report=scene.import_report)
    made.pairs.update(scene.pairs)
    made.predicates.extend(scene.predicates)
    of_body, of_joint = (called if kind == which else str for which in ("body", "joint"))
    for body in scene.bodies:
        made._add(replace(body, name=of_body(body.name)))
    for label, joint in scene.joints.items():
        made.joints[of_joint(label)] = _renaming(joint, of_body, of_joint)
    for label, force in scene.forces.items():
        made.forces[called(label) if kind == "force" else label] = _renaming(force, of_body, of_joint)
    made.meetings.update({tuple(sorted(map(of_body, names))): meet for names, meet in scene.meetings.items()})
    return made


def _renaming(thing: Any, of_body: Callable[[str], str], of_joint: Callable[[str], str]) -> Any:
    """A joint or a force with other names in it; itself where none of them changes."""
    changes: dict[str, Any] = {}
    for field in fields(thing):
        value, call = getattr(thing, field.name), of_joint if field.name.startswith("joint") else of_body
        if field.name in ONE and isinstance(value, str):
            other: Any = call(value)
        elif field.name in SEVERAL and isinstance(value, tuple):
            other = tuple(call(entry) for entry in value)
        else:
            continue
        if other != value:
            changes[field.name] = other
    return replace(thing, **changes) if changes else thing
