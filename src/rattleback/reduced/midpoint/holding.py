"""What friction and servos of the freedoms of trees do to impulses on bodies, such as those of contacts and limits.

    at the start of a step     held and at rest: v stays, p ← p + λ            servo: v meets A + h/2 k, q ← q − h/2 k δv
    in the step                τ_r = τ − p/h of friction, u − q/h of a servo:  what they did already is no more theirs
    at the end of it           v₁ = 0 and |p| ≤ h f,  or  p = −h f sgn v₁,     with p all that friction did in the step

v rate of a freedom, λ impulse that keeps it, p and q impulses of friction and of a servo, f friction, h length of the step,
A armature, k what the servo loses per rate. So friction gives h f in a step at most, of which impulses at its start, its
forces and impulses at its end share; and a servo yields to what pushes at the start as it does over the step.

    before impulses    rates of the drives; which freedoms are held, by the last prediction; factor where that changed
    after them         the fit; at the end of a step: who is over the limit slips, who would turn about is held; once more
Order one where impulses act, as these are; without them that of the step. Cost: a factorisation where anything changes over.

Reference: Anitescu, Potra, Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
complementarity problems, 1997 (bounded impulses of a step); Hintermüller, Ito, Kunisch, 2002 (active sets).
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.reduced.midpoint.links import HELD, Trees

# Part of the limit of friction that is rounding, and the rate [rad/s or m/s] that is.
ROUNDING, STILL = wp.constant(real(1e-9)), wp.constant(real(1e-12))


@wp.func
def keep(trees: Trees, link: int, k: int, how: int) -> None:
    """A fit is done: the rate of a drive, and what friction and its servo did."""
    step = trees.step
    before = step.kept[k]
    friction = before[1] + step.due[k]
    if step.grip[k] == HELD:
        friction = before[1] - step.relieved[k]
    lent = before[2] - (step.extra[k] - trees.links.armature[link]) * (step.gained[k] - before[0])
    # Displacements, with 2, are no impulses.
    step.kept[k] = vec3(step.gained[k], wp.where(how == 2, before[1], friction), wp.where(how == 2, before[2], lent))
    if how != 2:
        step.due[k] = real(0.0)


@wp.func
def slips(trees: Trees, w: int) -> bool:
    """Whether friction at the end of a step changes over by the last solution; how it acts from now on."""
    step = trees.step
    found = bool(False)
    for k in range(w * int(trees.count), (w + 1) * int(trees.count)):
        most = step.most[k]
        done = step.kept[k][1]
        if most >= real(0.0):
            if step.grip[k] == HELD:
                total = done - step.relieved[k]
                if wp.abs(total) > most * (real(1.0) + ROUNDING):
                    step.grip[k] = 0
                    step.due[k] = wp.where(total > real(0.0), most, -most) - done
                    found = True
            else:
                rate = step.gained[k]
                total = done + step.due[k]
                slack = most * (real(1.0) - ROUNDING)
                if (rate > STILL and total > -slack) or (rate < -STILL and total < slack):
                    step.grip[k] = HELD
                    step.due[k] = real(0.0)
                    found = True
    return found


@wp.func
def hold_start(trees: Trees, stepped: Trees, k: int, link: int, h: real, tolerance: real) -> bool:
    """How a freedom answers to impulses at the start of a step, by the last prediction; whether that is new."""
    step = trees.step
    held = stepped.step.grip[k] == HELD and wp.abs(step.kept[k][0]) <= tolerance
    grip = wp.where(held, HELD, 0)
    extra = trees.links.armature[link]
    p = trees.links.parent[link]
    alone = trees.links.body[link] >= 0 and (p < 0 or trees.links.body[wp.max(p, 0)] >= 0)
    if alone and stepped.servos.on[k] == 1:
        extra += real(0.5) * h * stepped.servos.yields[k]
    new = grip != step.grip[k] or extra != step.extra[k] or step.most[k] >= real(0.0)
    step.grip[k] = grip
    step.extra[k] = extra
    step.most[k] = real(-1.0)
    step.due[k] = real(0.0)
    return new


@wp.func
def hold_end(trees: Trees, stepped: Trees, k: int, link: int, h: real) -> None:
    """How a freedom answers to impulses at the end of a step, and what friction has done in it so far."""
    step = trees.step
    most = trees.links.friction[link] * h
    grip = stepped.step.grip[k]
    kept = step.kept[k]
    step.grip[k] = 0
    step.extra[k] = trees.links.armature[link]
    step.due[k] = real(0.0)
    step.most[k] = real(-1.0)
    if grip == HELD:
        step.grip[k] = HELD
        kept[1] = kept[1] - h * stepped.step.relieved[k]
    elif grip != 0:
        kept[1] = -real(grip) * most
    if grip != 0:
        step.most[k] = most
    step.kept[k] = kept
