"""Types for kernels and Warp functions of your own: the numbers of this process and the array groups of a model."""

from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion

__all__ = ["Bodies", "Clock", "Loads", "Motion", "mat33", "quat", "real", "vec3"]
