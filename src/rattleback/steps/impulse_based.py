"""The usual step: what ``joints``, ``contacts`` and ``integrator`` make of it.

Bodies move by the integrator, joints and contacts are held by their methods; the recipe is ``ImpulseStep``, or
``AccelerationStep`` where forces hold the joints, or ``ReducedStep`` for trees in their own coordinates.

Cost: one prediction for each correction of the joints. Use it for everything with contacts, limits or breaking joints,
and by default. With joints its order is two at most; ``extrapolated`` and ``composed`` have higher ones.

Reference: Bender, dissertation, §3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from rattleback.core.sealed import sealed


@sealed
@dataclass(frozen=True)
class ImpulseBased:
    """The usual step."""

    def scheme(self) -> None:
        """It is not made of symmetric steps."""
