"""What makes a function a kernel of this package: no backward pass, and the C++ preamble of ``core.warp_preamble``.

Rows are counted from the front, in arrays without gaps. Kernels made of a user's functions, which may count from the
end, are made by ``wp.kernel``.
"""

from typing import Any

import warp as wp

from rattleback.core.warp_preamble import build_options

# Only on a CPU: other threads of a GPU run while one waits for its memory.
FETCH = """
#if !defined(__CUDA_ARCH__)
__builtin_prefetch(rows.data + i);
#endif
"""
_OPTIONS = {"extra_build_options": build_options()}


def kernel(function: Any) -> Any:
    """A kernel, in the Warp module of its file."""
    name = function.__module__
    if wp.get_module_options(name)["extra_build_options"] is None:
        wp.set_module_options(_OPTIONS, name)
    return wp.kernel(function, enable_backward=False)


def lone_kernel(function: Any) -> Any:
    """A kernel in a Warp module of its own, for one that is made inside a function."""
    return wp.kernel(function, enable_backward=False, module="unique", module_options=_OPTIONS)


@wp.func_native(FETCH)
def fetch(rows: wp.array(dtype=Any), i: int) -> None:  # type: ignore[valid-type]
    """Prefetch a row that is needed soon and does not follow the last one; it need not exist."""
