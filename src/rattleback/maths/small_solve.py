"""Small dense systems inside kernels: six unknowns by elimination, inverses and eigenvectors of symmetric 3 × 3."""

from typing import TYPE_CHECKING

import warp as wp

from rattleback.core.precision import epsilon, mat33, real

if TYPE_CHECKING:
    from warp import mat33d as mat66
    from warp import vec3d as vec6
else:
    vec6 = wp.types.vector(6, real)
    mat66 = wp.types.matrix((6, 6), real)


__all__ = ["inverse6", "largest_eigenvalue", "mat66", "solve6", "symmetric_axes", "symmetric_inverse", "vec6"]

# Sweeps of Jacobi's method, which converge cubically, and the square of what is left beside the diagonal.
SWEEPS = wp.constant(12)
ROUNDING = wp.constant(real(epsilon * epsilon))


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


@wp.func
def symmetric_axes(m: mat33) -> mat33:
    """Eigenvectors of a symmetric matrix as columns, orthonormal to rounding, by Jacobi's cyclic method."""
    a = m
    axes = wp.identity(n=3, dtype=real)
    for _sweep in range(SWEEPS):
        off = a[0, 1] * a[0, 1] + a[0, 2] * a[0, 2] + a[1, 2] * a[1, 2]
        if off <= ROUNDING * (a[0, 0] * a[0, 0] + a[1, 1] * a[1, 1] + a[2, 2] * a[2, 2]):
            break
        for k in range(3):
            p = wp.where(k == 2, 1, 0)
            q = wp.where(k == 0, 1, 2)
            if a[p, q] != real(0.0):
                half = (a[q, q] - a[p, p]) / (real(2.0) * a[p, q])
                t = wp.where(half < real(0.0), real(-1.0), real(1.0)) / (
                    wp.abs(half) + wp.sqrt(half * half + real(1.0))
                )
                c = real(1.0) / wp.sqrt(t * t + real(1.0))
                s = t * c
                r = 3 - p - q
                change = t * a[p, q]
                a[p, p] = a[p, p] - change
                a[q, q] = a[q, q] + change
                a[p, q] = real(0.0)
                a[q, p] = real(0.0)
                u = a[r, p]
                v = a[r, q]
                a[r, p] = c * u - s * v
                a[p, r] = a[r, p]
                a[r, q] = s * u + c * v
                a[q, r] = a[r, q]
                for i in range(3):
                    x = axes[i, p]
                    y = axes[i, q]
                    axes[i, p] = c * x - s * y
                    axes[i, q] = s * x + c * y
    return axes


@wp.func
def largest_eigenvalue(m: mat33) -> real:
    """Largest eigenvalue of a symmetric matrix, in closed form.

    Reference: Smith, Eigenvalues of a symmetric 3 × 3 matrix, 1961.
    """
    mean = (m[0, 0] + m[1, 1] + m[2, 2]) / real(3.0)
    rest = m - mean * wp.identity(n=3, dtype=real)
    size = wp.sqrt(wp.ddot(rest, rest) / real(6.0))
    if size == real(0.0):
        return mean
    half = wp.clamp(real(0.5) * wp.determinant(rest / size), real(-1.0), real(1.0))
    return mean + real(2.0) * size * wp.cos(wp.acos(half) / real(3.0))


@wp.func
def inverse6(a: mat66, size: int) -> mat66:
    """The inverse of a matrix by Gauss and Jordan, not finite when it is singular; ``size`` is 6."""
    x = wp.identity(n=6, dtype=real)
    for k in range(size):
        best = int(k)
        for i in range(k + 1, size):
            if wp.abs(a[i, k]) > wp.abs(a[best, k]):
                best = i
        for j in range(size):
            t = a[k, j]
            a[k, j] = a[best, j]
            a[best, j] = t
            s = x[k, j]
            x[k, j] = x[best, j]
            x[best, j] = s
        part = real(1.0) / a[k, k]
        for j in range(size):
            a[k, j] = part * a[k, j]
            x[k, j] = part * x[k, j]
        for i in range(size):
            f = a[i, k]
            if i != k and f != real(0.0):
                for j in range(size):
                    a[i, j] = a[i, j] - f * a[k, j]
                    x[i, j] = x[i, j] - f * x[k, j]
    return x
