"""An adaptive integrator under the joint loop: predictions are repeated, and must not leave anything behind."""

import numpy as np

import rattleback as rb


def pendulums() -> rb.Scene:
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    hand = scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=0.5, position=(1.25, 0, 0), name="hand")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    scene.add_joint(rb.Ball(arm, hand, at=(1, 0, 0)))
    return scene


def test_worlds_that_need_different_corrections_have_the_bits_of_single_runs() -> None:
    """The bound is so tight that a step takes several sub-steps, whose lengths depend on where the last one ended."""
    spins, integrator = np.array([0.0, 20.0, 3.0]), rb.integrators.RK45(error=1e-13)
    batch = rb.Simulation(pendulums(), time_step=0.02, integrator=integrator, worlds=3)
    batch["hand"].angular_velocity = np.stack([spins, 0 * spins, 0.1 * spins], axis=-1)
    batch.step(20)
    for world, spin in enumerate(spins):
        alone = rb.Simulation(pendulums(), time_step=0.02, integrator=integrator)
        alone["hand"].angular_velocity = (spin, 0.0, 0.1 * spin)
        alone.step(20)
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(alone.state, name), getattr(batch.state, name)[world]), (world, name)


def test_a_failed_step_leaves_the_proposed_sub_step_as_it_was() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), name="ball")
    sim = rb.Simulation(scene, time_step=0.1, integrator="rk45")
    sim.step(3)
    sim["ball"].velocity = (1.7e308, 0, 0)
    sim.time_step = 100.0
    before = sim.hash()
    try:
        sim.step()
    except rb.DivergenceError:
        assert sim.hash() == before
    else:
        raise AssertionError("the step should have left the range of numbers")
