"""A damped spring that turns the two bodies of a joint about its axis.

    τ = −(D (θ − θ₀) + c θ̇)   about the axis, on B, −τ on A,      V = ½ D (θ − θ₀)²

θ turn of B against A with all its full turns, zero at the start; θ₀ angle without load, D stiffness, c damping. A
spring wound up by three turns drives back three turns.

Cost: one thread a world. Reference: Bender, dissertation, §3.2.7, carried over to the angle of a hinge.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import by_world
from rattleback.forces.joint_axis import Place, act, check_joint, coordinate, make_place, placed
from rattleback.forces.stiff_forces import turning
from rattleback.maths import rotation
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Model
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Moment
from rattleback.problem.joint_rows import JointRows, Joints


@kernel
def add_torsion(
    joints: Joints, motion: Motion, remembered: JointState, place: Place, laws: wp.array[vec3], loads: Loads
) -> None:
    """τ about the axis of the joint; law is (D, c, θ₀)."""
    w = wp.tid()
    law = laws[w]
    angle, rate = coordinate(joints, motion, remembered, place, w)
    effort = -law[0] * real(angle - wp.float64(law[2])) - law[1] * rate
    act(joints, motion, place, w, effort, loads)


@sealed
@dataclass(frozen=True)
class TorsionSpring:
    """A damped spring about the axis of a joint.

    Args:
        joint: Name of the joint, or what ``add_joint`` returned; it must turn about one axis only.
        stiffness: Torque per angle [N m/rad].
        damping: Torque per angular velocity [N m s/rad].
        angle: Angle without load [rad]; that of the joint at the start is zero.
    """

    joint: Any
    _: KW_ONLY
    stiffness: float
    damping: float = 0.0
    angle: float = 0.0
    control: ClassVar[str] = "angle"
    depends_on_pose: ClassVar[bool] = True
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything."""
        check_joint(self.joint, "TorsionSpring")
        for name in ("stiffness", "damping"):
            value = checks.not_negative(getattr(self, name), f"The {name} of TorsionSpring")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "angle", checks.number(self.angle, "The angle of TorsionSpring"))

    @property
    def depends_on_velocity(self) -> bool:
        """Whether it is damped."""
        return self.damping > 0.0

    def placed_in(self, scene: Any, label: str) -> "TorsionSpring":
        """The spring as a scene keeps it, with the name of its joint."""
        found: TorsionSpring = placed(self, scene, label)
        return found

    def compile(self, model: Model) -> "CompiledTorsionSpring":
        """Bind to a model."""
        return CompiledTorsionSpring(self, model)


class CompiledTorsionSpring:
    """A torsion spring bound to a model."""

    def __init__(self, force: TorsionSpring, model: Model) -> None:
        self.force, self.model = force, model
        self.numbers = by_world(model, force, ("stiffness", "damping", "angle"))
        self.laws = wp.array(np.stack([*self.numbers.values()], axis=1), dtype=vec3, device=model.device)

    def bind(self, label: str, state: Any, rows: JointRows) -> None:
        """Take the joints and what they remember from a simulation."""
        self.rows, self.remembered = rows, state.joints
        self.place = make_place(rows.names, self.force.joint, turning=True)

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add its torque to both bodies of every world."""
        joints, remembered = self.rows.joints, self.remembered
        program.launch(add_torsion, self.model.worlds, joints, moment.motion, remembered, self.place, self.laws, loads)

    def rates(self) -> tuple[float, float]:
        """ω² [1/s²] and r [1/s], see ``stiff_forces``."""
        ease, joints, j = 0.0, self.rows.joints, self.place.joint
        for side in "ab":
            frame = getattr(joints, f"turn_{side}").numpy()[j].astype(np.float64)
            axis = rotation.rotate(frame, np.array([0.0, 0.0, 1.0]))
            ease += turning(self.model, int(getattr(joints, f"body_{side}").numpy()[j]), axis)
        return self.force.stiffness * ease, self.force.damping * ease

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """½ D (θ − θ₀)² of each world [J], nothing where the joint is broken."""
        k, n = self.place.joint, self.place.joints
        joint = self.model.scene.joints[self.force.joint]
        frames = [self._frame(side, getattr(joint, side), orientation) for side in "ab"]
        turn = rotation.multiply(rotation.conjugate(frames[0]), frames[1])
        raw = 2.0 * np.arctan2(turn[..., 2], turn[..., 3])
        counted = self.remembered.angle.numpy()[k::n]
        angle = raw + 2.0 * np.pi * np.round((counted - raw) / (2.0 * np.pi))
        energy: np.ndarray = 0.5 * self.numbers["stiffness"] * (angle - self.numbers["angle"]) ** 2
        return np.where(self.rows.joints.broken.numpy()[k::n] != 0, 0.0, energy)

    def _frame(self, side: str, body: str, orientation: np.ndarray) -> np.ndarray:
        """Frame of the joint on one of its bodies, in every world (worlds, 4)."""
        own = getattr(self.rows.joints, f"turn_{side}").numpy()[self.place.joint :: self.place.joints]
        own = own.astype(np.float64)
        if body == self.model.scene.world.name:
            return own
        return rotation.multiply(orientation[:, self.model.index(body)], own)
