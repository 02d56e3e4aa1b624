"""Controls that always show what holds: the user asks for something else, and they show what came of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.session import Session


class Held:
    """A drop-down or tick box whose value is that of the simulation.

    What the user sets it to is asked for; until there is an answer it stays as the user left it, and then it shows what
    holds. So a choice that is refused goes back by itself.

    Args:
        session: What is steered.
        handle: The control.
        read: What holds, from a frame.
        ask: Asks for a value.
    """

    def __init__(
        self, session: Session, handle: Any, read: Callable[[Frame], Any], ask: Callable[[Any], Future[Any]]
    ) -> None:
        self.handle = handle
        self._session, self._read, self._ask = session, read, ask
        self._options: tuple[str, ...] = getattr(handle, "options", ())
        self._asked: Future[Any] | None = None
        self._wish: Any = None
        self._since, self._shown = -math.inf, None
        handle.on_update(self._changed)

    def show(self, frame: Frame) -> None:
        """Show what holds where that has changed, unless the user waits for an answer."""
        if frame.number < self._since or (value := self._read(frame)) == self._shown:
            return
        # A control is written to only when it must be: what the user has just set it to is not to be overwritten.
        self._shown = value
        if self._options:
            self._offer(value)
        self.handle.value = value

    def _offer(self, value: str) -> None:
        """Offer what there is to choose, and beside it what holds where that is something else."""
        options = self._options if value in self._options else (*self._options, value)
        if options != self.handle.options:
            self.handle.options = options

    def _changed(self, event: Any) -> None:
        if event.client is None:  # set by the program itself
            return
        self._since, self._wish = math.inf, self.handle.value
        self._asked = asked = self._ask(self._wish)
        asked.add_done_callback(self._answered)

    def _answered(self, asked: Future[Any]) -> None:
        # Where it is set to something else by now, as a slider that is being drawn, that is asked for next.
        if asked is self._asked and self.handle.value == self._wish:
            frame = self._session.frame
            self._since, self._shown = frame.number, None
            self.show(frame)
