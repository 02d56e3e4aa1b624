"""Masked reset: chosen worlds of a state go back to the start, or to worlds of another state, all others stay.

    s_w ← s*_{σ(w)}   for every world w that is chosen

s_w everything that the state has of world w, s* the start or the state given, σ(w) the world of it that w takes.

Arrays with equal rows for each world are copied by one launch, from a table of their places. Contacts are one list of
all worlds and are gathered anew. The time of a world goes back with it. The length of the step does not, and the number
of steps, by which contacts are found every so many steps in all worlds at once, only where all worlds go back.

Cost: one launch of worlds × arrays threads; with contacts, what copying their list costs.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.mirror import Mirror
from rattleback.model.reset_contacts import reset_contacts, reset_sleeping_contacts
from rattleback.model.state_fit import StateFit
from rattleback.model.world_choice import choose_worlds, source_worlds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rattleback.model.state import State

    Place = tuple[str, str]

# Groups of lists of all worlds, and what of them has equal rows for each world.
LISTS = {"contacts": ("pending", "anchor", "heading"), "sleeping_contacts": ()}
# What never goes back, and what goes back only with all worlds.
STAYS, OF_ALL = ("clock", "time_step"), ("clock", "steps")
# Bytes of the whole numbers as which entries are copied.
WORD = 4


@kernel
def copy_worlds(
    target: wp.array[wp.uint64],
    source: wp.array[wp.uint64],
    words: wp.array[wp.int32],
    worlds: wp.array[wp.int32],
    taken: wp.array[wp.int32],
    counts: wp.array[wp.int32],
) -> None:
    """Copy the rows of a world of one array, or zero them where the source has none."""
    i, k = wp.tid()
    n = words[k]
    there = wp.array(ptr=target[k], shape=(n * counts[0],), dtype=wp.int32)
    first = worlds[i] * n
    if source[k] == wp.uint64(0):
        for j in range(n):
            there[first + j] = 0
        return
    here = wp.array(ptr=source[k], shape=(n * counts[1],), dtype=wp.int32)
    origin = taken[i] * n
    for j in range(n):
        there[first + j] = here[origin + j]


@kernel
def move_islands(asleep: wp.array[wp.int32], worlds: wp.array[wp.int32], taken: wp.array[wp.int32], each: int) -> None:
    """Islands of a world that came from another one get the numbers of their bodies here."""
    i, b = wp.tid()
    row = worlds[i] * each + b
    if asleep[row] != 0:
        asleep[row] = asleep[row] + (worlds[i] - taken[i]) * each


class Resets:
    """What puts worlds of a state back.

    Args:
        state: The state as its scene says it begins; it is changed later.
    """

    def __init__(self, state: "State") -> None:
        self._state, self._worlds, self._device = state, len(state.clock.time), state.clock.time.device
        # All that is not zero at the start; the rest need not be stored.
        self._start = {place: wp.clone(array) for place, array in _arrays(state) if _is_anything(array)}
        lists = [wp.zeros(self._worlds, dtype=wp.int32, device=self._device) for _ in range(3)]
        self._chosen, self._taken, self._own = lists
        self._mirrors = [Mirror(array) for array in lists]
        self._tables: dict[bool, Table] = {}
        self._memory: Any = None
        self._checked: tuple[Any, int] = (None, 0)

    def reset(self, worlds: Any = None, given: "State | None" = None, from_worlds: Any = None) -> None:
        """Put worlds back; see :func:`reset`."""
        state, chosen = self._state, choose_worlds(worlds, self._worlds)
        count = self._worlds if given is None else self._fitting(given)
        if given is None and from_worlds is not None:
            raise InputError("The from_worlds of a reset are those of a state; give it by state=...")
        taken = source_worlds(from_worlds, chosen, count)
        state.freeze()
        if not len(chosen):
            return
        given = state.copy() if given is state else given
        own = np.full(self._worlds, -1, dtype=np.int32)
        own[chosen] = taken
        for mirror, values in zip(self._mirrors, (chosen, taken, own), strict=True):
            mirror.put(np.resize(values, self._worlds))
        self._copy(len(chosen), given)
        reset_contacts(state, given, self._own)
        if state.waker is not None:
            self._reset_sleep(len(chosen), given, own)
        state.touch()

    def _copy(self, count: int, given: "State | None") -> None:
        """Copy the arrays with equal rows for each world."""
        if self._memory is not self._state.contacts:
            self._tables, self._memory = {}, self._state.contacts
        whole = count == self._worlds
        if given is None and whole in self._tables:
            table = self._tables[whole]
        else:
            table = Table(self._state, self._start if given is None else _sources(self._state, given), whole)
            table.counts.assign([self._worlds, self._worlds if given is None else len(given.clock.time)])
            if given is None:
                self._tables[whole] = table
        lists = [table.targets, table.sources, table.words, self._chosen, self._taken, table.counts]
        wp.launch(copy_worlds, (count, len(table.words)), inputs=lists, device=self._device)

    def _reset_sleep(self, count: int, given: "State | None", own: np.ndarray) -> None:
        """Sleeping bodies are counted over all worlds."""
        if given is not None:
            lists = [self._state.sleep.asleep, self._chosen, self._taken, self._state.shape[-1]]
            wp.launch(move_islands, (count, self._state.shape[-1]), inputs=lists, device=self._device)
        reset_sleeping_contacts(self._state, given, own)

    def _fitting(self, given: Any) -> int:
        """Number of worlds of a state that fits this one; checked once, unless it is written to."""
        from rattleback.model.state import GROUPS, State

        if not isinstance(given, State):
            raise InputError(f"A reset cannot go to {given!r}; use what sim.state.copy() returned.")
        worlds = len(given.clock.time)
        if given is self._state or (self._checked[0] is given and self._checked[1] == given.version):
            return worlds
        if given.clock.time.device != self._device:
            lies = given.clock.time.device
            raise InputError(f"The state given lies on {str(lies)!r}, the simulation on {str(self._device)!r}.")
        given.send()
        state = self._state
        if given.shape[-1] != state.shape[-1]:
            raise InputError(
                f"The state given has {given.shape[-1]} bodies a world; this simulation has {state.shape[-1]}."
            )
        try:
            StateFit(state.fit.scene, worlds, GROUPS).checked(given.views())
        except InputError as error:
            raise InputError(f"The state given does not fit this simulation: {error}") from None
        self._checked = given, given.version
        return worlds


class Table:
    """Where the arrays of two states lie, and how many words each has for a world.

    Args:
        state: The state that is written to.
        sources: Arrays that are read, by group and name; those that are missing are zero.
        whole: Whether all worlds go back.
    """

    def __init__(self, state: "State", sources: "Mapping[Place, Any]", whole: bool) -> None:
        rows = [(place, array) for place, array in _arrays(state) if whole or place != OF_ALL]
        worlds, device = len(state.clock.time), state.clock.time.device
        words = [len(array) // worlds * (wp.types.type_size_in_bytes(array.dtype) // WORD) for _, array in rows]
        found = [sources.get(place) for place, _ in rows]
        self.kept = [array for array in found if array is not None]
        self.targets = wp.array([array.ptr for _, array in rows], dtype=wp.uint64, device=device)
        self.sources = wp.array([array.ptr if array else 0 for array in found], dtype=wp.uint64, device=device)
        self.words = wp.array(words, dtype=wp.int32, device=device)
        self.counts = wp.zeros(2, dtype=wp.int32, device=device)


def reset(simulation: Any, worlds: Any = None, state: "State | None" = None, from_worlds: Any = None) -> None:
    """Put worlds back to the start, or to a given state; the others keep every bit.

    A world that was put back goes on bit for bit as a new simulation does: contacts, warm starts, sleep, servos, broken
    joints and its time go back with it. Parameters, methods, observers and the length of the step stay. ``sim.time`` is
    that of the first world; ``sim.state.clock.time`` has those of all.

    Where contacts are found every n steps, they are so in all worlds at once, and the bits are those of a new
    simulation if a multiple of n steps was taken before; likewise, sleeping bodies are looked for every few steps.

    Args:
        simulation: The simulation.
        worlds: A mask with one entry a world, or the numbers of worlds; None for all.
        state: Where they go back to, such as what ``sim.state.copy()`` returned, of this or another simulation of the
            same scene; None for the start, as the scene says it.
        from_worlds: The world of that state that each takes, one for all or one for each; None for the world of the
            same number, or the only one that the state has.
    """
    simulation._resets.reset(worlds, state, from_worlds)


def _arrays(state: "State") -> "Iterator[tuple[Place, Any]]":
    """The arrays of a state with equal rows for each world, by group and name."""
    for group, part in state.groups.items():
        for name, array in arrays.each(part):
            if len(array) and name in LISTS.get(group, (name,)) and (group, name) != STAYS:
                yield (group, name), array


def _sources(state: "State", given: "State") -> "dict[Place, Any]":
    """The arrays of a state that another one takes over."""
    worlds = len(state.clock.time), len(given.clock.time)
    each = [(len(array.contacts.first) - 1) // count for array, count in zip((state, given), worlds, strict=True)]
    found = dict(_arrays(given))
    if each[0] != each[1]:
        found = {place: array for place, array in found.items() if place[1] not in ("anchor", "heading")}
    if state.waker is None:
        found = {place: array for place, array in found.items() if place[0] != "sleep"}
    return found


def _is_anything(array: Any) -> bool:
    """Whether an array has a bit that is not zero."""
    return bool(np.ascontiguousarray(array.numpy()).view(np.uint8).any())
