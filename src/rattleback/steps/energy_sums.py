"""Sums over the bodies of a world, in a few parts whose order does not depend on the device."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.surfaces import Surfaces
from rattleback.problem.mechanisms import kinetic_energy
from rattleback.steps.energy_islands import ZERO, Ledger

# Parts of the sums of a world: part s has the bodies s, s + LANES and so on.
LANES = wp.constant(16)


@group(axis="parts")
class Sums:
    """Sums over a part of the bodies of a world."""

    free: real = field("J", "kinetic energy with which they could fly on without joints and contacts")
    moved: wp.int32 = field("1", "1 where a static body of them moves, or the surface of any")
    gain: real = field("J", "energy they have that forces have not given them")
    before: real = field("J", "their kinetic energy at the beginning of the step")
    kinetic: real = field("J", "and at its end")
    missed: real = field("J", "what integrators of first order may miss of the work of forces")
    worked: real = field("J", "sizes of the works of forces on them")
    size: real = field("J", "energies that were added up, for what rounding may take of them")
    mass: real = field("kg", "their mass")
    gone: real = field("J", "what they have at their mean speeds on the way they go")
    turn: real = field("rad", "largest angle by which one of them turns in the step")
    bent: real = field("J", "their kinetic energy times the square of the sine by which their paths turn")
    most: real = field("J", "largest gain of one of them")
    body: wp.int32 = field("1", "row of that body")
    time_step: real = field("s", "length of the step", axis="worlds")


@kernel
def sum_free(bodies: Bodies, motion: Motion, surfaces: Surfaces, clock: Clock, ledger: Ledger, sums: Sums) -> None:
    """A step is predicted: what all bodies could fly with."""
    k = wp.tid()
    w = k // LANES
    count = bodies.world.shape[0] // clock.time_step.shape[0]
    free = ZERO
    moved = int(0)
    for i in range(w * count + k % LANES, (w + 1) * count, LANES):
        root = wp.sqrt(ledger.before[i]) + wp.sqrt(ledger.missed[i])
        free += root * root
        still = wp.length_sq(surfaces.velocity[i]) == ZERO
        if bodies.mass[i] == ZERO:
            still = still and wp.length_sq(motion.velocity[i]) + wp.length_sq(motion.angular_velocity[i]) == ZERO
        if not still:
            moved = 1
    sums.free[k] = free
    sums.moved[k] = moved
    if k % LANES == 0:
        sums.time_step[w] = real(clock.time_step[w])


@wp.func
def bent_energy(mass: real, before: vec3, after: vec3) -> real:
    """Kinetic energy of a body times the square of the sine of the angle by which its velocity turns."""
    square = wp.max(wp.length_sq(before), wp.length_sq(after))
    if square == ZERO:
        return ZERO
    return real(0.5) * mass * wp.length_sq(wp.cross(before, after)) / square


@kernel
def sum_gains(bodies: Bodies, motion: Motion, ledger: Ledger, sums: Sums) -> None:
    """A step is done: what bodies have gained."""
    k = wp.tid()
    w = k // LANES
    count = bodies.world.shape[0] // sums.time_step.shape[0]
    gain = ZERO
    before = ZERO
    kinetic = ZERO
    missed = ZERO
    worked = ZERO
    size = ZERO
    mass = ZERO
    gone = ZERO
    turn = ZERO
    bent = ZERO
    most = ZERO
    body = int(-1)
    for i in range(w * count + k % LANES, (w + 1) * count, LANES):
        if bodies.mass[i] == ZERO:
            continue
        now = kinetic_energy(bodies, motion, i)
        work = ledger.work[i] + ledger.rest[i]
        own = now - ledger.before[i] - work
        gain += own
        before += ledger.before[i]
        kinetic += now
        missed += ledger.missed[i]
        worked += wp.abs(work)
        load = wp.length(ledger.push[i]) / sums.time_step[w]
        size += now + ledger.before[i] + wp.abs(work) + load * wp.length(motion.position[i])
        mass += bodies.mass[i]
        gone += ledger.gone[i]
        turn = wp.max(turn, wp.max(ledger.spin[i], wp.length(motion.angular_velocity[i])))
        bent += bent_energy(bodies.mass[i], ledger.velocity[i], motion.velocity[i])
        if body < 0 or own > most:
            most = own
            body = i
    sums.gain[k] = gain
    sums.before[k] = before
    sums.kinetic[k] = kinetic
    sums.missed[k] = missed
    sums.worked[k] = worked
    sums.size[k] = size
    sums.mass[k] = mass
    sums.gone[k] = gone
    sums.turn[k] = turn * sums.time_step[w]
    sums.bent[k] = bent
    sums.most[k] = most
    sums.body[k] = body
