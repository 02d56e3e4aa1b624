"""Friction of joints and limits of efforts with methods by impulses: closed forms, reduced coordinates, contacts."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError

METHODS = pytest.mark.parametrize("joints", ["direct", "iterative"])


def wheel(kind: Any, joints: str, rate: float = 0.0, **options: Any) -> rb.Simulation:
    """A wheel of 2 kg m², or a bead of 2 kg, on the world; ``options`` are those of its joint."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="wheel")
    scene.add_joint(kind(scene.world, "wheel", at=(0, 0, 0), axis=(0, 0, 1), **options), name="joint")
    sim = rb.Simulation(scene, time_step=0.01, joints=joints, strict=True)
    sim["wheel"].velocity = sim["wheel"].angular_velocity = (0, 0, rate)
    return sim


@METHODS
@pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])
@pytest.mark.parametrize("armature", [0.0, 1.0])
def test_friction_stops_a_wheel_where_its_energy_is_used_up(joints: str, kind: Any, armature: float) -> None:
    """q = (J + A) ω²/(2 f), and from then on it rests; a stop within a step is of second order."""
    sim = wheel(kind, joints, rate=1.0, friction=0.5, armature=armature)
    sim.run(8.0)
    q = sim["joint"].angle if kind is rb.Revolute else sim["joint"].position
    assert q == pytest.approx((2.0 + armature) / (2.0 * 0.5), abs=1e-5)
    assert abs(sim["joint"].velocity) < 1e-12


@METHODS
@pytest.mark.parametrize(("load", "expected"), [(0.49, 0.0), (0.6, 0.1 / 2.0), (-0.6, -0.1 / 2.0)])
def test_friction_holds_a_load_up_to_its_own_and_brakes_beyond(joints: str, load: float, expected: float) -> None:
    sim = wheel(rb.Revolute, joints, friction=0.5)
    sim["wheel"].applied_torque = (0, 0, load)
    sim.run(1.0)
    assert sim["joint"].velocity == pytest.approx(expected, abs=1e-7)


@METHODS
def test_a_chain_with_friction_moves_as_in_reduced_coordinates(joints: str) -> None:
    """Three links with friction and armature, one second after they were let go, and at rest in the end."""

    def run(method: str, h: float) -> np.ndarray:
        scene = rb.Scene()
        last: Any = scene.world
        for k in range(3):
            bar = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"bar {k}")
            drive = {"friction": 2.0, "armature": 0.05}
            scene.add_joint(rb.Revolute(last, bar, at=(k, 0, 0), axis=(0, 1, 0), **drive), f"hinge {k}")
            last = bar
        sim = rb.Simulation(scene, time_step=h, joints=method)
        sim.run(1.0)
        return np.array([sim[f"hinge {k}"].angle for k in range(3)])

    np.testing.assert_allclose(run(joints, 0.005), run("reduced", 0.0025), atol=5e-4)


@METHODS
@pytest.mark.contacts
def test_friction_of_a_hinge_holds_a_flap_beside_contacts(joints: str) -> None:
    """A flap whose hinge bears 6 N m carries a ball of 2.45 N at its middle, 1.2 N m, and its own 4.9 N m of weight."""
    for friction, holds in ((7.0, True), (4.0, False)):
        scene = rb.Scene()
        flap = scene.add_body(rb.Box(1.0, 0.4, 0.1), mass=1.0, position=(0.5, 0, 1.0), name="flap")
        scene.add_joint(rb.Revolute(scene.world, flap, at=(0, 0, 1.0), axis=(0, 1, 0), friction=friction), "hinge")
        scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=0.25, position=(0.5, 0, 1.1), name="load")
        sim = rb.Simulation(scene, joints=joints, warn=False)
        sim.run(1.0)
        assert (abs(sim["hinge"].angle) < 1e-4) == holds


@pytest.mark.parametrize("joints", ["direct", "iterative", "reduced"])
def test_an_effort_stays_within_its_limit(joints: str) -> None:
    """A cart of 2 kg, far from its target, is driven by all of 6 N: 3 m/s²."""
    scene = rb.Scene(gravity=(0, 0, 0))
    cart = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, name="cart")
    scene.add_joint(rb.Prismatic(scene.world, cart, at=(0, 0, 0), axis=(1, 0, 0)), "rail")
    scene.add_force(rb.ImplicitPD("rail", stiffness=1e4, damping=1e2, target=3.0, limit=6.0))
    sim = rb.Simulation(scene, joints=joints)
    sim.run(1.0)
    assert sim["rail"].position == pytest.approx(1.5, abs=1e-6)
    assert sim["rail"].velocity == pytest.approx(3.0, abs=1e-6)


@METHODS
def test_a_motor_that_is_too_weak_lets_its_arm_sink(joints: str) -> None:
    """A weight of 4.905 N m: with 4 N m it sinks, with 6 N m it is held at its target, by a gain of 10⁶."""
    for limit, holds in ((4.0, False), (6.0, True)):
        scene = rb.Scene()
        arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
        scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 0), axis=(0, 1, 0)), "hinge")
        scene.add_force(rb.ImplicitPD("hinge", stiffness=1e6, damping=1e5, limit=limit))
        sim = rb.Simulation(scene, joints=joints)
        sim.run(0.5)
        assert (abs(sim["hinge"].angle) < 1e-5) == holds


def test_what_bounds_cannot_do_is_refused_with_a_sentence() -> None:
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 0), axis=(0, 1, 0), friction=1.0), "hinge")
    scene.add_force(rb.ImplicitPD("hinge", stiffness=1.0, limit=2.0), "motor")
    with pytest.raises(InputError, match="only one of both bounds can act along one motion"):
        rb.Simulation(scene)
    scene.change_joint("hinge", friction=0.0)
    with pytest.raises(InputError, match="Force 'motor' has a limit inside the constraint solve"):
        rb.Simulation(scene, joints="implicit")
    with pytest.raises(InputError, match="The limit of ImplicitPD is 0; it must be greater than zero, or infinite"):
        rb.ImplicitPD("hinge", stiffness=1.0, limit=0.0)
