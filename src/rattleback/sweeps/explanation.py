"""What a sweep would cost, said before it is run.

    total  ≈  first + (n − b) each / workers

The first b variants may compile kernels or import packages, which is paid once a process; b others are timed for the
rest. Of a function b is one; of a scene some are timed side by side, and as more of them cost less each, the estimate
is an upper bound.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.sweeps import chunk_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.sweeps.outcome import Variant


@dataclass(frozen=True)
class Explanation:
    """The cost of a sweep.

    Attributes:
        name: What is swept.
        variants: Number of variants.
        missing: How many of them are to be run.
        batch: How many are run together to time them.
        first_seconds: Time of the first of these, with what is paid once [s].
        seconds: Time of one more [s].
        workers: Number of processes that help, no more than there are cores.
        size: What one takes on the disk [B].
        error: What went wrong in one of those that were timed; empty if nothing.
    """

    name: str
    variants: int
    missing: int
    batch: int
    first_seconds: float
    seconds: float
    workers: int
    size: float
    error: str

    @property
    def total_seconds(self) -> float:
        """Time of the whole sweep [s]."""
        rest = max(0, self.missing - self.batch) * self.seconds / self.workers
        return self.first_seconds + rest if self.missing else 0.0

    @property
    def total_size(self) -> float:
        """What the whole sweep takes on the disk [B]."""
        return self.variants * self.size

    @property
    def _first(self) -> str:
        return f"{self.batch} " if self.batch > 1 else ""

    def __str__(self) -> str:
        helped = f"{self.workers} processes" if self.workers > 1 else "one process"
        told = (
            f"{self.name}: {self.variants} variants, {self.missing} to be run.\n"
            f"One takes {_time(self.seconds)}, the first {self._first}{_time(self.first_seconds)}; all that are "
            f"missing about {_time(self.total_seconds)} in {helped}, and {_bytes(self.total_size)} on the disk."
        )
        return f"{told}\nOne that was timed failed: {self.error}" if self.error else told


def explain(target: Any, timed: Sequence[Sequence[Variant]], counts: tuple[int, int], workers: int) -> Explanation:
    """Time a few variants.

    Args:
        target: What is run.
        timed: Groups of variants to time, the first of which pays for the others.
        counts: Number of variants, and of those that are missing.
        workers: Number of processes that are wished for.
    """
    seconds, outcomes = [], []
    for variants in timed:
        begun = time.perf_counter()
        outcomes += target.run(variants)
        seconds.append(time.perf_counter() - begun)
    content = chunk_file.pack("", 0, outcomes)
    errors = [entry.error for entry in outcomes if entry.error]
    useful = max(1, min(workers, os.cpu_count() or 1, counts[1]))
    size, batch = len(content) / len(outcomes), len(timed[0])
    times = seconds[0], min(seconds) / batch
    return Explanation(target.name, *counts, batch, *times, useful, size, next(iter(errors), ""))


def _time(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds >= 7200.0:
        return f"{seconds / 3600.0:.1f} h"
    if seconds >= 120.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000.0:
            return f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:.3g} GB"
