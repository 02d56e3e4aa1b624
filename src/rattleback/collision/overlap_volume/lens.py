"""The overlap of two balls, and of a ball and a half-space: caps of height h cut off a ball of radius R.

    V = π h² (R − h/3)        ∫ t dV = π h³ (R/3 − h/12)        A = 2π R h
    ∫ t² dV = π h⁴ (R/6 − h/30)      ∫ x² dV = π h³ (R²/3 − R h/4 + h²/20)

t distance from the base of the cap, x across. At t the cap's disc has the squared radius (h − t)(2R − h + t). The
overlap of two balls at the distance d is two caps on a common base, of the heights (R_B − R_A + d) δ / 2d and
(R_A − R_B + d) δ / 2d, where δ = R_A + R_B − d; a half-space leaves one cap of height δ. Seen along the axis it is a
disc: the base, or the equator where a cap is more than half a ball.
"""

import math

import warp as wp

from rattleback.collision.overlap_volume.clip_solid import Integrals
from rattleback.core.precision import real, vec3

PI = wp.constant(real(math.pi))


@wp.func
def add_cap(sums: Integrals, R: real, h: real, n: vec3, toward: real) -> Integrals:
    """Add a cap that rises from the base by h, in the direction ``toward`` n; integrals are about the base's middle."""
    out = sums
    along = wp.outer(n, n)
    flat = wp.identity(n=3, dtype=real) - along
    out.volume += PI * h * h * (R - h / real(3.0))
    out.centroid += (toward * PI * h * h * h * (R / real(3.0) - h / real(12.0))) * n
    out.moments += (PI * h * h * h * h * (R / real(6.0) - h / real(30.0))) * along
    side = PI * h * h * h * (R * R / real(3.0) - R * h / real(4.0) + h * h / real(20.0))
    out.moments += side * flat
    return out


@wp.func
def with_disc(sums: Integrals, base: vec3, n: vec3, square: real) -> Integrals:
    """Integrals about the centroids, with the disc of this squared radius as the region."""
    out = sums
    c = sums.centroid / sums.volume
    out.centroid = base + c
    out.moments = sums.moments - sums.volume * wp.outer(c, c)
    out.region = PI * square
    out.region_centroid = out.centroid
    out.region_moments = (out.region * square / real(4.0)) * (wp.identity(n=3, dtype=real) - wp.outer(n, n))
    return out


@wp.func
def two_balls(at_a: vec3, at_b: vec3, R: real, S: real, n: vec3) -> Integrals:
    """The overlap of balls A and B with radii R and S; n from B to A. ``area_kept`` is that of A."""
    out = Integrals()
    d = wp.length(at_a - at_b)
    depth = R + S - d
    if depth <= real(0.0):
        return out
    if d <= wp.abs(R - S):
        inner = wp.min(R, S)
        out.area_kept = wp.where(R <= S, real(4.0) * PI * inner * inner, real(0.0))
        out.area_cut = wp.where(R <= S, real(0.0), real(4.0) * PI * inner * inner)
        center = wp.where(R <= S, at_a, at_b)
        return with_disc(add_cap(out, inner, real(2.0) * inner, n, real(1.0)), center - inner * n, n, inner * inner)
    # A's cap lies on the side of B, below the common base.
    h = (S - R + d) * depth / (real(2.0) * d)
    g = (R - S + d) * depth / (real(2.0) * d)
    out = add_cap(out, R, h, n, real(-1.0))
    out = add_cap(out, S, g, n, real(1.0))
    out.area_kept = real(2.0) * PI * R * h
    out.area_cut = real(2.0) * PI * S * g
    square = h * (real(2.0) * R - h)
    if h > R:
        square = R * R
    if g > S:
        square = S * S
    return with_disc(out, at_a - (R - h) * n, n, square)


@wp.func
def ball_half_space(at: vec3, R: real, n: vec3, bottom: real) -> Integrals:
    """The overlap of a ball and the half-space n · x ≤ ``bottom``; ``area_kept`` is that of the ball."""
    out = Integrals()
    h = wp.min(bottom - wp.dot(n, at) + R, real(2.0) * R)
    if h <= real(0.0):
        return out
    base = h * (real(2.0) * R - h)
    out = add_cap(out, R, h, n, real(-1.0))
    out.area_kept = real(2.0) * PI * R * h
    out.area_cut = PI * base
    return with_disc(out, at - (R - h) * n, n, wp.where(h > R, R * R, base))
