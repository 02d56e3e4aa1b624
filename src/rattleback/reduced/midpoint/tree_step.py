"""The implicit midpoint rule in the coordinates of trees: one step of every tree of a world.

    q½ = q₀ ∘ h/2 v̄,   M(q½) (v₁ − v₀)/h + c(q½, v̄) = τ½,   v̄ = (v₀ + v₁)/2,   q₁ = q₀ ∘ h v̄

q coordinates, v their rates, v̄ the mean over the step, M mass matrix with armature, c Coriolis and centrifugal forces,
τ½ the loads in the middle of the step.

    take q₀, v₀ from the poses and velocities of the bodies;  v̄ = v₀
    what v̄ falls short of, by recursive Newton–Euler; its change, by articulated inertias factored once; until settled
    poses from q₁, velocities from v₁ = 2 v̄ − v₀
Second order, symmetric, stable at any step for what is linear. Joints hold to rounding, as poses come from coordinates.
Cost: O(n) for each of two or three rounds.

Reference: Featherstone, Rigid Body Dynamics Algorithms, §5.3 and §7.3; Hairer, Lubich, Wanner, Geometric Numerical
Integration, II.1.4.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Diagnostics
from rattleback.reduced.midpoint.balance import balance, want_momentum
from rattleback.reduced.midpoint.drives import begin_drives, begin_rounds_of, changes_over, drives_go_on
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.placing import BALL_LINK, FREE_LINK, go_on, move, take
from rattleback.reduced.midpoint.sweeps import (
    begin_rates,
    change,
    factor,
    gather,
    is_single,
    set_inertia,
    set_missing,
    set_rates,
    set_subspace,
    stiffen,
)
from rattleback.reduced.midpoint.tree_gains import guess, left_of

# A step whose rounds leave more than this of a change is stiff.
SLOW = wp.constant(real(0.25))
# In how many parts a step is done that does not settle, and each of these again; the most parts.
PARTS, MOST_PARTS = wp.constant(4), wp.constant(64)
# The most that a round is taken to leave of the change before it.
WORST_RATIO = wp.constant(real(0.9))


# What is known of the rates of a world in a step: those at its end and start, the mean ones, or that nothing is new.
PREDICTED, SETTLED, SAME = (wp.constant(k) for k in (1, 2, 3))


@wp.struct
class Goal:
    """When a step is settled: the error of the rates that may be left, and the most rounds.

    Where ``again`` is 1, a step may be predicted more than once, from other velocities.
    """

    tolerance: real
    most: wp.int32
    again: wp.int32


@wp.func
def worse_of(a: real, b: real) -> real:
    """The larger of two; what is no number is worse than any."""
    if b > a or b != b:
        return b
    return a


@wp.struct
class Round:
    """How a round goes: whether the factor is kept (0), made anew (1) or with stiffness (2); the part of the change."""

    afresh: wp.int32
    part: real


@wp.func
def round_of(trees: Trees, loads: Loads, w: int, h: real, how: Round) -> real:
    """One round: what the mean rates fall short of, and a part of the change that mends it; the size of the whole."""
    afresh = int(how.afresh)
    count = int(trees.count)
    for link in range(count):
        k = w * count + link
        move(trees, link, w, h, 0)
        if is_single(trees.links.kind[link]):
            set_subspace(trees, link, k)
        set_rates(trees, link, k, h)
        if afresh > 0:
            set_inertia(trees, link, k)
        if afresh == 2:
            stiffen(trees, link, k, h)
        set_missing(trees, loads, link, k, w, h)
    for m in range(count):
        link = count - 1 - m
        if afresh > 0:
            factor(trees, link, w * count + link)
        gather(trees, link, w * count + link)
    largest = real(0.0)
    for link in range(count):
        largest = worse_of(largest, change(trees, link, w * count + link, real(0.5) * h * how.part))
    return largest / how.part


@wp.func
def set_velocities(trees: Trees, link: int, k: int, h: real) -> None:
    """Velocities of a link at its rates."""
    step = trees.step
    kind = trees.links.kind[link]
    w, v, _alpha, _a = begin_rates(trees, link, k, h)
    if is_single(kind):
        rate = step.mean_spin[k][0]
        w += rate * step.s_turn[k]
        v += rate * step.s_way[k]
    elif kind == BALL_LINK:
        turn = step.frame[k] * step.mean_spin[k]
        w += turn
        v += wp.cross(step.x[k], turn)
    elif kind == FREE_LINK:
        w = step.frame[k] * step.mean_spin[k]
        v = step.mean_drift[k] + wp.cross(step.x[k], w)
    step.spinning[k] = w
    step.drifting[k] = v


@wp.func
def put(trees: Trees, link: int, w: int, end: Motion) -> None:
    """The motion of the body that a link ends in."""
    step = trees.step
    k = w * int(trees.count) + link
    if trees.links.body[link] >= 0:
        i = w * int(trees.body_count) + trees.links.body[link]
        c = step.x[k] + step.frame[k] * trees.links.body_way[k]
        end.position[i] = step.origin[k - link + trees.links.root[link]] + c
        end.orientation[i] = wp.normalize(step.q[k] * trees.links.body_turn[k])
        end.velocity[i] = step.drifting[k] + wp.cross(step.spinning[k], c)
        end.angular_velocity[i] = step.spinning[k]


@wp.func
def finish(trees: Trees, w: int, h: real, end: Motion) -> None:
    """The end of the step: poses by the mean rates, velocities by those at the end."""
    step = trees.step
    count = int(trees.count)
    for link in range(count):
        k = w * count + link
        move(trees, link, w, h, 1)
        step.mean_spin[k] = real(2.0) * step.mean_spin[k] - step.spin[k]
        step.mean_drift[k] = real(2.0) * step.mean_drift[k] - step.drift[k]
        if is_single(trees.links.kind[link]):
            set_subspace(trees, link, k)
        set_velocities(trees, link, k, real(2.0) * h)
        put(trees, link, w, end)


@wp.func
def go_back(trees: Trees, w: int, count: int) -> None:
    """The mean rates of the first links, of those at the end of the step."""
    step = trees.step
    for k in range(w * int(trees.count), w * int(trees.count) + count):
        step.mean_spin[k] = real(0.5) * (step.mean_spin[k] + step.spin[k])
        step.mean_drift[k] = real(0.5) * (step.mean_drift[k] + step.drift[k])


@wp.func
def take_on(trees: Trees, start: Motion, w: int, h: real) -> int:
    """Coordinates and rates of a world; where its step was predicted before, mean rates that gain as much as then.

    Returns what is known of the rates: nothing; those of a prediction, whose factor is good enough for another; or
    all, where the step starts as it did then.
    """
    step = trees.step
    known = wp.where(trees.driven == 1, 0, trees.predicted.known[w])
    if known == 0:
        for link in range(int(trees.count)):
            take(trees, start, link, w)
            if trees.guesses == 1:
                guess(trees, link, w)
        return 0
    part = wp.where(known == PREDICTED, real(0.5), real(1.0))
    same = known == PREDICTED and trees.predicted.length[w] == h
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        spin = step.spin[k]
        drift = step.drift[k]
        mean_spin = step.mean_spin[k]
        mean_drift = step.mean_drift[k]
        take(trees, start, link, w)
        if same and step.spin[k] == spin and step.drift[k] == drift:
            step.mean_spin[k] = mean_spin
            step.mean_drift[k] = mean_drift
        else:
            if same:
                same = False
                go_back(trees, w, link)
            step.mean_spin[k] = step.mean_spin[k] + part * (mean_spin - spin)
            step.mean_drift[k] = step.mean_drift[k] + part * (mean_drift - drift)
    return wp.where(same, SAME, known)


@wp.func
def settled(trees: Trees, loads: Loads, w: int, h: real, goal: Goal, known: int) -> tuple[real, real, int]:
    """Rounds until the mean rates are settled; the change of the first, what is left by estimate, and their number.

    A change within the tolerance was the error of the rates before it: there is no need for another round.
    """
    how = Round()
    how.afresh = wp.where(known > 0, 0, 1)
    how.part = real(1.0)
    begin_rounds_of(trees, w, h, goal.tolerance)
    first = round_of(trees, loads, w, h, how)
    left = first
    rounds = int(1)
    ratio = real(0.0)
    changed = changes_over(trees, w)
    remains = wp.where(left <= goal.tolerance, left, left_of(trees, w, left))
    while rounds < int(goal.most) and (changed or not remains <= goal.tolerance):
        before = left
        how.afresh = wp.where(ratio > SLOW and rounds % 2 == 0, 2, wp.where(changed, 1, 0))
        left = round_of(trees, loads, w, h, how)
        if rounds > 4:
            how.part = wp.where(left > before, real(0.5), wp.min(real(2.0) * how.part, real(1.0)))
        ratio = wp.where(before > real(0.0), wp.min(left / before, WORST_RATIO), real(0.0))
        rounds += 1
        remains = left * ratio / (real(1.0) - ratio)
        changed = changes_over(trees, w)
    trees.predicted.ratio[w] = ratio
    if changed:
        remains = worse_of(left, real(2.0) * goal.tolerance)
    return first, remains, rounds


@kernel
def step_trees(
    trees: Trees, start: Motion, loads: Loads, clock: Clock, goal: Goal, end: Motion, diagnostics: Diagnostics
) -> None:
    """One step of the trees of a world."""
    w = wp.tid()
    h = real(clock.time_step[w])
    count = int(trees.count)
    known = take_on(trees, start, w, h)
    i = w * int(trees.body_count) + trees.links.body[count - 1]
    if known == SAME:
        diagnostics.integration_error[i] = trees.predicted.left[w]
        diagnostics.iterations[i] = trees.predicted.rounds[w]
        diagnostics.trouble[i] = wp.where(trees.predicted.left[w] <= goal.tolerance, 0, 1)
        return
    begin_drives(trees, w, h)
    _first, left, rounds = settled(trees, loads, w, h, goal, known)
    parts = int(1)
    if not (left <= goal.tolerance):
        parts = int(PARTS)
        while parts <= MOST_PARTS and not (left <= goal.tolerance):
            for link in range(count):
                take(trees, start, link, w)
            h = real(clock.time_step[w])
            begin_drives(trees, w, h)
            h = h / real(parts)
            left = real(0.0)
            for part in range(parts):
                if part > 0:
                    drives_go_on(trees, w)
                    for link in range(count):
                        go_on(trees, link, w, h)
                _first, remains, more = settled(trees, loads, w, h, goal, 0)
                left = worse_of(left, remains)
                rounds += more
            parts *= PARTS
    for link in range(int(trees.first_floating), count):
        if trees.links.kind[link] == FREE_LINK:
            want_momentum(trees, start, loads, link, w, real(clock.time_step[w]))
    finish(trees, w, h, end)
    for link in range(int(trees.first_floating), count):
        if trees.links.kind[link] == FREE_LINK:
            balance(trees, end, link, w)
    trees.predicted.known[w] = wp.where(goal.again == 1 and parts == 1, PREDICTED, 0)
    trees.predicted.length[w] = real(clock.time_step[w])
    trees.predicted.left[w] = left
    trees.predicted.rounds[w] = rounds
    diagnostics.integration_error[i] = left
    diagnostics.iterations[i] = rounds
    diagnostics.trouble[i] = wp.where(left <= goal.tolerance, 0, 1)
