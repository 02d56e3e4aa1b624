"""Loop closure by general inverse kinematics: Levenberg–Marquardt on the tree of the loop's dihedrals.

The frame of the anchor is the target, six conditions for all dihedrals of the loop at once; see ``rb.ik.LM``.

Cost: some hundred microseconds a start, more for long loops.
Use it: where the end shall be met to many digits and one closure a start is enough. Not for all solutions, and not for
loops far beyond twenty residues: a step costs the third power of their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.kinematics import ik
from rattleback.kinematics.link import Link
from rattleback.kinematics.tree import Tree
from rattleback.molecules.geometry import unit, wrapped
from rattleback.molecules.loops.found import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.loops.chain import LoopChain

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class LoopLM:
    """General inverse kinematics by Levenberg–Marquardt.

    Args:
        tolerance: Distance of the end from the anchor, root of the mean square, that is closed [Å].
        restarts: Most tries from random conformations after the one from the start.
    """

    tolerance: float = 1e-6
    restarts: int = 100

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.positive(self.tolerance, "The tolerance of lm")
        checks.count(self.restarts, "The restarts of lm", least=0)

    def close(self, chain: LoopChain, starts: Floats) -> Found:
        """One conformation for each start."""
        tree, target = loop_tree(chain)
        # The anchor's atoms lie within 3 Å of its frame, so its angle counts a little more than its place.
        place = 0.3 * self.tolerance
        method = ik.LM(restarts=self.restarts)
        options = {"position_tolerance": place, "angle_tolerance": 0.3 * place}
        answer = ik.solve(tree, target, method, start=starts, **options)
        done = chain.descend(wrapped(answer.q), np.inf, 1)
        return Found(done.q, np.arange(len(starts)), done.miss, done.miss <= self.tolerance)


def loop_tree(chain: LoopChain) -> tuple[Tree, Floats]:
    """The tree of a loop's dihedrals, and the frame of its anchor (4, 4); lengths in ångström."""
    points = chain.native.reshape(-1, 3)
    names = np.array(chain.protein.coordinates)[chain.columns]
    links: list[Link] = []
    before = np.eye(4)
    for name, pivot, now in zip(names.tolist(), chain.pivots.tolist(), chain.start.tolist(), strict=True):
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = _across(points[pivot] - points[pivot - 1]), points[pivot]
        # Where the dihedral is zero, the frame lies turned back by what it is now.
        cos, sin = np.cos(now), np.sin(now)
        back = np.array([[cos, sin, 0.0, 0.0], [-sin, cos, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
        place = np.linalg.inv(before) @ frame @ back
        links.append(Link(name, links[-1].name if links else "", place=place))
        before = frame
    end = np.eye(4)
    n, alpha, _ = chain.native[-1]
    end[:3, :3], end[:3, 3] = _across(alpha - n), alpha
    tip = (links[-1].name, np.linalg.inv(before) @ end)
    return Tree(links, tools={"tip": tip}, name=f"loop {chain.name}", on=str(chain.protein.device)), end


def _across(way: Floats) -> Floats:
    """A rotation whose z axis is a way (3, 3)."""
    z = unit(way)
    x = unit(np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))]))
    return np.stack([x, np.cross(z, x), z], axis=1)
