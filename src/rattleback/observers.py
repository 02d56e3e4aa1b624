"""Observers of a simulation between steps: their order, when they are called, and which owner reports their faults."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rattleback.core.protocols import Observer

# Steps that are taken at once where nothing observes.
UNSEEN = 2**31 - 1


class Owner(Protocol):
    """Whoever attaches observers and answers for their faults, such as a script."""

    def fail(self, error: BaseException) -> None:
        """Called with what an observer of its own raised; the simulation then goes on."""


@dataclass(frozen=True)
class Attached:
    """An observer and its owner.

    Attributes:
        observer: The observer.
        owner: What reports its faults; None for the caller of ``step`` or ``run``.
    """

    observer: Any
    owner: Owner | None


_owner: ContextVar[Owner | None] = ContextVar("owner", default=None)


@contextmanager
def belonging_to(owner: Owner | None) -> Iterator[None]:
    """While this is open, observers that are attached belong to an owner, in this thread."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)


class Observers:
    """The observers of a simulation, called in the order in which they were attached.

    One that leaves while the others are called is not called any more; one that comes is called from the next step on.
    What an observer attaches has the same owner as itself.
    """

    def __init__(self) -> None:
        self._attached: tuple[Attached, ...] = ()
        self._looking = False

    def __len__(self) -> int:
        return len(self._attached)

    def __contains__(self, observer: object) -> bool:
        return any(entry.observer is observer for entry in self._attached)

    def attach(self, observer: Observer) -> None:
        """Have an observer called from now on."""
        checks.count(observer.every, f"The every of {observer!r}")
        self._attached = (*self._attached, Attached(observer, _owner.get()))

    def detach(self, leaves: Callable[[Attached], bool]) -> None:
        """Detach the observers that a function selects."""
        self._attached = tuple(entry for entry in self._attached if not leaves(entry))

    def check_idle(self) -> None:
        """Refuse to step where an observer is being called.

        Raises:
            InputError: It is.
        """
        if self._looking:
            raise InputError(
                "What is called between two steps cannot step the simulation itself; it goes on when the call is over."
            )

    def steps_left(self, simulation: Any) -> int:
        """How many steps can be taken before the next observer is due, at least 1."""
        if not self._attached:
            return UNSEEN
        done = simulation.state.steps
        return min(_wait(entry.observer, simulation, done) for entry in self._attached)

    def look(self, simulation: Any) -> None:
        """Call the observers that are due after this step."""
        if not self._attached:
            return
        done = simulation.state.steps
        for entry in self._attached:
            if done % entry.observer.every == 0 and any(entry is there for there in self._attached):
                self._call(entry, simulation)

    def _call(self, entry: Attached, simulation: Any) -> None:
        self._looking = True
        try:
            with belonging_to(entry.owner):
                entry.observer.observe(simulation)
        except (Exception, SystemExit) as error:
            if entry.owner is None:
                raise
            entry.owner.fail(error)
        finally:
            self._looking = False


def _wait(observer: Any, simulation: Any, done: int) -> int:
    """Steps until an observer wants to look: by its own count where it has one, else by its ``every``."""
    if hasattr(observer, "steps_left"):
        return max(1, int(observer.steps_left(simulation)))
    return int(observer.every) - done % int(observer.every)
