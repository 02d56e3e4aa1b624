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

for a turn Δ of n, with ∂w/∂n, minus the radii of curvature, from differences to both sides. Where A − B has edges, w is
no single corner but the point between two that the distance was measured at, and the differences jump across the edge:
Newton's method then stays on it. Where that gains nothing either, the rounds are speeded up by going where two of them,
taken as linear, point to.

Reference for the extrapolation: Anderson (1965), with one vector of history.
"""

import math

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, support
from rattleback.collision.narrowphase.closest import Closest
from rattleback.collision.narrowphase.gjk.distance import gjk
from rattleback.collision.narrowphase.gjk.tetrahedron import perpendicular
from rattleback.collision.narrowphase.gjk.witness import witness
from rattleback.core.precision import epsilon, real, vec3

# The gap m as a part of the depth, and at least of the coordinates.
FREE = wp.constant(real(0.25))
LEAST_FREE = wp.constant(real(1e-2))
# What a round must gain, as a part of the coordinates, for another one.
GAIN = wp.constant(real(16.0 * epsilon))
MOST = wp.constant(40)
# Parts of the coordinates within which the points agree with depth and normal: for no more rounds, and in the end.
MET = wp.constant(real(max(1e-7, 64.0 * epsilon)))
AGREED = wp.constant(real(max(2e-9, 64.0 * epsilon)))
# Most Newton steps in a row, the angle of the differences [rad], and the most a step may turn [rad].
STEPS = wp.constant(12)
ANGLE = wp.constant(real(epsilon**0.375))
MOST_TURN = wp.constant(real(0.5))
# The widest angle at which points are looked for around a normal [rad], and the cosine of an eighth of a turn.
WIDEST = wp.constant(real(1e-3))
HALF_ROOT = wp.constant(real(math.sqrt(0.5)))
# What turns as far as may be differ by at least, and how often one is shortened to a quarter.
FAR = wp.constant(real(0.45))
SHORTER = wp.constant(6)
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
def turn(a: Solid, b: Solid, hulls: Hulls, n: vec3, w: vec3) -> vec3:
    """A unit direction near n where σ may be larger: by Newton's method, downhill from a saddle.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        n: A unit direction.
        w: A corner of A − B that lies least far along n, or a point between such corners.
    """
    u = perpendicular(n)
    v = wp.cross(n, u)
    # Taken to both sides, so that an edge of A − B across n is as stiff as it is, and n stays on it.
    along_u = nearest_corner(a, b, hulls, n + ANGLE * u) - nearest_corner(a, b, hulls, n - ANGLE * u)
    along_v = nearest_corner(a, b, hulls, n + ANGLE * v) - nearest_corner(a, b, hulls, n - ANGLE * v)
    low = wp.dot(n, w)
    # The matrix, its sign turned so that it is positive where σ has a maximum; symmetric but for rounding.
    half_angle = real(0.5) / ANGLE
    x = -wp.dot(u, along_u) * half_angle + low
    y = -wp.dot(v, along_v) * half_angle + low
    z = -real(0.5) * (wp.dot(u, along_v) + wp.dot(v, along_u)) * half_angle
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
            # It is negative all around.
            e = wp.where(p == real(0.0) and q == real(0.0), u, p * u + q * v)
            length = wp.length(e)
        way = wp.where(p * wp.dot(u, e) + q * wp.dot(v, e) < real(0.0), -MOST_TURN, MOST_TURN)
        return turned(n, (way / length) * e)
    return turned(n, ((y * p - z * q) * u + (x * q - z * p) * v) / determinant)


@wp.func
def followed(a: Solid, b: Solid, hulls: Hulls, guess: Closest, least: real) -> Closest:
    """The guess after Newton steps, as long as each gains more than ``least``; only separation and normal are right."""
    out = guess
    w = nearest_corner(a, b, hulls, guess.normal)
    for _ in range(STEPS):
        n = turn(a, b, hulls, out.normal, w)
        w = nearest_corner(a, b, hulls, n)
        high = wp.dot(n, w)
        # A turn as far as may be follows no maximum; an edge of A − B may be much nearer.
        if wp.length_sq(n - out.normal) > FAR * FAR:
            for _k in range(SHORTER):
                if high <= out.separation + least:
                    n = wp.normalize(real(0.75) * out.normal + real(0.25) * n)
                    w = nearest_corner(a, b, hulls, n)
                    high = wp.dot(n, w)
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
    out.point_a = core.point_a - t * guess.normal
    out.point_b = core.point_b
    return out


@wp.func
def miss_of(answer: Closest) -> real:
    """How far the points of an answer are from being as far apart, along the normal, as it says."""
    return wp.length(answer.point_a - answer.point_b - answer.separation * answer.normal)


@wp.func
def agreed(a: Solid, b: Solid, hulls: Hulls, answer: Closest, scale: real) -> Closest:
    """The answer with points that agree with depth and normal: between corners that lie farthest near the normal."""
    n = answer.normal
    x = answer.separation * n
    if miss_of(answer) <= AGREED * scale:
        answer.point_b = answer.point_a - x
        return answer
    w = wp.zeros(shape=(40,), dtype=vec3)
    origin = wp.zeros(shape=(40,), dtype=vec3)
    # Eight directions around the normal, at each of five angles from it.
    step = WIDEST * perpendicular(n)
    for k in range(40):
        d = n + step
        origin[k] = support(a, hulls, -d)
        w[k] = origin[k] - support(b, hulls, d)
        step = HALF_ROOT * (step + wp.cross(n, step))
        if k % 8 == 7:
            step = real(0.1) * step
    found = witness(w, origin, 40, x, scale)
    if found.miss < miss_of(answer):
        answer.point_a = found.point_a
    answer.point_b = answer.point_a - x
    return answer


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


@wp.func(inline=False)
def refined(a: Solid, b: Solid, hulls: Hulls, guess: Closest, scale: real) -> Closest:
    """The answer for two cores that overlap, near a guess whose separation is σ of its normal; see ``agreed``.

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
    best_miss = miss_of(best)
    for _ in range(STEPS):
        if best_miss <= MET * scale:
            break
        on_edge = best
        on_edge.normal = turn(a, b, hulls, best.normal, best.point_a - best.point_b)
        on_edge.separation = wp.dot(on_edge.normal, nearest_corner(a, b, hulls, on_edge.normal))
        now = measured(a, b, hulls, on_edge, scale)
        miss = miss_of(now)
        gain = now.separation - best.separation
        if gain <= least and (gain <= -least or miss >= real(0.5) * best_miss):
            break
        from_here = on_edge
        best = now
        best_miss = miss
    x = from_here.normal
    r = best.normal - x
    from_here = best
    ahead = bool(False)
    reach = MOST_TURN
    for _ in range(MOST):
        if best_miss <= MET * scale:
            break
        now = measured(a, b, hulls, from_here, scale)
        change = now.normal - from_here.normal - r
        way = from_here.normal - x
        x = from_here.normal
        r = now.normal - x
        gain = now.separation - best.separation
        miss = miss_of(now)
        nearer = gain > -least and miss < real(0.9) * best_miss
        if gain > least or nearer:
            best = now
            best_miss = miss
        from_here = best
        # A round that loses was too far ahead of the last one; a plain one cannot lose but for rounding.
        if gain <= real(0.0) and not ahead and not nearer:
            break
        if ahead:
            reach = wp.where(gain > real(0.0), wp.min(real(2.0) * reach, MOST_TURN), real(0.25) * reach)
        ahead = gain > real(0.0)
        if ahead:
            from_here.normal = turned(x, ahead_of(r, change, way, reach))
            from_here.separation = wp.dot(from_here.normal, nearest_corner(a, b, hulls, from_here.normal))
    return best


@wp.func
def sharpened(a: Solid, b: Solid, hulls: Hulls, apart: Closest, scale: real) -> Closest:
    """The answer for two cores that all but touch, so close that rounding may have turned the normal of the distance.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        apart: The answer as the distance gives it.
        scale: How large the coordinates are [m].
    """
    guess = apart
    guess.separation = wp.dot(apart.normal, nearest_corner(a, b, hulls, apart.normal))
    if apart.separation - guess.separation <= AGREED * scale:
        return apart
    return agreed(a, b, hulls, refined(a, b, hulls, guess, scale), scale)
