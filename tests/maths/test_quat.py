"""Claims about rotations in kernels, checked with SciPy, closed forms, extended precision and the NumPy versions."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from rattleback.core.precision import mat33, mat34, quat, real, vec3
from rattleback.maths import quat as kernels
from rattleback.maths import rotation as rb
from rattleback.maths.euler import sequence_code

ROUND = 1e-14


@wp.kernel(enable_backward=False)
def read_forms(
    q: wp.array(dtype=quat),
    rotation_vector: wp.array(dtype=vec3),
    axis: wp.array(dtype=vec3),
    angle: wp.array(dtype=real),
    matrix: wp.array(dtype=mat33),
):
    i = wp.tid()
    rotation_vector[i] = kernels.rotation_vector_from_quat(q[i])
    u, phi = kernels.axis_angle(q[i])
    axis[i] = u
    angle[i] = phi
    matrix[i] = kernels.matrix_from_quat(q[i])


@wp.kernel(enable_backward=False)
def write_axis_angle(axis: wp.array(dtype=vec3), angle: wp.array(dtype=real), q: wp.array(dtype=quat)):
    i = wp.tid()
    q[i] = kernels.quat_from_axis_angle(axis[i], angle[i])


@wp.kernel(enable_backward=False)
def write_matrix(matrix: wp.array(dtype=mat33), q: wp.array(dtype=quat), mended: wp.array(dtype=mat33)):
    i = wp.tid()
    q[i] = kernels.quat_from_matrix(matrix[i])
    mended[i] = kernels.orthonormalise(matrix[i])


@wp.kernel(enable_backward=False)
def write_vector(
    w: wp.array(dtype=vec3),
    exponential: wp.array(dtype=quat),
    cayley: wp.array(dtype=quat),
    cross: wp.array(dtype=mat33),
):
    i = wp.tid()
    exponential[i] = kernels.quat_from_rotation_vector(w[i])
    cayley[i] = kernels.quat_from_cayley(w[i])
    cross[i] = kernels.cross_matrix(w[i])


@wp.kernel(enable_backward=False)
def act(
    q: wp.array(dtype=quat),
    v: wp.array(dtype=vec3),
    there: wp.array(dtype=vec3),
    back: wp.array(dtype=vec3),
    rate: wp.array(dtype=quat),
    e: wp.array(dtype=mat34),
    g: wp.array(dtype=mat34),
):
    i = wp.tid()
    there[i] = kernels.rotate(q[i], v[i])
    back[i] = kernels.rotate_back(q[i], v[i])
    rate[i] = kernels.quat_rate(q[i], v[i])
    e[i] = kernels.e_matrix(q[i])
    g[i] = kernels.g_matrix(q[i])


@wp.kernel(enable_backward=False)
def read_euler(q: wp.array(dtype=quat), sequence: int, angles: wp.array(dtype=vec3)):
    i = wp.tid()
    angles[i] = kernels.euler_from_quat(q[i], sequence)


@wp.kernel(enable_backward=False)
def write_euler(angles: wp.array(dtype=vec3), sequence: int, q: wp.array(dtype=quat)):
    i = wp.tid()
    q[i] = kernels.quat_from_euler(angles[i], sequence)


def run(kernel, *given):
    """Launch a kernel on what is given; the kernel's remaining arguments come back as NumPy arrays."""
    kinds = [argument.type for argument in kernel.adj.args]
    inputs = [
        wp.array(value, dtype=kind.dtype, device="cpu") if isinstance(value, np.ndarray) else value
        for value, kind in zip(given, kinds, strict=False)
    ]
    count = len(given[0])
    outputs = [wp.zeros(count, dtype=kind.dtype, device="cpu") for kind in kinds[len(given) :]]
    wp.launch(kernel, dim=count, inputs=inputs, outputs=outputs, device="cpu")
    results = [output.numpy() for output in outputs]
    return results[0] if len(results) == 1 else results


def near_lock(sequence):
    """Angles at the gimbal lock and from 1e-3 to 1e-300 away from it."""
    angles = np.random.default_rng(5).uniform(-np.pi, np.pi, (1360, 3))
    distances = [0.0, 1e-300] + [10.0**-k for k in range(3, 18)]
    locks = (0.0, np.pi) if sequence[0] == sequence[2] else (0.5 * np.pi, -0.5 * np.pi)
    angles[:, 1] = np.tile([lock + sign * d for lock in locks for sign in (1, -1) for d in distances], 20)
    return angles


def test_kernels_and_numpy_agree_on_every_form_of_a_rotation(quaternions):
    vector, axis, angle, matrix = run(read_forms, quaternions)
    assert np.abs(vector - rb.rotation_vector_from_quaternion(quaternions)).max() < ROUND
    expected_axis, expected_angle = rb.axis_angle_from_quaternion(quaternions)
    assert np.abs(axis - expected_axis).max() < ROUND
    assert np.abs(angle - expected_angle).max() < ROUND
    assert np.abs(matrix - rb.matrix_from_quaternion(quaternions)).max() < ROUND
    assert np.abs(matrix - Rotation.from_quat(quaternions).as_matrix()).max() < ROUND


