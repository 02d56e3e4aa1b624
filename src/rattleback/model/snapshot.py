"""Snapshots: a state as plain arrays of the host, which is a tenth of the work of a copy on the device.

Taken many times a second to go back to a few of them; a state is made of one only where that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.model.state import State

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Snapshot:
    """What a state is at a moment.

    Attributes:
        bytes: Room it takes.

    Args:
        state: The state.
    """

    def __init__(self, state: State) -> None:
        state.send()
        self._like = state
        self._waker, self._driven = state.waker, state._driven
        self._groups: dict[str, tuple[Any, dict[str, tuple[Any, NDArray[Any]]]]] = {
            name: (part._cls, {inner: (array.dtype, np.array(array.numpy())) for inner, array in arrays.each(part)})
            for name, part in state.groups.items()
        }
        self.bytes = sum(values.nbytes for _, inner in self._groups.values() for _, values in inner.values())

    def state(self) -> State:
        """A state of its own with the same bits."""
        device = self._like.clock.time.device
        groups: dict[str, Any] = {}
        for name, (make, inner) in self._groups.items():
            groups[name] = part = make()
            for field, (dtype, values) in inner.items():
                setattr(part, field, wp.array(values, dtype=dtype, device=device))
        twin = State(self._like.fit, self._like.shape, **groups)
        twin.waker, twin._driven = self._waker, self._driven
        return twin
