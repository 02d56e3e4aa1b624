"""Friction of the joints of trees: each freedom ends a step at rest, or is braked by all the friction that it has.

    v₁ = 0 and |τ| ≤ f,   or   τ = −f sgn v₁,      v₁ = 2 v̄ − v₀

f friction of the joint, τ what it exerts on the coordinate, v₀, v̄, v₁ rates at the start, their mean and at the end.

    held       the rate at the end is given: v̄ ← v₀/2; its parent has the whole inertia; τ is what is left
    braked     τ = −f s, s the sign of the rate
    after a round   held and |τ| > f: braked, s = −sgn τ;   braked and s v₁ < 0: held;   and where any changes, one more
What rests stays at rest, to rounding. While it slides, friction is exact; where it stops within a step it is of second
order. Cost: a factorisation for each round in which a freedom changes over.

Reference: Featherstone, Rigid Body Dynamics Algorithms, §9.2 (given accelerations); Hintermüller, Ito, Kunisch, The
primal-dual active set strategy as a semismooth Newton method, SIAM J. Optim. 13, 2002.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.reduced.midpoint.links import HELD, Trees


@wp.func
def begin_grip(trees: Trees, w: int, tolerance: real) -> None:
    """How friction acts on the freedoms of a world, by their rates at the end of the step as they are so far."""
    step = trees.step
    if trees.driven == 0:
        return
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        step.grip[k] = 0
        if trees.links.friction[link] > real(0.0):
            rate = real(2.0) * step.mean_spin[k][0] - step.spin[k][0]
            step.grip[k] = wp.where(wp.abs(rate) <= tolerance, HELD, wp.where(rate > real(0.0), 1, -1))
        step.grip_next[k] = step.grip[k]


@wp.func
def end_at_rest(trees: Trees, k: int, h: real) -> None:
    """The change of the acceleration with which a freedom that is held ends a step at rest."""
    step = trees.step
    step.rest[k] = real(2.0) / h * (real(0.5) * step.spin[k][0] - step.mean_spin[k][0])


@wp.func
def pull(trees: Trees, link: int, k: int) -> real:
    """The friction on a freedom that is braked."""
    grip = trees.step.grip[k]
    return wp.where(grip == HELD, real(0.0), -real(grip) * trees.links.friction[link])


@wp.func
def grip_after(trees: Trees, link: int, k: int, left: real) -> int:
    """How friction is to act after a round; ``left`` is the force of which what is held is relieved."""
    step = trees.step
    grip = step.grip[k]
    if grip == HELD:
        if wp.abs(left) <= trees.links.friction[link]:
            return HELD
        return wp.where(left > real(0.0), 1, -1)
    end = real(2.0) * step.mean_spin[k][0] - step.spin[k][0]
    return wp.where(real(grip) * end < real(0.0), HELD, grip)


@wp.func
def changes_over(trees: Trees, w: int) -> bool:
    """Take over how friction is to act on the freedoms of a world; whether any of them changes."""
    step = trees.step
    found = bool(False)
    if trees.driven == 0:
        return found
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        if step.grip_next[k] != step.grip[k]:
            step.grip[k] = step.grip_next[k]
            found = True
    return found
