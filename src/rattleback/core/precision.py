"""The number types every kernel and every array uses, chosen once per process.

Double precision is the default. ``RATTLEBACK_PRECISION=single`` in the environment, set before the
first import, switches every kernel and array to 32 bits. Nothing else in the package names a width.
"""

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core.errors import InputError

PRECISION = os.environ.get("RATTLEBACK_PRECISION", "double")
if PRECISION not in ("double", "single"):
    raise InputError(f"RATTLEBACK_PRECISION is {PRECISION!r}; it may be 'double' or 'single'.")

if TYPE_CHECKING:  # Warp is opaque to the type checker, so kernel bodies are too.
    from warp import float64 as real
    from warp import mat33d as mat33
    from warp import mat33d as mat34
    from warp import quatd as double_quat
    from warp import quatd as quat
    from warp import vec3d as double_vec3
    from warp import vec3d as vec3
    from warp import vec4d as vec4
else:
    real = wp.float64 if PRECISION == "double" else wp.float32
    vec3 = wp.types.vector(3, real)
    vec4 = wp.types.vector(4, real)
    quat = wp.types.quaternion(real)
    mat33 = wp.types.matrix((3, 3), real)
    mat34 = wp.types.matrix((3, 4), real)
    # Double in any precision, for what is summed up and compared with itself.
    double_vec3 = wp.types.vector(3, wp.float64)
    double_quat = wp.types.quaternion(wp.float64)

numpy_real: type[np.floating[Any]] = np.float64 if PRECISION == "double" else np.float32
epsilon = float(np.finfo(numpy_real).eps)

__all__ = [
    "PRECISION",
    "double_quat",
    "double_vec3",
    "epsilon",
    "mat33",
    "mat34",
    "numpy_real",
    "quat",
    "real",
    "vec3",
    "vec4",
]
