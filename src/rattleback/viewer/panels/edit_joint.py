"""The dialog of a joint: its limits, rates and strength, where it sits, and what it carries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.joints import VelocityJoint
from rattleback.joints.joint import Placement
from rattleback.viewer.amounts import amount
from rattleback.viewer.panels.declared import entries_of
from rattleback.viewer.panels.entry import AMONG, Entry, Tick
from rattleback.viewer.panels.subject import REMOVE, edited, seen_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Picture
    from rattleback.viewer.session import Session

    Sections = Mapping[str, Sequence[Entry]]

STRENGTH = ("breaking_force", "breaking_torque")
PLACE = tuple(field.name for field in fields(Placement) if field.name not in STRENGTH)
RATES = ("linear", "angular")
# What a joint view tells, and its units.
COORDINATES = {"angle": "rad", "position": "m"}
LOADS = {"reaction_force": ("Force", "N"), "reaction_torque": ("Torque", "N m")}


@dataclass(frozen=True)
class JointSubject:
    """A joint by its name."""

    name: str
    kind: str = "joint"

    def sections(self, scene: Scene) -> Sections:
        """What it allows, what it takes to break it, and where it sits."""
        joint = scene.joints[self.name]
        entries = entries_of(joint, scene, lambda frame: frame.picture.scene.joints[self.name])
        own = [entry for entry in entries if entry.name not in (*PLACE, *STRENGTH)]
        broken = Entry(
            "broken",
            "Broken",
            "A broken joint exerts nothing. Untick it to mend it.",
            Tick(),
            lambda frame: seen_in(frame.picture, self).get("broken", False),
        )
        return {
            type(joint).__name__: own,
            "Strength": [*(entry for entry in entries if entry.name in STRENGTH), broken],
            "Place": [entry for entry in entries if entry.name in PLACE],
        }

    def apply(self, session: Session, values: dict[str, Any]) -> Future[Any]:
        """Set what can be set while it runs; for another joint build the scene anew."""
        joint = session.frame.picture.scene.joints[self.name]
        running = {name: value for name, value in values.items() if name == "broken" or _keeps(joint, name, value)}
        declared = {name: value for name, value in values.items() if name not in running}

        def write(sim: Simulation) -> None:
            for name, value in running.items():
                setattr(sim[self.name], name, value)

        if not declared:
            return session.change(write)
        return session.rebuild(edited(lambda scene: scene.change_joint(self.name, **declared)), write)

    def actions(self, scene: Scene) -> dict[str, Callable[[Session], Future[Any]]]:
        """It can be removed."""
        return {REMOVE: lambda session: session.rebuild(edited(lambda scene: scene.remove_joint(self.name)))}

    def look(self, sim: Simulation) -> dict[str, Any]:
        """Its coordinates, what it carries and whether it is broken, in the first world."""
        view, batched = sim[self.name], sim.worlds is not None
        found: dict[str, Any] = {"broken": bool(np.ravel(view.broken)[0])}
        for name in (*COORDINATES, "velocity"):
            with suppress(InputError):
                found[name] = float(np.ravel(getattr(view, name))[0])
        for name in LOADS:
            value = getattr(view, name)
            found[name] = np.array(value[0] if batched else value)
        return found

    def readings(self, picture: Picture, seen: dict[str, Any]) -> list[tuple[str, str]]:
        """How far it is turned or slid, how fast, and what it carries."""
        joint = picture.scene.joints[self.name]
        found = [("Joins", f"{joint.a} and {joint.b}")]
        there = [name for name in COORDINATES if name in seen]
        found += [(name.capitalize(), f"{amount(seen[name], AMONG)} {COORDINATES[name]}") for name in there]
        if "velocity" in seen and there:
            found.append(("Rate", f"{amount(seen['velocity'], AMONG)} {COORDINATES[there[0]]}/s"))
        for name, (title, unit) in LOADS.items():
            if name in seen:
                found.append((title, f"{amount(float(np.linalg.norm(seen[name])), AMONG)} {unit}"))
        return [*found, ("State", "broken")] if seen.get("broken") else found


def _keeps(joint: Any, name: str, value: Any) -> bool:
    """Whether these are rates of a velocity joint that is free where it was, which it takes while it runs."""
    if not isinstance(joint, VelocityJoint) or name not in RATES or not isinstance(value, tuple):
        return False
    return [rate is None for rate in value] == [rate is None for rate in getattr(joint, name)]
