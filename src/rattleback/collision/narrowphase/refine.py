"""The depth of an overlap near a guess of its direction, as exactly as GJK measures distances.

    separation = max σ(n),  |n| = 1      σ(n) = min { n · w : w in A − B }

σ has many maxima where the cores overlap. From a direction n, A is moved along it until it is free of B by m, a way
t = m − σ(n), and the distance δ then is measured. For any n', σ(n') + t n · n' ≤ δ, with equality at the direction n₁
of that distance; so

    σ(n₁) = δ − t n · n₁ ≥ σ(n) + t (1 − n · n₁)

and every round is at least as good as the one before. On a flat part of A − B one round is enough; where its surface
has the radius of curvature R, the error of the direction shrinks by (depth + m) / (R + m) in each. So Newton's method
goes first and is followed as long as it gains: with w the nearest corner along n, it solves

    w(n) ∥ n      (∂w/∂n + σ) Δ = −w across n

for a turn Δ of n, with ∂w/∂n, minus the radii of curvature, from differences. Where A − B has edges it gains nothing,
and the rounds are speeded up by going where two of them, taken as linear, point to.

Reference for the extrapolation: Anderson (1965), with one vector of history.
"""

import warp as wp

from rattleback.collision.closest import Closest
from rattleback.collision.colliders import Hulls
from rattleback.collision.narrowphase.separation import gjk
from rattleback.collision.narrowphase.tetrahedron import perpendicular
from rattleback.collision.solid import Solid, support
from rattleback.core.precision import epsilon, real, vec3

# The gap m as a part of the depth, and at least of the coordinates.
FREE = wp.constant(real(0.25))
LEAST_FREE = wp.constant(real(1e-3))
# What a round must gain, as a part of the coordinates, for another one.
GAIN = wp.constant(real(16.0 * epsilon))
MOST = wp.constant(40)
# Most Newton steps in a row, the angle of the differences [rad], and the most a step may turn [rad].
STEPS = wp.constant(12)
ANGLE = wp.constant(real(epsilon**0.375))
MOST_TURN = wp.constant(real(0.5))
# Square of the part of a turn below which its change says nothing.
NEARLY_CONSTANT = wp.constant(real(epsilon))


@wp.func
def nearest_corner(a: Solid, b: Solid, hulls: Hulls, n: vec3) -> vec3:
    """The corner of A − B that lies least far along n."""
    return support(a, hulls, -n) - support(b, hulls, n)


@wp.func
def turned(n: vec3, step: vec3) -> vec3:
    """The unit direction a step away from n, no farther than may be; n itself where the step is not a number."""
    length = wp.length(step)
    if not wp.isfinite(length):
        return n
    return wp.normalize(n + step * (MOST_TURN / wp.max(length, MOST_TURN)))


@wp.func
def turn(a: Solid, b: Solid, hulls: Hulls, n: vec3) -> vec3:
    """A unit direction near n where σ may be larger: by Newton's method, downhill from a saddle."""
    u = perpendicular(n)
    v = wp.cross(n, u)
    w = nearest_corner(a, b, hulls, n)
    along_u = nearest_corner(a, b, hulls, n + ANGLE * u) - w
    along_v = nearest_corner(a, b, hulls, n + ANGLE * v) - w
    low = wp.dot(n, w)
    # The matrix, its sign turned so that it is positive where σ has a maximum; symmetric but for rounding.
    x = -wp.dot(u, along_u) / ANGLE + low
    y = -wp.dot(v, along_v) / ANGLE + low
    z = -real(0.5) * (wp.dot(u, along_v) + wp.dot(v, along_u)) / ANGLE
    p = wp.dot(u, w)
    q = wp.dot(v, w)
    determinant = x * y - z * z
    if x <= real(0.0) or determinant <= real(0.0):
        # Along the direction in which the matrix is negative, the way that gains.
        half = real(0.5) * (x - y)
        least = real(0.5) * (x + y) - wp.sqrt(half * half + z * z)
        e = wp.where(x < y, z * v - (y - least) * u, z * u - (x - least) * v)
        length = wp.length(e)
        if length == real(0.0):
            return n
        way = wp.where(p * wp.dot(u, e) + q * wp.dot(v, e) < real(0.0), -MOST_TURN, MOST_TURN)
        return turned(n, (way / length) * e)
    return turned(n, ((y * p - z * q) * u + (x * q - z * p) * v) / determinant)


