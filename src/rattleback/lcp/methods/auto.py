"""Chooses methods by law and size, one after the other from the best impulses so far, until one meets the tolerance.

| problem | order |
|---|---|
| ``coulomb`` | apgd → newton, admm under ``cone`` → newton, apgd → newton, admm → newton, nsgs → newton, newton |
| ``cone``, ``frictionless`` contacts | the same without the second |
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
from typing import TYPE_CHECKING, ClassVar

from rattleback.lcp.laws import LAWS
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
from rattleback.lcp.watch import CONVERGED, Stage

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
        reasons = []
        for stage in order(problem, law):
            reasons.append(f"{stage.name} {watch.run(stage)}")
            if watch.converged or watch.iterations >= watch.budget or watch.elapsed >= watch.seconds:
                break
        if watch.converged:
            refine(problem, law, watch)
        watch.reason = CONVERGED if watch.converged else "; ".join(reasons)


def order(problem: Problem, law: Law) -> list[Stage]:
    """The methods to run, in order."""
    linear = not problem.contacts or law.name == "pyramid"
    if problem.storage == "operator":
        return [Stage(Jacobi())] if linear and problem.contacts else [Stage(LONG_APGD), Stage(BB())]
    return for_rows(problem) if linear else for_cones(problem, law)


def for_cones(problem: Problem, law: Law) -> list[Stage]:
    """The order for ``frictionless``, ``cone`` and ``coulomb``."""
    admm, nsgs = Stage(ADMM()), Stage(NSGS())
    if problem.size > Newton.most_rows:
        return [Stage(APGD(patience=100)), admm, Stage(LONG_APGD), nsgs, Stage(BB())]
    newton = Stage(Newton())
    # Where every contact sticks or parts the convex law has the same answer, and it is a good start else.
    convex = [Stage(ADMM(iterations=3000), law=LAWS["cone"]), Stage(Newton(), "last")] if law.shifted else []
    steps = [Stage(SHORT_APGD), newton, *convex, Stage(LONG_APGD), newton, admm, newton, nsgs, newton]
    return [*steps, Stage(Newton(), "zero")]


def for_rows(problem: Problem) -> list[Stage]:
    """The order for plain rows and ``pyramid``."""
    small = problem.size <= PIVOTING_ROWS
    pivoting, others = [Stage(Lemke())] if small else [], [Stage(Murty()), Stage(Dantzig())] if small else []
    newton = [Stage(Newton())] if problem.size <= Newton.most_rows else []
    fresh = [Stage(Newton(), "zero")] if newton else []
    first = [] if problem.contacts else [Stage(APGD(patience=100)), *newton]
    return [*pivoting, *first, Stage(PGS()), *newton, *fresh, *others]


def refine(problem: Problem, law: Law, watch: Watch) -> None:
    """A few steps of newton where the relative residual is above the tolerance still."""
    relative = relative_residual(problem, watch.best, law.name)
    if relative > watch.tolerance and problem.size <= Newton.most_rows and problem.storage != "operator":
        wanted = 0.5 * watch.best_error * watch.tolerance / relative
        watch.run(Stage(Newton(iterations=LAST_STEPS), tolerance=wanted))
