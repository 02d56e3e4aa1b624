"""The log of a page: a line for each thing that went wrong there, and no more than a few lines in a while."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

# So many lines are logged within so long [s]; the rest is counted.
MOST_LINES, PERIOD = 5, 10.0
_log = logging.getLogger("rattleback.viewer")


@dataclass
class Spell:
    """Some time in which lines are counted: when it began [s], and how many lines were written and left out."""

    begun: float = -PERIOD
    written: int = 0
    left_out: int = 0


class PageLog:
    """Logs what went wrong: as warnings, or as news where it happens in ordinary use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spells = {logging.WARNING: Spell(), logging.INFO: Spell()}

    def warn(self, text: str) -> None:
        """Log a line that the user sees, unless there were many of late."""
        self._write(logging.WARNING, text)

    def mention(self, text: str) -> None:
        """Log a line about what happens in ordinary use, which is seen only where logging is turned up."""
        self._write(logging.INFO, text)

    def _write(self, level: int, text: str) -> None:
        with self._lock:
            spell, now = self._spells[level], time.monotonic()
            if now - spell.begun >= PERIOD:
                if spell.left_out:
                    _log.log(level, "The page left out %d lines like the last ones.", spell.left_out)
                self._spells[level] = spell = Spell(now)
            if spell.written < MOST_LINES:
                spell.written += 1
                _log.log(level, "%s", text)
            else:
                spell.left_out += 1
