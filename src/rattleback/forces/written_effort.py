"""Efforts written by hand: the torque or force that drives each free coordinate of a joint until it is written again.

    turn    torque u z on B, −u z on A            slide    force u z on B, −u z on A, both at the anchor of B

u the effort, an entry of the state; z the axis of the joint, which moves with A. The step holds u, as it holds that of
a servo, and does the work ∫ u q̇ dt. A broken joint is not driven.

Cost: nothing until an effort is written; then one launch, one thread a world, which passes over efforts of zero.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.forces.joint_axis import Place, act
from rattleback.model.coordinates import TURN, Efforts, free_coordinates
from rattleback.model.model import Model
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment
from rattleback.problem.joint_rows import JointRows, Joints


@group(axis="coordinates")
class Driven:
    """Which joint of a world each coordinate belongs to."""

    joint: wp.int32 = field("1", "place of the joint among those of a world")
    turning: wp.int32 = field("1", "1 where it turns, 0 where it slides")


@kernel
def add_efforts(joints: Joints, motion: Motion, driven: Driven, efforts: Efforts, count: int, loads: Loads) -> None:
    """The efforts of one world, along the axes as they lie at a moment."""
    w = wp.tid()
    coordinates = driven.joint.shape[0]
    place = Place()
    place.joints = count
    for c in range(coordinates):
        effort = efforts.effort[w * coordinates + c]
        if effort != real(0.0):
            place.joint = driven.joint[c]
            place.turning = driven.turning[c]
            act(joints, motion, place, w, effort, loads)


class WrittenEfforts:
    """The efforts of a state as a compiled force.

    Args:
        model: The model.
        rows: Its joints.
        efforts: The efforts of the state.
    """

    def __init__(self, model: Model, rows: JointRows, efforts: Efforts) -> None:
        self.model, self.rows, self.efforts = model, rows, efforts
        found = free_coordinates(model.scene)
        self.driven = arrays.allocate(Driven, {"coordinates": len(found)}, model.device)
        columns = {"joint": [c.joint for c in found], "turning": [c.freedom == TURN for c in found]}
        arrays.write(self.driven, {name: np.array(column, np.int32) for name, column in columns.items()}, "the efforts")

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the efforts."""
        given: tuple[Any, ...] = (self.rows.joints, moment.motion, self.driven, self.efforts, len(self.rows.names))
        program.launch(add_efforts, self.model.worlds, *given, loads)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """What is written by hand puts energy in or takes it out."""
        return np.zeros(len(position))
