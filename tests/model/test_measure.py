"""Energy and momentum against sums over point masses."""

import numpy as np
import pytest

import rattleback as rb


def corners(body: rb.Simulation, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of a grid of points inside a box."""
    grid = (np.stack(np.meshgrid(*[np.arange(40)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5) / 40 - 0.5
    local = rb.rotation.rotate(body.orientation, grid * size)
    return body.position + local, body.velocity + np.cross(body.angular_velocity, local)


def test_energy_and_momentum_are_those_of_the_points_a_body_is_made_of() -> None:
    size = np.array([1.0, 2.0, 0.5])
    scene = rb.Scene(gravity=(0, 0, -2.0))
    scene.add_static(rb.Plane())
    scene.add_body(
        rb.Box(*size),
        mass=3.0,
        position=(1, 2, 3),
        orientation=rb.rotation.quaternion_from_axis_angle((1, 1, 0), 0.8),
        velocity=(1, -2, 0.5),
        angular_velocity=(2, 1, -3),
        name="box",
    )
    sim = rb.Simulation(scene)
    x, v = corners(sim["box"], size)
    m = 3.0 / len(x)
    energy, momentum = sim.energy(), sim.momentum()
    assert energy.kinetic == pytest.approx(0.5 * m * (v**2).sum(), rel=1e-3)
    assert energy.potential == pytest.approx(2.0 * m * x[:, 2].sum(), rel=1e-12)
    assert energy.translational + energy.rotational == pytest.approx(energy.kinetic)
    assert energy.total == pytest.approx(energy.kinetic + energy.potential)
    np.testing.assert_allclose(momentum.linear, m * v.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(momentum.angular, m * np.cross(x, v).sum(axis=0), rtol=2e-3)


def test_energy_of_a_throw_is_kept() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.2), velocity=(1, 2, 30), angular_velocity=(1, 2, 3))
    sim = rb.Simulation(scene, time_step=0.01)
    before = sim.energy().total
    sim.run(5.0)
    assert sim.energy().total == pytest.approx(before, rel=1e-12)
