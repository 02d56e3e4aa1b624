"""Joint methods by name.

| name | method |
|---|---|
| ``direct`` (default) | one block-sparse factorisation; linear time on trees, redundant rows left out, or loops cut |
| ``iterative`` | joint by joint, over and over |
| ``reduced`` | trees in their own coordinates, where joints hold to rounding; rows only for what closes loops |

``JointsByChain`` gives chains methods of their own; it needs their names, so it is no name on the menu itself.
"""

from typing import Any

from rattleback.solvers.joints.by_chain import JointsByChain
from rattleback.solvers.joints.direct import Direct
from rattleback.solvers.joints.iterative import Iterative
from rattleback.solvers.joints.reduced import Reduced

MENU: dict[str, type[Any]] = {"direct": Direct, "iterative": Iterative, "reduced": Reduced}
# Methods made of others, by the names files give them.
COMPOSED: dict[str, type[Any]] = {"by_chain": JointsByChain}
DEFAULT = "direct"
NEEDS = ("prepare",)

__all__ = ["Direct", "Iterative", "JointsByChain", "Reduced"]
