"""JSON text: laid out for people, and not one digit lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.core.errors import FileError
from rattleback.io import json_text
from rattleback.io.faults import Faults

number = st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(
    st.none() | st.booleans() | number | st.integers(-(10**30), 10**30) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=8), inner, max_size=20),
    max_leaves=60,
)


def parsed(text):
    return json_text.parse(text.encode(), Faults("scene file", "x", {}))


@given(trees)
def test_the_layout_says_what_the_data_are(data):
    text = json_text.layout(data)
    assert json.loads(text) == parsed(text) == data
    assert json_text.layout(parsed(text)) == text


@given(st.lists(st.lists(number, min_size=3, max_size=3), min_size=20, max_size=30))
def test_a_long_list_of_points_has_a_line_a_point(points):
    lines = json_text.layout({"vertices": points}).splitlines()
    assert len(lines) == len(points) + 4
    assert lines[2].startswith("    [")


def test_deep_data_end_on_one_line():
    data = []
    for _ in range(300):
        data = [data, "some text"]
    text = json_text.layout(data)
    assert json.loads(text) == data
    assert len(text.splitlines()) < 200


def test_what_is_not_a_number_is_never_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text.layout([float("inf")])


def test_a_number_beyond_every_float_becomes_infinite_for_the_schema_to_refuse():
    assert parsed("1" * 5000) == parsed("1e999") == float("inf")
    assert parsed("-" + "1" * 5000) == float("-inf")
    assert parsed("1" * 300) == int("1" * 300)


def test_fields_given_twice_are_noted_where_they_are():
    faults = Faults("scene file", "x", {})
    text = b'{"a": {"b": 1, "b": 2}, "a": [{"c": 1, "c": 1}, {"d": 1}], "e f": {"\xc3\xa4": 1, "\xc3\xa4": 2}}'
    assert json_text.parse(text, faults)["a"] == [{"c": 1}, {"d": 1}]
    assert sorted(path for path, _ in faults.found) == ["['e f']['ä']", "a", "a[0].c"]
    with pytest.raises(FileError, match="has 3 faults:"):
        faults.check()
