"""What makes a function a kernel of the house: no backward pass, and C++ that a compiler makes short code of.

Rows are found by their number alone. An array of Warp may have gaps between its rows, and a row may be counted from the
end. So for every row that a kernel looks at, the distance of rows is read from memory and multiplied by, and it is
asked whether the number is negative. No array of ours has gaps and no kernel counts from the end.

    place of row i = first + i (bytes of a row)       instead of       first + (i + (i < 0) rows) (distance of rows)

Loops know their step. A range of Warp is copied as a whole before it is gone through, by which a compiler loses sight
of its step, and asks in every turn whether it is positive, negative or zero. Ours is copied number by number.

The larger of two numbers is one instruction. Warp takes four more to return the other number where one is none; here
the second of two is returned then, as by ``a > b ? a : b``.

All bits stay the same. Rows save a step with contacts a fifth of its time on a CPU and a twentieth on a GPU; loops save
a CPU another fourteenth, and larger and smaller numbers a fiftieth.

Arrays of two axes and more are looked up as Warp does. So is everything in kernels made of a user's functions, which
may count from the end; those are made by ``wp.kernel``.
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
# Stands in for the range of Warp in what is compiled after it.
PLAIN_RANGES = """
namespace wp {
struct plain_range_t {
    int i = 0, end = 0, step = 1;
    CUDA_CALLABLE plain_range_t& operator=(const range_t& other)
    {
        i = other.i;
        end = other.end;
        step = other.step;
        return *this;
    }
};
inline CUDA_CALLABLE bool iter_cmp(const plain_range_t& r)
{
    return r.step > 0 ? r.i < r.end : r.step < 0 && r.i > r.end;
}
inline CUDA_CALLABLE int iter_next(plain_range_t& r)
{
    int i = r.i;
    r.i += r.step;
    return i;
}
}
#define range_t plain_range_t
"""
# The same for larger and smaller ones of two numbers; what else has these names is that of Warp.
PLAIN_EXTREMES = """
namespace wp {
template <typename... T> inline CUDA_CALLABLE auto plain_max(const T&... values) { return max(values...); }
template <typename... T> inline CUDA_CALLABLE auto plain_min(const T&... values) { return min(values...); }
inline CUDA_CALLABLE double plain_max(double a, double b) { return a > b ? a : b; }
inline CUDA_CALLABLE double plain_min(double a, double b) { return a < b ? a : b; }
inline CUDA_CALLABLE float plain_max(float a, float b) { return a > b ? a : b; }
inline CUDA_CALLABLE float plain_min(float a, float b) { return a < b ? a : b; }
}
#define max plain_max
#define min plain_min
"""
PLAIN = PLAIN_ROWS + PLAIN_RANGES + PLAIN_EXTREMES
# Other threads of a GPU go on while one waits for its memory.
FETCH = """
#if !defined(__CUDA_ARCH__)
__builtin_prefetch(rows.data + i);
#endif
"""
_BUILD = wp.ModuleBuildOptions(extra_cpu_preamble=PLAIN, extra_cuda_preamble=PLAIN)
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
