"""What Ctrl-C must not break: while this is open an interrupt from the keyboard waits; a second one does not."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType


class Unbroken:
    """A block that is done as a whole: ``with Unbroken(): ...``.

    Only the main thread of Python hears of interrupts; in others there is nothing to wait.
    """

    def __enter__(self) -> None:
        self._before: Any = None
        self._heard: tuple[int, FrameType | None] | None = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._hear)

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._heard is not None:
                self._before(*self._heard)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._heard is not None:
            self._before(number, frame)
        self._heard = number, frame
