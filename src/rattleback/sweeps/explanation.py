"""What a sweep would cost, said before it is run.

    total  ≈  first + (n − 1) each / workers

The first variant may compile kernels or import packages, which is paid once a process; another one is timed for the
rest. Of a scene a small batch is timed, so that its estimate is an upper bound: worlds side by side cost less each.
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
        first_seconds: Time of the first one, with what is paid once [s].
        seconds: Time of one more [s].
        workers: Number of processes that help, no more than there are cores.
        size: What one takes on the disk [B].
        error: What went wrong in one of the two that were timed; empty if nothing.
    """

    name: str
    variants: int
    missing: int
    first_seconds: float
    seconds: float
    workers: int
    size: float
    error: str

    @property
    def total_seconds(self) -> float:
        """Time of the whole sweep [s]."""
        return (self.first_seconds + (self.missing - 1) * self.seconds / self.workers) if self.missing else 0.0

    @property
    def total_size(self) -> float:
        """What the whole sweep takes on the disk [B]."""
        return self.variants * self.size

    def __str__(self) -> str:
        helped = f"{self.workers} processes" if self.workers > 1 else "one process"
        told = (
            f"{self.name}: {self.variants} variants, {self.missing} to be run.\n"
            f"One takes {_time(self.seconds)}, the first {_time(self.first_seconds)}; all that are missing about "
            f"{_time(self.total_seconds)} in {helped}, and {_bytes(self.total_size)} on the disk."
        )
        return f"{told}\nOne that was timed failed: {self.error}" if self.error else told


def explain(target: Any, timed: Sequence[Variant], counts: tuple[int, int], workers: int) -> Explanation:
    """Time a few variants.

    Args:
        target: What is run.
        timed: The variants to time, the first of which pays for the others.
        counts: Number of variants, and of those that are missing.
        workers: Number of processes that are wished for.
    """
    seconds, outcomes = [], []
    for variant in timed:
        begun = time.perf_counter()
        outcomes += target.run([variant])
        seconds.append(time.perf_counter() - begun)
    content = chunk_file.pack("", 0, outcomes)
    errors = [entry.error for entry in outcomes if entry.error]
    useful = max(1, min(workers, os.cpu_count() or 1, counts[1]))
    each = min(seconds)
    return Explanation(
        target.name, *counts, seconds[0], each, useful, len(content) / len(outcomes), next(iter(errors), "")
    )


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
