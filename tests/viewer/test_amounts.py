import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.viewer.amounts import amount


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (100.0, 2, "100"), (123.4, 2, "120"), (6.8e-34, 4, "0"), (-0.0, 3, "0"), (0.00123, 2, "0.0012"),
        (2.5e-6, 3, "2.5e-6"), (98765.4, 3, "98800"), (1e20, 3, "1e+20"), (-99.96, 3, "-100"),
    ],
)  # fmt: skip
def test_amounts_are_written_as_they_are_read(value, digits, text):
    assert amount(value, digits) == text


@given(st.floats(1e-8, 1e12), st.integers(1, 8))
def test_an_amount_is_as_near_as_its_digits_allow(value, digits):
    assert math.isclose(float(amount(value, digits)), value, rel_tol=0.5001 * 10.0 ** (1 - digits))
