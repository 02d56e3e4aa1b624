"""What is printed, and where."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.cli import output
from rattleback.core.errors import DivergenceError, InputError

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
DATA = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(DATA)
def test_plain_data_comes_back_from_json_as_it_was(data):
    assert json.loads(output.as_json(data)) == data


def test_arrays_and_paths_are_written_as_lists_and_text():
    data = {"a": np.array([[1.5, 2.0]]), "b": np.float64(0.1), "c": np.int64(3), "d": Path("x"), "e": (np.bool_(True),)}
    assert json.loads(output.as_json(data)) == {"a": [[1.5, 2.0]], "b": 0.1, "c": 3, "d": "x", "e": [True]}


def test_numbers_that_are_not_finite_become_null():
    assert json.loads(output.as_json([math.nan, math.inf, np.array([-math.inf])])) == [None, None, [None]]


def test_an_error_is_a_sentence_on_standard_error_only(capsys):
    output.complain(InputError("It is wrong."), as_object=False)
    assert capsys.readouterr() == ("", "rattleback: It is wrong.\n")


def test_an_error_is_an_object_on_standard_output_too_where_one_was_asked_for(capsys):
    error = DivergenceError("It fell.", body="b", world=0, time=0.0, step=1)
    error.add_note("Written: x.")
    output.complain(error, as_object=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": {"kind": "DivergenceError", "message": "It fell. Written: x."}}
    assert err == "rattleback: It fell. Written: x.\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_no_fault(stream, monkeypatch):
    monkeypatch.setattr(f"sys.{stream}", None)
    output.prepare()
    output.write("text")
    output.say("Sentence.")
