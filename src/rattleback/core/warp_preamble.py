"""C++ put before every kernel: shorter code for array rows, loops, and the larger of two numbers.

The C++ that Warp 1.19 generates pays for generality that no kernel of this package uses. This file redefines three
things of it, two of them by macro; it is the only place that knows the C++ of Warp.

    rows     address, array_store of arrays of one axis   first + i (bytes of a row): no stride is read, and no
             negative index checked. No array here has gaps, and no kernel counts from the end.
    ranges   range_t, by macro                            copied number by number, so that the compiler sees the step
    extremes max, min of two floats, by macro             one instruction, a > b ? a : b; of a NaN and a number the
             second is returned

All other bits stay the same. Rows save a step with contacts a fifth of its time on a CPU and a twentieth on a GPU,
loops save a CPU another fourteenth, and extremes a fiftieth. Arrays of two and more axes are addressed as Warp does.

What the parts rely on is in ``GENERATED``: what Warp has to write into the C++ of a kernel for a part to act.
``tests/core/test_warp_preamble.py`` compares it with the installed Warp. Where another Warp differs, remove the part
from ``PREAMBLE`` or adapt it; every kernel is right without it, only slower.
"""

from typing import Any

import warp as wp

# Overloads for arrays of one axis, more specialised than the templates of Warp, so that the compiler prefers them.
PLAIN_ROWS = """
namespace wp {
template <typename T> inline CUDA_CALLABLE T* address(const array_t<T>& rows, int i) { return rows.data + i; }
template <typename T> inline CUDA_CALLABLE void array_store(const array_t<T>& rows, int i, T value)
{
    rows.data[i] = value;
}
}
"""
# Replaces the range type of Warp in everything that is compiled after it.
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
# Replaces max and min of two floats; other overloads forward to those of Warp.
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
PREAMBLE = PLAIN_ROWS + PLAIN_RANGES + PLAIN_EXTREMES
# What Warp generates for ``out[i] = max(a[j], min(...))`` in a loop over j, by the part that acts on it.
GENERATED = {
    "PLAIN_ROWS": ("wp::address(var_", "wp::array_store(var_"),
    "PLAIN_RANGES": ("wp::range_t var_", "= wp::range(", "iter_cmp(var_", "wp::iter_next(var_"),
    "PLAIN_EXTREMES": ("= wp::max(", "= wp::min("),
}


def build_options() -> Any:
    """What has Warp put the preamble before the kernels of a module.

    Raises:
        ImportError: The installed Warp cannot do that.
    """
    try:
        return wp.ModuleBuildOptions(extra_cpu_preamble=PREAMBLE, extra_cuda_preamble=PREAMBLE)
    except (AttributeError, TypeError) as fault:
        raise ImportError(
            f"Warp {wp.__version__} takes no C++ for its modules (ModuleBuildOptions with extra_cpu_preamble and "
            'extra_cuda_preamble), which kernels need; "warp-lang>=1.19,<1.20" does.'
        ) from fault
