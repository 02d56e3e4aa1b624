"""Device arrays as the host sees them: on a CPU their memory itself, where a look costs nothing; on CUDA copies.

``array.numpy()`` and ``array.assign()`` of Warp take a CPU 7 and 20 µs, more than a small robot's step.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Mirror:
    """The host's side of one device array, which must stay where it is.

    Args:
        array: The array.
    """

    __slots__ = ("_array", "_memory")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._memory: NDArray[Any] | None = array.numpy() if array.device.is_cpu else None

    def look(self) -> NDArray[Any]:
        """The entries as they are now, for a look before the next step; not to be written or kept."""
        return self._array.numpy() if self._memory is None else self._memory

    def take(self) -> NDArray[Any]:
        """The entries as they are now, as an array of their own."""
        return np.array(self.look())

    def put(self, values: ArrayLike, rows: Any = ...) -> None:
        """Set all entries, or those of some rows."""
        if self._memory is not None:
            self._memory[rows] = values
        elif rows is ...:
            self._array.assign(np.ascontiguousarray(values))
        else:
            changed = self._array.numpy()
            changed[rows] = values
            self._array.assign(changed)


def seen(array: Any) -> NDArray[Any]:
    """The entries of an array as they are now, for a look at once: they are gone with the array."""
    memory: NDArray[Any] | None = vars(array).get("memory")
    if memory is not None:
        return memory
    found: NDArray[Any] = array.numpy()
    if array.device.is_cpu and array.size:
        # Without a way back to the array, which would keep itself alive.
        span = memoryview((ctypes.c_byte * found.nbytes).from_address(array.ptr))
        array.memory = np.frombuffer(span, found.dtype).reshape(found.shape)
    return found
