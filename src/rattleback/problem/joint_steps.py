"""What steps along conjugate directions of something else mean for what joints have done.

    x ← x₀ + a (x − x₀) + b d

x impulses of joints and stops, x₀ before the last answers, d the last step, a and b as chosen by the caller.
The velocities of the bodies follow the same rule elsewhere, so that both stay in step.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.state import Motion
from rattleback.problem.corrections import Reactions
from rattleback.problem.joint_limits import StopRows, Stops
from rattleback.problem.joint_rows import Joints, row_velocity
from rattleback.problem.one_sided_rows import StopGroups


@group(axis="joints")
class Steps:
    """What joints had done before the last step along conjugate directions, and by that step."""

    impulse: vec3 = field("N s", "impulse on B so far")
    couple: vec3 = field("N m s", "angular impulse on B so far")
    impulse_step: vec3 = field("N s", "by the last step")
    couple_step: vec3 = field("N m s", "by the last step")
    impulse_aside: vec3 = field("N s", "what the last answers made of it")
    couple_aside: vec3 = field("N m s", "what the last answers made of it")
    total: real = field("N s or N m s", "impulse of a stop so far", axis="stops")
    total_aside: real = field("N s or N m s", "what the last answers made of it", axis="stops")
    total_step: real = field("N s or N m s", "by the last step", axis="stops")
    rate: real = field("m/s or rad/s", "rate of its row before the last answers", axis="stops")
    swept_rate: real = field("m/s or rad/s", "the same after them", axis="stops")


@kernel
def begin_steps(joints: Joints, reactions: Reactions, steps: Steps, which: wp.array[wp.int32]) -> None:
    """No step has been made in the worlds that are wanted."""
    j = wp.tid()
    if which[joints.world[j]] == 1:
        steps.impulse[j] = reactions.impulse[j]
        steps.couple[j] = reactions.couple[j]
        steps.impulse_step[j] = vec3()
        steps.couple_step[j] = vec3()


@kernel
def begin_totals(joints: Joints, stops: Stops, steps: Steps, which: wp.array[wp.int32]) -> None:
    """The same for stops."""
    s = wp.tid()
    if which[joints.world[stops.joint[s]]] == 1:
        steps.total[s] = stops.total[s]
        steps.total_step[s] = real(0.0)


@wp.func
def objective(stops: Stops, s: int, before: real, after: real, x0: real, x1: real) -> real:
    """What a change of the impulse of a stop adds to the objective, from its rates before and after."""
    bound = wp.where(before + after > real(0.0), stops.low[s], stops.high[s])
    return wp.where(before == after, real(0.0), (after - before) * (real(0.5) * (x0 + x1) - bound))


@kernel
def note_rates(system: StopRows, motion: Motion, steps: Steps, swept: int) -> None:
    """The rates of the row of a stop before answers, or after them."""
    s = wp.tid()
    rate = row_velocity(system.joints, system.rows, motion, system.stops.joint[s], system.stops.row[s])
    if swept == 1:
        steps.swept_rate[s] = rate
    else:
        steps.rate[s] = rate


@kernel
def add_gain(system: StopRows, groups: StopGroups, motion: Motion, steps: Steps, gain: wp.array[real]) -> None:
    """How much more the stops of all mechanisms of a world lower the objective by a step than by the last answers."""
    w = wp.tid()
    each = groups.first.shape[0] // gain.shape[0]
    for g in range(w * each, (w + 1) * each):
        for s in range(groups.first[g], groups.first[g] + groups.count[g]):
            x = row_velocity(system.joints, system.rows, motion, system.stops.joint[s], system.stops.row[s])
            x0 = steps.rate[s]
            swept = objective(system.stops, s, steps.total[s], steps.total_aside[s], x0, steps.swept_rate[s])
            gain[w] = gain[w] + swept - objective(system.stops, s, steps.total[s], system.stops.total[s], x0, x)


@kernel
def try_step(
    joints: Joints,
    reactions: Reactions,
    steps: Steps,
    tries: wp.array[wp.int32],
    part_z: wp.array[real],
    part_d: wp.array[real],
) -> None:
    """A joint does what the step says; what the answers had it do is put aside."""
    j = wp.tid()
    w = joints.world[j]
    p = reactions.impulse[j]
    c = reactions.couple[j]
    steps.impulse_aside[j] = p
    steps.couple_aside[j] = c
    if tries[w] == 1:
        p = steps.impulse[j] + part_z[w] * (p - steps.impulse[j]) + part_d[w] * steps.impulse_step[j]
        c = steps.couple[j] + part_z[w] * (c - steps.couple[j]) + part_d[w] * steps.couple_step[j]
        reactions.impulse[j] = p
        reactions.couple[j] = c


@kernel
def try_total(
    joints: Joints,
    stops: Stops,
    steps: Steps,
    tries: wp.array[wp.int32],
    part_z: wp.array[real],
    part_d: wp.array[real],
) -> None:
    """The same for a stop."""
    s = wp.tid()
    w = joints.world[stops.joint[s]]
    p = stops.total[s]
    steps.total_aside[s] = p
    if tries[w] == 1:
        stops.total[s] = steps.total[s] + part_z[w] * (p - steps.total[s]) + part_d[w] * steps.total_step[s]


@kernel
def settle_step(
    joints: Joints, reactions: Reactions, steps: Steps, busy: wp.array[wp.int32], keeps: wp.array[wp.int32]
) -> None:
    """The step is kept, or what was put aside comes back."""
    j = wp.tid()
    w = joints.world[j]
    if busy[w] == 0:
        return
    if keeps[w] == 0:
        reactions.impulse[j] = steps.impulse_aside[j]
        reactions.couple[j] = steps.couple_aside[j]
    steps.impulse_step[j] = reactions.impulse[j] - steps.impulse[j]
    steps.couple_step[j] = reactions.couple[j] - steps.couple[j]
    steps.impulse[j] = reactions.impulse[j]
    steps.couple[j] = reactions.couple[j]


@kernel
def settle_total(
    joints: Joints, stops: Stops, steps: Steps, busy: wp.array[wp.int32], keeps: wp.array[wp.int32]
) -> None:
    """The same for a stop."""
    s = wp.tid()
    w = joints.world[stops.joint[s]]
    if busy[w] == 0:
        return
    if keeps[w] == 0:
        stops.total[s] = steps.total_aside[s]
    steps.total_step[s] = stops.total[s] - steps.total[s]
    steps.total[s] = stops.total[s]
