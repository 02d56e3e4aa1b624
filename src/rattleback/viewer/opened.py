"""What is open on a page until Ctrl-C, or until it is closed."""

from __future__ import annotations

import threading
from typing import Self


class Opened:
    """Something that is open; ``with`` closes it.

    Whoever derives from this says in ``_take_down`` how it is closed, and calls ``__init__`` first.
    """

    def __init__(self) -> None:
        self._closed = threading.Event()

    def wait(self) -> None:
        """Wait until Ctrl-C, or until it is closed."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Take the page down and end what works for it; once is enough."""
        if not self._closed.is_set():
            self._closed.set()
            self._take_down()

    def _take_down(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
