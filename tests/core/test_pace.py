"""Warnings in a loop of steps: at once of what is new, then in the 10th, 100th, 1000th, with the worst and how many."""

from rattleback.core.pace import Pace
from rattleback.core.report import Report

LIMIT = 1e-4


def deep(step: int, depth: float = 2e-4, bodies: str = "'a' and 'b'") -> Report:
    reason = f"Bodies {bodies} overlap by {depth:.3g} m, more than {LIMIT:.3g} m."
    return Report(step=step, converged=False, penetration=depth, penetration_tolerance=LIMIT, reason=reason)


def test_a_thousand_steps_alike_give_four_warnings() -> None:
    pace = Pace()
    said = {step: text for step in range(1, 1002) if (text := pace.warning(deep(step)))}
    assert list(said) == [1, 10, 100, 1000]
    assert said[1] == deep(1).reason
    assert said[100].endswith("That is the worst of 90 such calls in the 99 steps since step 1.")


def test_the_worst_of_those_kept_back_is_told() -> None:
    pace = Pace()
    for step in range(1, 10):
        pace.warning(deep(step, depth=5e-4 if step == 7 else 2e-4, bodies=f"'x{step}' and 'y{step}'"))
    assert pace.warning(deep(10)).startswith("Bodies 'x7' and 'y7' overlap by 0.0005 m")


def test_another_kind_of_trouble_is_told_at_once() -> None:
    pace, other = Pace(), "Joint 'pin' is off by 0.1 m."
    pace.warning(deep(1))
    assert pace.warning(deep(2)) == ""
    assert pace.warning(Report(step=3, converged=False, position_error=0.1, reason=other)) == other


def test_one_call_that_was_kept_back_is_told_as_it_was() -> None:
    pace = Pace()
    pace.warning(deep(1))
    assert pace.warning(deep(50)) == deep(50).reason


def test_steps_that_are_taken_again_from_the_start_are_told_again() -> None:
    pace = Pace()
    assert pace.warning(deep(5)) != ""
    assert pace.warning(deep(3)) != ""
