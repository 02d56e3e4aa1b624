"""What carries whom: the points below every body that has something to lose, and whether it may stand on them.

    Σ F_c (r² 1 − r rᵀ) about q   with   q = Σ F_c r / Σ F_c

F_c what a point pushes with, r from the centre of mass of the body it carries. At rest nearly everybody has nothing to
lose but rounding. Only who has more is asked, and who carries somebody who is; who is fast is not:

    what every body is to lose, and whether that is more than rounding
    from the top down: list the patches below those who are asked; whom they push down on is asked as well
    from the ground up: add up what carries them; nobody stands on somebody who does not, or on points in a line, or
    who slides over a patch with  m |u_t| > 8 μ (F + m max(−u_n, 0)),  far more than its friction can stop in the step

u velocity of the patch, m mass of who is on it, F what it pushes with.

Cost: a look at every body and every patch, and about that of half a sweep over the patches that are listed.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.small_solve import symmetric_inverse
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Patches, Pressing, twist_of
from rattleback.solvers.contacts.schemes.displacements import Ways

# Part of the load of a patch with which all its points take part.
BASE = wp.constant(real(0.1))
# What the points of a patch that has no load yet take part with, by the mass of the body [m/s].
UNLOADED = wp.constant(real(1e-9))
# Part of the tolerance up to which a velocity is rounding, and nobody has to lose it.
STILL = wp.constant(real(262144.0 * epsilon))
# Times the tolerance, and what gravity does in a step, from which a velocity is too fast for anybody who stands.
FAST = wp.constant(real(4.0))
# Times the change that friction can make in the step, from which a velocity across is that of a body that slides on.
SLIDING = wp.constant(real(8.0))
# Points nearly on a line, by the ratio of their moments, carry nobody.
NARROW = wp.constant(real(1e-3))
# Nor do points in one place, whose moments are rounding beside what they are about the centre of mass, or without load.
LOST = wp.constant(real(1024.0 * epsilon))
# Who may stand, when that is not known yet.
OPEN = wp.constant(2)


@group(axis="bodies")
class Standing:
    """What bodies stand on, and what they hand down."""

    alone: wp.int32 = field("1", "1 where no joint holds it")
    asked: wp.int32 = field("1", "1 where it or somebody it carries has something to lose; 2 with a footing")
    stands: wp.int32 = field("1", "1 where it stands; static bodies do, and so does what has nothing to lose")
    aimed: wp.int32 = field("1", "1 where it is known how it hands down")
    velocity: vec3 = field("m/s", "what it is to lose; then, where it may stand, its momentum [N s]")
    turning: vec3 = field("rad/s", "the same of its angular velocity, and its angular momentum [N m s]")
    momentum: vec3 = field("N s", "P")
    spin: vec3 = field("N m s", "L")
    load: real = field("N s", "Σ F_c of the points below it")
    middle: vec3 = field("m", "q, world frame, from its centre of mass")
    square: vec3 = field("N m² s", "xx, yy and zz of Σ F_c r rᵀ, about its centre of mass")
    mixed: vec3 = field("N m² s", "its yz, zx and xy")
    spread: mat33 = field("1/(N m² s)", "inverse of Σ F_c (r² 1 − r rᵀ), about q")
    lift: vec3 = field("1", "a")
    tilt: vec3 = field("1/m", "b")
    push: vec3 = field("N s", "what a point is to push with", axis="contacts")
    listed: wp.int32 = field("1", "patches over which somebody hands down, from the top down", axis="contacts")
    member: wp.int32 = field("1", "bodies that stand on such patches")
    members: wp.int32 = field("1", "their number", axis="flags")
    tries: wp.int32 = field("1", "1 while those who stand in a world are being found", axis="worlds")
    holds: wp.int32 = field("1", "1 where all who stand in a world can", axis="worlds")


@wp.struct
class Pace:
    """What says how fast bodies are: the tolerance of velocities and the speed from which they rebound [m/s], gravity.

    The load that a blow leaves may throw a body up with about that speed, which standing takes from it.
    """

    speed: real
    rebound: real
    gravity: real
    clock: Clock


@wp.func
def lose(bodies: Bodies, standing: Standing, i: int, v: vec3, w: vec3, pace: Pace, which: wp.array[wp.int32]) -> None:
    """Note what a body is to lose, and whether that is more than rounding and not too much, in wanted worlds."""
    standing.velocity[i] = v
    standing.turning[i] = w
    mass = bodies.mass[i]
    moments = bodies.moments[i]
    still = STILL * pace.speed
    fall = pace.gravity * real(pace.clock.time_step[bodies.world[i]])
    fast = wp.max(FAST * wp.max(pace.speed, fall), pace.rebound)
    wide = moments[0] + moments[1] + moments[2]
    energy = mass * wp.dot(v, v) + wide * wp.dot(w, w)
    moves = energy > mass * still * still
    static = bodies.inverse_mass[i] == real(0.0)
    moves = moves and which[bodies.world[i]] == 1
    standing.asked[i] = wp.where(moves and energy < mass * fast * fast and not static, 1, 0)
    standing.stands[i] = wp.where(static or (standing.alone[i] == 1 and not moves), 1, 0)


@kernel
def lose_velocity(
    bodies: Bodies, motion: Motion, standing: Standing, pace: Pace, which: wp.array[wp.int32], lanes: int
) -> None:
    """At the end of a step bodies that stand lose their velocities."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        lose(bodies, standing, i, motion.velocity[i], motion.angular_velocity[i], pace, which)


