"""Contact events: functions are called when bodies begin to touch, keep touching, or cease to touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from rattleback.collision.contact_view import ContactView

KINDS = ("begin", "persist", "end")


@sealed
@dataclass(frozen=True)
class ContactEvent:
    """Something that happened between two bodies.

    Attributes:
        kind: ``"begin"``, ``"persist"`` or ``"end"``.
        a: Name of body A.
        b: Name of body B.
        world: World they are in.
        time: When [s].
        step: After which step.
        point: Contact points, world frame (points, 3) [m]; at the end of a contact, none.
        normal: Unit normals from B to A (points, 3).
        separation: Signed distances (points,) [m].
    """

    kind: str
    a: str
    b: str
    world: int
    time: float
    step: int
    point: NDArray[Any]
    normal: NDArray[Any]
    separation: NDArray[Any]


@sealed
class ContactEvents:
    """Calls functions when bodies begin to touch, keep touching, or cease to: ``sim.observe(ContactEvents(begin=f))``.

    Each function gets a :class:`ContactEvent`. Bodies touch that have a contact after a step; at the first call,
    all contacts begin. Of one step, ends come first, then what begins or persists, in the order of the bodies.

    Args:
        begin: Called when two bodies begin to touch.
        persist: Called after every step in which they still do.
        end: Called when they cease to.
        bodies: Only contacts of these bodies, by name or as ``add_body`` returned them; None for all.
        every: Look after every so many steps.
    """

    def __init__(
        self,
        begin: Callable[[ContactEvent], Any] | None = None,
        persist: Callable[[ContactEvent], Any] | None = None,
        end: Callable[[ContactEvent], Any] | None = None,
        bodies: Iterable[Any] | None = None,
        every: int = 1,
    ) -> None:
        self.every = checks.count(every, "The every of ContactEvents")
        self._calls = {}
        for kind, function in zip(KINDS, (begin, persist, end), strict=True):
            if function is not None and not callable(function):
                raise InputError(f"The {kind} of ContactEvents is {function!r}; it must be a function of one event.")
            self._calls[kind] = function
        self._bodies = None if bodies is None else {getattr(body, "name", body) for body in bodies}
        self._touching: dict[tuple[int, str, str], None] = {}

    def observe(self, simulation: Any) -> None:
        """Compare the contacts with those of the last call and report what happened."""
        contacts = simulation.contacts
        now = self._pairs(contacts)
        nothing = np.zeros(0, dtype=np.int64)
        for pair in [pair for pair in self._touching if pair not in now]:
            self._tell("end", pair, contacts, nothing, simulation)
        for pair, rows in now.items():
            kind = "persist" if pair in self._touching else "begin"
            self._tell(kind, pair, contacts, np.array(rows), simulation)
        self._touching = dict.fromkeys(now)

    def _pairs(self, contacts: ContactView) -> dict[tuple[int, str, str], list[int]]:
        """Rows of the contacts of every pair of bodies."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for row, (world, (a, b)) in enumerate(zip(contacts.world.tolist(), contacts.bodies, strict=True)):
            if self._bodies is None or a in self._bodies or b in self._bodies:
                found.setdefault((world, a, b), []).append(row)
        return found

    def _tell(self, kind: str, pair: tuple[int, str, str], contacts: ContactView, rows: Any, simulation: Any) -> None:
        function, (world, a, b) = self._calls[kind], pair
        if function is not None:
            where = (contacts.point[rows], contacts.normal[rows], contacts.separation[rows])
            state = simulation.state
            function(ContactEvent(kind, a, b, world, float(state.time), state.steps, *where))
