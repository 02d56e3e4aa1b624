"""Rows and their verdicts, and what a result says of itself."""

import dataclasses
import math

import pytest

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    as_dict,
    at_least,
    at_most,
    near,
)


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        (near("x", 1.0005, 1.0, 1e-3), True),
        (near("x", 0.9995, 1.0, 1e-3), True),
        (near("x", 1.002, 1.0, 1e-3), False),
        (near("x", math.nan, 1.0, 1e-3), False),
        (near("n", 9, 9, 0.0), True),
        (at_most("x", 1.0, 1.0), True),
        (at_most("x", 1.1, 1.0), False),
        (at_most("x", math.nan, 1.0), False),
        (at_most("x", -math.inf, 1.0), False),
        (at_least("x", 1.0, 1.0), True),
        (at_least("x", 0.9, 1.0), False),
        (at_least("x", math.inf, 1.0), False),
        (Finding("x", 5.0, 1.0), None),
    ],
)
def test_a_row_passes_where_its_demand_is_met_and_never_with_a_number_that_is_not_finite(row, passed):
    assert row.passed is passed


def test_a_row_says_what_is_demanded():
    assert near("x", 1.0, 1.0, 1e-5).demand == "± 1e-05"
    assert at_most("x", 1.0, 2.0).demand == "≤ 2"
    assert at_least("x", 1.0, 2.0).demand == "≥ 2"
    assert Finding("x", 1.0).demand == ""


def test_a_result_passes_unless_a_row_fails():
    good, bad, shown = at_most("a", 0.0, 1.0), at_most("b", 2.0, 1.0), Finding("c", 1.0)
    assert Result((good, shown)).passed
    assert not Result((good, bad, shown)).passed
    assert Result(skipped="There is no data.").passed


def test_findings_keep_a_note_once_and_no_empty_one():
    found = Findings()
    for sentence in ("One.", "", "One.", "Two."):
        found.note(sentence)
    panel = Panel("t", "x", "y", (Curve("c", [1.0], [2.0]),))
    assert found.result(panel) == Result((), (panel,), ("One.", "Two."))


def test_a_result_as_plain_data_has_everything():
    result = Result((at_most("a", 0.5, 1.0, "m"),), (Panel("t", "x", "y", (Curve("c", [1.0], [2.0]),)),), ("N.",))
    experiment = Experiment("e", "Why?", "a book", lambda options: result)
    said = as_dict(experiment, experiment.run(Options()))
    assert (said["name"], said["question"], said["source"], said["passed"]) == ("e", "Why?", "a book", True)
    assert said["rows"][0]["quantity"] == "a"
    assert said["rows"][0]["tolerance"] == 1.0
    assert said["panels"][0]["curves"][0]["y"] == [2.0]
    assert said["notes"] == ("N.",)


def test_what_an_experiment_hands_back_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Finding("x", 1.0).measured = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        Result().skipped = "no"
