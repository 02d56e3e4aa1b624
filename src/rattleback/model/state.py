"""The state: everything a simulation needs to go on, bit for bit, and the window users see it through.

An array read from the state is a picture of that moment. Writing into it before the next step changes the
simulation; once a step has been taken the picture stays as it is and becomes read-only.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays, checks, glance
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.precision import quat, real, vec3
from rattleback.core.ranges import FLAG, NOT_NEGATIVE, POSITIVE, UNIT, between, row_of
from rattleback.model.breaks import Breaks
from rattleback.model.contact_memory import (
    ADVANCED,
    WRITTEN,
    ContactMemory,
    adopted,
    forget_contacts,
    trimmed,
)
from rattleback.model.row_counts import row_counts
from rattleback.model.sleep import Sleep, SleepingContacts, Waker, forget_sleep, with_room
from rattleback.model.state_fit import CONTACT_GROUPS, StateFit

# Steps a clock counts to; sub-steps of them can be counted, too.
MOST_STEPS = 2**48


@group(axis="bodies")
class Motion:
    """How the bodies lie and move."""

    position: vec3 = field("m", "centre of mass, world frame")
    orientation: quat = field("1", "unit quaternion (x, y, z, w) from the body's frame to the world", within=UNIT)
    velocity: vec3 = field("m/s", "velocity of the centre of mass, world frame")
    angular_velocity: vec3 = field("rad/s", "angular velocity, world frame")


@group(axis="bodies")
class Loads:
    """Forces at the centres of mass and torques, in the world frame."""

    force: vec3 = field("N", "force through the centre of mass")
    torque: vec3 = field("N m", "torque about the centre of mass")


@group(axis="joints")
class JointState:
    """What joints remember: angles counted on over full turns, with the digits for many of them in any precision."""

    angle: wp.float64 = field("rad", "turn of B against A about the z axis; of a gear, azimuth of B's centre in A")
    other_angle: wp.float64 = field("rad", "of a gear, azimuth of A's centre in B; else zero")


@group(axis="servos")
class ServoState:
    """What servos remember: the last error, and the integral over a window as a ring of stretches of time."""

    target: real = field("rad, m, rad/s or m/s", "target set by hand; unused where manual is 0")
    manual: wp.int32 = field("1", "1 where the target was set by hand", within=FLAG)
    error: real = field("rad, m, rad/s or m/s", "error at the start of the last step")
    step: wp.float64 = field("s", "length of the last step; zero before the first", within=NOT_NEGATIVE)
    integral: real = field("rad s, m s, rad or m", "integral of the error over the window")
    effort: real = field("N m or N", "effort in the last step")
    newest: wp.int32 = field("1", "place of the newest stretch in the ring", within=row_of("ring"))
    duration: wp.float64 = field("s", "length of a stretch", axis="stretches", within=NOT_NEGATIVE)
    area: real = field("rad s, m s, rad or m", "integral of the error over a stretch", axis="stretches")


@group(axis="worlds")
class Clock:
    """What time it is in each world and how it goes on."""

    time: wp.float64 = field("s", "time reached")
    time_step: wp.float64 = field("s", "length of the next step", within=POSITIVE)
    substep: wp.float64 = field(
        "s", "sub-step an adaptive integrator will try next; zero before its first", within=NOT_NEGATIVE
    )
    steps: wp.int64 = field("1", "steps taken", within=between(0, MOST_STEPS))


# The array groups of a state, in the order they are saved and hashed.
GROUPS: dict[str, type[Any]] = {
    "motion": Motion,
    "applied": Loads,
    "joints": JointState,
    "breaks": Breaks,
    "servos": ServoState,
    "clock": Clock,
    "contacts": ContactMemory,
    "sleep": Sleep,
    "sleeping_contacts": SleepingContacts,
}


class Window:
    """An attribute through which an array of the state is read and written; its owner says how."""

    def __init__(self, part: str, inner: str) -> None:
        self.part, self.inner = part, inner

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name and the declared meaning of the array behind it."""
        declared = arrays.fields({"motion": Motion, "applied": Loads}[self.part])[self.inner]
        self.name, self.__doc__ = name, f"{declared.meaning.capitalize()} [{declared.unit}]."

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else owner.look(self.name)

    def __set__(self, owner: Any, value: Any) -> None:
        owner.change(self.name, value)


class Windows:
    """The arrays a user sees, of all bodies or of one."""

    position = Window("motion", "position")
    orientation = Window("motion", "orientation")
    velocity = Window("motion", "velocity")
    angular_velocity = Window("motion", "angular_velocity")
    applied_force = Window("applied", "force")
    applied_torque = Window("applied", "torque")


