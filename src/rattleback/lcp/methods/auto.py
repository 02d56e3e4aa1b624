"""Chooses methods by law and size, one after the other from the best impulses so far, until one meets the tolerance.

| problem | order |
|---|---|
| cones and ``frictionless`` contacts | apgd → newton, apgd longer → newton, admm → newton, nsgs → newton, newton |
| the same beyond the size of newton | apgd, admm, apgd longer, nsgs, bb |
| plain rows | lemke, apgd → newton, pgs → newton, newton, murty, dantzig |
| ``pyramid`` | lemke, pgs → newton, newton, murty, dantzig |
| operators | apgd, bb; jacobi under ``pyramid`` |

The last newton starts from zero; pivoting takes part up to 400 rows. Each method is run as it is, and its reason is
part of the reason in the end. Where the tolerance is met but the relative residual of Siconos is above it, because of
the unit of mass, a few more steps of newton take it down.

Cost: that of the methods it runs; most problems need the first two.

When to use it: by default. For one of thousands of similar problems, take the method that ``result.method`` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.lcp.methods.admm import ADMM
from rattleback.lcp.methods.apgd import APGD
from rattleback.lcp.methods.bb import BB
from rattleback.lcp.methods.dantzig import Dantzig
from rattleback.lcp.methods.jacobi import Jacobi
from rattleback.lcp.methods.lemke import Lemke
from rattleback.lcp.methods.murty import Murty
from rattleback.lcp.methods.newton import Newton
from rattleback.lcp.methods.nsgs import NSGS
from rattleback.lcp.methods.pgs import PGS
from rattleback.lcp.residuals import relative_residual
from rattleback.lcp.watch import CONVERGED

if TYPE_CHECKING:
    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# Runs of a method in ``auto``: short ones for a start, long ones on the second try.
SHORT_APGD, LONG_APGD = APGD(iterations=1500, patience=100), APGD(iterations=20_000, patience=400)
# Pivoting takes part up to this many rows, where it is faster than what else there is.
PIVOTING_ROWS = 400
# Steps of newton after the answer is there, for the relative residual.
LAST_STEPS = 5


@dataclass(frozen=True)
class Auto:
    """A choice of methods by law and size.

    Attributes:
        iterations: Largest number of iterations of all methods together.
    """

    iterations: int = 200_000

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse", "operator")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Run methods until one meets the tolerance."""
        reasons, runs = [], [type(method) for method in order(problem, law)]
        for k, method in enumerate(order(problem, law)):
            # The last newton of several starts from zero: what the others reached may be a dead end for it.
            fresh = isinstance(method, Newton) and Newton in runs[:k] and Newton not in runs[k + 1 :]
            reasons.append(f"{name_of_kind(method)} {watch.run(method, fresh=fresh)}")
            if watch.converged or watch.iterations >= watch.budget or watch.elapsed >= watch.seconds:
                break
        if watch.converged:
            refine(problem, law, watch)
        watch.reason = CONVERGED if watch.converged else "; ".join(reasons)


def order(problem: Problem, law: Law) -> list[Any]:
    """The methods to run, in order."""
    linear = not problem.contacts or law.name == "pyramid"
    newton = [Newton()] if problem.size <= Newton.most_rows else []
    if problem.storage == "operator":
        return [Jacobi()] if linear and problem.contacts else [LONG_APGD, BB()]
    if not linear:
        steps = [SHORT_APGD, *newton, LONG_APGD, *newton, ADMM(), *newton, NSGS(), *newton, *newton]
        return steps if newton else [APGD(patience=100), ADMM(), LONG_APGD, NSGS(), BB()]
    pivoting = [Lemke()] if problem.size <= PIVOTING_ROWS else []
    others = [Murty(), Dantzig()] if pivoting else []
    first = [] if problem.contacts else [APGD(patience=100), *newton]
    return [*pivoting, *first, PGS(), *newton, *newton, *others]


def name_of_kind(method: Any) -> str:
    """The name of a method as the menu writes it."""
    return type(method).__name__.lower()


def refine(problem: Problem, law: Law, watch: Watch) -> None:
    """A few steps of newton where the relative residual is above the tolerance still."""
    relative = relative_residual(problem, watch.best, law.name)
    if relative > watch.tolerance and problem.size <= Newton.most_rows and problem.storage != "operator":
        watch.run(Newton(iterations=LAST_STEPS), 0.5 * watch.best_error * watch.tolerance / relative)
