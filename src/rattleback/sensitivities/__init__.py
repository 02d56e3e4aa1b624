"""Sensitivities: how quantities after a time change with parameters, states and commands, by differences of worlds."""

from rattleback.sensitivities.of_scenes import jacobian
from rattleback.sensitivities.result import Jacobian

__all__ = ["Jacobian", "jacobian"]