def test_round_trips_in_kernels_hold_at_every_awkward_rotation(quaternions, apart):
    vector, axis, angle, matrix = run(read_forms, quaternions)
    from_matrix, _ = run(write_matrix, matrix)
    from_vector, _, _ = run(write_vector, vector)
    from_axis = run(write_axis_angle, axis, angle)
    for back in (from_matrix, from_vector, from_axis):
        assert apart(back, quaternions) < ROUND
        assert apart(run(read_forms, back)[3], matrix) < ROUND


def test_quaternions_from_matrices_are_canonical_and_those_of_numpy(quaternions):
    matrices = Rotation.from_quat(quaternions).as_matrix()
    q, _ = run(write_matrix, matrices)
    assert np.abs(q - rb.quaternion_from_matrix(matrices)).max() < ROUND
    lead = np.where(q[:, 3] != 0, q[:, 3], np.where(q[:, 0] != 0, q[:, 0], np.where(q[:, 1] != 0, q[:, 1], q[:, 2])))
    assert lead.min() > 0.0


def test_exponential_map_keeps_every_digit_on_both_sides_of_its_series(tiny):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    around = np.concatenate([tiny, np.geomspace(5e-4, 2e-3, 401), np.linspace(0.01, 9.0, 200)])
    vectors = around[:, None] * axis
    wide = vectors.astype(np.longdouble)
    angle = np.hypot(np.hypot(wide[:, 0], wide[:, 1]), wide[:, 2])
    factor = np.where(angle > 0, np.sin(angle / 2) / np.where(angle > 0, angle, 1), 0.5)
    expected = np.column_stack([factor[:, None] * wide, np.cos(angle / 2)])
    got, _, _ = run(write_vector, vectors)
    small = around < 1.0
    eps = np.finfo(float).eps
    assert (np.abs(got - expected)[small] <= 4.0 * eps * np.abs(expected)[small]).all()
    assert np.abs(got - expected).max() < ROUND


def test_logarithm_keeps_every_digit_on_both_sides_of_its_series(tiny):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    half = np.concatenate([tiny, np.geomspace(5e-4, 2e-3, 401), np.linspace(0.01, 1.5, 200)])
    q = np.column_stack([np.sin(half)[:, None] * axis, np.cos(half)])
    wide = q.astype(np.longdouble)
    length = np.hypot(np.hypot(wide[:, 0], wide[:, 1]), wide[:, 2])
    factor = 2 * np.where(length > 0, np.arctan2(length, wide[:, 3]) / np.where(length > 0, length, 1), 1 / wide[:, 3])
    expected = factor[:, None] * wide[:, :3]
    got = run(read_forms, q)[0]
    assert (np.abs(got - expected) <= 6.0 * np.finfo(float).eps * np.abs(expected)).all()


def test_logarithm_near_the_half_turn_keeps_its_digits(tiny):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    q = np.column_stack([np.sqrt(1.0 - tiny**2)[:, None] * axis, tiny])
    expected = (np.longdouble(np.pi) - 2.0 * np.arcsin(tiny.astype(np.longdouble)))[:, None] * axis
    assert np.abs(run(read_forms, q)[0] - expected).max() < 4e-15
    assert np.abs(run(read_forms, -q)[0] - expected).max() < 4e-15


def test_cayley_map_turns_by_twice_the_arctangent_of_half_the_length():
    vectors = np.random.default_rng(3).standard_normal((300, 3)) * np.geomspace(1e-12, 1e6, 300)[:, None]
    length = np.linalg.norm(vectors, axis=1)
    expected = rb.quaternion_from_axis_angle(vectors, 2.0 * np.arctan(0.5 * length))
    _, got, _ = run(write_vector, vectors)
    assert np.abs(got - expected).max() < ROUND


def test_cayley_map_agrees_with_the_exponential_to_third_order():
    direction = np.array([[0.48, -0.6, 0.64]])
    gaps = []
    for size in (1e-2, 5e-3):
        exponential, cayley, _ = run(write_vector, size * direction)
        gaps.append(np.linalg.norm(exponential - cayley))
    assert gaps[0] / gaps[1] == pytest.approx(8.0, rel=1e-3)


def test_turning_there_and_back_agrees_with_scipy(quaternions):
    v = np.random.default_rng(4).standard_normal((len(quaternions), 3))
    there, back, _, _, _ = run(act, quaternions, v)
    turn = Rotation.from_quat(quaternions)
    assert np.abs(there - turn.apply(v)).max() < ROUND
    assert np.abs(back - turn.inv().apply(v)).max() < ROUND


