"""The error of a motion at several step lengths, and the order it shows.

    error ≈ c hᵖ,   p = log(error₁ / error₂) / log(h₁ / h₂)

h length of a step, p order of the method. The published number decides at one step length, which the experiment states;
the others show that the rest of the error is that of the step.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Unpack

import numpy as np

from rattleback.core.errors import NotConvergedWarning, RattlebackError
from rattleback.experiments.result import Curve, Panel
from rattleback.settings import Settings
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.experiments.result import Findings
    from rattleback.model import Scene


def run_to(scene: Scene, moment: float, found: Findings, **settings: Unpack[Settings]) -> Simulation | None:
    """Simulate up to a moment; None if that cannot be done within the tolerance, which is then noted.

    Args:
        scene: What to simulate.
        moment: Time to reach [s].
        found: Where the reason is noted.
        **settings: As for :class:`rattleback.Simulation`.
    """
    simulation = Simulation(scene, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        try:
            simulation.run(moment)
        except RattlebackError as error:
            found.note(str(error))
            return None
    found.note(simulation.report.reason)
    return simulation if simulation.report.converged else None


def order(errors: Mapping[float, float]) -> float:
    """The order that the two shortest steps show."""
    (short, small), (long, large) = sorted(errors.items())[:2]
    return math.log(large / small) / math.log(long / short) if small > 0.0 and large > 0.0 else math.nan


def error_panel(title: str, unit: str, families: Mapping[str, Mapping[float, float]]) -> Panel:
    """Error over step length, one curve for each family, with a line of slope two below them."""
    curves = [
        Curve(name, sorted(errors), [errors[step] for step in sorted(errors)], colour=number)
        for number, (name, errors) in enumerate(families.items())
    ]
    steps = np.array(sorted({step for errors in families.values() for step in errors}))
    known = [error / step**2 for errors in families.values() for step, error in errors.items() if error > 0.0]
    slope = 0.5 * min(known) if known else 1.0
    curves.append(Curve("slope 2", steps.tolist(), (slope * steps**2).tolist(), "bound"))
    return Panel(title, "step h [s]", f"error [{unit}]", tuple(curves), ("log", "log"))
