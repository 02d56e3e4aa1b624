"""Joint methods by name.

| name | method |
|---|---|
| ``direct`` (default) | one block-sparse factorisation; linear time on trees, redundant rows left out |
| ``iterative`` | joint by joint, over and over |
"""

from typing import Any

from rattleback.solvers.joints.direct import Direct
from rattleback.solvers.joints.iterative import Iterative

MENU: dict[str, type[Any]] = {"direct": Direct, "iterative": Iterative}
DEFAULT = "direct"
NEEDS = ("prepare",)

__all__ = ["Direct", "Iterative"]
