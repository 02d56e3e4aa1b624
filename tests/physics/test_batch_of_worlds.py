"""Worlds side by side: the same bits as alone, and nothing passes from one to the other."""

import numpy as np
import pytest

import rattleback as rb


def ten_bodies() -> rb.Scene:
    scene = rb.Scene()
    for k in range(10):
        scene.add_body(
            rb.Box(0.2 + 0.03 * k, 0.1, 0.3),
            position=(0.5 * k, 0.2 * k, 1.0),
            velocity=(1, 0.1 * k, 3),
            angular_velocity=(1.0 + k, 2.0, -0.3 * k),
        )
    scene.add_force(rb.Drag(linear=0.05, quadratic=0.01, angular=1e-3))
    scene.add_force(rb.Attraction(constant=1e-3, softening=0.1))
    return scene


def test_4096_worlds_of_ten_bodies_equal_4096_single_runs_bit_for_bit(device: str) -> None:
    """Each world gets a push of its own; the single runs go one after the other through one simulation."""
    scene = ten_bodies()
    pushes = np.random.default_rng(7).normal(size=(4096, 10, 3))
    batch = rb.Simulation(scene, time_step=0.01, worlds=4096, device=device)
    batch.state.velocity = batch.state.velocity + pushes
    batch.step(5)
    alone = rb.Simulation(scene, time_step=0.01, device=device)
    start = alone.state.copy()
    for world in range(4096):
        alone.state = start
        alone.state.velocity = alone.state.velocity + pushes[world]
        alone.step(5)
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(alone.state, name), getattr(batch.state, name)[world]), (world, name)


@pytest.mark.parametrize("name", rb.integrators.MENU)
def test_every_integrator_gives_a_world_the_bits_it_has_alone(name: str, device: str) -> None:
    """Worlds that need different numbers of iterations or sub-steps must not feel each other."""
    scene = ten_bodies()
    batch = rb.Simulation(scene, time_step=0.01, worlds=3, integrator=name, device=device)
    faster = np.array([1.0, 8.0, 0.0])
    batch.state.angular_velocity = batch.state.angular_velocity * faster[:, None, None]
    batch.step(20)
    for world in range(3):
        alone = rb.Simulation(scene, time_step=0.01, integrator=name, device=device)
        alone.state.angular_velocity = alone.state.angular_velocity * faster[world]
        alone.step(20)
        for part in ("position", "orientation", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(alone.state, part), getattr(batch.state, part)[world]), part


def test_the_users_arrays_have_a_leading_world_axis() -> None:
    sim = rb.Simulation(ten_bodies(), worlds=4)
    assert sim.state.position.shape == (4, 10, 3)
    assert sim["box_1"].orientation.shape == (4, 4)
    assert sim.energy().total.shape == (4,)
    assert sim.momentum().angular.shape == (4, 3)
    assert rb.Simulation(ten_bodies()).state.position.shape == (10, 3)


def test_one_world_asked_for_still_has_the_axis() -> None:
    assert rb.Simulation(ten_bodies(), worlds=1).state.velocity.shape == (1, 10, 3)
