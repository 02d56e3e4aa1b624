"""Mechanisms that corrections have thrown away: they go on as fast as they were, without forces.

    held back   where   ½ Σ m (Δx/h)² > 4 Σ (√T + √R)² + ½ m (4 c² + (16 c₀)² + (100 r)²),      c₀ = min(e₀/h, c)

Δx the way of a body of a mechanism in a step of length h, T kinetic energy of all bodies of the world at its beginning,
R what loads give them at rest, m mass of the mechanism, e₀ the largest error of its joints at the beginning, angles as
lengths, c the speed at which joints close, r the rates that its joints have of their own. No step that means anything
gets there: corrections have diverged. The same is done with a body without joints that contacts have thrown away. Where
a static body or a surface moves, it may throw others; so may a spring inside the constraint solve.

What the user has put apart may be put together: how far joints were apart when something was written is remembered, and
becomes less as they close.

Cost: one look at every joint at the beginning of a step, and at every body at its end.
"""

import warp as wp

from rattleback.constraints.row import error_of
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import quat_from_rotation_vector, rotate_back
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import (
    Joints,
    RowDefinitions,
    Rows,
    counted_frames_of,
    definition_of,
    is_folded,
    unfolded,
)
from rattleback.problem.mechanisms import Mechanisms
from rattleback.problem.yielding import is_yielding
from rattleback.steps.energy_floor import Floor
from rattleback.steps.energy_islands import ZERO, Ledger
from rattleback.steps.energy_sums import LANES, Sums

# How many times the energy that all bodies can have a mechanism may fly with.
FLIGHT = wp.constant(real(4.0))
# The square of how many times faster than joints close it may go, where something pushes it; and how many times faster
# than its own joints close, which four corrections of twice their way may do on both sides.
AIDED, PULLS = wp.constant(real(4.0)), wp.constant(real(16.0))
# How far from a joint with a rate of its own bodies may be that it moves [m].
DRIVEN = wp.constant(real(100.0))


@wp.struct
class Measured:
    """The joints without their limits, their rows, what they connect, their impulses, and whether any has a spring."""

    joints: Joints
    definitions: RowDefinitions
    mechanisms: Mechanisms
    reactions: Reactions
    rows: Rows
    sprung: wp.int32


@wp.func
def error_at(joints: Joints, definitions: RowDefinitions, motion: Motion, remembered: JointState, j: int) -> real:
    """Error of a joint at a motion, angles as lengths."""
    if joints.broken[j] != 0:
        return ZERO
    frames = counted_frames_of(joints, motion, remembered, j)
    local = rotate_back(frames.turn_a, frames.way)
    square = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if definitions.is_velocity[r] == 0 and not is_yielding(definitions, r):
            definition = definition_of(definitions, r)
            e = error_of(definition, frames, local)
            if is_folded(joints, definition, frames, j):
                e = unfolded(definition, frames, e)
            square += e * e
    return wp.sqrt(square)


@wp.func
def largest_error(measured: Measured, motion: Motion, remembered: JointState, m: int) -> real:
    """Largest error of the joints of a mechanism."""
    found = ZERO
    first = measured.mechanisms.first_joint[m]
    for k in range(first, first + measured.mechanisms.joints[m]):
        j = measured.mechanisms.joint[k]
        found = wp.max(found, error_at(measured.joints, measured.definitions, motion, remembered, j))
    return found


@kernel
def note_written(measured: Measured, motion: Motion, remembered: JointState, status: JointStatus) -> None:
    """Something was written: that joints are apart is what the user has made."""
    m = wp.tid()
    j = measured.mechanisms.joint[measured.mechanisms.first_joint[m]]
    if status.written[measured.joints.world[j]] == 1:
        remembered.gap[j] = largest_error(measured, motion, remembered, m)


@kernel
def note_gaps(measured: Measured, motion: Motion, remembered: JointState, floor: Floor) -> None:
    """A step begins: how far the joints of a mechanism are apart, and how much of that the user has made."""
    m = wp.tid()
    gap = largest_error(measured, motion, remembered, m)
    measured.mechanisms.gap[m] = gap
    j = measured.mechanisms.joint[measured.mechanisms.first_joint[m]]
    remembered.gap[j] = wp.where(gap > floor.gap, wp.min(gap, remembered.gap[j]), ZERO)


