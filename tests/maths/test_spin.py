"""Euler's equation in kernels: momentum, acceleration and the torque-free step against NumPy and SciPy."""

import numpy as np
import pytest
import warp as wp
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths import spin

COUNT = 200


@wp.kernel(enable_backward=False)
def convert(
    q: wp.array(dtype=quat),
    w: wp.array(dtype=vec3),
    torque: wp.array(dtype=vec3),
    inertia: wp.array(dtype=mat33),
    inverse: wp.array(dtype=mat33),
    out: wp.array2d(dtype=vec3),
) -> None:
    i = wp.tid()
    out[i, 0] = spin.angular_momentum(q[i], w[i], inertia[i])
    out[i, 1] = spin.angular_velocity(q[i], out[i, 0], inverse[i])
    out[i, 2] = spin.angular_acceleration(q[i], w[i], torque[i], inertia[i], inverse[i])


@wp.kernel(enable_backward=False)
def rotate_freely(
    q: wp.array(dtype=quat),
    w: wp.array(dtype=vec3),
    moments: wp.array(dtype=vec3),
    ratios: wp.array(dtype=vec3),
    h: real,
    residual: wp.array(dtype=real),
    iterations: wp.array(dtype=int),
) -> None:
    i = wp.tid()
    turn, spun, left, count = spin.free_rotation(w[i], moments[i], ratios[i], h)
    q[i] = wp.normalize(q[i] * turn)
    w[i] = spun
    residual[i] = wp.sqrt(left)
    iterations[i] = count


class Tops:
    """Bodies of random inertia, orientation and angular velocity."""

    def __init__(self, seed: int, speed: float = 3.0) -> None:
        rng = np.random.default_rng(seed)
        turn = Rotation.random(COUNT, rng)
        shares = rng.uniform(0.05, 1.0, (COUNT, 3))
        self.axes, self.moments = turn, shares.sum(axis=1, keepdims=True) - shares
        x, y, z = self.moments.T
        self.ratios = np.stack([(z - y) / x, (x - z) / y, (y - x) / z], axis=1)
        self.inertia = np.einsum("kij,kj,klj->kil", turn.as_matrix(), self.moments, turn.as_matrix())
        self.inverse = np.linalg.inv(self.inertia)
        self.q = Rotation.random(COUNT, rng).as_quat()
        self.w = speed * rng.standard_normal((COUNT, 3))
        self.torque = rng.standard_normal((COUNT, 3))

    def in_the_world(self) -> np.ndarray:
        turn = Rotation.from_quat(self.q).as_matrix()
        return turn @ self.inertia @ turn.transpose(0, 2, 1)

    def momentum(self) -> np.ndarray:
        return np.einsum("kij,kj->ki", self.in_the_world(), self.w)

    def energy(self) -> np.ndarray:
        return 0.5 * np.einsum("ki,ki->k", self.w, self.momentum())

    def step(self, h: float, steps: int = 1) -> tuple[np.ndarray, np.ndarray]:
        turn = Rotation.from_quat(self.q) * self.axes
        start = ((turn.as_quat(), quat), (turn.inv().apply(self.w), vec3), (self.moments, vec3), (self.ratios, vec3))
        q, w, *inertia = (wp.array(a, dtype=kind, device="cpu") for a, kind in start)
        residual, count = (wp.zeros(COUNT, dtype=kind, device="cpu") for kind in (real, int))
        for _ in range(steps):
            wp.launch(rotate_freely, COUNT, inputs=[q, w, *inertia, h, residual, count], device="cpu")
        turn = Rotation.from_quat(q.numpy())
        self.q, self.w = (turn * self.axes.inv()).as_quat(), turn.apply(w.numpy())
        return np.array(residual.numpy()), np.array(count.numpy())


def test_momentum_velocity_and_acceleration_are_those_of_the_matrices() -> None:
    tops = Tops(1)
    kinds = ((tops.q, quat), (tops.w, vec3), (tops.torque, vec3), (tops.inertia, mat33), (tops.inverse, mat33))
    out = wp.zeros((COUNT, 3), dtype=vec3, device="cpu")
    inputs = [wp.array(a, dtype=kind, device="cpu") for a, kind in kinds]
    wp.launch(convert, COUNT, inputs=[*inputs, out], device="cpu")
    momentum, velocity, acceleration = out.numpy().transpose(1, 0, 2)
    np.testing.assert_allclose(momentum, tops.momentum(), atol=1e-13)
    np.testing.assert_allclose(velocity, tops.w, atol=1e-12)
    moment = tops.torque - np.cross(tops.w, tops.momentum())
    expected = np.linalg.solve(tops.in_the_world(), moment[..., None])[..., 0]
    np.testing.assert_allclose(acceleration, expected, atol=1e-11)


@pytest.mark.parametrize("h", [1e-3, 0.01, 0.1, 0.3])
def test_a_free_step_keeps_momentum_and_energy_to_rounding(h: float) -> None:
    tops = Tops(2)
    momentum, energy = tops.momentum(), tops.energy()
    tops.step(h, 100)
    scale = np.linalg.norm(momentum, axis=1)
    assert (np.linalg.norm(tops.momentum() - momentum, axis=1) <= 1e-13 * scale).all()
    np.testing.assert_allclose(tops.energy(), energy, rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(tops.q, axis=1), 1.0, atol=1e-15)


