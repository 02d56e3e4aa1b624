"""Contacts and sleep on the way from the state of one scene to that of another.

The memory of a contact continues between bodies that have kept their shape and their place; all others are dropped, and
detected again where bodies touch. Sleeping islands continue to sleep; ``touched`` tells which bodies wake then, with
all that rest on them: new or changed ones, and those that touched or were jointed to such.

Contacts are sorted by their first collider, and colliders have the order of the bodies. While the bodies that remain
keep their order, a list without the dropped contacts is still sorted; otherwise all are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.model.collider_list import list_colliders, triangle_counts
from rattleback.model.contact_memory import WRITTEN, make_memory, trimmed
from rattleback.model.passage import carry_over
from rattleback.model.sleep import SleepingContacts, with_room

if TYPE_CHECKING:
    from rattleback.model.body import Body
    from rattleback.model.passage import Passage
    from rattleback.model.state import State

# What contacts of a body depend on.
FORM = ("static", "center_of_mass", "colliders", "margin")
# Memory of contacts.
CARRIED = ("load", "impulse", "slip", "remainder", "extent")


@dataclass(frozen=True)
class ContactPassage:
    """Contacts and sleep that continue.

    Attributes:
        passage: From one model to another.
    """

    passage: Passage

    @cached_property
    def formed(self) -> np.ndarray:
        """For every body of a new world its index in the old one, where its contacts mean the same; else −1."""
        passage = self.passage
        same = [[old is not None and _equal(old, new, FORM) for old, new in pairs] for pairs in passage.pairs]
        found = np.where(np.array(same) & passage.stays["position"] & passage.stays["orientation"], passage.bodies, -1)
        sorted_ = all((np.diff(row[row >= 0]) > 0).all() for row in found)
        return found if sorted_ else np.full_like(found, -1)

    @cached_property
    def touched(self) -> np.ndarray:
        """Bodies of the new model that are new, changed, or next to such (worlds, bodies)."""
        passage = self.passage
        names = [field.name for field in fields(passage.old.scene.bodies[0])]
        found = []
        for (old, new), pairs, kept in zip(passage.scenes, passage.pairs, self._kept_joints, strict=True):
            changed = {body.name for was, body in pairs if was is None or not _equal(was, body, names)}
            joints = [*new.joints.items(), *old.joints.items()]
            changed.update(end for name, joint in joints if name not in kept for end in (joint.a, joint.b))
            found.append([name in changed for name in passage.new.names])
        return np.array(found)

    @cached_property
    def unchanged(self) -> bool:
        """Whether velocities that fitted joints and contacts still do: bodies and joints are the same ones."""
        passage = self.passage
        same = passage.old.names == passage.new.names and list(passage.old.scene.joints) == list(
            passage.new.scene.joints
        )
        return same and not self.touched.any() and bool((self.formed >= 0).all())

    @cached_property
    def _kept_joints(self) -> list[set[str]]:
        """The joints that hold as they did, in every world."""
        return [
            {
                name
                for seated, (name, joint) in zip(seats, new.joints.items(), strict=True)
                if seated and (old.joints[name] is joint or _conditions(old.joints[name]) == _conditions(joint))
            }
            for (old, new), seats in zip(self.passage.scenes, self.passage.seated, strict=True)
        ]

    def carry(self, old: State, new: State) -> None:
        """Continue with the contacts and sleep of another state."""
        carry_over(self.passage, old, new)
        self._carry_memory(old, new)
        if old.waker is not None:
            self._carry_sleep(old, new)

    def wake(self, state: State) -> None:
        """Wake the touched bodies, in the new model."""
        if not self.unchanged:
            every = np.broadcast_to(self.touched, (self.passage.new.worlds, self.touched.shape[1]))
            state.wake(np.flatnonzero(every))

    @cached_property
    def _colliders(self) -> np.ndarray:
        """For every collider of all old worlds its index in the new ones; −1 where it is forgotten."""
        counts = [[len(triangle_counts(body)) for body in model.scene.bodies] for model in self._models]
        first = [np.concatenate([[0], np.cumsum(count)]) for count in counts]
        every = np.full((len(self.formed), first[0][-1]), -1, dtype=np.int64)
        for world, place in zip(*np.nonzero(self.formed >= 0), strict=True):
            source = self.formed[world, place]
            every[world, first[0][source] : first[0][source + 1]] = np.arange(first[1][place], first[1][place + 1])
        return _in_worlds(every, int(first[1][-1]), self.passage.new.worlds)

    @cached_property
    def _colliders_now(self) -> int:
        return self.passage.new.worlds * len(list_colliders(self.passage.new.scene))

    @property
    def _models(self) -> tuple[Any, Any]:
        return self.passage.old, self.passage.new

    def _carry_memory(self, old: State, new: State) -> None:
        device = new.clock.time.device
        if self.unchanged:
            rooms = (len(old.contacts.collider), len(old.contacts.first), self.passage.new.worlds)
            new.contacts = make_memory(*rooms, device)
            arrays.copy_into(new.contacts, old.contacts)
            return
        memory, place = trimmed(arrays.read(old.contacts)), self._colliders
        if len(memory["first"]) != len(place) + 1 or memory["first"][-1] != memory["count"][0]:
            return
        a = np.repeat(np.arange(len(place)), np.diff(memory["first"]))
        kept = (place[a] >= 0) & (place[memory["collider"]] >= 0)
        rows = self._colliders_now + 1
        found = {name: memory[name][kept] for name in ("collider", "part", "feature", *CARRIED)}
        found["collider"] = place[found["collider"]].astype(np.int32)
        found["first"] = np.searchsorted(place[a][kept], np.arange(rows)).astype(np.int32)
        found["count"] = np.array([kept.sum()], np.int32)
        found["pending"] = np.full(self.passage.new.worlds, WRITTEN, np.int32)
        for name in ("anchor", "heading"):
            found[name] = np.zeros((rows, memory[name].shape[1]), dtype=memory[name].dtype)
            found[name][place[place >= 0]] = memory[name][:-1][place >= 0]
        new.contacts = make_memory(int(kept.sum()), rows, self.passage.new.worlds, device)
        arrays.write(new.contacts, found, "the contacts")

    def _carry_sleep(self, old: State, new: State) -> None:
        """Islands continue to sleep under the number of their first body; those that lost one are awake."""
        passage = self.passage
        to, rows = passage.rows(passage.bodies, len(passage.old.names))
        place = np.full(passage.old.count, -1, dtype=np.int64)
        place[rows] = to
        sleep, found = arrays.read(old.sleep), arrays.read(new.sleep)
        for name, array in found.items():
            array[to] = sleep[name][rows]
        lost = np.isin(found["asleep"], sleep["asleep"][place < 0])
        found["asleep"][lost] = 0
        for island in np.unique(found["asleep"][found["asleep"] > 0]):
            members = found["asleep"] == island
            found["asleep"][members] = -1 - np.flatnonzero(members)[0]
        found["asleep"] = np.abs(found["asleep"])
        arrays.write(new.sleep, found, "the sleep")
        self._carry_sleeping_contacts(old, new, place)

    def _carry_sleeping_contacts(self, old: State, new: State, place: np.ndarray) -> None:
        kept = trimmed(arrays.read(old.sleeping_contacts), SleepingContacts)
        colliders = self._colliders if len(self._colliders) else np.zeros(1, dtype=np.int64)
        a, b = colliders[kept["collider_a"]], colliders[kept["collider_b"]]
        good = (a >= 0) & (b >= 0)
        moved = {"collider_a": a, "collider_b": b, "body_a": place[kept["body_a"]], "body_b": place[kept["body_b"]]}
        kept |= {name: rows.astype(np.int32) for name, rows in moved.items()}
        # Bodies that touched a removed one wake.
        for row in (kept["body_a"][~good], kept["body_b"][~good]):
            world, body = np.divmod(row[row >= 0], len(self.passage.new.names))
            self.touched[np.minimum(world, len(self.touched) - 1), body] = True
        count = int(good.sum())
        new.sleeping_contacts = with_room(new.sleeping_contacts, len(old.sleeping_contacts.part))
        room = arrays.read(new.sleeping_contacts)
        for name, array in room.items():
            if name != "count":
                array[:count] = kept[name][good]
        room["count"][0] = count
        arrays.write(new.sleeping_contacts, room, "the sleeping contacts")


def _in_worlds(places: np.ndarray, each: int, worlds: int) -> np.ndarray:
    """Places in a world, of every world or the same in all (worlds, places), as places in all; a world has ``each``."""
    every = np.broadcast_to(places, (worlds, places.shape[1]))
    return np.where(every >= 0, every + each * np.arange(worlds)[:, None], -1).ravel()


def _equal(old: Body, new: Body, names: Any) -> bool:
    """Whether two bodies have the same in these attributes."""
    return old is new or all(_same(getattr(old, name), getattr(new, name)) for name in names)


def _same(first: Any, second: Any) -> bool:
    return np.array_equal(first, second) if isinstance(first, np.ndarray) else bool(first == second)


def _conditions(joint: Any) -> tuple[Any, ...]:
    stops = list(joint.stops()) if hasattr(joint, "stops") else []
    return joint.rows(), stops
