"""Where joints start in every world: their coordinates and rates, put into the state of a simulation.

    far side of a turn      x ← c + R (x − c),  q ← R q,  ω ← ω + q̇ z,  v ← v + q̇ z × (x − c)
    far side of a slide     x ← x + s z,                                v ← v + ṡ z

z axis of the joint and c its anchor on A, where the bodies lie then; R turn by the angle about z, s and ṡ way and its
rate. The far side is what hangs on body B alone, or on A alone, which then goes the other way; so the coordinates of
all other joints stay.

Cost: some array operations a joint, for all worlds at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.maths import rotation
from rattleback.model.coordinates import TURN, free_freedoms
from rattleback.problem.joint_rows import compile_joints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.model.model import Model
    from rattleback.model.scene import Scene
    from rattleback.model.state import State

    Starts = Mapping[tuple[str, str], NDArray[np.float64]]

MOTION = ("position", "orientation", "velocity", "angular_velocity")


def put_starts(model: Model, state: State, starts: Starts) -> None:
    """Put joints where they start.

    Args:
        model: The model.
        state: Its state, at the start of its scenes.
        starts: Values (worlds,) by joint and ``"angle"``, ``"position"`` or ``"velocity"`` [rad, m, rad/s or m/s].
    """
    if not starts:
        return
    found = _Start(model, state)
    for (joint, what), values in starts.items():
        if what != "velocity":
            found.place(joint, values, what == "angle")
    for (joint, what), values in starts.items():
        if what == "velocity":
            found.move(joint, values)
    found.write(state)


class _Start:
    """The motion of all worlds while joints are put where they start."""

    def __init__(self, model: Model, state: State) -> None:
        self.model, worlds = model, model.worlds
        self.motion = {
            name: np.array(getattr(state.motion, name).numpy(), dtype=np.float64).reshape(worlds, len(model.names), -1)
            for name in MOTION
        }
        self.angle = np.array(state.joints.angle.numpy()).reshape(worlds, -1)
        rows = compile_joints(model).joints
        self.anchor = rows.anchor_a.numpy().astype(np.float64).reshape(worlds, -1, 3)
        self.turn = rows.turn_a.numpy().astype(np.float64).reshape(worlds, -1, 4)

    def place(self, joint: str, values: NDArray[np.float64], turns: bool) -> None:
        """Turn or slide the far side of a joint."""
        bodies, sign = far_side(self.model.scene, joint)
        center, z = self._axis(joint)
        place = self.motion["position"]
        if not turns:
            place[:, bodies] += (sign * values)[:, None, None] * z[:, None]
            return
        turn = rotation.quaternion_from_rotation_vector((sign * values)[:, None] * z)[:, None]
        place[:, bodies] = center[:, None] + rotation.rotate(turn, place[:, bodies] - center[:, None])
        whole = self.motion["orientation"]
        whole[:, bodies] = rotation.multiply(np.broadcast_to(turn, whole[:, bodies].shape), whole[:, bodies])
        self.angle[:, list(self.model.scene.joints).index(joint)] += values

    def move(self, joint: str, rates: NDArray[np.float64]) -> None:
        """Give the far side of a joint the motion of its rate."""
        bodies, sign = far_side(self.model.scene, joint)
        center, z = self._axis(joint)
        along = (sign * rates)[:, None, None] * z[:, None]
        if TURN in free_freedoms(self.model.scene.joints[joint]):
            self.motion["angular_velocity"][:, bodies] += along
            along = np.cross(along, self.motion["position"][:, bodies] - center[:, None])
        self.motion["velocity"][:, bodies] += along

    def write(self, state: State) -> None:
        """Write all into the state."""
        for name, values in self.motion.items():
            array = getattr(state.motion, name)
            array.assign(values.reshape(-1, values.shape[-1]).astype(array.numpy().dtype))
        state.joints.angle.assign(self.angle.ravel())

    def _axis(self, joint: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Anchor on A and axis of a joint in every world (worlds, 3)."""
        scene = self.model.scene
        k, name = list(scene.joints).index(joint), scene.joints[joint].a
        anchor, turn = self.anchor[:, k], self.turn[:, k]
        if name != scene.world.name:
            body = scene.index(name)
            whole = self.motion["orientation"][:, body]
            anchor = self.motion["position"][:, body] + rotation.rotate(whole, anchor)
            turn = rotation.multiply(whole, turn)
        return anchor, rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))


def far_side(scene: Scene, joint: str) -> tuple[list[int], float]:
    """The bodies that a joint moves alone, by index, and 1 where they hang on its body B, −1 where on A.

    Args:
        scene: The scene.
        joint: Name of the joint.
    """
    held = scene.joints[joint]
    for start, other, sign in ((held.b, held.a, 1.0), (held.a, held.b, -1.0)):
        bodies = _hanging(scene, joint, start, other)
        if bodies is not None:
            return [scene.index(name) for name in bodies], sign
    raise InputError(
        f"Joint {joint!r} cannot start elsewhere: neither of its bodies hangs on it alone, as other joints hold both "
        "sides. Put the bodies where they start in the scene."
    )


def _hanging(scene: Scene, joint: str, start: str, other: str) -> list[str] | None:
    """The bodies that hang on one body of a joint; None where they are held otherwise, too."""
    found: dict[str, Any] = {start: None}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in (scene.world.name, other) or scene[name].static:
            return None
        for label, own in scene.joints.items():
            if label != joint and name in (own.a, own.b):
                far = own.b if own.a == name else own.a
                if far not in found:
                    found[far] = None
                    waiting.append(far)
    return list(found)
