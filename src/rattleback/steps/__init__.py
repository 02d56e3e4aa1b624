"""The recipes of a time step, each of which reads as a table of contents, and the steps there are to choose from.

| name | step |
|---|---|
| ``impulse`` (default) | what joints, contacts and integrator make of it; order two at most with joints |
| ``extrapolated`` | order 2, 4, 6, 8 or 10: runs of 1, 2, 3, … symmetric steps, combined |
| ``composed`` | order 4, 6, 8 or 10: unequal symmetric steps, one after the other |

The last two hold joints by themselves; ``joints`` and ``integrator`` of the simulation play no part in them.
"""

from typing import Any

from rattleback.steps.acceleration import AccelerationStep
from rattleback.steps.composed import Composed
from rattleback.steps.extrapolated import Extrapolated
from rattleback.steps.implicit import ImplicitStep
from rattleback.steps.impulse import ImpulseStep
from rattleback.steps.impulse_based import ImpulseBased
from rattleback.steps.reduced import ReducedStep

MENU: dict[str, type[Any]] = {"impulse": ImpulseBased, "extrapolated": Extrapolated, "composed": Composed}
DEFAULT = "impulse"
NEEDS = ("scheme",)

__all__ = ["AccelerationStep", "Composed", "Extrapolated", "ImplicitStep", "ImpulseBased", "ImpulseStep", "ReducedStep"]
