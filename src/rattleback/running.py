"""Running for a time: the steps of a long call in pieces, with a progress bar, or until the slowest world is there."""

from __future__ import annotations

from typing import Any


def take_while(simulation: Any, length: float, steps: int, progress: bool) -> int:
    """Take steps of the present length [s] and say how many were, should an observer change it."""
    taken = 0
    for chunk in bites(steps, progress, simulation.scene.name):
        goal = taken + chunk
        while taken < goal:
            taken += simulation._take(goal - taken)
            if simulation.time_step != length or simulation.methods.contact_time != "off":
                return taken
    return taken


def take_until(simulation: Any, end: float) -> None:
    """Take steps that may be cut short, until the slowest world has reached a time [s]."""
    while (left := end - float(simulation._state.clock.time.numpy().min())) > 1e-9 * simulation.time_step:
        simulation._take(1, min(simulation.time_step, left))


def bites(steps: int, progress: bool, title: str) -> Any:
    """Numbers of steps that add up to ``steps``; with a progress bar, in about a hundred pieces."""
    if not progress:
        return [steps] if steps else []
    from rich.console import Console
    from rich.progress import track

    size = max(1, steps // 100)
    pieces = [size] * (steps // size) + ([steps % size] if steps % size else [])
    return track(pieces, description=title, console=Console(stderr=True))
