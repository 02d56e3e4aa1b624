"""Claims about Euler angles in all 24 sequences, checked with SciPy and with matrices written out by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.core.errors import RattlebackError, UnknownName
from rattleback.maths import rotation as rb
from rattleback.maths.euler import sequence_code

ROUND = 1e-14
angle = st.floats(-np.pi, np.pi)


def turn(axis, angles):
    """Matrices of turns about coordinate axes, by the definition."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    result = np.zeros((*np.shape(angles), 3, 3))
    result[..., axis, axis] = 1.0
    result[..., j, j] = result[..., k, k] = np.cos(angles)
    result[..., k, j], result[..., j, k] = np.sin(angles), -np.sin(angles)
    return result


def locks(sequence):
    """The middle angles at which the outer axes fall together."""
    return (0.0, np.pi) if sequence[0] == sequence[2] else (0.5 * np.pi, -0.5 * np.pi)


def angles_near_lock(sequence):
    """Angles at the gimbal lock and from 1e-3 down to 1e-300 away from it."""
    outer = np.random.default_rng(5).uniform(-np.pi, np.pi, (20, 2)).tolist()
    outer += [*itertools.product((0.0, np.pi, 0.5 * np.pi, -0.5 * np.pi), repeat=2)]
    distances = [0.0, 1e-300] + [10.0**-k for k in range(3, 18)]
    return np.array(
        [
            (first, lock + sign * distance, third)
            for lock in locks(sequence)
            for sign in (1, -1)
            for distance in distances
            for first, third in outer
        ]
    )


def test_there_are_24_sequences_with_numbers_of_their_own():
    assert len(set(rb.SEQUENCES)) == 24
    assert len({sequence_code(sequence) for sequence in rb.SEQUENCES}) == 24
    assert {sequence.lower() for sequence in rb.SEQUENCES} == {s for s in rb.SEQUENCES if s.islower()}


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_angles_to_quaternion_agrees_with_scipy_and_with_the_product_of_turns(sequence):
    angles = np.random.default_rng(1).uniform(-7.0, 7.0, (300, 3))
    q, matrices = rb.quaternion_from_euler(angles, sequence), rb.matrix_from_euler(angles, sequence)
    assert np.abs(matrices - Rotation.from_euler(sequence, angles).as_matrix()).max() < ROUND
    one, two, three = (turn("xyz".index(letter), angles[:, n]) for n, letter in enumerate(sequence.lower()))
    product = one @ two @ three if sequence.isupper() else three @ two @ one
    assert np.abs(matrices - product).max() < ROUND
    assert q[:, 3].min() >= 0.0


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_angles_of_random_rotations_agree_with_scipy(sequence):
    q = rb.random(1000, seed=2)
    expected = Rotation.from_quat(q).as_euler(sequence)
    assert np.abs(rb.euler_from_quaternion(q, sequence) - expected).max() < ROUND
    assert np.abs(rb.euler_from_quaternion(-q, sequence) - expected).max() < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_round_trips_hold_at_every_awkward_rotation(sequence, quaternions, apart):
    back = rb.quaternion_from_euler(rb.euler_from_quaternion(quaternions, sequence), sequence)
    assert apart(back, quaternions) < ROUND
    matrices = rb.matrix_from_quaternion(quaternions)
    assert apart(rb.matrix_from_euler(rb.euler_from_matrix(matrices, sequence), sequence), matrices) < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_round_trips_hold_at_and_near_the_gimbal_lock(sequence, apart):
    q = rb.quaternion_from_euler(angles_near_lock(sequence), sequence)
    found = rb.euler_from_quaternion(q, sequence)
    assert apart(rb.quaternion_from_euler(found, sequence), q) < ROUND
    matrices = rb.matrix_from_quaternion(q)
    assert apart(rb.matrix_from_euler(rb.euler_from_matrix(matrices, sequence), sequence), matrices) < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_at_the_gimbal_lock_the_third_angle_is_zero(sequence):
    angles = np.random.default_rng(6).uniform(-np.pi, np.pi, (400, 3))
    angles[:, 1] = np.repeat(locks(sequence), 200)
    q, matrices = Rotation.from_euler(sequence, angles).as_quat(), Rotation.from_euler(sequence, angles).as_matrix()
    for found in (rb.euler_from_quaternion(q, sequence), rb.euler_from_matrix(matrices, sequence)):
        assert (found[:, 2] == 0.0).all()
        assert np.abs(found[:, 1] - angles[:, 1]).max() < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_angles_stay_in_their_ranges(sequence, quaternions):
    q = np.concatenate([quaternions, rb.quaternion_from_euler(angles_near_lock(sequence), sequence)])
    first, middle, third = rb.euler_from_quaternion(q, sequence).T
    least, most = (0.0, np.pi) if sequence[0] == sequence[2] else (-0.5 * np.pi, 0.5 * np.pi)
    assert middle.min() >= least
    assert middle.max() <= most
    for outer in (first, third):
        assert outer.min() > -np.pi
        assert outer.max() <= np.pi


