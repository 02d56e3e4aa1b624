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


def _cell(array: Any) -> Any:
    """The first entry of an array of a CPU as ctypes has it, made once; None on CUDA."""
    cell = vars(array).get("cell")
    if cell is None and array.device.is_cpu:
        cell = array.cell = _C[array.dtype].from_address(array.ptr)
    return cell


def first(array: Any) -> Any:
    """The first entry of an array of whole numbers or doubles."""
    cell = _cell(array)
    return array.numpy()[0].item() if cell is None else cell.value


def set_first(array: Any, value: int) -> None:
    """Set the first entry of an array of one whole number."""
    if (cell := _cell(array)) is None:
        array.fill_(value)
    else:
        cell.value = value


def watching(*arrays: Any) -> Callable[[], bool]:
    """A call that says whether an entry of arrays of flags is up; prepared once, it takes 0.2 µs each."""
    arrays = tuple(array for array in arrays if array.size)
    if any(not array.device.is_cpu for array in arrays):
        mirrors = [Mirror(array) for array in arrays]
        return lambda: any(mirror.look().any() for mirror in mirrors)
    pairs = [(memoryview(array.numpy()).cast("B"), bytes(array.capacity)) for array in arrays]

    def is_any_set() -> bool:
        return any(memory != zeros for memory, zeros in pairs)

    return is_any_set


def clearing(*arrays: Any) -> Callable[[], None]:
    """A call that zeroes all entries of arrays, where they are; prepared once, it takes a CPU a few microseconds."""
    if any(not array.device.is_cpu for array in arrays):
        return together([array.zero_ for array in arrays])
    pairs = [(memoryview(array.numpy()).cast("B"), bytes(array.capacity)) for array in arrays if array.size]

    def clear() -> None:
        for memory, zeros in pairs:
            memory[:] = zeros

    return clear
