"""The progress bar of a sweep."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(name: str, total: int, wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, if that is a terminal; gives what to call with how many more are done, and failed."""
    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield lambda _done, _failed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    title, told = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[failed]}")
    columns = (title, BarColumn(), MofNCompleteColumn(), told, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total, failed="")
        failures = 0

        def advance(done: int, failed: int) -> None:
            nonlocal failures
            failures += failed
            progress.update(task, advance=done, failed=f"{failures} failed" if failures else "")

        yield advance
