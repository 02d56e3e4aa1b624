"""Servos whose gain is too high for the step: they stop the error as fast as joints can follow, and are named."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import PRECISION

DOUBLE = PRECISION == "double"
VELOCITY = {"joint": "world-crank", "target": 6.0, "control": "velocity", "gain": 20.0}
ANGLE = {"joint": "world-crank", "target": 0.5, "gain": 1e5}
HELD = "asks for more than joint"


def four_bar(*servos: dict[str, Any], **settings: Any) -> rb.Simulation:
    """A parallelogram: crank and rocker of 0.1 m turn alike, the rod between them does not turn."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for name, x, z, wide, high in (
        ("crank", 0, 0.05, 0.01, 0.1),
        ("rod", 0.2, 0.1, 0.4, 0.01),
        ("rocker", 0.4, 0.05, 0.01, 0.1),
    ):
        scene.add_body(rb.Box(wide, 0.01, high), density=7800, position=(x, 0, z), name=name, collision=None)
    for a, b, x, z in (
        ("world", "crank", 0, 0),
        ("crank", "rod", 0, 0.1),
        ("rod", "rocker", 0.4, 0.1),
        ("world", "rocker", 0.4, 0),
    ):
        scene.add_joint(rb.Revolute(a, b, at=(x, 0, z), axis=(0, 1, 0)), name=f"{a}-{b}")
    for k, servo in enumerate(servos):
        scene.add_force(rb.Servo(**servo), name=f"motor {k}")
    return rb.Simulation(scene, time_step=0.001, **settings)


def inertia(sim: rb.Simulation) -> float:
    """What the crank feels: both levers about their ends, and the rod on them as a point."""
    lever, rod = sim.scene["crank"], sim.scene["rod"]
    own = float(lever.principal_moments.max()) + lever.mass * 0.05**2
    return 2.0 * own + rod.mass * 0.1**2


def run(sim: rb.Simulation, duration: float) -> list[str]:
    """What the reports of ten calls say where a tolerance was missed; joints stay within theirs."""
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        for _ in range(10):
            sim.run(duration / 10)
            said += [] if sim.report.converged else [sim.report.reason]
            assert sim.report.position_error <= sim.report.position_tolerance
    return said


@pytest.mark.parametrize("integrator", rb.integrators.MENU)
def test_a_servo_too_strong_for_the_step_reaches_its_rate_and_tears_nothing(integrator: str, device: str) -> None:
    sim = four_bar(VELOCITY, integrator=integrator, device=device)
    said = run(sim, 0.5)
    assert sim["world-crank"].velocity == pytest.approx(6.0, rel=1e-4 if DOUBLE else 1e-2)
    assert len(said) == 10
    assert all("Servo 'motor 0' asks for more than joint 'world-crank' can follow" in text for text in said)


def test_the_gain_named_is_the_inertia_of_the_mechanism_over_the_step(device: str) -> None:
    sim = four_bar(VELOCITY, device=device)
    text = run(sim, 0.01)[0]
    found = [float(number) for number in re.findall(r"below ([\d.e-]+)", text)]
    expected = inertia(sim) / sim.time_step
    assert found == pytest.approx([expected, sim.time_step * expected / 20.0], rel=5e-3)
    inside = four_bar({**VELOCITY, "gain": 0.99 * expected}, device=device)
    assert run(inside, 0.01) == []
    assert len(run(four_bar({**VELOCITY, "gain": 1.01 * expected}, device=device), 0.01)) > 0


@pytest.mark.parametrize("gain", [0.05, 1.0])
def test_a_moderate_servo_does_what_its_law_says(gain: float, device: str) -> None:
    """Of the error a step leaves the part 1 − h K / J, as the crank has the same inertia at every angle."""
    sim = four_bar({**VELOCITY, "gain": gain}, device=device)
    sim.step(20)
    left = (1.0 - sim.time_step * gain / inertia(sim)) ** 20
    assert sim["world-crank"].velocity == pytest.approx(6.0 * (1.0 - left), rel=1e-5 if DOUBLE else 1e-2)
    assert sim.report.converged


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"rate_time": 0.0005},
        {"rate_time": 0.01},
        {"rate_time": 0.01, "reset_time": 0.05},
        {"rate_time": 0.01, "reset_time": 0.05, "window": 0.2},
    ],
)
def test_an_angle_is_reached_whatever_the_gain(law: dict[str, float], device: str) -> None:
    sim = four_bar({**ANGLE, **law}, device=device)
    said = run(sim, 2.0)
    assert sim["world-crank"].angle == pytest.approx(0.5, abs=1e-3)
    assert HELD in said[0]


