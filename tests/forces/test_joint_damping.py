"""Damping of joints: decay by the exponential, on both bodies, in every joint method; what is refused."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.solvers.joints import MENU
from rattleback.solvers.joints.implicit import Implicit

# Of the two rules of implicit steps the one of second order, as the others are.
METHODS = [Implicit(rule="midpoint") if name == "implicit" else name for name in MENU]
every_method = pytest.mark.parametrize("method", METHODS, ids=list(MENU))


def wheel(kind: Any, damping: float, free: bool = False, **settings: Any) -> rb.Simulation:
    """A wheel of 2 kg m², or a bead of 2 kg, which starts at one unit of speed; on the world or on a like body."""
    scene = rb.Scene(gravity=(0, 0, 0))
    start = {"angular_velocity": (0, 0, 1.0)} if kind is rb.Revolute else {"velocity": (0, 0, 1.0)}
    first = scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="first") if free else scene.world
    scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="second", **start)
    scene.add_joint(kind(first, "second", at=(0, 0, 0), axis=(0, 0, 1), damping=damping), name="joint")
    return rb.Simulation(scene, time_step=0.01, **settings)


@every_method
@pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])
def test_a_damped_joint_slows_down_by_the_exponential(kind: Any, method: Any) -> None:
    sim = wheel(kind, 3.0, joints=method)
    sim.step(100)
    assert sim["joint"].velocity == pytest.approx(np.exp(-1.5), rel=1e-4)


@every_method
@pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])
def test_it_acts_on_both_bodies_and_keeps_their_momentum(kind: Any, method: Any) -> None:
    sim = wheel(kind, 3.0, free=True, joints=method)
    before = sim.momentum()
    sim.step(100)
    now = sim.momentum()
    assert sim["joint"].velocity == pytest.approx(np.exp(-3.0), rel=1e-3)
    np.testing.assert_allclose(now.linear, before.linear, atol=1e-12)
    np.testing.assert_allclose(now.angular, before.angular, atol=1e-12)


def test_a_joint_that_breaks_is_not_damped_any_more() -> None:
    sim = wheel(rb.Revolute, 3.0)
    sim["joint"].broken = True
    sim.step(10)
    assert sim["second"].angular_velocity == pytest.approx((0, 0, 1.0))


def test_damping_goes_into_scene_files_and_back(tmp_path: Any) -> None:
    sim = wheel(rb.Prismatic, 3.0)
    sim.scene.save(tmp_path / "wheel.json")
    assert rb.Scene.load(tmp_path / "wheel.json").joints["joint"].damping == 3.0


def test_negative_damping_is_refused() -> None:
    with pytest.raises(InputError, match="The damping of Revolute"):
        rb.Revolute("a", "b", damping=-1.0)
