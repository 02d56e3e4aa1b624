"""Conservative advancement: the first moment at which two moving convex solids come as near as a given separation.

    x(τ) = c + τ v + e^(τ ω) (x − c)          0 ≤ τ ≤ 1
    s(τ + δ) ≥ G(δ) = min_A (n + δ n × (ω_a − ψ)) · x − max_B (n + δ n × (ω_b − ψ)) · y + n · c_ab − r
                      + δ (n · v_ab + (ψ × n) · c_ab) − ½ K δ²
    s(τ + δ) ≥ s(τ) − δ μ          μ = |n × ω_a| ρ_a + |n × ω_b| ρ_b − n · v_ab

s separation, n normal from B to A at τ, c the centre a solid turns about, v, ω its way and its turn during the whole
motion, c_ab = c_a − c_b and v_ab = v_a − v_b at τ, x, y points of the cores seen from these centres, ρ how far these
reach, r both shells, which turning does not change, K a bound on second derivatives. The solids are at least as far
apart as they are along any direction. G looks along n as it turns with ψ: not at all, or with one of the solids, which
is the better where a long one turns about a point near the other; the second bound holds along n itself. In a round:

    1. separation and normal at τ; done where nothing of the rest of the motion can bring them to the target
    2. done where they are within the tolerance of the target
    3. τ += δ, the largest of the roots of G(δ) = target and that of the second bound

G is concave, so it is above its chords and below its tangents: chords give fractions that are safe, tangents bracket
the root. Without turning, G is exact along n, a ball comes to a half-space in one round, and convergence is quadratic;
with turning it stays so near the contact, where K δ² vanishes. What is returned is never later than the contact.

Cost: one closest-point search and 6 to 30 pairs of farthest points a round; 1 to 10 rounds. When not: for slow bodies.

Reference: Mirtich (1996), §2.3, for the idea; Bender, dissertation, §2.2.4.
"""

import warp as wp

from rattleback.collision.ccd.rigid_motion import RigidMotion, moved
from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import PLANE, Solid, support
from rattleback.collision.narrowphase.closed_forms.plane import solid_plane
from rattleback.collision.narrowphase.closest import Closest, swapped
from rattleback.collision.narrowphase.gjk.distance import ROUNDS as SEARCH_ROUNDS
from rattleback.collision.narrowphase.gjk.distance import Bounds
from rattleback.collision.narrowphase.gjk.gjk import closest_within
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.core.precision import epsilon, real, vec3

# What an advancement can end with.
FREE = wp.constant(0)
CONTACT = wp.constant(1)
UNDECIDED = wp.constant(2)
# Rounds after which a search gives up where it is; the hardest pairs of the tests need fewer than half of them.
ROUNDS = wp.constant(128)
# Part of the coordinates that rounding may hide.
ROUNDING = wp.constant(real(64.0 * epsilon))
# Rounds of the search for the root of G, and the part of the root that is near enough.
ROOT_ROUNDS = wp.constant(6)
ROOT_NEAR = wp.constant(real(0.01))


@wp.struct
class AdvanceLimits:
    """What is looked for: the separation ``target``, to a tolerance, in so many rounds [m].

    Solids no farther apart than ``near`` at the start may come closer by that much, though no more than a quarter of
    the way through each other, whatever the target; negative for none.
    """

    target: real
    near: real
    tolerance: real
    most: wp.int32


@wp.struct
class Impact:
    """Where a search ended: FREE at 1, CONTACT at the target, UNDECIDED at a fraction that is safe.

    ``closest`` is in the frame the solids were given in, at the fraction; of a free motion, where it was last looked
    at. ``target`` is the separation that was looked for in the end [m].
    """

    fraction: real
    contact: wp.int32
    closest: Closest
    rounds: wp.int32
    target: real


@wp.struct
class Gap:
    """The lower bound G of the separation, and its slope."""

    value: real
    slope: real


@wp.struct
class Moving:
    """Two solids at one moment, how they move on, and the direction along which G measures them."""

    a: Solid
    b: Solid
    origin: vec3
    center_a: vec3
    center_b: vec3
    normal: vec3
    across_a: vec3
    across_b: vec3
    rate: real
    curvature: real


@wp.func
def closest_of(a: Solid, b: Solid, hulls: Hulls, axis: vec3, far: real) -> Closest:
    """The answer for two solids, half-spaces included; where they are farther apart than ``far``, a lower bound of it.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        axis: First guess of the normal; zero for none.
        far: Separation that need not be known exactly [m].
    """
    if b.kind == PLANE:
        return solid_plane(a, b, hulls)
    if a.kind == PLANE:
        return swapped(solid_plane(b, a, hulls))
    bounds = Bounds()
    bounds.far = far + a.round + b.round
    bounds.most = SEARCH_ROUNDS
    return closest_within(a, b, hulls, axis, bounds)


