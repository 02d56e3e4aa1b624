"""Gears and racks with a bend: what follows is a polynomial of what leads, at every method, in motion and at rest."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.solvers.joints import MENU

BEND = (0.4, -0.3, 0.15)
INERTIA, MASS = 0.02, 0.5


def f(x: Any) -> Any:
    return x + BEND[0] * x**2 + BEND[1] * x**3 + BEND[2] * x**4


def slope(x: Any) -> Any:
    return 1.0 + 2.0 * BEND[0] * x + 3.0 * BEND[1] * x**2 + 4.0 * BEND[2] * x**3


def curvature(x: Any) -> Any:
    return 2.0 * BEND[0] + 6.0 * BEND[1] * x + 12.0 * BEND[2] * x**2


def wheel(scene: rb.Scene, name: str, place: Any, frame: str = "world") -> None:
    scene.add_body(mass=MASS, inertia=(INERTIA,) * 3, position=place, name=name)
    scene.add_joint(rb.Revolute(frame, name, at=place, axis=(0, 0, 1)), name=f"{name} bearing")


def pair(kind: str) -> tuple[rb.Scene, Any]:
    """A wheel of 0.1 m that leads or follows, and the coordinates (leading, following) of a simulation."""
    scene = rb.Scene(gravity=(0, 0, 0))
    wheel(scene, "first", (0, 0, 0))
    if kind == "gear":
        wheel(scene, "second", (0.3, 0, 0))
        scene.add_joint(rb.Gear("first", "second", at_b=(0.3, 0, 0), ratio=2.0, bend=BEND))
        return scene, lambda sim: (-sim["first bearing"].angle, 2.0 * sim["second bearing"].angle)
    scene.add_body(mass=MASS, inertia=(INERTIA,) * 3, position=(0, -0.1, 0), name="bar")
    scene.add_joint(rb.Prismatic("world", "bar", at=(0, -0.1, 0), axis=(1, 0, 0)), name="slide")
    rack = {"axis_b": (1, 0, 0), "radius": 0.1, "bend": BEND}
    if kind == "pinion":
        scene.add_joint(rb.Rack("first", "bar", **rack))
        return scene, lambda sim: (-sim["first bearing"].angle, -sim["slide"].position / 0.1)
    scene.add_joint(rb.Rack("first", "bar", **rack, leads="rack"))
    return scene, lambda sim: (sim["slide"].position, 0.1 * sim["first bearing"].angle)


METHODS = [name for name in MENU if name != "penalty"]
KINDS = ("gear", "pinion", "rack")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_what_follows_is_the_polynomial_of_what_leads(kind: str, method: str) -> None:
    scene, coordinates = pair(kind)
    scene.add_force(rb.Wrench("first", torque=(0, 0, -0.1 if kind == "rack" else -0.02)))
    sim = rb.Simulation(scene, time_step=0.002, joints=method, warn=False)
    way = []
    for _ in range(5):
        sim.run(0.1)
        leading, following = coordinates(sim)
        way.append(leading)
        assert following == pytest.approx(
            f(leading), abs=2e-4 if method in ("multipliers", "baraff", "implicit") else 1e-5
        )
    assert abs(way[-1]) > 0.03


@pytest.mark.parametrize("method", ["direct", "reduced", "multipliers", "baraff"])
def test_bent_gears_move_as_their_equation_of_motion_says(method: str) -> None:
    """T = ½ (I + I (f'/2)²) ẋ² with x the angle of the first wheel: x¨ by Lagrange, solved to many digits."""
    from scipy.integrate import solve_ivp

    def rate(_: float, y: np.ndarray) -> list[float]:
        x, v = y
        inertia = INERTIA * (1.0 + 0.25 * slope(x) ** 2)
        return [v, (0.05 - 0.25 * INERTIA * slope(x) * curvature(x) * v * v) / inertia]

    truth = solve_ivp(rate, (0.0, 0.8), [0.0, 0.0], rtol=1e-11, atol=1e-12).y[0, -1]
    errors = []
    for step in (0.004, 0.002):
        scene, coordinates = pair("gear")
        scene.add_force(rb.Wrench("first", torque=(0, 0, -0.05)))
        sim = rb.Simulation(scene, time_step=step, joints=method, warn=False)
        sim.run(0.8)
        errors.append(abs(coordinates(sim)[0] - truth))
    assert truth > 0.5
    assert errors[1] < 2e-5
    assert errors[1] < 0.6 * errors[0]


def test_bent_gears_hold_on_a_carrier_that_turns() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    wheel(scene, "carrier", (0, 0, 0))
    wheel(scene, "first", (0.1, 0, 0), "carrier")
    wheel(scene, "second", (0.4, 0, 0), "carrier")
    scene.add_joint(rb.Gear("first", "second", at=(0.1, 0, 0), at_b=(0.4, 0, 0), ratio=2.0, bend=BEND))
    scene.add_force(rb.Wrench("carrier", torque=(0, 0, 0.1)))
    scene.add_force(rb.Wrench("first", torque=(0, 0, -0.03)))
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.8)
    assert abs(sim["carrier bearing"].angle) > 0.1
    assert 2.0 * sim["second bearing"].angle == pytest.approx(f(-sim["first bearing"].angle), abs=1e-5)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: rb.Gear("a", "b", at_b=(1, 0, 0), ratio=1.0, bend=3.0), "The bend of Gear is 3.0; give the parts"),
        (lambda: rb.Gear("a", "b", at_b=(1, 0, 0), ratio=1.0, bend=(1, 2, 3, 4)), "give the parts of the second"),
        (lambda: rb.Rack("a", "b", axis_b=(1, 0, 0), radius=1.0, leads="both"), "The option leads of Rack is 'both'"),
    ],
)
def test_bends_that_are_none_are_refused(made: Any, message: str) -> None:
    with pytest.raises(rb.InputError, match=message):
        made()


def test_assembling_refuses_to_count_a_bend_from_elsewhere() -> None:
    scene, _ = pair("pinion")
    scene.replace_joint("rack_3", rb.Rack("first", "bar", at_b=(0.1, -0.1, 0), axis_b=(1, 0, 0), bend=BEND))
    scene.add_joint(rb.PointOnPlane("world", "bar", at=(0.02, -0.1, 0), at_b=(0, -0.1, 0), axis=(1, 0, 0)))
    with pytest.raises(rb.InputError, match=r"its bend counts from where it was placed. Place it by frame_a="):
        scene.assemble()


def test_a_bend_of_zeros_is_none() -> None:
    assert rb.Gear("a", "b", at_b=(1, 0, 0), ratio=1.0, bend=(0, 0)).bend is None
