"""The energy watch: the energy audit of scenes without joints, or with trees, where gains are told and nothing else.

Cost: five looks at every body.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from rattleback.core import arrays
from rattleback.model.step_context import StepContext
from rattleback.problem.mechanisms import Mechanisms
from rattleback.steps.energy_audit import EnergyAudit, make_energy_audit
from rattleback.steps.energy_floor import Sizes, make_floor
from rattleback.steps.energy_islands import Ledger
from rattleback.steps.energy_work import note_before, note_loads, note_way, note_work


@dataclass(frozen=True)
class EnergyWatch:
    """Records the energy audit in the steps of a model without joints.

    Attributes:
        context: Where the step is recorded.
        ledger: What happens to the energy.
        audit: What tells the gain.
        drives: What trees know of the energy of drives, a ``reduced.midpoint.drive_energy.DriveEnergy``; None without.
    """

    context: StepContext
    ledger: Any
    audit: EnergyAudit
    drives: Any = None

    def record_written(self) -> None:
        """Nothing is apart without joints."""

    def record_start(self) -> None:
        """Record the energies at the beginning of a step."""
        self.context.share_bodies(note_before, self.context.state.motion, self.ledger)
        if self.drives is not None:
            self.drives.record_start(self.context)

    def record_loads(self) -> None:
        """Record what loads do in the first prediction."""
        context = self.context
        context.share_bodies(note_loads, context.start, context.predicted, self.ledger)

    def record_work(self) -> None:
        """Record what forces did in the prediction."""
        context, state = self.context, self.context.state
        motions = (state.motion, context.start, context.predicted)
        context.share_bodies(note_work, *motions, context.loads, state.clock, self.ledger)
        if self.drives is not None:
            self.drives.record_work(context)
        self.audit.record_work()

    def record_hold(self) -> None:
        """Record the way that bodies really go."""
        context, state = self.context, self.context.state
        context.share_bodies(note_way, state.motion, context.predicted, state.clock, self.ledger)

    def when_held(self) -> AbstractContextManager[None]:
        """Nothing is held back."""
        return nullcontext()

    def record_end(self) -> None:
        """Record the audit."""
        if self.drives is not None:
            self.drives.record_end(self.context, self.ledger.rest)
        self.audit.record_end()

    @property
    def forget(self) -> Callable[[], None]:
        """To be called when a call begins."""
        return self.audit.forget

    def take_over(self, old: "EnergyWatch") -> None:
        """Continue with what another one of the same model has seen."""
        arrays.copy_into(self.ledger, old.ledger)
        self.audit.take_over(old.audit)

    @property
    def fell_short(self) -> tuple[Any, ...]:
        """Nothing falls short: what contacts leave outside their tolerances says so itself."""
        return ()

    def summary(self) -> dict[str, Any]:
        """What the report says: how much was gained."""
        return {"energy_gained": self.audit.summary()["energy_gained"]}


def make_energy_watch(context: StepContext, sizes: Sizes) -> EnergyWatch:
    """The energy watch of a model without joints.

    Args:
        context: Where the step is recorded.
        sizes: What a step may leave.
    """
    model = context.model
    counts = {"bodies": model.count, "worlds": model.worlds, "flags": 1}
    ledger = arrays.allocate(Ledger, counts, model.device)
    none = arrays.allocate(Mechanisms, {"mechanisms": 0, "members": 0, "joints": 0}, model.device)
    floor = make_floor(sizes, model, None, True)
    return EnergyWatch(context, ledger, make_energy_audit(context, none, ledger, floor))