@settings(deadline=None)
@given(st.sampled_from(rb.SEQUENCES), angle, angle, angle)
def test_the_rotation_of_the_angles_of_a_rotation_is_the_rotation(sequence, a, b, c):
    matrix = rb.matrix_from_euler((a, b, c), sequence)
    assert np.abs(rb.matrix_from_euler(rb.euler_from_matrix(matrix, sequence), sequence) - matrix).max() < ROUND


@settings(deadline=None)
@given(st.sampled_from(rb.SEQUENCES), angle, angle, angle)
def test_fixed_axes_are_moving_axes_read_backwards(sequence, a, b, c):
    other = sequence[::-1].swapcase()
    assert np.abs(rb.matrix_from_euler((a, b, c), sequence) - rb.matrix_from_euler((c, b, a), other)).max() < ROUND


@pytest.mark.parametrize("sequence", [s for s in rb.SEQUENCES if s[0] != s[2]])
def test_tiny_angles_about_three_axes_keep_their_digits(sequence, tiny):
    angles = tiny[tiny < 1e-9, None] * np.array([1.0, -2.0, 3.0])
    found = rb.euler_from_quaternion(rb.quaternion_from_euler(angles, sequence), sequence)
    assert (np.abs(found - angles) <= ROUND * np.abs(angles) + 5.0 * np.abs(angles) ** 2).all()


def test_turns_of_the_lecture_are_zxz_about_fixed_axes():
    phi, theta, psi = 0.4, 1.1, -2.3
    product = turn(2, psi) @ turn(0, theta) @ turn(2, phi)
    assert np.abs(rb.matrix_from_euler((phi, theta, psi), "zxz") - product).max() < 1e-15


def test_matrix_of_the_lecture_with_its_misprints_mended_is_zxz_about_moving_axes():
    phi, theta, psi = 0.4, 1.1, -2.3
    (cf, ct, cp), (sf, s, sp) = np.cos([phi, theta, psi]), np.sin([phi, theta, psi])
    mended = [
        [cp * cf - ct * sf * sp, -sp * cf - ct * sf * cp, s * sf],
        [cp * sf + ct * cf * sp, -sp * sf + ct * cf * cp, -s * cf],
        [s * sp, s * cp, ct],
    ]
    assert np.abs(rb.matrix_from_euler((phi, theta, psi), "ZXZ") - mended).max() < 1e-15


def test_quaternion_of_the_lecture_is_zxz_with_its_third_angle_in_the_middle():
    phi, theta, psi = 0.4, 1.1, 2.3
    plus, minus, half = 0.5 * (phi + theta), 0.5 * (phi - theta), 0.5 * psi
    e0, e1 = np.cos(plus) * np.cos(half), np.cos(minus) * np.sin(half)
    e2, e3 = np.sin(minus) * np.sin(half), np.sin(plus) * np.cos(half)
    assert np.abs(rb.quaternion_from_euler((phi, psi, theta), "ZXZ") - [e1, e2, e3, e0]).max() < 1e-15


def test_matrix_of_the_dissertation_is_xyz_about_moving_axes():
    a, b, c = 0.4, 1.1, -2.3
    (ca, cb, cc), (sa, sb, sc) = np.cos([a, b, c]), np.sin([a, b, c])
    printed = [
        [cb * cc, -cb * sc, sb],
        [sa * sb * cc + ca * sc, ca * cc - sa * sb * sc, -sa * cb],
        [sa * sc - ca * sb * cc, ca * sb * sc + sa * cc, ca * cb],
    ]
    assert np.abs(rb.matrix_from_euler((a, b, c), "XYZ") - printed).max() < 1e-15


@pytest.mark.parametrize("wrong", ["ZxZ", "xxy", "roll", "", 7, None])
@pytest.mark.parametrize(
    "call",
    [
        lambda s: rb.quaternion_from_euler((0, 0, 0), s),
        lambda s: rb.euler_from_quaternion((0, 0, 0, 1), s),
        lambda s: rb.matrix_from_euler((0, 0, 0), s),
        lambda s: rb.euler_from_matrix(np.eye(3), s),
    ],
)
def test_a_wrong_sequence_is_refused_with_the_list_of_all(wrong, call):
    with pytest.raises(UnknownName) as caught:
        call(wrong)
    message = str(caught.value)
    assert message.startswith(f"There is no Euler sequence {wrong!r}.")
    assert "Lower case turns about fixed axes, upper case about moving ones: " in message
    assert all(repr(sequence) in message for sequence in rb.SEQUENCES)


def test_a_mistyped_sequence_is_told_the_closest_one():
    with pytest.raises(RattlebackError, match=r"There is no Euler sequence 'ZxZ'\. Did you mean 'ZXZ'\?"):
        rb.quaternion_from_euler((0, 0, 0), "ZxZ")
