import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError
from rattleback.shapes import MassProperties

number = st.floats(-10, 10)
point = st.tuples(number, number, number)


def cloud(points, masses):
    """Mass, centre and inertia about it of point masses, from the definition."""
    mass = masses.sum()
    center = masses @ points / mass
    r = points - center
    inertia = sum(m * (v @ v * np.eye(3) - np.outer(v, v)) for m, v in zip(masses, r, strict=True))
    return mass, center, inertia


@given(st.integers(0, 2**32 - 1), point, st.tuples(*[st.floats(-3, 3)] * 3))
def test_placed_properties_are_those_of_the_moved_points(seed, position, turn):
    rng = np.random.default_rng(seed)
    points, masses = rng.standard_normal((8, 3)), rng.uniform(0.5, 2.0, 8)
    rotation = Rotation.from_rotvec(turn)
    got = MassProperties(*cloud(points, masses)).placed(position, rotation.as_matrix())
    mass, center, inertia = cloud(rotation.apply(points) + position, masses)
    assert_allclose(got.mass, mass, rtol=1e-15)
    assert_allclose(got.center_of_mass, center, rtol=0, atol=1e-13)
    assert_allclose(got.inertia, inertia, rtol=0, atol=1e-12)


@given(st.floats(1e-3, 1e3))
def test_scaling_the_mass_scales_the_inertia_alone(mass):
    first = MassProperties(2.0, [1, 2, 3], np.diag([1.0, 2.0, 2.5]))
    second = first.with_mass(mass)
    assert second.mass == mass
    assert (second.center_of_mass == [1, 2, 3]).all()
    assert_allclose(second.inertia, np.diag([0.5, 1.0, 1.25]) * mass, rtol=1e-15)


def test_arrays_are_read_only_and_their_own():
    center, inertia = np.zeros(3), np.eye(3)
    properties = MassProperties(1.0, center, inertia)
    center[0] = inertia[0, 0] = 7.0
    assert properties.center_of_mass[0] == 0.0
    assert properties.inertia[0, 0] == 1.0
    for array in (properties.center_of_mass, properties.inertia):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MassProperties(0.0, (0, 0, 0), np.eye(3)),
            "The mass of MassProperties is 0.0; it must be greater than zero.",
        ),
        (
            lambda: MassProperties(1.0, (0, 0), np.eye(3)),
            "The centre of mass of MassProperties has shape (2,); it must be 3 numbers.",
        ),
        (
            lambda: MassProperties(1.0, (0, 0, 0), np.eye(2)),
            "The inertia of MassProperties has shape (2, 2); it must be 3x3 numbers.",
        ),
        (
            lambda: MassProperties(1.0, (0, 0, 0), np.diag([1, 1, 3]), of="Part"),
            "The inertia of Part has the principal moments 1, 1, 3 kg m²; in a rigid body none is greater than the sum "
            "of the two others.",
        ),
        (
            lambda: MassProperties(1.0, (0, 0, 0), np.eye(3)).with_mass(-1),
            "The mass of MassProperties is -1; it must be greater than zero.",
        ),
    ],
)
def test_impossible_properties_are_refused(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message
