"""Friction of the joints of trees: each freedom ends a step at rest, or is braked by all the friction that it has.

    v₁ = 0 and |τ| ≤ f,   or   τ = −f sgn v₁,      v₁ = 2 v̄ − v₀,   τ = τ_r + p/h

f friction of the joint, τ what it exerts on the coordinate over the step, p its part that answers to impulses on bodies
at the start of it, see ``holding``, τ_r the rest; v₀, v̄, v₁ rates at the start, their mean and at the end.

    held       the rate at the end is given: v̄ ← v₀/2; its parent has the whole inertia; τ_r is what is left
    braked     τ_r = −f s − p/h, s the sign of the rate
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
def begin_grip(trees: Trees, link: int, k: int, tolerance: real) -> None:
    """How friction acts on a freedom, by its rate at the end of the step as it is so far."""
    step = trees.step
    step.grip[k] = 0
    if trees.links.friction[k] > real(0.0):
        rate = real(2.0) * step.mean_spin[k][0] - step.spin[k][0]
        step.grip[k] = wp.where(wp.abs(rate) <= tolerance, HELD, wp.where(rate > real(0.0), 1, -1))


@wp.func
def end_at_rest(trees: Trees, k: int, h: real) -> None:
    """The change of the acceleration with which a freedom that is held ends a step at rest."""
    step = trees.step
    step.rest[k] = real(2.0) / h * (real(0.5) * step.spin[k][0] - step.mean_spin[k][0])


@wp.func
def pull(trees: Trees, link: int, k: int) -> real:
    """The friction on a freedom that is braked."""
    grip = trees.step.grip[k]
    if grip == HELD or grip == 0:
        return real(0.0)
    return -real(grip) * trees.links.friction[k] - trees.servos.held[k]


@wp.func
def grip_after(trees: Trees, link: int, k: int) -> int:
    """How friction is to act after a round, whose rates are there."""
    step = trees.step
    grip = step.grip[k]
    if grip == HELD:
        total = step.relieved[k] - trees.servos.held[k]
        if wp.abs(total) <= trees.links.friction[k]:
            return HELD
        return wp.where(total > real(0.0), 1, -1)
    end = real(2.0) * step.mean_spin[k][0] - step.spin[k][0]
    return wp.where(real(grip) * end < real(0.0), HELD, grip)
