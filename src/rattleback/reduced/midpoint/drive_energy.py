"""The energy that drives take from impulses on bodies, or give them, for the audit of energy.

    E = ½ A v²,   given = (E₀ − E₀⁺) + (E₁ − E₁⁺) + W

A armature, v rate of its freedom, at the start of the step before and after impulses (0, 0⁺), and at its end (1, 1⁺); W
work of servos by their part of these impulses. Over the step itself what drives take is in the motion of the bodies.

Cost: three looks at every link of trees with armature or servos.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext
from rattleback.reduced.midpoint.balance import body_of
from rattleback.reduced.midpoint.fitting import ONWARD, rate_at
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.sweeps import is_single


@wp.func
def rate_of(trees: Trees, motion: Motion, link: int, k: int) -> real:
    """The rate of the only freedom of a joint; zero of other links."""
    p = trees.links.parent[link]
    alone = trees.links.body[link] >= 0 and (p < 0 or trees.links.body[wp.max(p, 0)] >= 0)
    if not (alone and is_single(trees.links.kind[link])):
        return real(0.0)
    return rate_at(trees, motion, link, k, ONWARD)


@kernel
def note_start(trees: Trees, motion: Motion, rates: wp.array[real], given: wp.array[real]) -> None:
    """A step begins."""
    k = wp.tid()
    link = k % int(trees.count)
    rates[k] = rate_of(trees, motion, link, k)
    given[k] = real(0.0)


@kernel
def note_pushed(trees: Trees, motion: Motion, rates: wp.array[real], given: wp.array[real]) -> None:
    """Impulses at the start of a step are done."""
    k = wp.tid()
    link = k % int(trees.count)
    rate = rate_of(trees, motion, link, k)
    before = rates[k]
    work = real(0.5) * trees.step.kept[k][2] * (before + rate)
    given[k] = work - real(0.5) * trees.links.armature[k] * (rate * rate - before * before)


@kernel
def note_end(trees: Trees, stepped: Trees, motion: Motion, given: wp.array[real], rest: wp.array[real]) -> None:
    """Those at its end, too: what drives gave joins the work of forces."""
    k = wp.tid()
    link = k % int(trees.count)
    w = k // int(trees.count)
    i = body_of(trees, link, w)
    if i >= 0:
        rate = rate_of(trees, motion, link, k)
        before = stepped.step.mean_spin[k][0]
        gone = real(0.5) * trees.links.armature[k] * (rate * rate - before * before)
        if trees.servos.on[k] == 1:
            gone -= real(0.5) * (trees.step.kept[k][2] - trees.servos.given[k]) * (before + rate)
        rest[i] = rest[i] + given[k] - gone


class DriveEnergy:
    """Records what drives give to bodies by impulses.

    Args:
        through: What trees make of impulses.
    """

    def __init__(self, through: Any) -> None:
        self.through, device = through, through.trees.links.kind.device
        self.rates, self.given = (wp.zeros(through.links, dtype=real, device=device) for _ in range(2))

    def record_start(self, context: StepContext) -> None:
        """Record that a step begins."""
        given = (self.through.trees, context.state.motion, self.rates, self.given)
        context.program.launch(note_start, self.through.links, *given)

    def record_work(self, context: StepContext) -> None:
        """Record what impulses at the start did."""
        given = (self.through.trees, context.start, self.rates, self.given)
        context.program.launch(note_pushed, self.through.links, *given)

    def record_end(self, context: StepContext, rest: Any) -> None:
        """Record what those at the end did, and that it is work of forces.

        Args:
            context: What the step works on.
            rest: Work on the bodies [J].
        """
        given = (self.through.trees, self.through.stepped, context.state.motion, self.given, rest)
        context.program.launch(note_end, self.through.links, *given)
