"""From the state of one scene to that of another, by names: what both have continues, what is new starts.

    both scenes agree on a place, a velocity, a limit          the state's value continues
    the new scene differs                                      the new scene's value holds
    a body's centre of mass lies elsewhere in its frame        its frame continues, x' = x + R Δc, v' = v + ω × R Δc

Bodies, joints and servos are matched by name, whatever their order. Angles continue where a joint has the same place,
memories of servos where they drive the same in the same way. Contacts and sleep are in ``contact_passage``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.maths.rotation import rotate
from rattleback.model.breaks import LIMITS
from rattleback.model.coordinates import free_coordinates
from rattleback.model.row_counts import servo_places

if TYPE_CHECKING:
    from rattleback.model.body import Body
    from rattleback.model.model import Model
    from rattleback.model.scene import Scene
    from rattleback.model.state import State

WINDOWS = ("position", "orientation", "velocity", "angular_velocity")
# Fields in which both servos must agree for the memory to mean the same.
DRIVING = ("joint", "control", "stretches")


@dataclass(frozen=True)
class Passage:
    """From one model to another with as many worlds.

    Attributes:
        old: The model that was.
        new: The one that is to be.
    """

    old: Model
    new: Model

    @cached_property
    def bodies(self) -> np.ndarray:
        """For every body of the new model its index in the old one; −1 where it is new."""
        return _places(self.old.names, self.new.names)

    @cached_property
    def joints(self) -> np.ndarray:
        """The same for joints; one between other bodies is new."""
        old, new = self.old.scene.joints, self.new.scene.joints
        found = _places(tuple(old), tuple(new))
        same = [name in old and (old[name].a, old[name].b) == (joint.a, joint.b) for name, joint in new.items()]
        return np.where(same, found, -1) if same else found

    @cached_property
    def scenes(self) -> list[tuple[Scene, Scene]]:
        """The old and the new scene of every world, of the first world alone where none has one of its own."""
        apart = self.old.scenes.varied or self.new.scenes.varied
        return [(self.old.scenes.of(w), self.new.scenes.of(w)) for w in range(self.new.worlds if apart else 1)]

    @cached_property
    def stays(self) -> dict[str, np.ndarray]:
        """For every window of the motion, the bodies on which both scenes of a world agree (worlds, bodies)."""
        return {
            name: np.array([[old is not None and _agree(old, new, name) for old, new in pairs] for pairs in self.pairs])
            for name in WINDOWS
        }

    @cached_property
    def pairs(self) -> list[list[tuple[Body | None, Body]]]:
        """The bodies of the new scene of every world, each as the old one had it; None where it is new."""
        places = self.bodies.tolist()
        return [
            [(old.bodies[k] if k >= 0 else None, body) for k, body in zip(places, new.bodies, strict=True)]
            for old, new in self.scenes
        ]

    @cached_property
    def seated(self) -> np.ndarray:
        """Joints that have the same place on bodies that lie as they did (worlds, joints)."""
        found = []
        for (old, new), lies in zip(self.scenes, self.stays["position"] & self.stays["orientation"], strict=True):
            still = {**dict(zip(self.new.names, lies, strict=True)), new.world.name: True}
            seats = [
                k >= 0 and still[joint.a] and still[joint.b] and _alike(old.joints[name], joint)
                for k, (name, joint) in zip(self.joints, new.joints.items(), strict=True)
            ]
            found.append(seats)
        return np.array(found, dtype=bool)

    def rows(self, places: np.ndarray, before: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows in all worlds of what has a place among ``before`` old ones: the new rows, and the old ones.

        Args:
            places: The old place of every new thing, (things,) or (worlds, things); negative for none.
            before: Number of old ones in a world.
        """
        every = np.broadcast_to(places, (self.new.worlds, places.shape[-1]))
        worlds, to = np.nonzero(every >= 0)
        return worlds * places.shape[-1] + to, worlds * before + every[worlds, to]


def carry_over(passage: Passage, old: State, new: State) -> None:
    """Continue with bodies, joints, servos, efforts and the clock of another state."""
    arrays.copy_into(new.clock, old.clock)
    _carry_bodies(passage, old, new)
    _carry_joints(passage, old, new)
    _carry_servos(passage, old, new)
    _carry_efforts(passage, old, new)


def _places(old: tuple[str, ...], new: tuple[str, ...]) -> np.ndarray:
    there = {name: place for place, name in enumerate(old)}
    return np.array([there.get(name, -1) for name in new], dtype=np.int64)


def _agree(old: Body, new: Body, name: str) -> bool:
    """Whether two scenes agree on how a body starts."""
    if old is new:
        return True
    if name in ("velocity", "angular_velocity") and old.static != new.static:
        return False
    if np.array_equal(getattr(old, name), getattr(new, name)):
        return True
    return name == "position" and np.allclose(old.origin, new.origin, rtol=0.0, atol=1e-12 * (1.0 + abs(new.origin)))


def _alike(old: Any, new: Any) -> bool:
    """Whether two joints have the same place."""
    return old is new or _seat(old) == _seat(new)


def _seat(joint: Any) -> tuple[Any, ...]:
    """Kind and place of a joint."""
    place = [np.asarray(part).tolist() for part in (*joint.points(), *joint.frames())]
    return type(joint), joint.in_bodies, place


