"""The errors a user can meet. Each message is a sentence: what is wrong, with which object, what would work."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class RattlebackError(Exception):
    """Anything rattleback refuses or gives up on; catch this to catch them all."""


class InputError(RattlebackError, ValueError):
    """A value, name or object that cannot be used as given."""


class FieldError(InputError, AttributeError):
    """A field that an object does not have, or one that cannot be written; the message says what can."""


class UnknownName(RattlebackError, KeyError):
    """A name that is not on the menu or not in the scene; the message lists what is."""

    def __str__(self) -> str:
        return str(self.args[0])


class FileError(RattlebackError):
    """A scene, state or recording file that cannot be read or written."""


class DeviceError(RattlebackError):
    """A device that is not there, or a step that cannot run on it."""


class DivergenceError(RattlebackError):
    """A state that is no longer finite. The simulation stays at the last good state.

    Velocities that joints or contacts made infinite at its end are those from before.

    Attributes:
        body: Name of the first body that is not finite.
        world: Index of its world.
        time: Time of the last good state [s].
        step: Number of the step that failed.
    """

    def __init__(self, message: str, *, body: str, world: int, time: float, step: int) -> None:
        super().__init__(message)
        self.body, self.world, self.time, self.step = body, world, time, step


class NotConverged(RattlebackError):
    """A step that did not meet its tolerance with ``strict=True``, or joints that ``assemble`` cannot close."""


class NotConvergedWarning(UserWarning):
    """A step that did not meet its tolerance, said once where ``strict`` is off; ``sim.report`` has the details."""


def listing(names: Sequence[str], limit: int = 12) -> str:
    """Names for an error message, cut after ``limit``."""
    shown = ", ".join(repr(name) for name in list(names)[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{shown}{more}" if names else "none"


def did_you_mean(name: object, names: Sequence[str]) -> str:
    """A hint naming the closest entry, or an empty string."""
    import difflib

    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
