"""The trees of a simulation: which joints they hold, which stay rows, and when they have to be found anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.mirror import seen
from rattleback.joints.soft import is_soft
from rattleback.problem.joint_rows import compile_joints
from rattleback.reduced.midpoint.forest import link_trees
from rattleback.reduced.midpoint.tree_motion import TreeMotion

if TYPE_CHECKING:
    from rattleback.core.protocols import Integrator
    from rattleback.model.model import Model
    from rattleback.model.state import State
    from rattleback.model.step_context import StepContext


class SceneTrees:
    """The trees of a model at a state.

    Attributes:
        found: The joints that trees hold, and the links of the trees.
        problem: The joints, with the rows that no tree holds.

    Args:
        model: The model.
        state: The state, which knows what is broken.
    """

    def __init__(self, model: Model, state: State) -> None:
        self.model, self.state = model, state
        self._rows, self._version, self._outdated = self._joints_as_rows(), state.version, False
        broken = state.breaks.broken
        self.found = link_trees(compile_joints(model, broken), self._rows)
        self.problem = compile_joints(model, broken, self.found.joints)

    def _joints_as_rows(self) -> frozenset[int]:
        """Joints that are no part of a tree: those that are soft, may break, or are broken in any world."""
        made = self.model.scene.joints.values()
        broken = list(np.any(seen(self.state.breaks.broken).reshape(self.model.worlds, -1), axis=0))
        breaks = (
            joint.breaking_force is not None or joint.breaking_torque is not None or is_soft(joint) for joint in made
        )
        return frozenset(j for j, (may, is_broken) in enumerate(zip(breaks, broken, strict=True)) if may or is_broken)

    @property
    def outdated(self) -> bool:
        """Whether a joint of a tree was broken since, or one mended that may belong to a tree."""
        if self._version != self.state.version:
            self._version, self._outdated = self.state.version, self._joints_as_rows() != self._rows
        return self._outdated

    def motion(self, context: StepContext, movers: tuple[Integrator, Any], limits: tuple[float, int]) -> TreeMotion:
        """How the trees move, and bodies without joints.

        Args:
            context: What the step works on.
            movers: How bodies without joints move, and the servos that the trees solve.
            limits: To what change of velocities a step settles [m/s], and in how many rounds at most.
        """
        return TreeMotion(self.found, self.problem, context, movers, limits)
