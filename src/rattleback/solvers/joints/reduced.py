"""Reduced coordinates: joints hold by construction, as trees move by the freedoms that their joints leave.

    M(q) v̇ + c(q, v) = τ + Jᵀ λ,   J the rows of joints that close loops, of limits and of motors

q coordinates of the trees, v their rates, M mass matrix, c Coriolis and centrifugal forces, τ loads, λ forces of rows.

Every joint that leaves slides and turns becomes part of a tree, and moves exactly as it may: its error is rounding. A
joint that closes a loop, may break, couples two motions or drives them keeps its rows, which are solved through the
trees. The step is the implicit midpoint rule, see ``reduced.midpoint.tree_step``.

Cost: O(n) in the links of a tree, and a substitution for every row that is left. Use it for robots, chains and other
mechanisms with few loops; for many loops use ``direct``. No method of chains: it moves whole worlds.

Reference: Featherstone, Rigid Body Dynamics Algorithms, chapters 7 and 8; Bender, dissertation, §2.1.2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed


@sealed
@dataclass(frozen=True)
class Reduced:
    """Trees of joints in their own coordinates.

    Args:
        max_rounds: Most rounds of Newton's method; a step that has not settled then is done in 4, 16 or 64 parts.
    """

    max_rounds: int = 8
    trees: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the number of rounds."""
        object.__setattr__(self, "max_rounds", checks.count(self.max_rounds, "max_rounds", least=2, most=1000))

    def prepare(self, problem: Any) -> Any:
        """Refused: it holds no rows beside other methods, but moves trees.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"Reduced moves whole trees of {problem.model.scene.name!r} and finds no impulses of single joints; "
            'choose it for all joints, joints="reduced".'
        )
