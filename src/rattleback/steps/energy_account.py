"""What is done about energy that joints and contacts add in the steps of a model: limited, only told, or nothing.

| scene | |
|---|---|
| joints held by impulses | limited, and what is left is told: ``energy_limit`` |
| contacts without joints | told: ``energy_watch`` |
| anything else | nothing adds any |
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.problem.through import is_driven
from rattleback.reduced.midpoint.drive_energy import DriveEnergy
from rattleback.steps.energy_floor import Sizes
from rattleback.steps.energy_limit import EnergyLimit, make_energy_limit
from rattleback.steps.energy_watch import EnergyWatch, make_energy_watch

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext
    from rattleback.problem.preview import Preview


def make_energy_account(
    context: StepContext,
    preview: Preview | None,
    impulses: tuple[Any, Any] | None,
    tolerances: Any,
    order: int,
    solver: Any = None,
) -> EnergyLimit | EnergyWatch | None:
    """What is done about added energy.

    Args:
        context: What the step works on.
        preview: How joints are held by impulses; None where they are not.
        impulses: How contacts are resolved and how they are found; None where they are not resolved.
        tolerances: Those of the simulation, by name.
        order: Order of the integrator.
        solver: What holds the joints; None without any.
    """
    length, speed = (tolerances[f"{name}_tolerance"] for name in ("position", "velocity"))
    if impulses is None:
        sizes = Sizes(length, speed, length, speed, order == 1)
        return None if preview is None else make_energy_limit(context, preview, None, sizes)
    finder, limits = impulses[1].finder, impulses[0].limits
    named = ("depth", "speed", "deepest", "fastest")
    depth, slip, deepest, fastest = (getattr(limits, name).numpy().astype(np.float64) for name in named)
    reported = (length + deepest, speed + fastest)
    sizes = Sizes(np.maximum(length, depth), np.maximum(speed, slip), *reported, order == 1)
    if preview is None:
        drives = DriveEnergy(solver.through) if is_driven(solver) else None
        return replace(make_energy_watch(context, sizes), drives=drives)
    return make_energy_limit(context, preview, (finder.contacts, finder.geometry.each), sizes)