@wp.func
def followed(a: Solid, b: Solid, hulls: Hulls, guess: Closest, least: real) -> Closest:
    """The guess after Newton steps, as long as each gains more than ``least``; only separation and normal are right."""
    out = guess
    for _ in range(STEPS):
        n = turn(a, b, hulls, out.normal)
        high = wp.dot(n, nearest_corner(a, b, hulls, n))
        if high <= out.separation + least:
            break
        out.normal = n
        out.separation = high
    return out


@wp.func
def measured(a: Solid, b: Solid, hulls: Hulls, guess: Closest, scale: real) -> Closest:
    """The answer after one round: A moved free along the normal of the guess, the distance measured, A moved back."""
    depth = wp.max(-guess.separation, real(0.0))
    t = -guess.separation + FREE * depth + LEAST_FREE * scale
    moved = a
    moved.position = a.position + t * guess.normal
    core = gjk(moved, b, hulls, guess.normal)
    out = guess
    high = wp.dot(core.normal, nearest_corner(a, b, hulls, core.normal))
    if core.overlap == 0 and high > guess.separation:
        out.normal = core.normal
        out.separation = high
    # The points are right to rounding, the normal to its root; so B's moves that much along it to agree.
    out.point_a = core.point_a - t * guess.normal
    miss = wp.dot(out.normal, out.point_a - core.point_b) - out.separation
    out.point_b = core.point_b + miss * out.normal
    return out


@wp.func
def ahead_of(r: vec3, change: vec3, way: vec3, reach: real) -> vec3:
    """The step to where two rounds, were they linear, would come to rest.

    Args:
        r: How far the last round turned the normal.
        change: By how much that differs from the round before.
        way: How far apart the two rounds started.
        reach: How far the step may go [rad].
    """
    length = wp.length(r)
    square = wp.dot(change, change)
    if square > NEARLY_CONSTANT * length * length:
        step = r - (wp.dot(r, change) / square) * (way + change)
        if wp.dot(step, r) > real(0.0):
            return step * (reach / wp.max(wp.length(step), reach))
    if length == real(0.0):
        return r
    # The rounds lead away from that place, one of greatest depth, or change too little to tell: so a good way on.
    return r * (wp.max(reach, length) / length)


@wp.func
def refined(a: Solid, b: Solid, hulls: Hulls, guess: Closest, scale: real) -> Closest:
    """The answer for two cores that overlap, near a guess whose separation is σ of its normal.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        guess: Separation and normal.
        scale: How large the coordinates are [m].
    """
    least = GAIN * scale
    from_here = followed(a, b, hulls, guess, least)
    best = measured(a, b, hulls, from_here, scale)
    x = from_here.normal
    r = best.normal - x
    gain = best.separation - from_here.separation
    from_here = best
    ahead = bool(False)
    reach = MOST_TURN
    done = bool(False)
    for _ in range(MOST):
        if done or wp.abs(gain) <= real(4.0) * least:
            break
        now = measured(a, b, hulls, from_here, scale)
        change = now.normal - from_here.normal - r
        way = from_here.normal - x
        x = from_here.normal
        r = now.normal - x
        gain = now.separation - best.separation
        if gain > real(0.0):
            best = now
        from_here = best
        # A round that loses was too far ahead of the last one; a plain one cannot lose but for rounding.
        done = gain <= real(0.0) and not ahead
        if ahead:
            reach = wp.where(gain > real(0.0), wp.min(real(2.0) * reach, MOST_TURN), real(0.25) * reach)
        ahead = gain > real(0.0)
        if ahead:
            from_here.normal = turned(x, ahead_of(r, change, way, reach))
            from_here.separation = wp.dot(from_here.normal, nearest_corner(a, b, hulls, from_here.normal))
    return best
