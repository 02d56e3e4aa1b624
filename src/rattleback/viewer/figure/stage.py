"""What is on the page beside its controls: a figure in its clips or falling, its bones, its crowd, and the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.motion.blend import eased, mix
from rattleback.characters.motion.ground import hips_of
from rattleback.recording.camera import Camera
from rattleback.viewer.drawing.lookout import FIELD_OF_VIEW
from rattleback.viewer.drawing.surroundings import lay_grid, light, paint_sky
from rattleback.viewer.figure.act import Act
from rattleback.viewer.figure.bones import Bones
from rattleback.viewer.figure.fall import MOMENT, Fall
from rattleback.viewer.figure.opening import Room, looks_of, room_of
from rattleback.viewer.figure.playback import Playback, shifted
from rattleback.viewer.figure.skins import Look
from rattleback.viewer.figure.throng import Throng

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.characters.figure import Figure
    from rattleback.characters.pose import Pose
    from rattleback.viewer.host import Host

    Floats = NDArray[np.float64]

# How long it takes to go over from one clip to another, and from the ground to a clip [s].
OVER, UP = 0.3, 0.9
AT_WORK = "Bodies and joints are made. What is used for the first time is compiled, which takes some seconds."
# The camera looks down so far [rad], from the side, with so much room around the figure, in its sizes.
DOWN, ASIDE, ROOM = np.radians(12.0), np.radians(-55.0), 0.06
# A click beyond so many sizes of the figure is none on the ground.
FARTHEST = 12.0


class Stage:
    """A figure on the page.

    Attributes:
        figure: The figure, in metres with z up.
        playback: Its clips.
        looks: What it can look like, by name.
        look: What it looks like; None for bones alone.
        bones: Its skeleton.
        throng: The crowd; None for one figure.
        fall: Its fall; None until it fell.
        act: What it does as it is told; None where it follows its clips.
        pose: The pose it is in.
        method: How it is skinned.
        joint: The joint that is chosen; −1 for none.
        strength: How strong the joints of the bodies are that fall, see ``Fall``.
        sent: Bytes of the last frame.
        listen: Called with every new node of the figure.

    Args:
        host: What serves the page.
        figure: The figure.
        clip: The clip that is played at first; the first if left out.
    """

    def __init__(self, host: Host, figure: Figure, clip: str | None = None) -> None:
        self._host, self._scene, self.figure = host, host.server.scene, figure
        self.playback, self.looks = Playback(figure, clip), looks_of(figure)
        self.method, self.joint, self._weights, self.sent = "linear", -1, False, 0
        self.listen: Callable[[Any], None] = lambda handle: None
        self.throng: Throng | None = None
        self.fall: Fall | None = None
        self.act: Act | None = None
        self.strength, self._anchor = 0.0, np.zeros(3)
        self._from: Pose | None = None
        self._passed, self._over = 0.0, OVER
        self._name = next(iter(self.looks), "")
        skins = self.looks.get(self._name, [])
        self.room = room_of(self.playback, skins)
        paint_sky(self._scene)
        light(self._scene)
        self._ground: Any = None
        self.bones = Bones(self._scene, figure.skeleton)
        self.look: Look | None = Look(self._scene, skins) if skins else None
        self.bones.reveal(self.look is None)
        self.pose: Pose = self.playback.pose()
        self._fresh, self._stale = True, False
        self.look_at_all()

    def tick(self, seconds: float, playing: bool) -> None:
        """Go on by so many seconds and show what there is."""
        falls = self.fall is not None and self.fall.active
        goes_on: Any = self.fall if falls else self.act if self.act is not None else self.playback
        moved = playing and goes_on.advance(seconds) is not False
        if self._from is not None and not falls:
            self._passed += seconds
            moved = True
        if self._stale and self.throng is not None:
            self.throng.bake(self.method)
        if moved or self._fresh:
            self._fresh = self._stale = False
            self._show()

    def renew(self) -> None:
        """Something else is to be seen: weights, phase or method have changed."""
        self._fresh = self._stale = True

    def scrubbed(self) -> None:
        """The clips were moved by hand."""
        self._from, self._fresh = None, True

    def choose_clip(self, clip: str) -> None:
        """Go over to one clip alone."""
        self.playback.choose(clip)
        self.leave(OVER)
        self.renew()

    def leave(self, seconds: float) -> None:
        """Go over from the pose it is in, to what the clips want, in so many seconds."""
        self._from, self._passed, self._over = self.pose, 0.0, seconds
        self._fresh = True

    def choose_look(self, name: str) -> None:
        """Wear another look; an empty name for none."""
        self._name, self._fresh = name, True
        if self.look is not None:
            self.look.remove()
        self.look = Look(self._scene, self.looks[name]) if name else None
        if self.look is None:
            self.bones.reveal(True)
        self._dress()
        if self.throng is not None:
            self.gather(len(self.throng.homes))

    def choose_joint(self, joint: int, weights: bool) -> None:
        """Have a joint stand out; −1 for none.

        Args:
            joint: The joint.
            weights: Whether the skin is coloured by how much it follows it.
        """
        before = self.joint if self._weights else -1
        self.joint, self._weights, self._fresh = joint, weights, True
        self.bones.choose(joint)
        if before != (joint if weights else -1) and self.look is not None:
            self._dress()

    def name(self, everything: bool) -> None:
        """Write the names of all joints, or that of the chosen one."""
        count = len(self.figure.skeleton)
        self.bones.name(set(range(count)) if everything else {self.joint} - {-1})

    def show_bones(self, visible: bool) -> None:
        """Show the skeleton inside a skin of glass, or not."""
        self.bones.reveal(visible and self.throng is None)
        if self.look is not None:
            self.look.glass(visible)
        self._fresh = True

    def gather(self, count: int) -> None:
        """Have a crowd of so many; one is the figure alone."""
        if self.throng is not None:
            self.throng.remove()
            self.throng = None
        if count > 1 and self.look is not None:
            self.act = None
            if self.fall is not None:
                self.fall.active = False
            wide = float((self.room.high - self.room.low)[:2].max())
            self.throng = Throng(self._scene, self.playback, self.look, count, wide)
            self.throng.bake(self.method)
        for handle in self.look.handles if self.look is not None else ():
            handle.visible = self.throng is None
        self._fresh = True
        self.look_at_all()

    def listen_to_commands(self, wished: bool) -> None:
        """Do as it is told, from where it is; or follow the clips there."""
        if wished:
            self.gather(1)
            act = Act(self.figure, self._hips(self.pose)[:2], float(self.room.low[2]))
            if self.fall is not None:
                self.fall.active = False
            self.act = act
            self.leave(OVER)
        elif self.act is not None:
            self.act = None
            self.rise()

    def drop(self) -> None:
        """Let it fall from where it is, as fast as it is."""
        self.ready()
        fall: Any = self.fall
        fall.begin(*self._moment())
        self._from = None

    def ready(self) -> None:
        """Make the bodies that fall, unless they are there, and put them where the figure is."""
        if self.fall is None or not (self.fall.active or self.fall.strength == self.strength):
            skins = self.looks[self._name] if self._name else next(iter(self.looks.values()), [])
            self._host.show_waiting(AT_WORK)
            try:
                self.fall = Fall(self.figure, skins, float(self.room.low[2]), self.strength)
                self.fall.stand(*self._moment())
                self.fall.sim.step()
            finally:
                self._host.show_waiting("")
        if not self.fall.active:
            self.fall.stand(*self._moment())

    def rise(self, middle: bool = False) -> None:
        """Go back to the clips from where it lies, there or in the middle."""
        if self.fall is not None:
            self.fall.active = False
        hips = self._hips(self.pose)
        if self.act is not None:
            self.act = Act(self.figure, np.zeros(2) if middle else hips[:2], float(self.room.low[2]))
        self._anchor = np.zeros(3) if middle else hips - self._hips(self.playback.pose())
        self._anchor[2] = 0.0
        self.leave(UP)

    def look_at_all(self) -> None:
        """Turn the cameras to all there is."""
        room = room_of(self.playback, self.looks.get(self._name, [])) if self.playback.travels else self.room
        apart = self._anchor if self.act is None else np.append(self.act.actor.place, 0.0)
        corners, size = room.corners + apart, room.size
        if self.throng is not None:
            reach = 0.5 * np.array([self.throng.field, self.throng.field, 0.0])
            room = Room(room.low - reach, room.high + reach)
            corners, size = room.corners, room.size
        middle = corners.mean(axis=0)
        self._lay(middle, size)
        corners = middle + (1.0 + 2.0 * ROOM) * (corners - middle)
        down = DOWN if self.throng is None else 2.0 * DOWN
        self._host.lookout.look_at(corners, size, Camera(field_of_view=FIELD_OF_VIEW, elevation=down, azimuth=ASIDE))

    def pick(self, origin: Floats, direction: Floats) -> int:
        """The joint that a click means: the one that is met, or that the skin follows most where it is met; or −1."""
        found = self.bones.pick(origin, direction) if self.bones.visible else None
        if found is None and self.look is not None and self.throng is None:
            met = self.look.pick(origin, direction)
            found = None if met is None else met[1]
        return -1 if found is None else found

    def ground(self, origin: Floats, direction: Floats) -> Floats | None:
        """Where a ray meets the ground (2,) [m]; None where it does not, or far away."""
        if direction[2] >= 0.0 or origin[2] <= self.room.low[2]:
            return None
        place = (origin + (self.room.low[2] - origin[2]) / direction[2] * direction)[:2]
        return place if np.linalg.norm(place - self._hips(self.pose)[:2]) < FARTHEST * self.room.size else None

    def remove(self) -> None:
        """Take everything off the page."""
        for part in (self.look, self.throng, self.bones, self._ground):
            if part is not None:
                part.remove()

    def _lay(self, middle: Floats, size: float) -> None:
        """Lay the ground."""
        if self._ground is not None:
            self._ground.remove()
        plane = (np.array([0.0, 0.0, 1.0]), float(self.room.low[2]))
        self._ground = lay_grid(self._scene, "/ground", plane, middle, size)

    def _show(self) -> None:
        """Send what there is. While a thread is in here, the page sends nothing else, so this is brief."""
        if self.throng is not None:
            with self._host.server.atomic():
                self.sent = self.throng.show()
            return
        self.pose = self._now()
        places = self.figure.skeleton.matrices(self.pose)[:, :3, 3]
        with self._host.server.atomic():
            self.sent = self.bones.show(places)
            if self.look is not None:
                self.sent += self.look.show(self.pose, self.method)

    def _now(self) -> Pose:
        """The pose it is to be in."""
        if self.fall is not None and self.fall.active:
            return self.fall.pose()
        if self.act is not None:
            wanted = self.act.pose
        else:
            wanted = shifted(self.figure.skeleton, self.playback.pose(), self._anchor)
        if self._from is None:
            return wanted
        part = float(eased(self._passed / self._over))
        pose = mix(self._from, wanted, part)
        self._from = None if part >= 1.0 else self._from
        return pose

    def _moment(self) -> tuple[Pose, Pose, float]:
        """The pose it was in, the one it is in, and the time between them [s]."""
        if self._from is not None:
            return self.pose, self.pose, MOMENT
        if self.act is not None:
            before, seconds = self.act.before
            return before, self.act.pose, seconds
        playback = self.playback
        step = MOMENT * playback.speed / playback.duration if playback.duration > 0.0 else 0.0
        # Clips begin at phase zero; there, the moment after it counts.
        phases = np.array([playback.phase - step, playback.phase])
        poses = playback.pose(phases - min(0.0, float(phases[0])))
        poses = shifted(self.figure.skeleton, poses, np.tile(self._anchor, (2, 1)))
        return poses[0], poses[1], MOMENT

    def _dress(self) -> None:
        """Colour the look anew."""
        if self.look is not None:
            self.look.colour(self.joint if self._weights and self.joint >= 0 else None)
            self.look.glass(self.bones.visible)
            for handle in self.look.handles:
                handle.visible = self.throng is None
                self.listen(handle)

    def _hips(self, pose: Pose) -> Floats:
        skeleton = self.figure.skeleton
        return np.array(skeleton.matrices(pose)[hips_of(skeleton), :3, 3])