@wp.func
def thickness(solid: Solid, hulls: Hulls, n: vec3) -> real:
    """Extent of a solid along a unit vector [m]."""
    if solid.kind == PLANE:
        return LARGE
    return wp.dot(n, support(solid, hulls, n) - support(solid, hulls, -n)) + real(2.0) * solid.round


@wp.func
def moving(a: Solid, b: Solid, motion_a: RigidMotion, motion_b: RigidMotion, fraction: real) -> Moving:
    """Two solids at a part of their motions, seen from where A then is; see ``looked_at``."""
    out = Moving()
    out.a = moved(a, motion_a, fraction)
    out.b = moved(b, motion_b, fraction)
    out.origin = out.a.position
    out.a.position = vec3()
    out.b.position = out.b.position - out.origin
    out.center_a = motion_a.center + fraction * motion_a.travel - out.origin
    out.center_b = motion_b.center + fraction * motion_b.travel - out.origin
    return out


@wp.func
def bend(turn: vec3, n: vec3, psi: vec3) -> real:
    """Bound on the second derivative of n · x as n turns with ψ, for a point at distance 1 from its centre."""
    if turn == psi:
        return real(0.0)
    size = wp.length(turn)
    across = wp.length(wp.cross(psi, n))
    if across == real(0.0):
        return wp.length(wp.cross(turn, n)) * size
    return across * (wp.length(psi) + real(2.0) * size) + size * size


@wp.func
def looked_at(pair: Moving, motion_a: RigidMotion, motion_b: RigidMotion, n: vec3, psi: vec3, rest: real) -> Moving:
    """The pair with what G takes to look along n, as it turns with ψ, for the rest of the motion."""
    out = pair
    apart = pair.center_a - pair.center_b
    travel = motion_a.travel - motion_b.travel
    aside = wp.cross(psi, n)
    out.normal = n
    out.across_a = wp.cross(n, motion_a.turn - psi)
    out.across_b = wp.cross(n, motion_b.turn - psi)
    out.rate = wp.dot(n, travel) + wp.dot(aside, apart)
    far = wp.length(apart) + rest * wp.length(travel)
    out.curvature = wp.length(aside) * (real(2.0) * wp.length(travel) + wp.length(psi) * far)
    out.curvature += bend(motion_a.turn, n, psi) * motion_a.reach + bend(motion_b.turn, n, psi) * motion_b.reach
    return out


@wp.func(inline=False)
def gap(pair: Moving, hulls: Hulls, ahead: real) -> Gap:
    """The lower bound G of the separation a part of the motion ahead, and its slope."""
    p = support(pair.a, hulls, -(pair.normal + ahead * pair.across_a))
    q = support(pair.b, hulls, pair.normal + ahead * pair.across_b)
    swing = wp.dot(pair.across_a, p - pair.center_a) - wp.dot(pair.across_b, q - pair.center_b)
    out = Gap()
    out.slope = pair.rate + swing - pair.curvature * ahead
    out.value = wp.dot(pair.normal, p - q) - pair.a.round - pair.b.round
    out.value = out.value + ahead * (pair.rate + swing - real(0.5) * pair.curvature * ahead)
    return out


@wp.func(inline=False)
def safe_part(pair: Moving, hulls: Hulls, floor: real, rest: real) -> real:
    """How far the motion is safe with G above ``floor``: the whole rest, or nearly the root of G = floor.

    Args:
        pair: The solids now.
        hulls: Their corners.
        floor: Separation that must be kept [m].
        rest: What is left of the motion.
    """
    low = real(0.0)
    high = rest
    at_low = gap(pair, hulls, low)
    at_high = gap(pair, hulls, high)
    above = at_low.value - floor
    below = at_high.value - floor
    if below >= real(0.0):
        return rest
    if above <= real(0.0):
        return real(0.0)
    for _ in range(ROOT_ROUNDS):
        if at_low.slope < real(0.0):
            tangent = low - above / at_low.slope
            if tangent < high:
                high = tangent
                below = gap(pair, hulls, high).value - floor
                if below >= real(0.0):
                    return high
        chord = low + (high - low) * (above / (above - below))
        at_low = gap(pair, hulls, chord)
        if at_low.value < floor:
            return low
        low = chord
        above = at_low.value - floor
        if high - low <= ROOT_NEAR * low:
            return low
    return low


