"""Small dense systems inside kernels: six unknowns by elimination with row pivoting, inverses of symmetric 3 × 3."""

from typing import TYPE_CHECKING

import warp as wp

from rattleback.core.precision import mat33, real

if TYPE_CHECKING:
    from warp import mat33d as mat66
    from warp import vec3d as vec6
else:
    vec6 = wp.types.vector(6, real)
    mat66 = wp.types.matrix((6, 6), real)


__all__ = ["mat66", "solve6", "symmetric_inverse", "vec6"]


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


@wp.func
def symmetric_inverse(m: mat33) -> tuple[mat33, real]:
    """Inverse, not finite when it is singular, and determinant of a symmetric matrix, by its cofactors."""
    c00 = m[1, 1] * m[2, 2] - m[1, 2] * m[1, 2]
    c01 = m[0, 2] * m[1, 2] - m[0, 1] * m[2, 2]
    c02 = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    determinant = m[0, 0] * c00 + m[0, 1] * c01 + m[0, 2] * c02
    part = real(1.0) / determinant
    i01 = part * c01
    i02 = part * c02
    i11 = part * (m[0, 0] * m[2, 2] - m[0, 2] * m[0, 2])
    i12 = part * (m[0, 1] * m[0, 2] - m[0, 0] * m[1, 2])
    i22 = part * (m[0, 0] * m[1, 1] - m[0, 1] * m[0, 1])
    return mat33(part * c00, i01, i02, i01, i11, i12, i02, i12, i22), determinant
