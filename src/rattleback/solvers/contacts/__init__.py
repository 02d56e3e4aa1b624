"""Contact methods by name.

| name | method |
|---|---|
| ``impulse`` (default) | block Gauss–Seidel over patches of contacts, warm-started, with restitution and friction |
| ``shock`` | the same with few sweeps, then from the ground up with all below standing still |
| ``time_stepping`` | the same, solved once a step and not at either end of it: cheaper where much moves |
| ``detect`` | contacts are found and nothing is done about them |
| ``none`` | contacts are not even found |
"""

from typing import Any

from rattleback.solvers.contacts.schemes.impulse import Impulse
from rattleback.solvers.contacts.schemes.nothing import DetectOnly, NoContacts
from rattleback.solvers.contacts.schemes.time_stepping import TimeStepping
from rattleback.solvers.contacts.stages.shock_propagation import ShockPropagation

MENU: dict[str, type[Any]] = {
    "impulse": Impulse,
    "shock": ShockPropagation,
    "time_stepping": TimeStepping,
    "detect": DetectOnly,
    "none": NoContacts,
}
DEFAULT = "impulse"
NEEDS = ("bind",)

__all__ = ["DetectOnly", "Impulse", "NoContacts", "ShockPropagation", "TimeStepping"]
