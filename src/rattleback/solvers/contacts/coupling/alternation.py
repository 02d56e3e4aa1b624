"""Contacts and joints in turn, until neither puts the other off: the one alternation of a step.

solve the contacts, with the joints' answers;   correct the joints in full;   again, while that has put contacts off
"""

from collections.abc import Callable
from typing import Any

from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.status import begin_exchange, check_exchange, count_exchange

# Records something for the worlds where an array is 1.
WorldStage = Callable[[Any], None]


def alternate(
    problem: ContactProblem, stages: tuple[WorldStage, WorldStage], goal: tuple[Any, int], which: Any
) -> None:
    """Record contacts and joints in turn.

    Args:
        problem: The contact problem.
        stages: Records the solution of the contacts, and what corrects the joints, in the worlds that it is given.
        goal: Largest residual the joints may leave at the contacts of every world [m/s], and most turns.
        which: 1 for every world in which that is done.
    """
    program, status = problem.program, problem.status
    program.launch(begin_exchange, problem.worlds, status, which)
    with program.loop(status.any_exchanging, may_stop=True):
        program.launch(count_exchange, 1, status)
        for stage in stages:
            stage(status.exchanging)
        program.launch(check_exchange, problem.worlds, status, *goal)
