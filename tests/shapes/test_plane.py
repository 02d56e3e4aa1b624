import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import Plane

component = st.floats(-1e3, 1e3)
normal = st.tuples(component, component, component).filter(lambda n: max(map(abs, n)) > 1e-3)


def test_the_default_plane_is_the_ground():
    assert Plane() == Plane(normal=(0, 0, 1), offset=0)
    assert Plane().normal == (0.0, 0.0, 1.0)
    assert Plane().offset == 0.0


@given(normal)
def test_the_normal_is_scaled_to_length_one(n):
    plane = Plane(n)
    assert_allclose(math.hypot(*plane.normal), 1.0, rtol=1e-15)
    assert_allclose(np.cross(plane.normal, n), 0.0, atol=1e-15 * math.hypot(*n))
    assert np.dot(plane.normal, n) > 0


@given(normal, component)
def test_a_plane_made_from_the_fields_of_another_is_equal_to_it(n, offset):
    plane = Plane(n, offset)
    again = Plane(plane.normal, plane.offset)
    assert again == plane
    assert hash(again) == hash(plane)


def test_a_plane_is_infinite():
    low, high = Plane().bounds()
    assert (low == -math.inf).all()
    assert (high == math.inf).all()
    assert Plane().volume() == math.inf
    assert Plane().bounding_radius() == math.inf


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: Plane().mass_properties(1000.0),
            "Plane fills half of space and has no mass; add it with add_static, or use a Box.",
        ),
        (
            lambda: Plane().support((0, 0, 1)),
            "Plane fills half of space and has no support point; use its normal and offset.",
        ),
        (lambda: Plane((0, 0, 0)), "The normal of Plane is the zero vector; a direction needs a length."),
        (lambda: Plane((0, 1)), "The normal of Plane has shape (2,); it must be 3 numbers."),
        (lambda: Plane(offset=math.nan), "The offset of Plane is nan; it must be finite."),
    ],
)
def test_what_a_plane_refuses(use, message):
    with pytest.raises(InputError) as caught:
        use()
    assert str(caught.value) == message
