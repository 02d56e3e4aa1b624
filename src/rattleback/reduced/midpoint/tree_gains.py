"""The first guess of the mean rates of a step: they gain as much as in the last step, and as much more as then.

    v̄ = v₀ + g + r,    g = (v₁ − v₀)/2 of the last step,   r = g less that of the step before

v₀, v₁, v̄ rates at the start and the end of a step, and their mean. Where loads change smoothly the guess is of third
order, and one round is enough where there would be two: a change within the tolerance was the error of the guess, and
of a larger one a round leaves no more than ten times the part that rounds left when there last were two. The gains are
part of the state, so copies go on bit for bit.

Cost: a pass over the links. Reference: extrapolation of starting values, Hairer, Wanner, Solving Ordinary Differential
Equations II, IV.8.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.placing import BALL_LINK, FIRST_SLIDE, FREE_LINK, SECOND
from rattleback.reduced.midpoint.sweeps import is_single

# What a round leaves may grow by so much, for so many steps, before it is looked at again.
MARGIN, OLD = wp.constant(real(10.0)), wp.constant(50)


@wp.func
def slot_of(trees: Trees, link: int) -> int:
    """Place of the one freedom of a link among the turns of its joint, or among its slides."""
    role = trees.links.role[link]
    if role >= FIRST_SLIDE:
        return role - FIRST_SLIDE
    return wp.where(role == SECOND, 1, 0)


@wp.func
def guess(trees: Trees, link: int, w: int) -> None:
    """Add what they are likely to gain to the mean rates of a link, which are those of the start."""
    memory = trees.memory
    kind = trees.links.kind[link]
    k = w * int(trees.count) + link
    i = w * int(trees.body_count) + trees.links.bears[link]
    if is_single(kind):
        slot = slot_of(trees, link)
        gain = memory.turn[i][slot] + memory.turn_rise[i][slot]
        if trees.links.role[link] >= FIRST_SLIDE:
            gain = memory.slide[i][slot] + memory.slide_rise[i][slot]
        mean = trees.step.mean_spin[k]
        mean[0] = mean[0] + gain
        trees.step.mean_spin[k] = mean
    elif kind == BALL_LINK or kind == FREE_LINK:
        trees.step.mean_spin[k] = trees.step.mean_spin[k] + memory.turn[i] + memory.turn_rise[i]
        if kind == FREE_LINK:
            trees.step.mean_drift[k] = trees.step.mean_drift[k] + memory.slide[i] + memory.slide_rise[i]


@wp.func
def left_of(trees: Trees, w: int, change: real) -> real:
    """What a first round leaves of a change, by what rounds left lately; all of it where that is long ago."""
    ratio = trees.memory.ratio[w]
    if trees.guesses == 0 or ratio == real(0.0) or trees.memory.age[w] >= OLD:
        return change
    return wp.min(MARGIN * ratio, real(1.0)) * change


@kernel
def remember_gains(trees: Trees, stop: wp.array[wp.int32]) -> None:
    """What the rates of a world have gained in the step that is taken."""
    w = wp.tid()
    if stop[0] != 0:
        return
    step = trees.step
    memory = trees.memory
    half = real(0.5)
    memory.age[w] = memory.age[w] + 1
    if trees.predicted.ratio[w] > real(0.0):
        memory.ratio[w] = trees.predicted.ratio[w]
        memory.age[w] = 0
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        i = w * int(trees.body_count) + trees.links.bears[link]
        kind = trees.links.kind[link]
        if is_single(kind):
            gain = half * (step.mean_spin[k][0] - step.spin[k][0])
            slot = slot_of(trees, link)
            if trees.links.role[link] >= FIRST_SLIDE:
                set_gain(memory.slide, memory.slide_rise, i, slot, gain)
            else:
                set_gain(memory.turn, memory.turn_rise, i, slot, gain)
        elif kind == BALL_LINK or kind == FREE_LINK:
            turn = half * (step.mean_spin[k] - step.spin[k])
            memory.turn_rise[i] = turn - memory.turn[i]
            memory.turn[i] = turn
            if kind == FREE_LINK:
                slide = half * (step.mean_drift[k] - step.drift[k])
                memory.slide_rise[i] = slide - memory.slide[i]
                memory.slide[i] = slide


@wp.func
def set_gain(gains: wp.array[vec3], rises: wp.array[vec3], i: int, slot: int, gain: real) -> None:
    """The gain of one rate."""
    all_gains = gains[i]
    all_rises = rises[i]
    all_rises[slot] = gain - all_gains[slot]
    all_gains[slot] = gain
    gains[i] = all_gains
    rises[i] = all_rises
