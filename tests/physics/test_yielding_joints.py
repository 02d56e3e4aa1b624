"""Velocity joints that yield: the approach to their rates, what loads make of it, and who wins against whom."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.solvers.joints import Direct

CUT = Direct(loops="cut")
METHODS = [pytest.param("direct", id="direct"), pytest.param("iterative", id="iterative"), pytest.param(CUT, id="cut")]
GRAVITY, STEP = 9.81, 0.01
FREE = (None, None, None)
MASS, DAMPING, RATE = 2.0, 3.0, 0.5


def led(gravity: float = 0.0, shape: Any = None, **options: Any) -> rb.Scene:
    """A body at the origin that is led along x, and by what is said beside."""
    scene = rb.Scene(gravity=(0, 0, -gravity))
    scene.add_body(shape or rb.Box(0.4, 0.3, 0.2), mass=MASS, name="box")
    rates = {"linear": (RATE, None, None), "linear_damping": DAMPING, **options}
    scene.add_joint(rb.VelocityJoint("world", "box", **rates), name="grip")
    return scene


def left_over(step: float, steps: int, damping: float = DAMPING, mass: float = MASS) -> float:
    """What is left of a lacking velocity: each half of a step is an implicit one, u' = u + h c / (2 m) (rate − u')."""
    return (1.0 + 0.5 * step * damping / mass) ** (-2 * steps)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [1e-3, 0.1, 10.0])
def test_a_free_body_approaches_the_rate_as_two_implicit_halves_of_every_step_do(method: Any, step: float) -> None:
    sim = rb.Simulation(led(), time_step=step, joints=method, strict=True)
    sim.step(10)
    np.testing.assert_allclose(sim["box"].velocity, (RATE * (1.0 - left_over(step, 10)), 0, 0), rtol=0, atol=1e-12)
    # The force is that of the lacking velocity, in the mean of the two halves.
    halves = left_over(step, 9) * np.array([(1.0 + 0.5 * step * DAMPING / MASS) ** -k for k in (1, 2)])
    np.testing.assert_allclose(sim["grip"].reaction_force, (DAMPING * RATE * halves.mean(), 0, 0), rtol=0, atol=1e-9)


def test_the_approach_is_of_first_order_to_the_exponential_one() -> None:
    errors = []
    for steps in (50, 100, 200):
        sim = rb.Simulation(led(), time_step=1.0 / steps, strict=True)
        sim.step(steps)
        errors.append(RATE * (1.0 - np.exp(-DAMPING / MASS)) - sim["box"].velocity[0])
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 2.0, rtol=0, atol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_a_spin_is_approached_in_the_same_way(method: Any) -> None:
    scene = led(linear=FREE, angular=(None, None, 1.5), angular_damping=0.2)
    sim = rb.Simulation(scene, time_step=STEP, joints=method, strict=True)
    sim.step(20)
    inertia = MASS / 12.0 * (0.4**2 + 0.3**2)
    expected = 1.5 * (1.0 - left_over(STEP, 20, 0.2, inertia))
    np.testing.assert_allclose(sim["box"].angular_velocity, (0, 0, expected), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [0.002, 0.05])
def test_under_a_steady_load_the_velocity_is_below_the_rate_by_the_load_over_the_damping(
    method: Any, step: float
) -> None:
    scene = led(GRAVITY, linear=(0, 0, 0.3), linear_damping=200.0)
    sim = rb.Simulation(scene, time_step=step, joints=method, strict=True)
    sim.run(2.0)
    sinking = 0.3 - MASS * GRAVITY / 200.0
    np.testing.assert_allclose(sim["box"].velocity, (0, 0, sinking), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sim["grip"].reaction_force, (0, 0, MASS * GRAVITY), rtol=0, atol=1e-6)
    height = sim["box"].position[2]
    sim.run(1.0)
    np.testing.assert_allclose(sim["box"].position[2] - height, sinking, rtol=0, atol=1e-6)
    assert sim.report.velocity_error <= 1e-6


@pytest.mark.parametrize("damping", [1e-3, 1.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("step", [1e-4, 1.0])
def test_no_damping_and_no_step_makes_it_swing_over(damping: float, step: float) -> None:
    sim = rb.Simulation(led(linear_damping=damping), time_step=step, strict=True)
    seen = [0.0]
    for _ in range(10):
        sim.step()
        seen.append(float(sim["box"].velocity[0]))
    assert (np.diff(seen) >= -1e-12).all()
    assert seen[-1] <= RATE + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_with_a_huge_damping_it_is_the_joint_that_does_not_yield(method: Any) -> None:
    sims = []
    for damping in ({}, {"linear_damping": 1e12, "angular_damping": 1e12}):
        scene = rb.Scene()
        scene.add_body(rb.Box(0.4, 0.3, 0.2), mass=2.0, name="box", angular_velocity=(1, 2, 3))
        scene.add_body(rb.Box(0.2, 0.3, 0.4), mass=1.0, position=(0.5, 0, 0.2), name="other")
        rates = {"linear": (0.5, None, 0.1), "angular": (None, 0.3, 0)}
        scene.add_joint(rb.VelocityJoint("world", "box", axis=(1, 2, 2), **rates, **damping), name="grip")
        scene.add_joint(rb.Ball("box", "other", at=(0.25, 0, 0.1)))
        sims.append(rb.Simulation(scene, time_step=STEP, joints=method, strict=True))
        sims[-1].step(100)
    for name in ("box", "other"):
        for window in ("position", "velocity", "angular_velocity"):
            exact, yielding = (getattr(sim[name], window) for sim in sims)
            np.testing.assert_allclose(yielding, exact, rtol=0, atol=2e-5)
    np.testing.assert_allclose(sims[1]["grip"].reaction_force, sims[0]["grip"].reaction_force, rtol=0, atol=2e-2)


def test_between_two_free_bodies_momentum_is_kept_and_the_reduced_mass_is_led() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, velocity=(0.2, 0, 0), name="a")
    scene.add_body(rb.Sphere(0.1), mass=3.0, position=(1, 0, 0), name="b")
    scene.add_joint(rb.VelocityJoint("a", "b", at=(1, 0, 0), linear=(RATE, None, None), linear_damping=DAMPING))
    sim = rb.Simulation(scene, time_step=STEP, strict=True)
    sim.step(30)
    np.testing.assert_allclose(sim.momentum().linear, (0.2, 0, 0), rtol=0, atol=1e-12)
    lacking = (RATE + 0.2) * left_over(STEP, 30, DAMPING, 0.75)
    np.testing.assert_allclose(sim["b"].velocity[0] - sim["a"].velocity[0], RATE - lacking, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_that_holds_wins_and_bears_the_whole_pull(method: Any) -> None:
    """A body on a hinge is pulled away from it: it stays, and the hinge carries c times the rate."""
    # Joint by joint, a pull beside which the inertia is small is found slowly.
    damping = 100.0 if method == "iterative" else 1e4
    scene = led(linear=(RATE, 0, 0), linear_damping=damping)
    scene.add_joint(rb.Ball("world", "box", at=(0, 0, 0)), name="hold")
    sim = rb.Simulation(scene, time_step=STEP, joints=method, strict=True)
    sim.step(100)
    np.testing.assert_allclose(sim["box"].position, 0.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["grip"].reaction_force, (damping * RATE, 0, 0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sim["hold"].reaction_force, (-damping * RATE, 0, 0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["direct", CUT], ids=["direct", "cut"])
def test_a_chain_that_is_pulled_by_its_end_stays_together_and_comes_to_rest_stretched(method: Any) -> None:
    """Stretched to its length it hangs on its first joint, which carries weight and pull; loops may be cut or not."""
    scene, count = rb.Scene(), 6
    above: Any = "world"
    for k in range(count):
        name = f"link {k}"
        scene.add_body(rb.Box(0.05, 0.05, 0.5), mass=0.3, position=(0, 0, -0.5 * k - 0.25), name=name)
        scene.add_joint(rb.Ball(above, name, at=(0, 0, -0.5 * k)), name=f"pin {k}")
        above = name
    pull = rb.VelocityJoint("world", above, at=(0, 0, -3.0), linear=(2.0, 0, 0), linear_damping=20.0)
    scene.add_joint(pull, name="grip")
    sim = rb.Simulation(scene, time_step=STEP, joints=method)
    for _ in range(20):
        sim.step(20)
        assert sim.report.converged
    sim.run(40.0)
    force = sim["grip"].reaction_force
    np.testing.assert_allclose(force, (40.0, 0, 0), rtol=0, atol=1e-3)
    total = sim["pin 0"].reaction_force
    np.testing.assert_allclose(total, (-40.0, 0, count * 0.3 * GRAVITY), rtol=0, atol=1e-2)


def at_wall(shape: Any, damping: float, floor: bool = False, **options: Any) -> rb.Scene:
    """A body half a step from a wall, led into it."""
    scene, smooth = rb.Scene(gravity=(0, 0, -GRAVITY if floor else 0)), rb.Material(friction=0)
    scene.add_body(shape, mass=1.0, position=(0.35, 0, 0.1), name="box", material=smooth)
    scene.add_static(rb.Box(0.2, 2, 2), position=(0.6, 0, 1.0), name="wall", material=smooth)
    if floor:
        scene.add_static(rb.Plane(), name="floor", material=smooth)
    rates = {"linear": (RATE, 0, 0), "angular": (0, 0, 0), "linear_damping": damping, "angular_damping": damping / 50.0}
    scene.add_joint(rb.VelocityJoint("world", "box", at=(0.35, 0, 0.1), **{**rates, **options}), name="grip")
    return scene


@pytest.mark.contacts
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("damping", [20.0, 200.0, 1e4, 1e8])
def test_a_ball_led_into_a_wall_stays_at_it_and_presses_with_damping_times_rate(method: Any, damping: float) -> None:
    sim = rb.Simulation(at_wall(rb.Sphere(0.1), damping), time_step=STEP, joints=method, strict=True)
    sim.step(100)
    assert abs(sim["box"].position[0] - 0.4) <= 2.0 * sim.report.penetration_tolerance
    np.testing.assert_allclose(sim["box"].velocity, 0.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["grip"].reaction_force, (damping * RATE, 0, 0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(sim.contacts.force.sum(axis=0), (-damping * RATE, 0, 0), rtol=1e-3, atol=1e-3)


@pytest.mark.contacts
@pytest.mark.parametrize("floor", [False, True])
def test_a_box_led_into_a_wall_stays_at_it_too(floor: bool) -> None:
    """Its contacts may be off by their tolerances, in overlap and in speed; the force by damping times that speed."""
    sim = rb.Simulation(at_wall(rb.Box(0.2, 0.2, 0.2), 200.0, floor), time_step=STEP, warn=False)
    sim.step(200)
    report = sim.report
    assert abs(sim["box"].position[0] - 0.4) <= 2.0 * report.penetration_tolerance
    assert report.penetration <= 2.0 * report.penetration_tolerance
    off = 200.0 * report.contact_velocity_tolerance
    np.testing.assert_allclose(sim["grip"].reaction_force, (200.0 * RATE, 0, 0), rtol=0, atol=off)


@pytest.mark.contacts
def test_a_joint_that_yields_less_than_friction_holds_does_not_move_a_box() -> None:
    scene = rb.Scene()
    rough = rb.Material(static_friction=0.5, dynamic_friction=0.5)
    scene.combine(friction="mean")
    scene.add_static(rb.Plane(), material=rough)
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), material=rough, name="box")
    pull = rb.VelocityJoint("world", "box", at=(0, 0, 0.1), linear=(RATE, None, None), linear_damping=8.0)
    scene.add_joint(pull, name="grip")
    sim = rb.Simulation(scene, time_step=STEP, warn=False)
    sim.step(200)
    # The pull of 4 N is below the 4.9 N that friction holds.
    assert abs(sim["box"].velocity[0]) <= sim.report.contact_velocity_tolerance
    assert abs(sim["box"].position[0]) <= 200 * STEP * sim.report.contact_velocity_tolerance
    edited = sim.scene.copy()
    edited.change_joint("grip", linear_damping=20.0)
    sim.rebuild(edited)
    sim.step(300)
    np.testing.assert_allclose(sim["box"].velocity[0], RATE - 0.5 * GRAVITY / 20.0, rtol=0, atol=2e-3)


@pytest.mark.parametrize("with_contacts", [False, pytest.param(True, marks=pytest.mark.contacts)])
def test_velocities_that_are_written_are_made_fit_what_holds_and_left_by_what_yields(with_contacts: bool) -> None:
    scene = led()
    scene.add_joint(rb.VelocityJoint("world", "box", linear=(None, 0, None)), name="hold")
    if with_contacts:
        scene.add_static(rb.Box(0.2, 2, 2), position=(3, 0, 0))
    sim = rb.Simulation(scene, time_step=0.1, strict=True)
    sim.step(3)
    sim["box"].velocity = (2.0, 1.0, 0.0)
    sim.step()
    expected = RATE + (2.0 - RATE) * left_over(0.1, 1)
    np.testing.assert_allclose(sim["box"].velocity, (expected, 0, 0), rtol=0, atol=1e-7)


def test_how_many_calls_take_the_steps_makes_no_difference() -> None:
    sims = [rb.Simulation(led(GRAVITY, linear=(0.5, 0, 0)), time_step=STEP) for _ in range(2)]
    sims[0].step(20)
    for _ in range(20):
        sims[1].step()
    assert sims[0].hash() == sims[1].hash()


def test_steps_of_any_length_one_after_the_other_each_take_their_part() -> None:
    sim = rb.Simulation(led(), strict=True)
    left = 1.0
    for step, steps in ((0.1, 2), (0.01, 3), (0.5, 1)):
        sim.use(time_step=step)
        sim.step(steps)
        left *= left_over(step, steps)
    sim.use(time_step=0.1, substeps=4)
    sim.step(2)
    left *= left_over(0.025, 8)
    sim.use(time_step=0.1, substeps=1)
    sim.run(0.23)
    left *= left_over(0.1, 2) * left_over(0.03, 1)
    np.testing.assert_allclose(sim["box"].velocity[0], RATE * (1.0 - left), rtol=0, atol=1e-9)


@pytest.mark.contacts
def test_steps_that_end_where_bodies_touch_take_their_part_too() -> None:
    """With contact_time the step is cut where the ball meets the wall; what is pressed then is the same."""
    scene = at_wall(rb.Sphere(0.1), 200.0, angular=FREE)
    sim = rb.Simulation(scene, time_step=STEP, contact_time="bisect", warn=False)
    sim.run(0.5)
    assert abs(sim["box"].position[0] - 0.4) <= 2e-4
    np.testing.assert_allclose(sim["grip"].reaction_force, (100.0, 0, 0), rtol=0, atol=1.0)


def test_each_world_yields_by_itself() -> None:
    sim = rb.Simulation(led(), time_step=STEP, worlds=3, strict=True)
    sim["box"].velocity = [(0, 0, 0), (1, 0, 0), (-2, 0, 0)]
    sim.step(20)
    start = np.array([0.0, 1.0, -2.0])
    expected = RATE + (start - RATE) * left_over(STEP, 20)
    np.testing.assert_allclose(sim["box"].velocity[:, 0], expected, rtol=0, atol=1e-9)


def test_a_written_rate_is_approached_from_the_next_step_on() -> None:
    sim = rb.Simulation(led(), time_step=STEP, strict=True)
    sim.step(10)
    before = float(sim["box"].velocity[0])
    sim["grip"].linear = (-1.0, None, None)
    sim.step(5)
    np.testing.assert_allclose(sim["box"].velocity[0], -1.0 + (before + 1.0) * left_over(STEP, 5), rtol=0, atol=1e-9)


def test_a_broken_one_lets_go_and_a_pull_that_is_too_strong_breaks_it() -> None:
    sim = rb.Simulation(led(breaking_force=1.4), time_step=STEP, strict=True)
    sim.step()
    assert sim["grip"].broken
    velocity = sim["box"].velocity.copy()
    sim.step(10)
    np.testing.assert_array_equal(sim["box"].velocity, velocity)
    sim["grip"].breaking_force = None
    sim["grip"].broken = False
    sim.step(4)
    expected = RATE + (velocity[0] - RATE) * left_over(STEP, 4)
    np.testing.assert_allclose(sim["box"].velocity[0], expected, rtol=0, atol=1e-9)


def test_scene_files_states_and_copies_keep_the_damping(tmp_path: Path) -> None:
    scene = led(angular=(0, 0, 0), angular_damping=0.25)
    scene.save(tmp_path / "led.rb.json")
    assert rb.Scene.load(tmp_path / "led.rb.json").joints["grip"] == scene.joints["grip"]
    sim = rb.Simulation(scene, time_step=STEP)
    sim.step(5)
    sim.save(tmp_path / "led.rb")
    again, state = rb.load(tmp_path / "led.rb"), sim.state.copy()
    sim.step(5)
    again.step(5)
    assert sim.hash() == again.hash()
    again.state = state
    again.step(5)
    assert sim.hash() == again.hash()


def test_methods_are_swapped_on_the_way() -> None:
    sim = rb.Simulation(led(), time_step=STEP, strict=True)
    sim.step(5)
    sim.use(joints="iterative")
    sim.step(5)
    np.testing.assert_allclose(sim["box"].velocity[0], RATE * (1.0 - left_over(STEP, 10)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["linear_damping", "angular_damping"])
@pytest.mark.parametrize("value", [0.0, -1.0, "soft", np.inf])
def test_a_damping_is_above_zero(name: str, value: Any) -> None:
    with pytest.raises(rb.InputError, match=f"The {name} of VelocityJoint is"):
        rb.VelocityJoint("world", "box", linear=(0, 0, 0), angular=(0, 0, 0), **{name: value})
