"""Friction and servos of the freedoms of a world in the rounds of a step: how they begin, and when they change over."""

import warp as wp

from rattleback.core.precision import real
from rattleback.reduced.midpoint.friction import begin_grip, grip_after
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.steering import begin_steering, bound_after, turn_error


@wp.func
def begin_drives(trees: Trees, w: int, h: real) -> None:
    """A step of length h begins, whose friction and servos have answered to impulses at its start."""
    if trees.driven == 0:
        return
    for k in range(w * int(trees.count), (w + 1) * int(trees.count)):
        trees.servos.held[k] = trees.step.kept[k][1] / h
        trees.servos.lent[k] = trees.step.kept[k][2] / h
        trees.servos.error[k] = trees.servos.first_error[k]


@wp.func
def begin_rounds_of(trees: Trees, w: int, h: real, tolerance: real) -> None:
    """Rounds of a step or of a part of it begin."""
    if trees.driven == 0:
        return
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        begin_grip(trees, link, k, tolerance)
        begin_steering(trees, k, h)


@wp.func
def drives_go_on(trees: Trees, w: int) -> None:
    """A part of a step is done, whose mean rates are there still."""
    if trees.driven == 1:
        for k in range(w * int(trees.count), (w + 1) * int(trees.count)):
            turn_error(trees, k)


@wp.func
def changes_over(trees: Trees, w: int) -> bool:
    """How friction and servos of a world act after a round; whether that is new for any."""
    found = bool(False)
    if trees.driven == 0:
        return found
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        if trees.step.grip[k] != 0:
            grip = grip_after(trees, link, k)
            found = found or grip != trees.step.grip[k]
            trees.step.grip[k] = grip
        if trees.servos.on[k] == 1:
            bound = bound_after(trees, k)
            found = found or bound != trees.servos.bound[k]
            trees.servos.bound[k] = bound
    return found
