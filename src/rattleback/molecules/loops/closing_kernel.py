"""The kernel that closes chains over three pivots: see ``resultant``, ``isolation``, ``pivots`` and ``scan``.

1. Measure the units and write down the equations.  2. Sample R(τ).  3. Isolate its roots on each arc.
4. At each, take σ and ψ from equations (1) and (3) such that (2) holds best, and refine all three by Newton's method.
5. Where a root is in doubt, walk around τ.  6. Place the atoms.
"""

import math

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.molecules.loops.isolation import (
    ARCS,
    DEGREE,
    DEPTH,
    HALF_WIDTH,
    NOISE,
    ROW,
    halve,
    root_in,
    sign_changes,
)
from rattleback.molecules.loops.pivots import (
    Place,
    Unit,
    column,
    equations,
    locate,
    measure,
)
from rattleback.molecules.loops.resultant import SAMPLES, Chain, resultant
from rattleback.molecules.loops.scan import FINE_STEPS, STEPS, add_root, angles_of, mismatch, walk_around

# Where the samples lie in a lane's scratch: behind the stack.
STACK = ROW * (DEPTH + 2)
COUNT = STACK + SAMPLES
SCRATCH = COUNT + 1
ATOMS = 9
# Between samples, and of an arc [rad]; slope of u.
SPACING = wp.constant(real(2.0 * math.pi / SAMPLES))
WIDTH = wp.constant(real(2.0 * math.pi / ARCS))
SLOPE = wp.constant(real(HALF_WIDTH))
# How far from a root of R its solution may be [rad].
NEAR = wp.constant(real(1e-4))
# Halvings of one arc after which what is left of it is doubtful.
MOST_HALVINGS = 60


@wp.func
def direction_of(arc: int, t: real) -> real:
    """τ at a place in an arc [rad]."""
    center = WIDTH * (real(arc) + real(0.5))
    return center + real(2.0) * wp.atan(SLOPE * (real(2.0) * t - real(1.0)))


@wp.func
def follow(chain: Chain, tau: real, found: wp.array3d[real], row: int, count: int) -> int:
    """The solution at a root τ: that of the branch where (2) holds best, or of the next one; the new count."""
    tried = int(0)
    result = count
    for _ in range(4):
        best = real(1e30)
        chosen = int(0)
        guess = vec3()
        for pair in range(4):
            if ((tried >> pair) & 1) == 0:
                v = angles_of(chain, tau, pair)
                miss = wp.abs(mismatch(chain, v))
                if miss < best:
                    best = miss
                    chosen = pair
                    guess = v
        tried = tried | (1 << chosen)
        result = add_root(chain, guess, NEAR, found, row, result)
        if result > count:
            return result
    return result


@wp.func
def search_arc(
    chain: Chain, arc: int, noise: real, stack: wp.array2d[real], lane: int, found: wp.array3d[real], row: int
) -> int:
    """Add all solutions of an arc whose coefficients lie at the bottom of the stack.

    Returns 1 where they may not be all: where a piece is too small to be halved again, or a root led to no solution.
    """
    doubt = int(0)
    level = int(0)
    halvings = int(0)
    while level >= 0:
        at = level * ROW
        changes = sign_changes(stack, lane, at, noise)
        if changes == 0:
            level -= 1
        elif changes == 1:
            count = int(stack[lane, COUNT])
            result = follow(chain, direction_of(arc, root_in(stack, lane, at)), found, row, count)
            stack[lane, COUNT] = real(result)
            if result == count:
                doubt = 1
            level -= 1
        elif level == DEPTH or halvings > MOST_HALVINGS:
            doubt = 1
            level -= 1
        else:
            halve(stack, lane, at)
            halvings += 1
            level += 1
    return doubt


