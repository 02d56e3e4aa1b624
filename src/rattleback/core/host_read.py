"""Host reads: single numbers of device arrays that a call of a simulation copies to the host.

On a CPU they are in memory, where ``ctypes`` reads and writes them in half a microsecond; NumPy's view of an array
takes seven. On CUDA they are copied.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import warp as wp

from rattleback.core.mirror import Mirror
from rattleback.core.node import together

_C: dict[Any, Any] = {wp.int32: ctypes.c_int32, wp.int64: ctypes.c_int64, wp.float64: ctypes.c_double}


def first(array: Any) -> Any:
    """The first entry of an array of whole numbers or doubles."""
    if array.device.is_cpu:
        return _C[array.dtype].from_address(array.ptr).value
    return array.numpy()[0].item()


def set_first(array: Any, value: int) -> None:
    """Set the first entry of an array of one whole number."""
    if array.device.is_cpu:
        _C[array.dtype].from_address(array.ptr).value = value
    else:
        array.fill_(value)


def watching(*arrays: Any) -> Callable[[], bool]:
    """A call that says whether an entry of arrays of flags is up; prepared once, it takes a CPU a microsecond each."""
    mirrors = [Mirror(array) for array in arrays if array.size]

    def is_any_set() -> bool:
        return any(mirror.look().any() for mirror in mirrors)

    return is_any_set


def clearing(*arrays: Any) -> Callable[[], None]:
    """A call that zeroes all entries of arrays, where they are; prepared once, it takes a CPU a few microseconds."""
    if any(not array.device.is_cpu for array in arrays):
        return together([array.zero_ for array in arrays])
    spans = [(array.ptr, array.capacity) for array in arrays if array.size]

    # The arrays must live as long as the call: they are held here.
    def clear(_held: Any = arrays) -> None:
        for address, size in spans:
            ctypes.memset(address, 0, size)

    return clear
