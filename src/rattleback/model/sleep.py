"""Sleep: bodies that have come to rest and stay where they are until something happens to them.

An island is what touches or is joined, over any number of bodies; static bodies do not connect. All bodies of an
island sleep or none does. A sleeping island wakes with what is stored here: the contacts between its bodies, with the
forces they carried, and the loads on it when it fell asleep.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.core.ranges import NOT_NEGATIVE, UNIT, row_of
from rattleback.model.model import Bodies

if TYPE_CHECKING:
    from rattleback.model.state import State


@group(axis="bodies")
class Sleep:
    """Sleeping bodies, and slow ones that may fall asleep."""

    asleep: wp.int32 = field(
        "1",
        "0 where it is awake, else one more than the first row of the island it sleeps in",
        within=row_of("bodies", more=1),
    )
    since: wp.float64 = field("s", "time since when it has been slow; zero before it is tracked")
    force: vec3 = field("N", "force on it when it fell asleep, without contacts and joints")
    torque: vec3 = field("N m", "torque on it when it fell asleep")


@group(axis="contacts")
class SleepingContacts:
    """The contacts of sleeping bodies with each other and with what is static, as they were found last."""

    body_a: wp.int32 = field("1", "row of body A", within=row_of("bodies"))
    body_b: wp.int32 = field("1", "row of body B", within=row_of("bodies"))
    collider_a: wp.int32 = field("1", "collider of A", within=row_of("colliders"))
    collider_b: wp.int32 = field("1", "collider of B", within=row_of("colliders"))
    part: wp.int32 = field("1", "triangle; −1 where neither is a mesh", within=row_of("triangles", least=-1))
    feature: wp.int32 = field("1", "feature id of the point", within=NOT_NEGATIVE)
    normal: vec3 = field("1", "unit normal from B to A", within=UNIT)
    point: vec3 = field("m", "middle between the two surfaces, world frame")
    separation: real = field("m", "signed distance of the surfaces along the normal")
    load: vec3 = field("N", "force on A that holds it, world frame")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    count: wp.int32 = field("1", "number of contacts", axis="one", within=row_of("contacts", more=1))


@wp.func
def rests(bodies: Bodies, sleep: Sleep, i: int) -> bool:
    """Whether a body is asleep or static."""
    return bodies.mass[i] == real(0.0) or sleep.asleep[i] != 0


@dataclass(frozen=True)
class Waker:
    """Wakes the islands of bodies that are written to from outside.

    Attributes:
        joined: Rows of the two bodies of every joint between bodies (joints, 2).
        joints: Rows of those joints (joints,).
    """

    joined: np.ndarray
    joints: np.ndarray

    def wake(self, state: "State", rows: Any = None) -> np.ndarray:
        """Wake bodies, their islands, and the islands that rest on them or hang from them; returns which of them slept.

        Args:
            state: The state they are in.
            rows: Their rows; None for all.
        """
        sleep = arrays.read(state.sleep)
        asleep, given = sleep["asleep"], np.zeros(len(sleep["asleep"]), dtype=np.bool_)
        given[slice(None) if rows is None else rows] = True
        touched = given.copy()
        whole = state.breaks.broken.numpy()[self.joints] == 0
        for a, b in (_sides(state.sleeping_contacts), self.joined[whole].T):
            beside = given[a] | given[b]
            touched[a[beside]] = touched[b[beside]] = True
        waking = (asleep > 0) & np.isin(asleep, asleep[touched & (asleep > 0)])
        asleep[waking] = 0
        time = np.repeat(state.clock.time.numpy(), state.shape[-1])
        sleep["since"][waking | given] = time[waking | given]
        sleep["force"][waking] = sleep["torque"][waking] = 0.0
        arrays.write(state.sleep, sleep, "the sleep")
        return np.flatnonzero(waking)


def _sides(kept: SleepingContacts) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the bodies of the stored contacts."""
    columns = arrays.read(kept)
    count = int(columns["count"][0])
    return columns["body_a"][:count], columns["body_b"][:count]


def sleeping_columns(state: "State", static: np.ndarray) -> dict[str, np.ndarray] | None:
    """The contacts of bodies that sleep, column by column; None where none does.

    Args:
        state: The state.
        static: Whether each body is static, in all worlds (bodies,).
    """
    rests = (state.sleep.asleep.numpy() > 0) | static
    if rests.sum() == static.sum():
        return None
    columns = arrays.read(state.sleeping_contacts)
    count = int(columns.pop("count")[0])
    a, b = columns["body_a"][:count], columns["body_b"][:count]
    return {name: column[:count][rests[a] & rests[b]] for name, column in columns.items()}


def forget_sleep(state: "State") -> None:
    """Wake all bodies of a state, and forget their sleep."""
    for part in (state.sleep, state.sleeping_contacts):
        for _, array in arrays.each(part):
            array.zero_()


def with_room(kept: SleepingContacts, room: int) -> SleepingContacts:
    """The same contacts with room for at least so many."""
    device = kept.count.device
    if len(kept.part) >= room:
        return kept
    new = arrays.allocate(SleepingContacts, {"contacts": room, "one": 1}, device)
    arrays.copy_into(new, kept)
    return new
