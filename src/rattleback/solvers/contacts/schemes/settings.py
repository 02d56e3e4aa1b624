"""What all schemes have: a solver, and the limits of contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback import lcp
from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, listing
from rattleback.solvers.contacts.kernels.laws import LAWS, USUAL_LAWS
from rattleback.solvers.contacts.restitution.impact import ORDERS, RESTITUTIONS
from rattleback.solvers.contacts.schemes.inputs import ContactLimits
from rattleback.solvers.contacts.solvers import DEFAULT as SOLVER
from rattleback.solvers.contacts.solvers import MENU, NEEDS
from rattleback.solvers.contacts.solvers.assembled import Assembled

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext

DEFAULT = MENU[SOLVER]
# Depth [m] and speed [m/s] above which a contact is reported, and those that are aimed at, of every world.
Tolerances = tuple[tuple[Any, Any], tuple[Any, Any]]


def check_scheme(scheme: Any) -> None:
    """Check the parameters that all schemes have; a solver may be given by its name."""
    own = type(scheme).__name__
    object.__setattr__(scheme, "solver", _solver(scheme.solver))
    checks.count(getattr(scheme.solver, "sweeps", None), f"sweeps of the solver of {own}")
    checks.count(scheme.sweeps_between, f"sweeps_between of {own}")
    checks.count(scheme.exchanges, f"exchanges of {own}")
    checks.one_of(scheme.restitution, RESTITUTIONS, f"restitution of {own}")
    checks.one_of(scheme.impact, ORDERS, f"impact of {own}")
    checks.one_of(scheme.law, LAWS, f"law of {own}")
    _check_law(scheme)


def _solver(given: Any) -> Any:
    """A contact solver by its name or as it is; a name of ``rattleback.lcp`` alone is that method, assembled."""
    if isinstance(given, str) and given in lcp.MENU and given not in MENU:
        return Assembled(given)
    names = MENU | dict.fromkeys((name for name in lcp.MENU if name not in MENU), Assembled)
    return choose("contact solver", given, names, NEEDS)


def _check_law(scheme: Any) -> None:
    """Check that solver and restitution know the law of friction."""
    law, solver = scheme.law, scheme.solver
    taken = laws_of(solver)
    if law not in taken:
        others = listing([name for name, kind in MENU.items() if law in laws_of(kind())])
        raise InputError(
            f"{type(solver).__name__} does not solve contacts under law={law!r}; it takes {listing(list(taken))}. "
            f"Solvers that do: {others}."
        )
    if law not in USUAL_LAWS and scheme.restitution != "newton":
        raise InputError(
            f"restitution={scheme.restitution!r} has sweeps of its own under Coulomb's law; under law={law!r} choose "
            "restitution='newton'."
        )


def laws_of(solver: Any) -> tuple[str, ...]:
    """The laws of friction that a solver takes."""
    return tuple(getattr(solver, "laws", USUAL_LAWS))


def limits_of(context: StepContext, tolerances: Tolerances, distance: float, law: str) -> ContactLimits:
    """The limits of contacts under a law of friction; see ``Impulse.bind``."""
    limits, model = ContactLimits(), context.model
    limits.frictionless = int(law == "frictionless")
    rebound = np.sqrt(2.0 * model.gravity * distance)
    named = dict(zip(("deepest", "fastest", "depth", "speed"), (*tolerances[0], *tolerances[1]), strict=True))
    for name, values in {**named, "rebound": rebound, "slow": 0.1 * rebound}.items():
        setattr(limits, name, model.world_numbers(values))
    return limits
