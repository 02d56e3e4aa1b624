"""A chain over three pivots as its equations need it, and its atoms from their roots.

    s = cos η n + sin η (cos σ m + sin σ w),      t = x n + y (cos(σ + δ) m + sin(σ + δ) w)

n direction of the line of a rigid unit, from the fixed pivot to CA2; m, w across it; s and t the directions from its
ends to the atoms there that a bond joins to the pivots (C1 and N2, N3 and C2); η, x, y, δ measured on the unit.
"""

import warp as wp

from rattleback.core.precision import epsilon, mat33, real, vec3, vec4
from rattleback.molecules.loops.resultant import Chain, line, line_slope

# An equation left over by less than this is solved.
SOLVED = wp.constant(real(max(1e-11, 300.0 * epsilon)))
STEPS = 12


@wp.struct
class Unit:
    """A rigid unit.

    d length of its line; ch, sh, near cos η, sin η and bond length at its fixed end; x, y, cd, sd, far those of t,
    cos δ, sin δ and bond length at the free one.
    """

    d: real
    ch: real
    sh: real
    near: real
    x: real
    y: real
    cd: real
    sd: real
    far: real


@wp.struct
class Place:
    """Where a chain is: the first pivot, and axes along and across the line of the fixed pivots."""

    origin: vec3
    e: vec3
    x: vec3
    y: vec3
    d: real
    along: real
    off: real


@wp.func
def measure(start: vec3, near: vec3, far: vec3, end: vec3) -> Unit:
    """A unit from the places of its atoms in any frame."""
    unit = Unit()
    way = end - start
    unit.d = wp.length(way)
    n = way / unit.d
    s = near - start
    t = far - end
    unit.near = wp.length(s)
    unit.far = wp.length(t)
    p = s - wp.dot(s, n) * n
    r = t - wp.dot(t, n) * n
    lp = wp.length(p)
    lr = wp.length(r)
    unit.ch = wp.dot(s, n) / unit.near
    unit.sh = lp / unit.near
    unit.x = wp.dot(t, n) / unit.far
    unit.y = lr / unit.far
    unit.cd = wp.dot(p, r) / (lp * lr)
    unit.sd = wp.dot(n, wp.cross(p, r)) / (lp * lr)
    return unit


@wp.func
def locate(ca1: vec3, ca3: vec3, first: Unit, last: Unit) -> Place:
    """Axes of a chain; ``off`` < 0 where its units are too short, or differ too much, for its ends."""
    place = Place()
    way = ca3 - ca1
    place.origin = ca1
    place.d = wp.length(way)
    place.e = way / place.d
    other = vec3(real(1.0), real(0.0), real(0.0))
    if wp.abs(place.e[0]) > real(0.7):
        other = vec3(real(0.0), real(1.0), real(0.0))
    place.x = wp.normalize(wp.cross(place.e, other))
    place.y = wp.cross(place.e, place.x)
    place.along = (first.d * first.d - last.d * last.d + place.d * place.d) / (real(2.0) * place.d)
    square = first.d * first.d - place.along * place.along
    place.off = real(-1.0)
    if square > real(0.0):
        place.off = wp.sqrt(square)
    return place


@wp.func
def column(unit: Unit, n: vec3, m: vec3, w: vec3, k: int) -> vec3:
    """Coefficient of t at 1, cos σ and sin σ."""
    if k == 0:
        return unit.x * n
    if k == 1:
        return unit.y * (unit.cd * m + unit.sd * w)
    return unit.y * (unit.cd * w - unit.sd * m)


