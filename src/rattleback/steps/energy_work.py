"""The work of forces in a step: what bodies have at its beginning, and what forces, springs and motors give them.

    W = Δp·Δx/h + ΔL·φ/h,      R = ½ Δp²/m + ½ ΔL·J⁻¹ΔL

Δp and ΔL the momenta that loads gave in the predicted step, after the impulses of joints and contacts at its start, Δx
and φ the way and the turn of the step with those impulses, h its length, m and J mass and inertia. A constant load does
exactly this work, whatever holds the body. R is what integrators of first order may miss of it.

    step begins: T;   first prediction: R;   joints and contacts hold: W;   it is taken over: W for the way really gone,
    which position corrections, stops of continuous bodies and mechanisms that are held back may have changed

Cost: four looks at every body.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate, rotate_back, rotation_vector_from_quat
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.problem.mechanisms import kinetic_energy
from rattleback.steps.energy_islands import ZERO, Ledger

# Angle in a step up to which two orientations tell how far a body turned [rad].
COUNTED = wp.constant(real(2.0))
# Angle in a step above which integrators that do not keep angular momentum change it as they like [rad], and how many
# times the torque may then be what it was last evaluated to be.
FAST, MOST = wp.constant(real(1.0)), wp.constant(real(2.0))
# The least number that is divided by.
TINY = wp.constant(real(1e-30))


@kernel
def note_before(bodies: Bodies, motion: Motion, ledger: Ledger, lanes: int) -> None:
    """A step begins."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        ledger.before[i] = kinetic_energy(bodies, motion, i)
        ledger.spin[i] = wp.length(motion.angular_velocity[i])
        ledger.velocity[i] = motion.velocity[i]
        ledger.allowed[i] = real(-1.0)


@wp.func
def angular_momentum(bodies: Bodies, motion: Motion, i: int) -> vec3:
    """Angular momentum of a body about its centre of mass."""
    q = motion.orientation[i]
    return rotate(q, bodies.inertia[i] * rotate_back(q, motion.angular_velocity[i]))


@wp.func
def work_on_way(before: Motion, end: Motion, ledger: Ledger, h: real, i: int) -> real:
    """Work of the loads of a step on the way between two motions; a fast turn is that of the mean rate."""
    rate = ledger.rate[i]
    if h * wp.length(rate) < COUNTED:
        rate = rotation_vector_from_quat(end.orientation[i] * wp.quat_inverse(before.orientation[i])) / h
    return wp.dot(ledger.push[i], end.position[i] - before.position[i]) / h + wp.dot(ledger.turn[i], rate)


@kernel
def note_loads(bodies: Bodies, start: Motion, end: Motion, ledger: Ledger, lanes: int) -> None:
    """A step is predicted for the first time: nothing has diverged yet that may spoil what loads depend on."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        ledger.missed[i] = ZERO
        ledger.first_push[i] = vec3()
        ledger.first_turn[i] = vec3()
        if bodies.mass[i] > ZERO:
            push = bodies.mass[i] * (end.velocity[i] - start.velocity[i])
            turn = angular_momentum(bodies, end, i) - angular_momentum(bodies, start, i)
            ledger.first_push[i] = push
            ledger.first_turn[i] = turn
            turn = rotate_back(start.orientation[i], turn)
            spun = wp.dot(turn, bodies.inverse_inertia[i] * turn)
            ledger.missed[i] = real(0.5) * (bodies.inverse_mass[i] * wp.length_sq(push) + spun)


@kernel
def note_work(
    bodies: Bodies,
    before: Motion,
    start: Motion,
    end: Motion,
    loads: Loads,
    clock: Clock,
    ledger: Ledger,
    lanes: int,
) -> None:
    """A step is predicted, and joints and contacts hold in it."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        ledger.work[i] = ZERO
        ledger.push[i] = vec3()
        ledger.turn[i] = vec3()
        if bodies.mass[i] == ZERO:
            continue
        push = bodies.mass[i] * (end.velocity[i] - start.velocity[i])
        turn = angular_momentum(bodies, end, i) - angular_momentum(bodies, start, i)
        h = real(clock.time_step[bodies.world[i]])
        rate = real(0.5) * (start.angular_velocity[i] + end.angular_velocity[i])
        if h * wp.length(rate) > FAST:
            turn *= wp.min(real(1.0), MOST * h * wp.length(loads.torque[i]) / wp.max(wp.length(turn), TINY))
        ledger.push[i] = push
        ledger.turn[i] = turn
        ledger.rate[i] = rate
        ledger.work[i] = work_on_way(before, end, ledger, h, i)


@kernel
def note_way(bodies: Bodies, before: Motion, end: Motion, clock: Clock, ledger: Ledger, lanes: int) -> None:
    """A step is taken over: work of loads on the rest of the way that bodies really go."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        h = real(clock.time_step[bodies.world[i]])
        ledger.gone[i] = real(0.5) * bodies.mass[i] * wp.length_sq(end.position[i] - before.position[i]) / (h * h)
        ledger.rest[i] = ZERO
        if bodies.mass[i] > ZERO:
            ledger.rest[i] = work_on_way(before, end, ledger, h, i) - ledger.work[i]
