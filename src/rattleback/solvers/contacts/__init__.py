"""Contact methods by name: schemes, which say what problems a step solves, and solvers, which solve them.

| scheme | method |
|---|---|
| ``impulse`` (default) | contacts are solved at either end of a step, warm-started, with restitution and friction |
| ``shock`` | the same with few sweeps, then a pass from the ground up with infinite mass below |
| ``time_stepping`` | contacts are solved once a step: cheaper where much moves |
| ``detect`` | contacts are found, not resolved |
| ``none`` | contacts are not even found |

Solvers are on the menu of ``solvers.contacts.solvers``; any scheme runs with any of them.
"""

from typing import Any

from rattleback.solvers.contacts.schemes.impulse import Impulse
from rattleback.solvers.contacts.schemes.nothing import DetectOnly, NoContacts
from rattleback.solvers.contacts.schemes.time_stepping import TimeStepping
from rattleback.solvers.contacts.solvers import MENU as SOLVERS
from rattleback.solvers.contacts.solvers import (
    AcceleratedGradient,
    Assembled,
    BarzilaiBorwein,
    BlockGaussSeidel,
    Jacobi,
    ProjectedGaussSeidel,
    SuccessiveOverRelaxation,
)
from rattleback.solvers.contacts.stages.shock_propagation import ShockPropagation

MENU: dict[str, type[Any]] = {
    "impulse": Impulse,
    "shock": ShockPropagation,
    "time_stepping": TimeStepping,
    "detect": DetectOnly,
    "none": NoContacts,
}
DEFAULT = "impulse"
# What is no contact method by itself, but part of one.
COMPOSED: dict[str, type[Any]] = SOLVERS
NEEDS = ("bind",)

__all__ = [
    "SOLVERS",
    "AcceleratedGradient",
    "Assembled",
    "BarzilaiBorwein",
    "BlockGaussSeidel",
    "DetectOnly",
    "Impulse",
    "Jacobi",
    "NoContacts",
    "ProjectedGaussSeidel",
    "ShockPropagation",
    "SuccessiveOverRelaxation",
    "TimeStepping",
]
