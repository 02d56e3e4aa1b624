"""What makes a function a kernel of the house: no backward pass, and rows that are found by their number alone.

An array of Warp may have gaps between its rows, and a row may be counted from the end. So for every row that a kernel
looks at, the distance of rows is read from memory and multiplied by, and it is asked whether the number is negative. No
array of ours has gaps and no kernel counts from the end. Without, a step with contacts takes a CPU a fifth less time
and a GPU a twentieth, with the same bits.

    place of row i = first + i (bytes of a row)       instead of       first + (i + (i < 0) rows) (distance of rows)

Arrays of two axes and more are looked up as Warp does. So is everything in kernels made of a user's functions, which
may do both; those are made by ``wp.kernel``.
"""

from typing import Any

import warp as wp

# More special than the templates of Warp, so that a compiler takes these for arrays of one axis.
PLAIN_ROWS = """
namespace wp {
template <typename T> inline CUDA_CALLABLE T* address(const array_t<T>& rows, int i) { return rows.data + i; }
template <typename T> inline CUDA_CALLABLE void array_store(const array_t<T>& rows, int i, T value)
{
    rows.data[i] = value;
}
}
"""
# Other threads of a GPU go on while one waits for its memory.
FETCH = """
#if !defined(__CUDA_ARCH__)
__builtin_prefetch(rows.data + i);
#endif
"""
_BUILD = wp.ModuleBuildOptions(extra_cpu_preamble=PLAIN_ROWS, extra_cuda_preamble=PLAIN_ROWS)
_OPTIONS = {"extra_build_options": _BUILD}


def kernel(function: Any) -> Any:
    """A kernel, in the Warp module of its file."""
    name = function.__module__
    if wp.get_module_options(name)["extra_build_options"] is None:
        wp.set_module_options(_OPTIONS, name)
    return wp.kernel(function, enable_backward=False)


def lone_kernel(function: Any) -> Any:
    """A kernel in a Warp module of its own: made in a function, of what was given to that."""
    return wp.kernel(function, enable_backward=False, module="unique", module_options=_OPTIONS)


@wp.func_native(FETCH)
def fetch(rows: wp.array(dtype=Any), i: int) -> None:  # type: ignore[valid-type]
    """Ask for a row that is needed soon and does not follow the last one; there may be none."""
