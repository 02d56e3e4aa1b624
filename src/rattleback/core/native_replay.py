"""A recorded step as a list of numbers that one kernel works through on a CPU.

    0                       end
    1  f  bounds  args      call the kernel f
    2  flag  place          go to a place of the list unless flag[0] is set
    3  place                go to a place of the list

f, bounds, args, flag are addresses; bounds and args are what ``wp.launch`` would pass to the kernel. A loop is 2, its
launches, and 3 back to the 2; a branch is 2 and its launches, with a 3 behind them where there is something else.

Warp's own graphs of a CPU are made for files: they register every array of every launch, 0.2 to 0.8 ms each, and patch
its address again at each replay. A list costs 10 µs a launch to make and a few nanoseconds to replay, with the same
kernels in the same order and so with the same bits. It holds what its addresses point to.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.node import Branch, Launch, Loop, Node

END, CALL, UNLESS, GO = range(4)
WORK_THROUGH = """
#if !defined(__CUDA_ARCH__)
const int64_t* at = code.data;
for (;;) {
    switch (at[0]) {
    case 1:
        ((void (*)(void*, void*))at[1])((void*)at[2], (void*)at[3]);
        at += 4;
        break;
    case 2: at = *(const int32_t*)at[1] ? at + 3 : code.data + at[2]; break;
    case 3: at = code.data + at[1]; break;
    default: return;
    }
}
#endif
"""


@wp.func_native(WORK_THROUGH)
def work_through(code: wp.array[wp.int64]) -> None:
    """Do what a list says."""


@kernel
def replay(code: wp.array[wp.int64]) -> None:
    """Work through a list, in one thread."""
    work_through(code)


class _List:
    """A list under way, and what its addresses point to."""

    def __init__(self) -> None:
        self.code: list[int] = []
        self.held: list[Any] = []

    def add(self, nodes: list[Node]) -> None:
        """Nodes follow."""
        for node in nodes:
            if isinstance(node, Launch):
                self._call(node.command)
            elif isinstance(node, Loop):
                start = len(self.code)
                self._end(self._unless(node), [GO, start])
            elif isinstance(node, Branch):
                self._otherwise(node)
            else:
                raise TypeError(f"{node!r} is no part of a list that a kernel can work through.")

    def _call(self, command: Any) -> None:
        args = arguments(command)
        self.held.append((command, args))
        function = ctypes.cast(command.hooks.forward, ctypes.c_void_p).value or 0
        self.code += [CALL, function, ctypes.addressof(command.params[0]), ctypes.addressof(args)]

    def _unless(self, node: Loop | Branch) -> int:
        """What is done where the flag is up; returns where the place to go to otherwise has to be written."""
        self.held.append(node.flag)
        self.code += [UNLESS, node.flag.ptr, 0]
        hole = len(self.code) - 1
        self.add(node.nodes)
        return hole

    def _end(self, hole: int, last: list[int]) -> None:
        self.code += last
        self.code[hole] = len(self.code)

    def _otherwise(self, node: Branch) -> None:
        hole = self._unless(node)
        if not node.otherwise:
            self._end(hole, [])
            return
        self._end(hole, [GO, 0])
        end = len(self.code) - 1
        self.add(node.otherwise)
        self.code[end] = len(self.code)


def native_replay(nodes: list[Node], device: Any) -> Callable[[], None]:
    """A call that replays launches, loops and branches on a CPU."""
    made = _List()
    made.add(nodes)
    code = wp.array(np.array([*made.code, END], dtype=np.int64), dtype=wp.int64, device=device)
    command = wp.launch(replay, dim=1, inputs=[code], device=device, record_cmd=True)
    args = arguments(command)
    function, bounds, given = command.hooks.forward, ctypes.byref(command.params[0]), ctypes.byref(args)

    # What addresses point to must live as long as the call: it is held here.
    def run(_held: Any = (made.held, code, command, args)) -> None:
        function(bounds, given)

    return run


def arguments(command: Any) -> Any:
    """The arguments of a recorded launch as the one structure that a kernel of a CPU takes."""
    params = command.params[1:]
    return _structure(tuple(type(value) for value in params))(*params)


@functools.cache
def _structure(kinds: tuple[type, ...]) -> Any:
    """The structure of arguments of these types."""
    return type("Arguments", (ctypes.Structure,), {"_fields_": [(f"a{i}", kind) for i, kind in enumerate(kinds)]})
