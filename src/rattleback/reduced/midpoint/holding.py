"""What friction and servos of the freedoms of trees do to impulses on bodies, such as those of contacts and limits.

    at the start of a step   at rest: v = 0 and |p + h τ_r| ≤ h f          servo: v meets A + h/2 k, q ← q − h/2 k δv
    in the step              τ_r = τ − p/h of friction, u − q/h of a servo: what they did already is no more theirs
    at the end of it         v₁ = 0 and |p| ≤ h f,  or  p = −h f sgn v₁;   v₁ meets A + h K b, |q| ≤ h u_max

v rate of a freedom, p and q impulses of friction and of a servo, at the end all of the step, τ_r as in ``friction``, f
friction, h length of the step, A armature, k what the servo loses per rate, K b what it loses per rate at the end, see
``steering``. So friction gives h f in a step at most, of which impulses at its start, its forces and impulses at its
end share; and the effort of a servo is that of the motion with all impulses in it.

    before impulses    rates of the drives; which freedoms are held, by the last prediction; factor where that changed
    after them         the fit; at the end of a step what is over its limit slips, what would turn about is held; anew
What rows of joints and limits ask for is found with a freedom that yields a little where friction holds it, which
then takes its part: so friction and rows take turns, and neither can contradict the other. Order one where impulses
act, as these are; without them that of the step.
Cost: a factorisation where anything changes over.

Reference: Anitescu, Potra, Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
complementarity problems, 1997 (bounded impulses of a step); Hintermüller, Ito, Kunisch, 2002 (active sets).
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.reduced.midpoint.links import HELD, Trees

# Part of the limit of friction that is rounding, and the rate [rad/s or m/s] that is.
ROUNDING, STILL = wp.constant(real(1e-9)), wp.constant(real(1e-12))


@wp.func
def lent_after(trees: Trees, link: int, k: int) -> real:
    """What the servo of a freedom has done once the last solution is taken."""
    step = trees.step
    kept = step.kept[k]
    return kept[2] - (step.extra[k] - trees.links.armature[k]) * (step.gained[k] - kept[0])


@wp.func
def keep(trees: Trees, link: int, k: int, displaces: bool) -> None:
    """A fit is done: the rate of a drive, and what friction and its servo did; displacements are no impulses."""
    step = trees.step
    kept = step.kept[k]
    if not displaces:
        kept[2] = lent_after(trees, link, k) + step.due_lent[k]
        kept[1] = wp.where(step.grip[k] == HELD, kept[1] - step.relieved[k], kept[1] + step.due[k])
        step.due[k] = real(0.0)
        step.due_lent[k] = real(0.0)
        if trees.servos.on[k] == 1 and step.most_lent[k] >= real(0.0):
            trees.servos.effort[k] = trees.servos.sign[k] * kept[2] / trees.servos.step[k]
    kept[0] = step.gained[k]
    step.kept[k] = kept


@wp.func
def slips(trees: Trees, w: int) -> bool:
    """Whether friction or a servo at the end of a step changes over by the last solution; how it acts from now on."""
    step = trees.step
    found = bool(False)
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        if step.most[k] >= real(0.0) and friction_slips(trees, k):
            found = True
        most = step.most_lent[k]
        if most >= real(0.0) and step.extra[k] > trees.links.armature[k]:
            total = lent_after(trees, link, k)
            if wp.abs(total) > most * (real(1.0) + ROUNDING):
                step.extra[k] = trees.links.armature[k]
                step.due_lent[k] = wp.where(total > real(0.0), most, -most) - step.kept[k][2]
                found = True
    return found


@wp.func
def friction_slips(trees: Trees, k: int) -> bool:
    """The same of the friction of one freedom."""
    step = trees.step
    most = step.most[k]
    done = step.kept[k][1] + step.ahead[k]
    if step.grip[k] == HELD:
        total = done - step.relieved[k]
        if wp.abs(total) <= most * (real(1.0) + ROUNDING):
            return False
        step.grip[k] = 0
        step.due[k] = wp.where(total > real(0.0), most, -most) - done
        return True
    rate = step.gained[k]
    total = done + step.due[k]
    slack = most * (real(1.0) - ROUNDING)
    if (rate > STILL and total > -slack) or (rate < -STILL and total < slack):
        step.grip[k] = HELD
        step.due[k] = real(0.0)
        return True
    return False


@wp.func
def has_servo(trees: Trees, link: int, k: int) -> bool:
    """Whether a servo drives the only freedom of a joint."""
    p = trees.links.parent[link]
    alone = trees.links.body[link] >= 0 and (p < 0 or trees.links.body[wp.max(p, 0)] >= 0)
    return alone and trees.servos.on[k] == 1


@wp.func
def hold_start(trees: Trees, stepped: Trees, k: int, link: int, h: real, tolerance: real) -> bool:
    """How a freedom answers to impulses at the start of a step, by the last prediction; whether that is new."""
    step = trees.step
    held = stepped.step.grip[k] == HELD and wp.abs(step.kept[k][0]) <= tolerance
    grip = wp.where(held, HELD, 0)
    extra = trees.links.armature[k]
    if has_servo(trees, link, k):
        extra += real(0.5) * h * trees.servos.yields[k]
    new = grip != step.grip[k] or extra != step.extra[k]
    step.grip[k] = grip
    step.extra[k] = extra
    step.most[k] = wp.where(held, h * trees.links.friction[k], real(-1.0))
    step.ahead[k] = -h * stepped.step.relieved[k]
    step.most_lent[k] = real(-1.0)
    return new


@wp.func
def hold_end(trees: Trees, stepped: Trees, k: int, link: int, h: real) -> None:
    """How a freedom answers to impulses at the end of a step; what friction and its servo have done in it so far."""
    step = trees.step
    most = trees.links.friction[k] * h
    grip = stepped.step.grip[k]
    kept = step.kept[k]
    step.ahead[k] = real(0.0)
    if grip == HELD:
        step.grip[k] = HELD
        kept[1] = kept[1] - h * stepped.step.relieved[k]
    elif grip != 0:
        kept[1] = -real(grip) * most
    if grip != 0:
        step.most[k] = most
    servos = trees.servos
    if has_servo(trees, link, k):
        kept[2] = h * servos.sign[k] * servos.effort[k]
        servos.given[k] = kept[2]
        servos.step[k] = h
        step.most_lent[k] = h * servos.limit[k]
        if servos.bound[k] == 0:
            step.extra[k] = trees.links.armature[k] + h * servos.gain[k] * servos.of_end[k]
    step.kept[k] = kept