@wp.func
def most_flight(sums: Sums, w: int) -> real:
    """With how much energy a part of a world may fly; below zero where something moves it."""
    most = ZERO
    for s in range(w * LANES, (w + 1) * LANES):
        most += sums.free[s]
        if sums.moved[s] == 1:
            return real(-1.0)
    return FLIGHT * most


@wp.func
def flown(bodies: Bodies, before: Motion, end: Motion, i: int) -> real:
    """Half of mass times the square of the way of a body."""
    return real(0.5) * bodies.mass[i] * wp.length_sq(end.position[i] - before.position[i])


@wp.func
def is_thrown(bodies: Bodies, measured: Measured, before: Motion, end: Motion, sums: Sums, speed: real, m: int) -> bool:
    """Whether a mechanism flies with more energy than all bodies can have."""
    mechanisms = measured.mechanisms
    w = bodies.world[mechanisms.body[mechanisms.first[m]]]
    most = most_flight(sums, w)
    aware = most >= ZERO
    driven = ZERO
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        j = mechanisms.joint[k]
        for r in range(measured.joints.first[j], measured.joints.first[j] + measured.joints.count[j]):
            driven += DRIVEN * wp.abs(measured.definitions.rate[r])
            if measured.definitions.stiffness[r] > ZERO:
                # A spring inside may throw it, whatever the others have.
                aware = False
    way = ZERO
    mass = ZERO
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        i = mechanisms.body[k]
        way += flown(bodies, before, end, i)
        mass += bodies.mass[i]
    h = sums.time_step[w]
    close = PULLS * wp.min(mechanisms.gap[m] / h, speed)
    most += real(0.5) * mass * (AIDED * speed * speed + close * close + driven * driven)
    return aware and not (way <= h * h * most)


@wp.func
def go_on(before: Motion, end: Motion, ledger: Ledger, h: real, i: int) -> None:
    """A body goes on as fast as it was, without forces."""
    w = before.angular_velocity[i]
    end.position[i] = before.position[i] + h * before.velocity[i]
    end.orientation[i] = wp.normalize(quat_from_rotation_vector(h * w) * before.orientation[i])
    end.velocity[i] = before.velocity[i]
    end.angular_velocity[i] = w
    ledger.work[i] = ZERO
    ledger.push[i] = ledger.first_push[i]
    ledger.turn[i] = ledger.first_turn[i]
    ledger.rate[i] = w
    ledger.any_held[0] = 1


@kernel
def hold_back(
    bodies: Bodies,
    measured: Measured,
    before: Motion,
    end: Motion,
    ledger: Ledger,
    sums: Sums,
    floor: Floor,
) -> None:
    """Mechanisms that corrections have thrown away go on as fast as they were, without forces."""
    m = wp.tid()
    mechanisms = measured.mechanisms
    h = sums.time_step[bodies.world[mechanisms.body[mechanisms.first[m]]]]
    if not is_thrown(bodies, measured, before, end, sums, floor.speed, m):
        return
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        i = mechanisms.body[k]
        if bodies.mass[i] > ZERO:
            go_on(before, end, ledger, h, i)
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        measured.reactions.impulse[mechanisms.joint[k]] = vec3()
        measured.reactions.couple[mechanisms.joint[k]] = vec3()


@kernel
def hold_loose(bodies: Bodies, before: Motion, end: Motion, ledger: Ledger, sums: Sums, floor: Floor) -> None:
    """The same for bodies without joints that contacts have thrown away."""
    i = wp.tid()
    w = bodies.world[i]
    if ledger.loose[i] == 0 or bodies.mass[i] == ZERO:
        return
    h = sums.time_step[w]
    most = most_flight(sums, w)
    free = h * h * (most + real(0.5) * AIDED * bodies.mass[i] * floor.speed * floor.speed)
    if most >= ZERO and not (flown(bodies, before, end, i) <= free):
        go_on(before, end, ledger, h, i)
