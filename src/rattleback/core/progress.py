"""The steps of a long call in pieces, with a progress bar."""

from __future__ import annotations

from typing import Any


def bites(steps: int, progress: bool, title: str) -> Any:
    """Numbers of steps that add up to ``steps``; with a progress bar, in about a hundred pieces."""
    if not progress:
        return [steps] if steps else []
    from rich.console import Console
    from rich.progress import track

    size = max(1, steps // 100)
    pieces = [size] * (steps // size) + ([steps % size] if steps % size else [])
    return track(pieces, description=title, console=Console(stderr=True))
