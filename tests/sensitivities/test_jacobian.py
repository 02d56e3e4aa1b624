"""Jacobians of what a simulation does, against closed forms and variational equations, with honest estimates."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import rattleback as rb
from rattleback.sensitivities.differences import LEVELS, derivative, offsets

G = 9.81
SHARP = {"step": rb.Extrapolated(order=8, tolerance=1e-12), "time_step": 0.02, "contacts": "none", "warn": False}


def pendulum(mass: float = 0.7, length: float = 0.8, damping: float = 0.1, angle: float = 0.0) -> rb.Scene:
    """A thin rod below a hinge, displaced by an angle."""
    scene = rb.Scene()
    turn = rb.rotation.quaternion_from_axis_angle((0, 1, 0), angle)
    hanging = rb.rotation.rotate(turn, (0, 0, -0.5 * length))
    moment = mass * length**2 / 12
    rod = scene.add_body(
        mass=mass, inertia=(moment, moment, 1e-3 * moment), position=hanging, orientation=turn, name="rod"
    )
    hinge = rb.Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=damping)
    scene.add_joint(hinge, name="hinge")
    return scene


def cart_pole() -> rb.Scene:
    scene = rb.Scene()
    cart = scene.add_body(mass=1.2, inertia=(0.1, 0.1, 0.1), name="cart")
    pole = scene.add_body(mass=0.3, inertia=(0.02, 0.02, 1e-3), position=(0, 0, 0.4), name="pole")
    scene.add_joint(rb.Prismatic(scene.world, cart, at=(0, 0, 0), axis=(1, 0, 0)), name="rail")
    scene.add_joint(rb.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return scene


def test_the_jacobian_of_a_cart_pole_is_the_matrix_exponential_of_its_linear_system() -> None:
    """M = [[c + m, m l], [m l, J + m l²]] upright, M q̈ = (u, m g l θ), to 1e-6 and within the estimates."""
    sim = rb.Simulation(cart_pole(), **SHARP)
    names = ["rail.position", "hinge.angle", "rail.velocity", "hinge.velocity"]
    found = sim.jacobian(names, [*names, "rail.effort", "hinge.effort"], duration=0.5)
    inverse = np.linalg.inv([[1.5, 0.3 * 0.4], [0.3 * 0.4, 0.02 + 0.3 * 0.4**2]])
    system = np.zeros((6, 6))
    system[:2, 2:4] = np.eye(2)
    system[2:4, 1] = inverse @ [0, 0.3 * G * 0.4]
    system[2:4, 4:] = inverse
    wanted = expm(0.5 * system)[:4]
    assert np.abs(found.matrix - wanted).max() < 1e-9
    assert (np.abs(found.matrix - wanted) <= found.error + 1e-10).all()
    assert found["hinge.angle", "rail.effort"] == found.matrix[1, 4]
    assert found.value == pytest.approx([0, 0, 0, 0], abs=1e-12)
    # The simulation is where it was, and so is what it has reached.
    assert (sim.time, sim.joints.torque.tolist()) == (0.0, [0.0, 0.0])


def swing(mass: float, length: float, damping: float, torque: float) -> Any:
    """θ̈ and its derivatives by (θ, θ̇, m, l, d, g, τ) for a rod that swings below a hinge."""
    moment = mass * length**2 / 3

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        angle, speed, part = y[0], y[1], y[2:].reshape(2, 7)
        gravity = -1.5 * G / length * np.sin(angle)
        rest = (torque - damping * speed) / moment
        own = np.array(
            [0, 0, -rest / mass, -gravity / length - 2 * rest / length, -speed / moment, gravity / G, 1 / moment]
        )
        slope = np.array([-1.5 * G / length * np.cos(angle), -damping / moment])
        return np.concatenate([[speed, gravity + rest], part[1], slope @ part + own])

    return rate


def test_the_jacobian_of_a_pendulum_solves_its_variational_equations() -> None:
    """At large angles, for the state, a torque and parameters of the scene, at several times, to 1e-6."""
    sim = rb.Simulation(pendulum(angle=0.9), **SHARP)
    sim.joints.torque = [0.3]
    names = ["hinge.angle", "hinge.velocity", "rod.mass", "hinge.damping", "gravity", "hinge.effort"]
    times = [0.4, 1.0]
    found = sim.jacobian(["hinge.angle", "hinge.velocity"], names, duration=times)
    start = np.concatenate([[0.0, 0.0], np.eye(2, 7).ravel()])
    rate = swing(0.7, 0.8, 0.1, 0.3)
    shifted = lambda t, y: rate(t, np.concatenate([[y[0] + 0.9], y[1:]]))  # noqa: E731
    wanted = solve_ivp(shifted, (0, 1.0), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T
    parts = wanted[:, 2:].reshape(2, 2, 7)
    columns = {"hinge.angle": 0, "hinge.velocity": 1, "hinge.damping": 4, "world.gravity.z": 5, "hinge.effort": 6}
    for name, column in columns.items():
        sign = -1.0 if name == "world.gravity.z" else 1.0
        place = found.with_respect_to.index(name)
        off = np.abs(found.matrix[:, :, place] - sign * parts[:, :, column])
        assert off.max() < 1e-7, name
        assert (off <= 10.0 * found.error[:, :, place] + 1e-9).all(), name
    # A rod of another mass has its inertia in proportion.
    assert found["hinge.angle", "rod.mass"] == pytest.approx(parts[:, 0, 2], abs=1e-7)


def test_arguments_of_a_function_that_builds_a_scene_are_parameters() -> None:
    """The length changes the place of the rod, its inertia and its hinge; a lift below zero is refused, so it grows."""

    def build(mass: float, length: float, damping: float, lift: float) -> rb.Scene:
        if lift < 0.0:
            raise rb.InputError("It cannot be lowered.")
        return pendulum(mass, length, damping, 0.9 + lift)

    given = {"mass": 0.7, "length": 0.8, "damping": 0.1, "lift": 0.0}
    found = rb.jacobian(build, given, of="hinge.angle", duration=1.0, **SHARP)
    start = np.concatenate([[0.9, 0.0], np.eye(2, 7).ravel()])
    wanted = solve_ivp(swing(0.7, 0.8, 0.1, 0.0), (0, 1.0), start, "DOP853", rtol=1e-12, atol=1e-13).y[2:9, -1]
    # The angle of the hinge counts from where the rod is at the start.
    wanted[0] -= 1.0
    assert found.matrix[0] == pytest.approx(wanted[[2, 3, 4, 0]], abs=1e-6)


def test_differences_are_extrapolated_and_say_what_is_left() -> None:
    """Of functions whose derivative is known, from both sides and from one; a kink is told by the estimate."""
    for one_sided, most in ((False, 1e-11), (True, 1e-7)):
        at = np.exp(0.3 + offsets(0.1))
        found, error = derivative(np.exp([0.3]), at[:, None], 0.1, one_sided)
        off = abs(found[0] - np.exp(0.3))
        assert off < most
        assert off <= error[0] + 1e-15
    kink = np.abs(offsets(0.1) - 0.02)[:, None]
    found, error = derivative(np.array([0.02]), kink, 0.1, one_sided=False)
    assert error[0] >= abs(found[0] + 1.0) - 1e-9
    assert len(kink) == 2 * LEVELS


def test_worlds_motion_and_targets_are_parameters_too() -> None:
    """A free ball flies as x = x₀ + v₀ t + F t² / 2 m; a servo's target moves the joint it holds."""
    scene = cart_pole()
    scene.add_body(mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0, 5, 0), name="ball")
    scene.add_force(rb.Servo("rail", control="position", gain=50.0, rate_time=0.4, target=0.1), name="motor")
    settings = {"joints": "reduced", "contacts": "none", "time_step": 0.001, "warn": False}
    sim = rb.Simulation(scene, worlds=2, **settings)
    sim["ball"].velocity = [[0, 0, 0], [1, 2, 3]]
    names = ["ball.position", "ball.velocity", "ball.applied_force", "ball.mass", "motor.target"]
    found = sim.jacobian(["ball.position", "rail.position"], names, steps=200, world=1)
    assert found.value[:3] == pytest.approx([0.2, 5.4, 0.6 - 0.5 * G * 0.04], abs=1e-3)
    assert found.matrix[:3, :3] == pytest.approx(np.eye(3), abs=1e-9)
    assert found.matrix[:3, 3:6] == pytest.approx(0.2 * np.eye(3), abs=1e-9)
    assert found.matrix[:3, 6:9] == pytest.approx(0.02 / 0.5 * np.eye(3), abs=1e-9)
    assert found["ball.position.z", "ball.mass"] == pytest.approx(0.0, abs=1e-9)
    sim.step(200)
    before = sim["rail"].position[1]
    assert found.value[3] == pytest.approx(before, abs=1e-12)
    held = found["rail.position", "motor.target"]
    assert 0.3 < held < 1.5


