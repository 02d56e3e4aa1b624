"""The recipe of one step: its stages, the clock, and what happens when a body is no longer finite."""

from typing import Any

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
    with pytest.raises(rb.DivergenceError, match="Body 'wild' moves faster than light in step") as caught:
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


def overflowing(height: float, **settings: Any) -> rb.Simulation:
    """A box so heavy that the impulse which stops it is no number, from some height above the ground."""
    scene, surface = rb.Scene(gravity=(0, 0, 0)), rb.Material(friction=0.5, restitution=1.0)
    scene.add_static(rb.Plane(), material=surface)
    start = {"position": (0, 0, height), "velocity": (30.0, 0, -100.0)}
    scene.add_body(rb.Box(1, 1, 1), mass=1e307, material=surface, name="box", **start)
    return rb.Simulation(scene, time_step=0.001, contacts="impulse", **settings)


@pytest.mark.parametrize(("height", "steps"), [(0.5, 0), (0.75, 2)])
def test_a_velocity_that_contacts_make_infinite_stops_the_run_and_is_put_back(
    height: float, steps: int, device: str
) -> None:
    sim = overflowing(height, device=device)
    said = r"velocity of body 'box' that fits its joints and contacts at t = .* s is not finite; .* A shorter time_step"
    with pytest.raises(rb.DivergenceError, match=said) as caught:
        sim.step(10)
    assert (caught.value.body, caught.value.step, sim.state.steps) == ("box", steps, steps)
    np.testing.assert_array_equal(sim["box"].velocity, [30.0, 0, -100.0])
    np.testing.assert_allclose(sim["box"].position, [0.03 * steps, 0, height - 0.1 * steps], rtol=1e-12)


def test_after_velocities_were_put_back_others_go_on() -> None:
    sim = overflowing(0.75)
    with pytest.raises(rb.DivergenceError):
        sim.step(10)
    sim["box"].velocity = (0, 0, 10.0)
    sim.step(10)
    np.testing.assert_allclose(sim["box"].position, [0.06, 0, 0.65], rtol=1e-12)


def test_a_velocity_that_is_not_finite_in_one_world_names_the_world() -> None:
    sim = overflowing(0.75, worlds=3)
    sim["box"].position = [[0, 0, 9.0], [0, 0, 0.75], [0, 0, 9.0]]
    with pytest.raises(rb.DivergenceError, match="The velocity of body 'box' of world 1 that fits") as caught:
        sim.step(10)
    assert caught.value.world == 1