def test_a_swing_without_damping_is_held_where_it_would_grow(device: str) -> None:
    """ω h = 0.25: the effort of the start of a step would make the swing grow by 1.5 % in each of 1,000 steps."""
    sim = four_bar(device=device)
    gain = 0.0625 * inertia(sim) / sim.time_step**2
    sim = four_bar({**ANGLE, "gain": 0.99 * gain}, device=device)
    said = run(sim, 1.0)
    assert sim["world-crank"].angle == pytest.approx(0.5, abs=1e-3)
    assert "or a rate_time of 0.001 s or more would not be held" in said[0]
    strong = run(four_bar({**ANGLE, "gain": 4.0 * gain}, device=device), 0.01)
    assert "or more rate_time beside that would not be held" in strong[0]


@pytest.mark.parametrize("control", ["position", "velocity"])
def test_a_linear_motor_too_strong_for_the_step_arrives(control: str, device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=2.0, name="cart")
    scene.add_joint(rb.Prismatic("world", "cart", axis=(1, 0, 0)), "rail")
    scene.add_force(rb.Servo("rail", control=control, target=0.8, gain=1e7), "motor")
    sim = rb.Simulation(scene, time_step=0.005, device=device)
    said = run(sim, 8.0)
    reached = sim["rail"].position if control == "position" else sim["rail"].velocity
    assert reached == pytest.approx(0.8, abs=1e-4 if DOUBLE else 1e-2)
    assert HELD in said[0]


def test_servos_on_the_same_mechanism_are_held_together(device: str) -> None:
    """Crank and rocker turn alike and the rod against them, so that each servo alone would be within its bound."""
    sim = four_bar(device=device)
    gain = 0.9 * inertia(sim) / sim.time_step
    three = [
        {**VELOCITY, "gain": gain},
        {**VELOCITY, "joint": "world-rocker", "gain": gain},
        {**VELOCITY, "joint": "crank-rod", "target": -6.0, "gain": gain},
    ]
    sim = four_bar(*three, device=device)
    said = run(sim, 0.5)
    assert sim["world-crank"].velocity == pytest.approx(6.0, rel=1e-4 if DOUBLE else 1e-2)
    assert HELD in said[0]
    against = four_bar({**VELOCITY, "gain": 1e4}, {**VELOCITY, "joint": "world-rocker", "gain": 1e4, "target": -3.0})
    run(against, 0.5)
    assert against["world-crank"].velocity == pytest.approx(1.5, rel=1e-3)


def test_a_limit_still_holds_and_a_load_is_carried_by_the_integral(device: str) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), "hinge")
    law = {"gain": 5000.0, "rate_time": 0.2, "reset_time": 0.6, "limit": 8.0}
    scene.add_force(rb.Servo("hinge", target=-0.3, **law), "motor")
    sim = rb.Simulation(scene, time_step=0.005, device=device)
    largest = 0.0
    for _ in range(10):
        run(sim, 0.5)
        largest = max(largest, abs(sim.servo("motor").effort))
    assert largest <= 8.0 * (1.0 + 1e-6)
    assert sim["hinge"].angle == pytest.approx(-0.3, abs=1e-4 if DOUBLE else 1e-2)
    assert sim.servo("motor").effort == pytest.approx(-9.81 * 0.5 * np.cos(0.3), rel=1e-3)


def test_a_world_of_a_batch_has_the_bits_of_the_single_run(device: str) -> None:
    targets = [6.0, 0.0, -2.0]
    batch = four_bar(VELOCITY, worlds=3, device=device, warn=False)
    batch.servo("motor 0").target = targets
    batch.step(40)
    for world, target in enumerate(targets):
        single = four_bar(VELOCITY, device=device, warn=False)
        single.servo("motor 0").target = target
        single.step(40)
        np.testing.assert_array_equal(batch.state.velocity[world], single.state.velocity)
    assert " of world " in batch.report.reason


def test_strict_raises_and_names_the_servo() -> None:
    sim = four_bar(VELOCITY, strict=True)
    with pytest.raises(rb.NotConverged, match="Servo 'motor 0' asks for more than joint 'world-crank' can follow"):
        sim.step()
