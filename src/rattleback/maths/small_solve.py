"""Small dense linear systems inside kernels: A x = b with six unknowns, by elimination with row pivoting."""

from typing import TYPE_CHECKING

import warp as wp

from rattleback.core.precision import real

if TYPE_CHECKING:
    from warp import mat33d as mat66
    from warp import vec3d as vec6
else:
    vec6 = wp.types.vector(6, real)
    mat66 = wp.types.matrix((6, 6), real)


__all__ = ["mat66", "solve6", "vec6"]


@wp.func
def solve6(a: mat66, b: vec6) -> vec6:
    """X with A x = b; not finite when A is singular."""
    for k in range(6):
        best = k
        for i in range(k + 1, 6):
            if wp.abs(a[i, k]) > wp.abs(a[best, k]):
                best = i
        if best != k:
            for j in range(6):
                t = a[k, j]
                a[k, j] = a[best, j]
                a[best, j] = t
            s = b[k]
            b[k] = b[best]
            b[best] = s
        for i in range(k + 1, 6):
            f = a[i, k] / a[k, k]
            for j in range(k, 6):
                a[i, j] = a[i, j] - f * a[k, j]
            b[i] = b[i] - f * b[k]
    x = vec6()
    for r in range(6):
        i = 5 - r
        s = b[i]
        for j in range(i + 1, 6):
            s = s - a[i, j] * x[j]
        x[i] = s / a[i, i]
    return x
