"""The recipes of a time step. Each file reads as a table of contents of what happens in one step."""

from rattleback.steps.acceleration import AccelerationStep
from rattleback.steps.implicit import ImplicitStep
from rattleback.steps.impulse import ImpulseStep
from rattleback.steps.reduced import ReducedStep

__all__ = ["AccelerationStep", "ImplicitStep", "ImpulseStep", "ReducedStep"]