WINDOWS: dict[str, Window] = {name: entry for name, entry in vars(Windows).items() if isinstance(entry, Window)}


class State(Windows):
    """The state of a simulation.

    ``position``, ``orientation``, ``velocity``, ``angular_velocity``, ``applied_force`` and ``applied_torque``
    read and write as arrays of shape (bodies, n), or (worlds, bodies, n) when worlds were asked for.
    ``motion``, ``applied``, ``joints``, ``breaks``, ``servos`` and ``clock`` hold the device arrays themselves.
    """

    def __init__(self, fit: StateFit, shape: tuple[int, ...], **groups: Any) -> None:
        self.fit, self.shape = fit, shape
        self.groups: dict[str, Any] = groups
        self.motion, self.applied, self.joints = groups["motion"], groups["applied"], groups["joints"]
        self.breaks = groups["breaks"]
        self.servos, self.clock, self.sleep = groups["servos"], groups["clock"], groups["sleep"]
        self.version = 0  # counts how often it was written from outside
        self.waker: Waker | None = None  # where bodies may fall asleep
        self.retired = False  # whether another state has taken its place in the simulation
        self._pictures: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._views: list[np.ndarray] = []

    @classmethod
    def allocate(cls, model: Any) -> "State":
        """A zeroed state for a model."""
        counts, fit = row_counts(model.scene, model.worlds), StateFit(model.scene, model.worlds, GROUPS)
        shape = (model.worlds, len(model.names)) if model.batched else (len(model.names),)
        state = cls(fit, shape, **{name: arrays.allocate(kind, counts, model.device) for name, kind in GROUPS.items()})
        state.contacts.pending.fill_(int(WRITTEN))
        return state

    @property
    def contacts(self) -> ContactMemory:
        """What is remembered of the contacts; its arrays grow with their number."""
        memory: ContactMemory = self.groups["contacts"]
        return memory

    @contacts.setter
    def contacts(self, memory: ContactMemory) -> None:
        self.groups["contacts"] = memory

    @property
    def sleeping_contacts(self) -> SleepingContacts:
        """The contacts of sleeping bodies; its arrays grow with their number."""
        kept: SleepingContacts = self.groups["sleeping_contacts"]
        return kept

    @sleeping_contacts.setter
    def sleeping_contacts(self, kept: SleepingContacts) -> None:
        self.groups["sleeping_contacts"] = kept

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return float(glance.first(self.clock.time))

    @property
    def steps(self) -> int:
        """Steps taken."""
        return int(glance.first(self.clock.steps))

    def copy(self) -> "State":
        """A state of its own; a simulation set to it continues bit for bit."""
        self.send()
        twin = State(self.fit, self.shape, **{name: arrays.clone(part) for name, part in self.groups.items()})
        twin.waker = self.waker
        return twin

    def assign(self, other: "State") -> None:
        """Take over everything from another state of the same model."""
        if not isinstance(other, State):
            raise InputError(f"A state cannot be set to {other!r}; use what sim.state.copy() returned.")
        if other.shape != self.shape:
            raise InputError(f"The state given is of {other.shape} bodies; this simulation has {self.shape}.")
        other.send()
        try:
            known = self.fit.checked(other.views())
        except InputError as error:
            raise InputError(f"The state given does not fit this simulation: {error}") from None
        self.freeze()
        self._take_contacts(other, known)
        for name, part in self.groups.items():
            if name not in CONTACT_GROUPS:
                arrays.copy_into(part, other.groups[name])
        if self.waker is None:
            forget_sleep(self)
        self.version += 1

    def _take_contacts(self, other: "State", known: Mapping[str, Any]) -> None:
        """Take over contacts from a state that has them of the same colliders."""
        kept = other.sleeping_contacts
        self.sleeping_contacts = with_room(self.sleeping_contacts, len(kept.part))
        if "contacts" in known:
            self.contacts = adopted(self.contacts, other.contacts, self.clock.time.device)
            arrays.copy_into(self.sleeping_contacts, kept)
            self.settle_whole(known)
        else:
            forget_contacts(self.contacts)
            self.sleeping_contacts.count.zero_()

    def settle_whole(self, values: Mapping[str, Any]) -> None:
        """Where arrays taken over are of a step that was broken off, its velocities are still to be made fit."""
        if values["contacts"]["pending"][0] == ADVANCED:
            self.contacts.pending.fill_(int(WRITTEN))

    def hash(self) -> str:
        """SHA-256 of every array, in declared order: equal hashes are equal bits."""
        self.send()
        digest = hashlib.sha256()
        for part, values in self.read().items():
            if _counts(part, values):
                arrays.feed_hash(values, digest)
        return digest.hexdigest()

    def read(self) -> dict[str, dict[str, np.ndarray]]:
        """Every array of every group, without rows of contacts that are not used."""
        return {name: _used(name, part, arrays.read) for name, part in self.groups.items()}

    def views(self) -> dict[str, dict[str, np.ndarray]]:
        """The same arrays, not copied where they lie on the CPU: to look at now, and not to write to."""
        return {name: _used(name, part, arrays.view) for name, part in self.groups.items()}

    def look(self, name: str) -> np.ndarray:
        """What a window shows: the array of all bodies."""
        return self.picture(name)

    def change(self, name: str, value: Any) -> None:
        """What writing to a window does."""
        self.write(name, ..., value)

    def picture(self, name: str) -> np.ndarray:
        """The array of this name as it is now, writable until the next step."""
        if name not in self._pictures:
            now = np.array(self._array(name).numpy())
            shown = now.reshape(*self.shape, now.shape[-1])
            self._pictures[name] = (shown, now.copy())
        return self._pictures[name][0]

    def view(self, name: str, index: Any) -> np.ndarray:
        """A part of a picture, frozen together with it."""
        part = self.picture(name)[index]
        self._views.append(part)
        return part

    def write(self, name: str, index: Any, value: Any) -> None:
        """Set an array, or a part of it, after checking shape and finiteness."""
        self.check_current(f"The {name} written")
        target = self.picture(name)
        new, shape = checks.finite(value, f"The {name} written"), target[index].shape
        try:
            target[index] = np.broadcast_to(new, shape)
        except ValueError:
            raise InputError(f"The {name} written has shape {new.shape}; it must be {shape}.") from None

    def send(self) -> None:
        """Bring what the user wrote into pictures to the device."""
        for name, (shown, before) in self._pictures.items():
            flat = shown.reshape(before.shape)
            if np.array_equal(flat, before):
                continue
            self._array(name).assign(self._checked(name, flat))
            self.wake(np.flatnonzero((flat != before).any(axis=-1)))
            self.contacts.pending.fill_(int(WRITTEN))
            before[...] = flat

    def wake(self, rows: Any = None) -> None:
        """Bodies are touched from outside: those that sleep wake up, with all they are connected with.

        Args:
            rows: Their rows; None for all.
        """
        if self.waker is not None and self.waker.wake(self, rows):
            self.contacts.pending.fill_(int(WRITTEN))
        self.version += 1

    def freeze(self) -> None:
        """Send what was written and turn every picture handed out into a read-only record of the moment."""
        self.send()
        for array in [*self._views, *(shown for shown, _ in self._pictures.values())]:
            array.flags.writeable = False
        self._pictures.clear()
        self._views.clear()

    def check_current(self, what: str) -> None:
        """Refuse to write to a state that the simulation does not look at any more."""
        if self.retired:
            raise InputError(f"{what} is of a scene that was rebuilt; look it up again: sim[name].")

    def retire(self) -> None:
        """Another state takes its place in the simulation: this one can only be read from now on."""
        self.freeze()
        self.retired = True

    def _array(self, name: str) -> Any:
        return getattr(self.groups[WINDOWS[name].part], WINDOWS[name].inner)

    def _checked(self, name: str, flat: np.ndarray) -> np.ndarray:
        if not np.isfinite(flat).all():
            self._pictures.pop(name)
            raise InputError(f"The {name} written is not finite in row {_first_bad(flat)}; nothing was changed.")
        if name == "orientation":
            length = np.linalg.norm(flat, axis=-1, keepdims=True)
            if (np.abs(length - 1.0) > 1e-6).any():
                self._pictures.pop(name)
                raise InputError("An orientation written is not a quaternion of length 1; nothing was changed.")
            flat[...] = np.where(np.abs(length - 1.0) <= 1e-15, flat, flat / length)
        return flat


def _used(name: str, part: Any, read: Callable[[Any], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    values = read(part)
    return trimmed(values, GROUPS[name]) if name in ("contacts", "sleeping_contacts") else values


def _counts(name: str, values: dict[str, np.ndarray]) -> bool:
    """Whether a group of a state says anything: contacts and breaks where there can be, sleep where it is looked at."""
    if name == "contacts":
        return bool(values["count"][0])
    return name not in ("breaks", "sleep", "sleeping_contacts") or any(array.any() for array in values.values())


def _first_bad(flat: np.ndarray) -> int:
    return int(np.flatnonzero(~np.isfinite(flat).all(axis=-1))[0])
