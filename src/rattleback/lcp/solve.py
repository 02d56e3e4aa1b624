"""Solve a contact problem by a method and a law, both by name, and say how good the answer is.

The method gets the problem as it is. Afterwards velocities and residual are computed anew from its impulses, the same
way for every method; a method cannot pass its own estimate off as the residual.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.choice import choose, name_of
from rattleback.core.errors import InputError, listing
from rattleback.lcp import methods
from rattleback.lcp.laws import LAWS, Law, law_of
from rattleback.lcp.residuals import read_impulse, relative_residual, residual
from rattleback.lcp.result import Result
from rattleback.lcp.watch import Watch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rattleback.lcp.problem import Problem


def solve(
    problem: Problem,
    method: str | Any = "auto",
    law: str = "coulomb",
    tolerance: float = 1e-8,
    *,
    start: ArrayLike | None = None,
    iterations: int | None = None,
    seconds: float = math.inf,
) -> Result:
    """Solve a contact problem.

    Args:
        problem: The problem.
        method: A name on the menu ``rb.lcp.MENU``, or a method object such as ``rb.lcp.SOR(factor=1.6)``.
        law: ``"frictionless"``, ``"pyramid"``, ``"cone"`` or ``"coulomb"``.
        tolerance: Residual to reach [m/s].
        start: Impulses to start from [N s], shape (rows,); zero where left out. Pivoting methods begin at zero.
        iterations: Largest number of iterations; that of the method where left out.
        seconds: Largest CPU time [s], looked at between iterations.
    """
    chosen = choose("contact method", method, methods.MENU, ("solve",))
    found = law_of(law)
    _check_taken(problem, chosen, found)
    first = np.zeros(problem.size) if start is None else read_impulse(problem, start).copy()
    budget = chosen.iterations if iterations is None else checks.count(iterations, "iterations")
    watch = Watch(
        problem,
        found,
        checks.positive(tolerance, "tolerance"),
        budget,
        checks.number_or_infinite(seconds, "seconds"),
        first,
    )
    with np.errstate(all="ignore"):
        chosen.solve(problem, law_for(problem, chosen, found), watch)
    return _result(problem, chosen, found, watch)


def law_for(problem: Problem, method: Any, law: Law) -> Law:
    """The law under which a method works: in the plane ``pyramid`` and ``coulomb`` are the same."""
    if problem.dimension == 2 and law.name not in method.laws:
        return {"pyramid": LAWS["coulomb"], "coulomb": LAWS["pyramid"]}.get(law.name, law)
    return law


def taken(problem: Problem, method: Any, law: Law) -> str:
    """Why a method does not take a problem under a law; empty when it does."""
    name = name_of(method, methods.MENU)
    if problem.contacts and law_for(problem, method, law).name not in method.laws:
        return f"{name} does not solve the law {law.name!r}, only {listing(method.laws)}"
    if problem.storage not in method.storage:
        return f"{name} does not take W of {problem.name} as {problem.storage}, only {listing(method.storage)}"
    if problem.size > method.most_rows:
        return f"{name} takes {method.most_rows:g} rows at most, {problem.name} has {problem.size}"
    return ""


def _check_taken(problem: Problem, method: Any, law: Law) -> None:
    """Refuse what a method does not take, and name methods that do."""
    why = taken(problem, method, law)
    if why:
        able = [name for name, kind in methods.MENU.items() if not taken(problem, kind(), law)]
        laws = f" Laws: {listing(list(LAWS))}." if not able else ""
        raise InputError(f"{why}. Methods that would work: {listing(able, 20)}.{laws}")


def _result(problem: Problem, method: Any, law: Law, watch: Watch) -> Result:
    """Velocities and residuals of the best impulses, computed anew."""
    r = watch.best
    e = residual(problem, r, law.name)
    converged = e <= watch.tolerance
    reason = watch.reason or "the method ended without a reason"
    if converged:
        reason = f"converged: residual {e:.3g} m/s after {watch.iterations} iterations"
    return Result(
        impulse=r,
        velocity=problem.velocity(r),
        residual=e,
        relative_residual=relative_residual(problem, r, law.name),
        converged=converged,
        reason=reason,
        iterations=watch.iterations,
        seconds=watch.elapsed,
        history=np.array(watch.history, dtype=np.float64).reshape(-1, 3),
        method=": ".join([name_of(method, methods.MENU), *([", ".join(watch.used)] if watch.used else [])]),
        law=law.name,
    )
