"""Forces that depend on velocity, on jointed bodies: stiff and light ones, fast ones, many worlds, and what is said."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.core.precision import PRECISION

pytestmark = pytest.mark.skipif(PRECISION != "double", reason="compared to many digits")

# Those that take forces later than at the start of a step.
SEEING = ["lie_midpoint", "implicit_euler", "taylor2", "rk4", "rk45"]
GRAVITY = 9.81


def pendulum(inertia: float, damping: float) -> rb.Scene:
    """A body on an arm of 2 m, level at the start."""
    scene = rb.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(mass=1.0, inertia=(0.4 * inertia, inertia, inertia), position=(2, 0, 0), name="bob")
    scene.add_joint(rb.Revolute("world", "bob", at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=0.0, damping=damping), name="damper")
    return scene


def pendulum_truth(inertia: float, damping: float, time: float) -> float:
    def law(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], (2 * GRAVITY * math.cos(y[0]) - damping * y[1]) / (4.0 + inertia)]

    return float(solve_ivp(law, (0, time), [0, 0], method="Radau", rtol=1e-10, atol=1e-12).y[0, -1])


@pytest.mark.parametrize("integrator", SEEING)
@pytest.mark.parametrize(
    ("inertia", "damping"), [(0.1, 100.0), (0.1, 2e4), (1e-3, 10.0), (1e-3, 2e3), (1e-3, 2e4)], ids=str
)
def test_strong_damping_of_light_links_follows_a_stiff_solver(integrator: str, inertia: float, damping: float) -> None:
    """h c is up to fifty times the inertia of the mechanism and 2e5 times that of the body."""
    sim = rb.Simulation(pendulum(inertia, damping), time_step=0.01, integrator=integrator, strict=True)
    sim.run(0.5)
    bound = 5e-3 if integrator == "implicit_euler" else 1e-4
    assert sim["hinge"].angle == pytest.approx(pendulum_truth(inertia, damping, 0.5), abs=bound)


def double_pendulum(first: float, second: float) -> rb.Scene:
    """Two rods of 1 m and 1 kg with the inertia of thin ones, level at the start, with a damper in each hinge."""
    scene, above = rb.Scene(gravity=(0, 0, -GRAVITY)), "world"
    for k, damping in enumerate((first, second)):
        inertia = (1e-3, 1 / 12, 1 / 12)
        scene.add_body(mass=1.0, inertia=inertia, position=(0.5 + k, 0, 0), name=f"rod {k}")
        scene.add_joint(rb.Revolute(above, f"rod {k}", at=(k, 0, 0), axis=(0, 1, 0)), name=f"hinge {k}")
        scene.add_force(rb.TorsionSpring(f"hinge {k}", stiffness=0.0, damping=damping), name=f"damper {k}")
        above = f"rod {k}"
    return scene


@pytest.mark.parametrize("dampings", [(0.5, 0.2), (50.0, 30.0), (5e3, 0.5), (0.5, 5e3)], ids=str)
def test_dampers_of_all_strengths_in_a_chain_follow_a_stiff_solver(dampings: tuple[float, float]) -> None:
    first, second = dampings

    def law(_t: float, y: np.ndarray) -> list[float]:
        a, b, u, v = y
        mixed = 0.5 * math.cos(a - b)
        turn = 0.5 * math.sin(a - b)
        mass = np.array([[4 / 3, mixed], [mixed, 1 / 3]])
        brake = second * (v - u)
        effort = [1.5 * GRAVITY * math.cos(a) - turn * v * v - first * u + brake]
        effort += [0.5 * GRAVITY * math.cos(b) + turn * u * u - brake]
        return [u, v, *np.linalg.solve(mass, effort)]

    truth = solve_ivp(law, (0, 0.5), [0, 0, 0, 0], method="Radau", rtol=1e-10, atol=1e-12).y[:, -1]
    sim = rb.Simulation(double_pendulum(first, second), time_step=0.005, strict=True)
    sim.run(0.5)
    assert sim["hinge 0"].angle == pytest.approx(truth[0], abs=3e-4)
    assert sim["hinge 0"].angle + sim["hinge 1"].angle == pytest.approx(truth[1], abs=3e-4)


@pytest.mark.parametrize("integrator", SEEING)
def test_a_damped_wheel_that_turns_more_than_once_a_step_slows_down_as_the_exponential_says(integrator: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 1000.0), name="wheel")
    scene.add_joint(rb.Revolute("world", "wheel"), name="axle")
    scene.add_force(rb.TorsionSpring("axle", stiffness=0.0, damping=0.2), name="damper")
    sim = rb.Simulation(scene, time_step=0.01, integrator=integrator)
    sim.run(1.0)
    bound = 6e-3 if integrator == "implicit_euler" else 1e-5
    assert sim["axle"].velocity == pytest.approx(1000.0 * math.exp(-1.0), rel=bound)


def test_a_force_in_python_is_seen_like_a_built_in_one() -> None:
    angles = []
    for force in (rb.Drag(linear=2.0), rb.PythonForce(lambda _time, bodies: -2.0 * bodies.velocity)):
        scene = pendulum(0.1, 5.0)
        scene.add_force(force, name="air")
        sim = rb.Simulation(scene, time_step=0.01)
        sim.run(0.3)
        angles.append(sim["hinge"].angle)
    assert angles[0] == pytest.approx(angles[1], abs=1e-12)


def test_both_joint_methods_see_the_same_damping() -> None:
    angles = []
    for method in ("direct", "iterative"):
        sim = rb.Simulation(double_pendulum(2.0, 1.0), time_step=0.005, joints=method, strict=True)
        sim.run(0.5)
        angles.append(sim["hinge 1"].angle)
    assert angles[0] == pytest.approx(angles[1], abs=1e-5)


def test_a_damped_door_comes_to_rest_at_its_stop(device: str) -> None:
    scene = pendulum(0.1, 300.0)
    scene.replace_joint("hinge", rb.Revolute("world", "bob", at=(0, 0, 0), axis=(0, 1, 0), limits=(-1.0, 0.05)))
    sim = rb.Simulation(scene, time_step=0.01, device=device)
    sim.run(2.0)
    assert sim["hinge"].angle == pytest.approx(0.05, abs=1e-5)
    assert sim["hinge"].velocity == pytest.approx(0.0, abs=1e-5)
    assert sim.report.converged, sim.report.reason


def test_worlds_of_different_speeds_have_the_bits_they_have_alone(device: str) -> None:
    scene = double_pendulum(40.0, 0.3)
    many = rb.Simulation(scene, time_step=0.01, worlds=3, device=device)
    speeds = np.array([0.0, 1.0, 4.0])
    many["rod 0"].angular_velocity = np.outer(speeds, (0, 1.0, 0))
    many.step(30)
    for world, speed in enumerate(speeds):
        alone = rb.Simulation(scene, time_step=0.01, device=device)
        alone["rod 0"].angular_velocity = (0, speed, 0)
        alone.step(30)
        np.testing.assert_array_equal(many.state.orientation[world], alone.state.orientation)
        np.testing.assert_array_equal(many.state.angular_velocity[world], alone.state.angular_velocity)


@pytest.mark.parametrize("sleep", [False, True])
def test_a_copy_goes_on_bit_for_bit(sleep: bool, device: str) -> None:
    sim = rb.Simulation(double_pendulum(40.0, 0.3), time_step=0.01, device=device, sleep=sleep)
    sim.step(13)
    middle = sim.state.copy()
    sim.step(20)
    end = sim.hash()
    sim.state = middle
    sim.step(20)
    assert sim.hash() == end


def test_the_stated_error_is_what_the_forces_were_still_changing() -> None:
    """Joints and forces settle to the tolerance of the velocities; the error is in their units."""
    errors = []
    for tolerance in (1e-4, 1e-9):
        sim = rb.Simulation(double_pendulum(2.0, 1.0), time_step=0.01, velocity_tolerance=tolerance)
        sim.run(0.3)
        assert sim.report.converged
        assert 0.0 < sim.report.integration_error <= sim.report.integration_tolerance == tolerance
        errors.append(sim.report.integration_error)
    assert errors[1] < errors[0]


def test_forces_that_may_not_settle_are_reported_with_the_body() -> None:
    sim = rb.Simulation(double_pendulum(50.0, 30.0), time_step=0.01, max_iterations=2, position_tolerance=1e-2)
    with pytest.warns(rb.NotConvergedWarning, match="Forces that depend on velocity and the joints do not settle"):
        sim.run(0.3)
    assert f"on body {sim.report.worst_body!r} was" in sim.report.reason
    assert sim.report.integration_error > 1e-6


def test_joints_without_such_forces_take_no_part() -> None:
    scene = double_pendulum(1.0, 1.0)
    for k in (0, 1):
        scene.replace_force(f"damper {k}", rb.TorsionSpring(f"hinge {k}", stiffness=1.0))
    assert rb.Simulation(scene)._step.velocities is None
    assert rb.Simulation(double_pendulum(1.0, 1.0), integrator="semi_implicit_euler")._step.velocities is None
