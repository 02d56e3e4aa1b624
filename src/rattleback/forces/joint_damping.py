"""Damping of joints: what ``damping=`` of a joint asks for.

    turn    torque −c q̇ z on B, c q̇ z on A            slide    force −c q̇ z on B, c q̇ z on A, both at the anchor of B

c damping of the joint, q̇ rate of its free coordinate, z the axis, which moves with A. A broken joint has none.

Cost: one launch, one thread a world. Use a ``TorsionSpring`` where there is stiffness, too.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real
from rattleback.core.stages import Program
from rattleback.forces.joint_axis import Place, act, coordinate
from rattleback.model.coordinates import SLIDE, free_freedoms
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Model
from rattleback.model.state import Loads, Motion, State
from rattleback.model.step_context import Moment
from rattleback.problem.joint_rows import JointRows, Joints


@group(axis="damped")
class Damped:
    """The joints of a world that are damped."""

    joint: wp.int32 = field("1", "place of the joint among those of a world")
    turning: wp.int32 = field("1", "1 where it turns, 0 where it slides")
    damping: real = field("N m s or N s/m", "torque or force for a unit of the rate, world by world", axis="rates")


@kernel
def add_damping(
    joints: Joints, motion: Motion, remembered: JointState, damped: Damped, count: int, loads: Loads
) -> None:
    """The damping of the joints of one world, along the axes as they lie at a moment."""
    w = wp.tid()
    place = Place()
    place.joints = count
    for d in range(damped.joint.shape[0]):
        place.joint = damped.joint[d]
        place.turning = damped.turning[d]
        _value, rate = coordinate(joints, motion, remembered, place, w)
        act(joints, motion, place, w, -damped.damping[w * damped.joint.shape[0] + d] * rate, loads)


def damped_joints(scene: Any) -> list[tuple[int, float, bool]]:
    """Place, damping and whether it turns, of every joint of a scene that is damped."""
    found = []
    for place, joint in enumerate(scene.joints.values()):
        if damping := float(getattr(joint, "axis_damping", 0.0)):
            found.append((place, damping, SLIDE not in free_freedoms(joint)))
    return found


class JointDamping:
    """The damping of the joints of a scene as a compiled force.

    Args:
        model: The model.
        rows: Its joints.
        state: What joints remember.
    """

    def __init__(self, model: Model, rows: JointRows, state: State) -> None:
        self.model, self.rows, self.state = model, rows, state
        found = damped_joints(model.scene)
        sizes = {"damped": len(found), "rates": len(found) * model.worlds}
        self.damped = arrays.allocate(Damped, sizes, model.device)
        values = model.scenes.listed(lambda scene: [damping for _, damping, _ in damped_joints(scene)])
        columns = {
            "joint": np.array([place for place, _, _ in found], np.int32),
            "turning": np.array([turns for _, _, turns in found], np.int32),
            "damping": model.scenes.tiled(np.array(values, numpy_real)),
        }
        arrays.write(self.damped, columns, "the damped joints")

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the damping."""
        given: tuple[Any, ...] = (self.rows.joints, moment.motion, self.state.joints, self.damped, len(self.rows.names))
        program.launch(add_damping, self.model.worlds, *given, loads)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """What is damped is lost."""
        return np.zeros(len(position))
