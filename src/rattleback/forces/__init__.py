"""Forces as modules: each names the bodies it acts on, and several act at once.

| name | class | force |
|---|---|---|
| ``gravity`` | :class:`Gravity` | uniform acceleration |
| ``attraction`` | :class:`Attraction` | Newton's gravity between bodies |
| ``wrench`` | :class:`Wrench` | a given force and torque, at a point, for a span of time |
| ``drag`` | :class:`Drag` | linear, quadratic and rotational drag of a medium |
| | :class:`PythonForce` | a Python function, vectorised over bodies |
| | :class:`WarpForce` | a Warp function, compiled into the step |
"""

from typing import Any

from rattleback.forces.attraction import Attraction
from rattleback.forces.drag import Drag
from rattleback.forces.gravity import Gravity
from rattleback.forces.python_force import ForcePicture, PythonForce
from rattleback.forces.warp_force import WarpForce
from rattleback.forces.wrench import Wrench

# The force modules a scene file can hold; the two that carry code cannot be written to one.
MENU: dict[str, type[Any]] = {"gravity": Gravity, "attraction": Attraction, "wrench": Wrench, "drag": Drag}

__all__ = ["Attraction", "Drag", "ForcePicture", "Gravity", "PythonForce", "WarpForce", "Wrench"]
