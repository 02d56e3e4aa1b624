"""Ragdolls: a figure as bodies held together by joints, and the way between its clips and dynamics, both ways.

    animation → dynamics    ``doll.place(sim, pose, ...)`` puts bodies and velocities where the clip has them
    dynamics → animation    ``doll.pose(sim)`` is the pose that the bodies are in

A part hangs on the part before it by a ball joint at its joint; by a hinge where the limits of that joint leave one
turn alone. Ball joints have the limits of their joints as a cone and a twist, see ``cones``. Velocities follow from
the clip in closed form, so that all joints agree with them to rounding. Joints that are no part stay as they are at
rest; the parts behind them keep their orientation.

Reference: lecture notes on forward and inverse kinematics, §4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import Pose
from rattleback.characters.ragdoll.cones import Cone, cone_of_limits, cones_of_people
from rattleback.characters.ragdoll.parts import find_parts
from rattleback.characters.tubes import tube_skin
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints import Ball, Revolute
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.clip import Clip
    from rattleback.characters.figure import Figure
    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]

# A hinge is off its axis in a pose where it is turned about another by more than this [rad].
OFF_AXIS = 1e-6
# Bones without a skin are so thick, in parts of the height of the figure.
THICK = 0.03
# A figure has fallen when its hips are lower than this part of their height at rest.
LOW = 0.6


@sealed
class Ragdoll:
    """A figure as bodies and joints.

    Attributes:
        figure: The figure, in metres with z up.
        parts: Its bodies, parents before children.
        names: Names of the bodies in a scene.

    Args:
        figure: The figure, in metres with z up; see ``Figure.in_world``. Without a skin its bones are tubes.
        mass: Its mass [kg].
        name: What the names of its bodies and joints begin with, and their group.
        hinges: Whether joints whose limits leave one turn alone are hinges; else they are ball joints.
        limits: Whether ball joints have limits. Without hinges and limits a ragdoll takes any pose.
        least: Part of the figure below which a joint goes along with the one before.
    """

    def __init__(
        self,
        figure: Figure,
        mass: float = 70.0,
        name: str = "figure",
        *,
        hinges: bool = True,
        limits: bool = True,
        least: float = 0.0002,
    ) -> None:
        self.figure, self.skeleton, self.name = figure, figure.skeleton, checks.text(name, "The name of a ragdoll")
        self.hinges = checks.flag(hinges, "hinges")
        skin = figure.skin if figure.skins else tube_skin(self.skeleton, THICK * self._height())
        self.parts = find_parts(
            skin, checks.positive(mass, "The mass of a ragdoll"), checks.not_negative(least, "least")
        )
        self.names = tuple(f"{self.name}_{self.skeleton.names[part.joint]}" for part in self.parts)
        self._number = {part.joint: k for k, part in enumerate(self.parts)}
        self._joints = np.array([part.joint for part in self.parts])
        self._centers, self._turns = (np.array([getattr(p, what) for p in self.parts]) for what in ("center", "turn"))
        self._steps = self._rest_steps()
        self.above = [self._part_above(part.joint) for part in self.parts]
        self._cones = self._find_cones() if checks.flag(limits, "limits") else {}

    def add_to(self, scene: Scene, **options: Any) -> None:
        """Add it to a scene, as it is at rest; ``place`` puts it into a pose.

        Args:
            scene: The scene.
            **options: For its bodies, such as ``material=``.
        """
        given = {"group": self.name, **options}
        centers, turns = self._bodies(self.skeleton.rest)
        for part, name, center, turn in zip(self.parts, self.names, centers, turns, strict=True):
            scene.add_body(part.shape, mass=part.mass, name=name, position=center, orientation=turn, **given)
        for k, above in enumerate(self.above):
            if above >= 0:
                scene.add_joint(self._joint(k, above), name=f"{self.names[k]}_joint")
        for k, above in enumerate(self.above):
            # What hangs on the same part, or two joints away, overlaps at its ends.
            for other in range(k):
                if above >= 0 and (self.above[other] == above or self.above[above] == other):
                    scene.exclude(self.names[k], self.names[other])

    def place(self, sim: Simulation, pose: Pose, velocities: tuple[Any, Any] | None = None) -> None:
        """Put the bodies of a simulation into a pose, at given velocities.

        Args:
            sim: The simulation of a scene that it was added to.
            pose: The pose.
            velocities: Velocities and angular velocities of all joints in the world, as ``clip.velocities(t)`` gives
                them; at rest if left out.
        """
        self._check_hinges(pose)
        self._check_cones(pose)
        centers, turns = self._bodies(pose)
        speeds = np.zeros((2, len(self.parts), 3)) if velocities is None else self._speeds(pose, centers, velocities)
        for name, center, turn, v, w in zip(self.names, centers, turns, *speeds, strict=True):
            body = sim[name]
            body.position, body.orientation, body.velocity, body.angular_velocity = center, turn, v, w

    def hand_over(self, sim: Simulation, clip: Clip, time: float) -> None:
        """Put the bodies of a simulation where a clip is at a time, as fast as it is.

        Args:
            sim: The simulation of a scene that it was added to.
            clip: The clip.
            time: Time in the clip [s].
        """
        self.place(sim, clip.pose(time), clip.velocities(time))

    def pose(self, sim: Simulation) -> Pose:
        """The pose that the bodies of a simulation are in."""
        rest = self.skeleton.rest
        turns, ways = np.array(rest.rotation), np.array(rest.translation)
        world = np.zeros((len(self.skeleton), 4))
        for j, parent in enumerate(self.skeleton.parents):
            above = world[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
            world[j] = rotation.multiply(above, rest.rotation[j])
            if j in self._number:
                part = self.parts[self._number[j]]
                body = sim[self.names[self._number[j]]]
                world[j] = rotation.multiply(body.orientation, rotation.conjugate(part.turn))
                turns[j] = rotation.multiply(rotation.conjugate(above), world[j])
        found = Pose(turns, ways, rest.scale)
        first = self.parts[0].joint
        place = sim[self.names[0]].position - rotation.rotate(world[first], self.parts[0].center)
        return self._shifted(found, first, place)

    def fallen(self, sim: Simulation) -> bool:
        """Whether the figure has fallen: its first part is lower than three fifths of its height at rest."""
        rest = self.skeleton.matrices(self.skeleton.rest)
        tall = float(rest[self.parts[0].joint, 2, 3] - rest[:, 2, 3].min())
        return float(sim[self.names[0]].position[2]) < LOW * tall

    def orientations(self, pose: Pose) -> Floats:
        """Orientations of the bodies in a pose (parts, 4)."""
        return self._bodies(pose)[1]

    def _joint(self, k: int, above: int) -> Ball | Revolute:
        """The joint between two parts, at rest."""
        joint = self.skeleton.joints[self.parts[k].joint]
        frame = self.skeleton.matrices(self.skeleton.rest)[self.parts[k].joint]
        axis = self._hinge(self.parts[k].joint)
        if axis is None:
            cone = self._cones.get(k)
            return Ball(self.names[above], self.names[k], at=frame[:3, 3], **(cone.options() if cone else {}))
        limits = joint.limits[2 - axis]
        return Revolute(self.names[above], self.names[k], at=frame[:3, 3], axis=frame[:3, axis], limits=limits)

    def _hinge(self, joint: int) -> int | None:
        """The axis of a joint that turns about one alone; None where it is a ball joint."""
        limits = self.skeleton.joints[joint].limits
        if not self.hinges or limits is None:
            return None
        free = [2 - k for k, pair in enumerate(limits) if pair != (0.0, 0.0)]
        return free[0] if len(free) == 1 else None

    def _check_hinges(self, pose: Pose) -> None:
        for part in self.parts:
            axis = self._hinge(part.joint)
            if axis is None:
                continue
            rest = self.skeleton.rest.rotation[part.joint]
            turn = rotation.multiply(rotation.conjugate(rest), pose.rotation[part.joint])
            off = np.delete(rotation.rotation_vector_from_quaternion(turn), axis)
            if np.abs(off).max() > OFF_AXIS:
                raise InputError(
                    f"Joint {self.skeleton.names[part.joint]!r} of {self.name!r} is a hinge, and the pose turns it by "
                    f"{np.abs(off).max():.3g} rad about another axis; Ragdoll(..., hinges=False) takes any pose."
                )

    def _find_cones(self) -> dict[int, Cone]:
        """Limits of the ball joints, by parts: wide enough for the clips of the figure."""
        skeleton = self.skeleton
        rest = skeleton.matrices(skeleton.rest)
        balls = {p.joint: k for k, p in enumerate(self.parts) if self.above[k] >= 0 and self._hinge(p.joint) is None}
        bones = {}
        for j, k in balls.items():
            way = rest[j, :3, :3] @ self._centers[k]
            bones[j] = way / max(float(np.linalg.norm(way)), 1e-12)
        free = {j: bone for j, bone in bones.items() if skeleton.joints[j].limits is None}
        cones = cones_of_people(skeleton, free)
        cones |= {j: cone_of_limits(skeleton, j, bones[j]) for j in balls if j not in free}
        found = {balls[j]: cone for j, cone in cones.items()}
        for clip in self.figure.clips.values():
            times = np.linspace(clip.start, clip.duration, 1 + min(200, round((clip.duration - clip.start) * 30.0)))
            turned = np.array([self._turned(clip.pose(time)) for time in times])
            for k, cone in found.items():
                swing, twist = cone.angles(turned[:, self.above[k]], turned[:, k])
                found[k] = cone.wider(float(swing.max()), np.array([twist.min(), twist.max()]))
        return found

    def _turned(self, pose: Pose) -> Floats:
        """Turns of the bodies from rest in a pose (parts, 4)."""
        return np.asarray(
            rotation.multiply(self._bodies(pose)[1], rotation.conjugate(self._bodies(self.skeleton.rest)[1]))
        )

    def _check_cones(self, pose: Pose) -> None:
        turned = self._turned(pose)
        for k, cone in self._cones.items():
            swing, twist = cone.angles(turned[self.above[k]], turned[k])
            low, high = cone.twist or (-np.pi, np.pi)
            if (cone.swing is not None and swing > cone.swing) or not low <= twist <= high:
                raise InputError(
                    f"Joint {self.skeleton.names[self.parts[k].joint]!r} of {self.name!r} swings by {swing:.3g} rad "
                    f"and twists by {twist:.3g} rad in the pose, beyond its limits, {cone.swing or np.inf:.3g} and "
                    f"{low:.3g} to {high:.3g} rad; Ragdoll(..., limits=False) takes it."
                )

    def _bodies(self, pose: Pose) -> tuple[Floats, Floats]:
        """Centres (parts, 3) and orientations (parts, 4) of the bodies in a pose."""
        frames = self._rigid(pose)[self._joints]
        centers = frames[:, :3, 3] + (frames[:, :3, :3] @ self._centers[:, :, None])[..., 0]
        return centers, rotation.multiply(rotation.quaternion_from_matrix(frames[:, :3, :3]), self._turns)

    def _rigid(self, pose: Pose) -> Floats:
        """Frames of all joints (joints, 4, 4), without scale: those that are no part stay as at rest."""
        frames = _unscaled(self.skeleton.matrices(pose))
        found = frames.copy()
        for j, parent in enumerate(self.skeleton.parents):
            if parent >= 0:
                found[j] = found[parent] @ self._steps[j]
                if j in self._number:
                    found[j, :3, :3] = frames[j, :3, :3]
        return found

    def _rest_steps(self) -> Floats:
        """Frames of the joints in those of their parents at rest (joints, 4, 4), in metres and without scale."""
        frames = _unscaled(self.skeleton.matrices(self.skeleton.rest))
        return np.array(
            [
                frame if p < 0 else np.linalg.solve(frames[p], frame)
                for p, frame in zip(self.skeleton.parents, frames, strict=True)
            ]
        )

    def _speeds(self, pose: Pose, centers: Floats, velocities: tuple[Any, Any]) -> Floats:
        """Velocities and angular velocities of the bodies (2, parts, 3): those of the first part, and what turns do."""
        v, w = (checks.array(a, (len(self.skeleton), 3), "The velocities of a ragdoll") for a in velocities)
        frames = self._rigid(pose)
        found = np.zeros((2, len(self.parts), 3))
        for k, (part, above) in enumerate(zip(self.parts, self.above, strict=True)):
            at = frames[part.joint, :3, 3]
            found[1, k] = w[part.joint]
            carried = v[part.joint]
            if above >= 0:
                carried = found[0, above] + np.cross(found[1, above], at - centers[above])
            found[0, k] = carried + np.cross(found[1, k], centers[k] - at)
        return found

    def _shifted(self, pose: Pose, joint: int, place: Floats) -> Pose:
        """A pose with a joint at a place, by the translation of its root."""
        frames = self.skeleton.matrices(pose)
        root = joint
        while self.skeleton.parents[root] >= 0:
            root = int(self.skeleton.parents[root])
        ways = np.array(pose.translation)
        ways[root] += place - frames[joint, :3, 3]
        return Pose(pose.rotation, ways, pose.scale)

    def _part_above(self, joint: int) -> int:
        at = int(self.skeleton.parents[joint])
        while at >= 0 and at not in self._number:
            at = int(self.skeleton.parents[at])
        return self._number.get(at, -1)

    def _height(self) -> float:
        return float(np.ptp(self.skeleton.matrices(self.skeleton.rest)[:, 2, 3]))


def _unscaled(frames: Floats) -> Floats:
    """Frames (joints, 4, 4) without scales; files of single precision have axes that are not quite square."""
    found = frames.copy()
    turns = frames[:, :3, :3] / np.linalg.norm(frames[:, :3, :3], axis=1, keepdims=True)
    found[:, :3, :3] = rotation.orthonormalise(turns)
    return found
