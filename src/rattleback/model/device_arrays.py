"""Arrays of the state where they lie: plain arrays of the device that NumPy, torch and JAX share without a copy.

position = torch.from_dlpack(sim.state.array("position"))    the memory of the state, (worlds, bodies, 3)
position[3] += shift                                         the simulation does not see this by itself
sim.state.changed(worlds=[3])                                now it does
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.model.contact_memory import WRITTEN
from rattleback.model.state_fit import CONTACT_GROUPS
from rattleback.model.world_choice import choose_worlds

if TYPE_CHECKING:
    from rattleback.model.state import State


def shared_array(state: State, name: str) -> Any:
    """An array of the state itself, not a copy: a ``wp.array`` of numbers with ``__dlpack__``.

    ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and ``np.from_dlpack`` take it without a copy, and on a CPU so
    does ``.numpy()``, which can be written to. It stays the same memory through steps and resets.
    Say :meth:`~rattleback.model.state.State.changed` after writing to it.

    Args:
        state: The state.
        name: ``"position"``, ``"orientation"``, ``"velocity"``, ``"angular_velocity"``, ``"applied_force"`` or
            ``"applied_torque"``, of shape (worlds, bodies, n); ``"torque"`` of joints, (worlds, coordinates);
            ``"time"``, (worlds,); or an array of another group with equal rows for each world, such as
            ``"servos.target"``. Without worlds, their axis is missing.
    """
    state.freeze()
    places = _places(state)
    if name not in places:
        known = list(places)
        raise UnknownName(f"The state has no array {name!r}.{did_you_mean(name, known)} It has {listing(known, 40)}.")
    group, inner = places[name]
    array = getattr(state.groups[group], inner)
    kind = array.dtype
    scalar, entry = getattr(kind, "_wp_scalar_type_", kind), tuple(getattr(kind, "_shape_", ()))
    worlds = state.shape[:-1]
    rows = () if name == "time" else (len(array) // (worlds[0] if worlds else 1),)
    shape = (*worlds, *rows, *entry) or (1,)
    shared = wp.array(ptr=array.ptr, shape=shape, dtype=scalar, device=array.device, copy=False)
    shared.owner = array  # what shares the memory keeps it alive
    return shared


def changed(state: State, worlds: Any = None) -> None:
    """Take note that arrays from :meth:`~rattleback.model.state.State.array` were written to.

    Bodies wake, contacts are found anew, and velocities are made fit joints and contacts before the next step, as where
    arrays are written in the usual way. Numbers are not checked; orientations must be quaternions of length 1. An array
    that was read before as NumPy has it, such as ``sim.state.position``, is a record of the past from now on.

    Args:
        state: The state.
        worlds: In which worlds, a mask or their numbers; None for all.
    """
    state.check_current("What is said to be changed")
    chosen = choose_worlds(worlds, len(state.clock.time))
    state.freeze()
    if not len(chosen):
        return
    if len(chosen) == len(state.clock.time):
        state.contacts.pending.fill_(int(WRITTEN))
    else:
        state.note_written(chosen)
    if state.waker is None:
        state.touch()
    else:
        each = state.shape[-1]
        state.wake((chosen[:, None] * each + np.arange(each)).ravel())


def _places(state: State) -> dict[str, tuple[str, str]]:
    """Group and name of every array that can be shared."""
    from rattleback.model.state import PICTURED

    others = {
        f"{group}.{name}": (group, name)
        for group, part in state.groups.items()
        if group not in (*CONTACT_GROUPS, "motion", "applied", "efforts")
        for name, array in arrays.each(part)
        if len(array)
    }
    return {**PICTURED, "time": ("clock", "time"), **others}
