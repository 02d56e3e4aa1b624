"""Events: joints break, and scripts are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@sealed
@dataclass(frozen=True)
class BreakEvent:
    """A joint that broke.

    Attributes:
        joint: Its name.
        a: Name of body A.
        b: Name of body B.
        world: World it is in.
        time: When it broke [s], the end of the step in which it carried too much.
        step: After which step this is told.
        force: Force it carried in that step [N]; zero if a script broke it.
        torque: Torque about the anchor of B that it carried [N m].
    """

    joint: str
    a: str
    b: str
    world: int
    time: float
    step: int
    force: float
    torque: float


@sealed
class BreakEvents:
    """Tells what breaks: ``sim.observe(BreakEvents(f))`` calls ``f`` with a :class:`BreakEvent` for every joint.

    Without a function, events wait to be taken. The first time it looks, joints that were broken before are told of,
    too. Of one look, events come in the order of their times, worlds and joints.

    Args:
        broken: Called for every joint that has broken; None to only collect events for ``take``.
        joints: Only these joints, by name or as ``add_joint`` returned them; None for all.
        every: Look after every so many steps. Times and forces are those of the break all the same.
    """

    def __init__(
        self,
        broken: Callable[[BreakEvent], Any] | None = None,
        joints: Iterable[Any] | None = None,
        every: int = 1,
    ) -> None:
        self.every = checks.count(every, "The every of BreakEvents")
        if broken is not None and not callable(broken):
            raise InputError(f"The broken of BreakEvents is {broken!r}; it must be a function of one event.")
        self._call, self._joints = broken, None if joints is None else list(joints)
        self._known: dict[tuple[int, str], float] = {}
        self._waiting: list[BreakEvent] = []

    def take(self) -> list[BreakEvent]:
        """The events since the last call."""
        taken, self._waiting = self._waiting, []
        return taken

    def observe(self, simulation: Any) -> None:
        """Compare the joints with what they were the last time and tell what broke."""
        state, names = simulation.state, list(simulation.scene.joints)
        wanted = self._wanted(simulation.scene)
        broken = {int(row) for row in np.flatnonzero(state.breaks.broken.numpy()) if row % len(names) in wanted}
        if not broken and not self._known:
            return
        times, forces, torques = (getattr(state.breaks, name).numpy() for name in ("time", "force", "torque"))
        now = {(row // len(names), names[row % len(names)]): float(times[row]) for row in sorted(broken)}
        rows = zip(sorted(broken), now.items(), strict=True)
        new = sorted((time, row) for row, (joint, time) in rows if self._known.get(joint) != time)
        self._known = now
        for time, row in new:
            world, place = divmod(row, len(names))
            joint = simulation.scene.joints[names[place]]
            self._tell(
                BreakEvent(
                    *(names[place], joint.a, joint.b, world, time, state.steps),
                    *(float(forces[row]), float(torques[row])),
                )
            )

    def _wanted(self, scene: Any) -> set[int]:
        """Places of the joints that are wanted."""
        names = list(scene.joints)
        if self._joints is None:
            return set(range(len(names)))
        found = [scene.joint_name(joint) for joint in self._joints]
        for given, name in zip(self._joints, found, strict=True):
            if name is None:
                shown = repr(given) if isinstance(given, str) else f"a {type(given).__name__}"
                raise UnknownName(
                    f"BreakEvents is to look at the joint {shown}, which is not in the scene."
                    f"{did_you_mean(given, names)} There are {listing(names)}."
                )
        return {names.index(name) for name in found if name is not None}

    def _tell(self, event: BreakEvent) -> None:
        if self._call is None:
            self._waiting.append(event)
        else:
            self._call(event)