@pytest.mark.parametrize(
    ("of", "by", "options", "message"),
    [
        ("hinge.angle", [], {"steps": 1}, "A Jacobian is taken with respect to something"),
        ("hinge.angle", "rod.mass", {}, "A Jacobian needs either steps or a duration"),
        ("hinge.angle", "rod.mass", {"steps": 1.5}, "The steps of a Jacobian is 1.5; it must be a number from zero"),
        ("hinge.angle", "rod.mass", {"duration": [1, 0.5]}, "The duration of a Jacobian is a list that falls"),
        ("hinge.angle", "rod.orientation", {"steps": 1}, "'rod.orientation' has no three directions of its own"),
        ("hinge.angle", "hinge.position", {"steps": 1}, "Joint 'hinge' has no 'position' that one number tells."),
        ("hinge.angle", "hinge.breaking_force", {"steps": 1}, "cannot be taken by 'hinge.breaking_force'"),
        ("hinge.angle", "hinge.armature", {"steps": 1}, "A Jacobian cannot be taken by 'hinge.armature': "),
        ("hinge.angle", "rod.maas", {"steps": 1}, "Did you mean 'mass'?"),
        ("hinge.angle", "rod.mass", {"steps": 1, "world": 1}, "The world of a Jacobian"),
    ],
)
def test_what_has_no_derivative_is_refused(of: Any, by: Any, options: Any, message: str) -> None:
    sim = rb.Simulation(pendulum(), contacts="none")
    with pytest.raises((rb.InputError, rb.UnknownName)) as refused:
        sim.jacobian(of, by, **options)
    assert message in str(refused.value)


def test_wrong_names_and_parameters_are_refused() -> None:
    sim = rb.Simulation(pendulum(), contacts="none")
    found = sim.jacobian("hinge.angle", "rod.mass", steps=1)
    with pytest.raises(rb.UnknownName, match="The Jacobian knows no 'rod.masses'. Did you mean 'rod.mass'?"):
        _ = found["hinge.angle", "rod.masses"]
    assert repr(found) == "<Jacobian of 'hinge.angle' with respect to 'rod.mass'>"
    with pytest.raises(rb.InputError, match="A Jacobian needs parameters"):
        rb.jacobian(pendulum, {}, of="hinge.angle", steps=1)
    with pytest.raises(rb.InputError, match="The parameter 'mass'"):
        rb.jacobian(pendulum, {"mass": "much"}, of="hinge.angle", steps=1)
    with pytest.raises(rb.InputError, match="worlds"):
        rb.jacobian(pendulum, {"mass": 1.0}, of="hinge.angle", steps=1, worlds=3)