def test_a_free_step_solves_the_midpoint_equation_and_says_so() -> None:
    """Π₁ = Π₀ + h Π × Ω with Π = (Π₀ + Π₁)/2, computed here from the two ends."""
    tops, h = Tops(3), 0.05
    ends = [np.einsum("kij,kj->ki", tops.inertia, Rotation.from_quat(tops.q).inv().apply(tops.w))]
    residual, count = tops.step(h)
    ends.append(np.einsum("kij,kj->ki", tops.inertia, Rotation.from_quat(tops.q).inv().apply(tops.w)))
    middle = 0.5 * (ends[0] + ends[1])
    speed = np.einsum("kij,kj->ki", tops.inverse, middle)
    scale = np.linalg.norm(ends[0], axis=1)
    left = np.linalg.norm(ends[1] - ends[0] - h * np.cross(middle, speed), axis=1)
    assert (left <= 1e-14 * scale).all()
    assert (residual <= 1e-14).all()
    assert (count <= 8).all()


def test_a_free_step_back_undoes_a_free_step() -> None:
    tops = Tops(4)
    q, w = tops.q.copy(), tops.w.copy()
    tops.step(0.1)
    tops.step(-0.1)
    np.testing.assert_allclose(tops.w, w, atol=1e-12)
    np.testing.assert_allclose(np.abs((tops.q * q).sum(axis=1)), 1.0, atol=1e-13)


def test_a_body_at_rest_stays_at_rest() -> None:
    tops = Tops(5, speed=0.0)
    q = tops.q.copy()
    residual, _ = tops.step(0.1, 3)
    np.testing.assert_array_equal(tops.w, 0.0)
    np.testing.assert_array_equal(residual, 0.0)
    np.testing.assert_allclose(tops.q, q, atol=1e-15)


def followed(tops: Tops, duration: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """ω and q of some tops after a while, by SciPy's integrator of eighth order on ω and q together."""
    end_w, end_q = np.empty((count, 3)), np.empty((count, 4))
    for k in range(count):
        inertia = tops.inertia[k]

        def rate(_: float, y: np.ndarray, inertia: np.ndarray = inertia) -> np.ndarray:
            q, w = y[:4], y[4:]
            dq = 0.5 * np.append(q[3] * w + np.cross(q[:3], w), -q[:3] @ w)
            return np.append(dq, np.linalg.solve(inertia, -np.cross(w, inertia @ w)))

        start = np.append(tops.q[k], Rotation.from_quat(tops.q[k]).inv().apply(tops.w[k]))
        end = solve_ivp(rate, (0, duration), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        end_q[k] = end[:4]
        end_w[k] = Rotation.from_quat(end[:4]).apply(end[4:])
    return end_w, end_q


def test_free_rotation_is_of_second_order() -> None:
    end_w, end_q = followed(Tops(6), 1.0, 5)
    errors = []
    for steps in (200, 400):
        tops = Tops(6)
        tops.step(1.0 / steps, steps)
        turns = Rotation.from_quat(tops.q[:5]) * Rotation.from_quat(end_q).inv()
        errors.append([np.abs(tops.w[:5] - end_w).max(), turns.magnitude().max()])
    order = np.log2(np.divide(*errors))
    np.testing.assert_allclose(order, 2.0, atol=0.05)


@pytest.mark.parametrize("h", [1.0, 3.0, 10.0, 30.0, 1e3, 1e6])
def test_a_free_step_of_many_turns_keeps_momentum_and_energy_to_rounding(h: float) -> None:
    tops = Tops(7)
    momentum, energy = tops.momentum(), tops.energy()
    tops.step(h, 20)
    scale = np.linalg.norm(momentum, axis=1)
    assert (np.linalg.norm(tops.momentum() - momentum, axis=1) <= 1e-12 * scale).all()
    np.testing.assert_allclose(tops.energy(), energy, rtol=1e-12)


@pytest.mark.parametrize("h", [1.0, 2.0, 4.0])
def test_a_free_step_of_some_turns_ends_where_a_fine_reference_does(h: float) -> None:
    """Up to four turns in the step, to a part in fifty of the angle turned; a whole midpoint step would be anywhere."""
    tops = Tops(8)
    angle = h * np.linalg.norm(tops.w[:20], axis=1)
    end_w, end_q = followed(tops, h, 20)
    residual, _ = tops.step(h)
    assert (residual <= 1e-7).all()
    turns = Rotation.from_quat(tops.q[:20]) * Rotation.from_quat(end_q).inv()
    off = np.linalg.norm(tops.w[:20] - end_w, axis=1) / np.linalg.norm(end_w, axis=1)
    assert (turns.magnitude() <= 0.02 * angle).all()
    assert (off <= 0.02 * angle).all()


def test_a_body_too_fast_to_follow_precesses_about_its_momentum_and_says_so() -> None:
    tops, h = Tops(9), 1e6
    momentum, energy, q, w = tops.momentum(), tops.energy(), tops.q.copy(), tops.w.copy()
    residual, _ = tops.step(h)
    assert (residual == 1.0).all()
    turn = Rotation.from_rotvec(2.0 * h * (energy / (momentum**2).sum(axis=1))[:, None] * momentum)
    turns = (turn * Rotation.from_quat(q)) * Rotation.from_quat(tops.q).inv()
    assert turns.magnitude().max() <= 1e-8
    np.testing.assert_allclose(tops.w, turn.apply(w), atol=1e-7)
