"""Claims about inertia tensors, checked with sums over point masses and with SciPy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError
from rattleback.maths import inertia as rb
from rattleback.maths.rotation import matrix_from_quaternion

seeds = st.integers(0, 10**6)


def cloud(seed, count=12):
    """Masses and places of some points."""
    generator = np.random.default_rng(seed)
    return generator.uniform(0.1, 2.0, count), generator.uniform(-1.0, 1.0, (count, 3))


def about(masses, places, point):
    """The inertia of point masses about a point, entry by entry."""
    total = np.zeros((3, 3))
    for mass, r in zip(masses, places - np.asarray(point), strict=True):
        for i, j in itertools.product(range(3), repeat=2):
            total[i, j] += mass * ((r @ r if i == j else 0.0) - r[i] * r[j])
    return total


def centre_of(masses, places):
    """The centre of mass of point masses."""
    return np.average(places, axis=0, weights=masses)


@settings(deadline=None)
@given(seeds)
def test_parallel_axis_moves_the_inertia_and_its_inverse_moves_it_back(seed):
    masses, places = cloud(seed)
    centre, point = centre_of(masses, places), np.array([0.3, -0.7, 2.0])
    at_centre, at_point = about(masses, places, centre), about(masses, places, point)
    mass, offset = float(masses.sum()), point - centre
    scale = np.abs(at_point).max()
    assert np.abs(rb.parallel_axis(at_centre, mass, offset) - at_point).max() < 1e-14 * scale
    assert np.abs(rb.parallel_axis_inverse(at_point, mass, offset) - at_centre).max() < 1e-14 * scale


@settings(deadline=None)
@given(seeds)
def test_turned_inertia_is_that_of_the_turned_points(seed):
    masses, places = cloud(seed)
    turn = Rotation.from_rotvec(places[0] * 3.0)
    turned = rb.rotate_inertia(about(masses, places, np.zeros(3)), turn.as_matrix())
    assert np.abs(turned - about(masses, turn.apply(places), np.zeros(3))).max() < 1e-13
    assert np.array_equal(turned, turned.T)


@settings(deadline=None)
@given(seeds)
def test_principal_moments_are_the_eigenvalues_and_the_axes_rebuild_the_tensor(seed):
    masses, places = cloud(seed, 4)
    tensor = about(masses, places, centre_of(masses, places))
    moments, quaternion = rb.principal_axes(tensor)
    assert np.allclose(np.sort(moments), np.linalg.eigvalsh(tensor), rtol=0, atol=1e-14 * np.abs(tensor).max())
    axes = Rotation.from_quat(quaternion).as_matrix()
    assert np.abs(axes @ np.diag(moments) @ axes.T - tensor).max() < 1e-14 * np.abs(tensor).max()
    assert np.linalg.det(axes) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("diagonal", [*itertools.permutations((0.5, 1.0 / 3.0, 0.7)), (2.0, 2.0, 2.0), (0.1, 0.3, 0.3)])
def test_a_diagonal_tensor_keeps_its_order_and_exactly_the_identity(diagonal):
    moments, quaternion = rb.principal_axes(np.diag(diagonal))
    assert np.array_equal(moments, diagonal)
    assert np.array_equal(quaternion, [0.0, 0.0, 0.0, 1.0])


def test_a_sphere_with_rounding_off_the_diagonal_keeps_its_axes():
    noise = 1e-16 * np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.5], [-1.0, 0.5, 0.0]])
    moments, quaternion = rb.principal_axes(np.eye(3) + noise)
    assert np.array_equal(moments, [1.0, 1.0, 1.0])
    assert np.array_equal(quaternion, [0.0, 0.0, 0.0, 1.0])


@settings(deadline=None)
@given(st.sampled_from([(1.0, 1.0, 2.0), (1.0, 1.0, 1e-9), (3.0, 3.0, 3.0), (1.0, 1.0 + 1e-12, 0.5)]), seeds)
def test_repeated_moments_give_the_same_right_handed_axes_every_time(diagonal, seed):
    turn = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    tensor = turn @ np.diag(diagonal) @ turn.T
    tensor = 0.5 * (tensor + tensor.T)
    moments, quaternion = rb.principal_axes(tensor)
    again = rb.principal_axes(tensor.copy())
    assert np.array_equal(moments, again[0])
    assert np.array_equal(quaternion, again[1])
    axes = matrix_from_quaternion(quaternion)
    assert np.abs(axes @ np.diag(moments) @ axes.T - tensor).max() < 1e-14 * max(diagonal)


def test_axes_close_to_principal_stay_close_to_the_identity():
    tensor = np.diag([2.0, 1.0, 1.5])
    tensor[0, 1] = tensor[1, 0] = 1e-6
    moments, quaternion = rb.principal_axes(tensor)
    assert np.allclose(moments, [2.0 + 1e-12, 1.0 - 1e-12, 1.5], rtol=0, atol=1e-15)
    assert np.allclose(quaternion, [0.0, 0.0, 0.5e-6, 1.0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e200])
def test_principal_axes_work_at_any_scale(scale):
    tensor = np.array([[3.0, 0.2, -0.1], [0.2, 2.5, 0.4], [-0.1, 0.4, 2.0]])
    moments, quaternion = rb.principal_axes(scale * tensor)
    assert np.allclose(np.sort(moments), scale * np.linalg.eigvalsh(tensor), rtol=1e-14, atol=0)
    assert np.allclose(quaternion, rb.principal_axes(tensor)[1], rtol=0, atol=1e-14)


@settings(deadline=None)
@given(seeds)
def test_parts_combine_to_the_whole_cloud_of_points(seed):
    masses, places = cloud(seed)
    parts = []
    for part in (slice(0, 3), slice(3, 4), slice(4, 12)):
        centre = centre_of(masses[part], places[part])
        parts.append((masses[part].sum(), centre, about(masses[part], places[part], centre)))
    mass, centre, tensor = rb.combine(parts)
    expected = centre_of(masses, places)
    assert mass == pytest.approx(masses.sum(), rel=1e-15)
    assert np.abs(centre - expected).max() < 1e-14
    assert np.abs(tensor - about(masses, places, expected)).max() < 1e-13


def test_one_part_is_itself():
    place, tensor = np.array([0.1, 0.2, 0.3]), np.diag([1.0, 2.0, 2.5])
    mass, centre, total = rb.combine([(3.0, place, tensor)])
    assert mass == 3.0
    assert np.array_equal(centre, place)
    assert np.array_equal(total, tensor)


def test_a_dumbbell_of_two_points_written_out_by_hand():
    mass, centre, tensor = rb.combine([(1.0, (0, 0, 0), np.zeros((3, 3))), (3.0, (4.0, 0, 0), np.zeros((3, 3)))])
    assert mass == 4.0
    assert np.array_equal(centre, [3.0, 0.0, 0.0])
    assert np.array_equal(tensor, np.diag([0.0, 12.0, 12.0]))


def test_inertia_of_real_bodies_passes_the_check():
    box = np.diag([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2]) / 12.0
    assert np.array_equal(rb.check_inertia(box, "the inertia of box"), box)
    plate = np.diag([1.0, 2.0, 3.0])
    turn = Rotation.from_rotvec([1.0, 2.0, 3.0]).as_matrix()
    assert np.array_equal(rb.check_inertia(plate, "the inertia of plate"), plate)
    rb.check_inertia(turn @ plate @ turn.T, "the inertia of plate")
    rb.check_inertia(turn @ np.diag([6e-10, 1.0, 1.0]) @ turn.T, "the inertia of wire")


def test_inertia_that_is_symmetric_to_rounding_comes_back_exactly_symmetric():
    tensor = np.array([[3.0, 0.2, -0.1], [0.2 + 1e-10, 2.5, 0.4], [-0.1, 0.4, 2.0]])
    clean = rb.check_inertia(tensor, "inertia")
    assert np.array_equal(clean, clean.T)
    assert np.allclose(clean, tensor, rtol=0, atol=1e-10)


def skew():
    """A tensor with one entry off by 1e-8."""
    return np.array([[3.0, 0.2 + 1e-8, 0.0], [0.2, 2.5, 0.4], [0.0, 0.4, 2.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rb.check_inertia(skew(), "the inertia of rod"),
            r"^the inertia of rod is not symmetric: the entries \[0, 1\] and \[1, 0\] are 0\.20000001 and 0\.2; they",
        ),
        (
            lambda: rb.check_inertia(np.diag([1.0, -1.0, 1.0]), "the inertia of rod"),
            r"^the inertia of rod has the principal moments -1, 1, 1 kg m²; each must be greater than zero\.$",
        ),
        (lambda: rb.check_inertia(np.zeros((3, 3)), "J"), r"^J has the principal moments 0, 0, 0 kg m²; each must be"),
        (
            lambda: rb.check_inertia([[1, 1, 0], [1, 1, 0], [0, 0, 2]], "J"),
            r"^J has the principal moments .* kg m²; each must be greater than zero\.$",
        ),
        (
            lambda: rb.check_inertia(np.diag([3.001, 1.0, 2.0]), "J"),
            r"^J has the principal moments 1, 2, 3\.001 kg m²; in a rigid body none is greater than the sum of the two",
        ),
        (lambda: rb.check_inertia(np.ones(3), "J"), r"^J has shape \(3,\); it must be 3x3 numbers\.$"),
        (lambda: rb.principal_axes([[np.nan] * 3] * 3), r"^inertia is .*; every entry must be finite\.$"),
        (lambda: rb.parallel_axis(np.eye(3), 0.0, (0, 0, 1)), r"^mass is 0\.0; it must be greater than zero\.$"),
        (
            lambda: rb.parallel_axis_inverse(np.eye(3), 1.0, (0, 1)),
            r"^offset has shape \(2,\); it must be 3 numbers\.$",
        ),
        (
            lambda: rb.rotate_inertia(np.eye(3), 2.0 * np.eye(3)),
            r"^rotation is not a rotation matrix: .* orthonormalise",
        ),
        (
            lambda: rb.combine([]),
            r"^There are no parts to combine; give at least one \(mass, centre of mass, inertia\)\.$",
        ),
        (
            lambda: rb.combine([(1.0, (0, 0, 0), np.eye(3)), (-1.0, (0, 0, 0), np.eye(3))]),
            r"^the mass of part 1 is -1\.0; it must be greater than zero\.$",
        ),
        (lambda: rb.combine([(1.0, (0, 0), np.eye(3))]), r"^the centre of mass of part 0 has shape \(2,\);"),
        (lambda: rb.combine([(1.0, (0, 0, 0), skew())]), r"^the inertia of part 0 is not symmetric"),
    ],
)
def test_what_no_rigid_body_can_have_is_refused_in_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()