@wp.func
def solve(
    chain: Chain, matrices: wp.array2d[real], stack: wp.array2d[real], lane: int, found: wp.array3d[real], row: int
) -> int:
    """All solutions of a chain; how many there are."""
    largest = real(0.0)
    for k in range(SAMPLES):
        angle = SPACING * real(k)
        value = resultant(chain, wp.cos(angle), wp.sin(angle))
        stack[lane, STACK + k] = value
        largest = wp.max(largest, wp.abs(value))
    if largest == real(0.0):
        return walk_around(chain, STEPS, found, row, 0)
    doubt = int(0)
    stack[lane, COUNT] = real(0.0)
    for arc in range(ARCS):
        for j in range(DEGREE + 1):
            total = real(0.0)
            for k in range(SAMPLES):
                total += matrices[arc * (DEGREE + 1) + j, k] * stack[lane, STACK + k]
            stack[lane, j] = total
        stack[lane, DEGREE + 1] = real(0.0)
        stack[lane, DEGREE + 2] = real(1.0)
        doubt += search_arc(chain, arc, NOISE * largest, stack, lane, found, row)
    count = int(stack[lane, COUNT])
    # Solutions come in pairs, so an odd number is a doubt, too.
    if doubt > 0 or count % 2 == 1:
        count = walk_around(chain, STEPS, found, row, count)
    if count % 2 == 1:
        count = walk_around(chain, FINE_STEPS, found, row, count)
    return count


@wp.func
def place_chain(
    place: Place, chain: Chain, first: Unit, last: Unit, v: vec3, atoms: wp.array3d[vec3], row: int, k: int
) -> None:
    """Write the atoms between the ends: C1 N2 CA2 C2 N3."""
    rho = wp.cos(v[1]) * place.x + wp.sin(v[1]) * place.y
    w = wp.cross(place.e, rho)
    middle = place.origin + place.along * place.e + place.off * rho
    n1 = chain.n1[0] * place.e + chain.n1[1] * rho
    n3 = chain.n3[0] * place.e + chain.n3[1] * rho
    m1 = wp.cross(w, n1)
    m3 = wp.cross(w, n3)
    s1 = first.ch * n1 + first.sh * (wp.cos(v[0]) * m1 + wp.sin(v[0]) * w)
    s3 = last.ch * n3 + last.sh * (wp.cos(v[2]) * m3 + wp.sin(v[2]) * w)
    t1 = vec3()
    t3 = vec3()
    for i in range(3):
        a = wp.where(i == 0, real(1.0), wp.where(i == 1, wp.cos(v[0]), wp.sin(v[0])))
        b = wp.where(i == 0, real(1.0), wp.where(i == 1, wp.cos(v[2]), wp.sin(v[2])))
        t1 = t1 + a * column(first, n1, m1, w, i)
        t3 = t3 + b * column(last, n3, m3, w, i)
    atoms[row, k, 2] = place.origin + first.near * s1
    atoms[row, k, 3] = middle + first.far * t1
    atoms[row, k, 4] = middle
    atoms[row, k, 5] = middle + last.far * t3
    atoms[row, k, 6] = place.origin + place.d * place.e + last.near * s3


@kernel
def close_chains(
    ends: wp.array2d[vec3],
    units: wp.array2d[vec3],
    bends: wp.array[vec3],
    matrices: wp.array2d[real],
    stack: wp.array2d[real],
    found: wp.array3d[real],
    atoms: wp.array3d[vec3],
    counts: wp.array[wp.int32],
) -> None:
    """Close all chains; each lane takes every so many.

    ends: N1, CA1, CA3, C3. units: CA1, C1, N2, CA2 of the first and CA2, C2, N3, CA3 of the last, in any frames. bends:
    cosines of the angles N-Cα-C. found: σ, τ, ψ. atoms: N, CA, C of the three pivots.
    """
    lane = wp.tid()
    row = lane
    while row < ends.shape[0]:
        first = measure(units[row, 0], units[row, 1], units[row, 2], units[row, 3])
        last = measure(units[row, 7], units[row, 6], units[row, 5], units[row, 4])
        place = locate(ends[row, 1], ends[row, 2], first, last)
        counts[row] = 0
        if place.off > real(0.0):
            r1 = wp.normalize(ends[row, 0] - ends[row, 1])
            r3 = wp.normalize(ends[row, 3] - ends[row, 2])
            chain = equations(place, first, last, r1, r3, bends[row])
            count = solve(chain, matrices, stack, lane, found, row)
            counts[row] = count
            for k in range(count):
                atoms[row, k, 0] = ends[row, 0]
                atoms[row, k, 1] = ends[row, 1]
                v = vec3(found[row, k, 0], found[row, k, 1], found[row, k, 2])
                place_chain(place, chain, first, last, v, atoms, row, k)
                atoms[row, k, 7] = ends[row, 2]
                atoms[row, k, 8] = ends[row, 3]
        row += stack.shape[0]
