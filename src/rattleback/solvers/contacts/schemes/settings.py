"""What all schemes have: a solver, and the limits of contacts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.solvers.contacts.restitution.impact import ORDERS, RESTITUTIONS
from rattleback.solvers.contacts.schemes.inputs import ContactLimits
from rattleback.solvers.contacts.solvers import DEFAULT as SOLVER
from rattleback.solvers.contacts.solvers import MENU, NEEDS

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext

DEFAULT = MENU[SOLVER]
# Depth [m] and speed [m/s] above which a contact is reported, and those that are aimed at.
Tolerances = tuple[tuple[float, float], tuple[float, float]]


def check_scheme(scheme: Any) -> None:
    """Check the parameters that all schemes have; a solver may be given by its name."""
    own = type(scheme).__name__
    object.__setattr__(scheme, "solver", choose("contact solver", scheme.solver, MENU, NEEDS))
    checks.count(getattr(scheme.solver, "sweeps", None), f"sweeps of the solver of {own}")
    checks.count(scheme.sweeps_between, f"sweeps_between of {own}")
    checks.count(scheme.exchanges, f"exchanges of {own}")
    checks.one_of(scheme.restitution, RESTITUTIONS, f"restitution of {own}")
    checks.one_of(scheme.impact, ORDERS, f"impact of {own}")


def limits_of(context: StepContext, tolerances: Tolerances, distance: float) -> ContactLimits:
    """The limits of contacts; see ``Impulse.bind``."""
    limits = ContactLimits()
    (limits.deepest, limits.fastest), (limits.depth, limits.speed) = tolerances
    limits.rebound = math.sqrt(2.0 * math.hypot(*context.model.scene.gravity) * distance)
    limits.slow = 0.1 * limits.rebound
    return limits
