"""Dynamics of articulated bodies in their own coordinates: the textbook, for one configuration or a million."""

from rattleback.dynamics.articulation import Articulation

__all__ = ["Articulation"]
