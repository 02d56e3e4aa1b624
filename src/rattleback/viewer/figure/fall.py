"""The fall of a figure: its ragdoll on the ground, from any pose of its clips and as fast as it was, and the way back.

Pose and velocities are handed over in closed form, from two poses that are a moment apart. What is strong holds on to
the pose it had by torques of its joints; what is limp does not.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.pose import Pose
from rattleback.characters.ragdoll.doll import Ragdoll
from rattleback.characters.ragdoll.muscles import Muscles
from rattleback.maths.rotation import rotate
from rattleback.model import Scene
from rattleback.shapes import Plane
from rattleback.simulation import Simulation
from rattleback.viewer.frame import take_picture
from rattleback.viewer.interaction.grab import grab
from rattleback.viewer.interaction.push import strike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.figure import Figure
    from rattleback.characters.skin import Skin
    from rattleback.viewer.frame import Picture
    from rattleback.viewer.interaction.grab import Grab

    Floats = NDArray[np.float64]

STEP = 1.0 / 240.0
# Two poses of clips for the velocities are so far apart [s].
MOMENT = 1e-3
# A person of this height has this mass; others as much more as they are larger [m, kg], in this gravity [m/s²].
HEIGHT, MASS, GRAVITY = 1.75, 70.0, 9.81
# Steps of one frame of the page take no longer than this [s]; what is left of its time is forgiven.
PATIENCE = 0.05


class Fall:
    """A figure that falls, or may.

    Attributes:
        doll: Its bodies and joints.
        sim: The simulation they are in.
        active: Whether it falls.
        strength: Greatest torque of its joints, in weights of the figure times its height; 0 for limp.

    Args:
        figure: The figure, in metres with z up.
        skins: What its bodies are fitted to.
        floor: Height of the ground [m].
        strength: The same.
    """

    def __init__(self, figure: Figure, skins: list[Skin], floor: float, strength: float = 0.0) -> None:
        height = _height(skins)
        mass = MASS * (height / HEIGHT) ** 3
        own = type(figure)(figure.skeleton, figure.clips, {skin.name: skin for skin in skins[:1]})
        self.doll = Ragdoll(own, mass, hinges=False, limits=False)
        self._scene = Scene(name=figure.skeleton.name)
        self._scene.add_static(Plane(offset=floor))
        self.doll.add_to(self._scene)
        self.active, self.strength, self._due = False, strength, 0.0
        self._muscles: Muscles | None = None
        if strength > 0.0:
            rest, torque = figure.skeleton.rest, strength * mass * GRAVITY * height
            self._muscles = Muscles(self.doll, _clip(rest, rest, 1.0, self.doll), strength=torque)
            self._scene.add_force(self._muscles.force())
        self.sim = Simulation(self._scene, time_step=STEP, warn=False)

    def begin(self, before: Pose, pose: Pose, seconds: float) -> None:
        """Fall from a pose.

        Args:
            before: The pose a moment ago.
            pose: The pose now.
            seconds: How long ago that was [s].
        """
        self.stand(before, pose, seconds)
        if self._muscles is not None:
            self._muscles.clip, self._muscles.start = _clip(pose, pose, 1.0, self.doll), self.sim.time
        self.active, self._due = True, 0.0

    def stand(self, before: Pose, pose: Pose, seconds: float) -> None:
        """Put the bodies into a pose, as fast as the way from the one before."""
        self.doll.hand_over(self.sim, _clip(before, pose, seconds, self.doll), seconds)

    def advance(self, seconds: float) -> None:
        """Go on by so many seconds, as far as there is time for it."""
        self._due += seconds
        end = time.perf_counter() + PATIENCE
        while self._due >= STEP:
            self.sim.step()
            self._due = self._due - STEP if time.perf_counter() < end else 0.0

    def pose(self) -> Pose:
        """The pose that the bodies are in."""
        return self.doll.pose(self.sim)

    def hold(self, point: Floats) -> Grab:
        """The body that is nearest to a point (3,) [m], held there."""
        picture = self.picture()
        away = [self._away(k, name, point) for k, name in enumerate(self.doll.names)]
        return grab(picture, self.doll.names[int(np.argmin(away))], point)

    def picture(self) -> Picture:
        """The bodies as the mouse sees them."""
        return take_picture(self.sim, "", (), {})

    def strike(self, held: Grab, impulse: Floats) -> None:
        """Strike a body at the point that is held (3,) [N s]."""
        strike(self.sim, held, impulse)

    def _away(self, k: int, name: str, point: Floats) -> float:
        """How far a point is outside of a body [m]."""
        body, shape = self.sim[name], self.doll.parts[k].shape
        axis = rotate(body.orientation, (0.0, 0.0, 1.0))
        way = point - body.position
        along = float(np.clip(way @ axis, -0.5 * shape.straight, 0.5 * shape.straight))
        return float(np.linalg.norm(way - along * axis)) - shape.radius


def _clip(pose: Pose, next_pose: Pose, seconds: float, doll: Ragdoll) -> Clip:
    """A clip from one pose to another in so many seconds."""
    both = zip(*((one.rotation, one.translation, one.scale) for one in (pose, next_pose)), strict=True)
    return Clip.from_poses(doll.skeleton, Pose(*(np.stack(pair) for pair in both)), seconds, "moment")


def _height(skins: list[Skin]) -> float:
    """How tall a figure is at rest, or how large where it has no height [m]."""
    points: Any = np.concatenate([skin.vertices(skin.skeleton.rest) for skin in skins])
    sizes = np.ptp(points, axis=0)
    return float(sizes[2]) if sizes[2] > 0.1 * sizes.max() else float(sizes.max())
