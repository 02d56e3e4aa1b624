"""A loop of its own for a page that moves: thirty times a second a frame, and between them what the page asks for."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import RattlebackError

if TYPE_CHECKING:
    from collections.abc import Callable

RATE = 30.0
# Between two frames others get so long, however late it is [s].
PAUSE = 0.005
# After a longer break than this the time between is forgiven [s].
BREAK = 0.25


class Loop:
    """Carries out commands in order and asks for frames, in a thread of its own.

    Args:
        frame: Called with the time that has passed [s].
        tell: Called with a sentence when a command or a frame failed; the loop goes on.
    """

    def __init__(self, frame: Callable[[float], Any], tell: Callable[[str], None]) -> None:
        self._frame, self._tell = frame, tell
        self._commands: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._news, self._closing, self._gap, self._told = threading.Condition(), False, 1.0 / RATE, ""
        self._thread = threading.Thread(target=self._live, name="rattleback figure", daemon=True)

    @property
    def rate(self) -> float:
        """Frames a second, of late."""
        return 1.0 / self._gap

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def do(self, command: Callable[[], Any]) -> Future[Any]:
        """Have a command carried out between two frames; the answer comes once a frame has shown it."""
        future: Future[Any] = Future()
        with self._news:
            self._commands.append((command, future))
            self._news.notify_all()
        return future

    def close(self) -> None:
        """End it after what it is at."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _live(self) -> None:
        last = due = time.perf_counter()
        while not self._closing:
            answers = self._obey()
            now = time.perf_counter()
            passed, last = now - last, now
            self._try(partial(self._frame, min(passed, BREAK)))
            self._gap += 0.1 * (passed - self._gap)
            for future, answer in answers:
                future.set_result(answer)
            if now >= due:
                due = max(due + 1.0 / RATE, time.perf_counter() + PAUSE)
            with self._news:
                self._news.wait_for(lambda: self._commands or self._closing, max(0.0, due - time.perf_counter()))

    def _obey(self) -> list[tuple[Future[Any], Any]]:
        """Carry out the commands that wait."""
        answers: list[tuple[Future[Any], Any]] = []
        while self._commands:
            command, future = self._commands.popleft()
            try:
                answers.append((future, command()))
            except Exception as error:  # a fault of the program itself must not leave a page that no longer answers
                future.set_exception(error)
                self._tell(_sentence(error))
        return answers

    def _try(self, act: Callable[[], Any]) -> None:
        try:
            act()
            self._told = ""
        except Exception as error:  # the same; what fails in every frame is told once
            if _sentence(error) != self._told:
                self._told = _sentence(error)
                self._tell(self._told)


def _sentence(error: Exception) -> str:
    if isinstance(error, RattlebackError):
        return str(error)
    return f"This is a fault of rattleback: {type(error).__name__}: {error}"
