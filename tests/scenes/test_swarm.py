"""The swarm: every primitive, the same for the same seed, each body on its own parabola."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import swarm


def arrays(scene) -> np.ndarray:
    names = ("position", "orientation", "velocity", "angular_velocity")
    return np.concatenate([[getattr(body, name) for body in scene.bodies] for name in names], axis=1)


def test_all_primitives_are_there_in_equal_numbers():
    kinds = [type(body.shape).__name__ for body in swarm(count=60).bodies]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == dict.fromkeys(
        ["Sphere", "Box", "Capsule", "Cylinder", "Cone", "Ellipsoid"], 10
    )


def test_the_seed_decides_everything():
    first, again, other = swarm(50, seed=3), swarm(50, seed=3), swarm(50, seed=4)
    np.testing.assert_array_equal(arrays(first), arrays(again))
    assert [body.shape for body in first.bodies] == [body.shape for body in again.bodies]
    assert (arrays(first) != arrays(other)).any(axis=1).all()


def test_velocities_have_the_spread_asked_for():
    scene = swarm(1000, speed=2.0, spin=3.0)
    assert np.std([body.velocity for body in scene.bodies]) == pytest.approx(2.0, rel=0.05)
    assert np.std([body.angular_velocity for body in scene.bodies]) == pytest.approx(3.0, rel=0.05)


def test_ten_bodies_share_a_cubic_metre_above_the_ground():
    position = np.array([body.position for body in swarm(1000).bodies])
    np.testing.assert_allclose(np.ptp(position, axis=0), 100.0 ** (1.0 / 3.0), rtol=0.02)
    assert (position[:, 2] > 0.0).all()


def test_every_body_flies_its_parabola_and_keeps_its_spin_momentum():
    scene = swarm(60)
    sim = rb.Simulation(scene, time_step=0.01)
    recorder = rb.Recorder(sim, every=10, quantities=["position", "angular_momentum", "energy"])
    sim.run(1.0)
    t = recorder.time[:, None, None]
    x, v = (np.array([getattr(body, name) for body in scene.bodies]) for name in ("position", "velocity"))
    np.testing.assert_allclose(
        recorder["position"], x + t * v + 0.5 * t**2 * np.array([0, 0, -9.81]), rtol=0, atol=1e-12
    )
    momentum = recorder["angular_momentum"]
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(recorder["energy.total"], recorder["energy.total"][0], rtol=1e-12)
