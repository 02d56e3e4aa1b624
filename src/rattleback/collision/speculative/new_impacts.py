"""New impacts: how far the first contact with something not touched before can move a collider within the step.

    β_a = σ_a h U    where a and b were not in contact and boxes meet

h step, σ share of an impact and U largest relative speed, see ``boxes``. A speculative contact is solved when it is
detected, so a body that is hit moves another way than its box was stretched. A body behind it was far enough away as
long as both moved alike, and would now be hit too. The last contacts say nothing of such impacts (see ``boxes``); the
pairs do. Where there are any, the boxes of these colliders are widened and pairs are listed once more. Impacts that
follow from these are left to ``chained_impacts``.

Cost: one test of every pair, and in steps with such impacts a second list of pairs.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.solid import PLANE
from rattleback.collision.speculative.boxes import HELD, SpeculativeInput, is_settled, point_share, relative_speed
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import known_from


@kernel
def clear_new_impacts(inputs: SpeculativeInput, lanes: int) -> None:
    """No impact with a new partner is known."""
    if wp.tid() == 0:
        inputs.margins.has_new_impacts[0] = 0
    for i in range(wp.tid(), inputs.colliders.body.shape[0], lanes):
        inputs.margins.new_impact_travel[i] = real(0.0)


@wp.func
def touched(inputs: SpeculativeInput, a: int, b: int) -> bool:
    """Whether two colliders were in contact in the last detection."""
    return known_from(inputs.memory, a, b) < known_from(inputs.memory, a, b + 1)


@wp.func
def lowest(inputs: SpeculativeInput, i: int) -> vec3:
    """Lower corner of the box that holds a collider over the step."""
    wide = wp.max(inputs.margins.turn[i], real(0.0))
    lower = inputs.margins.lower[i]
    return wp.min(lower, lower + inputs.margins.travel[i]) - vec3(wide, wide, wide)


@wp.func
def highest(inputs: SpeculativeInput, i: int) -> vec3:
    """Upper corner of that box."""
    wide = wp.max(inputs.margins.turn[i], real(0.0))
    upper = inputs.margins.upper[i]
    return wp.max(upper, upper + inputs.margins.travel[i]) + vec3(wide, wide, wide)


@wp.func
def meet(inputs: SpeculativeInput, a: int, b: int) -> bool:
    """Whether two colliders may meet: their boxes overlap, and one reaches a half-space."""
    below = highest(inputs, a) - lowest(inputs, b)
    above = highest(inputs, b) - lowest(inputs, a)
    if wp.min(wp.min(below), wp.min(above)) < real(0.0):
        return False
    plane = wp.where(inputs.colliders.kind[a] == PLANE, a, b)
    if inputs.colliders.kind[plane] != PLANE:
        return True
    i = a + b - plane
    R = inputs.places.rotation[plane]
    n = vec3(R[0, 2], R[1, 2], R[2, 2])
    size = real(0.5) * wp.length(inputs.margins.upper[i] - inputs.margins.lower[i])
    height = wp.dot(n, inputs.places.position[i] - inputs.places.position[plane])
    return height <= size + inputs.max_gap + inputs.places.max_travel[i] + inputs.places.max_travel[plane]


@kernel
def find_new_impacts(inputs: SpeculativeInput, pairs: Pairs, lanes: int) -> None:
    """Bound how far impacts with colliders that they have not touched can move colliders."""
    for k in range(wp.tid(), wp.min(pairs.needed[0], pairs.a.shape[0]), lanes):
        a = pairs.a[k]
        b = pairs.b[k]
        if is_settled(inputs, a):
            continue
        impact_a = inputs.margins.impact_travel[a]
        impact_b = inputs.margins.impact_travel[b]
        h = inputs.steps * real(inputs.clock.time_step[inputs.colliders.world[a]])
        far = h * relative_speed(inputs, a, b)
        far_a = point_share(inputs, a, b) * far
        far_b = point_share(inputs, b, a) * far
        more = wp.max(far_a - impact_a, far_b - impact_b)
        if more > HELD * inputs.max_gap and meet(inputs, a, b) and not touched(inputs, a, b):
            wp.atomic_max(inputs.margins.new_impact_travel, a, far_a)
            wp.atomic_max(inputs.margins.new_impact_travel, b, far_b)
            inputs.margins.has_new_impacts[0] = 1


@kernel
def widen_by_new_impacts(inputs: SpeculativeInput, lanes: int) -> None:
    """Widen the boxes of colliders that may be hit, by what impacts at contacts do not cover."""
    for i in range(wp.tid(), inputs.colliders.body.shape[0], lanes):
        more = inputs.margins.new_impact_travel[i] - inputs.margins.impact_travel[i]
        if more > real(0.0):
            inputs.margins.turn[i] = inputs.margins.turn[i] + more
            inputs.places.max_travel[i] = inputs.places.max_travel[i] + more
            wide = vec3(more, more, more)
            inputs.places.lower[i] = inputs.places.lower[i] - wide
            inputs.places.upper[i] = inputs.places.upper[i] + wide


def record_new_impacts(program: Any, inputs: SpeculativeInput, pairs: Pairs) -> None:
    """Record what finds new impacts, from the pairs; then ``has_new_impacts`` says if there are any."""
    program.share(clear_new_impacts, len(inputs.margins.new_impact_travel), inputs)
    program.share(find_new_impacts, len(pairs.a), inputs, pairs)
