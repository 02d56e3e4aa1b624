"""The terms of the field TVH and their gradient: see ``field``.

The derivative by positions is brought to the dihedrals by the chain's Jacobian, link by link from the tips to the
roots:

    ∂E/∂q_i = z_i · (T_i − o_i × F_i),   F_i = Σ g_a,   T_i = Σ x_a × g_a      over all points a that joint i carries

z_i, o_i axis and origin of the joint; x_a, g_a place of a point and derivative of the energy by it.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.kinematics.arrays import Links, Pose
from rattleback.maths.quat import rotate
from rattleback.molecules.energy.parameters import BRIDGE, HYDROGEN_BOND
from rattleback.molecules.placing_kernel import walk_links

# Van der Waals terms fade out between these, hydrogen bonds between those [Å].
NEAR = wp.constant(real(8.0))
FAR = wp.constant(real(10.0))
BOND_NEAR = wp.constant(real(3.5))
BOND_FAR = wp.constant(real(5.0))
# Below this part of the distance of least energy, a term goes on as a straight line.
CORE = wp.constant(real(0.7))
BOND_LENGTH = wp.constant(real(HYDROGEN_BOND[0]))
BOND_DEPTH = wp.constant(real(HYDROGEN_BOND[1]))
# Two points nearer than that push in no direction [Å].
TINY = wp.constant(real(1e-9))
STIFFNESS = wp.constant(real(BRIDGE))


@group(axis="points")
class Points:
    """What the energy is made of."""

    link: wp.int32 = field("1", "link of a point")
    local: vec3 = field("Å", "its place in the link")
    size: real = field("Å", "half the distance of least energy")
    depth: real = field("√(kcal/mol)", "root of the depth of two like points")
    skip_from: wp.int32 = field("1", "where the partners that do not count begin")
    skip: wp.int32 = field("1", "those partners, in order, −1 behind the last of a point", axis="skips")
    torsion: vec3 = field("kcal/mol, 1, rad", "barrier, fold and phase of a joint", axis="joints")
    donor: wp.vec2i = field("1", "nitrogen and hydrogen of an N-H", axis="donors")
    acceptor: wp.int32 = field("1", "an oxygen", axis="acceptors")
    bridge: wp.vec2i = field("1", "sulfurs of a disulfide", axis="bridges")
    length: real = field("Å", "their distance", axis="bridges")


@wp.struct
class Scratch:
    """What a lane computes with: frames of links, places of points and derivatives by them, sums of the links."""

    place: wp.array2d[vec3]
    turn: wp.array2d[quat]
    x: wp.array2d[vec3]
    g: wp.array2d[vec3]
    force: wp.array2d[vec3]
    torque: wp.array2d[vec3]


@wp.func
def fade(r: real, near: real, far: real) -> vec3:
    """Value and slope of a factor that goes from 1 to 0 between two distances; twice differentiable."""
    if r <= near:
        return vec3(real(1.0), real(0.0), real(0.0))
    if r >= far:
        return vec3()
    t = (r - near) / (far - near)
    value = real(1.0) - t * t * t * (real(10.0) - t * (real(15.0) - real(6.0) * t))
    slope = real(-30.0) * t * t * (real(1.0) - t) * (real(1.0) - t) / (far - near)
    return vec3(value, slope, real(0.0))


@wp.func
def twelve_six(s: real) -> vec3:
    """Value and slope of s⁻¹² − 2 s⁻⁶, s distance over that of least energy."""
    k = real(1.0) / (s * s)
    six = k * k * k
    return vec3(six * six - real(2.0) * six, real(12.0) * (six - six * six) / s, real(0.0))


@wp.func
def twelve_ten(s: real) -> vec3:
    """Value and slope of 5 s⁻¹² − 6 s⁻¹⁰."""
    k = real(1.0) / (s * s)
    ten = k * k * k * k * k
    return vec3(ten * (real(5.0) * k - real(6.0)), real(60.0) * ten * (real(1.0) - k) / s, real(0.0))


@wp.func
def below_core(law: vec3, s: real) -> vec3:
    """A law of distance at the core, gone on with as a straight line to s."""
    return vec3(law[0] + law[1] * wp.min(s - CORE, real(0.0)), law[1], real(0.0))


@wp.func
def pair_law(points: Points, a: int, b: int, r: real) -> vec3:
    """Energy of a pair at a distance [kcal/mol] and its slope [kcal/mol/Å]; nothing where it does not count."""
    if points.link[a] == points.link[b] or points.size[b] == real(0.0):
        return vec3()
    least = points.size[a] + points.size[b]
    s = r / least
    law = below_core(twelve_six(wp.max(s, CORE)), s)
    cut = fade(r, NEAR, FAR)
    depth = points.depth[a] * points.depth[b]
    return depth * vec3(law[0] * cut[0], law[1] * cut[0] / least + law[0] * cut[1], real(0.0))


@wp.func
def add_pairs(points: Points, scratch: Scratch, lane: int) -> real:
    """Van der Waals energy of all pairs that count [kcal/mol]."""
    total = real(0.0)
    for a in range(points.link.shape[0]):
        if points.size[a] > real(0.0):
            x = scratch.x[lane, a]
            g = vec3()
            at = points.skip_from[a]
            for b in range(a + 1, points.link.shape[0]):
                if points.skip[at] == b:
                    at += 1
                else:
                    way = x - scratch.x[lane, b]
                    square = wp.length_sq(way)
                    if square < FAR * FAR:
                        r = wp.sqrt(square)
                        law = pair_law(points, a, b, r)
                        total += law[0]
                        push = (law[1] / wp.max(r, TINY)) * way
                        g = g + push
                        scratch.g[lane, b] = scratch.g[lane, b] - push
            scratch.g[lane, a] = scratch.g[lane, a] + g
    return total


@wp.func
def add_bonds(points: Points, scratch: Scratch, lane: int) -> real:
    """Energy of the hydrogen bonds N-H···O: depth · law(H···O) · cos² of the bend at H [kcal/mol]."""
    total = real(0.0)
    for d in range(points.donor.shape[0]):
        n = points.donor[d][0]
        h = points.donor[d][1]
        u = scratch.x[lane, h] - scratch.x[lane, n]
        lu = wp.length(u)
        for k in range(points.acceptor.shape[0]):
            o = points.acceptor[k]
            v = scratch.x[lane, o] - scratch.x[lane, h]
            square = wp.length_sq(v)
            straight = wp.dot(u, v)
            if square < BOND_FAR * BOND_FAR and straight > real(0.0):
                r = wp.sqrt(square)
                c = straight / (lu * r)
                s = r / BOND_LENGTH
                law = below_core(twelve_ten(wp.max(s, CORE)), s)
                cut = fade(r, BOND_NEAR, BOND_FAR)
                radial = BOND_DEPTH * law[0] * cut[0]
                slope = BOND_DEPTH * (law[1] * cut[0] / BOND_LENGTH + law[0] * cut[1])
                total += radial * c * c
                # By v and by u; u does not change its length, but turns.
                gv = (slope * c * c / r) * v + (real(2.0) * radial * c) * (u / (lu * r) - (c / square) * v)
                gu = (real(2.0) * radial * c) * (v / (lu * r) - (c / (lu * lu)) * u)
                scratch.g[lane, o] = scratch.g[lane, o] + gv
                scratch.g[lane, h] = scratch.g[lane, h] - gv + gu
                scratch.g[lane, n] = scratch.g[lane, n] - gu
    return total


@wp.func
def add_bridges(points: Points, scratch: Scratch, lane: int) -> real:
    """Energy of stretched disulfides, ½ k (d − d₀)² [kcal/mol]."""
    total = real(0.0)
    for b in range(points.bridge.shape[0]):
        i = points.bridge[b][0]
        j = points.bridge[b][1]
        way = scratch.x[lane, i] - scratch.x[lane, j]
        d = wp.length(way)
        over = d - points.length[b]
        total += real(0.5) * STIFFNESS * over * over
        push = (STIFFNESS * over / d) * way
        scratch.g[lane, i] = scratch.g[lane, i] + push
        scratch.g[lane, j] = scratch.g[lane, j] - push
    return total


@wp.func
def gather(links: Links, points: Points, scratch: Scratch, gradient: wp.array2d[real], row: int, lane: int) -> None:
    """Bring derivatives by positions to the dihedrals."""
    for i in range(links.parent.shape[0]):
        scratch.force[lane, i] = vec3()
        scratch.torque[lane, i] = vec3()
    for a in range(points.link.shape[0]):
        i = points.link[a]
        g = scratch.g[lane, a]
        scratch.force[lane, i] = scratch.force[lane, i] + g
        scratch.torque[lane, i] = scratch.torque[lane, i] + wp.cross(scratch.x[lane, a], g)
    count = links.parent.shape[0]
    for k in range(count):
        i = count - 1 - k
        f = scratch.force[lane, i]
        t = scratch.torque[lane, i]
        c = links.coordinate[i]
        if c >= 0:
            axis = rotate(scratch.turn[lane, i], links.axis[i])
            gradient[row, c] = gradient[row, c] + wp.dot(axis, t - wp.cross(scratch.place[lane, i], f))
        p = links.parent[i]
        if p >= 0:
            scratch.force[lane, p] = scratch.force[lane, p] + f
            scratch.torque[lane, p] = scratch.torque[lane, p] + t


@kernel
def measure(
    links: Links,
    base: Pose,
    points: Points,
    q: wp.array2d[real],
    scratch: Scratch,
    energy: wp.array2d[real],
    gradient: wp.array2d[real],
) -> None:
    """Energies (torsion, van der Waals, hydrogen bonds, bridges) and gradients of all conformations."""
    lane = wp.tid()
    row = lane
    while row < q.shape[0]:
        walk_links(links, base, q, row, scratch.place, scratch.turn, lane)
        for a in range(points.link.shape[0]):
            i = points.link[a]
            scratch.x[lane, a] = scratch.place[lane, i] + rotate(scratch.turn[lane, i], points.local[a])
            scratch.g[lane, a] = vec3()
        torsion = real(0.0)
        for c in range(q.shape[1]):
            t = points.torsion[c]
            angle = t[1] * q[row, c] - t[2]
            torsion += real(0.5) * t[0] * (real(1.0) + wp.cos(angle))
            gradient[row, c] = real(-0.5) * t[0] * t[1] * wp.sin(angle)
        energy[row, 0] = torsion
        energy[row, 1] = add_pairs(points, scratch, lane)
        energy[row, 2] = add_bonds(points, scratch, lane)
        energy[row, 3] = add_bridges(points, scratch, lane)
        gather(links, points, scratch, gradient, row, lane)
        row += scratch.place.shape[0]
