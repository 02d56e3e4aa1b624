"""The loop of an iterative contact solver: sweep, response of the joints, residual, until every world has converged."""

from collections.abc import Callable
from typing import Any

from rattleback.model.state import Motion
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.status import (
    begin_sweep,
    begin_sweeps,
    check_convergence,
    find_finer_residuals,
)


def begin(problem: ContactProblem, goal: Goal, which: Any) -> None:
    """Record that the worlds where ``which`` is 1 are active, and to which residual they are solved."""
    program, status = problem.program, problem.status
    program.launch(begin_sweeps, problem.worlds, status, which, int(goal.marked))
    if goal.finer is not None and problem.colour_driver is None:
        program.launch(find_finer_residuals, 1, problem.bodies, goal.finer, status, goal.tolerance)


def iterate(
    problem: ContactProblem, sweep: Callable[[], None], motion: Motion, goal: Goal, which: Any, response: Any = None
) -> None:
    """Record sweeps until the residual of every world is small enough or its sweeps are used up.

    Args:
        problem: The problem; its status has the active worlds and the residuals.
        sweep: Records one sweep over the active worlds, which stores the largest residual of each.
        motion: The velocities to correct.
        goal: Tolerance and most sweeps.
        which: 1 for every world that is solved.
        response: What answers to a sweep where joints hold bodies that touch; None for nothing.
    """
    program, status = problem.program, problem.status
    if response is not None:
        response.note(motion, which)
    begin(problem, goal, which)
    with program.loop(status.any_busy, may_stop=True):
        program.launch(begin_sweep, problem.worlds, status)
        sweep()
        if response is not None:
            response.answer(motion, status.busy)
        program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 1)
