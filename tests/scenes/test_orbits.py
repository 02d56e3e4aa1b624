"""Orbits, against the published eight, SciPy's solver and Kepler's equation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import rattleback as rb
from rattleback.scenes import kepler, orbits
from rattleback.scenes.orbits import EIGHT_PERIOD

SHARP = rb.integrators.RK45(error=1e-13)


def run(scene, duration, integrator=SHARP, time_step=0.01) -> rb.Recorder:
    sim = rb.Simulation(scene, time_step=time_step, integrator=integrator)
    recorder = rb.Recorder(sim, quantities=["position", "velocity", "energy", "momentum", "momentum.angular"])
    sim.run(duration)
    recorder.sample()
    return recorder


def pull(y):
    """Rates of three bodies of mass one in SciPy's order: positions, then velocities."""
    x = y[:9].reshape(3, 3)
    d = x[None] - x[:, None]
    r = np.linalg.norm(d, axis=2) + np.eye(3)
    return np.concatenate([y[9:], (d / r[..., None] ** 3).sum(axis=1).ravel()])


def scipy_end(scene, duration) -> np.ndarray:
    start = [[body.position for body in scene.bodies], [body.velocity for body in scene.bodies]]
    solution = solve_ivp(
        lambda t, y: pull(y), (0.0, duration), np.ravel(start), method="DOP853", rtol=1e-13, atol=1e-13
    )
    return solution.y[:9, -1].reshape(3, 3)


def test_the_eight_returns_to_its_start_after_the_published_period():
    recorder = run(orbits(), EIGHT_PERIOD)
    assert recorder.time[-1] == pytest.approx(EIGHT_PERIOD, abs=1e-12)
    # The published initial values have eight digits; the orbit through them closes to five.
    np.testing.assert_allclose(recorder["position"][-1], recorder["position"][0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(recorder["velocity"][-1], recorder["velocity"][0], rtol=0, atol=2e-5)


def test_after_a_third_of_the_period_each_body_has_taken_the_place_of_another():
    recorder = run(orbits(), EIGHT_PERIOD / 3.0)
    places = recorder["position"]
    np.testing.assert_allclose(np.sort(places[-1], axis=0), np.sort(places[0], axis=0), rtol=0, atol=1e-5)
    assert np.abs(places[-1] - places[0]).max() > 0.5


@pytest.mark.parametrize("offset", [0.0, 0.02])
def test_the_eight_is_the_orbit_scipy_finds(offset):
    scene = orbits(offset=offset)
    found = run(scene, EIGHT_PERIOD)["position"][-1]
    np.testing.assert_allclose(found, scipy_end(scene, EIGHT_PERIOD), rtol=0, atol=1e-9)


def test_the_eight_has_no_momentum_and_the_energy_of_its_initial_values():
    recorder = run(orbits(), EIGHT_PERIOD, integrator="rk45")
    np.testing.assert_allclose(recorder["momentum"], 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(recorder["momentum.angular"], 0.0, rtol=0, atol=1e-8)
    speed_squared = 0.93240737**2 + 0.86473146**2
    distance = np.hypot(0.97000436, 0.24308753)
    # T = v₃²/2 + 2 (v₃/2)²/2 and V = −2/|x₁| − 1/|2 x₁|.
    energy = 0.75 * speed_squared - 2.5 / distance
    np.testing.assert_allclose(recorder["energy.total"], energy, rtol=1e-8)


def relative_orbit(t, e) -> np.ndarray:
    """Place of the planet seen from the star: semi-major axis 1, G M = 1, periapsis on +x at t = 0."""
    anomaly = np.array([brentq(lambda x, m=m: x - e * np.sin(x) - m, m - 1.0, m + 1.0, xtol=1e-15) for m in t])
    return np.stack([np.cos(anomaly) - e, np.sqrt(1.0 - e * e) * np.sin(anomaly), 0.0 * anomaly], axis=1)


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.6, 0.9])
def test_two_bodies_follow_keplers_equation(eccentricity):
    recorder = run(kepler(eccentricity), 2.0 * np.pi)
    closed = relative_orbit(recorder.time, eccentricity)
    star, planet = recorder["star.position"], recorder["planet.position"]
    np.testing.assert_allclose(planet - star, closed, rtol=0, atol=1e-8)
    np.testing.assert_allclose(0.75 * star + 0.25 * planet, 0.0, rtol=0, atol=1e-12)


def test_the_orbit_has_the_energy_and_angular_momentum_of_its_axes():
    recorder = run(kepler(0.6, mass_ratio=0.1), 1.0)
    reduced = 0.9 * 0.1
    np.testing.assert_allclose(recorder["energy.total"], -reduced / 2.0, rtol=1e-10)
    np.testing.assert_allclose(recorder["momentum.angular"][:, 2], reduced * np.sqrt(1.0 - 0.36), rtol=1e-10)
    np.testing.assert_allclose(recorder["momentum"], 0.0, rtol=0, atol=1e-12)


def test_ball_volumes_go_with_the_masses():
    star, planet = kepler(mass_ratio=0.2, radius=0.1).bodies
    assert planet.shape.volume() / star.shape.volume() == pytest.approx(0.25)
    assert star.shape.radius == 0.1
