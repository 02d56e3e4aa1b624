"""A thread that works for a page: of each kind of job it keeps the newest only, so that the page never waits.

Kinds have an order: while a job of an earlier kind is there, those of later kinds wait. A job that takes long is asked
for in parts, each of which asks for the next.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rattleback.core.errors import RattlebackError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Worker:
    """Does jobs one after the other in a thread of its own.

    Args:
        kinds: Kinds of jobs, those first that go first.
        tell: Called, in the thread, with a sentence when a job failed; the thread goes on.
    """

    def __init__(self, kinds: Sequence[str], tell: Callable[[str], None]) -> None:
        self._kinds, self._tell = tuple(kinds), tell
        self._jobs: dict[str, Callable[[], None]] = {}
        self._news = threading.Condition()
        self._busy, self._closing = False, False
        self._thread = threading.Thread(target=self._work, name="rattleback arm", daemon=True)
        self._thread.start()

    def ask(self, kind: str, job: Callable[[], None]) -> None:
        """Have a job done, instead of one of its kind that has not begun yet."""
        with self._news:
            if kind not in self._kinds:
                raise KeyError(kind)
            self._jobs[kind] = job
            self._news.notify_all()

    def drop(self, kind: str) -> None:
        """Forget the job of a kind, if it has not begun yet."""
        with self._news:
            self._jobs.pop(kind, None)

    def wait(self, seconds: float) -> bool:
        """Wait until there is nothing left to do; False if that took longer than so many seconds."""
        with self._news:
            return self._news.wait_for(lambda: not self._jobs and not self._busy, seconds)

    def close(self) -> None:
        """End the thread after the job it is at."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        """What the thread does until it is closed."""
        while (job := self._next()) is not None:
            try:
                job()
            except RattlebackError as error:
                self._tell(str(error))
            # A fault of the program itself must not leave a page that no longer answers.
            except Exception as error:
                self._tell(f"This is a fault of rattleback: {type(error).__name__}: {error}")

    def _next(self) -> Callable[[], None] | None:
        """The next job, once there is one; None at the end."""
        with self._news:
            self._busy = False
            self._news.notify_all()
            self._news.wait_for(lambda: self._jobs or self._closing)
            if self._closing:
                return None
            self._busy = True
            return self._jobs.pop(next(kind for kind in self._kinds if kind in self._jobs))
