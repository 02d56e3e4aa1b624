"""Claims about rotations in NumPy, checked with SciPy, closed forms and extended precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError
from rattleback.maths import rotation as rb

ROUND = 1e-14
number = st.floats(-1.0, 1.0)
unit = (
    st.tuples(number, number, number, number)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(lambda q: np.array(q) / np.linalg.norm(q))
)
vector = st.tuples(*[st.floats(-1e3, 1e3)] * 3).map(np.array)


def canonical(quaternions):
    """Whether w > 0, or else the first nonzero component is."""
    for q in np.reshape(quaternions, (-1, 4)):
        lead = next(part for part in (q[3], q[0], q[1], q[2]) if part != 0.0)
        if lead < 0.0:
            return False
    return True


def test_quaternion_and_matrix_round_trip_at_every_awkward_rotation(quaternions, apart):
    matrices = rb.matrix_from_quaternion(quaternions)
    back = rb.quaternion_from_matrix(matrices)
    assert apart(back, quaternions) < ROUND
    assert apart(rb.matrix_from_quaternion(back), matrices) < ROUND
    assert canonical(back)


def test_quaternion_and_rotation_vector_round_trip_at_every_awkward_rotation(quaternions, apart):
    back = rb.quaternion_from_rotation_vector(rb.rotation_vector_from_quaternion(quaternions))
    assert apart(back, quaternions) < ROUND


def test_quaternion_and_axis_angle_round_trip_at_every_awkward_rotation(quaternions, apart):
    axis, angle = rb.axis_angle_from_quaternion(quaternions)
    assert np.abs(np.linalg.norm(axis, axis=-1) - 1.0).max() < ROUND
    assert angle.min() >= 0.0
    assert angle.max() <= np.pi
    assert apart(rb.quaternion_from_axis_angle(axis, angle), quaternions) < ROUND


def test_matrices_round_trip_through_every_other_form(quaternions, apart):
    matrices = Rotation.from_quat(quaternions).as_matrix()
    q = rb.quaternion_from_matrix(matrices)
    through_vector = rb.quaternion_from_rotation_vector(rb.rotation_vector_from_quaternion(q))
    through_axis = rb.quaternion_from_axis_angle(*rb.axis_angle_from_quaternion(q))
    for form in (q, through_vector, through_axis):
        assert apart(rb.matrix_from_quaternion(form), matrices) < ROUND


def test_conversions_agree_with_scipy():
    q = rb.random(2000, seed=3)
    theirs = Rotation.from_quat(q)
    assert np.abs(rb.matrix_from_quaternion(q) - theirs.as_matrix()).max() < ROUND
    assert np.abs(rb.quaternion_from_matrix(theirs.as_matrix()) - theirs.as_quat(canonical=True)).max() < ROUND
    assert np.abs(rb.rotation_vector_from_quaternion(q) - theirs.as_rotvec()).max() < ROUND
    vectors = np.random.default_rng(1).uniform(-9.0, 9.0, (2000, 3))
    ours, theirs = rb.quaternion_from_rotation_vector(vectors), Rotation.from_rotvec(vectors)
    assert np.abs(rb.matrix_from_quaternion(ours) - theirs.as_matrix()).max() < ROUND


def test_products_and_turned_vectors_agree_with_scipy():
    p, q = rb.random(1000, seed=1), rb.random(1000, seed=2)
    v = np.random.default_rng(1).standard_normal((1000, 3))
    ours, theirs = rb.multiply(p, q), Rotation.from_quat(p) * Rotation.from_quat(q)
    assert np.abs(rb.matrix_from_quaternion(ours) - theirs.as_matrix()).max() < ROUND
    assert np.abs(rb.rotate(q, v) - Rotation.from_quat(q).apply(v)).max() < ROUND


def test_rotation_vectors_keep_every_digit_of_tiny_angles(tiny):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    vectors = tiny[:, None] * axis
    wide = vectors.astype(np.longdouble)
    angle = np.hypot(np.hypot(wide[:, 0], wide[:, 1]), wide[:, 2])
    sine = np.where(angle > 0, np.sin(angle / 2) / np.where(angle > 0, angle, 1), 0.5)
    expected = np.column_stack([sine[:, None] * wide, np.cos(angle / 2)])
    got = rb.quaternion_from_rotation_vector(vectors)
    assert (np.abs(got - expected) <= 4.0 * np.finfo(float).eps * np.abs(expected)).all()
    back = rb.rotation_vector_from_quaternion(got)
    assert (np.abs(back - vectors) <= 8.0 * np.finfo(float).eps * np.abs(vectors)).all()


def test_rotation_vector_near_the_half_turn_keeps_its_digits(tiny):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    q = np.column_stack([np.sqrt(1.0 - tiny**2)[:, None] * axis, tiny])
    expected = (np.longdouble(np.pi) - 2.0 * np.arcsin(tiny.astype(np.longdouble)))[:, None] * axis
    assert np.abs(rb.rotation_vector_from_quaternion(q) - expected).max() < 4e-15
    assert np.abs(rb.rotation_vector_from_quaternion(-q[1:]) - expected[1:]).max() < 4e-15


def test_the_half_turn_has_one_rotation_vector_for_both_quaternions():
    q = np.array([0.0, -0.6, 0.8, 0.0])
    assert np.allclose(rb.rotation_vector_from_quaternion(q), np.pi * np.array([0.0, 0.6, -0.8]), atol=1e-15, rtol=0)
    assert np.array_equal(rb.rotation_vector_from_quaternion(q), rb.rotation_vector_from_quaternion(-q))


def test_quarter_turns_written_out_by_hand():
    r = np.sqrt(0.5)
    assert np.allclose(rb.quaternion_from_axis_angle((0, 0, 2.0), np.pi / 2), [0, 0, r, r], atol=2e-16, rtol=0)
    assert np.allclose(rb.matrix_from_quaternion([0, 0, r, r]), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15, rtol=0)
    assert np.allclose(rb.rotate([0, 0, r, r], (1.0, 2.0, 3.0)), [-2.0, 1.0, 3.0], atol=1e-15, rtol=0)
    assert np.array_equal(rb.quaternion_from_matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), [0.5, 0.5, 0.5, 0.5])
    assert np.array_equal(rb.quaternion_from_matrix(np.diag([1.0, -1.0, -1.0])), [1.0, 0.0, 0.0, 0.0])


def test_no_rotation_is_the_identity_in_every_form():
    assert np.array_equal(rb.identity(), [0.0, 0.0, 0.0, 1.0])
    assert np.array_equal(rb.matrix_from_quaternion(rb.identity()), np.eye(3))
    assert np.array_equal(rb.quaternion_from_matrix(np.eye(3)), rb.identity())
    assert np.array_equal(rb.quaternion_from_rotation_vector(np.zeros(3)), rb.identity())
    axis, angle = rb.axis_angle_from_quaternion(-rb.identity())
    assert np.array_equal(axis, [1.0, 0.0, 0.0])
    assert angle == 0.0


def test_rotation_matrix_is_e_times_g_transposed(quaternions):
    e, g = rb.e_matrix(quaternions), rb.g_matrix(quaternions)
    assert np.abs(e @ np.swapaxes(g, 1, 2) - Rotation.from_quat(quaternions).as_matrix()).max() < ROUND


def test_e_and_g_have_orthonormal_rows_and_annihilate_the_quaternion(quaternions):
    outer = quaternions[:, :, None] * quaternions[:, None, :]
    for m in (rb.e_matrix(quaternions), rb.g_matrix(quaternions)):
        assert np.abs(m @ np.swapaxes(m, 1, 2) - np.eye(3)).max() < ROUND
        assert np.abs(np.swapaxes(m, 1, 2) @ m - (np.eye(4) - outer)).max() < ROUND
        assert np.abs(m @ quaternions[:, :, None]).max() < ROUND


def test_rates_of_quaternion_and_matrix_belong_to_the_angular_velocity():
    q, w = rb.random(200, seed=4), np.random.default_rng(2).standard_normal((200, 3))
    rate = 0.5 * (np.swapaxes(rb.e_matrix(q), 1, 2) @ w[:, :, None])[..., 0]
    assert np.abs(rb.quaternion_rate(q, w) - rate).max() < ROUND
    matrix_rate = 2.0 * rb.e_matrix(q) @ np.swapaxes(rb.g_matrix(rate), 1, 2)
    spun = np.stack([np.cross(w, column) for column in np.moveaxis(rb.matrix_from_quaternion(q), 2, 0)], axis=2)
    assert np.abs(matrix_rate - spun).max() < ROUND
    also = 2.0 * rb.e_matrix(rate) @ np.swapaxes(rb.g_matrix(q), 1, 2)
    assert np.abs(matrix_rate - also).max() < ROUND


def test_rates_are_the_limits_of_difference_quotients():
    q, w, h = rb.random(200, seed=5), np.random.default_rng(3).standard_normal((200, 3)), 1e-5
    after, before = (Rotation.from_rotvec(s * h * w) * Rotation.from_quat(q) for s in (1.0, -1.0))
    rate = rb.quaternion_rate(q, w)
    quotient = (after.as_quat() - before.as_quat()) / (2.0 * h)
    assert np.abs(quotient - rate).max() < 1e-9
    matrix_rate = 2.0 * rb.e_matrix(q) @ np.swapaxes(rb.g_matrix(rate), 1, 2)
    assert np.abs((after.as_matrix() - before.as_matrix()) / (2.0 * h) - matrix_rate).max() < 1e-9


@settings(deadline=None)
@given(vector, vector)
def test_cross_matrix_times_vector_is_the_cross_product(a, b):
    assert np.allclose(rb.cross_matrix(a) @ b, np.cross(a, b), rtol=0, atol=1e-9)
    assert np.array_equal(rb.cross_matrix(a), -rb.cross_matrix(a).T)


@settings(deadline=None)
@given(unit, unit, vector)
def test_a_product_turns_by_its_second_factor_first(p, q, v):
    together, one_by_one = rb.rotate(rb.multiply(p, q), v), rb.rotate(p, rb.rotate(q, v))
    assert np.allclose(together, one_by_one, rtol=0, atol=ROUND * (1.0 + np.linalg.norm(v)))


@settings(deadline=None)
@given(unit, vector)
def test_the_conjugate_turns_back_and_turning_keeps_lengths(q, v):
    scale = 1.0 + np.linalg.norm(v)
    assert np.allclose(rb.rotate(rb.conjugate(q), rb.rotate(q, v)), v, rtol=0, atol=ROUND * scale)
    assert abs(np.linalg.norm(rb.rotate(q, v)) - np.linalg.norm(v)) < ROUND * scale


@settings(deadline=None)
@given(unit)
def test_quaternion_of_its_matrix_is_the_quaternion(q):
    back = rb.quaternion_from_matrix(rb.matrix_from_quaternion(q))
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < ROUND


@settings(max_examples=200, deadline=None)
@given(unit, st.lists(st.floats(-0.2, 0.2), min_size=9, max_size=9), st.floats(1e-3, 1e3))
def test_orthonormalise_gives_the_polar_factor_at_any_scale(q, errors, scale):
    m = Rotation.from_quat(q).as_matrix() + np.reshape(errors, (3, 3))
    u, _, v = np.linalg.svd(m)
    mended = rb.orthonormalise(scale * m)
    assert np.abs(mended @ mended.T - np.eye(3)).max() < 2e-15
    assert np.abs(mended - u @ v).max() < ROUND


def test_orthonormalise_leaves_a_rotation_alone():
    for m in (np.eye(3), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])):
        assert np.array_equal(rb.orthonormalise(m), m)
    r = Rotation.from_quat(rb.random(100, seed=8)).as_matrix()
    assert np.abs(rb.orthonormalise(r) - r).max() < 1e-15


def test_random_rotations_are_spread_evenly_and_repeat_with_the_seed():
    q = rb.random(20000, seed=11)
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 1e-15
    assert np.array_equal(q[:5], rb.random(5, seed=11))
    assert not np.array_equal(q[:5], rb.random(5, seed=12))
    turned = Rotation.from_quat(q)
    angles = turned.magnitude()  # an even spread over all rotations has P(angle < a) = (a − sin a)/π
    assert stats.kstest(angles, lambda a: (a - np.sin(a)) / np.pi).pvalue > 0.01
    heights = turned.apply([0.0, 0.0, 1.0])[:, 2]
    assert stats.kstest(heights, stats.uniform(-1.0, 2.0).cdf).pvalue > 0.01


def test_stacks_of_any_shape_go_through_every_function():
    q = rb.random(6, seed=1).reshape(2, 3, 4)
    assert rb.matrix_from_quaternion(q).shape == (2, 3, 3, 3)
    assert rb.quaternion_from_matrix(rb.matrix_from_quaternion(q)).shape == (2, 3, 4)
    axis, angle = rb.axis_angle_from_quaternion(q)
    assert (axis.shape, angle.shape) == ((2, 3, 3), (2, 3))
    assert rb.quaternion_from_axis_angle((0, 0, 1), angle).shape == (2, 3, 4)
    assert rb.quaternion_from_axis_angle(axis, 0.5).shape == (2, 3, 4)
    assert rb.euler_from_quaternion(q, "zyx").shape == (2, 3, 3)
    assert rb.multiply(q, rb.identity()).shape == (2, 3, 4)
    assert rb.rotate(rb.identity(), np.ones((5, 3))).shape == (5, 3)
    assert rb.e_matrix(q).shape == rb.g_matrix(q).shape == (2, 3, 3, 4)
    assert rb.orthonormalise(np.empty((0, 3, 3))).shape == (0, 3, 3)
    assert rb.rotate(np.empty((0, 4)), np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rb.matrix_from_quaternion([0, 0, 1]),
            r"^quaternion has shape \(3,\); it must have the shape \(\.\.\., 4\)\.$",
        ),
        (
            lambda: rb.quaternion_from_matrix(np.eye(4)),
            r"^matrix has shape \(4, 4\); it must have the shape \(\.\.\., 3, 3\)\.$",
        ),
        (
            lambda: rb.cross_matrix("up"),
            r"^vector cannot be read as numbers; it must be an array of shape \(\.\.\., 3\)\.$",
        ),
        (
            lambda: rb.rotate(rb.identity(), (0, 0, np.nan)),
            r"^vectors has an entry that is not finite; .* finite number\.$",
        ),
        (
            lambda: rb.matrix_from_quaternion([0, 0, 0, 2]),
            r"^quaternion is a quaternion .* of length 2; it must have length 1",
        ),
        (
            lambda: rb.rotate([[0, 0, 0, 1], [0, 0, 0, 0]], (0, 0, 1)),
            r"^quaternion\[1\] is a quaternion .* of length 0;",
        ),
        (lambda: rb.matrix_from_quaternion([1e308] * 4), r"^quaternion is a quaternion .* of length inf;"),
        (
            lambda: rb.quaternion_from_matrix(1.001 * np.eye(3)),
            r"^matrix is not a rotation .* by 0\.002; call orthonormalise",
        ),
        (lambda: rb.quaternion_from_matrix(1e300 * np.ones((3, 3))), r"^matrix is not a rotation matrix"),
        (
            lambda: rb.quaternion_from_matrix(-np.eye(3)),
            r"^matrix is a reflection: a rotation matrix has determinant \+1",
        ),
        (
            lambda: rb.orthonormalise([np.eye(3), np.diag([1, 1, -1])]),
            r"^matrix\[1\] is a reflection, or flat: .* columns\.$",
        ),
        (lambda: rb.orthonormalise(np.zeros((3, 3))), r"^matrix is a reflection, or flat"),
        (lambda: rb.quaternion_from_axis_angle((0, 0, 0), 1.0), r"^axis is the zero vector; an axis needs a length\.$"),
        (
            lambda: rb.quaternion_from_axis_angle((0, 0, 1), "x"),
            r"^angle cannot be read as numbers; .* shape \(\.\.\.\)\.$",
        ),
        (
            lambda: rb.multiply(np.ones((2, 4)), np.ones((3, 4))),
            r"^first is a stack of shape \(2,\) and second one of shape",
        ),
        (lambda: rb.random(0, seed=1), r"^count is 0; it must be at least 1\.$"),
        (lambda: rb.random(1, seed=-1), r"^seed is -1; it must be at least 0\.$"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_quaternions_and_matrices_off_by_rounding_are_accepted():
    q = np.array([0.1, 0.2, 0.3, np.sqrt(1.0 - 0.14)])
    assert np.allclose(rb.matrix_from_quaternion(q * (1.0 + 5e-7)), rb.matrix_from_quaternion(q), rtol=0, atol=1e-15)
    printed = np.round(rb.matrix_from_quaternion(q), 7)
    assert np.abs(rb.quaternion_from_matrix(printed) - q).max() < 1e-7
    assert abs(np.linalg.norm(rb.quaternion_from_matrix(printed)) - 1.0) < 1e-15
