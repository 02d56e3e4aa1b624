"""The state: everything a simulation needs to continue bit for bit, and the window through which users see it.

An array read from the state is a picture of that moment. Writing into it before the next step changes the
simulation; once a step has been taken the picture stays as it is and becomes read-only.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays, checks, host_read
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.mirror import Mirror
from rattleback.core.precision import quat, vec3
from rattleback.core.ranges import NOT_NEGATIVE, POSITIVE, UNIT, between
from rattleback.core.sealed import sealed
from rattleback.model.body_impulses import BodyImpulses
from rattleback.model.breaks import Breaks
from rattleback.model.contact_memory import (
    ADVANCED,
    WRITTEN,
    ContactMemory,
    adopted,
    forget_contacts,
    trimmed,
)
from rattleback.model.coordinates import Efforts, driven_bodies
from rattleback.model.device_arrays import changed, shared_array
from rattleback.model.joint_memory import JointState, ServoState
from rattleback.model.picture import Picture, check_shown
from rattleback.model.row_counts import row_counts
from rattleback.model.sleep import Sleep, SleepingContacts, Waker, forget_sleep, with_room
from rattleback.model.state_fit import CONTACT_GROUPS, StateFit
from rattleback.model.tree_memory import TreeMemory

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


@group(axis="worlds")
class Clock:
    """Time of each world, and the length of the next step."""

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
    "efforts": Efforts,
    "clock": Clock,
    "contacts": ContactMemory,
    "sleep": Sleep,
    "sleeping_contacts": SleepingContacts,
    "impulses": BodyImpulses,
    "trees": TreeMemory,
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
# Where the arrays lie that users have as pictures: the group, and the name in it.
PICTURED = {**{name: (window.part, window.inner) for name, window in WINDOWS.items()}, "torque": ("efforts", "effort")}


@sealed
class State(Windows):
    """The state of a simulation.

    ``position``, ``orientation``, ``velocity``, ``angular_velocity``, ``applied_force`` and ``applied_torque``
    read and write as arrays of shape (bodies, n), or (worlds, bodies, n) when worlds were asked for. Attributes with
    the names of the groups, such as ``motion``, hold the device arrays themselves.
    """

    _kind = "the state"
    # What the rest of the house keeps in step with it.
    _open = ("version", "moment", "waker", "retired")

    def __init__(self, fit: StateFit, shape: tuple[int, ...], **groups: Any) -> None:
        self.fit, self.shape = fit, shape
        self.groups: dict[str, Any] = groups
        self.motion, self.applied, self.joints = groups["motion"], groups["applied"], groups["joints"]
        self.breaks, self.efforts, self.impulses = groups["breaks"], groups["efforts"], groups["impulses"]
        self.servos, self.clock, self.sleep, self.trees = (groups[k] for k in ("servos", "clock", "sleep", "trees"))
        self.version = 0  # counts how often it was written from outside
        self.moment = 0  # counts that, and how often it was stepped: what was read at one moment holds through it
        self.waker: Waker | None = None  # where bodies may fall asleep
        self.retired = False  # whether another state has taken its place in the simulation
        self._pictures: dict[str, Picture] = {}
        self._mirrors: dict[tuple[str, str], Mirror] = {}
        self._driven = np.zeros((0, 2), dtype=np.int64)

    @classmethod
    def allocate(cls, model: Any) -> "State":
        """A zeroed state for a model."""
        counts, fit = row_counts(model.scene, model.worlds), StateFit(model.scene, model.worlds, GROUPS)
        driven = driven_bodies(model.scene, model.worlds)
        shape = (model.worlds, len(model.names)) if model.batched else (len(model.names),)
        state = cls(fit, shape, **{name: arrays.allocate(kind, counts, model.device) for name, kind in GROUPS.items()})
        state.contacts.pending.fill_(int(WRITTEN))
        state._driven = driven
        return state

    @property
    def contacts(self) -> ContactMemory:
        """Memory of the contacts; its arrays grow with their number."""
        memory: ContactMemory = self.groups["contacts"]
        return memory

    @contacts.setter
    def contacts(self, memory: ContactMemory) -> None:
        self.groups["contacts"] = _of_kind(memory, ContactMemory)

    @property
    def sleeping_contacts(self) -> SleepingContacts:
        """The contacts of sleeping bodies; its arrays grow with their number."""
        kept: SleepingContacts = self.groups["sleeping_contacts"]
        return kept

    @sleeping_contacts.setter
    def sleeping_contacts(self, kept: SleepingContacts) -> None:
        self.groups["sleeping_contacts"] = _of_kind(kept, SleepingContacts)

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return float(host_read.first(self.clock.time))

    @property
    def steps(self) -> int:
        """Steps taken."""
        return int(host_read.first(self.clock.steps))

    def copy(self) -> "State":
        """A state of its own; a simulation set to it continues bit for bit."""
        self.send()
        twin = State(self.fit, self.shape, **{name: arrays.clone(part) for name, part in self.groups.items()})
        twin.waker, twin._driven = self.waker, self._driven
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
        self.touch()

    def touch(self) -> None:
        """It was written from outside: what was read of it before holds no more."""
        self.version += 1
        self.moment += 1

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
        if (values["contacts"]["pending"] == ADVANCED).any():
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

    array = shared_array
    changed = changed

    def look(self, name: str) -> np.ndarray:
        """What a window shows: the array of all bodies."""
        return self.picture(name)

    def change(self, name: str, value: Any) -> None:
        """What writing to a window does."""
        self.write(name, ..., value)

    def mirror(self, part: str, inner: str) -> Mirror:
        """An array of a group as the host reads it; not of the contacts, whose arrays grow."""
        if (part, inner) not in self._mirrors:
            self._mirrors[part, inner] = Mirror(getattr(self.groups[part], inner))
        return self._mirrors[part, inner]

    def now(self, name: str) -> np.ndarray:
        """What a window shows, with all that was written, for a look at once; not to be written or kept."""
        self.send()
        return self.mirror(*PICTURED[name]).look().reshape(self._shape_of(name))

    def picture(self, name: str) -> np.ndarray:
        """The array of this name as it is now, writable until the next step."""
        return self._picture(name).shown

    def view(self, name: str, index: Any) -> np.ndarray:
        """A part of a picture, frozen together with it."""
        return self._picture(name).part(index)

    def write(self, name: str, index: Any, value: Any, what: str = "") -> None:
        """Set an array, or a part of it, after checking shape and finiteness; ``what`` says of what, in messages."""
        what = what or f"The {name} written"
        self.check_current(what)
        target = self.picture(name)
        new, shape = checks.finite(value, what), target[index].shape
        try:
            target[index] = new if new.shape == shape else np.broadcast_to(new, shape)
        except ValueError:
            wanted = f"it must be {shape}" if shape else "it must be a number"
            raise InputError(f"{what} has shape {new.shape}; {wanted}.") from None

    def send(self) -> None:
        """Bring what the user wrote into pictures to the device."""
        for name, picture in self._pictures.items():
            if (written := picture.written()) is None:
                continue
            try:
                check_shown(name, picture.shown)
            except InputError:
                self._pictures.pop(name)
                raise
            picture.send()
            if name == "torque":
                moved = self._driven[written.ravel()]
                self.wake(np.unique(moved[moved >= 0]))
                continue
            rows = np.flatnonzero(written.reshape(-1, written.shape[-1]).any(axis=-1))
            self.wake(rows)
            self.note_written(rows // self.shape[-1])

    def note_written(self, worlds: Any = None) -> None:
        """Velocities have to be made fit joints and contacts before the next step.

        Args:
            worlds: Numbers of the worlds in which something was written; None for all.
        """
        pending = np.array(self.contacts.pending.numpy())
        pending[slice(None) if worlds is None else worlds] = int(WRITTEN)
        self.contacts.pending.assign(pending)

    def wake(self, rows: Any = None) -> None:
        """Bodies are touched from outside: those that sleep wake up, with all they are connected with.

        Args:
            rows: Their rows; None for all.
        """
        if self.waker is not None and len(woken := self.waker.wake(self, rows)):
            self.note_written(woken // self.shape[-1])
        self.touch()

    def freeze(self) -> None:
        """Send what was written and make every picture handed out a read-only record of the moment."""
        self.moment += 1
        if self._pictures:
            self.send()
            for picture in self._pictures.values():
                picture.freeze()
            self._pictures.clear()

    def check_current(self, what: str) -> None:
        """Refuse to write to a state that the simulation does not look at any more."""
        if self.retired:
            raise InputError(f"{what} is of a scene that was rebuilt; look it up again: sim[name].")

    def retire(self) -> None:
        """Another state takes its place in the simulation: this one can only be read from now on."""
        self.freeze()
        self.retired = True

    def _advice(self, name: str) -> str:
        if name in ("time", "steps"):
            return "A simulation goes back to an earlier one by sim.state = what sim.state.copy() returned."
        return ""

    def _picture(self, name: str) -> Picture:
        if name not in self._pictures:
            self._pictures[name] = Picture(self.mirror(*PICTURED[name]), self._shape_of(name))
        return self._pictures[name]

    def _shape_of(self, name: str) -> tuple[int, ...]:
        """The shape a window shows: of bodies, or of the free coordinates of joints."""
        return (*self.shape[:-1], -1) if name == "torque" else (*self.shape, 4 if name == "orientation" else 3)


def _of_kind(group: Any, kind: Any) -> Any:
    """A group of arrays, if it is of a kind."""
    if getattr(group, "_cls", None) is not kind:
        raise InputError(f"The contacts of a state are arrays of the device; {group!r} cannot take their place.")
    return group


def _used(name: str, part: Any, read: Callable[[Any], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    values = read(part)
    return trimmed(values, GROUPS[name]) if name in ("contacts", "sleeping_contacts") else values


def _counts(name: str, values: dict[str, np.ndarray]) -> bool:
    """Whether a group of a state says anything: contacts where there are, breaks, efforts, sleep where any is set."""
    if name == "contacts":
        return bool(values["count"][0])
    quiet = ("breaks", "efforts", "sleep", "sleeping_contacts", "trees")
    return name not in quiet or any(array.any() for array in values.values())