def test_e_and_g_and_the_rate_in_kernels_obey_their_equations(quaternions):
    w = np.random.default_rng(4).standard_normal((len(quaternions), 3))
    _, _, rate, e, g = run(act, quaternions, w)
    matrices = Rotation.from_quat(quaternions).as_matrix()
    assert np.abs(e @ np.swapaxes(g, 1, 2) - matrices).max() < ROUND
    assert np.abs(rate - 0.5 * (np.swapaxes(e, 1, 2) @ w[:, :, None])[..., 0]).max() < ROUND
    _, _, _, _, g_rate = run(act, rate, w)
    spun = np.stack([np.cross(w, matrices[:, :, n]) for n in range(3)], axis=2)
    assert np.abs(2.0 * e @ np.swapaxes(g_rate, 1, 2) - spun).max() < ROUND
    assert np.array_equal(e, rb.e_matrix(quaternions))
    assert np.array_equal(g, rb.g_matrix(quaternions))


def test_cross_matrix_in_kernels_does_the_cross_product():
    a, b = np.random.default_rng(6).standard_normal((2, 50, 3))
    _, _, cross = run(write_vector, a)
    assert np.abs((cross @ b[:, :, None])[..., 0] - np.cross(a, b)).max() < ROUND


def test_orthonormalise_in_kernels_gives_the_polar_factor(quaternions):
    errors = np.random.default_rng(8).uniform(-1.0, 1.0, (len(quaternions), 3, 3))
    for size in (0.0, 1e-12, 1e-6, 1e-2, 0.2):
        matrices = Rotation.from_quat(quaternions).as_matrix() + size * errors
        _, mended = run(write_matrix, matrices)
        u, _, v = np.linalg.svd(matrices)
        assert np.abs(mended - u @ v).max() < ROUND
        assert np.abs(mended @ np.swapaxes(mended, 1, 2) - np.eye(3)).max() < 2e-15


def test_orthonormalise_in_kernels_leaves_the_identity_alone():
    _, mended = run(write_matrix, np.eye(3)[None])
    assert np.array_equal(mended[0], np.eye(3))


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_euler_angles_in_kernels_agree_with_scipy(sequence):
    q, code = rb.random(500, seed=9), sequence_code(sequence)
    assert np.abs(run(read_euler, q, code) - Rotation.from_quat(q).as_euler(sequence)).max() < ROUND
    angles = np.random.default_rng(2).uniform(-7.0, 7.0, (500, 3))
    made = run(write_euler, angles, code)
    assert np.abs(rb.matrix_from_quaternion(made) - Rotation.from_euler(sequence, angles).as_matrix()).max() < ROUND
    assert np.abs(made - rb.quaternion_from_euler(angles, sequence)).max() < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_euler_round_trips_in_kernels_hold_at_and_near_every_singularity(sequence, quaternions, apart):
    code = sequence_code(sequence)
    q = np.concatenate([quaternions, run(write_euler, near_lock(sequence), code)])
    angles = run(read_euler, q, code)
    back = run(write_euler, angles, code)
    assert apart(back, q) < ROUND
    assert apart(rb.matrix_from_quaternion(back), rb.matrix_from_quaternion(q)) < ROUND
    assert np.abs(angles[:, 1] - rb.euler_from_quaternion(q, sequence)[:, 1]).max() < ROUND


@pytest.mark.parametrize("sequence", rb.SEQUENCES)
def test_euler_angles_in_kernels_have_a_zero_third_angle_at_the_lock(sequence):
    angles = near_lock(sequence)
    angles[:, 1] = np.resize([0.0, np.pi] if sequence[0] == sequence[2] else [0.5 * np.pi, -0.5 * np.pi], len(angles))
    q = Rotation.from_euler(sequence, angles).as_quat()
    found = run(read_euler, q, sequence_code(sequence))
    assert (found[:, 2] == 0.0).all()
    assert np.abs(found - rb.euler_from_quaternion(q, sequence)).max() < ROUND


@wp.kernel(enable_backward=False)
def write_small_turn(before: wp.array(dtype=quat), after: wp.array(dtype=quat), turn: wp.array(dtype=vec3)):
    i = wp.tid()
    turn[i] = kernels.small_turn(before[i], after[i])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_small_turn_is_the_rotation_vector_but_for_the_cube_of_its_angle(sign):
    random = np.random.default_rng(3)
    before = Rotation.random(50, random_state=4)
    wanted = random.normal(size=(50, 3)) * 10.0 ** random.uniform(-6, -2, (50, 1))
    after = Rotation.from_rotvec(wanted) * before
    turn = wp.zeros(50, dtype=vec3, device="cpu")
    given = [wp.array(q, dtype=quat, device="cpu") for q in (before.as_quat(), sign * after.as_quat())]
    wp.launch(write_small_turn, 50, inputs=[*given, turn], device="cpu")
    angle = np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.all(np.abs(turn.numpy() - wanted) <= angle**3 / 24.0 + 1e-15)


def test_from_an_orientation_to_itself_there_is_no_turn_to_the_bit(device):
    poses = np.random.default_rng(5).normal(size=(1000, 4))
    poses = wp.array(poses / np.linalg.norm(poses, axis=1)[:, None], dtype=quat, device=device)
    turn = wp.full(1000, vec3(1.0), dtype=vec3, device=device)
    wp.launch(write_small_turn, 1000, inputs=[poses, poses, turn], device=device)
    np.testing.assert_array_equal(turn.numpy(), 0.0)
