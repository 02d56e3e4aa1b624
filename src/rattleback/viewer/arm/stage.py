"""What is on the page beside its controls: the arm, its target, its workspace, and the ground below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.kinematics.workspace import sample
from rattleback.maths import rotation
from rattleback.recording.camera import Camera
from rattleback.viewer.arm.drawing import Arm, Ellipsoid, base_height, extent
from rattleback.viewer.arm.problem import is_flat
from rattleback.viewer.drawing.lookout import FIELD_OF_VIEW
from rattleback.viewer.drawing.surroundings import lay_grid, light, paint_sky
from rattleback.viewer.drawing.turns import wxyz

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.look import Look
    from rattleback.viewer.arm.problem import Question
    from rattleback.viewer.drawing.lookout import Lookout
    from rattleback.viewer.host import Host

    Floats = NDArray[np.float64]

SAMPLES = 20_000
POINTS = (140, 160, 188)
# Lengths in extents of the arm: arrows of the target, axes of the tool, room around the arm, points of the cloud.
ARROWS, AXES, ROOM, DOT = 0.45, 0.22, 0.2, 0.004

# A flat arm is looked at from above, others a little down [rad].
FROM_ABOVE, FROM_ASIDE = np.radians(55.0), np.radians(20.0)


class Stage:
    """Everything of one arm on the page.

    Attributes:
        arm: The arm.
        target: What the mouse drags.
        ellipsoid: How fast the tool moves each way.

    Args:
        host: What serves the page.
        question: The problem at first.
        look: What the links look like; sticks if left out.
    """

    def __init__(self, host: Host, question: Question, look: Look | None = None) -> None:
        self._scene, self.tree = host.server.scene, question.tree
        self._size = size = extent(self.tree)
        self._flat = is_flat(self.tree)
        self._cloud: Any = None
        paint_sky(self._scene)
        light(self._scene)
        self._surround(host.lookout, question)
        self.arm = Arm(self._scene, self.tree, question.start, look)
        self.ellipsoid = Ellipsoid(self._scene, self.tree)
        self.frame = self._scene.add_frame("/tool", axes_length=AXES * size, axes_radius=0.05 * AXES * size)
        self.target: Any = None
        self.aim_at(question.goal, question.turn)
        self.place(question.start, question.tool)

    def place(self, q: Floats, tool: str) -> Floats:
        """Move the arm to a configuration (coordinates,); returns the frame of the tool (4, 4)."""
        self.arm.place(q)
        tip = self.tree.forward(q, tool)
        self.frame.position, self.frame.wxyz = tip[:3, 3], _turn(tip)
        if self.ellipsoid.handle.visible:
            self.ellipsoid.place(q, tool)
        return tip

    def aim_at(self, goal: Floats, turn: bool) -> None:
        """Make the target anew at a place (4, 4), with arcs to turn it by or without."""
        if self.target is not None:
            self.target.remove()
        self.target = self._scene.add_transform_controls(
            "/target",
            scale=ARROWS * self._size,
            line_width=4.0,
            active_axes=(True, True, not self._flat),
            disable_rotations=not turn,
            depth_test=False,
            position=goal[:3, 3],
            wxyz=_turn(goal),
        )

    def move_target(self, goal: Floats) -> None:
        """Take the target elsewhere (4, 4)."""
        self.target.position, self.target.wxyz = goal[:3, 3], _turn(goal)

    @property
    def goal(self) -> Floats:
        """Where the target is (4, 4)."""
        found, turn = np.eye(4), np.roll(np.array(self.target.wxyz, dtype=np.float64), -1)
        found[:3, :3] = rotation.matrix_from_quaternion(turn / np.linalg.norm(turn))
        found[:3, 3] = self.target.position
        return found

    def show_cloud(self, visible: bool, tool: str) -> None:
        """Show the workspace of a tool, or not."""
        if self._cloud is not None:
            self._cloud.remove()
            self._cloud = None
        if visible:
            points = sample(self.tree, SAMPLES, tool).points
            self._cloud = self._scene.add_point_cloud(
                "/workspace", points, POINTS, point_size=DOT * self._size, point_shape="circle"
            )

    def remove(self) -> None:
        """Take everything off the page."""
        self.arm.remove()
        self.show_cloud(False, "tip")
        for handle in (self.ellipsoid.handle, self.frame, self.target, self._ground):
            handle.remove()

    def _surround(self, lookout: Lookout, question: Question) -> None:
        """Lay the ground and look at the arm."""
        base, depth = np.array(self.tree.base.position), base_height(self.tree)
        places = self.tree.frames(question.start)[:, :3, 3]
        seen = np.concatenate([places, [base, base - [0, 0, depth], question.goal[:3, 3]]])
        low, high = seen.min(axis=0) - ROOM * self._size, seen.max(axis=0) + ROOM * self._size
        low[2] = max(low[2], base[2] - depth) if not self._flat else low[2]
        diagonal = float(np.linalg.norm(high - low))
        corners = low + np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (high - low)
        plane = (np.array([0.0, 0.0, 1.0]), float(base[2]) - depth)
        self._ground = lay_grid(self._scene, "/ground", plane, 0.5 * (low + high), diagonal)
        camera = Camera(field_of_view=FIELD_OF_VIEW, elevation=FROM_ABOVE if self._flat else FROM_ASIDE)
        lookout.look_at(corners, diagonal, camera)


def _turn(matrix: Floats) -> Floats:
    """Orientation of a frame (4, 4) as the page wants it, w first."""
    return wxyz(rotation.quaternion_from_matrix(matrix[:3, :3]))
