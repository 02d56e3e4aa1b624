"""Every force module: it pushes as its potential says, moves nothing it does not name, and is a plain value."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.forces import MENU

EXAMPLES: dict[str, Any] = {
    "gravity": rb.Gravity((0.3, -1.2, -4.0), bodies=["a", "b"]),
    "attraction": rb.Attraction(constant=0.8, softening=0.2, bodies=["a", "b"]),
    "wrench": rb.Wrench(["a", "b"], force=(1, 2, 3), torque=(0.1, 0, 0), at=(0.2, 0, 0)),
    "drag": rb.Drag(linear=0.3, quadratic=0.1, angular=0.01, wind=(1, 0, 0), bodies=["a", "b"]),
    "spring": rb.Spring("a", "b", at=(0.4, 0.1, -0.3), at_b=(-0.5, 0.7, 0.2), stiffness=7, damping=0.4, length=0.3),
    "torsion_spring": rb.TorsionSpring("pair", stiffness=2.0, angle=0.5),
    "servo": rb.Servo("pair", control="position", target=2.0, gain=3.0),
    "implicit_spring": rb.ImplicitSpring("pair", freedom="slide_z", stiffness=3.0, target=0.4),
    "implicit_pd": rb.ImplicitPD("pair", freedom="slide_x", stiffness=3.0, target=0.4),
    "implicit_hand": rb.ImplicitHandPD(["pair"], body="b", target=(1, 2, 3), stiffness=3.0),
}


def scene(force: Any) -> rb.Scene:
    made = rb.Scene(gravity=(0, 0, 0))
    for name, place in (("a", (0.4, 0.1, -0.3)), ("b", (-0.5, 0.7, 0.2)), ("c", (2.0, 1.0, 0.5))):
        made.add_body(rb.Sphere(0.1), mass=1.5, position=place, name=name)
    made.add_joint(rb.CommonDirection("a", "b"), "pair")
    made.add_force(force)
    return made


def test_every_module_on_the_menu_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(MENU)


@pytest.mark.parametrize("name", MENU)
def test_the_push_is_minus_the_slope_of_the_potential(name: str) -> None:
    sim = rb.Simulation(scene(EXAMPLES[name]), time_step=1e-7, integrator="explicit_euler")
    start = sim.state.copy()
    slope = np.zeros((3, 3))
    for body in range(3):
        for axis in range(3):
            heights = []
            for sign in (1, -1):
                sim.state = start
                sim.state.position[body, axis] += sign * 1e-5
                heights.append(sim.energy().potential)
            slope[body, axis] = (heights[0] - heights[1]) / 2e-5
    if not slope.any():
        without = ("wrench", "drag", "servo", "torsion_spring", "implicit_hand")
        assert name in without, "a force without potential in positions puts energy in, takes it out, or turns"
        return
    sim.state = start
    sim.step()
    np.testing.assert_allclose(1.5 * sim.state.velocity / 1e-7, -slope, atol=1e-7)


@pytest.mark.parametrize("name", MENU)
def test_bodies_that_are_not_named_stay_at_rest(name: str) -> None:
    sim = rb.Simulation(scene(EXAMPLES[name]))
    sim.step(10)
    assert max(np.abs(sim["a"].velocity).max(), np.abs(sim["a"].angular_velocity).max()) > 1e-6
    np.testing.assert_array_equal(sim["c"].velocity, 0)
    np.testing.assert_array_equal(sim["c"].angular_velocity, 0)


@pytest.mark.parametrize("name", MENU)
def test_a_module_is_a_value_that_its_fields_describe(name: str) -> None:
    example = EXAMPLES[name]
    again = type(example)(**{field.name: getattr(example, field.name) for field in fields(example)})
    assert again == example
    assert MENU[name] is type(example)


@pytest.mark.parametrize("name", MENU)
def test_a_module_that_reads_velocities_says_so(name: str) -> None:
    """The default integrator asks for the forces a second time only then."""
    loads = []
    for velocity in (np.zeros((3, 3)), np.array([[1, 2, 3], [-2, 1, 0], [0, 0, 1]])):
        sim = rb.Simulation(scene(EXAMPLES[name]), time_step=1e-9, integrator="explicit_euler")
        sim.state.velocity = velocity
        sim.step()
        loads.append((sim.state.velocity - velocity)[:2] / 1e-9)
    differs = not np.allclose(loads[0], loads[1], atol=1e-4)
    assert differs == EXAMPLES[name].depends_on_velocity
