"""Free rotation about the middle axis, against Jacobi's elliptic functions.

With J₁ < J₂ < J₃ and ω(0) = (a, b, 0) such that L² < 2 T J₂, the solution is

    ω₁ = a' dn(τ),  ω₂ = b' sn(τ),  ω₃ = c' cn(τ),   τ = λ t + K

with the amplitudes, the rate λ and the modulus of Landau and Lifshitz, Mechanics, § 37, axes 1 and 3 exchanged.
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import rattleback as rb
from rattleback.scenes import torque_free, tumbling
from rattleback.scenes.tumbling import t_handle


class Closed:
    """The closed form of a torque-free body that starts with ω = (a, b, 0) about the axes of J₁ < J₂ < J₃."""

    def __init__(self, moments, a, b):
        j1, j2, j3 = moments
        double_energy = j1 * a**2 + j2 * b**2
        square = (j1 * a) ** 2 + (j2 * b) ** 2
        assert square < double_energy * j2
        self.amplitudes = np.sqrt(
            [
                (double_energy * j3 - square) / (j1 * (j3 - j1)),
                (double_energy * j1 - square) / (j2 * (j1 - j2)),
                (double_energy * j1 - square) / (j3 * (j1 - j3)),
            ]
        )
        self.rate = np.sqrt((j1 - j2) * (square - double_energy * j3) / (j1 * j2 * j3))
        self.modulus = (j2 - j3) * (double_energy * j1 - square) / ((j1 - j2) * (square - double_energy * j3))
        self.first_zero = ellipk(self.modulus) / self.rate

    def __call__(self, t):
        sn, cn, dn, _ = ellipj(self.rate * t + ellipk(self.modulus), self.modulus)
        return np.stack([dn, sn, cn], axis=-1) * self.amplitudes


def zeros(t, values) -> np.ndarray:
    """Times at which the values cross zero, by a cubic through four samples around each."""
    found = []
    for i in np.flatnonzero(np.diff(np.sign(values))):
        around = slice(max(0, i - 1), i + 3)
        found.append(np.polyval(np.polyfit(values[around], t[around] - t[i], 3), 0.0) + t[i])
    return np.array(found)


def spin_of(scene, duration) -> rb.Recorder:
    """The spins to nine digits: with this step the error of the fifth-order method stays below 1e-9 for a minute."""
    sim = rb.Simulation(scene, time_step=0.005, integrator=rb.integrators.RK45(error=1e-13))
    recorder = rb.Recorder(sim, quantities=["angular_velocity_local"])
    sim.run(duration)
    return recorder


@pytest.fixture(scope="module")
def minute() -> rb.Recorder:
    """The torque-free body for a minute."""
    return spin_of(torque_free(), 60.0)


def test_the_middle_component_crosses_zero_when_elliptic_functions_say(minute):
    closed = Closed((1.0, 2.0, 3.0), 0.01, 1.0)
    assert closed.first_zero == pytest.approx(10.37730488, abs=5e-9)
    assert 2.0 * closed.first_zero == pytest.approx(20.7546097646536, abs=1e-12)
    found = zeros(minute.time, minute["body.angular_velocity_local.y"])
    np.testing.assert_allclose(found, closed.first_zero * np.array([1.0, 3.0, 5.0]), rtol=0, atol=2e-9)


def test_a_torque_free_body_follows_elliptic_functions(minute):
    closed = Closed((1.0, 2.0, 3.0), 0.01, 1.0)(minute.time)
    np.testing.assert_allclose(minute["body.angular_velocity_local"], closed, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["handle_1", "card_2"])
def test_a_tumbling_body_turns_over_when_elliptic_functions_say(name):
    scene = tumbling()
    body = scene[name]
    moments = np.diag(body.inertia)
    np.testing.assert_allclose(body.inertia, np.diag(moments), rtol=0, atol=1e-15)
    smallest, middle, largest = moments[[1, 0, 2]]
    assert smallest < middle < largest
    recorder = spin_of(scene, 10.0)
    start = recorder[f"{name}.angular_velocity_local"][0]
    closed = Closed((smallest, middle, largest), start[1], start[0])
    found = zeros(recorder.time, recorder[f"{name}.angular_velocity_local.x"])
    np.testing.assert_allclose(found, closed.first_zero * np.arange(1, 2 * len(found), 2), rtol=0, atol=1e-8)
    assert len(found) >= 2


def test_half_the_disturbance_puts_the_first_turn_off_by_ln_2_over_the_rate_of_growth():
    recorder = spin_of(tumbling(disturbance=1e-3), 5.0)
    first, third = (zeros(recorder.time, recorder[f"handle_{i}.angular_velocity_local.x"])[0] for i in (1, 3))
    middle, smallest, largest = np.diag(tumbling()["handle_1"].inertia)
    growth = 6.0 * np.sqrt((middle - smallest) * (largest - middle) / (smallest * largest))
    assert third - first == pytest.approx(2.0 * np.log(2.0) / growth, rel=1e-5)


@pytest.mark.parametrize("scene", [tumbling(), torque_free()], ids=["tumbling", "torque_free"])
def test_free_rotation_keeps_energy_and_angular_momentum(scene):
    sim = rb.Simulation(scene, time_step=0.005)
    recorder = rb.Recorder(sim, every=40, quantities=["energy", "momentum.angular"])
    sim.run(20.0)
    energy, momentum = recorder["energy.total"], recorder["momentum.angular"]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-11)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=1e-11)


def test_tumbling_bodies_drift_side_by_side():
    sim = rb.Simulation(tumbling(count=3, drift=0.5, spacing=0.8), time_step=0.01)
    sim.run(1.0)
    np.testing.assert_allclose(sim.state.position, [(0.5, -0.8, 0), (0.5, 0, 0), (0.5, 0.8, 0)], rtol=0, atol=1e-13)
    assert [body.name for body in sim.scene.bodies] == ["handle_1", "card_2", "handle_3"]


def test_the_stem_of_a_handle_sits_flush_on_its_bar():
    bar, stem = t_handle(bar=0.5, stem=0.3, radius=0.05).parts
    assert t_handle(0.5, 0.3, 0.05).bounds()[1] == pytest.approx([0.35, 0.25, 0.05])
    root = stem.position[0] - 0.5 * stem.shape.length
    assert np.hypot(root, stem.shape.radius) == pytest.approx(bar.shape.radius)
