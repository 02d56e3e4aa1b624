"""What a simulation calls between steps, as observers: each holds a function and knows when it is due."""

from __future__ import annotations

import inspect
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.problem.break_events import BreakEvents

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.collision.contact_view import ContactView
    from rattleback.simulation import Simulation

    Pair = tuple[int, str, str]

KINDS = ("begin", "persist", "end")


class Hook:
    """A function that is called between steps.

    Attributes:
        function: The function.
        every: After how many steps the simulation is to look whether it should be.
        wish: What it is called for, for messages.
    """

    wish = "a hook"

    def __init__(self, function: Callable[[Any], Any], every: int = 1) -> None:
        if not _takes_one(function):
            raise InputError(f"{_name(function)} cannot be called {self.wish}: it must be a function of one argument.")
        self.function, self.every = function, every

    def call(self, simulation: Simulation, given: Any) -> None:
        """Call the function; what it raises gets a note with the function and the time."""
        try:
            self.function(given)
            simulation.state.send()  # what it wrote is checked here, where the owner is known
        except Exception as error:
            state = simulation.state
            where = f"after step {state.steps}, t = {state.time:.6g} s"
            error.add_note(f"Raised by {_name(self.function)}, called {self.wish}, {where}.")
            raise

    def tell(self, simulation: Simulation, events: list[Any]) -> None:
        """Call the function with one event after the other, unless one of the calls ends them."""
        for event in events:
            if self in simulation.observers:
                self.call(simulation, event)


class AfterStep(Hook):
    """A function called after every step, or every so many."""

    wish = "after a step"

    def observe(self, simulation: Simulation) -> None:
        """Call it."""
        self.call(simulation, simulation)


class AtTime(Hook):
    """A function called when times are reached.

    Args:
        function: The function.
        times: When [s].
        period: Also at multiples of this [s]; None for no more times.
    """

    wish = "at a time"

    def __init__(self, function: Callable[[Any], Any], times: list[float], period: float | None) -> None:
        super().__init__(function)
        self._times, self._period, self._next = sorted(times), period, math.inf

    def steps_left(self, simulation: Simulation) -> int:
        """How many steps must be taken, at least, before the next of its times is reached."""
        begun = time_called(simulation)
        self._next = min((time for time in self._times if time > begun), default=math.inf)
        if self._period is not None:
            self._next = min(self._next, self._period * (math.floor(max(begun, 0.0) / self._period) + 1))
        steps = (self._next - _reached(simulation)) / simulation.time_step
        # Up to the rounding of the clock, of which the steps that are left may still have some.
        return max(1, math.ceil(min(steps * (1.0 - 1e-9) - 1e-6, 2.0**31 - 1.0)))

    def observe(self, simulation: Simulation) -> None:
        """Call it, if its time is reached."""
        if self._next <= _reached(simulation):
            self.call(simulation, simulation)


class OnContact(Hook):
    """A function called when bodies touch.

    Args:
        function: The function.
        names: What the two are called; None for anything.
        when: What is told of.
    """

    wish = "on contact"

    def __init__(self, function: Callable[[Any], Any], names: tuple[str | None, ...], when: str) -> None:
        super().__init__(function)
        self._names, self._when = names, when
        self._touching: dict[Pair, NDArray[Any]] = {}
        self._model: Any = None
        self._sides: list[NDArray[np.bool_]] = []

    def observe(self, simulation: Simulation) -> None:
        """Compare the contacts with those of the last time and tell what happened."""
        contacts = simulation.contacts if simulation.methods.finds else None
        now = {} if contacts is None or len(contacts) == 0 else self._pairs(contacts, simulation.model)
        before, self._touching = self._touching, now
        wanted = {
            "begin": [pair for pair in now if pair not in before],
            "persist": [pair for pair in now if pair in before],
            "end": [pair for pair in before if pair not in now],
        }
        self.tell(simulation, [self._event(simulation, contacts, pair, now.get(pair)) for pair in wanted[self._when]])

    def _pairs(self, contacts: ContactView, model: Any) -> dict[Pair, NDArray[Any]]:
        """Rows of the contacts of every two bodies that are wanted, the one that the first name stands for first."""
        if self._model is not model:
            self._model, self._sides = model, [members(model, name) for name in self._names]
        one, two = self._sides
        a, b, many = contacts.body_a.astype(np.int64), contacts.body_b.astype(np.int64), len(model.names)
        straight = one[a] & two[b]
        rows = np.flatnonzero(straight | (one[b] & two[a]))
        straight, a, b = straight[rows], a[rows], b[rows]
        first, second = np.where(straight, a, b), np.where(straight, b, a)
        key = (contacts.world[rows].astype(np.int64) * many + first) * many + second
        order = np.argsort(key, kind="stable")
        keys, starts = np.unique(key[order], return_index=True)
        parts = np.split(rows[order], starts[1:]) if len(keys) else []
        places = zip(keys // many**2, keys // many % many, keys % many, strict=True)
        return {(int(w), model.names[i], model.names[j]): part for (w, i, j), part in zip(places, parts, strict=True)}

    def _event(self, simulation: Simulation, contacts: Any, pair: Pair, rows: NDArray[Any] | None) -> Any:
        from rattleback.collision.events import ContactEvent

        (world, a, b), state = pair, simulation.state
        if rows is None:
            nothing = np.zeros((0, 3))
            where = (nothing, nothing, nothing[:, 0])
        else:
            sign = 1.0 if simulation.model.names[contacts.body_a[rows[0]]] == a else -1.0
            where = (contacts.point[rows], sign * contacts.normal[rows], contacts.separation[rows])
        return ContactEvent(self._when, a, b, world, float(state.clock.time.numpy()[world]), state.steps, *where)


class OnBreak(Hook):
    """A function called when joints break.

    Args:
        function: The function.
        joints: Their names; None for all.
    """

    wish = "on a break"

    def __init__(self, function: Callable[[Any], Any], joints: list[str] | None) -> None:
        super().__init__(function)
        self._events = BreakEvents(joints=joints)

    def observe(self, simulation: Simulation) -> None:
        """Tell of every joint that has broken since the last time."""
        self._events.observe(simulation)
        self.tell(simulation, self._events.take())


def time_called(simulation: Simulation) -> float:
    """Time up to which everything has been called [s]; before the first step, not even what is due at time zero."""
    return _reached(simulation) if simulation.state.steps else -math.inf


def _reached(simulation: Simulation) -> float:
    """Time that the slowest world has reached [s], with what rounding may have taken off it, step by step."""
    state = simulation.state
    time = float(state.clock.time.numpy().min())
    return time + sys.float_info.epsilon * time * (state.steps * simulation.methods.substeps + 2)


def members(model: Any, name: str | None) -> NDArray[np.bool_]:
    """Which bodies of a world a name stands for (bodies,); all for None."""
    if name is None:
        return np.ones(len(model.names), dtype=np.bool_)
    group = {body.name for body in model.scene.groups.get(name, ())}
    return np.array([body == name or body in group for body in model.names], dtype=np.bool_)


def _takes_one(function: Any) -> bool:
    """Whether something can be called with one argument, as far as it says."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _name(function: Any) -> str:
    return repr(getattr(function, "__name__", function))
