"""Changes of the loads that jointed bodies see in a step, and what free bodies would do about them.

    d = σ h M⁻¹ (F − F₀),    ⟨a, b⟩ = aᵀ M b

F loads at a trial x of the change of the mean velocities, F₀ those before, h the step, σ the part of it by which loads
act on the mean velocities. What the mechanism does about them, y, is d without what joints take of it: a projection in
this metric, so that ⟨y, y⟩ ≤ ⟨d, d⟩. Sums go over blocks of bodies and then over the blocks, in a fixed order.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate_back
from rattleback.maths.spin import angular_velocity
from rattleback.model.model import Bodies
from rattleback.model.state import Loads, Motion
from rattleback.problem.corrections import FAR, JointStatus, part_of

# Turn of a free body by the loads of a step from which on joints answer to them before it is predicted [rad]: half its
# square is the part of a lever by which the prediction seems to pull the joint apart.
WILD = wp.constant(real(0.01))
# Less than any kinetic energy [J] that is not rounding.
LEAST = wp.constant(real(1e-30))
# Bodies a thread adds up.
BLOCK = wp.constant(64)


@group(axis="bodies")
class Trials:
    """Changes of the mean velocities of the step against its start."""

    velocity: vec3 = field("m/s", "x of the velocity, which forces see")
    spin: vec3 = field("rad/s", "x of the angular velocity, which forces see")
    wanted_velocity: vec3 = field("m/s", "x* of the velocity")
    wanted_spin: vec3 = field("rad/s", "x* of the angular velocity")
    last_velocity: vec3 = field("m/s", "x of the velocity in the round before")
    last_spin: vec3 = field("rad/s", "x of the angular velocity in the round before")
    rest_velocity: vec3 = field("m/s", "ρ of the velocity in the round before")
    rest_spin: vec3 = field("rad/s", "ρ of the angular velocity in the round before")
    changing: real = field("m/s or rad/s", "largest of r by the last correction", axis="worlds")
    share: real = field("1", "part of the way to x* that is tried first", axis="worlds")
    even: wp.int32 = field("1", "1 where all forces of the step see the same velocities", axis="worlds")


@group(axis="worlds")
class IterationStatus:
    """Status of the iteration of each world."""

    careful: wp.int32 = field("1", "1 where joints answer at once")
    busy: wp.int32 = field("1", "1 while it is not done")
    count: wp.int32 = field("1", "rounds done")
    part: real = field("1", "θ")
    reference: real = field("J", "⟨r, r⟩")
    answer: real = field("m/s or rad/s", "largest change of a velocity of a free body by that of the loads")
    first: real = field("J", "sums of a block: ⟨d, d⟩ or ⟨ρ, ρ⟩", axis="blocks")
    second: real = field("J", "⟨r, r⟩ or ⟨Δx, Δρ⟩", axis="blocks")
    third: real = field("J", "⟨Δρ, Δρ⟩", axis="blocks")
    any_careful: wp.int32 = field("1", "1 when any world is careful", axis="flags")
    any_busy: wp.int32 = field("1", "1 when any world is busy", axis="flags")


@wp.struct
class Change:
    """A change of the loads, F₀ to F, and of the velocities: d, y or ρ."""

    known: Loads
    loads: Loads
    motion: Motion


@wp.struct
class Held:
    """The bodies that have joints, as many in every world, the blocks they are added up in, and σ."""

    row: wp.array[wp.int32]
    each: wp.int32
    blocks: wp.int32
    part: real


@wp.func
def product(bodies: Bodies, motion: Motion, i: int, first: vec3, spin: vec3, second: vec3, other: vec3) -> real:
    """⟨a, b⟩ of one body, of each its velocity first."""
    q = motion.orientation[i]
    turned = wp.dot(rotate_back(q, spin), bodies.inertia[i] * rotate_back(q, other))
    return bodies.mass[i] * wp.dot(first, second) + turned


@wp.func
def answer_freely(bodies: Bodies, motion: Motion, change: Change, h: real, i: int) -> None:
    """D = σ h M⁻¹ (F − F₀), the response of a free body; ``h`` is σ h."""
    change.motion.velocity[i] = h * bodies.inverse_mass[i] * (change.loads.force[i] - change.known.force[i])
    torque = change.loads.torque[i] - change.known.torque[i]
    change.motion.angular_velocity[i] = angular_velocity(motion.orientation[i], h * torque, bodies.inverse_inertia[i])


@kernel
def begin_bodies(trials: Trials, known: Loads, held: Held, lanes: int) -> None:
    """A step begins: no change of the velocities is known, and no load."""
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        trials.velocity[i] = vec3()
        trials.spin[i] = vec3()
        trials.wanted_velocity[i] = vec3()
        trials.wanted_spin[i] = vec3()
        trials.last_velocity[i] = vec3()
        trials.last_spin[i] = vec3()
        trials.rest_velocity[i] = vec3()
        trials.rest_spin[i] = vec3()
        known.force[i] = vec3()
        known.torque[i] = vec3()


@kernel
def begin_worlds(trials: Trials, iteration: IterationStatus) -> None:
    """No world is known to need care, and r is unknown."""
    w = wp.tid()
    trials.changing[w] = real(0.0)
    trials.share[w] = real(1.0)
    trials.even[w] = 0
    iteration.careful[w] = 0
    iteration.reference[w] = real(0.0)
    iteration.any_careful[0] = 0


@kernel
def try_wanted(
    bodies: Bodies,
    status: JointStatus,
    trials: Trials,
    change: Change,
    iteration: IterationStatus,
    tolerance: real,
    held: Held,
    lanes: int,
) -> None:
    """The present loads become F₀; go to x* first, unless r is small or joints made only a part of a correction."""
    iteration.any_careful[0] = 0
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        w = bodies.world[i]
        iteration.answer[w] = real(0.0)
        change.known.force[i] = change.loads.force[i]
        change.known.torque[i] = change.loads.torque[i]
        if status.busy[w] == 1 and part_of(status, w) == real(1.0) and trials.changing[w] > tolerance:
            v = trials.velocity[i]
            s = trials.spin[i]
            dv = trials.wanted_velocity[i] - v
            ds = trials.wanted_spin[i] - s
            trials.last_velocity[i] = v
            trials.last_spin[i] = s
            trials.rest_velocity[i] = dv
            trials.rest_spin[i] = ds
            trials.velocity[i] = v + trials.share[w] * dv
            trials.spin[i] = s + trials.share[w] * ds


@kernel
def find_wild(
    bodies: Bodies,
    before: Motion,
    status: JointStatus,
    trials: Trials,
    change: Change,
    iteration: IterationStatus,
    held: Held,
    lanes: int,
) -> None:
    """A world needs care where the loads of a step would rotate a free body far."""
    for k in range(wp.tid(), held.row.shape[0], lanes):
        i = held.row[k]
        w = bodies.world[i]
        h = status.time_step[w]
        answer_freely(bodies, before, change, held.part * h, i)
        if h * wp.length(change.motion.angular_velocity[i]) > WILD and status.limited[w] == 0:
            trials.even[w] = 1
            iteration.careful[w] = 1
            iteration.any_careful[0] = 1


@kernel
def weigh(
    bodies: Bodies,
    before: Motion,
    status: JointStatus,
    trials: Trials,
    change: Change,
    iteration: IterationStatus,
    held: Held,
) -> None:
    """Response of free bodies to the change of the loads; ⟨d, d⟩ and ⟨r, r⟩ of a block."""
    t = wp.tid()
    world = t // held.blocks
    k = (t % held.blocks) * BLOCK
    far = real(0.0)
    way = real(0.0)
    largest = real(0.0)
    h = held.part * status.time_step[world]
    for e in range(k, wp.min(k + BLOCK, int(held.each))):
        i = held.row[world * held.each + e]
        answer_freely(bodies, before, change, h, i)
        v = change.motion.velocity[i]
        s = change.motion.angular_velocity[i]
        largest = wp.max(largest, wp.max(wp.length(v), wp.length(s)))
        far += product(bodies, before, i, v, s, v, s)
        v = trials.rest_velocity[i]
        s = trials.rest_spin[i]
        way += product(bodies, before, i, v, s, v, s)
    iteration.first[t] = far
    iteration.second[t] = way
    wp.atomic_max(iteration.answer, world, wp.min(largest, FAR))


@wp.func
def ratio_of_answer(iteration: IterationStatus, w: int, blocks: int) -> real:
    """⟨d, d⟩ / ⟨r, r⟩ of a world."""
    far = real(0.0)
    way = real(0.0)
    for b in range(w * blocks, w * blocks + blocks):
        far += iteration.first[b]
        way += iteration.second[b]
    iteration.reference[w] = way
    return far / wp.max(way, LEAST)
