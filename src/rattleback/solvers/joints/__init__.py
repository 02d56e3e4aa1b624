"""Joint methods by name.

| name | method |
|---|---|
| ``direct`` (default) | one block-sparse factorisation; linear time on trees, redundant rows left out, or loops cut |
| ``iterative`` | joint by joint, over and over |
| ``reduced`` | trees in their own coordinates, where joints hold to rounding; rows only for what closes loops |
| ``multipliers`` | Lagrange multipliers: forces from one dense system of all joints |
| ``baraff`` | the same forces in linear time on trees; loops closed by a small dense system |
| ``penalty`` | forces that grow with the errors |
| ``implicit`` | soft joints as forces, by Newton's method with their exact Jacobian; hard rows in the same system |

The first two find impulses that make joints hold at the end of the step; ``multipliers``, ``baraff`` and ``penalty``
find forces that make them hold in their accelerations or velocities, and are compared with them; ``implicit`` finds
forces and velocities at once. ``JointsByChain`` gives chains methods of their own; it needs their names, so it is no
name on the menu itself.
"""

from typing import Any

from rattleback.solvers.joints.baraff import Baraff
from rattleback.solvers.joints.by_chain import JointsByChain
from rattleback.solvers.joints.direct import Direct
from rattleback.solvers.joints.implicit import Implicit
from rattleback.solvers.joints.iterative import Iterative
from rattleback.solvers.joints.multipliers import Multipliers
from rattleback.solvers.joints.penalty import Penalty
from rattleback.solvers.joints.reduced import Reduced

# Methods by impulses, and methods by forces.
IMPULSES: dict[str, type[Any]] = {"direct": Direct, "iterative": Iterative, "reduced": Reduced}
FORCES: dict[str, type[Any]] = {"multipliers": Multipliers, "baraff": Baraff, "penalty": Penalty}
MENU: dict[str, type[Any]] = {**IMPULSES, **FORCES, "implicit": Implicit}
# Methods made of others, by the names files give them.
COMPOSED: dict[str, type[Any]] = {"by_chain": JointsByChain}
DEFAULT = "direct"
NEEDS = ("prepare",)

__all__ = ["Baraff", "Direct", "Implicit", "Iterative", "JointsByChain", "Multipliers", "Penalty", "Reduced"]
