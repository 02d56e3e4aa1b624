"""Trees under loads that depend on the motion: where the bodies are in the middle of the step, and what loads change.

    middle motion → loads L(U) → U ← U + θ (L(U) − U) → mean rates → middle motion …   until U changes them no more
    θ ← −θ r·(r′ − r)/|r′ − r|²,   r = L(U) − U of the round before, r′ of this one

U loads that the mean rates are found with. θ is one at first, and less where dampers are strong for the step, which
would else make each round overshoot.

Cost: an evaluation of the forces and a factorisation for each round; two or three where forces are soft for the step.

Reference: Aitken's method for vectors; Irons, Tuck, A version of the Aitken accelerator for computer iteration, 1969.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import UNSETTLED, Diagnostics
from rattleback.reduced.midpoint import placing
from rattleback.reduced.midpoint.drives import begin_drives
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.sweeps import is_single, set_subspace
from rattleback.reduced.midpoint.tree_step import SETTLED, Goal, put, set_velocities, settled

# Most evaluations of the forces in a step.
MOST = wp.constant(40)
# The least and the largest θ.
LEAST_PART, MOST_PART = wp.constant(real(0.01)), wp.constant(real(2.0))


@group(axis="worlds")
class Rounds:
    """How the loads of a step go."""

    busy: wp.int32 = field("1", "1 while loads change the mean rates of the world")
    count: wp.int32 = field("1", "evaluations of its forces so far")
    part: real = field("1", "θ of the world")
    left: real = field("rad/s or m/s", "change of its mean rates by the last round")
    any_busy: wp.int32 = field("1", "1 while those of any world", axis="flags")


@kernel
def begin_rounds(trees: Trees, start: Motion, clock: Clock, rounds: Rounds) -> None:
    """A step begins: coordinates and rates of the trees of a world."""
    w = wp.tid()
    for link in range(int(trees.count)):
        placing.take(trees, start, link, w)
    trees.predicted.known[w] = 0
    begin_drives(trees, w, real(clock.time_step[w]))
    rounds.busy[w] = 1
    rounds.count[w] = 0
    rounds.part[w] = real(1.0)
    rounds.any_busy[0] = 1


@kernel
def forget_rates(trees: Trees) -> None:
    """A step begins: nothing is known of the rates of a world."""
    trees.predicted.known[wp.tid()] = 0


@kernel
def place_loose(bodies: Bodies, start: Motion, end: Motion, middle: Motion) -> None:
    """The middle of the step of a body, half way between its ends."""
    i = wp.tid()
    half = real(0.5)
    a = start.orientation[i]
    b = end.orientation[i]
    if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < real(0.0):
        b = -b
    middle.position[i] = half * (start.position[i] + end.position[i])
    middle.orientation[i] = wp.normalize(quat(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]))
    middle.velocity[i] = half * (start.velocity[i] + end.velocity[i])
    middle.angular_velocity[i] = half * (start.angular_velocity[i] + end.angular_velocity[i])


@kernel
def place_middle(trees: Trees, clock: Clock, middle: Motion, rounds: Rounds) -> None:
    """The middle of the step of the trees of a world, by their mean rates."""
    w = wp.tid()
    rounds.any_busy[0] = 0
    if rounds.busy[w] == 1:
        h = real(clock.time_step[w])
        for link in range(int(trees.count)):
            k = w * int(trees.count) + link
            placing.move(trees, link, w, h, 0)
            if is_single(trees.links.kind[link]):
                set_subspace(trees, link, k)
            set_velocities(trees, link, k, h)
            put(trees, link, w, middle)


@wp.func
def next_part(used: Loads, missing: Loads, found: Loads, part: real, first: int, count: int) -> real:
    """θ of the next round, of the bodies of a world."""
    along = real(0.0)
    square = real(0.0)
    for i in range(first, first + count):
        r = missing.force[i]
        more = found.force[i] - used.force[i] - r
        along += wp.dot(r, more)
        square += wp.dot(more, more)
        r = missing.torque[i]
        more = found.torque[i] - used.torque[i] - r
        along += wp.dot(r, more)
        square += wp.dot(more, more)
    if square == real(0.0):
        return part
    return wp.clamp(-part * along / square, LEAST_PART, MOST_PART)


@kernel
def blend(used: Loads, missing: Loads, loads: Loads, rounds: Rounds, count: int) -> None:
    """The loads with which the mean rates of a world are found; those of a world that is done stay."""
    w = wp.tid()
    if rounds.busy[w] == 1 and rounds.count[w] > 1:
        rounds.part[w] = next_part(used, missing, loads, rounds.part[w], w * count, count)
    for i in range(w * count, w * count + count):
        if rounds.busy[w] == 1:
            if rounds.count[w] == 0:
                used.force[i] = loads.force[i]
                used.torque[i] = loads.torque[i]
            missing.force[i] = loads.force[i] - used.force[i]
            missing.torque[i] = loads.torque[i] - used.torque[i]
            used.force[i] = used.force[i] + rounds.part[w] * missing.force[i]
            used.torque[i] = used.torque[i] + rounds.part[w] * missing.torque[i]
        loads.force[i] = used.force[i]
        loads.torque[i] = used.torque[i]


@kernel
def settle(trees: Trees, clock: Clock, loads: Loads, goal: Goal, rounds: Rounds) -> None:
    """The mean rates under the loads of the middle; the world is done where these have changed little."""
    w = wp.tid()
    if rounds.busy[w] == 1:
        known = wp.where(trees.driven == 1, 0, trees.predicted.known[w])
        first, _left, _count = settled(trees, loads, w, real(clock.time_step[w]), goal, known)
        trees.predicted.known[w] = SETTLED
        rounds.count[w] = rounds.count[w] + 1
        rounds.left[w] = first / wp.min(rounds.part[w], real(1.0))
        if rounds.left[w] <= goal.tolerance or rounds.count[w] >= MOST:
            rounds.busy[w] = 0
        else:
            rounds.any_busy[0] = 1


@kernel
def note_unsettled(trees: Trees, goal: Goal, rounds: Rounds, diagnostics: Diagnostics) -> None:
    """Loads that have not settled are said with the prediction."""
    w = wp.tid()
    if not (rounds.left[w] <= goal.tolerance):
        i = w * int(trees.body_count) + trees.links.body[int(trees.count) - 1]
        diagnostics.integration_error[i] = rounds.left[w]
        diagnostics.trouble[i] = UNSETTLED
