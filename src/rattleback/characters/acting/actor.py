"""Actors: figures that do as they are told, one thing after the other, as one motion.

    actor = Actor(figure);   actor.do("walk", to=(3, 1)).do("sit");   actor.advance(1/60) → pose;   actor.clip() → clip

A command begins where the one before is done: a walk where the figure stands at its goal, or comes by it if it is to go
on from there; sitting down where it sits; a look or a reach where it has come to its point, which it then keeps
following until told otherwise; a clip where it ends. Poses follow each other without a jump, and no later moment is
looked at, so that an actor can be told something else at any time.

Cost: some 5 ms a moment for forty joints.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.acting.anatomy import SIDES, anatomy
from rattleback.characters.acting.command import MOVES, POSTURES, Command
from rattleback.characters.acting.gaits import own_clip
from rattleback.characters.acting.mover import AIMING, Aim, Layer, Mover
from rattleback.characters.acting.played import Played, posture
from rattleback.characters.clip import Clip
from rattleback.characters.motion.blend import branch
from rattleback.characters.pose import Pose
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.acting.hurdle import Hurdle
    from rattleback.characters.figure import Figure

    Floats = NDArray[np.float64]

# How long figures stand and go unless told, and the longest motion that a clip is made of [s].
STANDING, GOING, LONGEST = 0.5, 2.0, 600.0


@sealed
class Actor:
    """A figure that does as it is told.

    Attributes:
        figure: The figure.
        parts: What its joints are.

    Args:
        figure: The figure, in metres with z up, looking along x; see ``Figure.in_world``.
        place: Where it stands at first (2,) [m].
        heading: Where it looks at first, a turn about z from x [rad].
        clips: Names of its clips for ``"walk"``, ``"run"``, ``"stand"``, ``"sit"`` and ``"crouch"``, where they are not
            called so. What it has no clip for is taken from the person that comes with the package.
    """

    def __init__(
        self,
        figure: Figure,
        place: ArrayLike = (0.0, 0.0),
        heading: float = 0.0,
        *,
        clips: Mapping[str, str] | None = None,
    ) -> None:
        self.figure, self.parts = figure, anatomy(figure.skeleton)
        self._names = {kind: figure.clip(name).name and name for kind, name in dict(clips or {}).items()}
        start = checks.array(place, (2,), "The place of an actor")
        self._mover = Mover(figure, self.parts, self._names, start, checks.number(heading, "The heading of an actor"))
        self._queue: deque[Command] = deque()
        self._now: Command | None = None
        self._since = 0.0
        self._made: dict[str, Played] = {}

    def __repr__(self) -> str:
        return f"<actor of {self.figure.skeleton.name!r}: {self.doing or 'stands'}, {len(self._queue)} commands wait>"

    @property
    def time(self) -> float:
        """Time since it began [s]."""
        return self._mover.time

    @property
    def doing(self) -> str:
        """Name of the command that it follows; empty where all are done."""
        return self._now.name if self._now else ""

    @property
    def idle(self) -> bool:
        """Whether it has done all that it was told."""
        return self._now is None and not self._queue

    @property
    def place(self) -> Floats:
        """Where it is on the ground (2,) [m]."""
        return self._mover.walker.place.copy()

    @property
    def heading(self) -> float:
        """Where it looks, a turn about z from x [rad]."""
        return self._mover.walker.heading

    @property
    def slide(self) -> float:
        """The farthest that a foot has slid while it stood [m]."""
        return self._mover.feet.slide

    @property
    def off(self) -> dict[str, float]:
        """How far off its aims are: ``"look"`` [rad], ``"left_hand"`` and ``"right_hand"`` [m]."""
        return dict(self._mover.off)

    @property
    def hurdles(self) -> list[Hurdle]:
        """What it steps over; append to it."""
        return self._mover.feet.hurdles

    def do(self, command: str, **options: Any) -> Actor:
        """Do something when all that it was told before is done.

        Args:
            command: ``"walk"``, ``"run"``, ``"stand"``, ``"sit"``, ``"crouch"``, ``"look"``, ``"reach"`` or a clip's
                name.
            **options: ``to=`` where to go (2,), a path (points, 2), or what to look at or reach for (3,) [m], none to
                let go; ``with_=`` the hand that reaches, or the joints or the arm that play a clip while it does
                other things; ``speed=`` [m/s]; ``seconds=``; ``facing=`` heading to end with [rad].
        """
        unknown = [name for name in options if name not in ("to", "with_", "speed", "seconds", "facing")]
        if unknown:
            raise InputError(f"A command takes to=, with_=, speed=, seconds= and facing=, not {unknown[0]}=.")
        told = Command(command, **options).check(self.figure.clips)
        if told.name == "reach":
            self.parts.arm(told.with_ or "right_hand")
        if told.with_ is not None and told.name != "reach":
            self._joints(told)
        self._queue.append(told)
        return self

    def stop(self) -> Actor:
        """Forget all commands, and come to a stand."""
        self._queue.clear()
        self._now = None
        walker = self._mover.walker
        walker.points, walker.ahead = np.zeros((0, 2)), False
        self._mover.leave()
        return self

    def advance(self, time_step: float) -> Pose:
        """Go on, and give the pose.

        Args:
            time_step: By how much [s]; steps of a sixtieth are made of longer ones.
        """
        whole = checks.positive(time_step, "The time_step of an actor")
        parts = max(1, int(np.ceil(whole * 60.0 - 1e-9)))
        for _ in range(parts):
            self._command()
            pose = self._mover.step(whole / parts)
        return pose

    def clip(self, seconds: float | None = None, frame_time: float = 1.0 / 60.0, name: str = "acted") -> Clip:
        """A clip of what it does from now on.

        Args:
            seconds: How long [s]; until all is done if left out.
            frame_time: Time between frames [s].
            name: What the clip is called.
        """
        step = checks.positive(frame_time, "The frame_time of a clip")
        most = LONGEST if seconds is None else checks.positive(seconds, "The seconds of a clip")
        poses = [self.advance(step)]
        for _ in range(round(most / step)):
            if seconds is None and self.idle and self._mover.still_or_held:
                break
            poses.append(self.advance(step))
        whole = Pose(*(np.stack([getattr(p, part) for p in poses]) for part in ("rotation", "translation", "scale")))
        return Clip.from_poses(self.figure.skeleton, whole, step, name)

    def _command(self) -> None:
        """Begin the next command where the one before is done."""
        while (self._now is None or self._done(self._now)) and (self._queue or self._now):
            self._now = self._queue.popleft() if self._queue else None
            self._since = self.time
            if self._now is not None:
                self._begin(self._now)

    def _begin(self, told: Command) -> None:
        mover, walker = self._mover, self._mover.walker
        if told.name in MOVES:
            mover.leave()
            walker.points = np.zeros((0, 2)) if told.to is None else told.to
            walker.ahead, walker.pace = told.to is None, told.speed or mover.speeds[told.name]
            walker.facing = np.nan if told.facing is None else told.facing
        elif told.name == "stand":
            mover.leave()
            walker.facing = walker.facing if told.facing is None else told.facing
        elif told.name == "look":
            self._aim("look", told.to)
        elif told.name == "reach":
            side = (told.with_ or "right_hand").split("_")[0]
            self._aim(side, told.to)
        elif told.with_ is not None:
            clip = self.figure.clips[told.name]
            share = branch(self.figure.skeleton, self._joints(told))
            mover.layers.append(Layer(clip, share, self.time, self.time + self._length(told)))
        else:
            mover.play(self._motion(told.name))

    def _aim(self, name: str, point: Floats | None) -> None:
        aims, time = self._mover.aims, self.time
        if point is not None and name not in aims:
            aims[name] = Aim(point, time)
        elif name in aims:
            aims[name].set(point, time)

    def _done(self, told: Command) -> bool:
        mover, walker, gone = self._mover, self._mover.walker, self.time - self._since
        if told.name in MOVES:
            going_on = bool(self._queue) and self._queue[0].name in MOVES and told.facing is None
            walker.through = going_on
            if told.to is None and gone >= (told.seconds or GOING):
                walker.ahead = False
            return walker.passed if going_on and told.to is not None else not walker.ahead and mover.still
        if told.name == "stand":
            return gone >= (told.seconds or STANDING) and mover.still
        if told.name in ("look", "reach"):
            return gone >= AIMING
        if told.with_ is not None:
            return True
        if mover.played < self._motion(told.name).duration + (told.seconds or 0.0 if told.name in POSTURES else 0.0):
            return False
        if told.name not in POSTURES:
            mover.leave()
        return True

    def _motion(self, name: str) -> Played:
        if name not in self._made:
            clip = own_clip(self.figure, (name,), self._names)
            made = clip if clip is not None else posture(self.parts, self._mover.stand, name)
            self._made[name] = Played(made, self.parts, self._mover.floor)
        return self._made[name]

    def _length(self, told: Command) -> float:
        clip = self.figure.clips[told.name]
        return told.seconds or clip.duration - clip.start

    def _joints(self, told: Command) -> list[str]:
        """Joints of the skeleton that a clip is to play on alone."""
        given = [told.with_] if isinstance(told.with_, str) else list(told.with_)
        found = []
        for name in given:
            side = str(name).partition("_")[0]
            limb = name not in self.figure.skeleton.names and side in SIDES
            found.append(self.parts.arm(name).upper if limb else name)
            self.figure.skeleton.number(found[-1])
        return found
