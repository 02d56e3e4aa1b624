"""The dialog of a force: springs, motors and everything else that pushes, with all the fields they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.forces import Servo, Spring, TorsionSpring
from rattleback.forces.joint_axis import freedom_for
from rattleback.maths.rotation import conjugate, rotate
from rattleback.model.coordinates import TURN
from rattleback.viewer.amounts import amount
from rattleback.viewer.panels.declared import entries_of
from rattleback.viewer.panels.entry import AMONG
from rattleback.viewer.panels.subject import REMOVE, edited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Picture
    from rattleback.viewer.panels.entry import Entry
    from rattleback.viewer.session import Session

    Sections = Mapping[str, Sequence[Entry]]

# Where it acts, in the order of declaration.
PLACE = ("a", "b", "at", "at_b", "joint", "bodies", "frame", "function")
FORGET = "Forget errors"


@dataclass(frozen=True)
class ForceSubject:
    """A force by its name."""

    name: str
    kind: str = "force"

    def sections(self, scene: Scene) -> Sections:
        """What it does, and where."""
        force = scene.forces[self.name]
        entries = entries_of(force, scene, lambda frame: frame.picture.scene.forces[self.name])
        return {
            type(force).__name__: [entry for entry in entries if entry.name not in PLACE],
            "Place": [entry for entry in entries if entry.name in PLACE],
        }

    def apply(self, session: Session, values: dict[str, Any]) -> Future[Any]:
        """Build the scene anew."""
        return session.rebuild(edited(lambda scene: scene.change_force(self.name, **values)))

    def actions(self, scene: Scene) -> dict[str, Callable[[Session], Future[Any]]]:
        """It can be removed; a motor can forget its errors."""
        forget = {FORGET: lambda session: session.do(lambda sim: sim.servo(self.name).reset())}
        remove = {REMOVE: lambda session: session.rebuild(edited(lambda scene: scene.remove_force(self.name)))}
        return {**(forget if isinstance(scene.forces[self.name], Servo) else {}), **remove}

    def look(self, sim: Simulation) -> dict[str, Any]:
        """What a motor does, or how far a joint is turned that a spring turns back, in the first world."""
        force = sim.scene.forces[self.name]
        if isinstance(force, Servo):
            servo = sim.servo(self.name)
            return {name: float(np.ravel(getattr(servo, name))[0]) for name in ("target", "error", "effort")}
        if isinstance(force, TorsionSpring):
            view = sim[force.joint]
            return {name: float(np.ravel(getattr(view, name))[0]) for name in ("angle", "velocity")}
        return {}

    def readings(self, picture: Picture, seen: dict[str, Any]) -> list[tuple[str, str]]:
        """What it does now, where that can be told."""
        force = picture.scene.forces[self.name]
        if isinstance(force, Spring):
            length, pull = stretched(picture, force)
            return [("Length", f"{amount(length, AMONG)} m"), ("Pull", f"{amount(pull, AMONG)} N")]
        if isinstance(force, TorsionSpring) and seen:
            torque = force.stiffness * (force.angle - seen["angle"]) - force.damping * seen["velocity"]
            return [("Angle", f"{amount(seen['angle'], AMONG)} rad"), ("Torque", f"{amount(torque, AMONG)} N m")]
        if isinstance(force, Servo) and seen:
            aim, effort = units_of(picture.scene, force)
            units = {"target": aim, "error": aim, "effort": effort}
            return [(name.capitalize(), f"{amount(seen[name], AMONG)} {units[name]}") for name in units]
        return []


def units_of(scene: Scene, servo: Servo) -> tuple[str, str]:
    """Units of what a servo aims at and of its effort."""
    turns = freedom_for(servo.control, scene.joints[servo.joint], "A servo", servo.joint) == TURN
    aim = "rad" if turns else "m"
    return f"{aim}/s" if servo.control == "velocity" else aim, "N m" if turns else "N"


def stretched(picture: Picture, spring: Spring) -> tuple[float, float]:
    """Length of a spring [m] and the force it pulls with [N]."""
    (x, v), (y, w) = (_end(picture, body, at) for body, at in ((spring.a, spring.at), (spring.b, spring.at_b)))
    way = y - x
    length = float(np.linalg.norm(way))
    rate = float(way @ (w - v)) / length if length > 0.0 else 0.0
    return length, spring.stiffness * (length - float(spring.length or 0.0)) + spring.damping * rate


def _end(picture: Picture, body: str, at: Any) -> tuple[Any, Any]:
    """Place and velocity now of a point that was at a place at the start."""
    scene = picture.scene
    if body == scene.world.name:
        return np.array(at), np.zeros(3)
    start, row = scene[body], scene.index(body)
    lever = rotate(picture.orientation[row], rotate(conjugate(start.orientation), at - start.position))
    return picture.position[row] + lever, picture.velocity[row] + np.cross(picture.angular_velocity[row], lever)
