"""``solve``: ask a method for configurations, judge them by their forward kinematics, and say why where they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.choice import choose, name_of
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.kinematics.ik.priority import refine
from rattleback.kinematics.ik.problem import Problem, batch_of
from rattleback.kinematics.ik.result import Solution
from rattleback.kinematics.ik.target import as_targets
from rattleback.kinematics.ik.verdict import judge
from rattleback.kinematics.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def solve(tree: Tree, targets: Any, method: Any = "lm", start: ArrayLike | None = None, **options: Any) -> Solution:
    """Find configurations in which targets are reached, one problem or a batch of them.

    Every configuration returned is within the limits, and ``reached`` is judged by its own forward kinematics. Where a
    target cannot be reached, ``lm`` gives the nearest configuration: of a pose, the nearest place, and the best
    orientation there.

    Args:
        tree: The tree.
        targets: A 4 × 4 matrix for the tip, n of them (n, 4, 4), a target such as ``rb.ik.Position(...)``, or several
            targets in a list. Goals with a leading axis are a batch.
        method: A name from ``rb.ik.MENU``, or an object such as ``rb.ik.LM(restarts=20)``.
        start: Where to start (coordinates,) or (n, coordinates), cut at the limits; the middle of the limits if left
            out. A batch of starts is a batch, too.
        **options: ``position_tolerance`` [m] and ``angle_tolerance`` [rad], both 1e-6 if left out; the rest are
            parameters of the method.
    """
    checks.instance(tree, Tree, "The tree of solve", "rb.kinematics.models.puma560()")
    if not tree.coordinates:
        raise InputError(f"{tree.name!r} has no coordinate to move; all its joints are fixed.")
    length, angle = (
        checks.positive(options.pop(name, 1e-6), f"The {name}") for name in ("position_tolerance", "angle_tolerance")
    )
    chosen, name = _method(method, options)
    aims = as_targets(targets)
    for aim in aims:
        tree.tool(aim.tool)
    starts, batched = _starts(tree, start, batch_of(aims))
    problem = Problem(tree, aims, starts, (length, angle), tree.lower, tree.upper, tree.size)
    answer = refine(problem, chosen)
    verdict = judge(problem, answer)
    history = None if answer.history is None else np.sqrt(answer.history)
    solution = Solution(
        verdict.q, verdict.reached, verdict.residual, verdict.reason, answer.iterations, name, history, answer.every
    )
    return solution if batched else _single(solution)


def _method(method: Any, options: dict[str, Any]) -> tuple[Any, str]:
    """The method and its name."""
    from rattleback.kinematics.ik import MENU

    if isinstance(method, str):
        if method not in MENU:
            names = list(MENU)
            raise UnknownName(
                f"There is no method {method!r} of inverse kinematics.{did_you_mean(method, names)} The menu: "
                f"{listing(names, 20)}."
            )
        checks.options(options, MENU[method].__dataclass_fields__, f"Method {method!r}")
        return MENU[method](**options), method
    if options:
        raise InputError(
            f"The options {listing(list(options))} come beside a method that is an object; set them there."
        )
    chosen = choose("method of inverse kinematics", method, MENU, ("run",))
    return chosen, name_of(chosen, MENU)


def _starts(tree: Tree, start: Any, batch: int | None) -> tuple[Floats, bool]:
    """A start for each problem, and whether there is a batch of them."""
    rows, shape = tree.configurations(tree.middle if start is None else start, "The start")
    if len(shape) > 1:
        raise InputError(
            f"The start has shape {(*shape, rows.shape[1])}; it must be one configuration, or a row of them."
        )
    if batch is not None and shape and shape[0] != batch:
        raise InputError(f"There are {shape[0]} starts for {batch} problems; give one for all, or one for each.")
    if 0 in (batch, *shape):
        raise InputError("The batch is empty; give at least one target.")
    count = batch or len(rows)
    return np.clip(np.broadcast_to(rows, (count, rows.shape[1])), tree.lower, tree.upper), bool(batch or shape)


def _single(solution: Solution) -> Solution:
    """The only solution of a batch of one, without the leading axis."""
    history = None if solution.history is None else solution.history[0]
    return Solution(
        solution.q[0],
        bool(solution.reached[0]),
        solution.residual[0],
        str(solution.reason[0]),
        int(solution.iterations[0]),
        solution.method,
        history,
        solution.every,
    )
