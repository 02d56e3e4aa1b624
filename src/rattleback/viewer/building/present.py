"""Where bodies are now, and a scene that starts there.

    p_A = R_A0 R_Aᵀ (p − x_A) + x_A0

p a point that is meant now, p_A where it is at the start if it sits on body A; x_A, R_A place and turn of A now, x_A0,
R_A0 at the start. In a scene that starts where bodies are now, joints between bodies that have moved are placed by the
frames they have on these, which do not change; so their angles and positions count from where they did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.joints import Gear, Rack
from rattleback.maths.rotation import conjugate, multiply, rotate
from rattleback.model.measure import worlds_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]
    Pose = tuple[Floats, Floats]
    Frame = tuple[tuple[float, ...], tuple[float, ...]]

MOTION = ("position", "orientation", "velocity", "angular_velocity")
IN_WORLD = ("at", "axis", "at_b", "axis_b")


@dataclass(frozen=True)
class Present:
    """The bodies of a scene at a moment.

    Attributes:
        scene: The scene, with where they start.
        position: Centres of mass now (bodies, 3) [m].
        orientation: Quaternions x, y, z, w now (bodies, 4).
        velocity: Velocities now (bodies, 3) [m/s].
        angular_velocity: Angular velocities now (bodies, 3) [rad/s].
    """

    scene: Scene
    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats

    def pose(self, name: str) -> tuple[Floats, Floats]:
        """Place (3,) [m] and turn (4,) of a body now; those of the world never change."""
        if name == self.scene.world.name:
            return np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))
        row = self.scene.index(name)
        return self.position[row], self.orientation[row]

    def is_at_start(self, name: str) -> bool:
        """Whether a body is where it starts."""
        if name == self.scene.world.name:
            return True
        body, (place, turn) = self.scene[name], self.pose(name)
        return np.array_equal(body.position, place) and np.array_equal(body.orientation, turn)

    def point_at_start(self, name: str, point: Any) -> tuple[float, ...]:
        """Where a point (3,) [m], which sits on a body, is at the start."""
        return self._carried(name, point, self.pose(name), self._start(name))

    def point_now(self, name: str, point: Any) -> tuple[float, ...]:
        """Where a point (3,) [m], which sits on a body at the start, is now."""
        return self._carried(name, point, self._start(name), self.pose(name))

    def _start(self, name: str) -> tuple[Floats, Floats]:
        if name == self.scene.world.name:
            return self.pose(name)
        return self.scene[name].position, self.scene[name].orientation

    def _carried(self, name: str, point: Any, pose: Pose, other: Pose) -> tuple[float, ...]:
        """Where a point of a body at a pose is when the body is at another one."""
        if self.is_at_start(name):
            return tuple(map(float, point))
        local = rotate(conjugate(pose[1]), np.asarray(point, np.float64) - pose[0])
        return tuple((other[0] + rotate(other[1], local)).tolist())


def present_of(sim: Simulation) -> Present:
    """The bodies of a simulation, in its first world."""
    rows = (np.array(worlds_first(sim.model, sim.state.picture(name))[0], dtype=np.float64) for name in MOTION)
    return Present(sim.scene, *rows)


def start_now(scene: Scene, present: Present) -> None:
    """Have a scene start where its bodies are now, with the velocities they have."""
    moved = {body.name for body in scene.bodies if not present.is_at_start(body.name)}
    joints = {
        name: _in_bodies(scene, name, joint)
        for name, joint in scene.joints.items()
        if moved & {joint.a, joint.b} and not joint.in_bodies
    }
    forces = {name: _carried_along(force, present) for name, force in scene.forces.items()}
    bodies = {
        row: replace(body, **{name: getattr(present, name)[row] for name in MOTION})
        for row, body in enumerate(scene.bodies)
    }
    scene.renew(bodies, joints, forces)


def _in_bodies(scene: Scene, name: str, joint: Any) -> Any:
    """A joint that is placed in the world, placed by its frames on the bodies."""
    if isinstance(joint, (Gear, Rack)):
        raise InputError(
            f"Joint {name!r} couples turns that count from the start, and its bodies have moved; go back to the start "
            "by Reset, then join."
        )
    frames = [
        _frame(scene, name, point, turn)
        for name, point, turn in zip((joint.a, joint.b), joint.points(), joint.frames(), strict=True)
    ]
    return replace(joint, **dict.fromkeys(IN_WORLD), frame_a=frames[0], frame_b=frames[1])


def _frame(scene: Scene, name: str, point: Floats, turn: Floats) -> Frame:
    """A frame in the world at the start, as a body has it."""
    if name == scene.world.name:
        return tuple(point.tolist()), tuple(turn.tolist())
    body = scene[name]
    local = rotate(conjugate(body.orientation), point - body.position) + body.center_of_mass
    return tuple(local.tolist()), tuple(multiply(conjugate(body.orientation), turn).tolist())


def _carried_along(force: Any, present: Present) -> Any:
    """A force whose points sit on bodies, with these points where they are now."""
    places = (("a", "at"), ("b", "at_b"), ("body", "at"))
    changes = {
        point: present.point_now(getattr(force, side), getattr(force, point))
        for side, point in places
        if isinstance(getattr(force, side, None), str) and getattr(force, point, None) is not None
    }
    return replace(force, **changes) if changes else force
