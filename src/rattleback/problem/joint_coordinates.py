"""The free coordinates of joints with their rates, at any motion, and those of a state as arrays.

    turn    q = θ, with all its full turns      q̇ = z · (ω_B − ω_A)
    slide   q = d · z                           q̇ = z · (ḋ − ω_A × d)

z the axis of the joint, which moves with A; d the way from the anchor of A to that of B.

Cost: one launch measures all of them, once a moment, whoever asks: some microseconds on a CPU.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.coupling import counted, twist
from rattleback.constraints.frame import axis
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.mirror import Mirror
from rattleback.core.precision import real, vec3
from rattleback.core.stages import recorded
from rattleback.model.coordinates import TURN, free_coordinates
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Model
from rattleback.model.state import Motion, State
from rattleback.problem.joint_rows import Joints, compile_joints, frames_of


@group(axis="coordinates")
class Measured:
    """The free coordinates at a motion."""

    joint: wp.int32 = field("1", "row of its joint")
    turning: wp.int32 = field("1", "1 where it is a turn, 0 where it is a slide")
    value: wp.float64 = field("rad or m", "coordinate")
    rate: real = field("rad/s or m/s", "its rate")


@wp.func
def coordinate_of(
    joints: Joints, motion: Motion, remembered: JointState, j: int, turning: int
) -> tuple[wp.float64, real]:
    """Coordinate and rate of a joint at a motion; angles are counted on from those of the last step."""
    frames = frames_of(joints, motion, j)
    z = axis(frames.turn_a, 2)
    a = joints.body_a[j]
    b = joints.body_b[j]
    spin_a = vec3()
    spin_b = vec3()
    drift = vec3()
    if a >= 0:
        spin_a = motion.angular_velocity[a]
        drift -= motion.velocity[a] + wp.cross(spin_a, frames.lever_a + frames.way)
    if b >= 0:
        spin_b = motion.angular_velocity[b]
        drift += motion.velocity[b] + wp.cross(spin_b, frames.lever_b)
    if turning == 1:
        return counted(twist(frames), remembered.angle[j]), wp.dot(spin_b - spin_a, z)
    return wp.float64(wp.dot(frames.way, z)), wp.dot(drift, z)


@kernel
def measure(joints: Joints, motion: Motion, remembered: JointState, measured: Measured) -> None:
    """One coordinate and its rate."""
    c = wp.tid()
    value, rate = coordinate_of(joints, motion, remembered, measured.joint[c], measured.turning[c])
    measured.value[c] = value
    measured.rate[c] = rate


class JointCoordinates:
    """The free coordinates of the joints of a simulation.

    Attributes:
        coordinates: Those of one world.
        state: The state they are read from.

    Args:
        model: The model.
        state: The state.
    """

    def __init__(self, model: Model, state: State) -> None:
        self.coordinates, self.state = free_coordinates(model.scene), state
        self._model, self._shape = model, (model.worlds, len(self.coordinates))
        self._moment, self._now = -1, (np.zeros(self._shape), np.zeros(self._shape))

    @cached_property
    def _measured(self) -> tuple[Callable[[], None], Mirror, Mirror]:
        """What measures, and what it finds; made when it is first asked for."""
        rows, device = compile_joints(self._model, self.state.breaks.broken), self._model.device
        worlds, count = self._shape
        found: Any = arrays.allocate(Measured, {"coordinates": worlds * count}, device)
        joint = np.array([c.joint for c in self.coordinates], dtype=np.int32)
        turning = np.array([c.freedom == TURN for c in self.coordinates], dtype=np.int32)
        Mirror(found.joint).put((np.arange(worlds)[:, None] * len(rows.names) + joint).ravel())
        Mirror(found.turning).put(np.tile(turning, worlds))
        inputs = (rows.joints, self.state.motion, self.state.joints, found)
        return recorded(measure, worlds * count, inputs, device), Mirror(found.value), Mirror(found.rate)

    def places(self, joint: str) -> dict[str, int]:
        """Places of the coordinates of a joint among those of a world, by freedom."""
        number = list(self._model.scene.joints).index(joint)
        return {found.freedom: place for place, found in enumerate(self.coordinates) if found.joint == number}

    def drive_energies(self) -> dict[str, np.ndarray] | None:
        """½ A q̇² of the armature A of drives, turns and slides each (worlds,) [J]; None without any."""
        armature = self._model.scenes.each(self._armatures)
        if not armature.any():
            return None
        found = 0.5 * armature * self.now()[1] ** 2
        turns = np.array([found.freedom == TURN for found in self.coordinates])
        return {"rotational": found[:, turns].sum(axis=1), "translational": found[:, ~turns].sum(axis=1)}

    def _armatures(self, scene: Any) -> list[float]:
        made = list(scene.joints.values())
        return [getattr(made[found.joint], "armature", 0.0) for found in self.coordinates]

    def now(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates with all that was written (worlds, coordinates), read-only."""
        self.state.send()
        if self._moment != self.state.moment and self.coordinates:
            launch, *found = self._measured
            launch()
            value, rate = (np.array(mirror.look(), dtype=np.float64).reshape(self._shape) for mirror in found)
            value.flags.writeable = rate.flags.writeable = False
            self._moment, self._now = self.state.moment, (value, rate)
        return self._now
