"""The recipe of one step: its stages, the clock, and what happens when a body is no longer finite."""

import numpy as np
import pytest

import rattleback as rb


def runaway(h: float = 0.01, **settings: object) -> rb.Simulation:
    """A body with an explosive force that grows with the cube of its distance."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), position=(0, 5, 0), name="calm")
    scene.add_body(rb.Sphere(0.1), position=(1, 0, 0), name="wild")
    scene.add_force(rb.PythonForce(lambda t, b: 1e8 * np.minimum(b.position, 1e100) ** 3, bodies="wild"))
    return rb.Simulation(scene, time_step=h, **settings)


def test_the_stages_are_those_of_the_recipe() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    profile = rb.Simulation(scene).profile(5)
    assert list(profile.seconds) == ["forces", "predict", "advance"]
    assert profile.total == pytest.approx(sum(profile.seconds.values()))
    assert "forces" in str(profile)
    assert "µs" in str(profile)


def test_the_clock_counts_steps_and_time() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    sim = rb.Simulation(scene, time_step=0.25)
    sim.step(3)
    sim.time_step = 0.5
    sim.step()
    assert (sim.time, sim.state.steps) == (1.25, 4)


def test_a_body_that_is_not_finite_stops_the_run_at_the_last_good_state(device: str) -> None:
    sim = runaway(device=device)
    with pytest.raises(rb.DivergenceError, match="Body 'wild' is no longer finite in step") as caught:
        sim.step(100_000)
    fault = caught.value
    assert (fault.body, fault.world, fault.step) == ("wild", 0, sim.state.steps + 1)
    assert fault.time == sim.time
    for name in ("position", "velocity", "orientation", "angular_velocity"):
        assert np.isfinite(getattr(sim.state, name)).all()
    np.testing.assert_array_equal(sim["calm"].position, [0, 5, 0])
    with pytest.raises(rb.DivergenceError):
        sim.step()


def test_after_a_divergence_a_state_kept_earlier_goes_on() -> None:
    sim = runaway()
    kept = sim.state.copy()
    with pytest.raises(rb.DivergenceError):
        sim.step(100_000)
    sim.state = kept
    sim.use(time_step=1e-9)
    sim.step(10)
    assert sim.state.steps == 10


def test_a_divergence_in_one_world_names_the_world(device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), name="ball")
    sim = rb.Simulation(scene, worlds=5, device=device)
    sim.state.velocity[3, 0] = 1.7e308
    sim.time_step = 100.0
    with pytest.raises(rb.DivergenceError, match="Body 'ball' of world 3 is no longer finite") as caught:
        sim.step(3)
    assert caught.value.world == 3
