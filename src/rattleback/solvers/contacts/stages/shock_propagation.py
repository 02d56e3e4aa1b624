"""Shock propagation: after some sweeps the contact graph is gone through once more, and what is below stands still.

    for every level from the ground up: sweeps over the patches between it and the next, in which the bodies of the
    level, and those below, have infinite mass

A stack that needs many sweeps, since its loads have to travel through all of it, is stopped in one pass. Its impulses
do not act on what is below, so momentum is not kept, and a load that should tip or push what carries it does
not: accuracy depends on the sweeps before. Only worlds that those leave outside their tolerance are touched.

Cost: as ``ROUNDS`` sweeps. Use it for walls and heaps that have to look right at once, not where loads are asked for.

Reference: Bender, dissertation, §5.2.4 and §5.3.2; Guendelman, Bridson, Fedkiw (2003), §7.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.schemes.impulse import ContactImpulses, Impulse

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.model.contacts import Contacts


@sealed
@dataclass(frozen=True)
class ShockPropagation:
    """Contacts by impulses, the last sweep of which takes what is below for standing still.

    Attributes:
        inner: How contacts are resolved before; its ``max_sweeps`` are not used.
        after: Sweeps before, at either end of a step.
    """

    inner: Impulse = field(default_factory=Impulse)
    after: int = 10

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.inner, Impulse):
            raise InputError(f"The inner of ShockPropagation is {self.inner!r}; it must be an Impulse.")
        checks.count(self.after, "after of ShockPropagation")

    def bind(self, bench: Bench, contacts: Contacts, tolerances: tuple[float, float], distance: float) -> Any:
        """The method on a model; see ``Impulse.bind``."""
        bound: ContactImpulses = replace(self.inner, max_sweeps=self.after).bind(bench, contacts, tolerances, distance)
        bound.propagate()
        return bound
