"""Tasks that end the process they run in: tried again, taken apart, and told of when nothing is left to try.

A task that lost its worker may be innocent: the machine may have been short of memory, or an operator ended the
process. So it is run again; when that fails, too, it is cut in two, until the variant that does it is alone. That one
becomes a row of the table, with a sentence.
"""

from __future__ import annotations

from collections import Counter

from rattleback.sweeps.outcome import Outcome, Task

TRIES, TRIES_OF_A_GROUP = 3, 2


class Losses:
    """Counts how often each task lost its worker."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int]] = Counter()

    def after(self, task: Task, how: str) -> tuple[list[Task], list[Outcome]]:
        """What is to be run again, and what is given up.

        Args:
            task: What the process was running.
            how: How it ended, as a part of a sentence.
        """
        size = len(task.variants)
        place = task.variants[0].index, size
        self._counts[place] += 1
        if size > 1:
            return ([task] if self._counts[place] < TRIES_OF_A_GROUP else task.halves()), []
        if self._counts[place] < TRIES:
            return [task], []
        return [], [lost(task, how)]


def lost(task: Task, how: str) -> Outcome:
    """The outcome of a variant that no worker survived."""
    message = (
        f"The worker process {how} at every attempt at this variant; it may have run out of memory, or called code "
        "that crashes."
    )
    return Outcome(task.variants[0].index, {}, message)