@wp.func
def safe_advance(pair: Moving, motion_a: RigidMotion, motion_b: RigidMotion, hulls: Hulls, n: vec3, ends: vec3) -> real:
    """How far the motion is safe, by the best of all bounds; the whole rest where no contact is possible any more.

    Args:
        pair: The solids now.
        motion_a: How A moves.
        motion_b: How B moves.
        hulls: Their corners.
        n: Unit normal from B to A.
        ends: Separation [m], the one that must be kept [m], and what is left of the motion.
    """
    floor = ends[1]
    rest = ends[2]
    fastest = wp.length(wp.cross(n, motion_a.turn)) * motion_a.reach - wp.dot(n, motion_a.travel - motion_b.travel)
    fastest += wp.length(wp.cross(n, motion_b.turn)) * motion_b.reach
    above = wp.max(real(0.0), ends[0] - floor)
    if fastest * rest <= above:
        return rest
    best = above / fastest
    for k in range(3):
        psi = vec3()
        if k == 1:
            psi = motion_a.turn
        if k == 2:
            psi = motion_b.turn
        # A direction that does not turn has been looked along; that of a half-space can only turn with it.
        useful = k == 0 or wp.dot(psi, psi) > real(0.0)
        if pair.a.kind == PLANE:
            useful = useful and psi == motion_a.turn
        if pair.b.kind == PLANE:
            useful = useful and psi == motion_b.turn
        if useful:
            best = wp.max(best, safe_part(looked_at(pair, motion_a, motion_b, n, psi, rest), hulls, floor, rest))
            if best >= rest:
                return rest
    return best


@wp.func
def wanted(pair: Moving, hulls: Hulls, closest: Closest, limits: AdvanceLimits, tolerance: real) -> real:
    """The separation to look for, from what it is at the start.

    Args:
        pair: The solids at the start.
        hulls: Their corners.
        closest: How far apart they are.
        limits: What is looked for.
        tolerance: By how much less than the target still counts as at the target [m].
    """
    if closest.separation <= limits.near:
        n = closest.normal
        through = real(0.25) * (thickness(pair.a, hulls, n) + thickness(pair.b, hulls, n))
        return wp.min(limits.target, closest.separation - wp.min(limits.near, through))
    if closest.separation >= limits.target - tolerance:
        return wp.min(limits.target, closest.separation)
    return limits.target


@wp.func
def advance(
    a: Solid, b: Solid, motion_a: RigidMotion, motion_b: RigidMotion, hulls: Hulls, limits: AdvanceLimits
) -> Impact:
    """The first part of their motions at which two solids are as near as the target, or nearer from the start.

    Solids that touch at the start are in contact there only if they come nearer.

    Args:
        a: A solid at the start, not a mesh.
        b: Another one, seen from the same origin.
        motion_a: How A moves, seen from there.
        motion_b: How B moves.
        hulls: Their corners.
        limits: What is looked for.
    """
    if a.kind == PLANE:
        motion_a.reach = LARGE
    if b.kind == PLANE:
        motion_b.reach = LARGE
    out = Impact()
    out.target = limits.target
    tolerance = limits.tolerance
    whole = wp.length(motion_a.travel - motion_b.travel)
    whole += wp.length(motion_a.turn) * motion_a.reach + wp.length(motion_b.turn) * motion_b.reach
    for k in range(limits.most):
        pair = moving(a, b, motion_a, motion_b, out.fraction)
        rest = real(1.0) - out.fraction
        far = wp.max(limits.near, out.target) + rest * whole + tolerance
        closest = closest_of(pair.a, pair.b, hulls, out.closest.normal, far)
        if k == 0:
            extent = wp.length(pair.b.position) + wp.length(closest.point_a) + wp.length(closest.point_b)
            tolerance = wp.max(tolerance, ROUNDING * extent)
            out.target = wanted(pair, hulls, closest, limits, tolerance)
        out.rounds = k + 1
        out.closest = closest
        out.closest.point_a = closest.point_a + pair.origin
        out.closest.point_b = closest.point_b + pair.origin
        if closest.separation < out.target - tolerance:
            out.contact = CONTACT
            return out
        ends = vec3(closest.separation, out.target, rest)
        part = safe_advance(pair, motion_a, motion_b, hulls, closest.normal, ends)
        if part >= rest:
            out.fraction = real(1.0)
            return out
        if closest.separation - out.target <= tolerance or out.fraction + part == out.fraction:
            out.contact = CONTACT
            return out
        out.fraction = out.fraction + part
    out.contact = UNDECIDED
    return out