@wp.func
def equations(place: Place, first: Unit, last: Unit, r1: vec3, r3: vec3, bend: vec3) -> Chain:
    """The equations of a chain: r1, r3 directions CA1-N1 and CA3-C3, bend the cosines of the three angles N-Cα-C."""
    chain = Chain()
    zero = real(0.0)
    chain.r1 = vec3(wp.dot(r1, place.e), wp.dot(r1, place.x), wp.dot(r1, place.y))
    chain.r3 = vec3(wp.dot(r3, place.e), wp.dot(r3, place.x), wp.dot(r3, place.y))
    chain.n1 = vec3(place.along, place.off, zero) / first.d
    chain.n3 = vec3(place.along - place.d, place.off, zero) / last.d
    chain.h1 = vec3(first.ch, first.sh, bend[0])
    chain.h3 = vec3(last.ch, last.sh, bend[2])
    w = vec3(zero, zero, real(1.0))
    m1 = wp.cross(w, chain.n1)
    m3 = wp.cross(w, chain.n3)
    for i in range(3):
        for j in range(3):
            chain.M[i, j] = wp.dot(column(first, chain.n1, m1, w, i), column(last, chain.n3, m3, w, j))
    chain.M[0, 0] = chain.M[0, 0] - bend[1]
    return chain


@wp.func
def turns_at(e: vec3, sign: real) -> real:
    """One of the two angles that solve α cos σ + β sin σ = γ, or the nearest to it where there is none."""
    square = wp.max(e[0] * e[0] + e[1] * e[1] - e[2] * e[2], real(0.0))
    root = sign * wp.sqrt(square)
    return wp.atan2(e[1] * e[2] + e[0] * root, e[0] * e[2] - e[1] * root)


@wp.func
def coupling(M: mat33, a: vec3, b: vec3) -> real:
    """The form aᵀ M b."""
    return wp.dot(a, M * b)


@wp.func
def refine(chain: Chain, guess: vec3) -> vec4:
    """σ, τ, ψ by Newton's method from a guess, and the largest of what the equations leave over."""
    one = real(1.0)
    zero = real(0.0)
    v = guess
    left = real(1e9)
    for _ in range(STEPS):
        cs = wp.cos(v[0])
        ss = wp.sin(v[0])
        ct = wp.cos(v[1])
        st = wp.sin(v[1])
        cp = wp.cos(v[2])
        sp = wp.sin(v[2])
        l1 = line(chain.r1, chain.n1, chain.h1, ct, st)
        l3 = line(chain.r3, chain.n3, chain.h3, ct, st)
        k1 = line_slope(chain.r1, chain.n1, chain.h1, ct, st)
        k3 = line_slope(chain.r3, chain.n3, chain.h3, ct, st)
        a = vec3(one, cs, ss)
        b = vec3(one, cp, sp)
        f1 = l1[0] * cs + l1[1] * ss - l1[2]
        f2 = coupling(chain.M, a, b)
        f3 = l3[0] * cp + l3[1] * sp - l3[2]
        left = wp.max(wp.max(wp.abs(f1), wp.abs(f3)), wp.abs(f2))
        if left < real(1e-15):
            break
        f1s = l1[1] * cs - l1[0] * ss
        f1t = k1[0] * cs + k1[1] * ss - k1[2]
        f2s = coupling(chain.M, vec3(zero, -ss, cs), b)
        f2p = coupling(chain.M, a, vec3(zero, -sp, cp))
        f3t = k3[0] * cp + k3[1] * sp - k3[2]
        f3p = l3[1] * cp - l3[0] * sp
        det = -f1s * f2p * f3t - f1t * f2s * f3p
        if wp.abs(det) < real(1e-18):
            break
        # Cramer's rule for rows (f1s, f1t, 0), (f2s, 0, f2p), (0, f3t, f3p).
        ds = (-f1 * f2p * f3t - f1t * (f2 * f3p - f2p * f3)) / det
        dt = (f1s * (f2 * f3p - f2p * f3) - f1 * f2s * f3p) / det
        dp = (-f1s * f3t * f2 - f1t * f2s * f3 + f1 * f2s * f3t) / det
        size = wp.max(wp.max(wp.abs(ds), wp.abs(dt)), wp.abs(dp))
        shorter = one
        if size > real(0.2):
            shorter = real(0.2) / size
        v = v - shorter * vec3(ds, dt, dp)
        if size < real(1e-14):
            break
    return vec4(v[0], v[1], v[2], left)
