"""A walk around τ, for chains whose roots the polynomial cannot tell for sure.

    f_ij(τ) = (1, cos σ_i, sin σ_i) M (1, cos ψ_j, sin ψ_j)ᵀ,      σ_i, ψ_j both solutions of (1) and of (3)

Where samples of R differ by many powers of ten, the small ones drown in rounding, and with them roots that lie there.
The four branches f_ij have no such range. A root is near where a branch changes its sign, where it comes near to zero
and turns away, and where a branch ends: there two of them meet. A stretch of τ on which both (1) and (3) can be solved
may be shorter than a step; it is found from where their discriminants are greatest.

Cost: some 0.3 ms, for about one chain in a thousand.
"""

import math

import warp as wp

from rattleback.core.precision import epsilon, real, vec3, vec4
from rattleback.molecules.loops.pivots import SOLVED, coupling, refine, turns_at
from rattleback.molecules.loops.resultant import Chain, line

MOST = 16
# Steps of a walk, and of another one where the number of solutions is odd, which cannot be.
STEPS = 1440
FINE_STEPS = 23040
TURN = wp.constant(real(2.0 * math.pi))
# Roots that differ by less in every angle are one [rad].
SAME = wp.constant(real(max(1e-7, 3e4 * epsilon)))
# A discriminant this little below zero is zero but for rounding.
BARELY = wp.constant(real(-1e-9))


@wp.func
def is_new(found: wp.array3d[real], row: int, count: int, v: vec3) -> bool:
    """Whether angles differ from all that were found."""
    for k in range(count):
        apart = real(0.0)
        for i in range(3):
            apart = wp.max(apart, wp.abs(wp.sin(real(0.5) * (found[row, k, i] - v[i]))))
        if apart < real(0.5) * SAME:
            return False
    return True


@wp.func
def angles_of(chain: Chain, tau: real, pair: int) -> vec3:
    """σ, τ, ψ on a branch."""
    c = wp.cos(tau)
    s = wp.sin(tau)
    sigma = turns_at(line(chain.r1, chain.n1, chain.h1, c, s), real(2 * (pair % 2) - 1))
    psi = turns_at(line(chain.r3, chain.n3, chain.h3, c, s), real(2 * (pair / 2) - 1))
    return vec3(sigma, tau, psi)


@wp.func
def mismatch(chain: Chain, v: vec3) -> real:
    """What equation (2) leaves over."""
    a = vec3(real(1.0), wp.cos(v[0]), wp.sin(v[0]))
    b = vec3(real(1.0), wp.cos(v[2]), wp.sin(v[2]))
    return coupling(chain.M, a, b)


@wp.func
def add_root(chain: Chain, guess: vec3, slack: real, found: wp.array3d[real], row: int, count: int) -> int:
    """Refine a guess; the new count, greater by one where that led to a new solution no farther off in τ than slack."""
    got = refine(chain, guess)
    v = vec3(got[0], got[1], got[2])
    near = wp.abs(got[1] - guess[1]) < slack
    if got[3] < SOLVED and near and count < MOST and is_new(found, row, count, v):
        for i in range(3):
            found[row, count, i] = v[i]
        return count + 1
    return count


@wp.func
def reach(chain: Chain, tau: real) -> real:
    """The lesser of α² + β² − γ² of (1) and (3): below zero where one of them has no solution."""
    c = wp.cos(tau)
    s = wp.sin(tau)
    l1 = line(chain.r1, chain.n1, chain.h1, c, s)
    l3 = line(chain.r3, chain.n3, chain.h3, c, s)
    first = l1[0] * l1[0] + l1[1] * l1[1] - l1[2] * l1[2]
    return wp.min(first, l3[0] * l3[0] + l3[1] * l3[1] - l3[2] * l3[2])


@wp.func
def add_all(chain: Chain, tau: real, slack: real, found: wp.array3d[real], row: int, count: int) -> int:
    """Refine the guesses of all branches at τ; the new count."""
    result = count
    for pair in range(4):
        result = add_root(chain, angles_of(chain, tau, pair), slack, found, row, result)
    return result


@wp.func
def add_short_stretch(chain: Chain, tau: real, step: real, found: wp.array3d[real], row: int, count: int) -> int:
    """Solutions on a stretch shorter than a step, about where ``reach`` is greatest near τ; the new count."""
    slack = real(4.0) * step
    result = count
    peak = tau
    width = step
    for _ in range(40):
        width *= real(0.7)
        ahead = reach(chain, peak + width)
        behind = reach(chain, peak - width)
        here = reach(chain, peak)
        if ahead > here and ahead >= behind:
            peak += width
        elif behind > here:
            peak -= width
    if reach(chain, peak) > BARELY:
        for k in range(9):
            result = add_all(chain, peak + real(0.25) * step * real(k - 4), slack, found, row, result)
    return result


@wp.func
def walk_around(chain: Chain, steps: int, found: wp.array3d[real], row: int, count: int) -> int:
    """All solutions that a walk finds, added to those that are known; the new count."""
    result = count
    step = TURN / real(steps)
    slack = real(4.0) * step
    before = vec4()
    last = vec4()
    known = int(0)
    far = reach(chain, real(-2.0) * step)
    near = reach(chain, -step)
    for k in range(steps + 2):
        tau = step * real(k)
        can = reach(chain, tau)
        if near < real(0.0) and near >= far and near >= can:
            result = add_short_stretch(chain, tau - step, step, found, row, result)
        far = near
        near = can
        if can < real(0.0):
            if known > 0:
                result = add_all(chain, tau - step, slack, found, row, result)
                result = add_all(chain, tau - real(2.0) * step, slack, found, row, result)
            known = 0
        else:
            now = vec4()
            for pair in range(4):
                guess = angles_of(chain, tau, pair)
                value = mismatch(chain, guess)
                now[pair] = value
                low = last[pair]
                if known < 2:
                    result = add_root(chain, guess, slack, found, row, result)
                if known > 0 and low * value <= real(0.0):
                    part = wp.abs(value) / wp.max(wp.abs(value) + wp.abs(low), real(1e-30))
                    guess = angles_of(chain, tau - part * step, pair)
                    result = add_root(chain, guess, slack, found, row, result)
                elif known > 1 and wp.abs(low) < wp.abs(value) and wp.abs(low) < wp.abs(before[pair]):
                    # Newton's method comes to each of two near roots from its own side.
                    for side in range(3):
                        guess = angles_of(chain, tau - step * real(side), pair)
                        result = add_root(chain, guess, slack, found, row, result)
            before = last
            last = now
            known += 1
    return result
