"""A mover: the motion of an actor, made anew each moment of what it is set to.

    gait of the walker  →  blended with what is played  →  arms that play something else  →  placed on the ground
    →  feet held, hips low enough  →  head and hands aimed

Each moment follows from the one before and from what is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.characters.acting.aims import look_at, reach_for
from rattleback.characters.acting.feet import Feet
from rattleback.characters.acting.gaits import at_ease, clearance, gait_of
from rattleback.characters.acting.played import Played
from rattleback.characters.acting.walker import Walker
from rattleback.characters.motion.blend import eased, mix
from rattleback.characters.motion.cycle import Cycle
from rattleback.characters.motion.foot import about_z
from rattleback.characters.motion.footfall import BALL, OFF, Stance
from rattleback.characters.motion.footing import soles
from rattleback.characters.motion.ground import moved
from rattleback.characters.motion.locomotion import Locomotion
from rattleback.characters.pose import Pose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.characters.acting.anatomy import Anatomy
    from rattleback.characters.clip import Clip
    from rattleback.characters.figure import Figure

    Floats = NDArray[np.float64]

# Times in which what is played, an aim and a layer come and go [s].
FADE, AIMING = 0.45, 0.5
UPRIGHT = Stance(BALL, 0.0)


class Layer(NamedTuple):
    """A clip that some joints play: how much each joint takes (joints,), since when and until when [s]."""

    clip: Clip
    share: Floats
    since: float
    until: float


class Aim:
    """A point that the head or a hand follows; it goes over from one point to another gently."""

    def __init__(self, point: Floats, since: float) -> None:
        self.start, self.goal, self.since = point, point, since
        self.rising, self.base = True, 0.0

    def set(self, point: Floats | None, time: float) -> None:
        """Follow another point from a time on, or none."""
        weight, here = self.weight(time), self.point(time)
        if point is None:
            self.base, self.rising = weight, False
            self.start = self.goal = here
        else:
            self.base, self.rising = weight, True
            self.start, self.goal = here if weight > 0.0 else point, point
        self.since = time

    def weight(self, time: float) -> float:
        """How much it is followed, from 0 to 1."""
        part = float(eased((time - self.since) / AIMING))
        return self.base + part * ((1.0 if self.rising else 0.0) - self.base)

    def point(self, time: float) -> Floats:
        """Where the point is (3,) [m]."""
        return np.asarray(self.start + float(eased((time - self.since) / AIMING)) * (self.goal - self.start))


class Mover:
    """What moves a figure.

    Attributes:
        time: Time since it began [s].
        floor: How high the soles are where it stands, at the joints [m].
        stand: How it stands.
        walker: Where it goes.
        feet: Its feet.
        speeds: How fast it walks and runs [m/s].
        layers: What some of its joints play.
        aims: What its head and its hands follow, by ``"look"``, ``"left"`` and ``"right"``.
        off: How far off these are.
    """

    def __init__(self, figure: Figure, parts: Anatomy, names: Mapping[str, str], place: Floats, heading: float) -> None:
        self.parts, self.time, self.floor = parts, 0.0, clearance(figure)
        skeleton, legs = figure.skeleton, parts.legs
        self.stand = at_ease(figure, parts, names)
        cycles = [self._level(gait_of(figure, parts, kind, names)) for kind in ("walk", "run")]
        self.speeds = {kind: cycle.speed for kind, cycle in zip(("walk", "run"), cycles, strict=True)}
        self._gaits = Locomotion([Cycle.still(skeleton, self.stand), *cycles], legs)
        self._falls = self._gaits.footfall
        self.walker = Walker(self._gaits, legs[0].length(skeleton), place, heading)
        self.feet, self._shuffling = Feet(parts, self.floor), False
        self._played: Played | None = None
        self._since, self._share, self._leaving = 0.0, 0.0, True
        self.layers: list[Layer] = []
        self.aims: dict[str, Aim] = {}
        self.off: dict[str, float] = {}

    @property
    def still(self) -> bool:
        """Whether it stands where it was to go, plays nothing, and its feet are where they belong."""
        return self.walker.still and not self._shuffling and self._played is None

    @property
    def still_or_held(self) -> bool:
        """Whether nothing of it moves any more: it stands, or holds what it has played."""
        if self._played is None:
            return self.still
        return not self._leaving and self._share == 1.0 and self.played >= self._played.duration

    @property
    def played(self) -> float:
        """How long it has played what it plays [s]; infinite where it plays nothing."""
        return self.time - self._since if self._played is not None and not self._leaving else np.inf

    def play(self, played: Played) -> None:
        """Play something from now on."""
        self._played, self._since, self._leaving = played, self.time, False

    def leave(self) -> None:
        """Go on from where what is played has led; it fades."""
        if self._played is None or self._leaving:
            return
        self._leaving = True
        walker, played = self.walker, self._played
        walker.place = walker.place + (about_z(walker.heading)[:2, :2] @ played.travel)
        walker.heading += played.turn

    def step(self, time_step: float) -> Pose:
        """The pose a moment later."""
        self.time += time_step
        walker = self.walker
        standing = walker.speed == 0.0 and not self._shuffling
        if standing and (len(walker.points) or walker.ahead):
            self._set_off()
        if standing and any(foot.part == OFF for foot in self.feet.feet):
            self._shuffling = True
        was = walker.speed
        walker.step(time_step, self._shuffling)
        if was > 0.0 and walker.speed == 0.0:
            self._shuffling = True
        self._share = float(np.clip(self._share + (-1.0 if self._leaving else 1.0) * time_step / FADE, 0.0, 1.0))
        if self._leaving and self._share == 0.0:
            self._played = None
        pose, stances, lifted = self._in_place()
        pose = moved(self.parts.skeleton, self._layered(pose), walker.place, walker.heading)
        pose = self.feet.plant(pose, stances, lifted, time_step, self._landing)
        self._shuffling = walker.speed == 0.0 and self._played_share == 0.0 and self.feet.strained(self._shuffling)
        return self._aimed(pose)

    @property
    def _played_share(self) -> float:
        return float(eased(self._share)) if self._played is not None else 0.0

    def _in_place(self) -> tuple[Pose, list[Stance], float]:
        """The pose in place, what the feet do, and how much a step in place lifts them."""
        walker, share = self.walker, self._played_share
        weights = self._gaits.weights(walker.speed)
        pose = self._gaits.pose(walker.phase, walker.speed)
        stances = self._falls.at(walker.phase, weights)
        if walker.speed == 0.0 and not self._shuffling:
            stances = [UPRIGHT] * len(stances)
        if self._played is not None:
            time = self.time - self._since
            shown = self._played.ended if self._leaving else self._played.pose(time)
            pose = mix(pose, shown, share)
            if not self._leaving:
                stances = self._played.stances(time)
        return pose, stances, float(weights[0])

    def _layered(self, pose: Pose) -> Pose:
        self.layers = [layer for layer in self.layers if self.time < layer.until]
        for clip, share, since, until in self.layers:
            gone, span = self.time - since, clip.duration - clip.start
            weight = float(eased(gone / FADE) * eased((until - self.time) / FADE))
            top = clip.pose(clip.start + (gone % span if span > 0.0 else 0.0))
            turns = mix(pose, top, weight * share)
            pose = Pose(turns.rotation, pose.translation, pose.scale)
        return pose

    def _aimed(self, pose: Pose) -> Pose:
        self.aims = {k: aim for k, aim in self.aims.items() if aim.rising or aim.weight(self.time) > 0.0}
        self.off = {}
        for name in sorted(self.aims, key=lambda name: name == "look"):
            aim = self.aims[name]
            weight, point = aim.weight(self.time), aim.point(self.time)
            if name == "look":
                pose, self.off[name] = look_at(self.parts, pose, point, weight)
            else:
                pose, self.off[f"{name}_hand"] = reach_for(self.parts, pose, name, point, weight)
        return pose

    def _set_off(self) -> None:
        """Begin a stride with the foot on the side to which it turns first, or that is behind."""
        walker = self.walker
        ends = self._falls.of(self._gaits.weights(0.0))
        side = 0
        if len(walker.points):
            way = about_z(-walker.heading)[:2, :2] @ (walker.points[0] - walker.place)
            side = 0 if way[1] >= 0.0 else 1
        walker.phase = float(ends[side, 0] + ends[side, 1])

    def _landing(self, k: int) -> Floats:
        """Heel and ball of a foot when it lands next (2, 3) [m]."""
        walker, skeleton = self.walker, self.parts.skeleton
        down = float(self._falls.of(self._gaits.weights(walker.speed))[k, 0])
        left = (down - walker.phase) % 1.0
        rate = float(self._gaits.rate(walker.speed))
        way = walker.speed * left / rate * np.array([np.cos(walker.heading), np.sin(walker.heading)])
        pose = moved(skeleton, self._gaits.pose(down, walker.speed), walker.place + way, walker.heading)
        return soles(skeleton, pose, self.parts.legs[k])

    def _level(self, cycle: Cycle) -> Cycle:
        """A gait whose feet are down on the floor."""
        skeleton = self.parts.skeleton
        low = np.min([soles(skeleton, cycle.poses, leg)[..., 2].min(axis=-1) for leg in self.parts.legs], axis=0)
        rise = self.floor - float(np.quantile(low, 0.1))
        return Cycle(skeleton, moved(skeleton, cycle.poses, (0.0, 0.0, rise)), cycle.duration, cycle.stride)
