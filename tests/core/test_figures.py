"""Numbers in sentences: a value and the limit that it exceeds never look the same."""

import math

from hypothesis import given
from hypothesis import strategies as st

from rattleback.core.figures import told_apart


def test_numbers_that_differ_have_three_digits() -> None:
    assert told_apart(0.02713, 0.0011) == ("0.0271", "0.0011")


def test_numbers_that_differ_late_have_the_digits_it_takes() -> None:
    assert told_apart(4.5412e-05, 4.5381e-05) == ("4.541e-05", "4.538e-05")


@given(limit=st.floats(1e-12, 1e12))
def test_even_neighbours_among_numbers_are_told_apart(limit: float) -> None:
    value, most = told_apart(math.nextafter(limit, math.inf), limit)
    assert value != most
    assert float(value) > float(most)