def _copy(old: Any, new: Any, names: Any, to: np.ndarray, rows: np.ndarray) -> None:
    """Copy rows of the arrays named from one group to another."""
    for name in names:
        array = getattr(new, name)
        values = np.array(array.numpy())
        if len(to):
            values[to] = getattr(old, name).numpy()[rows]
            array.assign(values)


def _carry_bodies(passage: Passage, old: State, new: State) -> None:
    before = len(passage.old.names)
    rows = passage.rows(passage.bodies, before)
    _copy(old.applied, new.applied, ("force", "torque"), *rows)
    _copy(old.impulses, new.impulses, ("impulse",), *rows)
    wp.copy(new.impulses.duration, old.impulses.duration)
    for name, same in passage.stays.items():
        _copy(old.motion, new.motion, (name,), *passage.rows(np.where(same, passage.bodies, -1), before))
    each = len(passage.new.names)
    for world, pairs in enumerate(passage.pairs):
        for place, (was, body) in enumerate(pairs):
            if was is None or was is body or not passage.stays["position"][world, place]:
                continue
            shift = body.center_of_mass - was.center_of_mass
            if shift.any() and not np.array_equal(body.position, was.position):
                worlds = [world] if len(passage.pairs) > 1 else range(passage.new.worlds)
                moved = np.array([w * each + place for w in worlds])
                _shift(new, moved, shift, bool(passage.stays["velocity"][world, place]))


def _shift(state: State, rows: np.ndarray, shift: np.ndarray, moving: bool) -> None:
    """Let rows of a state mean another point of their body, where its centre of mass lies now."""
    motion = {name: np.array(getattr(state.motion, name).numpy()) for name in WINDOWS}
    way = rotate(motion["orientation"][rows], shift)
    motion["position"][rows] += way
    if moving:
        motion["velocity"][rows] += np.cross(motion["angular_velocity"][rows], way)
    arrays.write(state.motion, motion, "the motion")


def _carry_joints(passage: Passage, old: State, new: State) -> None:
    before, joints = len(passage.old.scene.joints), passage.joints
    _copy(old.breaks, new.breaks, ("broken", "time", "force", "torque"), *passage.rows(joints, before))
    _copy(old.joints, new.joints, ("load", "peak", "gap", "debt"), *passage.rows(joints, before))
    for name in ("highest", "surplus"):
        wp.copy(getattr(new.joints, name), getattr(old.joints, name))
    seated = passage.rows(np.where(passage.seated, joints, -1), before)
    _copy(old.joints, new.joints, ("angle", "other_angle"), *seated)
    for option, name in LIMITS.items():
        same = np.array([_same_places(joints, *scenes, option) for scenes in passage.scenes], dtype=np.int64)
        _copy(old.breaks, new.breaks, (name,), *passage.rows(same, before))


def _same_places(joints: np.ndarray, old: Scene, new: Scene, option: str) -> list[int]:
    """Old places of the joints of a new scene; −1 where the old one had another value of an option."""
    was = list(old.joints.values())
    return [
        k if k >= 0 and getattr(was[k], option, None) == getattr(joint, option, None) else -1
        for k, joint in zip(joints.tolist(), new.joints.values(), strict=True)
    ]


def _carry_servos(passage: Passage, old: State, new: State) -> None:
    """Targets set by hand continue unless the scene has another one; memories where they mean the same."""
    was, now = servo_places(passage.old.scene), servo_places(passage.new.scene)
    rings = [sum(ring for _, _, ring in places.values()) for places in (was, now)]
    worlds = np.arange(passage.new.worlds)[:, None]
    memory = [name for name in arrays.fields(old.servos) if name not in ("target", "manual", "duration", "area")]
    for name, (place, first, ring) in now.items():
        before, after = passage.old.scene.forces.get(name), passage.new.scene.forces[name]
        if name not in was or any(getattr(before, part, None) != getattr(after, part, None) for part in DRIVING):
            continue
        row, source = worlds[:, 0] * len(now) + place, worlds[:, 0] * len(was) + was[name][0]
        _copy(old.servos, new.servos, memory, row, source)
        kept = np.array([one.forces[name].target == two.forces[name].target for one, two in passage.scenes])
        by_hand = np.broadcast_to(kept, passage.new.worlds)
        _copy(old.servos, new.servos, ["target", "manual"], row[by_hand], source[by_hand])
        stretches, former = np.arange(first, first + ring), np.arange(was[name][1], was[name][1] + ring)
        to, rows = (worlds * rings[1] + stretches).ravel(), (worlds * rings[0] + former).ravel()
        _copy(old.servos, new.servos, ("duration", "area"), to, rows)


def _carry_efforts(passage: Passage, old: State, new: State) -> None:
    """Torques and forces written to joints by hand stay."""
    was, now = (free_coordinates(model.scene) for model in (passage.old, passage.new))
    there = {(found.joint, found.freedom): place for place, found in enumerate(was)}
    places = [there.get((int(passage.joints[found.joint]), found.freedom), -1) for found in now]
    _copy(old.efforts, new.efforts, ("effort",), *passage.rows(np.array(places, dtype=np.int64), len(was)))
