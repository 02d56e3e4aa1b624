"""Ways of moving free bodies through a step, by name.

| name | order | what it keeps |
|---|---|---|
| ``lie_midpoint`` (default) | 2 | energy and angular momentum of free rotation, the parabola of a constant force |
| ``explicit_euler`` | 1 | nothing |
| ``semi_implicit_euler`` | 1 | a bounded energy of the translation |
| ``implicit_euler`` | 1 | angular momentum; stable with stiff forces |
| ``taylor2`` | 2 | the parabola of a constant force |
| ``rk4`` | 4 | the parabola of a constant force |
| ``rk45`` | 5 | the user's error bound |

With joints the order is two at most: their impulses act at the start and at the end of a step.
"""

from typing import Any

from rattleback.integrators.implicit_euler import ImplicitEuler
from rattleback.integrators.lie_midpoint import LieMidpoint
from rattleback.integrators.rk45 import RK45
from rattleback.integrators.runge_kutta import RK4, ExplicitEuler
from rattleback.integrators.semi_implicit_euler import SemiImplicitEuler
from rattleback.integrators.taylor2 import Taylor2

MENU: dict[str, type[Any]] = {
    "lie_midpoint": LieMidpoint,
    "explicit_euler": ExplicitEuler,
    "semi_implicit_euler": SemiImplicitEuler,
    "implicit_euler": ImplicitEuler,
    "taylor2": Taylor2,
    "rk4": RK4,
    "rk45": RK45,
}
DEFAULT = "lie_midpoint"
NEEDS = ("record_forces", "record_prediction")

__all__ = ["RK4", "RK45", "ExplicitEuler", "ImplicitEuler", "LieMidpoint", "SemiImplicitEuler", "Taylor2"]
