"""The equations of a chain closed over three pivots, and the trigonometric polynomial whose roots solve them.

Three pivots CA1, CA2, CA3 are joined by two rigid units. CA1 and CA3 are fixed, so CA2 goes round the line between
them by τ, the units turn about their lines CA1-CA2 and CA3-CA2 by σ and ψ, and at each pivot the angle N-Cα-C is given.
With e along CA1-CA3, ρ(τ) towards CA2 across e, w = e × ρ, and n, m = w × n the direction of a unit and across it:

    (1)  α₁ cos σ + β₁ sin σ = γ₁       α = sin η r·m,  β = sin η r·w,  γ = cos θ − cos η r·n
    (3)  α₃ cos ψ + β₃ sin ψ = γ₃
    (2)  (1, cos σ, sin σ) M (1, cos ψ, sin ψ)ᵀ = 0

r the fixed direction at the pivot (CA1-N1, CA3-C3), η the angle of the unit's atom off its line, θ the angle N-Cα-C.
All of α, β, γ are of degree 1 in (cos τ, sin τ); M does not depend on τ, because the triangle of the pivots is rigid.

Elimination. Let k₀, k₁, k₂ be the rows of M times (1, cos ψ, sin ψ)ᵀ. Equation (2) holds for one of the two σ of (1)
iff

    G(ψ) = k₀²(α₁² + β₁²) + 2 k₀ γ₁ (k₁α₁ + k₂β₁) + γ₁²(k₁² + k₂²) − (k₁β₁ − k₂α₁)² = 0

which is the product of (2) over both σ, times α₁² + β₁². With z = e^{iψ}, z²G = p₄z⁴ + p₃z³ + p₂z² + p̄₃z + p̄₄, and
(3) reads ā z² − 2γ₃ z + a = 0, a = α₃ + iβ₃. Their resultant, with q = |a|² and T_k = 2γ₃T_{k−1} − q T_{k−2}, T₀ = 2,
T₁ = 2γ₃,

    R = 2 Re(p₄²a⁴ + q p₃²a²) + 2 T₁ Re(p₄p₃a³ + q p₂p₃a) + T₂(2 p₂ Re(p₄a²) + q|p₃|²)
        + 2 T₃ Re(p̄₃p₄a) + T₄|p₄|² + q²p₂²

has degree 4 in p and 4 in (a, γ₃), hence degree 8 in (cos τ, sin τ): as many as 16 roots, one for each closure, and no
division anywhere. In u = tan(τ/2) it is the polynomial of degree 16 of the literature.

Reference: Coutsias, Seok, Jacobson and Dill, "A kinematic view of loop closure", Journal of Computational Chemistry 25
(2004), 510-528 (the problem and its degree); the elimination in τ is derived here.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3

# τ is sampled at so many points; a trigonometric polynomial of degree 8 is known from 17.
SAMPLES = 17


@wp.struct
class Chain:
    """A chain to be closed.

    r1, r3 fixed directions at the ends, along (e, x, y); n1, n3 directions of the units along (e, ρ, 0); h1, h3 cos η,
    sin η and cos θ of the ends; M coefficients of equation (2), row by row of σ.
    """

    r1: vec3
    r3: vec3
    n1: vec3
    n3: vec3
    h1: vec3
    h3: vec3
    M: mat33


@wp.func
def line(r: vec3, n: vec3, h: vec3, c: real, s: real) -> vec3:
    """(α, β, γ) of an end at cos τ, sin τ."""
    across = r[1] * c + r[2] * s
    aside = r[2] * c - r[1] * s
    return vec3(h[1] * (n[0] * across - n[1] * r[0]), h[1] * aside, h[2] - h[0] * (n[0] * r[0] + n[1] * across))


@wp.func
def line_slope(r: vec3, n: vec3, h: vec3, c: real, s: real) -> vec3:
    """d(α, β, γ)/dτ of an end."""
    across = r[1] * c + r[2] * s
    aside = r[2] * c - r[1] * s
    return vec3(h[1] * n[0] * aside, -h[1] * across, -h[0] * n[1] * aside)


@wp.func
def entry(M: mat33, e: vec3, Q: real, i: int, j: int) -> real:
    """Coefficient i, j of G as a quadratic form in (1, cos ψ, sin ψ)."""
    ui = e[0] * M[1, i] + e[1] * M[2, i]
    uj = e[0] * M[1, j] + e[1] * M[2, j]
    wi = e[1] * M[1, i] - e[0] * M[2, i]
    wj = e[1] * M[1, j] - e[0] * M[2, j]
    both = M[1, i] * M[1, j] + M[2, i] * M[2, j]
    return Q * M[0, i] * M[0, j] + e[2] * (M[0, i] * uj + M[0, j] * ui) + e[2] * e[2] * both - wi * wj


@wp.func
def resultant(chain: Chain, c: real, s: real) -> real:
    """R at cos τ, sin τ."""
    l1 = line(chain.r1, chain.n1, chain.h1, c, s)
    l3 = line(chain.r3, chain.n3, chain.h3, c, s)
    Q = l1[0] * l1[0] + l1[1] * l1[1]
    g11 = entry(chain.M, l1, Q, 1, 1)
    g22 = entry(chain.M, l1, Q, 2, 2)
    p2 = entry(chain.M, l1, Q, 0, 0) + real(0.5) * (g11 + g22)
    # p₄ and p₃ as real and imaginary parts.
    p4 = real(0.25) * (g11 - g22)
    i4 = real(-0.5) * entry(chain.M, l1, Q, 1, 2)
    p3 = entry(chain.M, l1, Q, 0, 1)
    i3 = -entry(chain.M, l1, Q, 0, 2)
    a = l3[0]
    b = l3[1]
    q = a * a + b * b
    t1 = real(2.0) * l3[2]
    t2 = t1 * t1 - real(2.0) * q
    t3 = t1 * t2 - q * t1
    t4 = t1 * t3 - q * t2
    # P = p₄a², V = p₃a.
    pr = p4 * (a * a - b * b) - i4 * real(2.0) * a * b
    pi = p4 * real(2.0) * a * b + i4 * (a * a - b * b)
    vr = p3 * a - i3 * b
    vi = p3 * b + i3 * a
    # p̄₃p₄.
    mr = p3 * p4 + i3 * i4
    mi = p3 * i4 - i3 * p4
    two = real(2.0)
    total = two * (pr * pr - pi * pi + q * (vr * vr - vi * vi))
    total += two * t1 * (pr * vr - pi * vi + q * p2 * vr)
    total += t2 * (two * p2 * pr + q * (p3 * p3 + i3 * i3))
    total += two * t3 * (mr * a - mi * b) + t4 * (p4 * p4 + i4 * i4)
    return total + q * q * p2 * p2
