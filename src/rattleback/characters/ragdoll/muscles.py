"""Muscles: torques of limited strength at the joints of a ragdoll, that pull it after a clip.

    τ = M_jj a + M_jb a_b + c_j,   M_bb a_b = −M_bj a − c_b,   a = ω₀² e + 2 ω₀ (ω* − ω),   |τ_k| ≤ τ_max of each joint

e turn from where each part is against the part before it to where the clip has it [rad], ω its angular velocity
against that, ω* the clip's, ω₀ stiffness [1/s]; M mass matrix of the figure and c its Coriolis and centrifugal forces,
split into the base b, which nothing holds, and the joints j. So every joint of a figure that floats comes to the clip
like a critically damped spring of its own.

    once a step    M by composite rigid bodies, c by recursive Newton–Euler; torques by the law, held over the step
Torques act between parts, so muscles keep no balance: a figure stands while its feet carry it, and ``Ragdoll.fallen``
tells when they do not. Stable for ω₀ h up to one half. Cost: some 2 ms a step, in Python.

Reference: Featherstone, Rigid Body Dynamics Algorithms, §6.2 and §9.2 (floating bases).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.ragdoll.balance import Balance
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.dynamics import Articulation
from rattleback.forces import PythonForce
from rattleback.joints import Ball
from rattleback.maths import rotation
from rattleback.model import Scene

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rattleback.characters.clip import Clip
    from rattleback.characters.ragdoll.doll import Ragdoll

    Floats = NDArray[np.float64]

# Rates of what floats: three of its place, three of its turn.
BASE = 6


@sealed
class Muscles:
    """What pulls a ragdoll after a clip, in one simulation: another one needs muscles of its own.

    Attributes:
        doll: The ragdoll.
        stiffness: ω₀ [1/s].
        loop: Whether the clip begins again where it ends.

    Args:
        doll: The ragdoll.
        clip: The clip.
        stiffness: ω₀ [1/s].
        strength: Greatest torque of a joint [N m].
        limp: Names of joints of the skeleton that are left to themselves, such as those of an arm that is hit.
        loop: Whether the clip begins again where it ends.
    """

    def __init__(
        self,
        doll: Ragdoll,
        clip: Clip,
        stiffness: float = 25.0,
        strength: float = 300.0,
        *,
        limp: Iterable[str] = (),
        loop: bool = True,
        balance: bool = False,
    ) -> None:
        self.doll = doll
        self.clip, self.start, self.strength = clip, 0.0, strength
        self.stiffness = checks.positive(stiffness, "The stiffness of muscles")
        self.loop = checks.flag(loop, "loop")
        self._balance = Balance(doll) if checks.flag(balance, "balance") else None
        scene = Scene(gravity=(0.0, 0.0, 0.0))
        doll.add_to(scene)
        for name, joint in list(scene.joints.items()):
            if isinstance(joint, Ball):
                # Coordinates in the axes of the world at rest, whatever cone the joint has.
                scene.replace_joint(name, Ball(joint.a, joint.b, at=joint.at))
        self._robot, joints = Articulation(scene), list(scene.joints.items())
        self._places = [self._robot.places(name) for name, _ in joints]
        self._rest = np.array([scene[name].orientation for name in doll.names])
        self._pairs = np.array([(k, above) for k, above in enumerate(doll.above) if above >= 0])
        # The axis of a hinge at rest; none of a ball joint.
        self._hinges = [None if isinstance(joint, Ball) else np.asarray(joint.axis) for _, joint in joints]
        left = {doll.skeleton.number(name) for name in limp}
        self._limp = np.array([doll.parts[k].joint in left for k, _ in self._pairs])
        self._time, self._torques = np.nan, np.zeros((len(doll.parts), 3))

    @property
    def clip(self) -> Clip:
        """What they follow; may be exchanged while a simulation runs."""
        return self._clip

    @clip.setter
    def clip(self, clip: Clip) -> None:
        if clip.skeleton is not self.doll.skeleton:
            raise InputError(
                f"Clip {clip.name!r} belongs to {clip.skeleton!r}, not to the skeleton of the ragdoll; "
                "characters.retarget takes it there."
            )
        self._clip = clip

    @property
    def start(self) -> float:
        """Time of the simulation at which the clip begins [s]; may be written."""
        return self._start

    @start.setter
    def start(self, time: float) -> None:
        self._start = checks.number(time, "The start of muscles")

    @property
    def strength(self) -> float:
        """Greatest torque of a joint [N m]; may be written, zero for limp."""
        return self._strength

    @strength.setter
    def strength(self, torque: float) -> None:
        self._strength = checks.not_negative(torque, "The strength of muscles")

    def force(self) -> PythonForce:
        """The force for a scene to which the ragdoll was added: ``scene.add_force(muscles.force())``."""
        return PythonForce(self._pull, bodies=list(self.doll.names))

    def _pull(self, time: float, bodies: Any) -> tuple[Floats, Floats]:
        """Forces, all zero, and torques of the muscles (parts, 3): those of the start of a step, all through it."""
        if time != self._time:
            self._time, self._torques = time, self._torques_at(time - self.start, bodies)
        return np.zeros_like(self._torques), self._torques

    def _torques_at(self, at: float, bodies: Any) -> Floats:
        """Torques on the parts (parts, 3), in the world."""
        k, above = self._pairs.T
        turned = rotation.multiply(bodies.orientation, rotation.conjugate(self._rest))
        goal, goal_rate = self._goals(at)
        here = rotation.multiply(rotation.conjugate(turned[above]), turned[k])
        error = rotation.rotation_vector_from_quaternion(rotation.multiply(rotation.conjugate(here), goal))
        inward = rotation.conjugate(turned[k])
        rate = rotation.rotate(inward, bodies.angular_velocity[k] - bodies.angular_velocity[above])
        wanted = self.stiffness**2 * error + 2.0 * self.stiffness * (goal_rate - rate)
        efforts = self._efforts(bodies, here, rate, wanted)
        if self._balance is not None:
            held = self._balance.torques(bodies, self.clip.pose(self._clip_time(at)))[k]
            efforts = efforts + rotation.rotate(inward, held)
        pull = rotation.rotate(turned[k], self._limited(efforts))
        torques = np.zeros((len(turned), 3))
        np.add.at(torques, k, pull)
        np.subtract.at(torques, above, pull)
        return torques

    def _efforts(self, bodies: Any, here: Floats, rate: Floats, wanted: Floats) -> Floats:
        """Torques in the axes of the parts that give their joints the accelerations that are wanted (joints, 3)."""
        robot, q, (v, a) = self._robot, self._robot.neutral(), np.zeros((2, self._robot.nv))
        q[3:7] = bodies.orientation[0]
        v[3:BASE] = rotation.rotate(rotation.conjugate(q[3:7]), bodies.angular_velocity[0])
        each = list(zip(self._places, self._hinges, strict=True))
        for (place, axis), turn, w, y in zip(each, here, rate, wanted, strict=True):
            q[place[0]] = turn if axis is None else rotation.rotation_vector_from_quaternion(turn) @ axis
            v[place[1]], a[place[1]] = (w, y) if axis is None else (w @ axis, y @ axis)
        M, c = robot.mass_matrix(q), robot.bias(q, v)
        a[:BASE] = -np.linalg.solve(M[:BASE, :BASE], M[:BASE, BASE:] @ a[BASE:] + c[:BASE])
        effort = M @ a + c
        return np.array([effort[place[1]] if axis is None else effort[place[1]] * axis for place, axis in each])

    def _limited(self, efforts: Floats) -> Floats:
        size = np.linalg.norm(efforts, axis=1, keepdims=True)
        held = efforts * np.minimum(1.0, self.strength / np.maximum(size, 1e-300))
        return np.where(self._limp[:, None], 0.0, held)

    def _clip_time(self, at: float) -> float:
        span = self.clip.duration - self.clip.start
        return self.clip.start + (at % span if self.loop and span > 0.0 else min(max(at, 0.0), span))

    def _goals(self, at: float) -> tuple[Floats, Floats]:
        """Turns of the parts from rest against those before them, and their angular velocities, by the clip."""
        clip, time = self.clip, self._clip_time(at)
        turned = rotation.multiply(self.doll.orientations(clip.pose(time)), rotation.conjugate(self._rest))
        spins = clip.velocities(time)[1][[part.joint for part in self.doll.parts]]
        k, above = self._pairs.T
        goal = rotation.multiply(rotation.conjugate(turned[above]), turned[k])
        return goal, rotation.rotate(rotation.conjugate(turned[k]), spins[k] - spins[above])
