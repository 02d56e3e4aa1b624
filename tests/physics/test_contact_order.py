"""Contacts of bodies that spin and rock are of second order in the time step."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb

G = 9.81
# Fine contacts, so that only the step counts.
FINE: dict[str, Any] = {"contacts": "impulse", "contact_distance": 1e-4, "penetration_tolerance": 1e-5, "warn": False}
# A top: mass, moments, height of the centre of mass over that of its round tip, radius of that, tilt, spin.
MASS, ACROSS, ALONG, HEIGHT, TIP, TILT, SPIN = 0.2, 2e-4, 1e-4, 0.04, 0.005, 0.4, 200.0


def top(step: float, contacts: str = "impulse", device: str = "cpu") -> rb.Simulation:
    """A top in steady precession on a plane without friction."""
    root = np.sqrt((ALONG * SPIN) ** 2 - 4 * ACROSS * MASS * G * HEIGHT * np.cos(TILT))
    rate, axis = (ALONG * SPIN - root) / (2 * ACROSS * np.cos(TILT)), np.array([np.sin(TILT), 0, np.cos(TILT)])
    scene, smooth = rb.Scene(), rb.Material(friction=0.0)
    scene.add_static(rb.Plane(), material=smooth)
    scene.add_body(
        mass=MASS,
        inertia=(ACROSS, ACROSS, ALONG),
        position=(0, 0, TIP + HEIGHT * np.cos(TILT)),
        orientation=(0, np.sin(TILT / 2), 0, np.cos(TILT / 2)),
        angular_velocity=tuple(rate * np.array([0, 0, 1]) + (SPIN - rate * np.cos(TILT)) * axis),
        material=smooth,
        collision=rb.Placed(rb.Sphere(TIP), position=(0, 0, -HEIGHT)),
        name="top",
    )
    return rb.Simulation(scene, time_step=step, device=device, **{**FINE, "contacts": contacts})


def tilt(sim: rb.Simulation) -> float:
    x, y, _, _ = sim["top"].orientation
    return float(np.arccos(1 - 2 * (x * x + y * y)))


def rocker(step: float, shape: str, seconds: float) -> tuple[float, float, float]:
    """A ball, or cylinder, with its weight below the middle, rolls to and fro: errors of angle, place and energy."""
    radius, below, mass, inertia, start = 0.1, 0.04, 1.0, 0.003, 0.6
    scene, rough = rb.Scene(), rb.Material(friction=2.0)
    scene.add_static(rb.Plane(), material=rough)
    solid = rb.Placed(rb.Sphere(radius), position=(0, 0, below))
    if shape == "cylinder":
        solid = rb.Placed(rb.Cylinder(radius, 0.1), (0, 0, below), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    scene.add_body(
        mass=mass,
        inertia=(inertia, inertia, inertia),
        position=(-below * np.sin(start), 0, radius - below * np.cos(start)),
        orientation=(0, np.sin(start / 2), 0, np.cos(start / 2)),
        material=rough,
        collision=solid,
        name="rocker",
    )
    sim = rb.Simulation(scene, time_step=step, **FINE)
    energy = sim.energy().total
    sim.run(seconds)

    def rolls(_time: float, y: Any) -> Any:
        around = inertia + mass * (radius**2 + below**2 - 2 * radius * below * np.cos(y[0]))
        return [y[1], -mass * below * np.sin(y[0]) * (radius * y[1] ** 2 + G) / around]

    angle = solve_ivp(rolls, (0, seconds), [start, 0], rtol=1e-10, atol=1e-12).y[0, -1]
    _, y, _, w = sim["rocker"].orientation
    place = radius * (angle - start) - below * np.sin(angle)
    return 2 * np.arctan2(y, w) - angle, sim["rocker"].position[0] - place, sim.energy().total - energy


def falling_plate(step: float, seconds: float) -> tuple[float, ...]:
    """A plate falls about the edge it stands on: errors of its angle, of its place across and up, and of its energy."""
    length, high, mass, start = 0.3, 0.2, 1.0, 0.9
    scene, rough = rb.Scene(), rb.Material(friction=2.0)
    scene.add_static(rb.Plane(), material=rough)

    def place(angle: float) -> tuple[float, float, float]:
        c, s = np.cos(angle), np.sin(angle)
        return (-(c * length - s * high) / 2, 0.0, (s * length + c * high) / 2)

    turned = (0, np.sin(start / 2), 0, np.cos(start / 2))
    scene.add_body(
        rb.Box(length, 0.2, high), mass=mass, position=place(start), orientation=turned, material=rough, name="plate"
    )
    sim = rb.Simulation(scene, time_step=step, **FINE)
    energy = sim.energy().total
    sim.run(seconds)
    around = mass * (length**2 + high**2) / 3
    path = solve_ivp(
        lambda _t, y: [y[1], mass * G * place(y[0])[0] / around], (0, seconds), [start, 0], rtol=1e-10, atol=1e-12
    )
    angle = path.y[0, -1]
    _, y, _, w = sim["plate"].orientation
    off = sim["plate"].position - place(angle)
    return 2 * np.arctan2(y, w) - angle, off[0], off[2], sim.energy().total - energy


def ball_on_ball(step: float) -> tuple[float, float]:
    """A ball that does not turn slides down a fixed one: errors of the angle and of the distance."""
    radius, small, start, seconds = 1.0, 0.1, 0.2, 0.6
    scene, smooth = rb.Scene(), rb.Material(friction=0.0)
    scene.add_static(rb.Sphere(radius), material=smooth)
    far = radius + small
    at = (far * np.sin(start), 0, far * np.cos(start))
    scene.add_body(rb.Sphere(small), mass=1.0, position=at, material=smooth, name="ball")
    sim = rb.Simulation(scene, time_step=step, **FINE)
    sim.run(seconds)
    path = solve_ivp(lambda _t, y: [y[1], G / far * np.sin(y[0])], (0, seconds), [start, 0], rtol=1e-10, atol=1e-12)
    x, _, z = sim["ball"].position
    return np.arctan2(x, z) - path.y[0, -1], np.hypot(x, z) - far


def order(coarse: Any, fine: Any) -> Any:
    """Measured order of the errors of two steps, of which one is half the other."""
    return np.log2(np.abs(coarse) / np.abs(fine))


def test_a_top_without_friction_precesses_steadily_and_keeps_its_vertical_angular_momentum() -> None:
    errors = []
    for step in (2e-3, 1e-3):
        sim = top(step)
        momentum = sim.momentum().angular[2]
        sim.run(1.0)
        errors.append(tilt(sim) - TILT)
        assert sim.momentum().angular[2] == pytest.approx(momentum, rel=1e-10)
        assert sim.report.converged
    assert abs(errors[0]) < 4e-4
    assert abs(errors[1]) < 1e-4
    assert order(*errors) > 1.8


def test_time_stepping_keeps_a_top_ten_times_better_than_half_a_degree() -> None:
    sim = top(1e-3, "time_stepping")
    sim.run(1.0)
    assert abs(tilt(sim) - TILT) < 4e-3


@pytest.mark.parametrize("shape", ["ball", "cylinder"])
def test_a_rocker_rolls_as_its_equation_of_motion_says_to_second_order(shape: str) -> None:
    coarse, fine = rocker(2e-3, shape, 0.5), rocker(1e-3, shape, 0.5)
    assert np.abs(fine).max() < 5e-5
    assert order(np.linalg.norm(coarse), np.linalg.norm(fine)) > 1.9


def test_a_plate_falls_about_its_edge_to_second_order() -> None:
    coarse, fine = falling_plate(4e-3, 0.24), falling_plate(2e-3, 0.24)
    assert np.abs(fine).max() < 2e-6
    assert (order(coarse, fine) > 1.7).all()


def test_a_ball_slides_over_a_ball_to_second_order_and_stays_on_it() -> None:
    coarse, fine = ball_on_ball(2e-3), ball_on_ball(1e-3)
    assert np.abs(fine).max() < 2e-6
    assert (order(coarse, fine) > 1.7).all()


def test_a_box_that_rides_on_a_turntable_does_not_drift_outwards() -> None:
    rough, errors, rate = rb.Material(friction=1.0), [], 2.0
    for step in (2e-3, 1e-3):
        scene = rb.Scene()
        scene.add_static(
            rb.Cylinder(1.0, 0.2), position=(0, 0, -0.1), angular_velocity=(0, 0, rate), material=rough, name="table"
        )
        riding = {"velocity": (0, 0.5 * rate, 0), "angular_velocity": (0, 0, rate)}
        scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0.05), material=rough, name="box", **riding)
        sim = rb.Simulation(scene, time_step=step, **FINE)
        sim.run(2.0)
        errors.append(np.hypot(*sim["box"].position[:2]) - 0.5)
    assert abs(errors[1]) < 2e-6
    assert order(*errors) > 1.8


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda:0", marks=pytest.mark.cuda)])
def test_a_copied_state_of_a_spinning_top_goes_on_bit_for_bit(device: str) -> None:
    sim = top(1e-3, device=device)
    sim.step(50)
    other = top(1e-3, device=device)
    other.state = sim.state.copy()
    sim.step(50)
    other.step(50)
    assert sim.hash() == other.hash()
    assert abs(tilt(sim) - TILT) < 1e-4