@kernel
def lose_way(bodies: Bodies, ways: Ways, standing: Standing, pace: Pace, which: wp.array[wp.int32], lanes: int) -> None:
    """At its start they lose what makes them move over it."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        rate = real(1.0) / real(pace.clock.time_step[bodies.world[i]])
        lose(bodies, standing, i, rate * ways.way[i], rate * ways.turn[i], pace, which)


@wp.func
def lower(pressing: Pressing, k: int, i: int) -> int:
    """The other body of a patch."""
    return wp.where(pressing.patches.body_a[k] == i, pressing.patches.body_b[k], pressing.patches.body_a[k])


@wp.func
def arm(pressing: Pressing, k: int, i: int) -> vec3:
    """From the centre of mass of a body of a patch to its middle."""
    return wp.where(pressing.patches.body_a[k] == i, pressing.patches.arm_a[k], pressing.patches.arm_b[k])


@wp.func
def off_diagonal(a: vec3, b: vec3) -> vec3:
    """yz, zx and xy of a bᵀ."""
    return vec3(a[1] * b[2], a[2] * b[0], a[0] * b[1])


@wp.func
def weight(pressing: Pressing, k: int, c: int) -> real:
    """How much of what is handed down a point takes, beside others."""
    p = pressing.points.impulse[c][0]
    if pressing.points.place[c][2] > real(0.0):
        return p
    return p + BASE * pressing.patches.load[k]


@wp.func
def slides(patches: Patches, motion: Motion, k: int, mass: real) -> bool:
    """Whether a body of this mass slides over a patch far faster than its friction could stop in the step."""
    u, _w = twist_of(patches, motion, k)
    grip = SLIDING * patches.grip[k] * (patches.load[k] + mass * wp.max(-u[0], real(0.0)))
    return mass * mass * (u[1] * u[1] + u[2] * u[2]) > grip * grip


@wp.func
def add_load(bodies: Bodies, pressing: Pressing, k: int, i: int) -> None:
    """What the points of a patch that carries a body push with together."""
    # Where nobody pushes yet all points of a patch are alike.
    load = UNLOADED * bodies.mass[i]
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        load += pressing.points.impulse[c][0]
    pressing.patches.load[k] = load


@wp.func
def add_footing(pressing: Pressing, standing: Standing, k: int, i: int) -> None:
    """Add the points of a patch to what carries a body."""
    first = pressing.patches.first[k]
    end = first + pressing.patches.count[k]
    total = real(0.0)
    x = real(0.0)
    y = real(0.0)
    xx = real(0.0)
    xy = real(0.0)
    yy = real(0.0)
    for c in range(first, end):
        p = weight(pressing, k, c)
        place = pressing.points.place[c]
        total += p
        x += p * place[0]
        y += p * place[1]
        xx += p * place[0] * place[0]
        xy += p * place[0] * place[1]
        yy += p * place[1] * place[1]
    s = pressing.patches.tangent[k]
    u = wp.cross(pressing.patches.normal[k], s)
    m = arm(pressing, k, i)
    # Σ p r rᵀ of r = m + d, where d is in the plane of the patch.
    d = x * s + y * u
    g = total * m + d
    a = xx * s + xy * u
    b = xy * s + yy * u
    standing.load[i] = standing.load[i] + total
    standing.middle[i] = standing.middle[i] + g
    standing.square[i] = standing.square[i] + wp.cw_mul(g + d, m) + wp.cw_mul(a, s) + wp.cw_mul(b, u)
    mixed = off_diagonal(g, m) + off_diagonal(m, d) + off_diagonal(a, s) + off_diagonal(b, u)
    standing.mixed[i] = standing.mixed[i] + mixed


@wp.func
def ask(pressing: Pressing, graph: Graph, standing: Standing) -> int:
    """From the top down, list who has something to lose or carries somebody who has; returns how many patches."""
    count = graph.total[0]
    listed = int(0)
    for down in range(count):
        k = count - 1 - down
        i = pressing.patches.rider[k]
        # Without a branch, which nobody could foresee.
        asked = wp.where(i >= 0, standing.asked[wp.max(i, 0)], 0)
        below = lower(pressing, k, i)
        standing.asked[below] = standing.asked[below] | asked
        standing.listed[listed] = k
        listed += asked
    return listed


@wp.func
def settle_footing(bodies: Bodies, pressing: Pressing, standing: Standing, i: int) -> None:
    """How a body whose footing is added up would hand down; it cannot stand where that is narrow."""
    load = standing.load[i]
    standing.stands[i] = 0
    if load < LOST * UNLOADED * bodies.mass[i]:
        return
    q = standing.middle[i] / load
    rest = load * wp.cw_mul(q, q)
    square = standing.square[i] - rest
    wide = square[0] + square[1] + square[2]
    if wide <= LOST * (rest[0] + rest[1] + rest[2]):
        return
    # Parts of what is wide: products of three small loads would underflow.
    d = vec3(real(1.0), real(1.0), real(1.0)) - square / wide
    mixed = (standing.mixed[i] - load * off_diagonal(q, q)) / wide
    x, y, z = mixed[0], mixed[1], mixed[2]
    spread, determinant = symmetric_inverse(mat33(d[0], -z, -y, -z, d[1], -x, -y, -x, d[2]))
    if determinant > real(8.0) * NARROW:
        standing.middle[i] = q
        standing.spread[i] = spread / wide
        standing.stands[i] = 1
        standing.velocity[i] = bodies.mass[i] * standing.velocity[i]
        inertia, _ = symmetric_inverse(pressing.weights.inverse_inertia[i])
        standing.turning[i] = inertia * standing.turning[i]


@wp.func
def carries(bodies: Bodies, pressing: Pressing, standing: Standing, i: int) -> bool:
    """Whether a body can carry others; all it stands on has been added up."""
    if standing.stands[i] == OPEN:
        settle_footing(bodies, pressing, standing, i)
    return standing.stands[i] == 1


@wp.func
def begin_footing(standing: Standing, i: int) -> None:
    """Nothing that carries a body has been found; joints may hold it."""
    standing.asked[i] = 2
    standing.load[i] = real(0.0)
    standing.middle[i] = vec3()
    standing.square[i] = vec3()
    standing.mixed[i] = vec3()
    standing.stands[i] = wp.where(standing.alone[i] == 1, OPEN, 0)


@wp.func
def find_footing(bodies: Bodies, pressing: Pressing, standing: Standing, motion: Motion, listed: int) -> None:
    """From the ground up, what carries those who are listed, and who may stand: not who slides, or is on who does."""
    members = int(0)
    for up in range(listed):
        k = standing.listed[listed - 1 - up]
        i = pressing.patches.rider[k]
        if standing.asked[i] == 1:
            begin_footing(standing, i)
            standing.member[members] = i
            members += 1
        if standing.stands[i] == OPEN:
            standing.stands[i] = 0
            if carries(bodies, pressing, standing, lower(pressing, k, i)):
                add_load(bodies, pressing, k, i)
                if not slides(pressing.patches, motion, k, bodies.mass[i]):
                    add_footing(pressing, standing, k, i)
                    standing.stands[i] = OPEN
    standing.members[0] = members
    for n in range(members):
        i = standing.member[n]
        if standing.stands[i] == OPEN:
            settle_footing(bodies, pressing, standing, i)


@wp.func
def settle_who(pressing: Pressing, standing: Standing, listed: int) -> None:
    """Who stands on somebody who does not stand does not either."""
    for up in range(listed):
        k = standing.listed[listed - 1 - up]
        i = pressing.patches.rider[k]
        if standing.stands[lower(pressing, k, i)] == 0:
            standing.stands[i] = 0


@wp.func
def strike_off(pressing: Pressing, standing: Standing, listed: int) -> int:
    """Strike those who do not stand off the list; returns how many patches stay."""
    kept = int(0)
    for n in range(listed):
        k = standing.listed[n]
        standing.listed[kept] = k
        kept += wp.where(standing.stands[pressing.patches.rider[k]] == 1, 1, 0)
    return kept
