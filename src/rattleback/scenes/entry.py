"""An entry of the menu of scenes: how to build one, and how it is meant to be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rattleback.core.sealed import sealed
from rattleback.model import Scene


@sealed
@dataclass(frozen=True)
class Entry:
    """A scene by name.

    Attributes:
        build: Function that returns the scene; every parameter has a default and is a number, a string or a bool.
        duration: How long it is worth watching [s].
        time_step: Time step it is meant for [s].
        integrator: Name of the integrator it is meant for.
    """

    build: Callable[..., Scene]
    duration: float
    time_step: float
    integrator: str
