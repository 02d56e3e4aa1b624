"""The checks on what users hand in: what passes comes out clean, what does not is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.core import checks
from rattleback.core.errors import InputError, did_you_mean, listing

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_a_finite_number_comes_back_as_it_is(value: float) -> None:
    assert checks.number(value, "x") == value


@given(st.tuples(finite, finite, finite))
def test_a_finite_vector_comes_back_as_it_is(value: tuple[float, float, float]) -> None:
    assert checks.vector(value, "x").tolist() == list(value)


@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_a_quaternion_that_was_scaled_once_keeps_its_bits(value: tuple[float, ...]) -> None:
    once = checks.unit_quaternion(np.array(value) / np.linalg.norm(value), "q")
    assert checks.unit_quaternion(once, "q").tolist() == once.tolist()


@given(st.one_of(st.none(), st.text(), st.booleans(), st.lists(st.none()), st.dictionaries(st.text(), st.text())))
def test_what_is_not_a_number_is_refused_in_a_sentence(value: object) -> None:
    for check in (checks.number, checks.positive, checks.not_negative, checks.count):
        with pytest.raises(InputError, match="The size is .*; it must be"):
            check(value, "The size")


@given(st.one_of(st.none(), st.text(), st.lists(finite, max_size=2), st.lists(st.text(), min_size=3, max_size=3)))
def test_what_is_not_a_vector_is_refused_in_a_sentence(value: object) -> None:
    with pytest.raises(InputError, match="The place"):
        checks.vector(value, "The place")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: checks.number(float("inf"), "The size"), "The size is inf; it must be finite."),
        (lambda: checks.positive(0.0, "The size"), "The size is 0.0; it must be greater than zero."),
        (lambda: checks.not_negative(-1, "The size"), "The size is -1; it must be zero or more."),
        (lambda: checks.count(1.5, "The count"), "The count is 1.5; it must be a whole number."),
        (lambda: checks.count(0, "The count"), "The count is 0; it must be at least 1."),
        (lambda: checks.flag("no", "strict"), "strict is 'no'; it must be True or False."),
        (lambda: checks.text("", "The name"), "The name is ''; it must be a string that is not empty."),
        (lambda: checks.direction((0, 0, 0), "The axis"), "The axis is the zero vector; a direction needs a length."),
        (
            lambda: checks.array(np.zeros((2, 2)), (-1, 3), "The points"),
            "The points has shape (2, 2); it must be nx3 numbers.",
        ),
        (lambda: checks.one_of("up", ("x", "y"), "The axis"), "The axis is 'up'; it may be 'x', 'y'."),
        (
            lambda: checks.options({"lenght": 1}, ["length"], "Rope"),
            "Rope has no option 'lenght'. Did you mean 'length'?",
        ),
        (lambda: checks.instance(3, str, "The name", "'arm'"), "The name is 3; it must be a str, such as 'arm'."),
    ],
)
def test_each_refusal_names_the_thing_and_what_would_work(call: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


def test_a_direction_has_length_one() -> None:
    np.testing.assert_allclose(checks.direction((0, 3, 4), "The axis"), [0, 0.6, 0.8])


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(InputError) as caught:
        checks.vector(np.arange(1000.0) * np.nan, "The place")
    assert len(str(caught.value)) < 200


def test_long_lists_are_cut() -> None:
    assert listing([]) == "none"
    assert listing(list("abc"), 2) == "'a', 'b' and 1 more"
    assert did_you_mean("zzz", ["abc"]) == ""
