"""Angles of joints over full turns while a step goes on: forces and couplings read those of the state all the time.

An angle is the one of many that is nearest the angle before, and so has to be followed through every symmetric step of
every run. Each run starts from the angles at the start of its sub-step; a sub-step that is accepted leaves its own, and
a step that went wrong leaves those before it.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.integrators.rk45 import Control
from rattleback.model.joint_memory import JointState
from rattleback.problem.joint_rows import Joints


@group(axis="joints")
class Turns:
    """The angles of joints where a step, or a sub-step, began."""

    angle: wp.float64 = field("rad", "turn of B against A about the z axis")
    other_angle: wp.float64 = field("rad", "of a gear, azimuth of A's centre in B")


@kernel
def note_turns(remembered: JointState, before: Turns, turns: Turns) -> None:
    """A step begins, and its first sub-step."""
    j = wp.tid()
    before.angle[j] = remembered.angle[j]
    before.other_angle[j] = remembered.other_angle[j]
    turns.angle[j] = remembered.angle[j]
    turns.other_angle[j] = remembered.other_angle[j]


@kernel
def keep_turns(joints: Joints, control: Control, always: int, remembered: JointState, turns: Turns) -> None:
    """A sub-step ends: where it was accepted the next one begins with its angles, else with those before."""
    j = wp.tid()
    if always == 1 or control.accepted[joints.world[j]] == 1:
        turns.angle[j] = remembered.angle[j]
        turns.other_angle[j] = remembered.other_angle[j]
    remembered.angle[j] = turns.angle[j]
    remembered.other_angle[j] = turns.other_angle[j]


@kernel
def take_turns_back(before: Turns, remembered: JointState, stop: wp.array[wp.int32]) -> None:
    """A step that went wrong leaves the angles as they were."""
    j = wp.tid()
    if stop[0] != 0:
        remembered.angle[j] = before.angle[j]
        remembered.other_angle[j] = before.other_angle[j]
