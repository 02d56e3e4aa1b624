"""Forces as modules: each names the bodies it acts on, and several act at once.

| name | class | force |
|---|---|---|
| ``gravity`` | :class:`Gravity` | uniform acceleration |
| ``attraction`` | :class:`Attraction` | Newton's gravity between bodies |
| ``wrench`` | :class:`Wrench` | a given force and torque, at a point, for a span of time |
| ``drag`` | :class:`Drag` | linear, quadratic and rotational drag of a medium |
| ``spring`` | :class:`Spring` | a damped spring between points of two bodies |
| ``torsion_spring`` | :class:`TorsionSpring` | a damped spring about the axis of a joint |
| ``servo`` | :class:`Servo` | a motor with a PID controller on a joint |
| ``implicit_spring`` | :class:`ImplicitSpring` | a damped spring on a joint, inside the constraint solve |
| ``implicit_pd`` | :class:`ImplicitPD` | a PD controller on a joint, inside the constraint solve |
| ``implicit_hand`` | :class:`ImplicitHandPD` | one of the position of a hand, by the joints of its arm |
| | :class:`PythonForce` | a Python function, vectorised over bodies |
| | :class:`WarpForce` | a Warp function, compiled into the step |
"""

from typing import Any

from rattleback.forces.attraction import Attraction
from rattleback.forces.drag import Drag
from rattleback.forces.gravity import Gravity
from rattleback.forces.implicit_hand import ImplicitHandPD
from rattleback.forces.implicit_pd import ImplicitPD
from rattleback.forces.implicit_spring import ImplicitSpring
from rattleback.forces.python_force import ForcePicture, PythonForce
from rattleback.forces.schedule import Schedule
from rattleback.forces.servo import Servo
from rattleback.forces.servo_view import ServoView
from rattleback.forces.spring import Spring
from rattleback.forces.torsion_spring import TorsionSpring
from rattleback.forces.tuning import Tuning, chien_hrones_reswick, ziegler_nichols
from rattleback.forces.warp_force import WarpForce
from rattleback.forces.wrench import Wrench

# The force modules a scene file can hold; the two that carry code cannot be written to one.
MENU: dict[str, type[Any]] = {
    "gravity": Gravity,
    "attraction": Attraction,
    "wrench": Wrench,
    "drag": Drag,
    "spring": Spring,
    "torsion_spring": TorsionSpring,
    "servo": Servo,
    "implicit_spring": ImplicitSpring,
    "implicit_pd": ImplicitPD,
    "implicit_hand": ImplicitHandPD,
}

__all__ = [
    "Attraction",
    "Drag",
    "ForcePicture",
    "Gravity",
    "ImplicitHandPD",
    "ImplicitPD",
    "ImplicitSpring",
    "PythonForce",
    "Schedule",
    "Servo",
    "ServoView",
    "Spring",
    "TorsionSpring",
    "Tuning",
    "WarpForce",
    "Wrench",
    "chien_hrones_reswick",
    "ziegler_nichols",
]
