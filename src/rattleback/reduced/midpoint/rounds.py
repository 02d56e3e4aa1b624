"""Trees under loads that depend on the motion: where the bodies are in the middle of the step, and what loads change.

    middle motion → loads → mean rates → middle motion …   until the loads change the mean rates no more

Cost: an evaluation of the forces and a factorisation for each round; two or three where forces are soft for the step.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.reduced.midpoint import placing
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.sweeps import is_single, set_subspace
from rattleback.reduced.midpoint.tree_step import Goal, put, set_velocities, settled

# Most evaluations of the forces in a step.
MOST = wp.constant(40)


@group(axis="worlds")
class Rounds:
    """How the loads of a step go."""

    busy: wp.int32 = field("1", "1 while loads change the mean rates of the world")
    count: wp.int32 = field("1", "evaluations of its forces so far")
    any_busy: wp.int32 = field("1", "1 while those of any world", axis="flags")


@kernel
def begin_rounds(trees: Trees, start: Motion, rounds: Rounds) -> None:
    """A step begins: coordinates and rates of the trees of a world."""
    w = wp.tid()
    for link in range(int(trees.count)):
        placing.take(trees, start, link, w)
    rounds.busy[w] = 1
    rounds.count[w] = 0
    rounds.any_busy[0] = 1


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


@kernel
def settle(trees: Trees, clock: Clock, loads: Loads, goal: Goal, rounds: Rounds) -> None:
    """The mean rates under the loads of the middle; the world is done where these have changed little."""
    w = wp.tid()
    if rounds.busy[w] == 1:
        first, _left, _count = settled(trees, loads, w, real(clock.time_step[w]), goal)
        rounds.count[w] = rounds.count[w] + 1
        if first <= goal.tolerance or rounds.count[w] >= MOST:
            rounds.busy[w] = 0
        else:
            rounds.any_busy[0] = 1
