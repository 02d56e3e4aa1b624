"""The torque-free body of the middle axis: published times, energy and momentum over a minute."""

import numpy as np
import pytest
from scipy.special import ellipk

import rattleback as rb


@pytest.fixture(scope="module")
def minute() -> dict[str, np.ndarray]:
    """ω₂ in the body's frame, energy and |L| over 60 s with the default integrator at h = 0.001 s."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.01, 1, 0), name="body")
    sim = rb.Simulation(scene, time_step=0.001)
    rows = []
    for _ in range(1500):
        body = sim["body"]
        local = rb.rotation.rotate(rb.rotation.conjugate(body.orientation), body.angular_velocity)
        rows.append([sim.time, local[1], sim.energy().total, np.linalg.norm(sim.momentum().angular)])
        sim.step(40)
    return dict(zip(("time", "w2", "energy", "momentum"), np.array(rows).T, strict=True))


def crossings(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zero crossings by a cubic through the four samples around each."""
    found = []
    for i in np.flatnonzero(values[:-1] * values[1:] < 0):
        t, y = time[i - 1 : i + 3] - time[i], values[i - 1 : i + 3]
        roots = np.roots(np.polyfit(t, y, 3))
        real = roots[np.abs(roots.imag) < 1e-9].real
        found.append(time[i] + real[np.argmin(np.abs(real - t[1] - 0.5 * (t[2] - t[1])))])
    return np.array(found)


def test_the_first_zero_crossing_is_at_the_published_time(minute: dict[str, np.ndarray]) -> None:
    assert crossings(minute["time"], minute["w2"])[0] == pytest.approx(10.37730488, abs=1e-5)


def test_further_crossings_follow_at_the_period_of_the_elliptic_integral(minute: dict[str, np.ndarray]) -> None:
    energy2, momentum2 = 0.01**2 + 2.0, 0.01**2 + 4.0
    rate = np.sqrt((3 - 2) * (momentum2 - energy2) / 6.0)
    m = (2 - 1) * (3 * energy2 - momentum2) / ((3 - 2) * (momentum2 - energy2))
    if m > 1:
        rate, m = rate * np.sqrt(m), 1 / m
    spacing = 2 * ellipk(m) / rate
    assert spacing == pytest.approx(20.7546097646536, abs=1e-9)
    np.testing.assert_allclose(np.diff(crossings(minute["time"], minute["w2"])), spacing, atol=1e-4)


def test_energy_and_angular_momentum_keep_nine_digits_over_a_minute(minute: dict[str, np.ndarray]) -> None:
    assert np.abs(minute["energy"] / minute["energy"][0] - 1).max() < 1e-9
    assert np.abs(minute["momentum"] / minute["momentum"][0] - 1).max() < 1e-9


@pytest.mark.parametrize("speed", [1e3, 3e3, 1e4])
def test_a_body_of_many_radians_a_step_keeps_its_energy_and_momentum(speed: float) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.3, 0.5, 0.9), mass=1.0, angular_velocity=speed * np.array([0.6, 0.48, 0.64]))
    sim = rb.Simulation(scene, time_step=0.005)
    energy, momentum = sim.energy().total, sim.momentum().angular
    sim.step(40)
    assert sim.report.converged
    assert sim.energy().total == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(sim.momentum().angular, momentum, atol=1e-12 * np.linalg.norm(momentum))
